"""``mercer datasets``: the tables that need no file."""

from __future__ import annotations

import click

from .arguments import common
from .printing import Printer

__all__ = ["datasets"]


@click.command()
@common
def datasets(printer: Printer, seed: int) -> None:
    """List the tables that are built in.

    Their names stand wherever a file may stand. Generated ones take a number of rows after a colon.

    \b
    Example:
      mercer check moons:500
    """
    from ..io import BUILTIN, read

    rows, facts = [], []
    for name, builtin in BUILTIN.items():
        table = read(name)
        classes = None if table.measured else len(table.class_counts)
        row = [name, table.n_rows, table.n_columns, classes, builtin.title]
        facts.append(dict(zip(("name", "rows", "columns", "classes", "title"), row, strict=True)))
        rows.append(["numbers" if cell is None else cell for cell in row])
    printer.json_result({"datasets": facts})
    printer.table(["<name", "rows", "columns", "classes", "<what it is"], rows)
