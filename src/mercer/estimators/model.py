"""A fitted model: what is needed to score new rows, and no more."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._compile import Array
from .._parallel import bytes_of
from ..kernels.base import Kernel
from ..kernels.pairing import length
from ..kernels.weights import FeatureWeights


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

    @cached_property
    def _weights(self) -> FeatureWeights | None:
        """w = Σⱼ zⱼφ(xⱼ), where listing the features of the support items costs less than comparing them in pairs."""
        if self.items is None or self.kernel.on_rows or not self.kernel.collapses(self.items, self.items):
            return None
        return FeatureWeights(self.kernel.keyed(self.items), self.coef)

    def scores(self, X: Any, memory: int | str) -> Array:
        weights = self._weights
        if weights is not None and weights.nbytes <= bytes_of(memory) and self.kernel.collapses(X, self.items):
            return weights.scores(self.kernel.keyed(X)) + self.intercept
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
