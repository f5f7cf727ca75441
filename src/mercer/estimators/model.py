"""A fitted model: what is needed to score new rows, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._compile import Array
from .._parallel import bytes_of
from ..kernels.base import Kernel
from ..kernels.pairing import length


@dataclass(frozen=True)
class LinearModel:
    """f(x) = ⟨w, x⟩ + b, one row of ``coef`` for each class score."""

    coef: Array
    intercept: Array

    def scores(self, X: Any, memory: int | str) -> Array:
        return X @ self.coef.T + self.intercept


@dataclass(frozen=True)
class KernelModel:
    """f(x) = Σⱼ zⱼ·k(xⱼ, x) + b over the support items, one row of ``coef`` for each class score.

    ``support`` numbers the support items among the training rows; ``items`` holds them (``None`` for a precomputed
    kernel, where new rows come with a column for every training item).
    """

    kernel: Kernel
    support: Array
    items: Any
    coef: Array
    intercept: Array

    def similarities(self, X: Any, rows: slice) -> Array:
        """k(x, support item) for some of the rows."""
        if self.items is None:
            return X[rows][:, self.support]
        return self.kernel.matrix(X[rows], self.items)

    def blocks(self, X: Any, memory: int | str, row_numbers: int) -> list[slice]:
        """Slices of rows for which ``row_numbers`` float64 numbers a row stay within ``memory``."""
        size = max(1, bytes_of(memory) // (8 * max(1, row_numbers)))
        n = length(X)
        return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]

    def scores(self, X: Any, memory: int | str) -> Array:
        if self.items is not None and self.kernel.splits:
            return self.kernel.product(X, self.items, self.coef.T) + self.intercept
        out = np.empty((length(X), self.coef.shape[0]))
        for rows in self.blocks(X, memory, self.support.size):
            out[rows] = self.similarities(X, rows) @ self.coef.T + self.intercept
        return out


def kernel_model(kernel: Kernel, items: Any, z: Array, intercept: Array) -> KernelModel:
    """The model with coefficients ``z`` (one row a class score) over the training items."""
    used = np.flatnonzero((z != 0).any(axis=0))
    kept = None if kernel.precomputed else items[used]
    return KernelModel(kernel, used, kept, np.ascontiguousarray(z[:, used]), intercept)
