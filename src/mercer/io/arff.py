"""ARFF and KEEL files: a header that declares each attribute, then rows of cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd

from ..checks.parameters import bytes_of
from .assemble import RawTable, origin_of, refuse_duplicates, remaining
from .cells import as_number, missing_words
from .sources import Source, as_text, refuse_beyond
from .table import DataError, Options
from .values import as_words, refuse_infinite

# The header of ARFF and KEEL files: which attributes there are, and of which kind.


_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ATTRIBUTE = re.compile(rf"({_QUOTED}|[^\s{{\[]+)\s*(.*)", re.DOTALL)
_CELLS = re.compile(rf"\s*({_QUOTED}|[^,\t]*)\s*(?:[,\t]|$)")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NUMBERS = ("numeric", "real", "integer")
#: The letters of Java's dates, which ARFF uses, and those of Python's.
_LETTERS = {
    "yyyy": "%Y", "yy": "%y", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d",
    "HH": "%H", "H": "%H", "hh": "%I", "mm": "%M", "ss": "%S", "SSS": "%f", "a": "%p", "z": "%Z", "Z": "%z",
}  # fmt: skip
_LETTER_GROUPS = re.compile("'([^']*)'|" + "|".join(sorted(_LETTERS, key=len, reverse=True)))


@dataclass(frozen=True)
class Attribute:
    """One column: its name, its kind ("number", "words", "text" or "date"), its words or the pattern of its dates."""

    name: str
    kind: str
    words: tuple[str, ...] = ()
    pattern: str = "yyyy-MM-dd'T'HH:mm:ss"

    def moment(self, cell: str) -> Any:
        """The date in a cell, written as the pattern says.

        Examples
        --------
        >>> Attribute("day", "date", pattern="dd.MM.yyyy").moment("29.02.2024")
        np.datetime64('2024-02-29T00:00:00.000000000')
        """
        letters = _LETTER_GROUPS.sub(
            lambda found: found[1] if found[1] is not None else _LETTERS[found[0]], self.pattern
        )
        try:
            found = datetime.strptime(cell, letters)
        except re.error as error:  # a letter that stands twice
            raise ValueError(self.pattern) from error
        if not 1678 <= found.year <= 2261:
            raise ValueError(cell)
        return np.datetime64(found.replace(tzinfo=None), "ns")


@dataclass(frozen=True)
class Header:
    """The attributes, those that are outputs, and how many lines come before the rows."""

    attributes: tuple[Attribute, ...]
    outputs: tuple[str, ...]
    length: int


def split_cells(line: str) -> list[str]:
    """The cells of a row, quotes and all.

    Examples
    --------
    >>> split_cells("1, 'a, b',?")
    ['1', "'a, b'", '?']
    """
    if "'" not in line and '"' not in line:
        return [cell.strip() for cell in (line.split(",") if "," in line else re.split("[,\t]", line))]
    cells: list[str] = []
    position = 0
    while position <= len(line):
        found = _CELLS.match(line, position)
        if found is None:  # a quote that is not closed, or something after one
            return [*cells, line[position:].strip()]
        cells.append(found[1].strip())
        if found.end() == len(line) and not line.endswith((",", "\t")):
            break
        position = found.end() + (found.end() == position)
    return cells


def unquoted(cell: str) -> str:
    """What a cell holds.

    Examples
    --------
    >>> unquoted("'it\\\\'s'"), unquoted("red")
    ("it's", 'red')
    """
    if len(cell) >= 2 and cell[0] == cell[-1] and cell[0] in "'\"":
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), cell[1:-1])
    return cell


def header_of(lines: list[str], shown: str) -> Header:
    """The header of a file."""
    attributes: list[Attribute] = []
    outputs: tuple[str, ...] = ()
    for number, line in enumerate(lines, 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        word, _, rest = line.replace("\t", " ").partition(" ")
        word = word.lower()
        if word == "@data":
            if not attributes:
                raise DataError(f"{shown}, line {number}: no attribute is declared before @data.")
            return Header(tuple(attributes), outputs, number)
        if word == "@attribute":
            attributes.append(_attribute(rest.strip(), f"{shown}, line {number}"))
        elif word in ("@output", "@outputs"):
            outputs = tuple(unquoted(name) for name in split_cells(rest.strip()))
        elif word not in ("@relation", "@input", "@inputs"):
            raise DataError(
                f"{shown}, line {number}: {line[:40]!r} is neither @relation, @attribute nor @data; correct the line."
            )
    raise DataError(f"{shown} has no line @data, after which the rows come; it may have been cut.")


def _attribute(text: str, place: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(text)
    if found is None or not found[2]:
        raise DataError(f"{place}: an attribute needs a name and a kind, such as '@attribute size numeric'.")
    name, kind = unquoted(found[1]), found[2].strip()
    if kind.startswith("{"):
        if not kind.rstrip().endswith("}"):
            raise DataError(f"{place}: the words of {name!r} begin with {{ and have no }} at their end.")
        inside = kind.rstrip()[1:-1].strip()
        words = tuple(unquoted(word) for word in split_cells(inside)) if inside else ()
        return Attribute(name, "words", tuple(dict.fromkeys(words)))
    word = re.split(r"[\s\[]", kind, maxsplit=1)[0].lower()
    if word in _NUMBERS:
        return Attribute(name, "number")
    if word == "string":
        return Attribute(name, "text")
    if word == "date":
        pattern = unquoted(kind[len("date") :].strip())
        return Attribute(name, "date", pattern=pattern) if pattern else Attribute(name, "date")
    raise DataError(
        f"{place}: {name!r} is of kind {kind[:40]!r}; numbers, words in braces, strings and dates are read."
    )


#: What lines, rows and cells take in memory; the cells that a sparse row leaves out are one and the same text.
_LINE, _ROW, _CELL, _SPARSE_CELL = 70, 250, 90, 30


def looks_like(source: Source) -> bool:
    """Whether a file begins with ``@relation``, after comments."""
    for line in source.data[:65536].splitlines():
        if line.strip() and not line.startswith(b"%"):
            return line.removeprefix(b"\xef\xbb\xbf").lower().startswith(b"@relation")
    return False


def columns_of(source: Source, options: Options) -> RawTable:
    """The columns as the header declares them; the target is what a KEEL file calls its output."""
    refuse_beyond(_bytes_needed(source.data), source.shown, options)
    lines = _text(source).splitlines()
    header = header_of(lines, source.shown)
    refuse_duplicates([each.name for each in header.attributes], source.shown)
    rows, numbers = _rows(lines, header, source, options)
    if not rows:
        raise DataError(f"{source.shown} has a header and no rows.")
    kept = set(remaining([each.name for each in header.attributes], options, source.shown))
    columns = {}
    for position, attribute in enumerate(header.attributes):
        if attribute.name in kept:
            asked = options.kinds.get(attribute.name)
            if asked == "category" and attribute.kind == "number":
                attribute = replace(attribute, kind="text")
            cells = [row[position] for row in rows]
            columns[attribute.name] = _column(attribute, cells, numbers, source, options)
    target = header.outputs[-1] if header.outputs else None
    notes = [f"The target is what the file calls its output, {target!r}."] if target and options.target is None else []
    return RawTable(columns, origin_of(source, np.array(numbers)), tuple(notes), {}, target)


def _bytes_needed(data: bytes) -> int:
    """What lines take in memory before anybody looks at them."""
    return len(data) * (3 if data.isascii() else 9) + _LINE * (data.count(b"\n") + data.count(b"\r"))


def _text(source: Source) -> str:
    try:
        return as_text(source.data, source.shown)
    except DataError:
        return source.data.decode("latin-1")  # as the older collections are


def _rows(
    lines: list[str], header: Header, source: Source, options: Options
) -> tuple[list[list[str | None]], list[int]]:
    """The cells of each row, ``None`` where missing, and its line."""
    missing = missing_words(options) | {"<null>"}
    limit, held = bytes_of(options.max_bytes), _bytes_needed(source.data)
    rows: list[list[str | None]] = []
    numbers = []
    for number, line in enumerate(lines[header.length :], header.length + 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        place = f"{source.shown}, line {number}"
        cells = _sparse(line, header, place) if line.startswith("{") else split_cells(line)
        if len(cells) != len(header.attributes):
            raise DataError(
                f"{place}: the row has {len(cells)} cells where {len(header.attributes)} are declared; quote cells "
                "that hold a comma."
            )
        rows.append([None if cell.lower() in missing else unquoted(cell) for cell in cells])
        numbers.append(number)
        held += _ROW + (_SPARSE_CELL if line.startswith("{") else _CELL) * len(cells) + len(line)
        if held > limit:
            share = (number - header.length) / (len(lines) - header.length)
            refuse_beyond(held / share, source.shown, options)
    return rows, numbers


def _sparse(line: str, header: Header, place: str) -> list[str]:
    """The cells of a sparse row ``{2 7.5, 4 red}``: attributes are numbered from 0, and those left out are zero.

    The zero of a nominal attribute is its first word; texts and dates have none, and are missing.
    """
    zeros = {"number": "0", "text": "?", "date": "?"}
    cells = [zeros[each.kind] if each.kind in zeros else next(iter(each.words), "?") for each in header.attributes]
    if not line.endswith("}"):
        raise DataError(f"{place}: a sparse row begins with {{ and has no }} at its end.")
    for pair in _pairs(line[1:-1]):
        number, _, value = pair.strip().partition(" ")
        if not (number.isascii() and number.isdigit() and len(number) < 10 and int(number) < len(cells)):
            raise DataError(
                f"{place}: {pair.strip()[:40]!r} should be the number of an attribute, from 0 to {len(cells) - 1}, and "
                "its value."
            )
        cells[int(number)] = value.strip()
    return cells


def _pairs(inside: str) -> Iterator[str]:
    return (cell for cell in split_cells(inside) if cell.strip())


def _column(attribute: Attribute, cells: list[str | None], lines: list[int], source: Source, options: Options) -> Any:
    def place(row: int) -> str:
        return f"{source.shown}, line {lines[row]}"

    present = [(row, cell) for row, cell in enumerate(cells) if cell is not None]
    name = attribute.name
    if attribute.kind == "words":
        known = set(attribute.words)
        strange = next(((row, cell) for row, cell in present if cell not in known), None)
        if strange is not None:
            raise DataError(
                f"{place(strange[0])}, column {name!r}: {strange[1][:40]!r} is none of the words that the "
                "header declares."
            )
        return pd.Categorical(cells, categories=np.array(attribute.words, dtype=object))
    if attribute.kind == "text":
        return as_words(present, len(cells))
    values = np.full(len(cells), np.nan) if attribute.kind == "number" else np.full(len(cells), "NaT", "datetime64[ns]")
    for row, cell in present:
        try:
            values[row] = as_number(cell) if attribute.kind == "number" else attribute.moment(cell)
        except (ValueError, OverflowError):
            what = "a number" if attribute.kind == "number" else f"a date such as {attribute.pattern!r}"
            raise DataError(
                f"{place(row)}, column {name!r}: {cell[:40]!r} is not {what}, which the header declares; correct it."
            ) from None
    if attribute.kind == "number":
        refuse_infinite(name, values, place)
    return values
