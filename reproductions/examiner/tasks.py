"""Convex problems by their definitions: what a model costs, and how much of that may be rounding.

A task is   P(w, b) = reg/2·‖w‖² + Σ costᵢ·ℓ(yᵢ, fᵢ),   f = ⟨w, φ(x)⟩ + b,   with w = Σ zⱼ·φ(xⱼ) and ‖w‖² = zᵀKz.
The soft margin has reg = 1 and cost = C·s; the machines of mean losses have reg = λ and cost = s/Σs. An intercept is
``free``, ``none``, or ``counted``: the weight of a constant feature, whose square is part of ‖w‖².
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from .definitions import EXACT, TINY, Array, Real

#: What double precision loses in one sum of many terms, relative to the sum of their sizes.
DOUBLE, SINGLE = 64 * 2.0**-53, 64 * 2.0**-24
#: What a correct certificate in double precision may differ by, relative to its own terms.
RELATIVE = 1e-9


@dataclass(frozen=True)
class Loss:
    """A loss of the label or target y and the score f.

    ``size`` is ε of the tube, δ of Huber's loss, or the level τ of a quantile.
    """

    name: str
    size: float = 0.0

    @property
    def of_margin(self) -> bool:
        return self.name in ("hinge", "logistic", "smooth_hinge", "squared_hinge", "squared")

    @property
    def smooth(self) -> bool:
        return self.name not in ("hinge", "tube", "pinball")

    def value(self, y: Array, f: Array) -> Array:
        m, r, size = y * f, np.abs(y - f), EXACT(self.size)
        match self.name:
            case "hinge":
                return np.maximum(0, 1 - m)
            case "squared_hinge":
                return np.square(np.maximum(0, 1 - m)) / 2
            case "squared":
                return np.square(1 - m) / 2
            case "logistic":
                return np.logaddexp(EXACT(0), -m)
            case "smooth_hinge":
                return np.logaddexp(EXACT(0), 1 - m)
            case "residual":
                return np.square(r) / 2
            case "huber":
                return np.where(r <= size, r * r / 2, size * (r - size / 2))
            case "tube":
                return np.maximum(0, r - size)
            case "pinball":
                return np.maximum(size * (y - f), (size - 1) * (y - f))
        raise NotImplementedError(self.name)

    def slope(self, y: Array, f: Array) -> Array:
        """∂ℓ/∂f."""
        m, r = y * f, y - f
        match self.name:
            case "squared_hinge":
                return -y * np.maximum(0, 1 - m)
            case "squared":
                return -y * (1 - m)
            case "logistic":
                return -y * _chance(-m)
            case "smooth_hinge":
                return -y * _chance(1 - m)
            case "residual":
                return -r
            case "huber":
                return -np.clip(r, -EXACT(self.size), EXACT(self.size))
        raise NotImplementedError(self.name)

    def bend(self, y: Array, f: Array) -> Array:
        """∂²ℓ/∂f²."""
        m, r = y * f, np.abs(y - f)
        match self.name:
            case "squared_hinge":
                return (m < 1).astype(EXACT)
            case "squared" | "residual":
                return np.ones_like(m)
            case "logistic":
                return _chance(m) * _chance(-m)
            case "smooth_hinge":
                return _chance(m - 1) * _chance(1 - m)
            case "huber":
                return (r <= self.size).astype(EXACT)
        raise NotImplementedError(self.name)


def _chance(t: Array) -> Array:
    """1/(1 + e^(−t)), without overflow."""
    e = np.exp(-np.abs(t))
    return np.where(t >= 0, 1, e) / (1 + e)


class Worth(NamedTuple):
    """An objective, and how far a correct computation in double precision may be from it."""

    value: Real
    doubt: Real

    @property
    def most(self) -> Real:
        """What the objective is at most: extended precision has eleven binary digits more than double."""
        return np.maximum(self.value, 0) + self.doubt / 2**11


@dataclass(frozen=True)
class Task:
    """One convex problem: its kernel matrix, labels or targets, costs, and loss."""

    K: Array
    y: Array
    cost: Array
    reg: float
    loss: Loss
    intercept: str = "free"
    #: What one rounding costs where the data were given, 64 of them at a time.
    rounding: float = DOUBLE
    #: How far the kernel values that a machine saw are from K.
    off: Array = field(default_factory=lambda: np.zeros(1))

    def scores(self, z: Array) -> tuple[Array, Array]:
        """Kz, and how far rounding may be from it."""
        z = np.asarray(z, EXACT)
        return self.K @ z, (self.rounding * np.abs(self.K) + self.off) @ np.abs(z)

    def worth_of(self, z: Array, b: Real) -> Worth:
        """The objective of coefficients and an intercept."""
        f, doubt = self.scores(z)
        z = np.asarray(z, EXACT)
        return self.worth(f, z @ f, b, doubt, np.abs(z) @ doubt)

    def worth(self, f: Array, square: Real, b: Real, doubt: Array, square_doubt: Real) -> Worth:
        """The objective from the scores without the intercept and from ‖w‖², and what doubt of both does to it."""
        b = EXACT(b)
        square = square + b * b if self.intercept == "counted" else square
        doubt = doubt + self.rounding * np.abs(b)
        here = self.loss.value(self.y, f + b)
        around = [np.abs(self.loss.value(self.y, f + b + sign * doubt) - here) for sign in (1, -1)]
        size = EXACT(self.reg) / 2 * square + self.cost @ here
        total = EXACT(self.reg) / 2 * square_doubt + self.cost @ np.maximum(*around)
        return Worth(size, total + RELATIVE * (EXACT(self.reg) / 2 * np.abs(square) + self.cost @ here))

    def best_intercept(self, f: Array) -> Real:
        """The b for which Σ cost·ℓ(y, f + b) is least, for losses made of straight pieces: at one of their ends."""
        if self.intercept != "free":
            return EXACT(0)
        if self.loss.name in ("hinge", "pinball"):
            ends = self.y - f
        else:
            ends = np.concatenate([self.y - f - EXACT(self.loss.size), self.y - f + EXACT(self.loss.size)])
        totals = np.array([self.cost @ self.loss.value(self.y, f + b) for b in ends])
        return ends[np.argmin(totals)]

    def constant_worth(self) -> float:
        """The objective of the best model without any w, or of zero: the scale that objectives are measured by."""
        zero = np.zeros(len(self.y), EXACT)
        values = [self.worth(zero, EXACT(0), EXACT(0), zero, EXACT(0)).value]
        if self.intercept == "free":
            for b in np.unique(np.append(self.y, np.average(self.y, weights=np.maximum(self.cost, TINY)))):
                values.append(self.worth(zero, EXACT(0), b, zero, EXACT(0)).value)
        return float(min(values))

    # -- the dual of losses made of straight pieces -----------------------------------------------------------------

    def box(self) -> Array:
        """The largest coefficient of each item, cost/reg."""
        return self.cost / EXACT(self.reg)

    def bounds(self) -> tuple[Array, Array]:
        """What coefficients are at least and at most."""
        box, size = self.box(), EXACT(self.loss.size)
        if self.loss.name == "hinge":
            return np.where(self.y > 0, 0, -box), np.where(self.y > 0, box, 0)
        return (-(1 - size) * box, size * box) if self.loss.name == "pinball" else (-box, box)

    def dual(self, z: Array) -> Real:
        """The dual objective of coefficients within their bounds: a lower bound on P where Σz = 0 (or no intercept)."""
        z = np.asarray(z, EXACT)
        f = self.K @ z
        gain = self.y @ z - (EXACT(self.loss.size) * np.abs(z).sum() if self.loss.name == "tube" else 0)
        square = z @ f + (z.sum() ** 2 if self.intercept == "counted" else 0)
        return EXACT(self.reg) * (gain - square / 2)


def softmax_worth(K: Array, own: Array, cost: Array, reg: float, Z: Array, b: Array) -> Worth:
    """As :meth:`Task.worth_of`, for several classes: a column of Z for each, ``own`` is 1 in an item's class."""
    Z, b = np.asarray(Z, EXACT), np.asarray(b, EXACT)
    F = K @ Z
    doubt = DOUBLE * (np.abs(K) @ np.abs(Z) + np.abs(b))
    return softmax_at(F, (Z * F).sum(), own, cost, reg, b, doubt, (np.abs(Z) * doubt).sum())


def softmax_at(
    F: Array, square: Real, own: Array, cost: Array, reg: float, b: Array, doubt: Array, square_doubt: Real
) -> Worth:
    scores = F + b
    top = scores.max(axis=1, keepdims=True)
    loss = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0] - (scores * own).sum(axis=1)
    size = EXACT(reg) / 2 * square + cost @ loss
    return Worth(size, EXACT(reg) / 2 * square_doubt + 2 * cost @ doubt.max(axis=1) + RELATIVE * abs(size))
