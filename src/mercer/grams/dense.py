"""A kernel matrix in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.combine import add_rows, gather
from .._runtime.compile import Array
from .._runtime.products import product, turned_product
from .base import Gram
from .basis import directions
from .walk import GramRows, Walk

#: Items that are at most this part of a matrix are looked up in it; for more of them whole rows are added.
_FEW = 0.25
#: Items from which on single precision pays, and the largest self-similarity that it is used for.
_MANY, _SINGLE = 1000, 1e30


class Dense(Gram):
    """A kernel matrix in memory, or the part of it that belongs to some items.

    Parameters
    ----------
    K : array of shape (N, N)
    index : array of int, optional
        The items that count; all of them by default. The matrix is shared, not copied, so that the folds of a
        cross-validation are views of one matrix.
    room : int, optional
        Bytes that a solver may fill beside the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Dense
    >>> Dense(np.eye(3)).take([0, 2]).matvec(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    ready = True
    expensive = False

    def __init__(self, K: Array, index: Any = None, room: int | None = None) -> None:
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"a kernel matrix is square; this one has shape {K.shape}.")
        self.K = np.ascontiguousarray(K)
        self.index = np.arange(K.shape[0]) if index is None else np.asarray(index, dtype=np.int64)
        # What a solver keeps has half of the room; the other half is for products with it.
        self.workspace = Gram.workspace if room is None else min(Gram.workspace, max(0, room) // 2)

    @property
    def _whole(self) -> bool:
        return self.index.size == self.K.shape[0] and bool((self.index == np.arange(self.index.size)).all())

    def __len__(self) -> int:
        return self.index.size

    def diag(self) -> Array:
        return self.K.diagonal()[self.index].astype(np.float64)

    def matvec(self, z: Array) -> Array:
        if self.index.size > _FEW * self.K.shape[0]:
            return self.model(z)[self.index]
        z = np.asarray(z, dtype=np.float64)
        used = np.flatnonzero(z if z.ndim == 1 else np.abs(z).max(axis=1))
        return self.K[np.ix_(self.index, self.index[used])].astype(np.float64, copy=False) @ z[used]

    def model(self, z: Array) -> Array:
        # The matrix is symmetric: K·z is the sum of the rows of the items that count, and only those.
        z = np.asarray(z, dtype=np.float64)
        spread = np.zeros((self.K.shape[0], *z.shape[1:]))
        np.add.at(spread, self.index, z)
        used = np.flatnonzero(spread if z.ndim == 1 else np.abs(spread).max(axis=1))
        most = 2 * used.size > self.K.shape[0]
        several = z.ndim == 2 and z.shape[1] > 1
        if most and (several or self.K.dtype == np.float64):
            return product(self.K, spread.astype(self.K.dtype, copy=False)).astype(np.float64, copy=False)
        if several:
            return turned_product(self.K[used], spread[used].astype(self.K.dtype)).astype(np.float64, copy=False)
        columns = [spread] if z.ndim == 1 else list(spread.T)
        sums = np.zeros((len(columns), self.K.shape[0]))
        for total, column in zip(sums, columns, strict=True):
            add_rows(total, self.K, used, column[used])
        return sums[0] if z.ndim == 1 else np.ascontiguousarray(sums.T)

    def rows(self, index: Any) -> Array:
        block = self.K[self.index[index]]
        return block if self._whole else block[:, self.index]

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        gather(self.K, self.index[rows], self.index[columns], out)

    def in_memory(self) -> tuple[Array, Array] | None:
        most = 2 * self.index.size >= self.K.shape[0] and np.unique(self.index).size == self.index.size
        return (self.K, self.index) if self.K.dtype == np.float32 and most else None

    def rounded(self) -> Dense | None:
        """The part of many items in single precision, in one piece: less than half as much to read for a product."""
        n, largest = len(self), float(np.abs(self.diag()).max(initial=0.0))
        if self.K.dtype != np.float64 or not self.rounding(n, self.workspace) or not largest < _SINGLE:
            return None
        single = np.empty((n, n), dtype=np.float32)
        gather(self.K, self.index, self.index, single)
        return Dense(single)

    @staticmethod
    def rounding(n: int, room: int) -> int:
        """Bytes of the matrix of n items in single precision; 0 where that does not pay, or has no room.

        Coordinates of the items go first.

        Examples
        --------
        >>> Dense.rounding(2000, 10**8), Dense.rounding(2000, 10**7), Dense.rounding(200, 10**8)
        (16000000, 0, 0)
        """
        size = 4 * n * n
        return size if n >= _MANY and size + 8 * n * directions(n, room) <= room else 0

    def take(self, index: Any) -> Dense:
        return self._beside(self.K, self.index[np.asarray(index)])

    def scaled(self, factor: float) -> Dense:
        return self._beside(self.K.astype(np.float64) * factor, self.index)

    def _beside(self, K: Array, index: Array) -> Dense:
        """Items of a matrix with as much room as these have."""
        return Dense(K, index, 2 * self.workspace)

    def walk(self) -> Walk:
        return Walk(GramRows.of(self.K, self.index, self.index), self.K.shape[0])
