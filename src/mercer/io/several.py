"""Several files with the same columns, whose rows come one after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.memory import bytes_of
from .._validation.wording import enumeration
from .assemble import Origin, target_position
from .raw import RawTable
from .row_places import RowPlaces
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["joined", "refuse_other_columns"]

Reader = Callable[["Options"], RawTable]


def joined(readers: Sequence[Reader], options: Options, shown: str, name: str, source: str) -> RawTable:
    """The columns of several files as those of one.

    Parameters
    ----------
    readers : sequence of callable
        Each gives the columns of a file, read as the options say.
    options : Options
    shown, name, source : str
        What messages, reports and tables call all of them together.

    Returns
    -------
    RawTable
    """
    first = readers[0](options)
    if options.target is not None or options.labelled:
        # A position is one in the first file: the others may have their columns in another order.
        position, _ = target_position(list(first.columns), _with_target(options, first), first.origin.shown)
        if position is not None:
            options = replace(options, target=list(first.columns)[position])
    options = replace(options, decimal=options.decimal or first.found.get("decimal"))
    # What lacks the target lacks a column, which is said below.
    raws = [first]
    for read in readers[1:]:
        raws.append(read(_within_what_is_left(replace(options, labelled=False), raws)))
    for raw in raws[1:]:
        refuse_other_columns(first.origin.shown, first.columns, raw.origin.shown, raw.columns)
    kinds = {column: {_kind(raw.columns[column]) for raw in raws} - {None, "labels"} for column in first.columns}
    mixed = [column for column, different in kinds.items() if len(different) > 1]
    if mixed:  # words in one file, numbers in another: words in all
        options = replace(options, kinds={**dict.fromkeys(mixed, "category"), **options.kinds})
        raws = []
        for read in readers:
            raws.append(read(_within_what_is_left(options, raws)))
    columns = {column: _stacked([raw.columns[column] for raw in raws]) for column in first.columns}
    counts = [_length(raw) for raw in raws]
    digest = hashlib.sha256(" ".join(raw.origin.digest for raw in raws).encode()).hexdigest()
    origin = Origin(shown, name, source, digest, _places(raws, counts))
    found = {key: value for raw in raws for key, value in raw.found.items()}
    partly = tuple(dict.fromkeys(column for raw in raws for column in raw.mixed))
    return RawTable(columns, origin, tuple(_notes(raws, counts, mixed)), found, first.target, partly)


def _within_what_is_left(options: Options, raws: list[RawTable]) -> Options:
    """The options for the next file: columns of the earlier ones are in memory, and will be once more when joined."""
    held = sum(2 * _held(column) for raw in raws for column in raw.columns.values())
    return replace(options, max_bytes=max(1, bytes_of(options.max_bytes) - held))


def _held(column: Any) -> int:
    """What a column takes in memory, roughly."""
    if isinstance(column, np.ndarray):
        return int(column.nbytes)
    return 8 * len(column) if isinstance(column, list) else int(column.codes.nbytes + 100 * len(column.categories))


def _with_target(options: Options, first: RawTable) -> Options:
    return replace(options, target=first.target) if options.target is None and first.target else options


def refuse_other_columns(first: str, names: Iterable[str], other: str, others: Iterable[str]) -> None:
    """Raise where a file has not the columns that the first one has; their order may be another.

    Examples
    --------
    >>> refuse_other_columns("'a.csv'", ["x", "y"], "'b.csv'", ["y", "z"])
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: 'b.csv' has other columns than 'a.csv': it lacks 'x' and also has 'z'; files that are \
read together need the same names.
    """
    names, others = list(names), list(others)
    lacks = [name for name in names if name not in others]
    more = [name for name in others if name not in names]
    if lacks or more:
        what = [
            *([f"lacks {enumeration(map(repr, lacks), 5)}"] if lacks else []),
            *([f"also has {enumeration(map(repr, more), 5)}"] if more else []),
        ]
        raise DataError(
            f"{other} has other columns than {first}: it {' and '.join(what)}; files that are read together need the "
            "same names."
        )


def _length(raw: RawTable) -> int:
    return len(next(iter(raw.columns.values())))


def _kind(column: Any) -> str | None:
    """What a column holds; ``None`` where it is empty, and fits every other."""
    if isinstance(column, list):
        return "labels"
    if isinstance(column, np.ndarray):
        return "dates" if column.dtype.kind == "M" else None if np.isnan(column).all() else "numbers"
    return "words" if (column.codes >= 0).any() else None


def _stacked(parts: list[Any]) -> Any:
    import pandas as pd
    from pandas.api.types import union_categoricals

    kinds = {_kind(part) for part in parts} - {None}
    if "labels" in kinds or len({type(part) for part in parts} - {np.ndarray}) > 1:
        return [label for part in parts for label in part]
    if "dates" in kinds:
        empty = [part if part.dtype.kind == "M" else np.full(len(part), "NaT", "datetime64[ns]") for part in parts]
        return np.concatenate(empty)
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    words = [pd.Categorical([None] * len(p), categories=[]) if isinstance(p, np.ndarray) else p for p in parts]
    words = [part.set_categories(part.categories.astype(object)) for part in words]
    same = all(list(part.categories) == list(words[0].categories) for part in words)
    return union_categoricals(words, sort_categories=not same)


def _places(raws: list[RawTable], counts: list[int]) -> RowPlaces:
    numbers, words = [], []
    for raw, count in zip(raws, counts, strict=True):
        lines = raw.origin.lines
        if isinstance(lines, RowPlaces):
            numbers.append(lines.numbers)
            words.append(lines.words[0])
        else:
            numbers.append(np.arange(1, count + 1) if lines is None else lines)
            words.append("row" if lines is None else "line")
    files = [raw.origin.shown for raw in raws]
    return RowPlaces(np.concatenate(numbers), words, files, np.repeat(np.arange(len(raws)), counts))


def _notes(raws: list[RawTable], counts: list[int], mixed: list[str]) -> list[str]:
    files = (f"{raw.origin.shown} ({count} row{'s' if count != 1 else ''})" for raw, count in zip(raws, counts))
    notes = [f"{len(raws)} files were read one after the other: {enumeration(files, 5)}."]
    if mixed:
        notes.append(
            f"The values of {enumeration(map(repr, mixed), 5)} are not of one kind in all files; read as categories."
        )
    common = [note for note in raws[0].notes if all(note in raw.notes for raw in raws)]
    own = [f"{raw.origin.shown}: {note}" for raw in raws for note in raw.notes if note not in common]
    return [*notes, *common, *own[:5]]
