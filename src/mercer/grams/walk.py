"""The one loop of a mistake-driven learner, whatever its model is made of.

Such a learner repeats two moves: look at the *score* of an item, and *add* a multiple of the item to the model. The
model is a vector v.

- Linear model: v is the weight vector; the score of row x is ⟨x, v⟩, and adding c·x adds the row to v.
- Kernel model: v holds the score of every item, v = K·z; reading a score is one look-up, and adding c times item i
  adds c·K[i] to v. A look costs nothing and only a mistake costs a row, which is what makes the loop fast.

Both moves are written here for dense rows, sparse rows and rows of a kernel matrix. A compiled loop calls
``score(rows, i, v)`` and ``add(rows, i, c, v)``; which one is meant follows from the type of ``rows``. Items come in
random order, so the loop also says ``foresee(rows, …)`` a few steps ahead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from .._runtime.compile import Array, jit
from .._runtime.prefetch import prefetch

#: How many steps ahead a loop asks for an item's memory.
SOON, LATER = 6, 14


class DenseRows(NamedTuple):
    """Rows of numbers."""

    X: Array


class SparseRows(NamedTuple):
    """Rows of numbers, mostly zero."""

    data: Array
    indices: Array
    indptr: Array


class GramRows(NamedTuple):
    """Rows of a kernel matrix. Item i is in row ``slot[i]`` of ``K`` (−1: not there now) and column ``column[i]``."""

    K: Array
    slot: Array
    column: Array


def score(rows: Any, i: int, v: Array) -> float:
    """The score that the model v gives to item i."""
    raise NotImplementedError("called from compiled code only")


def add(rows: Any, i: int, c: float, v: Array) -> None:
    """Add c times item i to the model v."""
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
        return v[rows.column[i]]

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
        row = rows.K[rows.slot[i]]
        for k in range(v.size):
            v[k] += c * row[k]

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
    return lambda rows, soon, later: None


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
