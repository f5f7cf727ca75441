"""``mercer check``: what is in a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from ..io import read
from ..messages import counted, enumeration, in_digits
from .options import Places, common, data_argument, data_options
from .printing import Printer

#: Columns, classes, groups of correlated columns and warnings shown in the terminal, so that all of it fits a screen;
#: JSON has them all.
_SHOWN, _CLASSES, _GROUPS, _WARNINGS = 20, 10, 5, 8
#: Whole numbers from here on have an exponent.
_LARGE = 1e10
_OF_NUMBERS = ["min", "max", "mean", "std", "skew", "outliers", "missing", "distinct"]


@click.command()
@data_argument
@data_options
@common
def check(data: Places, reading: dict[str, Any], printer: Printer, seed: int) -> None:
    """Describe a table, and warn of what learners stumble over.

    Shows its shape, the kind of each column with minimum, maximum, mean, standard deviation, skew and outliers, the
    classes or the range of a target of numbers, missing values, repeated and contradictory rows, correlated columns,
    and warnings in plain words. Nothing is changed.

    \b
    Example:
      mercer check breast_cancer
    """
    from ..describe import describe

    with printer.working("reading"):
        table = read(data, **{**reading, "unlabelled_rows": "keep"})
        found = describe(table)
    printer.json_result({**found.facts(), "source": table.source, "sha256": table.digest})
    kinds = f" ({len(table.numeric_columns)} numeric, {len(table.category_columns)} categorical{_more_kinds(table)})"
    target = "no labels" if table.target is None else f"target {table.target!r}"
    printer.line(f"{table.name}: {table.extent}{kinds if table.kind == 'rows' else ''}, {target}")
    if found.sparse:
        printer.line(f"sparse: {100 * found.filled:.2g} % of the cells are not zero")
    for note in found.notes:
        printer.line(f"- {note}")
    if table.task_in_words:
        printer.line(f"- {table.task_in_words}")
    if found.values is not None:
        _target(found.values, printer)
    if found.classes:
        _classes(found, printer)
    _columns(found, printer)
    for rule, title in (("iqr", "1.5 quartile distances"), ("zscore", "3 standard deviations")):
        if rule in found.outliers:
            printer.line(f"beyond {title}: {found.outliers[rule]}")
    label = "label" if found.task == "classify" else "value of the target"
    printer.line(
        f"duplicate {found.kind}: {found.duplicates}; equal to one with another {label}: {found.contradictions}"
    )
    groups = [
        f"correlated with {first!r} (more than 0.95): {enumeration(map(repr, others), 6)}"
        for first, others in found.correlated.items()
    ]
    _lines(groups, _GROUPS, "group", printer)
    printer.line("" if found.warnings else "Nothing to warn of.")
    _lines([f"warning: {warning}" for warning in found.warnings], _WARNINGS, "warning", printer)


def _lines(lines: list[str], most: int, what: str, printer: Printer) -> None:
    """The first lines, and how many more there are."""
    for line in lines[:most]:
        printer.line(line)
    if len(lines) > most:
        printer.line(f"... and {counted(len(lines) - most, f'more {what}')}; --json has all.")


def _more_kinds(table: Any) -> str:
    more = {"of dates": len(table.date_columns), "of texts": len(table.text_columns)}
    return "".join(f", {count} {kind}" for kind, count in more.items() if count)


def _title(what: str, count: int) -> str:
    return what if count <= _SHOWN else f"{what} (the first {_SHOWN} of {count}; --json has all)"


def _classes(found: Any, printer: Printer) -> None:
    """Each class and its rows; of many classes the largest."""
    labelled, many = sum(found.classes.values()), len(found.classes) > _CLASSES
    counts = list(found.classes.items())
    if many:
        counts = sorted(counts, key=lambda pair: -pair[1])[:_CLASSES]
    title = f"classes (the {_CLASSES} largest of {len(found.classes)}; --json has all)" if many else "classes"
    rows = [[label, count, f"{100 * count / labelled:.1f} %"] for label, count in counts]
    printer.table(["<class", found.kind, "share"], rows, title)


def _target(values: Any, printer: Printer) -> None:
    """A target of numbers in one row."""
    row = [values.name, *_numbers(values), values.outliers, values.missing, values.distinct]
    printer.table(["<target", *_OF_NUMBERS], [row], "target")


#: By kind the title of the columns, the heads of their table beside the name, and what stands under them.
_KINDS: dict[str, tuple[str, list[str], Callable[[Any], list[Any]]]] = {
    "numbers": ("numeric columns", _OF_NUMBERS, lambda c: [*_numbers(c), c.outliers, c.missing, c.distinct]),
    "words": ("categorical columns", ["categories", "<most common", "rows", "missing"],
              lambda c: [c.distinct, c.common, c.common_count, c.missing]),
    "dates": ("date columns", ["distinct", "first", "last", "missing"],
              lambda c: [c.distinct, c.first, c.last, c.missing]),
    "texts": ("text columns", ["distinct", "<most common", "rows", "missing"],
              lambda c: [c.distinct, (c.common or "")[:40], c.common_count, c.missing]),
}  # fmt: skip


def _columns(found: Any, printer: Printer) -> None:
    for kind, (title, heads, cells) in _KINDS.items():
        columns = [column for column in found.columns if column.kind == kind]
        title = found.kind if kind == "numbers" and found.kind != "rows" else title
        if columns:
            rows = [[column.name, *cells(column)] for column in columns[:_SHOWN]]
            printer.table(["<column", *heads], rows, _title(title, len(columns)))


def _numbers(column: Any) -> list[str]:
    """What is known of numbers: whole ones as they are, others with a few digits."""

    def short(value: float | None) -> str:
        if value is None:
            return ""
        return f"{value:.0f}" if float(value).is_integer() and abs(value) < _LARGE else in_digits(value)

    skew = "" if column.skew is None else f"{round(column.skew, 2) + 0.0:.2f}"
    return [*map(short, (column.min, column.max, column.mean, column.std)), skew]
