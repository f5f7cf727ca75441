"""The header of ARFF and KEEL files: which attributes there are, and of which kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from .table import DataError

__all__ = ["Attribute", "Header", "header_of", "split_cells", "unquoted"]

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
