"""A sheet of cells, as people lay one out: a title above, the header, the rows, empty columns in between."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.wording import enumeration
from .assemble import origin_of, remaining
from .cells import has_header, missing_words
from .python_values import is_missing, raw_column, text_of
from .raw import RawTable
from .repeated_names import told_apart
from .row_places import RowPlaces
from .table import DataError

if TYPE_CHECKING:
    from .options import Options
    from .sources import Source

__all__ = ["Cell", "sheet_columns"]

Cell = Any
_PEEK = 100
#: What a formula shows that could not be computed.
_FAILED = frozenset({"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA", "#SPILL!", "#CALC!"})


def sheet_columns(
    rows: list[tuple[int, tuple[Cell, ...]]], shown: str, source: Source, options: Options, notes: list[str]
) -> RawTable:
    """The columns of a sheet.

    Parameters
    ----------
    rows : list of (int, tuple)
        The rows that are not empty, each with its number in the sheet.
    shown : str
        What messages call the sheet.
    source : Source
    options : Options
    notes : list of str
        What was noticed before.

    Returns
    -------
    RawTable
    """
    if not rows:
        raise DataError(f"{shown} is empty.")
    above = _title_rows(rows)
    if above:
        notes.append(
            f"The table begins in row {rows[above][0]}; what stands above was left out ({_first_text(rows[0][1])!r})."
        )
        rows = rows[above:]
    columns = list(zip_longest(*(row for _, row in rows)))
    columns = [column for column in columns if any(value is not None and value != "" for value in column)]
    first, *later = ([column[k] for column in columns] for k in range(min(len(rows), _PEEK)))
    named = _has_header(first, later, options)
    if named and not later:
        raise DataError(f"{shown} has a header and no rows.")
    names, again = told_apart(_names(first, named, notes))
    notes += again
    numbers = np.array([number for number, _ in rows[named:]])
    kept = set(remaining(names, options, shown))
    made: dict[str, Any] = {}
    mixed: list[str] = []
    for name, column in zip(names, columns, strict=True):
        if name in kept:
            values = _without_failures(name, column[named:], notes)
            made[name], some = raw_column(name, values, lambda row: f"{shown}, row {numbers[row]}", options)
            mixed += [name] * some
    return RawTable(made, origin_of(source, RowPlaces(numbers)), tuple(notes), mixed=tuple(mixed))


def _names(first: list[Cell], named: bool, notes: list[str]) -> list[str]:
    """The names of the columns, from the first row where it names them."""
    if not named:
        notes.append(f"No header was found; the columns are called x1 to x{len(first)}.")
        return [f"x{k}" for k in range(1, len(first) + 1)]
    given = ["" if value is None else text_of(value) for value in first]
    names = [name or f"column {k}" for k, name in enumerate(given, 1)]
    unnamed = [name for name, cell in zip(names, given, strict=True) if not cell]
    if unnamed:
        notes.append(f"The header has no name for {enumeration(map(repr, unnamed), 5)}.")
    return names


def _without_failures(name: str, column: tuple[Cell, ...], notes: list[str]) -> list[Cell]:
    """The values of a column; those that a formula failed to compute are missing."""
    failed = sum(isinstance(value, str) and value in _FAILED for value in column)
    if failed:
        cells, they = ("1 cell", "it counts") if failed == 1 else (f"{failed} cells", "they count")
        notes.append(f"{cells} of {name!r} hold{'s' * (failed == 1)} an error such as #DIV/0!; {they} as missing.")
    return [None if isinstance(value, str) and value in _FAILED else value for value in column]


def _title_rows(rows: list[tuple[int, tuple[Cell, ...]]]) -> int:
    """How many rows stand above a table: those with one cell, where most rows have several."""
    filled = [sum(value is not None and value != "" for value in row) for _, row in rows[:_PEEK]]
    if len(filled) < 3 or Counter(filled).most_common(1)[0][0] < 2:
        return 0
    return next(k for k, count in enumerate(filled) if count > 1)


def _first_text(row: tuple[Cell, ...]) -> str:
    return next(text_of(value) for value in row if value is not None and value != "")[:40]


def _has_header(first: list[Cell], later: list[list[Cell]], options: Options) -> bool:
    if options.header is not None:
        return options.header
    texts = [["" if is_missing(value) else text_of(value) for value in row] for row in (first, *later)]
    if all(isinstance(value, str) for value in first if value is not None) and any(
        not isinstance(value, str) and not is_missing(value) for row in later for value in row
    ):
        return True
    return has_header(texts[0], texts[1:], missing_words(options))
