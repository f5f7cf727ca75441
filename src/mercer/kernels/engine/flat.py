"""Pieces of different sizes in one flat array, so that compiled loops run over all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit
from ..._runtime.parallel import for_each

#: Ranges that items are cut into, at most.
_RANGES = 256


@jit
def gather(values: Array, starts: Array, index: Array) -> tuple[Array, Array]:
    """The pieces ``values[starts[i]:starts[i + 1]]`` for i in ``index``, one after the other, and where each starts."""
    new_starts = np.zeros(index.size + 1, np.int64)
    for r in range(index.size):
        new_starts[r + 1] = new_starts[r] + starts[index[r] + 1] - starts[index[r]]
    out = np.empty(new_starts[-1], values.dtype)
    for r in range(index.size):
        begin = starts[index[r]]
        for p in range(new_starts[r + 1] - new_starts[r]):
            out[new_starts[r] + p] = values[begin + p]
    return out, new_starts


def starts_of(sizes: Any) -> Array:
    """Where each piece starts in a flat array of pieces of these sizes."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def chunks(n: int) -> list[tuple[int, int]]:
    """Ranges of items for several threads to work on, many of them: between two Ctrl-C is heeded."""
    size = max(1, -(-n // _RANGES))
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


def in_chunks(n: int, work: Callable[[int, int], Any]) -> None:
    """Call ``work(first, stop)`` on ranges that together are 0..n, on several threads."""
    for_each(lambda piece: work(*piece), chunks(n))
