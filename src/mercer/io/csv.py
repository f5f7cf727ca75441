"""CSV, TSV and every other text table with a delimiter."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .._validation.wording import enumeration
from ..columns.signed_numbers import signed_numbers
from .assemble import origin_of, refuse_duplicates, remaining, target_position
from .cells import MISSING, Cells, as_number, has_header, open_cells
from .decimal_sign import with_decimal_sign
from .raw import RawTable
from .record_names import says_name
from .sources import Source
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["columns_of"]

#: Cells that are held as Python texts at a time.
_BLOCK = 500_000
#: A column with fewer cells than this share that are no numbers is a column of numbers with mistakes in it.
_FEW = 0.05
_PEEK = 100
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+([eE][-+]?\d+)?")


def columns_of(source: Source, options: Options) -> RawTable:
    """The columns of a text table, each of numbers or of words."""
    cells = open_cells(source, options.delimiter, options.quotes)
    options, said = with_decimal_sign(cells, options)
    layout = _layout(cells, options)
    kept = remaining(layout.names, options, source.shown)
    target, _ = target_position(kept, options, source.shown)
    labels = None if target is None else kept[target]
    not_asked: dict[str, str] = {}
    if options.columns is not None:
        not_asked = {name: "not asked for" for name in kept if name not in options.columns and name != labels}
        kept = [name for name in kept if name not in not_asked or says_name(name)]
    words = {name for name, kind in options.kinds.items() if kind not in ("number", "keep")}.union(not_asked)
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


# -- the layout: names and width ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Layout:
    cells: Cells
    names: list[str]
    has_header: bool
    #: Cells in a line; one more than names where every line ends with a delimiter.
    width: int
    notes: tuple[str, ...]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Rows of data, each as wide as the names."""
        shown, pending = self.cells.source.shown, self.has_header
        for line, row in self.cells.rows():
            if not any(row):
                continue
            if pending:
                pending = False
                continue
            if len(row) != self.width:
                raise DataError(
                    f"{shown}, line {line}: the row has {len(row)} cells where {self.width} are expected; quote cells "
                    f"that hold the delimiter {self.cells.delimiter!r}, or name the right one (--delimiter)."
                )
            yield line, row if self.width == len(self.names) else row[: len(self.names)]


def _layout(cells: Cells, options: Options) -> _Layout:
    shown, notes = cells.source.shown, list(cells.notes)
    peek = [row for _, row in islice(((line, row) for line, row in cells.rows() if any(row)), _PEEK)]
    if not peek:
        raise DataError(f"{shown} is empty.")
    first, later = peek[0], peek[1:]
    missing = _missing(options)
    header = has_header(first, later, missing, options.decimal or ".") if options.header is None else options.header
    if header and not later:
        raise DataError(f"{shown} has a header and no rows.")
    width = len(first)
    trailing = width > 1 and not first[-1] and all(len(row) == width and not row[-1] for row in later)
    if header and later and all(len(row) == width + 1 and not row[-1] for row in later):
        width, trailing, first = width + 1, True, [*first, ""]
    count = width - trailing
    if header:
        names = [cell or f"column {k + 1}" for k, cell in enumerate(first[:count])]
        refuse_duplicates(names, shown)
        unnamed = [name for name, cell in zip(names, first, strict=False) if not cell]
        if unnamed:
            notes.append(f"The header has no name for {enumeration(map(repr, unnamed), 5)}.")
    else:
        names = [f"x{k}" for k in range(1, count + 1)]
        notes.append(f"No header was found; the columns are called x1 to x{count}.")
    return _Layout(cells, names, header, width, tuple(notes))


def _missing(options: Options) -> frozenset[str]:
    """The words that mean "missing", in small letters."""
    usual = MISSING if options.missing_words else frozenset({""})
    return usual | {word.lower() for word in options.missing}


# -- the columns --------------------------------------------------------------------------------------------------


@dataclass
class _Numbers:
    """A column that is read as numbers as long as that works."""

    missing: frozenset[str]
    decimal: str
    blocks: list[Array] = field(default_factory=list)
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
        self.blocks.append(values)

    def add_numbers(self, values: Array) -> None:
        self.blocks.append(values)
        self.right += int(values.size)

    def finish(self) -> Array:
        return np.concatenate(self.blocks)


@dataclass
class _Words:
    """A column of words, kept as numbers of words.

    A word for "missing" that is written as names are, such as Nan, is one where most others are written like that too.
    """

    missing: frozenset[str]
    said: frozenset[str] = frozenset()
    known: dict[str, int] = field(default_factory=dict)
    blocks: list[Array] = field(default_factory=list)

    def add(self, cells: tuple[str, ...], lines: list[int]) -> None:
        known, is_missing = self.known, self._is_missing
        codes = [
            known[cell] if cell in known else -1 if is_missing(cell) else known.setdefault(cell, len(known))
            for cell in cells
        ]
        self.blocks.append(np.array(codes, dtype=np.int32))

    def _is_missing(self, cell: str) -> bool:
        return cell.lower() in self.missing and (cell in self.said or not _like_a_name(cell))

    def finish(self) -> Any:
        import pandas as pd

        words = np.array(list(self.known), dtype=object)
        doubtful = np.array([word.lower() in self.missing for word in words], dtype=bool)
        others = words[~doubtful]
        if doubtful.any() and 2 * sum(word[:1].isupper() for word in others) > others.size:
            doubtful[:] = False
        order = np.argsort(words, kind="stable") if words.size else np.empty(0, int)
        order = order[~doubtful[order]]
        place = np.full(words.size + 1, -1, dtype=np.int32)
        place[order] = np.arange(order.size)
        return pd.Categorical.from_codes(place[np.concatenate(self.blocks)], categories=words[order])


def _like_a_name(cell: str) -> bool:
    return cell.isalpha() and cell.istitle()


@dataclass
class _Labels:
    """The target: texts as they are, ``None`` where missing."""

    missing: frozenset[str]
    cells: list[str | None] = field(default_factory=list)
    known: dict[str, str] = field(default_factory=dict)

    def add(self, cells: tuple[str, ...], lines: list[int]) -> None:
        same = self.known.setdefault  # one text object for each label, however many rows
        self.cells.extend(None if cell.lower() in self.missing else same(cell, cell) for cell in cells)

    def finish(self) -> list[str | None]:
        return self.cells


def _convert(
    layout: _Layout, kept: list[str], options: Options, words: set[str], labels: str | None
) -> tuple[dict[str, Any], Array]:
    """One walk through the file, over the columns that are kept."""
    missing = _missing(options)
    columns: dict[str, Any] = {}
    for name in kept:
        if name == labels:
            columns[name] = _Labels(missing)
        else:
            numbers = _Numbers(missing, options.decimal or ".")
            columns[name] = _Words(missing, options.missing) if name in words else numbers
    plain = options.decimal == "." and b"_" not in layout.cells.source.data
    rows, lines = layout.rows(), []
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
    if not lines:
        raise DataError(f"{layout.cells.source.shown} has a header and no rows.")
    return columns, np.array(lines, dtype=np.int64)


def _refuse_infinite(name: str, values: Array, lines: Array, source: Source) -> None:
    wrong = np.flatnonzero(np.isinf(values))
    if wrong.size:
        raise DataError(
            f"{source.shown}, line {lines[wrong[0]]}, column {name!r}: the number {values[wrong[0]]} is not finite; "
            "correct it or empty the cell."
        )


def _refuse_mistakes(name: str, column: _Numbers, source: Source, options: Options) -> None:
    """Raise where a column is one of numbers but for some mistakes, rather than one of categories."""
    line, cell = column.first_wrong[0]
    total = column.wrong + column.right
    place = f"{source.shown}, line {line}, column {name!r}"
    if column.decimal_commas == column.wrong and options.decimal == ".":
        thousands = ", or write thousands without one" if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+", cell) else ""
        raise DataError(f"{place}: {cell!r} seems to have a decimal comma; say decimal=',' (--decimal ,){thousands}.")
    if options.kinds.get(name) == "number":
        if signed_numbers([cell for _, cell in column.first_wrong]) is not None:
            return  # a sign or a unit stands around them
        raise DataError(f"{place}: {cell[:40]!r} is not a number.")
    if total >= 20 and column.wrong <= _FEW * total:
        others = f" and {column.wrong - 1} more" if column.wrong > 1 else ""
        raise DataError(
            f"{place}: {cell[:40]!r}{others} is not a number, but the other {column.right} cells are; correct it, "
            f"name it as a word for missing (--missing), or read the column as categories (--as {name!r}=category)."
        )
