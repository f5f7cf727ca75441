"""Kernels that come from outside: a matrix, or a Python function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array, jit
from .._validation.tables import as_rows
from .base import Kernel
from .engine.pairing import Tile, length
from .text_form import Text, function

__all__ = ["Function", "Precomputed"]


class Precomputed(Kernel):
    """The rows given to a learner already are rows of the kernel matrix.

    Fit on the square matrix of the training items; predict on a matrix with a column for each training item.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Perceptron
    >>> from mercer.kernels import Gaussian
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    >>> model = Perceptron(kernel="precomputed", random_state=0).fit(Gaussian(gamma=1.0)(X), y)
    >>> model.predict(Gaussian(gamma=1.0)([[2.9]], X)).tolist()
    ['b']
    """

    good_for = "a kernel matrix that is there already"

    def __init__(self) -> None:
        pass

    @property
    def precomputed(self) -> bool:
        return True

    @property
    def trusted(self) -> bool:
        return False

    @property
    def splits(self) -> bool:
        return False

    def items(self, A):
        if sparse.issparse(A):
            raise ValueError("a precomputed kernel matrix must be dense; call .toarray(), or use a kernel on the rows.")
        return as_rows(A)

    def evaluate(self, tile: Tile) -> Array:
        return tile.left[:, tile.j].copy()

    def diag(self, A):
        return A.diagonal().copy()


class Function(Kernel, named=False):
    """Any Python function as a kernel.

    Parameters
    ----------
    f : callable
        ``f(A, B)`` returns the matrix of all pairs; or, with ``pairwise=True``, ``f(x, z)`` the value of one.
    pairwise : bool, default=False

    Examples
    --------
    >>> from mercer.kernels import Function
    >>> Function(lambda A, B: (A @ B.T) ** 2)([[1.0, 2.0]])
    array([[25.]])
    >>> Function(lambda x, z: min(x[0], z[0]), pairwise=True)([[1.0], [2.0]])
    array([[1., 1.],
           [1., 2.]])
    """

    def __init__(self, f: Callable[[Any, Any], Any], pairwise: bool = False) -> None:
        self.f = f
        self.pairwise = pairwise

    def text(self) -> Text:
        return Text(f"function({function(self.f)})")

    @property
    def splits(self) -> bool:
        return False  # nobody promised that the function may run on two threads, or that calls are cheap

    @property
    def trusted(self) -> bool:
        return False

    @property
    def label(self) -> str:
        return getattr(self.f, "__name__", type(self.f).__name__)

    def check(self):
        if not callable(self.f):
            raise ValueError(f"Function: f must be callable, got {self.f!r}.")

    def evaluate(self, tile: Tile) -> Array:
        return self._values(tile.left, tile.right)

    def _values(self, A: Any, B: Any) -> Array:
        n, m = length(A), length(B)
        out: Any = [[self.f(x, z) for z in B] for x in A] if self.pairwise else self.f(A, B)
        if out is None:
            raise ValueError(f"the kernel function {self.label!r} returned None; it must return its values.")
        if np.ma.is_masked(out):
            raise ValueError(
                f"the kernel function {self.label!r} returned a masked array, whose mask would be ignored; it must "
                "return a value for every pair."
            )
        try:
            values = np.asarray(out.toarray() if sparse.issparse(out) else out)
        except ValueError:
            raise ValueError(f"the kernel function {self.label!r} returned rows of different lengths.") from None
        if values.dtype.kind == "c":
            raise ValueError(f"the kernel function {self.label!r} returned complex numbers; a kernel is real.")
        if values.dtype.kind not in "fiub":
            raise ValueError(f"the kernel function {self.label!r} returned {values.dtype} values, not numbers.")
        if values.shape != (n, m):
            hint = " (if it takes two single items, say Function(f, pairwise=True))" if not self.pairwise else ""
            raise ValueError(
                f"the kernel function {self.label!r} returned shape {values.shape} for {n} and {m} items; "
                f"it must return ({n}, {m}){hint}."
            )
        if not np.isfinite(values).all():
            row, column = np.argwhere(~np.isfinite(values))[0]
            raise ValueError(f"the kernel function {self.label!r} returned {values[row, column]} for a pair of items.")
        return values.astype(np.float64 if values.dtype != np.float32 else np.float32)

    def diag(self, A):
        if self.pairwise:
            return np.array([float(self.f(x, x)) for x in A])
        return np.array([self._values(A[i : i + 1], A[i : i + 1])[0, 0] for i in range(length(A))])


@jit
def _asymmetry(K: Array) -> tuple[float, int, int, float]:
    """The largest |K − Kᵀ|, where it is, and the largest |K|; in blocks, as columns of a large matrix are far apart."""
    worst, row, column, largest = 0.0, 0, 0, 0.0
    block = 64
    for top in range(0, K.shape[0], block):
        for left in range(top, K.shape[0], block):
            for i in range(top, min(top + block, K.shape[0])):
                for j in range(max(left, i), min(left + block, K.shape[0])):
                    largest = max(largest, abs(K[i, j]))
                    if abs(K[i, j] - K[j, i]) > worst:
                        worst, row, column = abs(K[i, j] - K[j, i]), i, j
    return worst, row, column, largest


def refuse_asymmetric(K: Array, kernel: Kernel) -> None:
    """Raise where a square matrix that claims to be a kernel matrix is not symmetric."""
    worst, i, j, largest = _asymmetry(np.ascontiguousarray(K))
    if worst > 1e-6 * largest:
        raise ValueError(
            f"the kernel {kernel} is not symmetric: k({i}, {j}) = {K[i, j]:.6g} but k({j}, {i}) = {K[j, i]:.6g}; "
            "a kernel must give the same value both ways, for example (K + K.T)/2."
        )
