"""The dual as a quadratic program with bounds, where the loss is made of straight lines and parabolas.

With the conjugate g*(u) = u·y + c/2·u² + ε·|u| and zᵢ = −sᵢuᵢ/(λn), the dual of a problem, divided by λ, is

    maximise  yᵀz − ε·Σ|z| − ½·zᵀ(K + D)z,      lowᵢ ≤ zᵢ ≤ highᵢ,      D = diag(c·λn/sᵢ),

with Σz = 0 where the intercept is free. The hinge has c = ε = 0 and bounds 0 and y·s/(λn) = y·C·s; the tube has ε > 0.

A tube is written as a soft margin of every item twice, once for each wall: z is the sum of a part that is never
negative, with the target y − ε, and one that is never positive, with y + ε.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._runtime.compile import Array
from ..grams.base import Gram

__all__ = ["BoxDual", "balanced", "best_intercept", "slack"]

_EPSILON = 2.3e-16
#: A sum is zero that is smaller than this part of its terms.
_ROUNDED = 1e-14


@dataclass(frozen=True)
class BoxDual:
    """minimise ½·zᵀ(K + diag(ridge))z − targetsᵀz within bounds; ``doubled`` where every item is there twice."""

    targets: Array
    low: Array
    high: Array
    ridge: Array
    doubled: bool = False

    @classmethod
    def of(cls, y: Array, low: Array, high: Array, curvature: float, box: Array, half_width: float) -> BoxDual:
        """The dual of targets y with boxes s/(λn), bounds for z, and a conjugate of a curvature and half width."""
        y = np.asarray(y, dtype=np.float64)
        ridge = curvature / np.where(box > 0, box, 1.0) if curvature else np.zeros(y.size)
        if not half_width:
            return cls(y, low, high, ridge)
        none = np.zeros(y.size)
        return cls(
            np.concatenate([y - half_width, y + half_width]),
            np.concatenate([none, low]),
            np.concatenate([high, none]),
            np.tile(ridge, 2),
            doubled=True,
        )

    @property
    def straight(self) -> bool:
        """Whether the loss is made of straight lines alone."""
        return not self.ridge.any()

    @property
    def hard(self) -> bool:
        """Whether some bound is infinite, as those of a hard margin are."""
        return not np.isfinite(self.high - self.low).all()

    def gram(self, gram: Gram) -> Gram:
        """The Gram of the variables, from that of the items."""
        return gram.take(np.tile(np.arange(len(gram)), 2)) if self.doubled else gram

    def spread(self, values: Array) -> Array:
        """A value for each variable, from one for each item."""
        return np.tile(values, 2) if self.doubled else values

    def split(self, z: Array) -> Array:
        """Variables, from the coefficients of the items."""
        return np.concatenate([np.maximum(z, 0.0), np.minimum(z, 0.0)]) if self.doubled else z

    def merged(self, z: Array) -> Array:
        """Coefficients of the items, from the variables: both walls of an item may cancel."""
        return z[: z.size // 2] + z[z.size // 2 :] if self.doubled else z

    def violation(self, z: Array, scores: Array, free: bool) -> float:
        """The worst violation of an optimality condition, from coefficients and scores of the items.

        With F = t − f, no variable that may grow has F > b, and none that may shrink F < b; b is zero where the
        intercept is not free and ``scores`` include it.
        """
        F, z = self.targets - self.spread(scores), self.split(z)
        grow = float(F[z < self.high].max(initial=-np.inf))
        shrink = float(F[z > self.low].min(initial=np.inf))
        return max(0.0, grow - shrink) if free else max(0.0, grow, -shrink)


def slack(distance: Array, low: Array, high: Array) -> Array:
    """What each item pays for the distance F − b: its box for every unit on the wrong side.

    The box of a hard margin is infinite; nobody pays there.
    """
    upper, lower = np.where(np.isfinite(high), high, 0.0), np.where(np.isfinite(low), low, 0.0)
    return upper * np.maximum(0.0, distance) + lower * np.minimum(0.0, distance)


def best_intercept(F: Array, low: Array, high: Array) -> float:
    """The b for which Σ highᵢ·max(0, Fᵢ − b) − lowᵢ·max(0, b − Fᵢ) is least; the middle, where many are.

    The sum is convex and made of straight pieces that meet at the F. Right of all of them its slope is −Σ lowᵢ; every
    F that is passed on the way down takes highᵢ − lowᵢ off the slope, and where it turns negative is the minimum.

    Examples
    --------
    >>> import numpy as np
    >>> best_intercept(np.array([1.0, -1.0]), np.array([0.0, -2.0]), np.array([2.0, 0.0]))
    0.0
    """
    order = np.argsort(-F)
    slopes = -low.sum() - np.cumsum((high - low)[order])
    level = 1e-12 * float((high - low).sum())
    first = min(int(np.searchsorted(-slopes, -level)), F.size - 1)  # where the slope is zero, or falls below it
    last = min(int(np.searchsorted(-slopes, level, side="right")), F.size - 1)
    return float(0.5 * (F[order[first]] + F[order[last]]))


def balanced(z: Array, low: Array, high: Array) -> Array:
    """Coefficients within their bounds whose sum is zero to rounding.

    What is too much is taken from those that are free, in proportion to the room they have; from all others only where
    those have too little, and rounding is no reason to take a coefficient off its bound.

    Examples
    --------
    >>> import numpy as np
    >>> balanced(np.array([2.0, 0.7, -2.0]), np.array([0.0, 0.0, -2.0]), np.array([2.0, 2.0, 0.0]))
    array([ 2.,  0., -2.])
    """
    z = np.clip(z, low, high)
    free = (z > low) & (z < high)
    for _ in range(3):
        excess = float(z.sum())
        room = np.where(free, z - low if excess > 0 else high - z, 0.0)
        room = np.where(np.isfinite(room), room, np.abs(z))
        z = _given_up(z, room, excess, _EPSILON, low, high)
    for _ in range(2):
        excess = float(z.sum())
        room = np.where(z > 0 if excess > 0 else z < 0, np.abs(z), 0.0)
        z = _given_up(z, room, excess, _ROUNDED, low, high)
    return z


def _given_up(z: Array, room: Array, excess: float, slight: float, low: Array, high: Array) -> Array:
    """z with the excess taken off in proportion to the room, or as much of it as there is room for."""
    total = float(room.sum())
    if abs(excess) <= slight * float(np.abs(z).sum()) or total == 0:
        return z
    return np.clip(z - np.sign(excess) * room * min(1.0, abs(excess) / total), low, high)
