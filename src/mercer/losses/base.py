"""What all losses share: the cost of a score, given the target of its item.

A problem sums gᵢ(fᵢ), what the score f of item i costs given its target y. A loss of the margin is g(f) = ℓ(y·f), one
of the residual g(f) = ℓ(y − f); a softmax has a score for every class. Solvers and certificates ask for g, its
derivatives by f and its conjugate g*(u) = sup_f (u·f − g(f)) alone, and so work for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from .._runtime.compile import Array, Scalar

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
