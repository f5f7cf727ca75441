"""Losses of the residual r = y − f, for regression.

Each has ``value``, ``slope`` and ``curvature`` by r, on arrays, the ``conjugate`` ℓ*(a) = sup_r (a·r − ℓ(r)) for every
slope a that the loss can have, and ``in_units(s)``: the loss ℓ′ with ℓ(r) = s²·ℓ′(r/s) (of the tube: s·ℓ′(r/s)), so
that targets can be brought to a size of one.

Examples
--------
>>> from mercer.losses import Huber
>>> Huber(delta=1.0).value([0.5, 3.0])
array([0.125, 2.5  ])
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import number

__all__ = ["EpsilonInsensitive", "Huber", "ResidualLoss", "SquaredError", "as_residual_loss"]


class ResidualLoss:
    """A convex loss of the residual."""

    smooth = True
    #: c, where the conjugate is ℓ*(a) = c/2·a² up to the largest slope, so that the dual is a quadratic program.
    dual_curvature: float | None = None

    @property
    def steepest(self) -> float:
        """The largest slope."""
        return np.inf

    def value(self, r: Any) -> Array:
        raise NotImplementedError

    def slope(self, r: Any) -> Array:
        raise NotImplementedError

    def curvature(self, r: Any) -> Array:
        raise NotImplementedError

    def conjugate(self, a: Any) -> Array:
        """sup_r (a·r − ℓ(r)), for slopes a that the loss can have."""
        raise NotImplementedError

    def in_units(self, s: float) -> ResidualLoss:
        """The same loss for residuals measured in units of s."""
        raise NotImplementedError


@dataclass(frozen=True)
class SquaredError(ResidualLoss):
    """½·r².

    Examples
    --------
    >>> SquaredError().value([2.0])
    array([2.])
    """

    dual_curvature = 1.0

    def value(self, r):
        return 0.5 * np.square(r)

    def slope(self, r):
        return np.asarray(r, dtype=np.float64)

    def curvature(self, r):
        return np.ones_like(r, dtype=np.float64)

    def conjugate(self, a):
        return 0.5 * np.square(a)

    def in_units(self, s):
        return self


@dataclass(frozen=True)
class Huber(ResidualLoss):
    """½·r² up to |r| = delta, then a straight line: outliers pull no harder than ``delta``.

    Examples
    --------
    >>> Huber(delta=0.5).slope([0.1, -9.0])
    array([ 0.1, -0.5])
    """

    delta: float = 1.0
    dual_curvature = 1.0

    @property
    def steepest(self):
        return self.delta

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


@dataclass(frozen=True)
class EpsilonInsensitive(ResidualLoss):
    """max(0, |r| − epsilon): a tube in which errors cost nothing.

    Examples
    --------
    >>> EpsilonInsensitive(epsilon=0.1).value([0.05, 0.6])
    array([0. , 0.5])
    """

    epsilon: float = 0.1
    smooth = False

    @property
    def steepest(self):
        return 1.0

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


def _in_range(size: float) -> float:
    """A positive size in other units; beyond these bounds no residual is, and overflow must not make it infinite."""
    return min(max(size, 1e-299), 1e299)


_LOSSES = {"squared": SquaredError, "huber": Huber, "epsilon_insensitive": EpsilonInsensitive}


def as_residual_loss(loss: str | ResidualLoss) -> ResidualLoss:
    """The loss of that name with its usual parameter; a loss itself is returned as it is.

    Examples
    --------
    >>> as_residual_loss("huber")
    Huber(delta=1.0)
    """
    if isinstance(loss, ResidualLoss):
        return loss
    if isinstance(loss, str) and loss in _LOSSES:
        return _LOSSES[loss]()
    raise ValueError(f"loss={loss!r} is not known; use one of {', '.join(_LOSSES)}, or a mercer.losses.ResidualLoss.")
