"""The dot product of counts: what kernels on strings, sets and graphs are functions of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit
from .collection import Collection
from .counts import Counts
from .flat import starts_of
from .hash_table import look_up, number
from .pairwise import indices
from .statistics import Statistic

#: A product of dense rows does about this many multiplications in the time of one among sparse ones,
_DENSE_GAIN = 50
#: and may hold this many numbers.
_DENSE_NUMBERS = 2**28
#: Prepared blocks of the right side are kept up to this many bytes.
_KEPT_BYTES = 2**28
#: Whole numbers below this are exact in single precision.
_EXACT_SINGLE = 2**24


class CountDot(Statistic):
    """Σ over all keys of (count in x)·(count in z). A subclass says what is counted."""

    translation_invariant = False

    def count(self, A: Any) -> Counts:
        """The counts of every item."""
        raise NotImplementedError

    def counts(self, A: Collection) -> Counts:
        """As :meth:`count`, kept with the items."""
        return A.once(self, lambda: self.count(A))

    def prepare(self, A, B):
        return paired(self.counts(A), self.counts(B))

    def tile(self, a, b, i, j):
        if isinstance(a, np.ndarray):
            return a[i] @ b[j].T
        rows = indices(i)
        inverted = b.inverted(j)
        out = np.zeros((rows.size, inverted.items), a.values.dtype)
        _accumulate(a.starts, a.columns, a.values, rows, inverted.starts, inverted.places, inverted.values, out)
        return out

    def diag(self, A):
        return self.counts(A).squared_norms()

    def features(self, A: Collection) -> Any:
        """The counts as a CSR matrix with hashed columns."""
        return self.counts(A).hashed()


@dataclass(frozen=True)
class Inverted:
    """Some rows of a sparse matrix by columns: which of them have a column, and with what value."""

    items: int
    starts: Array
    places: Array
    values: Array


class NumberedCounts:
    """Counts whose keys are numbered 0, 1, 2, …: rows of a sparse matrix with few columns."""

    def __init__(self, starts: Array, columns: Array, values: Array, width: int) -> None:
        self.starts, self.columns, self.values, self.width = starts, columns, values, width
        self._kept: dict[tuple[int, int], Inverted] = {}
        self._free_bytes = _KEPT_BYTES

    def inverted(self, places: Any) -> Inverted:
        """Some rows by columns. What belongs to a slice is kept, as every row of tiles asks for it again."""
        key = (places.start, places.stop) if isinstance(places, slice) else None
        if key in self._kept:
            return self._kept[key]
        rows = indices(places)
        out = Inverted(rows.size, *_invert(self.starts, self.columns, self.values, rows, self.width))
        size = out.starts.nbytes + out.places.nbytes + out.values.nbytes
        if key is not None and size <= self._free_bytes:
            self._free_bytes -= size
            self._kept[key] = out
        return out

    def dense(self) -> Array:
        out = np.zeros((self.starts.size - 1, self.width), self.values.dtype)
        out[np.repeat(np.arange(len(out)), np.diff(self.starts)), self.columns] = self.values
        return out


def paired(a: Counts, b: Counts) -> tuple[Any, Any]:
    """Both sides with their keys numbered together: dense rows where that is faster, else :class:`NumberedCounts`.

    By Cauchy and Schwarz no partial sum of a dot product of counts exceeds the largest squared norm, and sums of whole
    numbers below 2²⁴ are exact in single precision, which is twice as fast.
    """
    largest = max(float(side.squared_norms().max(initial=0.0)) for side in (a, b))
    dtype = np.float32 if largest < _EXACT_SINGLE else np.float64
    columns_b, names, table = number(b.keys)
    width = names.size
    right = NumberedCounts(b.starts, columns_b, b.values.astype(dtype), width)
    if a is b:
        left = right
    else:
        columns_a = look_up(table, names, a.keys)
        known = columns_a >= 0
        sizes = np.diff(np.concatenate([[0], np.cumsum(known)])[a.starts])
        left = NumberedCounts(starts_of(sizes), columns_a[known], a.values[known].astype(dtype), width)
    columns = [np.bincount(side.columns, minlength=width).astype(np.float64) for side in (left, right)]
    sparse_work = columns[0] @ columns[1] / max(1, len(a) * len(b))  # pairs of entries to multiply for a pair of items
    rows = len(a) + (0 if a is b else len(b))
    if width <= _DENSE_GAIN * sparse_work and rows * width <= _DENSE_NUMBERS:
        dense = right.dense()
        return (dense if left is right else left.dense()), dense
    return left, right


@jit
def _invert(starts: Array, columns: Array, values: Array, rows: Array, width: int) -> tuple[Array, Array, Array]:
    begins = np.zeros(width + 1, np.int32)
    for i in rows:
        for p in range(starts[i], starts[i + 1]):
            begins[columns[p] + 1] += 1
    for c in range(width):
        begins[c + 1] += begins[c]
    free = begins[:-1].copy()
    places, weights = np.empty(begins[-1], np.uint32), np.empty(begins[-1], values.dtype)
    for r in range(rows.size):
        for p in range(starts[rows[r]], starts[rows[r] + 1]):
            c = columns[p]
            places[free[c]] = r
            weights[free[c]] = values[p]
            free[c] += 1
    return begins, places, weights


@jit
def _accumulate(
    starts: Array, columns: Array, values: Array, rows: Array, begins: Array, places: Array, weights: Array, out: Array
) -> None:
    for r in range(rows.size):
        row = out[r]
        for p in range(starts[rows[r]], starts[rows[r] + 1]):
            c, value = columns[p], values[p]
            for q in range(begins[c], begins[c + 1]):
                row[places[q]] += value * weights[q]
