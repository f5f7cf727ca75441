"""Problems that find a width along with the model, so that a given share of the items pays.

How wide a margin or a tube should be is hard to say in advance; how many items may lie on the wrong side of it is
easier. With a price ν for the width (Schölkopf and others, 2000) the problems are

    margin ρ of labels ±1      λ/2·‖w‖² − ν·ρ + mean s·max(0, ρ − y·f(x))         with a free intercept
    tube of half width ε       λ/2·‖w‖² + ν·ε + mean s·max(0, |y − f(x)| − ε)     with a free intercept
    distance ρ from below      λ/2·‖w‖² − ν·ρ + mean s·max(0, y + ρ − f(x))       without one

and at the minimum at most a share ν of the weight pays, and at least a share ν has a coefficient.

In the dual the width is the multiplier of one more equation, Σ|z| = ν/λ. With the free intercept's Σz = 0 it says that
the positive coefficients sum to ν/(2λ), and the negative ones to −ν/(2λ): two groups of variables
(:mod:`.box_dual`), whose levels are b ∓ ρ, or b ± ε.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..losses import EpsilonInsensitive, Hinge, Loss, Shortfall
from .box_dual import BoxDual
from .problem import Problem

__all__ = ["NuProblem"]

#: A share that is larger than what there is by rounding alone is not larger.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class NuProblem(Problem):
    """A problem with a price ν for its width: a margin, a tube, or a distance that most items keep.

    Parameters
    ----------
    gram, y, loss, lam, weight, intercept
        As those of :class:`Problem`. The loss is ``Hinge()``, ``EpsilonInsensitive(0)``, both with a free intercept, or
        ``Shortfall()`` without one.
    nu : float
        The share, more than 0 and at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.solvers import SoftMargin
    >>> gram, y = Features(np.array([[3.0], [1.0], [-1.0], [-3.0]])), np.array([1.0, 1.0, -1.0, -1.0])
    >>> found = SoftMargin(1e-6).solve(NuProblem(gram, y, Hinge(), lam=1.0, intercept="free", nu=0.4))
    >>> found.z.round(3), round(found.width, 3)
    (array([ 0. ,  0.2, -0.2, -0. ]), 0.4)
    """

    nu: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        stated = isinstance(self.loss, Shortfall) != self.is_free and self.lam > 0
        known = isinstance(self.loss, (Hinge, Shortfall)) or self.loss == EpsilonInsensitive(0.0)
        if not (known and stated):
            raise ValueError(
                "a width is found for Hinge() or EpsilonInsensitive(0) with a free intercept, or for Shortfall() with "
                f"none, and with λ > 0; got {self.loss}, {self.intercept} and λ={self.lam}."
            )
        largest = self.largest_nu
        if not 0 < self.nu <= largest * (1 + _ROUNDING):
            raise ValueError(f"nu must be greater than 0 and at most {largest:.9g}, got {self.nu}.")

    def of_items(self, index: Array) -> Problem:
        y, weights = self.y[index], self.weights[index]
        nu = min(self.nu, _largest_nu(self.loss, y, weights))
        return replace(self, gram=self.gram.take(index), y=y, weight=weights, nu=nu)

    @property
    def largest_nu(self) -> float:
        """The largest ν that can be asked for: a class cannot have more coefficients than it has weight."""
        return _largest_nu(self.loss, self.y, self.weights)

    @cached_property
    def box_dual(self) -> BoxDual:
        box, none = self.weights / (self.lam * len(self.gram)), np.zeros(len(self.gram))
        half = 0.5 * min(self.nu, self.largest_nu) / self.lam
        if isinstance(self.loss, Shortfall):
            return BoxDual(self.y, none, box, none, None, np.array([2 * half]), np.zeros(none.size, np.int64))
        totals = np.array([half, -half])
        if isinstance(self.loss, EpsilonInsensitive):
            groups = np.repeat([0, 1], none.size)
            return BoxDual.walls(self.y, self.y, -box, box, none, totals, groups)
        groups = (self.y < 0).astype(np.int64)
        low, high = np.where(self.y < 0, -box, 0.0), np.where(self.y > 0, box, 0.0)
        return BoxDual(none, low, high, none, None, totals, groups)

    @property
    def _sign(self) -> float:
        """The level of the first group is b + sign·width."""
        return 1.0 if isinstance(self.loss, EpsilonInsensitive) else -1.0

    def levels(self, b: Any, width: float) -> Array:
        first = b + self._sign * width
        return np.array([first] if isinstance(self.loss, Shortfall) else [first, b - self._sign * width])

    def of_levels(self, levels: Array) -> dict[str, Any]:
        if isinstance(self.loss, Shortfall):
            return {"b": 0.0, "width": -float(levels[0])}
        return {"b": 0.5 * float(levels.sum()), "width": 0.5 * self._sign * float(levels[0] - levels[1])}


def _largest_nu(loss: Loss, y: Array, weights: Array) -> float:
    if not isinstance(loss, Hinge):
        return 1.0
    share = float(weights[y > 0].sum()) / float(weights.sum())
    return 2 * min(share, 1 - share)
