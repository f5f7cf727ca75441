"""Kernels on rows whose columns count more or less: those of rows whose columns were multiplied by weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._validation.parameters import is_number, shown
from .base import Kernel
from .engine.pairing import Tile
from .text_form import Precedence, Text, literal, within

__all__ = ["ScaledColumns"]


class ScaledColumns(Kernel):
    """k(w∘x, w∘z): a kernel on rows of numbers, after each column was multiplied by its weight.

    ``kernel.scaled(weights)`` makes one. A column of weight 0 does not count. ``KernelRegressor`` and
    ``KernelClassifier`` learn such weights with ``metric="learned"``.

    Parameters
    ----------
    kernel : Kernel
        On rows of numbers.
    weights : sequence of float
        A number of at least 0 for each column.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> kernel = Laplacian(gamma=1.0).scaled([1.0, 0.0])
    >>> kernel
    scaled(laplacian(gamma=1.0), [1.0, 0.0])
    >>> kernel([[0.0, 5.0]], [[0.0, 7.0]])
    array([[1.]])
    """

    good_for = "columns that count more than others: weights that are given, or learned (metric='learned')"
    aliases = ("scaled",)

    def __init__(self, kernel: Kernel, weights: Sequence[float]) -> None:
        self.kernel = kernel
        self.weights = weights

    def check(self):
        super().check()
        values = np.asarray(self.weights, dtype=object).ravel().tolist()
        if np.ndim(self.weights) != 1 or not all(is_number(value) and 0 <= value < np.inf for value in values):
            raise ValueError(f"ScaledColumns: weights must be numbers of at least 0, got {shown(self.weights)}.")
        if not self.kernel.on_rows or self.kernel.precomputed:
            raise ValueError(f"ScaledColumns: {self.kernel} does not compare rows of numbers, which weights are for.")

    def text(self) -> Text:
        weights = literal([float(value) for value in self.weights])
        return Text(f"scaled({within(self.kernel, Precedence.SUM)}, {weights})")

    def part_items(self, A):
        return [self._scaled(A)]

    def items(self, A):
        return self.kernel.items(A)

    def statistics(self):
        return Counter()  # the inner kernel's statistics are of the scaled rows

    @property
    def translation_invariant(self):
        return self.kernel.translation_invariant

    def _scaled(self, A: Any) -> Any:
        weights = np.asarray(self.weights, dtype=np.float64)
        if A.shape[1] != weights.size:
            raise ValueError(f"{type(self).__name__}: the rows have {A.shape[1]} columns, and there are {weights.size} "
                             "weights; give one for each column.")  # fmt: skip
        if sparse.issparse(A):
            return sparse.csr_array(A @ sparse.diags_array(weights)).astype(A.dtype, copy=False)
        return np.ascontiguousarray(A * weights.astype(A.dtype))

    def evaluate(self, tile: Tile) -> Array:
        return self.kernel.evaluate(tile.mapped(self, self._scaled, self.kernel))

    def diag(self, A):
        return self.kernel.diag(self._scaled(A))

    def features(self, A):
        return self.kernel.features(self._scaled(A))

    def keyed(self, A):
        return self.kernel.keyed(self._scaled(A))
