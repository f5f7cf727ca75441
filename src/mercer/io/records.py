"""JSON: a list of records, one record a line, or a list for each column."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import Any

from ..checks.parameters import bytes_of, whole_number
from ..messages import enumeration
from .assemble import RawTable, origin_of, remaining, target_position
from .sources import Source, as_text, refuse_beyond
from .table import DataError, Options, RowPlaces
from .values import raw_column, shortened

# What JSON takes in memory once it is parsed, told by its marks before it is.
#
# A list of Python's takes 56 bytes and 8 for each of its values, an object of one name 184, a number 24, a text 49 and
# its letters. Marks inside of texts are counted too, which errs on the safe side.


_LIST, _OBJECT, _VALUE_BYTES, _QUOTE, _NAME = 75, 200, 35, 28, 60
#: Of a stretch without objects: what a byte of it takes as texts of one letter.
_STRETCH = 16


def structure_takes(data: bytes) -> int:
    """Bytes that a whole document takes, all of it in memory at once.

    Examples
    --------
    >>> structure_takes(b'{"a": [1, 2], "b": [3, 4]}')
    739
    """
    marks = _QUOTE * data.count(b'"') + _VALUE_BYTES * data.count(b",") + _NAME * data.count(b":")
    return _as_text(data) + _brackets(data) + marks


def record_takes(data: bytes) -> int:
    """Bytes that a file takes of which one record after another is parsed: its text, and the largest record.

    Examples
    --------
    >>> record_takes(b'{"a": 1}\\n{"a": 2}\\n') < 1000
    True
    """
    begins = (found.start() for found in re.finditer(rb"\{", data))
    longest = max(after - before for before, after in pairwise(chain([0], begins, [len(data)])))
    return _as_text(data) + _brackets(data) + _STRETCH * longest


def _as_text(data: bytes) -> int:
    return len(data) * (2 if data.isascii() else 5)


def _brackets(data: bytes) -> int:
    return _LIST * data.count(b"[") + _OBJECT * data.count(b"{")


# Cells of JSON that hold several values: lists of words are texts, other lists are none of a table's kinds.


def without_lists(name: str, values: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """A column without lists and objects in its cells, and what is to be said of it; no cells where it is left out.

    A list among single values is a mistake, and stays.

    Examples
    --------
    >>> without_lists("tags", [["red", "big"], None, ["blue"]])[0]
    ['red big', None, 'blue']
    >>> without_lists("place", [[52.5, 13.4], [48.1, 11.6]])
    ([], ["'place' holds lists or objects, which are no single values, and is left out."])
    """
    several = [value for value in values if value is not None]
    if not several or not all(isinstance(value, (list, dict)) for value in several):
        return list(values), []
    if all(isinstance(value, list) and all(isinstance(each, str) for each in value) for value in several):
        texts = [" ".join(value) or None if isinstance(value, list) else value for value in values]
        return texts, [
            f"{name!r} holds lists of words, each read as one text; --as {name!r}=text compares them by their words."
        ]
    return [], [f"{name!r} holds lists or objects, which are no single values, and is left out."]


_SPACE = re.compile(r"[\s,]*")
#: What takes memory while a file is read: a value, each value of a list, a value that is not there, a record.
_VALUE, _INSIDE, _GAP, _RECORD = 60, 80, 16, 250
Record = dict[str, Any]


def looks_like(source: Source) -> bool:
    """Whether a file begins as a list of records, a record or a list of lists."""
    return re.match(rb"(\xef\xbb\xbf)?\s*(\{\s*\"|\[\s*[\[{])", source.data[:1000]) is not None


def columns_of(source: Source, options: Options) -> RawTable:
    """The columns of the records; where a record has no such name, its value is missing."""
    text = as_text(source.data, source.shown)
    held, limit = record_takes(source.data), bytes_of(options.max_bytes)
    refuse_beyond(held, source.shown, options)
    names: dict[str, list[Any]] = {}
    first: list[str] = []
    places: list[int] = []
    line, seen = 1, 0
    for position, record in _records(text, source, options):
        line += text.count("\n", seen, position)
        seen = position
        row = len(places)
        places.append(line)
        for name, value in _flat(record):
            column = names.setdefault(name, [])
            column.extend([None] * (row - len(column)))
            column.append(value)
            held += _VALUE + (_INSIDE * len(value) if isinstance(value, (list, dict)) else 0)
        first = first or list(names)
        if held + _GAP * len(places) * len(names) + _RECORD * len(places) > limit:
            share = max(position, 1) / max(1, len(text))
            refuse_beyond(
                (held + _GAP * len(places) * len(names) + _RECORD * len(places)) / share, source.shown, options
            )
    if not names:
        raise DataError(f"{source.shown} has no records.")
    _refuse_half_characters(text, names, source)
    one_a_line = len(set(places)) == len(places)
    where = RowPlaces(places, ["line"]) if one_a_line else RowPlaces(range(1, len(places) + 1), ["record"])
    kept = remaining(list(names), options, source.shown)
    target, notes = _last_at_first(first, kept, options)
    asked, _ = target_position(kept, options, source.shown)
    labels = target or (None if asked is None else kept[asked])
    columns, mixed, left_out = {}, [], {}
    for name in kept:
        values = names[name] + [None] * (len(places) - len(names[name]))
        if name != labels:
            values, said = without_lists(name, values)
            notes += said
        if not values:
            left_out[name] = "lists"
            continue
        columns[name], some = raw_column(name, values, lambda row: f"{source.shown}, {where[row]}", options)
        mixed += [name] * some
    origin = origin_of(source, where.numbers if one_a_line else where)
    return RawTable(columns, origin, tuple(notes), target=target, mixed=tuple(mixed), left_out=left_out)


def _last_at_first(first: list[str], kept: list[str], options: Options) -> tuple[str | None, list[str]]:
    """The target where nobody names one and later records have names that the first has not: the last one of that."""
    there = [name for name in first if name in kept]
    if options.target is not None or not options.labelled or not there or there[-1] == kept[-1]:
        return None, []
    return there[-1], [f"The target is the last name in the first record, {there[-1]!r}."]


def _refuse_half_characters(text: str, names: dict[str, list[Any]], source: Source) -> None:
    """JSON can write half of a character, which no other file can hold."""
    if re.search(r"\\u[dD][89a-fA-F]", text) is None:
        return
    for name, values in names.items():
        for word in (name, *values):
            if isinstance(word, str) and re.search("[\ud800-\udfff]", word):
                raise DataError(f"{source.shown}, column {name!a}: {word[:40]!a} holds half a character; correct it.")


def _flat(record: Record) -> Iterator[tuple[str, Any]]:
    """Names and values; an object inside a record becomes values of its own, such as ``address.city``."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", each) for inner, each in value.items())
        else:
            yield name, value


def _records(text: str, source: Source, options: Options) -> Iterator[tuple[int, Record]]:
    """The records, each with the position at which it begins."""
    start = _SPACE.match(text).end()  # type: ignore[union-attr]
    try:
        if text.startswith("[", start):
            yield from _after_another(text, start + 1, "]", source)
        elif _is_lines(text, start):
            yield from _after_another(text, start, "", source)
        else:
            refuse_beyond(structure_takes(source.data), source.shown, options)
            yield from ((start, record) for record in _document(_DECODER.decode(text), source))
    except json.JSONDecodeError as error:
        raise DataError(f"{source.shown}, line {error.lineno}: this is no JSON ({error.msg}).") from None
    except RecursionError:
        raise DataError(f"{source.shown} is nested too deeply to be a table.") from None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{source.shown}: {error}.") from None


def _once(pairs: list[tuple[str, Any]]) -> Record:
    """An object whose names are all different, or two values would be one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name in counts if counts[name] > 1)
        raise ValueError(f"a record has the name {twice!r} twice; rename one")
    return found


_DECODER = json.JSONDecoder(object_pairs_hook=_once, parse_int=whole_number)


def _is_lines(text: str, start: int) -> bool:
    """Whether an object is followed by another."""
    _, end = _DECODER.raw_decode(text, start)
    return text.startswith("{", _SPACE.match(text, end).end())  # type: ignore[union-attr]


def _after_another(text: str, position: int, end: str, source: Source) -> Iterator[tuple[int, Record]]:
    """Records up to the ``end`` of a list, or of the text; rows of a list may be lists that have no names."""
    position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    width = None
    while position < len(text) and not (end and text.startswith(end, position)):
        begin = position
        record, position = _DECODER.raw_decode(text, position)
        if isinstance(record, list) and end:
            if width not in (None, len(record)):
                line = text.count("\n", 0, begin) + 1
                raise DataError(
                    f"{source.shown}, line {line}: the row has {len(record)} values where {width} are expected."
                )
            width = len(record)
            record = {f"x{k}": value for k, value in enumerate(record, 1)}
        if not isinstance(record, dict):
            line = text.count("\n", 0, begin) + 1
            raise DataError(
                f"{source.shown}, line {line}: {shortened(record)!r} is no record; write each row as an object with "
                'names, such as {"size": 3, "kind": "a"}.'
            )
        yield begin, record
        position = _SPACE.match(text, position).end()  # type: ignore[union-attr]
    if end and position >= len(text):
        raise DataError(f"{source.shown} ends too early: the list of records is not closed; fetch it again.")
    if end and text[position + 1 :].strip():
        line = text.count("\n", 0, position) + 1
        raise DataError(f"{source.shown}, line {line}: something stands after the end of the list; remove it.")


def _document(found: Any, source: Source) -> Iterable[Record]:
    """The records of one object: a list in it, a list for each column, or pandas' own layouts."""
    no_table = DataError(
        f"{source.shown} is JSON, but no table: write a list of records, one record a line, or a list for each column."
    )
    if not isinstance(found, dict):
        raise no_table
    header, rows = found.get("columns"), found.get("data")
    if isinstance(header, list) and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        if any(len(row) != len(header) for row in rows):
            raise DataError(f"{source.shown}: a row under 'data' has more or fewer values than there are 'columns'.")
        return (dict(zip(map(str, header), row, strict=True)) for row in rows)
    lists = {name: value for name, value in found.items() if isinstance(value, list)}
    records = [name for name, value in lists.items() if value and all(isinstance(each, dict) for each in value)]
    if len(records) == 1:
        return lists[records[0]]
    if lists and len(lists) == len(found) and not records:
        lengths = {name: len(value) for name, value in lists.items()}
        if len(set(lengths.values())) > 1:
            shown = enumeration((f"{name!r} {count}" for name, count in lengths.items()), 5)
            raise DataError(f"{source.shown}: the columns have different lengths: {shown}.")
        return (dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True))
    if not lists and not all(isinstance(value, dict) for value in found.values()):
        return [found]
    if found and all(isinstance(value, dict) for value in found.values()):
        numbered = [all(key.isdigit() for key in value) for value in found.values()]
        if all(numbered):
            keys = dict.fromkeys(key for value in found.values() for key in value)
            return ({name: value.get(key) for name, value in found.items()} for key in keys)
        if all(key.isdigit() for key in found):
            return list(found.values())
    raise no_table
