"""The dual as a quadratic program with bounds, where the loss is made of straight lines and parabolas.

With the conjugate g*(u) = u·y + c/2·u² + ε·|u| and zᵢ = −sᵢuᵢ/(λn), the dual of a problem, divided by λ, is

    maximise  yᵀz − ε·Σ|z| − ½·zᵀ(K + D)z,      lowᵢ ≤ zᵢ ≤ highᵢ,      D = diag(c·λn/sᵢ),

with Σz = 0 where the intercept is free. The hinge has c = ε = 0 and bounds 0 and y·s/(λn) = y·C·s; the tube has ε > 0.

A tube is written as a soft margin of every item twice, once for each wall: z is the sum of a part that is never
negative, with the target y − ε, and one that is never positive, with y + ε.

More generally the variables fall into groups, and those of a group sum to a total of its own. The multiplier of that
equation is the *level* c of the group, what its scores are measured from; with F = t − Kz the primal is

    ½‖w‖² + Σᵢ slackᵢ(Fᵢ − c) + Σ c·total.

A free intercept is the level of one group with the total 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..grams.base import Gram
from ..runtime.compile import Array

__all__ = ["BoxDual", "balanced", "best_intercept", "slack"]

_EPSILON = 2.3e-16
#: A sum is zero that is smaller than this part of its terms.
_ROUNDED = 1e-14


@dataclass(frozen=True)
class BoxDual:
    """minimise ½·zᵀ(K + diag(ridge))z − targetsᵀz within bounds, the variables of each group with a given sum."""

    targets: Array
    low: Array
    high: Array
    ridge: Array
    #: The item that each variable stands for, where that is not the one of the same number: an item may have two.
    items: Array | None = None
    #: What the variables of each group sum to; nothing where they may sum to anything.
    totals: Array = field(default_factory=lambda: np.empty(0))
    #: The number of each variable's group.
    groups: Array = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(
        cls, y: Array, low: Array, high: Array, curvature: float, box: Array, half_width: float, free: bool
    ) -> BoxDual:
        """The dual of targets y with boxes s/(λn), bounds for z, and a conjugate of a curvature and half width."""
        y = np.asarray(y, dtype=np.float64)
        ridge = curvature / np.where(box > 0, box, 1.0) if curvature else np.zeros(y.size)
        totals = np.zeros(int(free))
        if not half_width:
            return cls(y, low, high, ridge, None, totals, np.zeros(y.size, np.int64))
        return cls.walls(y - half_width, y + half_width, low, high, ridge, totals, np.zeros(2 * y.size, np.int64))

    @classmethod
    def walls(
        cls, lower: Array, upper: Array, low: Array, high: Array, ridge: Array, totals: Array, groups: Array
    ) -> BoxDual:
        """Every item twice: as one that pulls towards the lower wall of its tube, and as one that pushes down."""
        none, everything = np.zeros(lower.size), np.arange(lower.size)
        return cls(
            np.concatenate([lower, upper]),
            np.concatenate([none, low]),
            np.concatenate([high, none]),
            np.tile(ridge, 2),
            np.tile(everything, 2),
            totals,
            groups,
        )

    @property
    def straight(self) -> bool:
        """Whether the loss is made of straight lines alone."""
        return not self.ridge.any()

    @property
    def hard(self) -> bool:
        """Whether some bound is infinite, as those of a hard margin are."""
        return not np.isfinite(self.high - self.low).all()

    @property
    def doubled(self) -> bool:
        """Whether every item has two variables."""
        return self.items is not None and self.items.size > int(self.items.max()) + 1

    @property
    def even(self) -> bool:
        """Whether all variables together sum to zero: moving all items by the same amount then changes nothing."""
        return self.totals.size > 0 and float(self.totals.sum()) == 0.0

    # -- items and variables --------------------------------------------------------------------------------------

    def gram(self, gram: Gram) -> Gram:
        """The Gram of the variables, from that of the items."""
        return gram if self.items is None else gram.take(self.items)

    def spread(self, values: Array) -> Array:
        """A value for each variable, from one for each item."""
        return values if self.items is None else values[self.items]

    def gathered(self, values: Array) -> Array:
        """A value for each item, from variables of which those of an item have the same."""
        if self.items is None:
            return values
        out = np.empty(int(self.items.max()) + 1)
        out[self.items] = values
        return out

    def split(self, z: Array) -> Array:
        """Variables, from the coefficients of the items: each of an item's takes what its bounds allow."""
        if self.items is None:
            return z
        z = z[self.items]
        parts = np.where(self.high > 0, np.maximum(z, 0.0), np.minimum(z, 0.0))
        return parts if self.totals.size < 2 else self._cancelling(parts)

    def _cancelling(self, z: Array) -> Array:
        """With as much more on both walls of items, which cancels, as the sums of the walls ask for.

        Both walls of an item count where they are one: where a tube has no width and the item lies in it, with a
        coefficient between its bounds.
        """
        n = z.size // 2
        missing = float(self.totals[0]) - float(z[:n].sum())
        room = np.minimum(self.high[:n] - z[:n], z[n:] - self.low[n:])
        room[(z[:n] >= self.high[:n]) | (z[n:] <= self.low[n:])] = 0.0
        if not (missing > _ROUNDED * float(self.totals[0]) * n and room.any()):
            return z
        more = room * min(1.0, missing / float(room.sum()))
        return z + np.concatenate([more, -more])

    def merged(self, z: Array) -> Array:
        """Coefficients of the items, from the variables: both walls of an item may cancel."""
        return z if self.items is None else np.bincount(self.items, weights=z)

    # -- groups ---------------------------------------------------------------------------------------------------

    def members(self) -> Iterator[tuple[Array, float]]:
        """The variables of each group, and what they sum to."""
        for group, total in enumerate(self.totals):
            yield np.flatnonzero(self.groups == group), float(total)

    def balanced(self, z: Array) -> Array:
        """Variables near z within their bounds, whose groups have their sums."""
        z = np.clip(z, self.low, self.high)
        for places, total in self.members():
            z[places] = balanced(z[places], self.low[places], self.high[places], total)
        return z

    def filled(self, F: Array) -> Array:
        """Variables within their bounds whose groups have their sums: as few as that takes, those with most to gain."""
        z = np.zeros(self.low.size)
        for places, total in self.members():
            if total == 0:
                continue
            order = places[np.argsort(-np.sign(total) * F[places], kind="stable")]
            rooms = np.abs((self.high if total > 0 else self.low)[order])
            before = np.cumsum(rooms) - rooms
            z[order] = np.sign(total) * np.clip(abs(total) - before, 0.0, rooms)
        return z

    def best_levels(self, F: Array) -> Array:
        """The level of each group for which Σ slack + level·total is least."""
        low, high = self.low, self.high
        return np.array([best_intercept(F[p], low[p], high[p], total) for p, total in self.members()])

    def paid(self, F: Array, levels: Array) -> float:
        """Σ slack + Σ level·total: what the primal, divided by λ, has besides ½‖w‖²."""
        return float(slack(F - levels[self.groups], self.low, self.high).sum() + levels @ self.totals)

    def violation(self, z: Array, scores: Array) -> float:
        """The worst violation of an optimality condition, from coefficients and scores of the items.

        With F = t − f, no variable that may grow has F > c, and none that may shrink F < c; c is zero where no sum is
        asked for, and ``scores`` then include the intercept.
        """
        F, z = self.targets - self.spread(scores), self.split(z)
        worst = 0.0
        for places in (p for p, _ in self.members()) if self.totals.size else [np.arange(F.size)]:
            own, part = F[places], z[places]
            grow = float(own[part < self.high[places]].max(initial=-np.inf))
            shrink = float(own[part > self.low[places]].min(initial=np.inf))
            worst = max(worst, grow - shrink) if self.totals.size else max(worst, grow, -shrink)
        return worst


def slack(distance: Array, low: Array, high: Array) -> Array:
    """What each item pays for the distance F − b: its box for every unit on the wrong side.

    The box of a hard margin is infinite; nobody pays there.
    """
    upper, lower = np.where(np.isfinite(high), high, 0.0), np.where(np.isfinite(low), low, 0.0)
    return upper * np.maximum(0.0, distance) + lower * np.minimum(0.0, distance)


def best_intercept(F: Array, low: Array, high: Array, total: float = 0.0) -> float:
    """The b for which b·total + Σ highᵢ·max(0, Fᵢ − b) − lowᵢ·max(0, b − Fᵢ) is least; the middle, where many are.

    The sum is convex and made of straight pieces that meet at the F. Right of all of them its slope is total − Σ lowᵢ;
    every F that is passed on the way down takes highᵢ − lowᵢ off the slope, and where it turns negative is the minimum.

    Examples
    --------
    >>> import numpy as np
    >>> best_intercept(np.array([1.0, -1.0]), np.array([0.0, -2.0]), np.array([2.0, 0.0]))
    0.0
    """
    order = np.argsort(-F)
    slopes = total - low.sum() - np.cumsum((high - low)[order])
    level = 1e-12 * float((high - low).sum())
    first = min(int(np.searchsorted(-slopes, -level)), F.size - 1)  # where the slope is zero, or falls below it
    last = min(int(np.searchsorted(-slopes, level, side="right")), F.size - 1)
    return float(0.5 * (F[order[first]] + F[order[last]]))


def balanced(z: Array, low: Array, high: Array, total: float = 0.0) -> Array:
    """Coefficients within their bounds whose sum is the total to rounding.

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
        excess, size = float(z.sum()) - total, float(np.abs(z).sum())
        if abs(excess) <= _EPSILON * size:
            return z
        room = np.where(free, z - low if excess > 0 else high - z, 0.0)
        room = np.where(np.isfinite(room), room, np.abs(z))
        z = _given_up(z, room, excess, low, high)
    for _ in range(2):
        excess, size = float(z.sum()) - total, float(np.abs(z).sum())
        if abs(excess) <= _ROUNDED * size:
            return z
        room = z - low if excess > 0 else high - z
        if total == 0:  # towards zero, which is always allowed and never more than there is
            room = np.where(z > 0 if excess > 0 else z < 0, np.abs(z), 0.0)
        z = _given_up(z, room, excess, low, high)
    return z


def _given_up(z: Array, room: Array, excess: float, low: Array, high: Array) -> Array:
    """z with the excess taken off in proportion to the room, or as much of it as there is room for."""
    total = float(room.sum())
    if total == 0:
        return z
    return np.clip(z - np.sign(excess) * room * min(1.0, abs(excess) / total), low, high)
