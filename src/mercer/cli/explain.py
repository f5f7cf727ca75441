"""``mercer explain``: what a model looks at, as a whole or in one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .._validation.parameters import whole_number
from ..io.table import DataError
from .arguments import Places, common, data_argument, data_options
from .model_paths import open_model, verify_option
from .printing import Printer
from .reading_paths import MODEL

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile

__all__ = ["explain"]


@click.command()
@click.argument("model", type=MODEL)
@data_argument
@click.option(
    "--row",
    metavar="N",
    help="Explain one row: the line of the file at which it begins, or its name where rows have names that are no "
    "numbers. Tables without lines count rows from 1.",
)
@click.option("--label", help="With --row: explain the score of this class. [default: the predicted one]")
@click.option(
    "--scoring",
    help="What gets worse where a column is shuffled, as in mercer compare: accuracy, auc, f1, mae. [default: as "
    "there]",
)
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Name so many columns, parts and training rows.",
)
@verify_option
@data_options
@common
def explain(
    model: str,
    data: Places,
    row: str | None,
    label: str | None,
    scoring: str | None,
    top: int,
    reading: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Say what a model looks at: in a whole table, or in one row of it.

    Of a whole table: which columns the model needs, told by how much worse it predicts where the values of a column are
    shuffled among the rows (of 500 rows at most, five times; use rows that it was not trained on). Where the kernel has
    parts that can be named, such as substrings, words, items of sets or subtrees, those that move the scores most, and
    the class that they speak for. Of a mixture, what each kernel does. And the training rows that count most.

    Of one row: its prediction and its score, and what they are made of. Each column is compared with the values that
    other rows have in it: +0.5 means that the score is higher by 0.5 with this value than with those of others. Parts
    with names add up to the score. Last come the training rows that are most like it, and those that decided most,
    for (+) or against (-) what was predicted.

    \b
    Example:
      mercer train svc breast_cancer -o m.safetensors
      mercer explain m.safetensors breast_cancer
      mercer explain m.safetensors breast_cancer --row 17
      mercer explain spam.safetensors sms.csv --row 24 --label ham
      mercer explain genes.safetensors genes.fasta --json
    """
    from .as_in_training import as_in_training
    from .matching import matching_table

    if label is not None and row is None:
        raise DataError("--label says which score of a row is explained; name the row with --row.")
    with printer.working("reading"):
        loaded = open_model(model)
        table = matching_table(loaded, data, as_in_training(reading, loaded.about), printer)
    trained_where = training_places(loaded)
    if row is None:
        from .explain_model import explain_model

        explain_model(loaded, table, scoring, top, trained_where, printer, seed)
    else:
        from .explain_row import explain_row

        if scoring is not None:
            raise DataError("--scoring is for the columns of a whole table; leave it out, or leave out --row.")
        explain_row(loaded, table, place_of(row, table), label, top, trained_where, printer, seed)


def training_places(loaded: ModelFile) -> Callable[[int], str]:
    """Where a training row of a model stands, given its number: in a line of its file, if the model remembers that."""
    from .._validation.unwrapped import machine_of

    lines = loaded.about.get("support_lines")
    support = getattr(machine_of(loaded.estimator), "_model", None)
    places = getattr(support, "support", None)
    if not isinstance(lines, list) or places is None or len(lines) != len(places):
        return lambda place: f"training row {place + 1}"
    known = dict(zip(places.tolist(), lines, strict=True))
    return lambda place: known[place] if isinstance(known[place], str) else f"line {known[place]}"


def place_of(row: str, table: Table) -> int:
    """The number of a row from 0, given the line at which it begins, its name, or its number from 1."""
    names = [] if table.names is None else [str(name) for name in table.names]
    if row in names and not row.isdecimal():
        return names.index(row)
    if not row.isdecimal():
        raise DataError(f"{table.name} has no row {row!r}; give --row the line of the file at which the row begins.")
    number = whole_number(row)
    if table.lines is None:
        if not 1 <= number <= table.n_rows:
            raise DataError(f"{table.name} has rows 1 to {table.n_rows}, there is no row {row}.")
        return number - 1
    numbers = np.asarray(getattr(table.lines, "numbers", table.lines))
    found = np.flatnonzero(numbers == number)
    if not found.size:
        first, last = int(numbers.min()), int(numbers.max())
        raise DataError(
            f"{table.name} has no row that begins in line {row}; its rows begin in lines {first} to {last}."
        )
    return int(found[0])
