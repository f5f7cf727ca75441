"""Rows that are mostly zeros, such as one-hot columns or counts: products that skip the zeros.

A dense product of rows with d features takes d multiplications a pair; these take as many as one of the rows has
numbers. The other side is laid out feature by feature in strips, so that each number of the first side is multiplied
with a whole strip at once. With every eighth number different from zero this is already faster than a dense product,
whose multiplications are cheaper.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..._runtime.compile import Array, jit
from ..._runtime.register_tiles import WIDTH, multiply_listed

#: Rows count as thin when at most this part of their numbers is not zero.
_DENSITY = 0.125
#: Fewer features than this are multiplied faster than looked at; more do not fit into a strip in the cache.
_FEWEST, _MOST = 48, 2048
#: Numbers, or little more, in the strips that are kept for the next tile.
KEPT = 8_000_000
#: Rows that are looked at to judge all of them.
_SAMPLE = 1024
#: Moving rows to their mean must leave at least this part of their squared length: else they lie far from the origin.
_SPREAD = 0.25


def is_thin(A: Any) -> bool:
    """Whether rows are mostly zeros, by a sample of them."""
    n, width = A.shape
    if not (_FEWEST <= width <= _MOST and n > 0):
        return False
    if sparse.issparse(A):
        return A.nnz <= _DENSITY * n * width
    sample = A[:: max(1, n // _SAMPLE)]
    return bool(np.count_nonzero(sample) <= _DENSITY * sample.size)


def near_origin(A: Any) -> bool:
    """Whether ‖x‖² + ‖z‖² − 2⟨x, z⟩ loses no more than two bits to cancellation, by a sample of the rows."""
    sample = A[:: max(1, A.shape[0] // _SAMPLE)]
    mean = np.asarray(sample.mean(axis=0), dtype=np.float64).ravel()
    numbers = sample.data if sparse.issparse(sample) else sample
    length = float(np.square(numbers, dtype=np.float64).sum()) / max(1, sample.shape[0])
    return length - float(mean @ mean) >= _SPREAD * length


class ThinRows:
    """Rows as lists of their numbers that are not zero.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.eye(3)
    >>> thin = ThinRows.of(A)
    >>> thin.product(slice(0, 2), ThinRows.of(2 * A), np.array([2, 1]))
    array([[0., 0.],
           [0., 2.]])
    """

    def __init__(self, data: Array, indices: Array, indptr: Array, width: int) -> None:
        self.data, self.indices, self.indptr, self.width = data, indices, indptr, width
        #: Strips by the rows that they hold; those stand beside them, so that no other array gets their number.
        self._kept: dict[Any, tuple[Any, Array]] = {}

    @classmethod
    def of(cls, A: Any) -> ThinRows:
        """The same rows, from a dense array or a CSR matrix."""
        if sparse.issparse(A):
            return cls(A.data, A.indices.astype(np.int32, copy=False), A.indptr.astype(np.int64), A.shape[1])
        indptr = np.zeros(A.shape[0] + 1, np.int64)
        _count(A, indptr)
        np.cumsum(indptr, out=indptr)
        data, indices = np.empty(indptr[-1], A.dtype), np.empty(indptr[-1], np.int32)
        _collect(A, indptr, data, indices)
        return cls(data, indices, indptr, A.shape[1])

    def __len__(self) -> int:
        return self.indptr.size - 1

    def _numbers(self, places: slice | Array) -> Array:
        return np.arange(*places.indices(len(self))) if isinstance(places, slice) else np.asarray(places)

    def strips(self, places: slice | Array) -> Array:
        """These rows, feature by feature: (strips, features, rows of a strip).

        The same rows come again and again, tile after tile, and some strips are kept.
        """
        key = (places.start, places.stop) if isinstance(places, slice) else id(places)
        found = self._kept.get(key)
        if found is None:
            strips = self._laid_out(self._numbers(places))
            if len(self._kept) * strips.size > KEPT:
                self._kept = {}
            found = self._kept[key] = places, strips
        return found[1]

    def _laid_out(self, rows: Array) -> Array:
        out = np.zeros((-(-rows.size // WIDTH), self.width, WIDTH), self.data.dtype)
        _spread(self.data, self.indices, self.indptr, rows, out)
        return out

    def product(self, i: slice | Array, other: ThinRows, j: slice | Array) -> Array:
        """⟨x, z⟩ for rows i of these and rows j of the others."""
        rows, strips = self._numbers(i), other.strips(j)
        out = np.empty((rows.size, other._numbers(j).size), self.data.dtype)
        _multiply(self.data, self.indices, self.indptr, rows, strips, out)
        return out


@jit
def _count(A: Array, indptr: Array) -> None:
    for i in range(A.shape[0]):
        count = 0
        for k in range(A.shape[1]):
            count += A[i, k] != 0
        indptr[i + 1] = count


@jit
def _collect(A: Array, indptr: Array, data: Array, indices: Array) -> None:
    for i in range(A.shape[0]):
        place = indptr[i]
        for k in range(A.shape[1]):
            if A[i, k] != 0:
                data[place] = A[i, k]
                indices[place] = k
                place += 1


@jit
def _spread(data: Array, indices: Array, indptr: Array, rows: Array, out: Array) -> None:
    for r in range(rows.size):
        strip, column = out[r // WIDTH], r % WIDTH
        for p in range(indptr[rows[r]], indptr[rows[r] + 1]):
            strip[indices[p], column] += data[p]


@jit
def _multiply(data: Array, indices: Array, indptr: Array, rows: Array, strips: Array, out: Array) -> None:
    flat, strip = strips.reshape(-1), strips.shape[1] * WIDTH
    sums = np.empty(WIDTH, data.dtype)
    for s in range(strips.shape[0]):
        first = s * WIDTH
        for r in range(rows.size):
            multiply_listed(data, indices, indptr[rows[r]], indptr[rows[r] + 1], flat, s * strip, sums, 0)
            for j in range(min(WIDTH, out.shape[1] - first)):
                out[r, first + j] = sums[j]
