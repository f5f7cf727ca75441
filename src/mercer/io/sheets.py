"""A sheet of cells, as people lay one out: a title above, the header, the rows, empty columns in between."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.wording import enumeration
from .assemble import origin_of, refuse_duplicates, remaining
from .cells import MISSING, has_header
from .python_values import is_missing, raw_column, text_of
from .raw import RawTable
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
    first, later = [column[0] for column in columns], [[column[k] for column in columns] for k in range(1, len(rows))]
    named = _has_header(first, later[:_PEEK], options)
    if named and not later:
        raise DataError(f"{shown} has a header and no rows.")
    if named:
        names = ["" if value is None else text_of(value) for value in first]
        names = [name or f"column {k}" for k, name in enumerate(names, 1)]
        unnamed = [name for name, value in zip(names, first, strict=True) if value in (None, "")]
        if unnamed:
            notes.append(f"The header has no name for {enumeration(map(repr, unnamed), 5)}.")
    else:
        names = [f"x{k}" for k in range(1, len(columns) + 1)]
        notes.append(f"No header was found; the columns are called x1 to x{len(columns)}.")
    refuse_duplicates(names, shown)
    numbers = np.array([number for number, _ in rows[named:]])
    kept, made = set(remaining(names, options, shown)), {}
    for name, column in zip(names, columns, strict=True):
        if name in kept:
            values = [None if isinstance(value, str) and value in _FAILED else value for value in column[named:]]
            failed = sum(value is not None and kept is None for value, kept in zip(column[named:], values, strict=True))
            if failed:
                notes.append(f"{failed} cells of {name!r} hold an error such as #DIV/0!; they count as missing.")
            made[name], said = raw_column(name, values, lambda row: f"{shown}, row {numbers[row]}", options)
            notes += said
    return RawTable(made, origin_of(source, RowPlaces(numbers)), tuple(notes))


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
    missing = MISSING | {word.lower() for word in options.missing}
    texts = [["" if is_missing(value) else text_of(value) for value in row] for row in (first, *later)]
    if all(isinstance(value, str) for value in first if value is not None) and any(
        not isinstance(value, str) and not is_missing(value) for row in later for value in row
    ):
        return True
    return has_header(texts[0], texts[1:], missing)
