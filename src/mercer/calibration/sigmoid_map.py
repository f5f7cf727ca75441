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

from .._runtime.compile import Array
from .base import CalibrationMap, effective_count

__all__ = ["SigmoidMap"]

_STEPS, _HALVINGS = 100, 40
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


def _least(f: Array, targets: Array, share: Array) -> tuple[float, float]:
    """The slope and level at which the sum is least."""
    design = np.stack([f, np.ones_like(f)])

    def cost(x: Array) -> float:
        h = x @ design
        return float(share @ (np.logaddexp(0.0, h) - targets * h))

    rate = float(share @ targets)
    x = np.array([0.0, np.log(rate / (1 - rate))])
    here = cost(x)
    for _ in range(_STEPS):
        p = expit(x @ design)
        gradient = design @ (share * (p - targets))
        hessian = (design * (share * p * (1 - p))) @ design.T
        step = np.linalg.solve(hessian + 1e-14 * np.trace(hessian) * np.eye(2), gradient)
        if gradient @ step <= _CLOSE * here:
            return tuple((x - step).tolist())
        for _ in range(_HALVINGS):
            there = cost(x - step)
            if there < here:
                break
            step *= 0.5
        else:
            break
        x, here = x - step, there
    return tuple(x.tolist())
