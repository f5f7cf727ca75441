"""Σⱼ zⱼφ(xⱼ) as one vector of weights, so that new items are scored by their features alone."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..._runtime.compile import Array, jit
from .counts import Counts
from .flat import in_chunks
from .hash_table import look_up, number


class FeatureWeights:
    """w = Σⱼ zⱼφ(xⱼ), one column for each class score, over the features that any of the items has.

    As Σⱼ zⱼ·k(xⱼ, x) = ⟨w, φ(x)⟩, a new item costs one look-up for each of its features, however many items w is made
    of. Features are known by their keys of 64 bits, so that nothing is lost by hashing into columns.

    Parameters
    ----------
    counts : Counts
        φ of the items.
    coef : array of shape (scores, items)
        The coefficients z.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> kernel = Spectrum(p=1)
    >>> weights = FeatureWeights(kernel.keyed(kernel.items(["aab", "c"])), np.array([[2.0, -1.0]]))
    >>> weights.scores(kernel.keyed(kernel.items(["ab", "cc", "d"])))  # 2·(2 + 1), −1·2, 0
    array([[ 6.],
           [-2.],
           [ 0.]])
    """

    def __init__(self, counts: Counts, coef: Array) -> None:
        self._counts, self._coef = counts, coef
        self._columns, self._names, self._table = number(counts.keys)

    @property
    def nbytes(self) -> int:
        """The size of the weights, which are made when the first item is scored."""
        return 8 * self._names.size * self._coef.shape[0]

    @cached_property
    def _weights(self) -> Array:
        out = np.zeros((self._names.size, self._coef.shape[0]))
        counts, coef = self._counts, np.ascontiguousarray(self._coef.T, dtype=np.float64)
        _gather(counts.starts, self._columns, counts.values, coef, out)
        return out

    def scores(self, counts: Counts) -> Array:
        """⟨w, φ(x)⟩ for every item x."""
        weights = self._weights
        out = np.zeros((len(counts), weights.shape[1]))
        columns = look_up(self._table, self._names, counts.keys)
        in_chunks(len(counts), lambda a, b: _score(counts.starts, columns, counts.values, weights, a, b, out))
        return out


@jit
def _gather(starts: Array, columns: Array, values: Array, coef: Array, out: Array) -> None:
    for j in range(starts.size - 1):
        for p in range(starts[j], starts[j + 1]):
            for k in range(out.shape[1]):
                out[columns[p], k] += values[p] * coef[j, k]


@jit
def _score(starts: Array, columns: Array, values: Array, weights: Array, first: int, stop: int, out: Array) -> None:
    for i in range(first, stop):
        for p in range(starts[i], starts[i + 1]):
            if columns[p] >= 0:
                for k in range(out.shape[1]):
                    out[i, k] += values[p] * weights[columns[p], k]
