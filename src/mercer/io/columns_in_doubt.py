"""Notes on columns of files that seem to say nothing: numbers of rows, and one value again and again."""

from __future__ import annotations

from contextlib import closing

import numpy as np

from .._validation.wording import enumeration
from ..columns import decide
from .chunked import Chunked

__all__ = ["columns_in_doubt"]

#: Rows that are looked at, and columns that are named.
_ROWS, _NAMED = 1000, 5


def columns_in_doubt(file: Chunked, columns: list[str]) -> list[str]:
    """A note where the first rows would have :func:`mercer.read` leave a column out."""
    with closing(file.frames(columns)) as frames:  # type: ignore[type-var]
        head = next((frame[:_ROWS] for frame in frames if len(frame)), None)
    if head is None:
        return []
    numbers = {name: column.to_numpy(np.float64) for name, column in head.items() if column.dtype.kind in "fiub"}
    found = decide(numbers).left_out
    if not found:
        return []
    named = enumeration((f"{name!r} ({why})" for name, why in found.items()), _NAMED)
    return [
        f"In the first {len(head):,} rows, there is nothing to learn from {named}; where the others are like them, "
        f"leave it out (drop={list(found)[:_NAMED]!r})."
    ]
