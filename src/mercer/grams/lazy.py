"""A kernel matrix computed row by row when asked for, within a memory limit."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.memory import bytes_of
from ..kernels.base import Kernel
from ..kernels.engine.matrices import matrix_block, matrix_product
from ..kernels.engine.pairing import Pairing, length, shared_dtype
from ..kernels.engine.segments import segment_products
from .base import Gram
from .repeated import Repeated

#: A vector with more than this part of its numbers is multiplied by the whole matrix, of which half is computed.
_MOST = 0.5
#: Items from which on single precision pays, pairs of them that show how exact it is, and the error that is allowed.
_MANY, _TRIED, _EXACT_ENOUGH = 2048, 256, 1e-6
#: The largest number that has a square in single precision.
_SINGLE = 1e15


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
        if len(self) < _MANY or not isinstance(self.items, np.ndarray) or self.items.dtype != np.float64:
            return None
        if not self.kernel.on_rows or np.abs(self.items).max() > _SINGLE:
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
