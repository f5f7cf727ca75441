"""What is to be solved.

Every learner minimises, exactly or step by step,

    P(w) = λ/2·‖w‖² + (1/Σs) Σᵢ sᵢ·gᵢ( ⟨w, φ(xᵢ)⟩ + b ),     w = Σⱼ zⱼ φ(xⱼ),     ‖w‖² = zᵀKz,

where gᵢ is what the score of item i costs given its target (:mod:`mercer.losses`), with weights sᵢ ≥ 0. The soft
margin's C is 1/(λ·Σs). The intercept b is none, penalised (the weight of a constant feature 1: ‖w‖² includes b² and K
a constant 1) or free. λ = 0 with the hinge asks for the hard margin: the least ½‖w‖² for which no item costs anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..grams.base import Gram
from ..losses import EpsilonInsensitive, Hinge, Shortfall
from ..losses.margins import Loss
from ..runtime.compile import Array
from .dual import BoxDual

__all__ = ["Certificate", "Intercept", "Iterate", "NuProblem", "Problem", "Solution", "Status", "keeps"]

# What a solver gives back: a model, how it ended, and how good it is.


class Status(Enum):
    """How a solver ended."""

    CONVERGED = "converged"
    NOT_CONVERGED = "not converged"
    NOT_SEPARABLE = "not separable"
    #: No hard margin was found, and no proof that there is none.
    NOT_FOUND = "not found"
    INTERRUPTED = "interrupted"

    @classmethod
    def worst(cls, statuses: Iterable[Status]) -> Status:
        """Of several, the one that comes last above; "converged" of none."""
        order = list(cls)
        return max(statuses, key=order.index, default=cls.CONVERGED)

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Iterate:
    """A model w = Σ z·φ(x) with intercept b after some steps of a solver: an end, a stage on the way, or a start.

    Several models at once are columns.
    """

    z: Array
    b: Any = 0.0
    n_iter: int = 0
    #: w itself, where it is known as a vector of weights; it then counts, and z only as far as it agrees.
    w: Array | None = None
    #: The score Σ z·k(xⱼ, xᵢ) of every item, intercept left out, where it is known.
    scores: Array | None = None
    #: The margin, or the half width of the tube, where it is found along with the model.
    width: float = field(default=0.0, kw_only=True)

    @property
    def nothing(self) -> bool:
        """Whether all of the model is zero."""
        return not (np.any(self.z) or np.any(self.b) or (self.w is not None and np.any(self.w)))

    def columns(self) -> list[Iterate]:
        """The models one by one."""
        if self.z.ndim == 1:
            return [self]
        several = range(self.z.shape[1])
        return [
            Iterate(self.z[:, c], self.b[c], self.n_iter, None if self.w is None else self.w[:, c]) for c in several
        ]

    def scaled(self, factor: float) -> Iterate:
        """The model with all coefficients ``factor`` times as large."""
        w = None if self.w is None else factor * self.w
        scores = None if self.scores is None else factor * self.scores
        return replace(self, z=factor * self.z, w=w, scores=scores, width=factor * self.width)


@dataclass(frozen=True)
class Solution(Iterate):
    """The last iterate of a solver, and how it ended. Solvers that have more to tell derive a class of their own."""

    status: Status = Status.NOT_CONVERGED
    #: One number a step: the objective, or the mistakes made.
    trace: Array = field(default_factory=lambda: np.empty(0))


class Certificate(NamedTuple):
    """How good a model is.

    ``objective`` is λ/2·‖w‖² + the mean loss (½‖w‖² of a hard margin), ``gap`` how far at most it lies above the least
    possible one, and ``violation`` the worst violation of an optimality condition, in the units of the targets; it is
    known for losses made of straight lines (hinge, tube) and ``None`` for others.
    """

    objective: float
    gap: float
    violation: float | None = None

    def _repr_html_(self) -> str:
        from ..presentation import table_html

        rows = [("objective", f"{self.objective:.9g}"), ("duality gap", f"{self.gap:.3g}")]
        if self.violation is not None:
            rows.append(("worst violation", f"{self.violation:.3g}"))
        return table_html("Certificate", rows)


def keeps(certificate: Certificate, tol: float, hard: bool = False) -> bool:
    """Whether a model is what the tolerance of a dual with bounds promises.

    No optimality condition is violated by more. As no slope of such a loss is larger than one, and weights sum to one,
    a gap of more than the tolerance at both walls of a tube is then nothing but rounding, which a promise excludes. The
    gap of a hard margin is one for machines that violate nothing.

    Examples
    --------
    >>> from mercer.problems import Certificate, keeps
    >>> keeps(Certificate(0.125, 0.0, 1e-3), 1e-3), keeps(Certificate(0.125, 0.0, 1.1e-3), 1e-3)
    (True, False)
    """
    if certificate.violation is None:
        raise ValueError("a tolerance for violations is one of losses that are made of straight lines.")
    return certificate.violation <= tol and (hard or certificate.gap <= 2 * tol)


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


# Problems that find a width along with the model, so that a given share of the items pays.
#
# How wide a margin or a tube should be is hard to say in advance; how many items may lie on the wrong side of it is
# easier. With a price ν for the width (Schölkopf and others, 2000) the problems are
#
#     margin ρ of labels ±1      λ/2·‖w‖² − ν·ρ + mean s·max(0, ρ − y·f(x))         with a free intercept
#     tube of half width ε       λ/2·‖w‖² + ν·ε + mean s·max(0, |y − f(x)| − ε)     with a free intercept
#     distance ρ from below      λ/2·‖w‖² − ν·ρ + mean s·max(0, y + ρ − f(x))       without one
#
# and at the minimum at most a share ν of the weight pays, and at least a share ν has a coefficient.
#
# In the dual the width is the multiplier of one more equation, Σ|z| = ν/λ. With the free intercept's Σz = 0 it says
# that the positive coefficients sum to ν/(2λ), and the negative ones to −ν/(2λ): two groups of variables
# (:mod:`.box_dual`), whose levels are b ∓ ρ, or b ± ε.


#: A share that is larger than what there is by rounding alone is not larger.
_SHARE_ROUNDING = 1e-12


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
        if not 0 < self.nu <= largest * (1 + _SHARE_ROUNDING):
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
