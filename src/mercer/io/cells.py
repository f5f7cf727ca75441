"""Bytes as lines of cells: encoding, delimiter and header, found out where nobody says them."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..columns.kinds import says_identifier
from ..messages import enumeration
from ..runtime.arrays import Array
from .sources import Source, line_of
from .table import DataError, Options

#: Words that mean "missing", in small letters.
MISSING = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "-nan", "<na>", "null"})

#: With a decimal comma, points set groups of three digits apart.
_GROUPED = re.compile(r"[-+]?\d{1,3}(\.\d{3})+(,\d*)?")
_SAMPLE = 65536
_SAMPLE_LINES = 100
#: Cells that are looked at to find out how a table is written.
_LOOKED_AT = 200_000
#: In the order of trust: a comma also stands in numbers and sentences, a space everywhere.
_DELIMITERS = ("\t", ";", "|", ",", " ")


def missing_words(options: Options) -> frozenset[str]:
    """The words that mean "missing" under these options, in small letters."""
    usual = MISSING if options.missing_words else frozenset({""})
    return usual | {word.lower() for word in options.missing}


def as_number(cell: str, decimal: str = ".") -> float:
    """The number a cell holds, or ``ValueError``. Python also reads 1_000, which no table means as a number."""
    if "_" in cell:
        raise ValueError(cell)
    return float(cell if decimal == "." else with_point(cell))


def with_point(cell: str) -> str:
    """A number with a decimal comma, whose thousands a point may set apart, as programs write it.

    Examples
    --------
    >>> with_point("3,14"), with_point("-1.234.567,5"), with_point("1.234")
    ('3.14', '-1234567.5', '1234')
    """
    if "." in cell:
        if not _GROUPED.fullmatch(cell):
            raise ValueError(cell)
        cell = cell.replace(".", "")
    return cell.replace(",", ".")


def is_numeric(cell: str, decimal: str = ".") -> bool:
    """Whether a cell holds a number."""
    try:
        as_number(cell, decimal)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Cells:
    """A text file that can be walked through, again and again, as rows of cells."""

    source: Source
    encoding: str
    delimiter: str
    quotes: bool
    notes: tuple[str, ...]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """The line at which each row begins, and its cells without the spaces around them."""
        text = io.TextIOWrapper(io.BytesIO(self.source.data), encoding=self.encoding, newline="")
        lines: Iterator[str] = (line.strip(" \r\n") for line in text) if self.delimiter == " " else text
        reader = csv.reader(
            lines,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
            skipinitialspace=True,
            strict=True,
        )
        line = 1
        try:
            for row in reader:
                yield line, [cell.strip() for cell in row]
                line = reader.line_num + 1
        except UnicodeDecodeError as error:
            raise DataError(f"{self.source.shown}, line {line}: the text is damaged ({error.reason}).") from None
        except csv.Error as error:
            raise DataError(
                f"{self.source.shown}, line {line}: the quotes do not match ({error}); double each quote inside a "
                "quoted cell, or read quotes as ordinary characters with quotes=False (--no-quotes)."
            ) from None


def first_rows(rows: Iterator[list[str]], most: int) -> list[list[str]]:
    """So many rows, or fewer where they are wide: what is looked at should take little memory.

    Examples
    --------
    >>> len(first_rows(iter([["1"] * 100_000] * 100), 100)), len(first_rows(iter([["1"]] * 200), 100))
    (3, 100)
    """
    found: list[list[str]] = []
    cells = 0
    for row in rows:
        found.append(row)
        cells += len(row)
        if len(found) >= most or (len(found) > 2 and cells > _LOOKED_AT):
            break
    return found


def open_cells(source: Source, delimiter: str | None = None, quotes: bool = True) -> Cells:
    """Find out encoding and delimiter.

    Examples
    --------
    >>> cells = open_cells(Source("a.csv", b"a;b\\n1;2\\n", ""))
    >>> cells.delimiter, list(cells.rows())
    (';', [(1, ['a', 'b']), (2, ['1', '2'])])
    """
    encoding, notes = _encoding(source)
    if delimiter is None:
        sample = source.data[:_SAMPLE].decode(encoding, errors="replace").replace("\r", "\n").split("\n")
        if len(source.data) > _SAMPLE and len(sample) > 1:
            sample.pop()  # it may be cut
        delimiter = _delimiter([line for line in sample if line.strip()][:_SAMPLE_LINES], source)
    return Cells(source, encoding, delimiter, quotes, tuple(notes))


def _encoding(source: Source) -> tuple[str, list[str]]:
    data = source.data
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16", []
    nul = data.find(b"\0")
    if nul >= 0:
        raise DataError(
            f"{source.shown}, line {line_of(data, nul)}: a NUL byte; this is no text table, or a damaged one."
        )
    bad = _first_not_utf8(data)
    if bad is None:
        return "utf-8-sig", []
    control = sum(data[:_SAMPLE].count(byte) for byte in range(32) if byte not in b"\t\n\r\f")
    if control > len(data[:_SAMPLE]) // 100:
        raise DataError(f"{source.shown} is a binary file, not a text table.")
    line = line_of(data, bad)
    encoding, name = _one_byte_each(data)
    return encoding, [f"Line {line} holds a byte (0x{data[bad]:02x}) that is not UTF-8; the file was read as {name}."]


def _one_byte_each(data: bytes) -> tuple[str, str]:
    """Windows-1252 where bytes stand for its signs, such as €, which are no letters in Latin-1."""
    if any(byte in data for byte in range(0x80, 0xA0)):
        try:
            data.decode("cp1252")
        except UnicodeDecodeError:
            return "latin-1", "Latin-1"
        return "cp1252", "Windows-1252"
    return "latin-1", "Latin-1"


def _first_not_utf8(data: bytes) -> int | None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view, size = memoryview(data), 1 << 20
    for begin in range(0, len(data), size):
        held = len(decoder.getstate()[0])
        try:
            decoder.decode(view[begin : begin + size], final=begin + size >= len(data))
        except UnicodeDecodeError as error:
            return begin - held + error.start
    return None


def _delimiter(lines: list[str], source: Source) -> str:
    if source.suffix in (".tsv", ".tab") and any("\t" in line for line in lines):
        return "\t"
    widths: dict[str, Counter[int]] = {}
    for delimiter in _DELIMITERS:
        try:
            rows = csv.reader([line.strip(" ") for line in lines], delimiter=delimiter, skipinitialspace=True)
            widths[delimiter] = Counter(len(row) for row in rows)
        except csv.Error:
            continue
    for share in (1.0, 0.9, 0.5):
        for delimiter, counts in widths.items():
            width, count = counts.most_common(1)[0] if counts else (0, 0)
            if width > 1 and count >= share * sum(counts.values()):
                return delimiter
    return ","


#: Columns that are numbered beside others with names: fewer could be a row of numbers.
_NUMBERED = 10


def has_header(first: list[str], later: list[list[str]], missing: frozenset[str], decimal: str = ".") -> bool:
    """Whether a first row names the columns.

    It does where it holds no number, repeats no word, and differs from what stands below: a column of numbers, or
    words that do not come again. Columns that are simply numbered count as named, beside others if they are many.

    Examples
    --------
    >>> has_header(["size", "kind"], [["1", "a"]], MISSING), has_header(["1", "a"], [["2", "b"]], MISSING)
    (True, False)
    """
    names = [cell for cell in first if cell]
    if not names or not later:
        return bool(names) and not any(is_numeric(cell, decimal) for cell in names)
    numbered = [cell for cell in names if is_numeric(cell, decimal)]
    if numbered:
        if not all(re.fullmatch(r"\d{1,6}", cell) for cell in numbered):
            return False
        found, count = [int(cell) for cell in numbered], len(numbered)
        in_order = found in (list(range(count)), list(range(1, count + 1)))
        if count == len(names) or not in_order or count < _NUMBERED:
            return in_order and count == len(names) > 2
    columns = list(zip(*(row for row in later if len(row) == len(first)), strict=True))
    words = missing - {""}
    named = [column for name, column in zip(first, columns, strict=False) if name.lower() not in words]
    if any(is_numeric(cell, decimal) for column in named for cell in column):
        return True
    if any(name.lower() in words for name in names):
        return False
    return len(set(names)) == len(names) and not any(
        name in column for name, column in zip(first, columns, strict=False)
    )


# Whether a text table writes its numbers with a decimal point or with a decimal comma.


#: How much of a file is looked at.
_ROWS = 1000
#: A column of numbers may have some cells that are mistakes, or words for missing that nobody named.
_MOST = 0.9
_EXPONENT = r"([eE][-+]?\d+)?"
_WHOLE = re.compile(rf"[-+]?\d+{_EXPONENT}")
#: 3,14 or 1.234,5 or 1 234,5
_COMMA = re.compile(rf"[-+]?(\d*|\d{{1,3}}([. ]\d{{3}})+),\d+{_EXPONENT}")
_POINT = re.compile(rf"[-+]?(\d*|\d{{1,3}}([, ]\d{{3}})+)\.\d+{_EXPONENT}")
#: Might as well be a whole number whose thousands are set apart.
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}([.,]\d{3})+")


def decimal_sign(columns: list[list[str]]) -> str:
    """The decimal sign of columns of cells: a comma where numbers have one and no number has a point.

    Examples
    --------
    >>> decimal_sign([["3,14", "2"], ["red", "7,5"]]), decimal_sign([["3,14"], ["2.5"]]), decimal_sign([["1,234"]])
    (',', '.', '.')
    """
    found: Counter[str] = Counter()
    for cells in columns:
        commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
        points = [cell for cell in cells if _POINT.fullmatch(cell)]
        whole = sum(_WHOLE.fullmatch(cell) is not None for cell in cells)
        for sign, numbers in ((",", commas), (".", points)):
            if len(numbers) + whole >= _MOST * len(cells) and not all(map(_THOUSANDS.fullmatch, numbers)):
                found[sign] += 1
    return "," if found[","] and not found["."] else "."


def with_decimal_sign(cells: Cells, options: Options) -> tuple[Options, tuple[str, ...]]:
    """The options with a decimal sign, looked for in the first rows where none is given, and a note on a comma."""
    if options.decimal is not None:
        return options, ()
    missing = missing_words(options)
    rows = first_rows((row for _, row in cells.rows() if any(row)), _ROWS + 1)
    rows = rows[1:] or rows  # the first may be a header
    width = max(map(len, rows), default=0)
    columns = [[row[k] for row in rows if k < len(row) and row[k].lower() not in missing] for k in range(width)]
    has_comma = any("," in cell for cells_below in columns for cell in cells_below)
    sign = decimal_sign(columns) if has_comma else "."
    said = ("Numbers have a decimal comma; --decimal . says otherwise.",) if sign == "," else ()
    return replace(options, decimal=sign), said


# Columns of one name, told apart.


def unique_names(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names, those that come again with a number behind them, and a note where there are such.

    Examples
    --------
    >>> unique_names(["size", "age", "size"])
    (['size', 'age', 'size.2'], ["A column has the name of an earlier one and is called 'size.2'."])
    """
    found: list[str] = []
    again: list[str] = []
    taken, seen = set(names), set[str]()
    for name in names:
        if name in seen:
            count = 2
            while f"{name}.{count}" in taken:
                count += 1
            name = f"{name}.{count}"
            taken.add(name)
            again.append(name)
        seen.add(name)
        found.append(name)
    if not again:
        return found, []
    which, called = ("A column has", "is") if len(again) == 1 else (f"{len(again)} columns have", "are")
    return found, [f"{which} the name of an earlier one and {called} called {enumeration(map(repr, again), 5)}."]


# What records call themselves: the column of names that many tables have beside their features.


def says_name(column: str) -> bool:
    """Whether a column is called as those are that name records."""
    return column.lower() == "name" or says_identifier(column)


def record_names(columns: Mapping[str, Any]) -> tuple[str, Array] | tuple[None, None]:
    """The first column that is called like an id and has another value in each row: its name, and its cells as words.

    Examples
    --------
    >>> import numpy as np
    >>> record_names({"age": np.array([7.0, 8.0]), "patient_id": np.array([1001.0, 1002.0])})
    ('patient_id', array(['1001', '1002'], dtype=object))
    >>> record_names({"id": np.array([1.0, 1.0]), "width": np.array([1.0, 2.0])})
    (None, None)
    """
    for name, column in columns.items():
        if says_name(name):
            cells = list(column)
            if len(set(cells)) == len(cells) > 1 and not any(cell is None or cell != cell for cell in cells):
                return name, np.array([_text(cell) for cell in cells], dtype=object)
    return None, None


def _text(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)
