"""What is to be solved.

Every learner minimises, exactly or step by step,

    P(w) = λ/2·‖w‖² + (1/Σs) Σᵢ sᵢ·gᵢ( ⟨w, φ(xᵢ)⟩ + b ),     w = Σⱼ zⱼ φ(xⱼ),     ‖w‖² = zᵀKz,

where gᵢ is what the score of item i costs given its target (:mod:`mercer.losses`), with weights sᵢ ≥ 0. The soft
margin's C is 1/(λ·Σs). The intercept b is none, penalised (the weight of a constant feature 1: ‖w‖² includes b² and K
a constant 1) or free. λ = 0 with the hinge asks for the hard margin: the least ½‖w‖² for which no item costs anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..grams.base import Gram
from ..losses.base import Loss
from .box_dual import BoxDual
from .solution import Iterate

__all__ = ["Intercept", "Problem"]

#: What follows from targets, loss, λ and weights alone.
_OF_THE_TARGETS = ("weights", "shares", "box_dual")
#: Numbers that differ by less than this part of their size differ by rounding.
_ROUNDING = 1e-14


class Intercept(Enum):
    """Whether a model has an intercept, and whether it costs anything."""

    NONE = "none"
    PENALISED = "penalised"
    FREE = "free"


@dataclass(frozen=True)
class Problem:
    """A Gram, targets, a loss, and how much a large w costs.

    Parameters
    ----------
    gram : Gram
    y : array of shape (n,), or (n, classes) for a softmax
        Labels ±1, or numbers.
    loss : Loss
    lam : float
        λ, the weight of ½‖w‖².
    weight : array, optional
        sᵢ, one for each item; 1 by default.
    intercept : Intercept or {"none", "penalised", "free"}

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> problem = Problem(Features(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), lam=1.0)
    >>> problem.objective(0.0, np.zeros(2))
    1.0
    """

    gram: Gram
    y: Array
    loss: Loss
    lam: float = 0.0
    weight: Array | None = None
    intercept: Intercept | str = Intercept.NONE

    def __post_init__(self) -> None:
        object.__setattr__(self, "intercept", Intercept(self.intercept))
        object.__setattr__(self, "y", np.asarray(self.y, dtype=np.float64))
        if not 0 <= self.lam < np.inf:
            raise ValueError(f"λ must be a number of at least 0, got {self.lam}.")
        if self.weight is not None:
            object.__setattr__(self, "weight", np.asarray(self.weight, dtype=np.float64))
            if not ((self.weight >= 0).all() and 0 < self.weight.sum() < np.inf):
                raise ValueError("weights must be numbers of at least 0, and not all of them 0.")
        if len(self.y) != len(self.gram):
            raise ValueError(f"a problem has a target for each item; got {len(self.y)} for {len(self.gram)} items.")
        if (np.ndim(self.y) == 2) != self.loss.several_scores:
            raise ValueError(f"{self.loss} does not go with targets of shape {np.shape(self.y)}.")
        self.loss.check_targets(self.y)

    def on(self, gram: Gram) -> Problem:
        """The same problem with another Gram of the same items; what is known of its dual is known already."""
        other = replace(self, gram=gram)
        vars(other).update({name: value for name, value in vars(self).items() if name in _OF_THE_TARGETS})
        return other

    def of_items(self, index: Array) -> Problem:
        """The same problem of these items alone."""
        weight = None if self.weight is None else self.weight[index]
        return replace(self, gram=self.gram.take(index), y=self.y[index], weight=weight)

    @property
    def has_intercept(self) -> bool:
        return self.intercept is not Intercept.NONE

    @property
    def is_free(self) -> bool:
        """Whether the intercept costs nothing, so that the dual asks for Σz = 0."""
        return self.intercept is Intercept.FREE

    # -- the primal -----------------------------------------------------------------------------------------------

    def objective(self, square: float, scores: Array, b: Any = 0.0) -> float:
        """λ/2·‖w‖² + (1/n) Σ s·g, from ‖w‖² without the intercept, the scores with it, and the intercept."""
        if self.intercept is Intercept.PENALISED:
            square = square + float(np.vdot(b, b))
        return 0.5 * self.lam * square + self.mean_cost(scores)

    def mean_cost(self, scores: Array) -> float:
        """(1/n) Σ s·g."""
        return float(np.mean(self.weights * self.loss.costs(self.y, scores)))

    def slopes(self, scores: Array) -> Array:
        """The derivatives of (1/n) Σ s·g by the scores."""
        return self.shares * self.loss.slopes(self.y, scores)

    def curvatures(self, scores: Array) -> Array:
        """The second derivatives, for :meth:`Loss.hessian_product` and :meth:`Loss.hessian_diagonal`."""
        return self.shares * self.loss.curvatures(self.y, scores)

    @cached_property
    def weights(self) -> Array:
        """sᵢ, scaled to a mean of 1."""
        if self.weight is None:
            return np.ones(len(self.gram))
        return self.weight * (len(self.gram) / self.weight.sum())

    @cached_property
    def shares(self) -> Array:
        """sᵢ/n: what the cost of each item counts."""
        shares = self.weights / len(self.gram)
        return shares[:, None] if self.loss.several_scores else shares

    # -- the dual -------------------------------------------------------------------------------------------------

    @cached_property
    def box_dual(self) -> BoxDual | None:
        """The dual as a quadratic program with bounds, where it is one."""
        loss = self.loss
        if loss.dual_curvature is None or loss.several_scores or self.lam < 0:
            return None
        if self.lam == 0 and (loss.smooth or loss.dual_curvature > 0):
            return None
        box = np.full(len(self.gram), np.inf) if self.lam == 0 else self.weights / (self.lam * len(self.gram))
        box = np.where(self.weights > 0, box, 0.0)
        least, largest = loss.slope_range(self.y)
        bounds = _times(box, -largest), _times(box, -least)
        return BoxDual.of(self.y, *bounds, loss.dual_curvature, box, loss.half_width, self.is_free)

    def levels(self, b: Any, width: float) -> Array:
        """What the scores of each group of the dual's variables are measured from."""
        return np.array([b])

    def of_levels(self, levels: Array) -> dict[str, Any]:
        """The intercept, and the width where it is found along with the model, as fields of an ``Iterate``."""
        return {"b": float(levels[0])}

    def dual_point(self, iterate: Iterate, scores: Array, own: bool = False) -> tuple[Array, float]:
        """Coefficients that the dual allows, near those of a model, and the mean of s·g*(u) there, zᵢ = −sᵢuᵢ/(λn).

        At the solution u = g′; taking it so from any model gives an allowed point. Its ``own`` coefficients, moved
        into their bounds, are another one, and the only one for a loss with a kink. A free intercept asks for Σz = 0.
        ``scores`` are those of the model, intercept included.
        """
        shares, loss, z = self.shares, self.loss, iterate.z
        if own:
            found = np.divide(-self.lam * z, shares, out=np.zeros(z.shape), where=shares > 0)
            u = np.clip(found, *loss.slope_range(self.y))
        else:
            u = loss.slopes(self.y, scores)
        u = loss.balanced(self.y, u, self.weights) if self.is_free else u
        conjugate = float(np.mean(self.weights * loss.conjugates(self.y, u)))
        if own and (np.abs(u - found) <= _ROUNDING * np.abs(found)).all():
            return z, conjugate
        return -shares * u / self.lam, conjugate


def _times(box: Array, slope: Array) -> Array:
    """Bounds for boxes; an item without weight has none but zero."""
    return np.multiply(box, slope, out=np.zeros(box.shape), where=(box != 0) & (slope != 0))
