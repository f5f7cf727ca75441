"""Losses ℓ(r) of the residual r = y − f(x), for targets that are numbers.

Each has ``value``, ``slope`` and ``curvature`` by r, on arrays, the ``conjugate`` ℓ*(a) = sup_r (a·r − ℓ(r)) for every
slope a that the loss can have, and ``in_units(s)``: the loss ℓ′ with ℓ(r) = s^degree·ℓ′(r/s), so that targets can be
brought to a size of one.

Examples
--------
>>> from mercer.losses import Huber
>>> Huber(delta=1.0).value([0.5, 3.0])
array([0.125, 2.5  ])
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..checks.parameters import is_number, number, shown
from ..runtime.compile import Array, Scalar
from .margins import Loss

__all__ = ["EpsilonInsensitive", "Huber", "Pinball", "ResidualLoss", "Shortfall", "Squared"]


class ResidualLoss(Loss):
    """A convex loss of the residual, least at r = 0."""

    #: The power of the unit in which the loss of a residual grows.
    degree: ClassVar[int] = 2

    @property
    def domain(self) -> tuple[float, float]:
        """Where the conjugate is finite: the slopes that the loss can have."""
        return -np.inf, np.inf

    @abstractmethod
    def value(self, r: Any) -> Array:
        """ℓ(r)."""

    @abstractmethod
    def slope(self, r: Any) -> Array:
        """ℓ′(r)."""

    @abstractmethod
    def curvature(self, r: Any) -> Array:
        """ℓ″(r)."""

    @abstractmethod
    def conjugate(self, a: Any) -> Array:
        """sup_r (a·r − ℓ(r)), for slopes a that the loss can have."""

    @abstractmethod
    def in_units(self, s: float) -> ResidualLoss:
        """The same loss for residuals measured in units of s."""

    def costs(self, y: Array, f: Array) -> Array:
        return self.value(y - f)

    def slopes(self, y: Array, f: Array) -> Array:
        return -self.slope(y - f)

    def curvatures(self, y: Array, f: Array) -> Array:
        return self.curvature(y - f)

    def argument(self, y: Array) -> tuple[Array, Array]:
        return np.asarray(y, dtype=np.float64), np.full(np.shape(y), -1.0)

    def slope_range(self, y: Array) -> tuple[Array, Array]:
        # g(f) = ℓ(y − f) falls where ℓ rises.
        low, high = self.domain
        return np.full(np.shape(y), -high), np.full(np.shape(y), -low)

    def conjugates(self, y: Array, u: Array) -> Array:
        # sup_f u·f − ℓ(y − f) = u·y + sup_r (−u)·r − ℓ(r)
        return u * y + self.conjugate(-u)


class Squared(ResidualLoss):
    """½·r². With labels y = ±1 it is ½·(1 − y·f)², a loss of the margin as well.

    Examples
    --------
    >>> Squared().value([2.0])
    array([2.])
    """

    good_for = "the mean; fastest, and outliers pull hard"
    name = "squared"
    dual_curvature = 1.0

    @Scalar
    def value(r):
        return 0.5 * r * r

    @Scalar
    def slope(r):
        return r

    @Scalar
    def curvature(r):
        return 1.0

    @Scalar
    def conjugate(a):
        return 0.5 * a * a

    def in_units(self, s):
        return self


@dataclass(frozen=True, repr=True)
class Huber(ResidualLoss):
    """½·r² up to ``|r| = delta``, then a straight line: outliers pull no harder than ``delta``.

    Examples
    --------
    >>> Huber(delta=0.5).slope([0.1, -9.0])
    array([ 0.1, -0.5])
    """

    good_for = "the mean of most, whatever outliers do"
    name = "huber"
    dual_curvature = 1.0

    delta: float = 1.0

    @property
    def domain(self):
        return -self.delta, self.delta

    def __post_init__(self) -> None:
        number(self, "delta")

    def value(self, r):
        size = np.abs(r)
        return np.where(size <= self.delta, 0.5 * size * size, self.delta * (size - 0.5 * self.delta))

    def slope(self, r):
        return np.clip(r, -self.delta, self.delta)

    def curvature(self, r):
        return (np.abs(r) <= self.delta).astype(np.float64)

    def conjugate(self, a):
        return 0.5 * np.square(a)

    def in_units(self, s):
        return Huber(_in_range(self.delta / s))


@dataclass(frozen=True, repr=True)
class EpsilonInsensitive(ResidualLoss):
    """``max(0, |r| − epsilon)``: a tube in which errors cost nothing.

    Examples
    --------
    >>> EpsilonInsensitive(epsilon=0.1).value([0.05, 0.6])
    array([0. , 0.5])
    """

    good_for = "SVR: errors within a tube cost nothing"
    name = "epsilon_insensitive"
    smooth = False
    dual_curvature = 0.0
    degree = 1

    epsilon: float = 0.1

    @property
    def half_width(self):
        return self.epsilon

    @property
    def domain(self):
        return -1.0, 1.0

    def __post_init__(self) -> None:
        number(self, "epsilon", strict=False)

    def value(self, r):
        return np.maximum(0.0, np.abs(r) - self.epsilon)

    def slope(self, r):
        r = np.asarray(r, dtype=np.float64)
        return np.sign(r) * (np.abs(r) > self.epsilon)

    def curvature(self, r):
        return np.zeros_like(r, dtype=np.float64)

    def conjugate(self, a):
        return self.epsilon * np.abs(a)

    def in_units(self, s):
        return EpsilonInsensitive(_in_range(self.epsilon / s) if self.epsilon else 0.0)


@dataclass(frozen=True, repr=True)
class Pinball(ResidualLoss):
    """τ·r above the prediction, ``(1 − τ)·|r|`` below: what the τ-quantile of the targets makes least.

    Of a constant prediction f, the mean loss has the slope P(y < f) − τ, which is zero where a share τ of the targets
    lies below f. With τ = ½ it is half the absolute error.

    Examples
    --------
    >>> Pinball(tau=0.9).value([1.0, -1.0])
    array([0.9, 0.1])
    """

    good_for = "quantiles, such as the median"
    name = "pinball"
    smooth = False
    dual_curvature = 0.0
    degree = 1

    tau: float = 0.5

    @property
    def domain(self):
        return self.tau - 1.0, self.tau

    def __post_init__(self) -> None:
        if not (is_number(self.tau) and 0 < self.tau < 1):
            raise ValueError(f"Pinball: tau must be a number between 0 and 1, got {shown(self.tau)}.")

    def value(self, r):
        return np.maximum(self.tau * np.asarray(r), (self.tau - 1.0) * np.asarray(r))

    def slope(self, r):
        r = np.asarray(r, dtype=np.float64)
        return np.where(r > 0, self.tau, np.where(r < 0, self.tau - 1.0, 0.0))

    def curvature(self, r):
        return np.zeros_like(r, dtype=np.float64)

    def conjugate(self, a):
        return np.zeros_like(a, dtype=np.float64)

    def in_units(self, s):
        return self


class Shortfall(ResidualLoss):
    """max(0, r): falling short of the target costs, going beyond it costs nothing.

    Examples
    --------
    >>> Shortfall().value([-1.0, 0.5])
    array([0. , 0.5])
    """

    smooth = False
    dual_curvature = 0.0
    degree = 1

    @property
    def domain(self):
        return 0.0, 1.0

    def value(self, r):
        return np.maximum(0.0, r)

    def slope(self, r):
        return (np.asarray(r) > 0).astype(np.float64)

    def curvature(self, r):
        return np.zeros_like(r, dtype=np.float64)

    def conjugate(self, a):
        return np.zeros_like(a, dtype=np.float64)

    def in_units(self, s):
        return self


def _in_range(size: float) -> float:
    """A positive size in other units; beyond these bounds no residual is, and overflow must not make it infinite."""
    return min(max(size, 1e-299), 1e299)
