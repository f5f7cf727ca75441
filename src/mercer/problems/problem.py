"""What is to be solved, and what a solver gives back.

Every learner minimises, exactly or step by step,

    P(w) = λ/2·‖w‖² + (1/Σs) Σᵢ sᵢ·ℓ( yᵢ·(⟨w, φ(xᵢ)⟩ + b) ),     w = Σⱼ zⱼ φ(xⱼ),     ‖w‖² = zᵀKz,

with labels yᵢ = ±1 and weights sᵢ ≥ 0. The soft margin's C is 1/(λ·Σs). Where the intercept b is the weight of a
constant feature 1 it is part of w: ‖w‖² includes b² and K includes a constant 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

from .._runtime.compile import Array
from ..grams.base import Gram
from ..losses.margins import Loss

__all__ = ["Certificate", "Path", "Problem", "Solution", "Stage", "Status", "certify"]


@dataclass(frozen=True)
class Problem:
    """A Gram, labels ±1, a loss, and how much a large w costs.

    Parameters
    ----------
    gram : Gram
    y : array of ±1
    loss : Loss
    lam : float
        λ, the weight of ½‖w‖².
    weight : array, optional
        sᵢ, one for each item; 1 by default.
    intercept : bool
        Whether the model has an intercept.
    """

    gram: Gram
    y: Array
    loss: Loss
    lam: float = 0.0
    weight: Array | None = None
    intercept: bool = False
    #: Whether the intercept is free, or the weight of a constant feature and part of ‖w‖.
    free: bool = False

    def targets(self) -> Array:
        """What the score of an item in the middle of its tube or on its margin is: the label."""
        return np.asarray(self.y, dtype=np.float64)

    def objective(self, square: float, scores: Array) -> float:
        """λ/2·‖w‖² + (1/n) Σ s·ℓ, from the squared norm ‖w‖² and the scores, intercept included."""
        return 0.5 * self.lam * square + self.loss_of(scores)

    def loss_of(self, scores: Array) -> float:
        """(1/n) Σ s·ℓ."""
        return float(np.mean(self.weights() * self.loss.value(self.y * scores)))

    def derivatives(self, scores: Array) -> tuple[Array, Array]:
        """First and second derivatives of (1/n) Σ s·ℓ by the scores."""
        margins, share = self.y * scores, self.share()
        return share * self.y * self.loss.slope(margins), share * self.loss.curvature(margins)

    def bend(self, h: Array, change: Array) -> Array:
        """The second derivative, as :meth:`derivatives` gives it, applied to a change of the scores."""
        return h * change

    def diagonal(self, h: Array) -> Array:
        """The diagonal of the second derivative."""
        return h

    def bounds(self) -> tuple[Array, Array]:
        """The bounds of each coefficient in the dual of the hinge: 0 and y·s/(λ·Σs) = y·C·s."""
        box = np.full(len(self.gram), np.inf) if self.lam == 0 else self.weights() / (self.lam * len(self.gram))
        return np.where(self.y > 0, 0.0, -box), np.where(self.y > 0, box, 0.0)

    def quadratic_dual(self) -> tuple[Array, Array, Array] | None:
        """Bounds of the coefficients and what is added to the diagonal of K, where the dual is a quadratic program.

        With zᵢ = sᵢαᵢyᵢ/(λn) and ℓ*(−α) = −α + c/2·α², the dual is  yᵀz − ½·zᵀKz − ½·Σ (c·λn/sᵢ)·zᵢ²  times λ.
        """
        if self.loss.dual_curvature is None or self.lam <= 0:
            return None
        box = self.weights() / (self.lam * len(self.gram))
        largest, least = -self.loss.domain[0], -self.loss.domain[1]
        ends = np.stack([_times(self.y * box, least), _times(self.y * box, largest)])
        ridge = self.loss.dual_curvature / np.where(box > 0, box, 1.0)
        return ends.min(axis=0), ends.max(axis=0), ridge

    def weights(self) -> Array:
        """sᵢ, scaled to a mean of 1."""
        if self.weight is None:
            return np.ones(len(self.gram))
        return self.weight * (len(self.gram) / self.weight.sum())

    def share(self) -> Array:
        """sᵢ/n: what the loss of each item counts."""
        return self.weights() / len(self.gram)

    def dual_point(self, z: Array, scores: Array, own: bool = False) -> tuple[Array, float]:
        """Coefficients sᵢαᵢyᵢ/(λn) that the dual allows, near those of a model, and the mean of s·ℓ*(−α) there.

        At the solution α = −ℓ′; taking it so from any model gives an allowed point. Its ``own`` coefficients, moved
        into their bounds, are another one, and the only one for a loss with a kink.
        """
        n, s, lam, conjugate = len(self.gram), self.weights(), self.lam, self.loss.conjugate
        assert conjugate is not None
        low, high = self.loss.domain
        if self.loss.smooth and not own:
            alpha = -self.loss.slope(self.y * scores)
        else:
            alpha = np.clip(np.divide(lam * n * self.y * z, s, out=np.zeros(n), where=s > 0), -high, -low)
        allowed = self.without_excess(s * alpha * self.y / (lam * n))
        alpha = np.clip(np.divide(lam * n * self.y * allowed, s, out=np.zeros(n), where=s > 0), -high, -low)
        return allowed, float(np.mean(s * conjugate(-alpha)))

    def without_excess(self, allowed: Array) -> Array:
        """Coefficients that sum to zero where a free intercept asks for it: the side with too much gives some up.

        Going towards zero, none leaves its bounds.
        """
        if not (self.free and self.intercept):
            return allowed
        for _ in range(2):  # once, and what rounding has left
            total = float(allowed.sum())
            side = allowed > 0 if total > 0 else allowed < 0
            weight = float(np.abs(allowed[side]).sum())
            if total == 0 or weight == 0:
                break
            allowed = np.where(side, allowed * (1 - min(1.0, abs(total) / weight)), allowed)
        return allowed


def _times(box: Array, bound: float) -> Array:
    """Bounds for boxes; an item without weight has none but zero."""
    return np.multiply(box, bound, out=np.zeros(box.shape), where=box != 0)


@dataclass(frozen=True)
class Regression(Problem):
    """As :class:`Problem`, for real targets y and a loss of the residual y − f."""

    loss: Any = None

    def loss_of(self, scores: Array) -> float:
        return float(np.mean(self.weights() * self.loss.value(self.y - scores)))

    def derivatives(self, scores: Array) -> tuple[Array, Array]:
        residual, share = self.y - scores, self.share()
        return -share * self.loss.slope(residual), share * self.loss.curvature(residual)

    def quadratic_dual(self) -> tuple[Array, Array, Array] | None:
        if self.loss.dual_curvature is None or self.lam <= 0:
            return None
        box = self.weights() / (self.lam * len(self.gram))
        ends = _times(box, self.loss.steepest)
        return -ends, ends, self.loss.dual_curvature / np.where(box > 0, box, 1.0)

    def dual_point(self, z: Array, scores: Array, own: bool = False) -> tuple[Array, float]:
        """Coefficients sᵢaᵢ/(λn), with a = ℓ′(y − f) made to sum to zero, and the mean of s·(ℓ*(a) − a·y) there."""
        n, s = len(self.gram), self.weights()
        bound = _times(s / (self.lam * n), self.loss.steepest)
        near = np.clip(z, -bound, bound) if own else s * self.loss.slope(self.y - scores) / (self.lam * n)
        allowed = self.without_excess(near)
        a = np.divide(self.lam * n * allowed, s, out=np.zeros(n), where=s > 0)
        return allowed, float(np.mean(s * (self.loss.conjugate(a) - a * self.y)))


@dataclass(frozen=True)
class Tube(Problem):
    """The ε-insensitive tube as a soft margin: every item twice, once for each wall.

    The dual of the tube is  ½·zᵀKz − yᵀz + ε·Σ|z|,  −C ≤ z ≤ C,  Σz = 0.  Writing z as the sum of a part that is never
    negative and one that never is positive, the first has the target y − ε and the bounds [0, C], the second y + ε and
    [−C, 0]: the dual of a soft margin with those targets. ``gram`` holds all items, then all items again.
    """

    epsilon: float = 0.0

    def targets(self) -> Array:
        return np.concatenate([self.y - self.epsilon, self.y + self.epsilon])

    def bounds(self) -> tuple[Array, Array]:
        n = self.y.size
        weight = np.ones(n) if self.weight is None else self.weight * (n / self.weight.sum())
        box = weight / (self.lam * n)
        none = np.zeros(n)
        return np.concatenate([none, -box]), np.concatenate([box, none])


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


class Stage(NamedTuple):
    """The model after some of the steps: w = Σ z·φ(x), intercept b. Several models at once are columns."""

    n_iter: int
    z: Array
    b: Any
    #: w itself, where the solver worked with it rather than with z.
    w: Array | None = None

    def columns(self) -> list[Stage]:
        """The models one by one."""
        if self.z.ndim == 1:
            return [self]
        several = range(self.z.shape[1])
        return [Stage(self.n_iter, self.z[:, c], self.b[c], None if self.w is None else self.w[:, c]) for c in several]


class Path(NamedTuple):
    """Every update of a mistake-driven learner: which item, how much of it, and the step at which it came."""

    item: Array
    coefficient: Array
    step: Array
    steps: int


@dataclass(frozen=True)
class Solution:
    """w = Σ z·φ(x) and b, how the solver ended, and what it saw on the way."""

    z: Array
    b: Any
    status: Status
    n_iter: int
    #: What was recorded along the way, such as the mistakes in each epoch.
    trace: Array = field(default_factory=lambda: np.empty(0))
    #: How many different items the solver looked at.
    seen: int = 0
    stages: tuple[Stage, ...] = ()
    path: Path | None = None
    #: The score Σ z·k(xⱼ, xᵢ) of every item, where the solver knows it.
    scores: Array | None = None
    #: The scores of every item of the matrix that the Gram is a part of, where the solver knows them.
    reach: Array | None = None
    #: Whether a memory limit made the solver compute things more than once.
    cramped: bool = False
    #: What a solver needs, besides the rows, to go on where it stopped.
    state: Stage | None = None
    #: w itself, where the solver worked with it rather than with z.
    w: Array | None = None

    @property
    def stage(self) -> Stage:
        """The model at the end."""
        return Stage(self.n_iter, self.z, self.b, self.w)


def checked_items(index: Any, n: int) -> Array:
    """Item numbers as an array, proven to lie between 0 and n − 1: compiled loops do not look again."""
    items = np.asarray(index)
    if items.dtype.kind not in "iu" or (items.size and (items.min() < 0 or items.max() >= n)):
        raise ValueError(f"items must be whole numbers from 0 to {n - 1}.")
    return items.astype(np.int64, copy=False)


class Certificate(NamedTuple):
    """How good a model is: its objective, and how far at most it lies above the least possible one."""

    objective: float
    gap: float


#: A gap of less than this part of the objective need not be looked at twice.
_CLOSE = 1e-9
_EPSILON = 2.3e-16


def certify(problem: Problem, z: Array, b: Any, w: Array | None = None) -> Certificate:
    """The objective of a model and its duality gap, from the model alone: z and b, or w and b where w is known.

    For every α with −αᵢ in the domain of ℓ*, the model w(α) = Σ sᵢαᵢyᵢφ(xᵢ)/(λn) gives a lower bound on the objective
    of all models,

        D(α) = −(1/n) Σ sᵢ·ℓ*(−αᵢ) − λ/2·‖w(α)‖²  ≤  P(w).

    The slopes of a smooth loss at the model's margins are such a point; for a loss with a kink, the coefficients of the
    model itself, moved to the nearest allowed α. P − D then bounds how much can still be gained.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem, certify
    >>> problem = Problem(Features(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), lam=1.0)
    >>> certify(problem, np.array([0.125, -0.125]), 0.0)
    Certificate(objective=0.125, gap=0.0)
    """
    if problem.loss.conjugate is None or problem.lam <= 0:
        raise ValueError(f"a duality gap needs a loss with a conjugate and λ > 0; got {problem.loss}, λ={problem.lam}.")
    here, square = problem.gram.scores_and_square(z, w)
    primal = problem.objective(square + (0.0 if problem.free else np.vdot(b, b)), here + b)
    dual = _dual(problem, *problem.dual_point(z, here + b))
    # Slopes have fewer digits than coefficients; those of a model that is known by its weights are its slopes.
    if w is None and problem.loss.smooth and primal - dual > _CLOSE * abs(primal):
        dual = max(dual, _dual(problem, *problem.dual_point(z, here + b, own=True)))
    if not (np.isfinite(primal) and np.isfinite(dual)):
        raise ValueError(
            "the model or its scores are too large for numbers to hold; scale the columns first, for example with "
            "sklearn.preprocessing.StandardScaler, or use a larger lam."
        )
    return Certificate(float(primal), max(float(primal - dual), _rounding(problem, z, w, here + b)))


def _dual(problem: Problem, allowed: Array, conjugate: float) -> float:
    """D(α), from the coefficients that go with α and the mean of s·ℓ*."""
    bias = allowed.sum(axis=0) if problem.intercept and not problem.free else 0.0
    square = np.vdot(allowed, problem.gram.matvec(allowed)) + np.vdot(bias, bias)
    return float(-conjugate - problem.lam / 2 * square)


def _rounding(problem: Problem, z: Array, w: Array | None, scores: Array) -> float:
    """What rounding may do to an objective.

    A score is a sum of terms zⱼ·k(xⱼ, x), each as large as √(k(x, x)·k(xⱼ, xⱼ)), or ⟨w, φ(x)⟩, as large as ‖w‖·‖φ(x)‖.
    """
    lengths = problem.gram.lengths()
    slopes = np.abs(problem.derivatives(scores)[0]).reshape(lengths.size, -1)
    if w is None:
        sizes = lengths @ np.abs(z).reshape(lengths.size, -1)
    else:
        sizes = np.linalg.norm(w.reshape(w.shape[0], -1), axis=0)
    return float(_EPSILON * np.sum((lengths @ slopes) * sizes))
