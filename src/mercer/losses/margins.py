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

from abc import ABC, abstractmethod
from math import exp, inf, log, log1p
from typing import Any, ClassVar

import numpy as np
from scipy import special

from ..runtime.compile import Array, Scalar

__all__ = ["Hinge", "Logistic", "MarginLoss", "PerceptronLoss", "SmoothHinge", "SquaredHinge"]

# What all losses share: the cost of a score, given the target of its item.
#
# A problem sums gᵢ(fᵢ), what the score f of item i costs given its target y. A loss of the margin is g(f) = ℓ(y·f), one
# of the residual g(f) = ℓ(y − f); a softmax has a score for every class. Solvers and certificates ask for g, its
# derivatives by f and its conjugate g*(u) = sup_f (u·f − g(f)) alone, and so work for all of them.


#: A sum is zero that is smaller than this part of its terms.
_ROUNDING = 1e-14

#: Every loss that has a name, by it.
KNOWN: dict[str, type[Loss]] = {}


class Loss(ABC):
    """The cost of a score. Methods take targets and scores of several items as arrays."""

    #: The name in texts and parameters.
    name: ClassVar[str]
    #: What it is good for, in half a line: ``mercer help losses``.
    good_for: ClassVar[str] = ""
    #: Whether the slope is continuous, as Newton's method needs it.
    smooth: ClassVar[bool] = True
    #: c, where the conjugate is a parabola of curvature c, or made of straight lines (c = 0), between the slopes that
    #: the loss can have: the dual is then a quadratic program. ``None`` where it is neither.
    dual_curvature: ClassVar[float | None] = None
    #: Half the width of the flat bottom around the target: the ε of a tube.
    half_width: float = 0.0
    #: Whether every item has a score for each class, as columns.
    several_scores: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Enter a class that has a name under it; names of the library's own losses keep their meaning."""
        super().__init_subclass__(**options)
        own = KNOWN.get(cls.__dict__.get("name", ""))
        if "name" in cls.__dict__ and (own is None or own.__module__.partition(".")[0] != __name__.partition(".")[0]):
            KNOWN[cls.name] = cls

    def check_targets(self, y: Array) -> None:
        """Raise where targets are none for this loss."""
        if not np.isfinite(y).all():
            raise ValueError(f"the targets of {self} must be finite numbers.")

    @abstractmethod
    def costs(self, y: Array, f: Array) -> Array:
        """g(f) of each item."""

    @abstractmethod
    def slopes(self, y: Array, f: Array) -> Array:
        """g′(f) of each item; at a kink, the subgradient that the textbook algorithms choose."""

    @abstractmethod
    def curvatures(self, y: Array, f: Array) -> Array:
        """What :meth:`hessian_product` makes the second derivative of: g″(f) of each item, zero at a kink."""

    def argument(self, y: Array) -> tuple[Array, Array]:
        """a and s with g(f) = ℓ(a + s·f): what compiled loops give to :attr:`slope_pointer`."""
        raise NotImplementedError(f"{self} is no function of one number.")

    @property
    def slope_pointer(self) -> Any | None:
        """ℓ′ as compiled loops call it, where it is compiled."""
        slope = getattr(type(self), "slope", None)
        return slope.pointer if isinstance(slope, Scalar) else None

    def hessian_product(self, h: Array, change: Array) -> Array:
        """The second derivatives, from what :meth:`curvatures` gives, applied to a change of the scores."""
        return h * change

    def hessian_diagonal(self, h: Array) -> Array:
        """The diagonal of the second derivatives, from what :meth:`curvatures` gives."""
        return h

    @abstractmethod
    def slope_range(self, y: Array) -> tuple[Array, Array]:
        """The least and the largest slope that g can have, for each item: where its conjugate is finite."""

    @abstractmethod
    def conjugates(self, y: Array, u: Array) -> Array:
        """g*(u) of each item, for slopes u within :meth:`slope_range`."""

    def balanced(self, y: Array, u: Array, weights: Array) -> Array:
        """Slopes near u, within their range, whose weighted sum is zero, as a free intercept asks for.

        The side with too much gives some up: going towards zero, none leaves its range.
        """
        parts = weights * u
        total, size = float(parts.sum()), float(np.abs(parts).sum())
        if abs(total) <= _ROUNDING * size:
            return u
        side = parts > 0 if total > 0 else parts < 0
        return np.where(side, u * (1 - abs(total) / float(np.abs(parts[side]).sum())), u)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))


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


# Several classes at once: the probabilities of a softmax.
#
# With a score f_c for every class, P(c|x) = e^{f_c} / Σ e^{f_j}, and the loss of an item of class y is
#
#     ℓ(f) = log Σ e^{f_j} − f_y,      ∂ℓ/∂f = p − e_y,      ∂²ℓ/∂f² = diag(p) − p·pᵀ.
#
# For two classes whose scores are f/2 and −f/2 this is the logistic loss of the margin.


#: No chance is smaller.
_LEAST = 1e-300


class Softmax(Loss):
    """The negative log-likelihood of an item's class, of several.

    Targets, scores and coefficients have a column for each class; a target is 1 in the column of the item's class and 0
    elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> Softmax().costs(np.array([[1.0, 0.0]]), np.zeros((1, 2))).round(4)
    array([0.6931])
    """

    several_scores = True

    def costs(self, y: Array, f: Array) -> Array:
        return special.logsumexp(f, axis=1) - np.einsum("ij,ij->i", f, y)

    def slopes(self, y: Array, f: Array) -> Array:
        return special.softmax(f, axis=1) - y

    def curvatures(self, y: Array, f: Array) -> Array:
        """The probabilities p, of which :meth:`hessian_product` makes diag(p) − p·pᵀ."""
        return special.softmax(f, axis=1)

    def hessian_product(self, h: Array, change: Array) -> Array:
        # h = s·p for some weight s, so that s·(p∘c − p·⟨p, c⟩) is h∘(c − the mean change under p).
        mean = (h * change).sum(axis=1, keepdims=True) / np.maximum(h.sum(axis=1, keepdims=True), _LEAST)
        return h * (change - mean)

    def hessian_diagonal(self, h: Array) -> Array:
        return h - h * h / np.maximum(h.sum(axis=1, keepdims=True), _LEAST)

    def slope_range(self, y: Array) -> tuple[Array, Array]:
        return -y, 1.0 - y

    def conjugates(self, y: Array, u: Array) -> Array:
        chances = u + y
        return special.xlogy(chances, chances).sum(axis=1)

    def balanced(self, y: Array, u: Array, weights: Array) -> Array:
        """Every class is expected as often as it occurs.

        Classes that are expected too often give up that part of their probability; the others share it.
        """
        s, chances = weights[:, None], u + y
        expected = (s * chances).sum(axis=0)
        excess = expected - (s * y).sum(axis=0)
        given = chances * np.clip(excess / np.maximum(expected, _LEAST), 0.0, 1.0)
        wanted = np.clip(-excess, 0.0, None)
        wanted /= max(float(wanted.sum()), _LEAST)
        return chances - given + given.sum(axis=1, keepdims=True) * wanted - y
