"""Venn–Abers: an isotonic map for either class that a new row may have.

A new row is put among the calibration rows once with the label 0 and once with the label 1; isotonic regression gives
it the probabilities p₀ and p₁. One of the two labels is right, so that one of the two is calibrated, however few rows
there are: the interval from p₀ to p₁ says how much the rows leave open. One number that serves both (the least regret
of the log loss) is p₁/(1 − p₀ + p₁) (Vovk, Petej and Fedorova, 2015).

No regression is run again for a new row. Isotonic regression pools neighbours that are out of order, in any order of
pooling. The pools of all scores up to the i-th, and of all scores from the i-th on, are known beforehand, each with a
pointer to the pool before or behind it; a new row between them begins as a pool of its own and takes in neighbours
until it is in order. A row can only fall on one of the k known scores or into one of the k + 1 gaps between them, so
all answers are found in advance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._runtime.compile import Array, jit
from .base import CalibrationMap

__all__ = ["VennAbersMap"]


@dataclass(frozen=True)
class VennAbersMap(CalibrationMap):
    """p₀ and p₁ on each of k known scores, and in each of the k + 1 gaps between them.

    Examples
    --------
    >>> import numpy as np
    >>> scores, positive = np.array([-2.0, -1, 1, 2]), np.array([False, False, True, True])
    >>> found = VennAbersMap.of(scores, positive, np.ones(4))
    >>> found.intervals(np.array([-2.0, 0, 2])).round(2)
    array([[0.  , 0.33],
           [0.  , 1.  ],
           [0.67, 1.  ]])
    >>> found.probabilities(np.array([-2.0, 0, 2])).round(2)
    array([0.25, 0.5 , 0.75])
    """

    has_intervals = True
    scores: Array
    #: Two columns, p₀ and p₁; the rows are gap, score, gap, score, …, gap.
    values: Array

    @classmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> VennAbersMap:
        there = weight > 0
        known, place = np.unique(scores[there], return_inverse=True)
        total = np.bincount(place, weight[there])
        ones = np.bincount(place, weight[there] * positive[there])
        values = np.empty((2 * known.size + 1, 2))
        # A new row counts as much as the others do on average.
        _answers(ones, total, float(weight[there].mean()), values)
        return cls(known, values)

    def intervals(self, scores: Array) -> Array:
        left = np.searchsorted(self.scores, scores, side="left")
        right = np.searchsorted(self.scores, scores, side="right")
        return self.values[left + right]  # 2·left in a gap, 2·left + 1 on a known score

    def probabilities(self, scores: Array) -> Array:
        low, high = self.intervals(scores).T
        return high / (1 - low + high)


@jit
def _pools(ones: Array, total: Array, step: int) -> tuple:
    """For each score the pool that ends (step 1) or begins (step −1) there, and the one that is next to it."""
    k = ones.size
    pooled, weight, beside = np.empty(k), np.empty(k), np.empty(k, np.int64)
    for count in range(k):
        i = count if step == 1 else k - 1 - count
        a, w, j = ones[i], total[i], i - step
        # Out of order is a higher mean to the left, or a lower one to the right.
        while 0 <= j < k and step * (pooled[j] * w - a * weight[j]) >= 0:
            a, w, j = a + pooled[j], w + weight[j], beside[j]
        pooled[i], weight[i], beside[i] = a, w, j
    return pooled, weight, beside


@jit
def _answers(ones: Array, total: Array, new: float, values: Array) -> None:
    """p₀ and p₁ of a new row of weight ``new`` in every gap and on every score."""
    k = ones.size
    left, left_weight, before = _pools(ones, total, 1)
    right, right_weight, behind = _pools(ones, total, -1)
    for spot in range(2 * k + 1):
        on = spot % 2
        for label in range(2):
            a, w = label * new, new
            if on:
                a, w = a + ones[spot // 2], w + total[spot // 2]
            i, j = spot // 2 - 1, spot // 2 + on
            while True:
                if j < k and right[j] * w < a * right_weight[j]:
                    a, w, j = a + right[j], w + right_weight[j], behind[j]
                elif i >= 0 and left[i] * w > a * left_weight[i]:
                    a, w, i = a + left[i], w + left_weight[i], before[i]
                else:
                    break
            values[spot, label] = a / w
