"""A kernel matrix in memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..checks.parameters import bytes_of
from ..kernels.base import Kernel
from ..kernels.engine.statistics import product as dot_products
from ..kernels.engine.statistics import squared_norms
from ..kernels.engine.tiles import Pairing, length, matrix_block, matrix_product, segment_products, shared_dtype
from ..runtime.compile import Array
from ..runtime.numerics import add_rows, gather, product, turned_product
from .base import Gram, Repeated
from .span import FeatureSpan, directions
from .walk import DenseRows, GramRows, SparseRows, Walk

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
    double : array of shape (N, N), optional
        The same matrix in double precision, where this one is in single precision and both are known.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Dense
    >>> Dense(np.eye(3)).take([0, 2]).matvec(np.array([1.0, 2.0]))
    array([1., 2.])
    """

    ready = True
    expensive = False

    def __init__(self, K: Array, index: Any = None, room: int | None = None, double: Array | None = None) -> None:
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"a kernel matrix is square; this one has shape {K.shape}.")
        self.K = np.ascontiguousarray(K)
        self.double = double
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

    def exact(self) -> Dense:
        return self if self.double is None else self._beside(self.double, self.index)

    def take(self, index: Any) -> Dense:
        return self._beside(self.K, self.index[np.asarray(index)], self.double)

    def scaled(self, factor: float) -> Dense:
        return self._beside(self.K.astype(np.float64) * factor, self.index)

    def _beside(self, K: Array, index: Array, double: Array | None = None) -> Dense:
        """Items of a matrix with as much room as these have."""
        return Dense(K, index, 2 * self.workspace, double)

    def walk(self) -> Walk:
        return Walk(GramRows.of(self.K, self.index, self.index), self.K.shape[0])


# A kernel matrix computed row by row when asked for, within a memory limit.


#: A vector with more than this part of its numbers is multiplied by the whole matrix, of which half is computed.
_MOST = 0.5
#: Items from which on single precision pays, pairs of them that show how exact it is, and the error that is allowed.
_MANY_ROWS, _TRIED, _EXACT_ENOUGH = 2048, 256, 1e-6
#: The largest number that has a square in single precision.
_LARGEST_SINGLE = 1e15


class Lazy(Gram):
    """The matrix of a kernel on items, of which only some rows are in memory at a time.

    Parameters
    ----------
    kernel : Kernel
    items : collection
        Checked items, in the form that the kernel works on.
    memory : int or str, default="1GB"
        What the rows kept may take together.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Lazy
    >>> from mercer.kernels import Linear
    >>> Lazy(Linear(), np.array([[1.0], [2.0]]), memory="1MB").matvec(np.array([1.0, 1.0]))
    array([3., 6.])
    """

    def __init__(self, kernel: Kernel, items: Any, memory: int | str = "1GB") -> None:
        self.kernel, self.items, self.memory = kernel, items, memory
        #: All pairs of items; what a kernel prepares of them (centred rows, norms) is prepared once.
        self._pairing = Pairing(kernel, items, items)
        self.dtype = shared_dtype(items, items)
        self.expensive = not hasattr(items, "shape") or items.ndim != 2 or items.shape[1] > 64
        self.workspace = bytes_of(memory)

    def __len__(self) -> int:
        return length(self.items)

    def diag(self) -> Array:
        return self.kernel.diag(self.items).astype(np.float64)

    def rows(self, index: Any) -> Array:
        return matrix_block(self._pairing, np.asarray(index), None)

    def matvec(self, z: Array) -> Array:
        z = np.asarray(z, dtype=np.float64)
        used = np.flatnonzero(z if z.ndim == 1 else np.abs(z).max(axis=1))
        if used.size > _MOST * len(self):
            return matrix_product(self._pairing, None, z)
        return matrix_product(self._pairing, used, z[used])

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        matrix_block(self._pairing, rows, columns, out=out)

    def scores(self, rows: Array, columns: Array, z: Array) -> Array:
        right = self.items[columns]
        out = np.empty((rows.size, *z.shape[1:]))
        known = np.isin(rows, columns)
        if known.sum() == columns.size:  # K[columns, columns] is symmetric: half of it is enough
            place = np.searchsorted(columns, rows[known])
            out[known] = self.kernel.product(right, right, z)[place]
        else:
            known[:] = False
        out[~known] = self.kernel.product(self.items[rows[~known]], right, z)
        return out

    def segment_scores(self, rows: Array, columns: Array, z: Array, edges: Array) -> Array:
        """K[rows, columns]·z in float64, each segment of the columns summed apart: a column of the result for each.

        ``edges`` are where segments begin, and the end of the last.
        """
        return segment_products(Pairing(self.kernel, self.items[rows], self.items[columns]), z, edges)

    def fill(self, rows: Array, out: Array) -> None:
        matrix_block(self._pairing, rows, None, out=out)

    def rounded(self) -> Lazy | None:
        """The same matrix in single precision, of many dense rows whose similarities it hardly changes.

        Rows are moved to their mean where the kernel sees only differences: the digits lost are fewer then.
        """
        if len(self) < _MANY_ROWS or not isinstance(self.items, np.ndarray) or self.items.dtype != np.float64:
            return None
        if not self.kernel.on_rows or np.abs(self.items).max() > _LARGEST_SINGLE:
            return None
        moved = self.items.mean(axis=0) if self.kernel.translation_invariant else 0.0
        rounded = Lazy(self.kernel.resolved(self.items), (self.items - moved).astype(np.float32), self.memory)
        some = np.linspace(0, len(self) - 1, _TRIED).astype(np.int64)
        exact, single = (gram.take(some).rows(np.arange(_TRIED)) for gram in (self, rounded))
        return rounded if np.abs(exact - single).max() <= _EXACT_ENOUGH * np.abs(exact).max() else None

    def take(self, index: Any) -> Gram:
        index = np.arange(len(self))[index]
        if not (index[1:] > index[:-1]).all() and np.unique(index).size < index.size:
            return Repeated(self, index)
        return Lazy(self.kernel, self.items[index], self.memory)

    def scaled(self, factor: float) -> Lazy:
        return Lazy(self.kernel * factor, self.items, self.memory)


# A kernel matrix known by its features: K = Φ·Φᵀ, never formed.


#: Columns whose mean is more than so many standard deviations from zero are far away.
_FAR = 3.0
#: Sparse rows with more than this part of their numbers are not sparse.
_FULL = 0.3


class Features(Gram):
    """K = Φ·Φᵀ for a dense array or CSR matrix Φ with a row for each item. A linear model is this Gram with Φ = X.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> Features(np.array([[1.0, 0.0], [1.0, 1.0]])).rows([1])
    array([[1., 2.]])
    """

    ready = True
    #: What was taken off the features of every item; a model adds it back to its intercept.
    centre: Array | None = None

    def __init__(self, Phi: Any) -> None:
        Phi = sparse.csr_array(Phi) if sparse.issparse(Phi) else np.ascontiguousarray(Phi)
        self.Phi: Any = Phi
        #: The columns that some item has, where most have none: the others change no similarity.
        self._used: Array | None = None
        self._narrow: Any = Phi
        if sparse.issparse(Phi) and Phi.shape[1] > Phi.nnz:
            self._used, places = np.unique(Phi.indices, return_inverse=True)
            shape = (Phi.shape[0], self._used.size)
            self._narrow = sparse.csr_array((Phi.data, places.astype(np.int32), Phi.indptr), shape=shape)

    @classmethod
    def around_mean(cls, Phi: Any) -> Features:
        """Features of items that are moved to their mean, where they lie far from the origin.

        With a free intercept that changes nothing but the intercept, and digits are left for what items differ in.
        Sparse rows stay where they are, for the sake of their zeros, if they have any to speak of.

        Examples
        --------
        >>> import numpy as np
        >>> Features.around_mean(np.array([[100.0], [102.0]])).Phi.ravel()
        array([-1.,  1.])
        """
        if sparse.issparse(Phi):
            if Phi.nnz < _FULL * Phi.shape[0] * Phi.shape[1]:
                return cls(Phi)
            Phi = Phi.toarray()
        mean = Phi.mean(axis=0, dtype=np.float64)
        if (np.abs(mean) <= _FAR * Phi.std(axis=0, dtype=np.float64)).all():
            return cls(Phi)
        gram = cls(Phi - mean)
        gram.centre = mean
        return gram

    def shift(self, w: Array) -> Any:
        """What the intercepts of models with these weights (a row each) change by when items move back."""
        return 0.0 if self.centre is None else -(w @ self.centre)

    def features(self) -> Any:
        return self.Phi

    def __len__(self) -> int:
        return self.Phi.shape[0]

    @cached_property
    def _diagonal(self) -> Array:
        return squared_norms(self.Phi).astype(np.float64)

    def diag(self) -> Array:
        return self._diagonal.copy()

    def lengths(self) -> Array:
        if self.centre is None:
            return super().lengths()
        return np.sqrt(squared_norms(self.Phi + self.centre))

    def model(self, z: Array) -> Array:
        """w = Φᵀz: the model in feature space."""
        return self.Phi.T @ np.asarray(z, dtype=np.float64)

    def matvec(self, z: Array) -> Array:
        return self._narrow @ (self._narrow.T @ np.asarray(z, dtype=np.float64))

    def rows(self, index: Any) -> Array:
        return dot_products(self._narrow[index], self._narrow)

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        out[:] = dot_products(self._narrow[rows], self._narrow[columns])

    def take(self, index: Any) -> Features:
        part = Features(self.Phi[np.asarray(index)])
        part.centre = self.centre
        return part

    def scaled(self, factor: float) -> Features:
        return Features(self.Phi.astype(np.float64) * np.sqrt(factor))

    @cached_property
    def span(self) -> FeatureSpan:
        return FeatureSpan(self._narrow, self._used, self.Phi.shape[1])

    def walk(self) -> Walk:
        if sparse.issparse(self.Phi):
            return Walk(SparseRows(self.Phi.data, self.Phi.indices, self.Phi.indptr), self.Phi.shape[1])
        return Walk(DenseRows(self.Phi), self.Phi.shape[1])
