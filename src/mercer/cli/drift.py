"""``mercer drift``: do the rows of a table come from where those of another came from."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..io import DataError
from ..messages import enumeration, guide
from .options import common, data_options
from .paths import ROWS
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table

#: The exit status where the tables differ.
DIFFERENT = 3
#: Columns and rows that the terminal shows; JSON has all columns.
_COLUMNS, _ROWS = 20, 5
#: Cells of a row that are shown.
_CELLS = 6


@click.command()
@click.argument("old", type=ROWS)
@click.argument("new", type=ROWS)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="How often tables that do not differ may be said to.",
)
@click.option(
    "--permutations",
    type=click.IntRange(1, 1_000_000),
    default=500,
    show_default=True,
    help="Random divisions of the rows; no p-value is less than one over so many and one.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="A folder for report.html and report.json.",
)
@data_options
@common
def drift(
    old: str,
    new: str,
    alpha: float,
    permutations: int,
    output: Path | None,
    reading: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Do the rows of NEW come from where those of OLD came from?

    All columns are compared together and each alone, by permutations: where nothing has changed, "they differ" is said
    in --alpha of all cases at most. Columns may hold numbers, categories, dates and texts, and values may be missing.
    The target counts as a column; --drop leaves one out. Rows are taken to be independent: of a series in time,
    neighbours are not.

    The exit status is 0 where no difference is found, 3 where the tables differ, 1 after an error and 2 after a mistake
    of usage, so that a script can act on it.

    \b
    Example:
      mercer drift moons:200 moons:300
      mercer drift old.csv new.csv --alpha 0.01 -o drift-report
    """
    from ..report import REPORT_FILES, refuse_unwritable_report, write
    from ..statistics import drift as compared
    from .output import refuse_outputs

    if output is not None:
        refuse_unwritable_report(output)
        refuse_outputs(path for path in (output / name for name in REPORT_FILES) if path.exists())
    if reading["target"] is not None:
        raise click.UsageError("--target has no meaning here: all columns are compared; leave one out with --drop.")
    with printer.working("reading"):
        tables = _both(old, new, reading, printer)
    with printer.working("comparing"):
        found = compared(*tables, permutations=permutations, random_state=seed)
    facts = {
        "task": "drift",
        "old": _origin(tables[0]),
        "new": _origin(tables[1]),
        "differ": found.pvalue <= alpha,
        "pvalue": found.pvalue,
        "alpha": alpha,
        "permutations": permutations,
        "seed": seed,
        "statistic": found.statistic,
        "kernel": str(found.kernel),
        "moved": found.moved(alpha),
        "columns": [asdict(each) for each in found.columns],
        "rows_of_new": _telling(tables[1], found.witness.Y),
        "rows_of_old": _telling(tables[0], found.witness.X),
    }
    page = write(facts, output) if output is not None else None
    printer.json_result(facts)
    _show(facts, printer)
    if page is not None:
        printer.line(f"\nReport: {page}")
    if facts["differ"]:
        raise click.exceptions.Exit(DIFFERENT)


def _both(old: str, new: str, reading: dict[str, Any], printer: Printer) -> list[Table]:
    """Both tables, with the same columns of the same kinds."""
    from ..io import read

    plain = {**reading, "labelled": False, "unlabelled_rows": "keep", "task": None}
    tables = [read(place, **plain) for place in (old, new)]
    if any(table.frame is None for table in tables):
        raise DataError(
            "mercer drift compares tables with columns; of strings, sets, graphs and sparse rows mercer.statistics.mmd "
            "compares two samples."
        )
    tables = [_with_target(table) for table in tables]
    mixed = {name for name, kind in tables[0].kinds.items() if tables[1].kinds.get(name, kind) != kind}
    if mixed:
        printer.note(f"{enumeration(map(repr, sorted(mixed)), 5)} hold values of other kinds; read as categories.")
        kinds = {**dict.fromkeys(mixed, "category"), **reading["kinds"]}
        tables = [_with_target(read(place, **{**plain, "kinds": kinds})) for place in (old, new)]
    out = {name for table in tables for name in table.left_out}
    for table, other in (tables, tables[::-1]):
        alone = [name for name in table.columns if name not in {*other.columns, *out}]
        if alone:
            raise DataError(
                f"{table.name} has the column {alone[0]!r} and {other.name} has not; give both the same columns, or "
                f"leave it out (--drop {alone[0]})."
            )
    if out:
        printer.note(f"Not compared: {enumeration(map(repr, sorted(out)), 6)}, which mercer check explains.")
    common = [name for name in tables[0].columns if name not in out]
    if not common:
        raise DataError("no column is left to compare; name what columns hold with --as COLUMN=keep.")
    return [replace(table, frame=table.frame[common]) for table in tables if table.frame is not None]


def _with_target(table: Table) -> Table:
    """The table with its target, where a file or a built-in table names one, as a column like the others."""
    if table.y is None or table.frame is None:
        return table
    frame = table.frame.copy()
    labels = [None if label is None else str(label) for label in table.y.tolist()]
    frame[str(table.target)] = table.y.astype(float) if table.measured else _categories(labels)
    return replace(table, frame=frame, y=None)


def _categories(labels: list[str | None]) -> Any:
    import pandas as pd

    return pd.Categorical(labels)


def _origin(table: Table) -> dict[str, Any]:
    return {"name": table.name, "source": table.source, "sha256": table.digest, "rows": table.n_rows}


def _telling(table: Table, speaks: Any) -> list[dict[str, Any]]:
    """The rows that speak most clearly for a difference."""
    assert table.frame is not None
    first = speaks.argsort(kind="stable")[::-1][:_ROWS].tolist()
    cells = table.frame.iloc[first].astype(object)
    return [
        {
            "where": table.where(row),
            "witness": float(speaks[row]),
            "cells": {k: str(v) for k, v in cells.iloc[at].items()},
        }
        for at, row in enumerate(first)
    ]


def _show(facts: dict[str, Any], printer: Printer) -> None:
    old, new = facts["old"], facts["new"]
    printer.line(f"{old['name']} ({old['rows']:,} rows) and {new['name']} ({new['rows']:,} rows)")
    verdict = "They differ" if facts["differ"] else "No difference was found"
    printer.line(f"{verdict}: p = {facts['pvalue']:.4g} ({facts['permutations']:,} permutations)")
    rows = [
        [each["name"], each["kind"], f"{each['corrected']:.4g}", f"{each['pvalue']:.4g}", each["old"], each["new"]]
        for each in facts["columns"][:_COLUMNS]
    ]
    left = len(facts["columns"]) - len(rows)
    title = "columns, the most changed first" if facts["differ"] else "columns"
    title += f" (the first {_COLUMNS} of {len(facts['columns'])}; --json has all)" if left else ""
    printer.table(["<column", "<kind", "p corrected", "p alone", "<old", "<new"], rows, title)
    if facts["differ"]:
        moved = facts["moved"]
        printer.line(
            f"Moved: {enumeration(moved)}"
            if moved
            else "No column has moved by itself: the change is in how columns go together."
        )
        printer.note(f"What a p-value says, and what it does not {guide('two samples')}.")
        for which, name in (("rows_of_new", new["name"]), ("rows_of_old", old["name"])):
            lines = [[each["where"], f"{each['witness']:.3g}", _cells(each["cells"], moved)] for each in facts[which]]
            printer.table(["<where", "witness", "<row"], lines, f"rows of {name} that show the difference most clearly")


def _cells(cells: dict[str, str], moved: list[str]) -> str:
    """The cells of a row, those of the columns that moved first."""
    names = [*(name for name in moved if name in cells), *(name for name in cells if name not in moved)]
    return ", ".join(f"{name}={cells[name]}" for name in names[:_CELLS])
