"""What is done with a chunk of items that is compared with landmarks, wherever the chunk is.

Similarities K of some items to all landmarks fill a block that stays in the processor's cache. Scores K·v of these
items, and sums Kᵀ·g over them, are made of it at once, in float64 whatever K is in, and the block is forgotten. Sums
over blocks are added up in the order of the items: they are the same for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._runtime.parallel import for_each
from ..kernels import Kernel
from ..kernels.engine.accumulate import accumulate, accumulate_turned
from ..kernels.engine.pairing import Pairing, length

__all__ = ["combined", "featured", "multiplied", "scored", "self_similarities", "weighed", "write_features"]

#: Similarities of a block: one core's second-level cache in float32.
_BLOCK = 250_000
#: Numbers that a kernel which cannot be cut into blocks may make at once.
_AT_ONCE = 20_000_000


def _on_blocks(items: Any, kernel: Kernel, landmarks: Any, work: Callable[[int, slice, Array], None]) -> int:
    """Call ``work(number, place, K)`` on each block of similarities, on all threads; returns how many there were."""
    pairing = Pairing(kernel, items, landmarks)
    n, m = length(items), length(landmarks)
    size = max(1, (_BLOCK if kernel.splits else _AT_ONCE) // max(1, m))
    if kernel.splits and n:
        pairing.warm()

    def compare(number: int) -> None:
        place = slice(number * size, min(n, (number + 1) * size))
        work(number, place, kernel.evaluate(pairing.tile(place, slice(0, m))))

    count = -(-n // size)
    for_each(compare, range(count), threads=None if kernel.splits else 1)
    return count


def self_similarities(items: Any, kernel: Kernel) -> Array:
    """k(x, x) of every item."""
    return kernel.diag(items).astype(np.float64)


def featured(items: Any, kernel: Kernel, landmarks: Any, transform: Array) -> Array:
    """K·T."""
    out = np.zeros((length(items), transform.shape[1]))
    write_features(items, out, kernel, landmarks, transform)
    return out


def write_features(items: Any, out: Array, kernel: Kernel, landmarks: Any, transform: Array) -> None:
    """K·T, where there is room for it already."""

    def work(number: int, place: slice, K: Array) -> None:
        np.matmul(K.astype(np.float64, copy=False), transform, out=out[place])

    _on_blocks(items, kernel, landmarks, work)


def scored(items: Any, kernel: Kernel, landmarks: Any, own: Array) -> Array:
    """K·own, for a vector or for several as columns."""
    columns = own.reshape(own.shape[0], -1)
    out = np.zeros((length(items), columns.shape[1]))
    _on_blocks(items, kernel, landmarks, lambda number, place, K: accumulate(K, columns, out[place]))
    return out.reshape(len(out), *own.shape[1:])


def combined(items: Any, g: Array, kernel: Kernel, landmarks: Any) -> Array:
    """Kᵀ·g, for a vector or for several as columns."""
    parts: dict[int, Array] = {}
    columns = np.ascontiguousarray(g.reshape(len(g), -1).T)

    def work(number: int, place: slice, K: Array) -> None:
        parts[number] = _turned(K, columns[:, place])

    count = _on_blocks(items, kernel, landmarks, work)
    total = _added([parts[number] for number in range(count)], (columns.shape[0], length(landmarks)))
    return total.T.reshape(length(landmarks), *g.shape[1:])


def weighed(items: Any, h: Array, kernel: Kernel, landmarks: Any, own: Array, b: Array) -> tuple[Array, Array]:
    """Scores s = K·own + b, and Kᵀ·(h·s): in one pass."""
    scores, parts = np.zeros((length(items), 1)), dict[int, Array]()

    def work(number: int, place: slice, K: Array) -> None:
        accumulate(K, own[:, None], scores[place])
        scores[place] += b
        parts[number] = _turned(K, (h[place] * scores[place, 0])[None])

    count = _on_blocks(items, kernel, landmarks, work)
    return scores[:, 0], _added([parts[number] for number in range(count)], (1, own.size))[0]


def multiplied(items: Any, g: Array, kernel: Kernel, landmarks: Any, own: Array) -> tuple[Array, Array]:
    """K·own and Kᵀ·g, for vectors or for several as columns: in one pass."""
    columns, turned = own.reshape(own.shape[0], -1), np.ascontiguousarray(g.reshape(len(g), -1).T)
    scores, parts = np.zeros((length(items), columns.shape[1])), dict[int, Array]()

    def work(number: int, place: slice, K: Array) -> None:
        accumulate(K, columns, scores[place])
        parts[number] = _turned(K, turned[:, place])

    count = _on_blocks(items, kernel, landmarks, work)
    total = _added([parts[number] for number in range(count)], (turned.shape[0], length(landmarks)))
    return scores.reshape(len(scores), *own.shape[1:]), total.T.reshape(length(landmarks), *g.shape[1:])


def _turned(K: Array, columns: Array) -> Array:
    """Kᵀ·g, a row for each g."""
    out = np.zeros((columns.shape[0], K.shape[1]))
    accumulate_turned(K, columns.T, out.T)
    return out


def _added(parts: list[Array], shape: tuple[int, ...]) -> Array:
    return np.sum(parts, axis=0) if parts else np.zeros(shape)
