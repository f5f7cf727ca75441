"""A kernel matrix on a graphics card, computed anew in every product and never written down."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np

from ..cuda import Operands, as_array, copied, matrix_values, operands_of, product, refuse_without_card
from ..cuda.factorised import LandmarkFactor, factorised
from ..kernels.base import Kernel
from ..kernels.engine.tiles import length
from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.numerics import Solve
from .base import Gram, Repeated
from .dense import Lazy
from .span import KernelSpan, Preconditioner
from .walk import Walk

#: Numbers of the matrix that are on the card at a time, where they are asked for, and rows of it.
_NUMBERS, _ROWS = 2**29, 2**20
#: A vector with more than this part of its numbers is multiplied by the whole matrix, of which half is computed.
_MOST = 0.5
#: So many models at once, or fewer, get an approximate inverse each.
_APART = 4
#: Curvatures that have changed by less than this part of them are those of before.
_ALIKE = 0.1


class Cuda(Gram):
    """The matrix of a kernel on items whose rows are on a graphics card.

    Parameters
    ----------
    kernel : Kernel
        A function of dot products or distances of rows of numbers, of columns of a table, or sums and products of such.
    items : collection
        Checked items, in the form that the kernel works on.
    precision : {"exact", "fast", "double"}, default="exact"
        Products with a relative error of less than 1e-5, less than 1e-3, or in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.cuda import available
    >>> from mercer.grams import Cuda
    >>> from mercer.kernels import Gaussian
    >>> if available():
    ...     gram = Cuda(Gaussian(gamma=1.0), np.array([[0.0], [1.0]]))
    ...     assert np.allclose(gram.matvec(np.array([1.0, 0.0])), [1.0, np.exp(-1)])
    """

    expensive = False
    factorises = True

    def __init__(self, kernel: Kernel, items: Any, precision: str = "exact") -> None:
        refuse_without_card()
        self.kernel, self.items, self.precision = kernel.resolved(items), items, precision
        self.error = 0.0 if precision == "double" else 1e-5 if precision == "exact" else 1e-3
        self.operands: Operands = operands_of(self.kernel, items, items, precision)

    def __len__(self) -> int:
        return length(self.items)

    def diag(self) -> Array:
        return self.kernel.diag(self.items).astype(np.float64)

    def matvec(self, z: Array) -> Array:
        check_interrupt()
        z = np.asarray(z, dtype=np.float64)
        columns = z.reshape(z.shape[0], -1)
        used = np.flatnonzero(np.abs(columns).max(axis=1))
        if used.size > _MOST * len(self):
            out = product(self.operands, columns)
        else:
            out = product(self.operands.taken(None, used), columns[used])
        return as_array(out).reshape(z.shape)

    def model(self, z: Array) -> Array:
        return self.matvec(z)

    def rows(self, index: Any) -> Array:
        index = np.arange(len(self))[index]
        out = np.empty((index.size, len(self)), np.float64 if self.operands.double else np.float32)
        self.fill(index, out)
        return out

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        self._write(self.operands.taken(None, columns), rows, out)

    def fill(self, rows: Array, out: Array) -> None:
        self._write(self.operands, rows, out)

    @staticmethod
    def _write(operands: Operands, rows: Array, out: Array) -> None:
        """Values in these rows, some of them at a time."""
        size = max(1, min(_ROWS, _NUMBERS // max(1, out.shape[1])))
        for begin in range(0, rows.size, size):
            copied(matrix_values(operands.taken(rows[begin : begin + size], None)), out[begin : begin + size])

    def scores(self, rows: Array, columns: Array, z: Array) -> Array:
        check_interrupt()
        flat = z.reshape(z.shape[0], -1)
        out = product(self.operands.taken(rows, columns), np.ascontiguousarray(flat))
        return as_array(out).reshape(rows.size, *z.shape[1:])

    def inverse(self, index: Array, ridge: Array) -> Solve | None:
        """By Cholesky's factorisation on the card, in float64."""
        return factorised(operands_of(self.kernel, self.items[index], self.items[index], "double"), ridge)

    @cached_property
    def _double(self) -> Cuda:
        return Cuda(self.kernel, self.items, "double")

    def exact(self) -> Cuda:
        return self if self.operands.double else self._double

    def take(self, index: Any) -> Gram:
        index = np.arange(len(self))[index]
        if np.unique(index).size < index.size:
            return Repeated(self, index)
        return Cuda(self.kernel, self.items[index], self.precision)

    def scaled(self, factor: float) -> Cuda:
        return Cuda(self.kernel * factor, self.items, self.precision)

    @cached_property
    def span(self) -> CudaSpan:
        return CudaSpan(copy(self))

    def walk(self) -> Walk:
        """A loop that looks at one item at a time is no work for a graphics card: rows come from the processor."""
        return Lazy(self.kernel, self.items).walk()


class CudaSpan(KernelSpan):
    """The space behind a kernel on the card, with an approximate inverse from landmarks that is on the card too."""

    gram: Cuda
    #: What the last approximate inverse was made for, and of, and itself.
    _last: tuple[Any, Array, Preconditioner] | None = None

    @cached_property
    def factor(self) -> LandmarkFactor:
        return LandmarkFactor(self.gram.kernel, self.gram.items, self.gram.operands)

    def moved(self, w: Array, f: Array, t: float, d: Array, p: Array) -> tuple[Array, Array]:
        """Coefficients and scores are those of each other as far as the products of the card are exact."""
        w = w + t * d
        return w, w[1]

    def preconditioner(self, lam: float, h: Array, intercept: bool) -> Preconditioner:
        """As before, where curvatures are about as they were: near the end they hardly change."""
        settings = lam, intercept, h.shape
        if self._last is None or self._last[0] != settings or _changed(h, self._last[1]):
            self._last = settings, h, self._approximate(lam, h, intercept)
        return self._last[2]

    def _approximate(self, lam: float, h: Array, intercept: bool) -> Preconditioner:
        columns = h.reshape(h.shape[0], -1)
        if columns.shape[1] > _APART:
            columns = columns.mean(axis=1, keepdims=True)
        factor = self.factor
        inverses = [factor.inverse(lam, np.ascontiguousarray(weights), intercept) for weights in columns.T]

        def solve(v: Array, vb: Array) -> tuple[Array, Array]:
            inside = factor.along(v[0])
            right = np.concatenate([inside, np.asarray(vb)[None]]) if intercept else inside
            parts = np.split(right.reshape(right.shape[0], -1), len(inverses), axis=1)
            found = np.hstack([inverse(part) for inverse, part in zip(inverses, parts, strict=True)])
            found = found.reshape(right.shape)
            found, step = (found[:-1], found[-1]) if intercept else (found, np.zeros_like(vb))
            x = found - inside / lam
            out = v / lam
            out[0][factor.landmarks] += factor.coefficients(x)
            out[1] += factor.scores(x)
            return out, step

        return solve


def _changed(h: Array, before: Array) -> bool:
    return float(np.abs(h - before).sum()) > _ALIKE * float(before.sum())
