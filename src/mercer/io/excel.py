"""Excel workbooks (.xlsx), through openpyxl (``pip install 'mercer[excel]'``)."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import TYPE_CHECKING, Any

from .._validation.memory import bytes_of
from .._validation.wording import enumeration, nearest
from .archives import is_zip, names_in
from .raw import RawTable
from .sheets import Cell, sheet_columns
from .sources import Source, said_by
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["columns_of", "looks_like"]

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
