"""Platt's map: a logistic function of the score.

    p(f) = 1/(1 + exp(−(a·f + b)))

with the a and b that make Σ s·[−t·log p − (1 − t)·log(1 − p)] least. The targets t are not 0 and 1 but what the rule of
succession says after N₊ rows of one class and N₋ of the other, t₊ = (N₊ + 1)/(N₊ + 2) and t₋ = 1/(N₋ + 2): the least
is then finite also where the scores separate the classes. Written as softplus(h) − t·h with h = a·f + b, the sum is
smooth and convex; Newton's method with halved steps finds its least value (Lin, Lin and Weng, 2007).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from .._runtime.compile import Array, jit
from .base import CalibrationMap, effective_count

__all__ = ["SigmoidMap"]

#: Newton steps, and the smallest part of one.
_STEPS, _SMALLEST = 100, 1e-12
#: A Newton step that promises less than this part of the sum is the last.
_CLOSE = 1e-15


@dataclass(frozen=True)
class SigmoidMap(CalibrationMap):
    """p = 1/(1 + exp(−(slope·f + intercept))).

    Examples
    --------
    >>> import numpy as np
    >>> scores, positive = np.array([-2.0, -1, 1, 2]), np.array([False, False, True, True])
    >>> found = SigmoidMap.of(scores, positive, np.ones(4))
    >>> found.probabilities(np.array([-2.0, 0, 2])).round(2)
    array([0.21, 0.5 , 0.79])
    """

    slope: float
    intercept: float

    @classmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> SigmoidMap:
        above, below = effective_count(weight[positive]), effective_count(weight[~positive])
        targets = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
        # In units of their spread around their middle, scores of any size give a matrix that can be solved with.
        share = weight / weight.sum()
        middle = float(share @ scores)
        spread = float(np.sqrt(share @ (scores - middle) ** 2))
        if not spread > 1e-12 * (abs(middle) + 1e-300):  # all scores alike say nothing
            rate = float(share @ targets)
            return cls(0.0, float(np.log(rate / (1 - rate))))
        slope, level = _least((scores - middle) / spread, targets, share)
        return cls(slope / spread, level - slope * middle / spread)

    def probabilities(self, scores: Array) -> Array:
        smallest = np.finfo(np.float64).eps
        return np.clip(expit(self.slope * scores + self.intercept), smallest, 1 - smallest)


@jit
def _least(f: Array, targets: Array, share: Array) -> tuple:
    """The slope and level at which the sum is least."""
    rate = np.dot(share, targets)
    a, b = 0.0, np.log(rate / (1 - rate))
    here = _cost(f, targets, share, a, b)
    for _ in range(_STEPS):
        g, h = np.zeros(2), np.zeros(3)
        for i in range(f.size):
            p = 1 / (1 + np.exp(-(a * f[i] + b)))
            slope, curve = share[i] * (p - targets[i]), share[i] * p * (1 - p)
            g[0] += slope * f[i]
            g[1] += slope
            h[0] += curve * f[i] * f[i]
            h[1] += curve * f[i]
            h[2] += curve
        ridge = 1e-14 * (h[0] + h[2])
        xx, yy = h[0] + ridge, h[2] + ridge
        det = xx * yy - h[1] * h[1]
        da, db = (yy * g[0] - h[1] * g[1]) / det, (xx * g[1] - h[1] * g[0]) / det
        if g[0] * da + g[1] * db <= _CLOSE * here:
            return a - da, b - db
        there, size = _cost(f, targets, share, a - da, b - db), 1.0
        while there >= here and size > _SMALLEST:
            size *= 0.5
            there = _cost(f, targets, share, a - size * da, b - size * db)
        if there >= here:
            return a, b
        a, b, here = a - size * da, b - size * db, there
    return a, b


@jit
def _cost(f: Array, targets: Array, share: Array, a: float, b: float) -> float:
    """Σ share·(softplus(h) − t·h)."""
    total = 0.0
    for i in range(f.size):
        h = a * f[i] + b
        total += share[i] * (max(h, 0.0) + np.log1p(np.exp(-abs(h))) - targets[i] * h)
    return total
