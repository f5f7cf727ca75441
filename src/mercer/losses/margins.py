"""Losses ℓ(m) of the margin m = y·f(x), for labels y = ±1.

Each loss is one class with

- ``value``      ℓ(m),
- ``slope``      ℓ′(m), or the subgradient that the textbook algorithms choose at a kink,
- ``curvature``  ℓ″(m), zero at a kink,
- ``conjugate``  ℓ*(s) = sup_m (s·m − ℓ(m)), infinite outside ``domain``.

All are convex and non-increasing in the region of mistakes, all accept scalars and arrays, and none overflows however
large the margin: ℓ is written so that ``exp`` only ever sees a negative number.

Examples
--------
>>> from mercer.losses import Hinge, SmoothHinge
>>> Hinge().value([-1.0, 0.0, 1.0, 2.0])
array([2., 1., 0., 0.])
>>> round(SmoothHinge().value(0.0), 4)
1.3133
"""

from __future__ import annotations

from math import exp, inf, log, log1p
from typing import ClassVar

import numpy as np

from .._runtime.compile import Array, Scalar
from .base import Loss

__all__ = ["Hinge", "Logistic", "MarginLoss", "PerceptronLoss", "SmoothHinge", "SquaredHinge"]


class MarginLoss(Loss):
    """A convex loss of the margin: its ``name``, the functions below, its ``domain``, and whether it is ``smooth``."""

    value: ClassVar[Scalar]
    slope: ClassVar[Scalar]
    curvature: ClassVar[Scalar]
    conjugate: ClassVar[Scalar]
    #: Where the conjugate is finite: the slopes that the loss can have.
    domain: ClassVar[tuple[float, float]]

    def check_targets(self, y: Array) -> None:
        if not (np.abs(y) == 1.0).all():
            raise ValueError(f"the targets of {self} must be labels −1 and 1.")

    def costs(self, y: Array, f: Array) -> Array:
        return self.value(y * f)

    def slopes(self, y: Array, f: Array) -> Array:
        return y * self.slope(y * f)

    def curvatures(self, y: Array, f: Array) -> Array:
        return self.curvature(y * f)  # y² = 1

    def argument(self, y: Array) -> tuple[Array, Array]:
        return np.zeros(np.shape(y)), np.asarray(y, dtype=np.float64)

    def slope_range(self, y: Array) -> tuple[Array, Array]:
        low, high = self.domain
        return np.where(y > 0, low, -high), np.where(y > 0, high, -low)

    def conjugates(self, y: Array, u: Array) -> Array:
        # sup_f u·f − ℓ(y·f) = sup_m (u·y)·m − ℓ(m)
        return self.conjugate(y * u)


class PerceptronLoss(MarginLoss):
    """max(0, −m): how far on the wrong side. Its slope is −1 at m = 0, as a mistake is y·f ≤ 0.

    Examples
    --------
    >>> PerceptronLoss().slope([-1.0, 0.0, 1.0])
    array([-1., -1.,  0.])
    """

    good_for = "the Perceptron: any step that is right will do"
    name = "perceptron"
    domain = (-1.0, 0.0)
    smooth = False

    @Scalar
    def value(m):
        return -m if m < 0.0 else 0.0

    @Scalar
    def slope(m):
        return -1.0 if m <= 0.0 else 0.0

    @Scalar
    def curvature(m):
        return 0.0

    @Scalar
    def conjugate(s):
        return 0.0 if -1.0 <= s <= 0.0 else inf


class Hinge(MarginLoss):
    """max(0, 1 − m), the loss of the soft margin. Its slope is 0 at m = 1, as Pegasos steps only if y·f < 1.

    Examples
    --------
    >>> Hinge().slope([0.0, 1.0])
    array([-1.,  0.])
    """

    good_for = "the SVM: few rows support the model"
    name = "hinge"
    domain = (-1.0, 0.0)
    smooth = False
    dual_curvature = 0.0

    @Scalar
    def value(m):
        return 1.0 - m if m < 1.0 else 0.0

    @Scalar
    def slope(m):
        return -1.0 if m < 1.0 else 0.0

    @Scalar
    def curvature(m):
        return 0.0

    @Scalar
    def conjugate(s):
        # sup_m sm − (1 − m)₊ is reached at the kink m = 1 for every slope between −1 and 0.
        return s if -1.0 <= s <= 0.0 else inf


class SquaredHinge(MarginLoss):
    """½·max(0, 1 − m)²: the hinge, made differentiable by squaring.

    Examples
    --------
    >>> SquaredHinge().value(-1.0)
    2.0
    """

    good_for = "an SVM that Newton's method solves"
    name = "squared_hinge"
    domain = (-inf, 0.0)
    smooth = True
    dual_curvature = 1.0

    @Scalar
    def value(m):
        return 0.5 * (1.0 - m) * (1.0 - m) if m < 1.0 else 0.0

    @Scalar
    def slope(m):
        return m - 1.0 if m < 1.0 else 0.0

    @Scalar
    def curvature(m):
        return 1.0 if m < 1.0 else 0.0

    @Scalar
    def conjugate(s):
        return s + 0.5 * s * s if s <= 0.0 else inf


class Logistic(MarginLoss):
    """log(1 + e^(−m)), the negative log-likelihood of a label when P(y|x) = 1/(1 + e^(−y·f)).

    Examples
    --------
    >>> Logistic().value(-1e4)
    10000.0
    """

    good_for = "probabilities"
    name = "logistic"
    domain = (-1.0, 0.0)
    smooth = True

    @Scalar
    def value(m):
        return log1p(exp(-m)) if m > 0.0 else log1p(exp(m)) - m

    @Scalar
    def slope(m):
        if m > 0.0:
            e = exp(-m)
            return -e / (1.0 + e)
        return -1.0 / (1.0 + exp(m))

    @Scalar
    def curvature(m):
        e = exp(-abs(m))
        return e / ((1.0 + e) * (1.0 + e))

    @Scalar
    def conjugate(s):
        # −s is the probability given to the wrong label; the conjugate is minus its entropy.
        if s < -1.0 or s > 0.0:
            return inf
        p = -s
        return (p * log(p) if p > 0.0 else 0.0) + ((1.0 - p) * log1p(-p) if p < 1.0 else 0.0)


class SmoothHinge(MarginLoss):
    """log(1 + e^(1−m)): the logistic loss moved to the hinge's corner.

    Examples
    --------
    >>> SmoothHinge().value([0.0, 1.0, 2.0]).round(4)
    array([1.3133, 0.6931, 0.3133])
    """

    good_for = "the margin of the hinge, without its corner"
    name = "smooth_hinge"
    domain = (-1.0, 0.0)
    smooth = True

    @Scalar
    def value(m):
        m = m - 1.0
        return log1p(exp(-m)) if m > 0.0 else log1p(exp(m)) - m

    @Scalar
    def slope(m):
        m = m - 1.0
        if m > 0.0:
            e = exp(-m)
            return -e / (1.0 + e)
        return -1.0 / (1.0 + exp(m))

    @Scalar
    def curvature(m):
        e = exp(-abs(m - 1.0))
        return e / ((1.0 + e) * (1.0 + e))

    @Scalar
    def conjugate(s):
        # Moving a loss to the right by 1 adds s to its conjugate.
        if s < -1.0 or s > 0.0:
            return inf
        p = -s
        return s + (p * log(p) if p > 0.0 else 0.0) + ((1.0 - p) * log1p(-p) if p < 1.0 else 0.0)
