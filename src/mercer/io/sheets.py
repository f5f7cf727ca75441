"""Excel workbooks (.xlsx), through openpyxl (``pip install 'mercer[excel]'``)."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections import Counter
from itertools import zip_longest
from typing import Any

import numpy as np

from ..checks.parameters import bytes_of
from ..messages import enumeration, nearest
from .assemble import RawTable, origin_of, remaining
from .cells import has_header, missing_words, unique_names
from .reading import is_zip, names_in
from .sources import Source, said_by
from .table import DataError, Options, RowPlaces
from .values import is_missing, raw_column, text_of

# A sheet of cells, as people lay one out: a title above, the header, the rows, empty columns in between.


Cell = Any
_PEEK = 100
#: What a formula shows that could not be computed.
_FAILED = frozenset({"#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#GETTING_DATA", "#SPILL!", "#CALC!"})


def sheet_columns(
    rows: list[tuple[int, tuple[Cell, ...]]], shown: str, source: Source, options: Options, notes: list[str]
) -> RawTable:
    """The columns of a sheet, whose rows that are not empty come each with its number in the sheet."""
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
    names, again = unique_names(_names(first, named, notes))
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


#: What a cell and a row take in memory while a sheet is read, and a byte of the texts that cells share.
_CELL, _ROW, _SHARED = 80, 350, 6
#: Bytes of a part that are looked at together.
_PIECE = 1 << 20


def looks_like(source: Source) -> bool:
    """Whether a file is a workbook."""
    return is_zip(source) and "xl/workbook.xml" in names_in(source)


def columns_of(source: Source, options: Options) -> RawTable:
    """The columns of one sheet."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise DataError(
            f"{source.shown} is an Excel workbook; install openpyxl: pip install 'mercer[excel]'."
        ) from None
    limit = bytes_of(options.max_bytes)
    try:
        _refuse_bombs(source, limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on styles and print areas, which are not read
            book = load_workbook(io.BytesIO(source.data), read_only=True, data_only=True, keep_links=False)
            sheet = _sheet([each for each in book.worksheets if hasattr(each, "iter_rows")], source, options)
            rows = _rows(sheet, source, limit)
    except DataError:
        raise
    except Exception as error:  # a damaged workbook may stop openpyxl, zipfile or the XML parser anywhere
        raise DataError(
            f"{source.shown} is a damaged Excel workbook: {said_by(error)}; save it again as .xlsx or CSV."
        ) from None
    others = [each.title for each in book.worksheets if each.title != sheet.title]
    notes = []
    if others and options.sheet is None:
        notes.append(
            f"The sheet {sheet.title!r} was read; the workbook also has {enumeration(map(repr, others), 5)} (--sheet)."
        )
    return sheet_columns(rows, f"{source.shown}, sheet {sheet.title!r}", source, options, notes)


def _refuse_bombs(source: Source, limit: int) -> None:
    """A workbook is XML in a zip archive: neither may grow without measure. No workbook needs a DOCTYPE."""
    with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
        parts = [info for info in archive.infolist() if info.filename.endswith((".xml", ".rels"))]
        shared = sum(info.file_size for info in parts if "/worksheets/" not in info.filename)
        if max(sum(info.file_size for info in parts), _SHARED * shared) > limit:
            raise DataError(
                f"{source.shown} unpacks to more than {limit:,} bytes; allow more with max_bytes (--max-bytes)."
            )
        for info in parts:
            with archive.open(info) as part:
                before = b""
                while piece := part.read(_PIECE):
                    if b"<!DOCTYPE" in before[-10:] + piece:
                        raise DataError(
                            f"{source.shown} has an XML document type, which no workbook needs; save it again."
                        )
                    before = piece


def _sheet(sheets: list[Any], source: Source, options: Options) -> Any:
    if not sheets:
        raise DataError(f"{source.shown} has no sheet with cells.")
    if options.sheet is None:
        return sheets[0]
    titles = [sheet.title for sheet in sheets]
    if options.sheet in titles:
        return sheets[titles.index(options.sheet)]
    near = nearest(options.sheet, titles)
    hint = f"the sheets are {enumeration(map(repr, titles))}." if near is None else f"did you mean {near!r}?"
    raise DataError(f"{source.shown} has no sheet {options.sheet!r}; {hint}")


def _rows(sheet: Any, source: Source, limit: int) -> list[tuple[int, tuple[Cell, ...]]]:
    """The rows that hold anything, each with its number."""
    sheet.reset_dimensions()  # what a file says of its own size may be wrong
    rows: list[tuple[int, tuple[Cell, ...]]] = []
    cells = 0
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        cells += len(row)
        if _CELL * cells + _ROW * len(rows) > limit:
            raise DataError(
                f"{source.shown}, sheet {sheet.title!r} has more than {number - 1:,} rows of {len(row)} columns; allow "
                "more with max_bytes (--max-bytes)."
            )
        if any(value is not None and value != "" for value in row):
            rows.append((number, row))
    return rows
