"""The one loop of a mistake-driven learner, whatever its model is made of.

Such a learner repeats two moves: look at the *score* of an item, and *add* a multiple of the item to the model. The
model is a vector v.

- Linear model: v is the weight vector; the score of row x is ⟨x, v⟩, and adding c·x adds the row to v.
- Kernel model: v holds the score of every item, v = K·z; reading a score is one look-up, and adding c times item i
  adds c·K[i] to v. A look costs nothing and only a mistake costs a row, which is what makes the loop fast.

A matrix that is larger than the cache makes a row wait for memory, and memory delivers eight rows side by side in the
time of four that come one after the other. So a row that is to be added *waits* until there are eight, or until some
steps have passed. Until then a look at item j costs one number of each row that waits, v[j] + Σ c·K[i, j]: summed in
the order in which rows came, that is to the last digit the score which v has afterwards.

Both moves are written here for dense rows, sparse rows and rows of a kernel matrix. A compiled loop calls
``score(rows, i, v)`` and ``add(rows, i, c, v)``; which one is meant follows from the type of ``rows``. Items come in
random order, so the loop also says ``foresee(rows, …)`` a few steps ahead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from ..runtime.compile import Array, jit
from ..runtime.loops import prefetch

#: How many steps ahead a loop asks for an item's memory.
SOON, LATER = 6, 14
#: Rows of a kernel matrix that wait for each other at most, and steps after which a loop waits no longer.
_TOGETHER, PATIENCE = 8, 64


class DenseRows(NamedTuple):
    """Rows of numbers."""

    X: Array


class SparseRows(NamedTuple):
    """Rows of numbers, mostly zero."""

    data: Array
    indices: Array
    indptr: Array


class GramRows(NamedTuple):
    """Rows of a kernel matrix. Item i is in row ``slot[i]`` of ``K`` (−1: not there now) and column ``column[i]``.

    The first ``waits[0]`` places of ``waiting`` and ``factor`` tell which rows are still to be added, and times what.
    """

    K: Array
    slot: Array
    column: Array
    waiting: Array
    factor: Array
    waits: Array

    @classmethod
    def of(cls, K: Array, slot: Array, column: Array) -> GramRows:
        """Rows of which none waits."""
        return cls(K, slot, column, np.zeros(_TOGETHER, np.int64), np.zeros(_TOGETHER), np.zeros(1, np.int64))


def score(rows: Any, i: int, v: Array) -> float:
    """The score that the model v gives to item i."""
    raise NotImplementedError("called from compiled code only")


def add(rows: Any, i: int, c: float, v: Array) -> None:
    """Add c times item i to the model v."""
    raise NotImplementedError("called from compiled code only")


def settle(rows: Any, v: Array) -> None:
    """Add what still waits to the model v, which is then all there is to it."""
    raise NotImplementedError("called from compiled code only")


def foresee(rows: Any, soon: int, later: int) -> None:
    """Ask for the memory of an item that comes soon, and for what is needed to ask so for one that comes later."""
    raise NotImplementedError("called from compiled code only")


def at_hand(rows: Any, i: int) -> bool:
    """Whether the row of item i can be added now."""
    raise NotImplementedError("called from compiled code only")


@jit(reorder=True)
def _dot(X: Array, i: int, v: Array) -> float:
    total = 0.0
    for k in range(v.size):
        total += X[i, k] * v[k]
    return total


@overload(score)
def _score(rows, i, v):
    if rows.instance_class is DenseRows:

        def dense(rows, i, v):
            return _dot(rows.X, i, v)

        return dense
    if rows.instance_class is SparseRows:

        def sparse(rows, i, v):
            total = 0.0
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                total += rows.data[p] * v[np.uint32(rows.indices[p])]
            return total

        return sparse

    def gram(rows, i, v):
        place = rows.column[i]
        total = v[place]
        for p in range(rows.waits[0]):
            total += rows.factor[p] * rows.K[rows.waiting[p], place]
        return total

    return gram


@overload(add)
def _add(rows, i, c, v):
    if rows.instance_class is DenseRows:

        def dense(rows, i, c, v):
            for k in range(v.size):
                v[k] += c * rows.X[i, k]

        return dense
    if rows.instance_class is SparseRows:

        def sparse(rows, i, c, v):
            for p in range(rows.indptr[i], rows.indptr[i + 1]):
                v[np.uint32(rows.indices[p])] += c * rows.data[p]

        return sparse

    def gram(rows, i, c, v):
        place = rows.waits[0]
        rows.waiting[place], rows.factor[place] = rows.slot[i], c
        rows.waits[0] = place + 1
        if place + 1 == _TOGETHER:
            _add_eight(rows.K, rows.waiting, rows.factor, v)
            rows.waits[0] = 0

    return gram


@jit
def _add_eight(K: Array, places: Array, factor: Array, v: Array) -> None:
    """v += Σ factor·K[place], a row after the other for every number of v."""
    c0, c1, c2, c3 = factor[0], factor[1], factor[2], factor[3]
    c4, c5, c6, c7 = factor[4], factor[5], factor[6], factor[7]
    r0, r1, r2, r3 = K[places[0]], K[places[1]], K[places[2]], K[places[3]]
    r4, r5, r6, r7 = K[places[4]], K[places[5]], K[places[6]], K[places[7]]
    for k in range(v.size):
        total = v[k] + c0 * r0[k]
        total += c1 * r1[k]
        total += c2 * r2[k]
        total += c3 * r3[k]
        total += c4 * r4[k]
        total += c5 * r5[k]
        total += c6 * r6[k]
        v[k] = total + c7 * r7[k]


@overload(settle)
def _settle(rows, v):
    if rows.instance_class is not GramRows:
        return lambda rows, v: None

    def gram(rows, v):
        for p in range(rows.waits[0]):
            c, row = rows.factor[p], rows.K[rows.waiting[p]]
            for k in range(v.size):
                v[k] += c * row[k]
        rows.waits[0] = 0

    return gram


@overload(foresee)
def _foresee(rows, soon, later):
    if rows.instance_class is DenseRows:

        def dense(rows, soon, later):
            width = rows.X.shape[1]
            for k in range(0, min(width, 64), 8):
                prefetch(rows.X, soon * width + k)

        return dense
    if rows.instance_class is SparseRows:

        def sparse(rows, soon, later):
            prefetch(rows.indptr, later)
            begin = rows.indptr[soon]
            for k in range(0, min(rows.indptr[soon + 1] - begin, 64), 8):
                prefetch(rows.data, begin + k)
            for k in range(0, min(rows.indptr[soon + 1] - begin, 64), 16):
                prefetch(rows.indices, begin + k)

        return sparse

    def gram(rows, soon, later):
        for p in range(rows.waits[0]):
            prefetch(rows.K, rows.waiting[p] * rows.K.shape[1] + rows.column[soon])

    return gram


@overload(at_hand)
def _at_hand(rows, i):
    if rows.instance_class is GramRows:
        return lambda rows, i: rows.slot[i] >= 0
    return lambda rows, i: True


class Walk:
    """A way through a Gram for a loop: its rows, the length of its model vector, and how to get missing rows.

    Parameters
    ----------
    rows : DenseRows, SparseRows or GramRows
    size : int
        Length of the model vector.
    fetch : callable
        Called with the indices of the items that the loop could not go on without.
    """

    def __init__(self, rows: Any, size: int, fetch: Any = None) -> None:
        self.rows, self.size, self.fetch = rows, size, fetch

    def start(self) -> Array:
        """The model that scores everything zero."""
        return np.zeros(self.size)
