"""CSV, TSV and every other text table with a delimiter."""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from ..checks.parameters import bytes_of
from ..columns.values import signed_either_way
from ..messages import enumeration
from ..runtime.arrays import Array
from .assemble import RawTable, origin_of, remaining, target_position
from .cells import (
    Cells,
    as_number,
    first_rows,
    has_header,
    missing_words,
    open_cells,
    says_name,
    unique_names,
    with_decimal_sign,
)
from .sources import Source, refuse_beyond, refuse_few_mistakes
from .table import DataError, Options

#: Cells that are held as Python texts at a time.
_BLOCK = 100_000
#: What a column takes in memory beside its cells, what a row does, and what each different word and label does.
_COLUMN, _ROW, _WORD = 3000, 40, 250
_PEEK = 100
#: Lines of text that may stand above a table.
_MOST_ABOVE = 5
_THOUSANDS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
#: Codes such as zip codes begin with zeros, numbers do not; so many cells are looked at.
_LEADING_ZERO, _LOOKED_AT = re.compile(r"0\d+"), 2000
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")


def columns_of(source: Source, options: Options) -> RawTable:
    """The columns of a text table, each of numbers or of categories."""
    cells = open_cells(source, options.delimiter, options.quotes)
    width = source.data[: source.data.find(b"\n") + 1].count(cells.delimiter.encode())
    refuse_beyond(len(source.data) + _COLUMN * width, source.shown, options)
    options, said = with_decimal_sign(cells, options)
    layout = layout_of(cells, options)
    kept = remaining(layout.names, options, source.shown)
    target, _ = target_position(kept, options, source.shown)
    labels = None if target is None else kept[target]
    not_asked: dict[str, str] = {}
    if options.columns is not None:
        not_asked = {name: "not asked for" for name in kept if name not in options.columns and name != labels}
        kept = [name for name in kept if name not in not_asked or says_name(name)]
    words = {name for name, kind in options.kinds.items() if kind not in ("number", "keep")}.union(not_asked)
    words |= _codes(layout, options)
    columns, lines = _convert(layout, kept, options, words, labels)
    mixed = [name for name, column in columns.items() if isinstance(column, _Numbers) and column.wrong]
    for name in mixed:
        _refuse_mistakes(name, columns[name], source, options)
    partly = [name for name in mixed if columns[name].right]
    if mixed:  # once more, now that it is known which columns are words
        columns, lines = _convert(layout, kept, options, words.union(mixed), labels)
    finished = {name: column.finish() for name, column in columns.items()}
    for name, column in columns.items():
        if isinstance(column, _Numbers):
            _refuse_infinite(name, finished[name], lines, source)
    found = {"header": layout.has_header, **({"decimal": ","} if options.decimal == "," else {})}
    return RawTable(
        finished,
        origin_of(source, lines),
        (*layout.notes, *said),
        found,
        target=labels if not_asked else None,
        mixed=tuple(partly),
        left_out=not_asked,
    )


def _codes(layout: _Layout, options: Options) -> set[str]:
    """Columns of whole numbers of which some begin with zeros: codes, which would not be the same as numbers."""
    some = first_rows((row for _, row in layout.rows()), _LOOKED_AT)
    missing = missing_words(options)
    found = set()
    for name, cells in zip(layout.names, zip(*some, strict=True), strict=True):
        whole = all(cell.isdecimal() or cell.lower() in missing for cell in cells)
        if whole and any(map(_LEADING_ZERO.fullmatch, cells)) and options.kinds.get(name) != "number":
            found.add(name)
    return found


# -- the layout: names and width ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    cells: Cells
    names: list[str]
    has_header: bool
    #: Lines with text above the table.
    above: int
    #: Cells in a line; one more than names where every line ends with a delimiter.
    width: int
    notes: tuple[str, ...]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Rows of data, each as wide as the names."""
        shown, pending = self.cells.source.shown, self.above + self.has_header
        for line, row in self.cells.rows():
            if not any(row):
                continue
            if pending:
                pending -= 1
                continue
            if len(row) != self.width:
                raise DataError(
                    f"{shown}, line {line}: the row has {len(row)} cells where {self.width} are expected; quote cells "
                    f"that hold the delimiter {self.cells.delimiter!r}, or name the right one (--delimiter)."
                )
            yield line, row if self.width == len(self.names) else row[: len(self.names)]


def layout_of(cells: Cells, options: Options) -> _Layout:
    shown, notes = cells.source.shown, list(cells.notes)
    peek = first_rows((row for _, row in cells.rows() if any(row)), _PEEK)
    if not peek:
        raise DataError(f"{shown} is empty.")
    above = _lines_above(peek) if options.header is not False else 0
    if above:
        was, said = ("was", "line") if above == 1 else ("were", "lines")
        title = " ".join(filter(None, peek[0]))[:40]
        notes.append(f"{above} {said} above the table {was} passed over: {title!r}.")
    first, later = peek[above], peek[above + 1 :]
    missing = missing_words(options)
    header = has_header(first, later, missing, options.decimal or ".") if options.header is None else options.header
    if header and not later:
        raise DataError(f"{shown} has a header and no rows.")
    width = len(first)
    trailing = width > 1 and not first[-1] and all(len(row) == width and not row[-1] for row in later)
    if header and later and all(len(row) == width + 1 and not row[-1] for row in later):
        width, trailing, first = width + 1, True, [*first, ""]
    count = width - trailing
    if header:
        names, again = unique_names([cell or f"column {k + 1}" for k, cell in enumerate(first[:count])])
        notes += again
        unnamed = [name for name, cell in zip(names, first, strict=False) if not cell]
        if unnamed:
            notes.append(f"The header has no name for {enumeration(map(repr, unnamed), 5)}.")
    else:
        names = [f"x{k}" for k in range(1, count + 1)]
        notes.append(f"No header was found; the columns are called x1 to x{count}.")
    return _Layout(cells, names, header, above, width, tuple(notes))


def _lines_above(rows: list[list[str]]) -> int:
    """How many lines stand above a table: titles and remarks, which fill one cell where the table has several."""
    widths = [len(row) for row in rows[_MOST_ABOVE:]]
    usual = max(set(widths), key=widths.count) if widths else 0
    if usual < 2 or widths.count(usual) < len(widths):
        return 0
    filled = [sum(map(bool, row)) for row in rows[:_MOST_ABOVE]]
    above = next((k for k, count in enumerate(filled) if count > 1), 0)
    return above if all(len(row) == usual for row in rows[above:]) else 0


# -- the columns --------------------------------------------------------------------------------------------------


@dataclass
class _Numbers:
    """A column that is read as numbers as long as that works."""

    missing: frozenset[str]
    decimal: str
    values: array[float] = field(default_factory=lambda: array("d"))
    right: int = 0
    wrong: int = 0
    first_wrong: list[tuple[int, str]] = field(default_factory=list)
    decimal_commas: int = 0

    def add(self, cells: tuple[str, ...], lines: list[int]) -> None:
        values = np.full(len(cells), np.nan)
        for k, cell in enumerate(cells):
            if cell.lower() in self.missing:
                continue
            try:
                values[k] = as_number(cell, self.decimal)
                self.right += 1
            except ValueError:
                self.wrong += 1
                self.decimal_commas += _DECIMAL_COMMA.fullmatch(cell) is not None
                if len(self.first_wrong) < 3:
                    self.first_wrong.append((lines[k], cell))
        self.values.frombytes(values.tobytes())

    def add_numbers(self, values: Array) -> None:
        self.values.frombytes(values.tobytes())
        self.right += int(values.size)

    @property
    def takes(self) -> int:
        """Bytes: each number once here and, while columns are put together, some of them once more."""
        return 12 * len(self.values)

    def finish(self) -> Array:
        return np.frombuffer(self.values)


@dataclass
class _Words:
    """A column of categories, kept as their codes.

    A word for "missing" that is written as names are, such as Nan, is one where most others are written like that too.
    """

    missing: frozenset[str]
    said: frozenset[str] = frozenset()
    known: dict[str, int] = field(default_factory=dict)
    codes: array[int] = field(default_factory=lambda: array("i"))
    length: int = 0

    def add(self, cells: tuple[str, ...], lines: list[int]) -> None:
        known, is_missing = self.known, self._is_missing
        for cell in dict.fromkeys(cells):
            if cell not in known and not is_missing(cell):
                known[cell] = len(known)
                self.length += sys.getsizeof(cell)
        self.codes.extend(known.get(cell, -1) for cell in cells)

    @property
    def takes(self) -> int:
        """Bytes: of a number for each row, at times three, and of the words, at times as a list and sorted."""
        return 24 * len(self.codes) + _WORD * len(self.known) + self.length

    def _is_missing(self, cell: str) -> bool:
        return cell.lower() in self.missing and (cell in self.said or not _like_a_name(cell))

    def finish(self) -> Any:
        words = np.array(list(self.known), dtype=object)
        doubtful = np.array([word.lower() in self.missing for word in words], dtype=bool)
        others = words[~doubtful]
        if doubtful.any() and 2 * sum(word[:1].isupper() for word in others) > others.size:
            doubtful[:] = False
        order = np.argsort(words, kind="stable") if words.size else np.empty(0, int)
        order = order[~doubtful[order]]
        place = np.full(words.size + 1, -1, dtype=np.int32)
        place[order] = np.arange(order.size)
        return pd.Categorical.from_codes(place[np.frombuffer(self.codes, np.int32)], categories=words[order])


def _like_a_name(cell: str) -> bool:
    return cell.isalpha() and cell.istitle()


@dataclass
class _Labels:
    """The target: texts as they are, ``None`` where missing."""

    missing: frozenset[str]
    cells: list[str | None] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)
    length: int = 0

    def add(self, cells: tuple[str, ...], lines: list[int]) -> None:
        same = self.known.setdefault  # one text object for each label, however many rows
        self.length += sum(sys.getsizeof(cell) for cell in set(cells) if cell not in self.known)
        self.cells.extend(None if cell.lower() in self.missing else same(cell, cell) for cell in cells)

    @property
    def takes(self) -> int:
        return 40 * len(self.cells) + _WORD * len(self.known) + self.length

    def finish(self) -> list[str | None]:
        return self.cells


def _convert(
    layout: _Layout, kept: list[str], options: Options, words: set[str], labels: str | None
) -> tuple[dict[str, Any], Array]:
    """One walk through the file, over the columns that are kept."""
    missing = missing_words(options)
    columns: dict[str, Any] = {}
    for name in kept:
        if name == labels:
            columns[name] = _Labels(missing)
        else:
            numbers = _Numbers(missing, options.decimal or ".")
            columns[name] = _Words(missing, options.missing) if name in words else numbers
    plain = options.decimal == "." and b"_" not in layout.cells.source.data
    n_lines = layout.cells.source.data.count(b"\n")
    rows, lines, source = layout.rows(), array("q"), layout.cells.source
    refuse_beyond(len(source.data) + _COLUMN * len(layout.names), source.shown, options)
    size = max(1, _BLOCK // max(1, len(layout.names)))
    while block := list(islice(rows, size)):
        here = [line for line, _ in block]
        by_name = dict(zip(layout.names, zip(*(row for _, row in block), strict=True), strict=True))
        for name, column in columns.items():
            cells = by_name[name]
            if plain and isinstance(column, _Numbers):
                try:
                    column.add_numbers(np.array(cells, dtype=np.float64))
                    continue
                except ValueError:
                    pass  # a missing word or a mistake: cell by cell
            column.add(cells, here)
        lines.extend(here)
        held = sum(column.takes for column in columns.values()) + _COLUMN * len(layout.names) + _ROW * len(lines)
        share = min(1.0, lines[-1] / max(1, n_lines))  # of the file that was read
        if len(source.data) + held > bytes_of(options.max_bytes):
            refuse_beyond(len(source.data) + held / share, source.shown, options)
    if not lines:
        raise DataError(f"{source.shown} has a header and no rows.")
    return columns, np.frombuffer(lines, np.int64)


def _refuse_infinite(name: str, values: Array, lines: Array, source: Source) -> None:
    wrong = np.flatnonzero(np.isinf(values))
    if wrong.size:
        raise DataError(
            f"{source.shown}, line {lines[wrong[0]]}, column {name!r}: the number {values[wrong[0]]} is not finite; "
            "correct it or empty the cell."
        )


def _refuse_mistakes(name: str, column: _Numbers, source: Source, options: Options) -> None:
    """Raise where a column is one of numbers but for some mistakes, rather than one of categories."""
    line, cell = next(
        (
            (line, cell)
            for line, cell in column.first_wrong
            if signed_either_way([cell], options.decimal or ".") is None
        ),
        column.first_wrong[0],
    )
    place = f"{source.shown}, line {line}, column {name!r}"
    if column.decimal_commas == column.wrong and options.decimal == ".":
        if all(_THOUSANDS.fullmatch(cell) for _, cell in column.first_wrong):
            return  # commas set thousands apart
        raise DataError(f"{place}: {cell!r} seems to have a decimal comma; say decimal=',' (--decimal ,).")
    if options.kinds.get(name) == "number":
        if signed_either_way([cell for _, cell in column.first_wrong], options.decimal or ".") is not None:
            return  # a sign or a unit stands around them
        raise DataError(f"{place}: {cell[:40]!r} is not a number.")
    refuse_few_mistakes(f"{source.shown}, line {line}", name, cell[:40], column.wrong, column.right)
