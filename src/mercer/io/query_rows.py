"""The rows that a database sends, piece by piece and within a limit, as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._validation.memory import bytes_of
from .assemble import Origin, remaining
from .python_values import raw_column
from .raw import RawTable
from .repeated_names import told_apart
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["query_columns"]

#: Rows that are fetched at a time.
_ROWS = 10_000
#: What a value takes in memory, beside the length of a text, and what a row does.
_VALUE, _ROW = 60, 160


def query_columns(
    names: Sequence[str], pieces: Callable[[int], Iterable[Sequence[Any]]], origin: Origin, options: Options
) -> RawTable:
    """The columns of a query: ``pieces`` gives the rows, so many at a time."""
    names, notes = told_apart(names)
    kept = remaining(names, options, origin.shown)
    positions = [names.index(name) for name in kept]
    limit, size, count = bytes_of(options.max_bytes), 0, 0
    values: dict[str, list[Any]] = {name: [] for name in kept}
    for piece in pieces(_ROWS):
        count += len(piece)
        for name, position in zip(kept, positions, strict=True):
            column = [row[position] for row in piece]
            size += sum(_VALUE + (len(value) if isinstance(value, (str, bytes)) else 0) for value in column)
            values[name] += column
        size += _ROW * len(piece)
        if size > limit:
            raise DataError(
                f"{origin.shown} has more than {count:,} rows of {len(kept)} columns, which is too much; allow more "
                "with max_bytes (--max-bytes), or ask for fewer."
            )
    if not count:
        raise DataError(f"{origin.shown} has no rows.")
    columns, mixed = {}, []
    for name in kept:
        columns[name], some = raw_column(name, values[name], lambda row: f"{origin.shown}, row {row + 1}", options)
        mixed += [name] * some
    return RawTable(columns, origin, tuple(notes), mixed=tuple(mixed))
