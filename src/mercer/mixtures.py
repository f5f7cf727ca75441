"""Weights of a mixture of kernels, learned together with the machines that use it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy import linalg

from .checks.parameters import bytes_of
from .grams import Dense, Gram, Lazy, Placement
from .kernels import Kernel, Mixture
from .kernels.engine.tiles import length
from .problems import Certificate, Iterate, Problem, Solution, Status
from .runtime.compile import Array
from .runtime.interrupts import until
from .runtime.numerics import cholesky_solver, weighted_sum
from .runtime.threads import for_each
from .solvers import Certified, Solver, solve_certified
from .solvers.interior import MatrixCurvature, interior_point

__all__ = [
    "Components",
    "DualPoint",
    "JointProblem",
    "LearnedWeights",
    "Part",
    "alternating_step",
    "curvature",
    "learn_weights",
    "newton_step",
    "normalised",
]

# The matrices of the kernels of a mixture, and their weighted sum.


#: Matrices besides those of the kernels: a sum, and the one before it.
_SUMS = 2


class Components:
    """The kernels of a mixture on some items.

    Their matrices are in memory where all of them fit; else the sum alone is, made anew for other weights; else rows of
    the sum are computed when asked for.

    Parameters
    ----------
    kernel : Mixture
        Resolved on the items.
    items : collection
        As the kernel works on them.
    placement : Placement
        What the machine allows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Placement
    >>> from mercer.kernels import Gaussian, Linear, Mixture
    >>> kernel = Mixture([Linear(), Gaussian(gamma=1.0)], scales=[1.0, 0.5])
    >>> components = Components(kernel, np.array([[1.0], [2.0]]), Placement())
    >>> components.gram(np.array([0.5, 0.25])).rows([0]).round(4)
    array([[1.    , 1.1839]])
    """

    def __init__(self, kernel: Mixture, items: Any, placement: Placement) -> None:
        self.kernel, self.items, self.placement = kernel, items, placement
        kind = self._kind(len(kernel.kernels) + _SUMS)
        self.held = kind is not None
        self.grams: list[Gram] = [
            Lazy(part, form, placement.memory) if kind is None else Dense(_matrix(part, form, kind))
            for part, form in zip(kernel.kernels, kernel.part_items(self._rounded(kind)), strict=True)
        ]

    def _kind(self, matrices: int) -> type[np.floating] | None:
        """The numbers of so many matrices that fit into the memory; float32 only where the machine allows it."""
        kinds = (np.float64, np.float32) if self.placement.single else (np.float64,)
        numbers, room = matrices * length(self.items) ** 2, bytes_of(self.placement.memory)
        return next((kind for kind in kinds if numbers * np.dtype(kind).itemsize <= room), None)

    def _rounded(self, kind: type[np.floating] | None) -> Any:
        """The items, rounded as far as their matrices are."""
        return self.items if kind is np.float64 else self.placement.rounded(self.kernel, self.items)

    def __len__(self) -> int:
        return len(self.grams)

    def gram(self, weights: Array) -> Gram:
        """The Gram of the mixture with these weights."""
        mixed = self.kernel.weighted(weights)
        if self.held:
            matrices = [gram.K for gram in self.grams if isinstance(gram, Dense)]
            used = np.flatnonzero(mixed.factors)
            return Dense(weighted_sum([matrices[m] for m in used], mixed.factors[used].tolist(), like=matrices[0]))
        kind = self._kind(_SUMS)
        if kind is None:
            return Lazy(mixed, self._rounded(kind), self.placement.memory)
        return Dense(_matrix(mixed, self._rounded(kind), kind))

    def products(self, z: Array, rows: Array | None = None) -> Array:
        """Kₘ·z/scaleₘ of every kernel, for coefficients of some items or of all, and the same items."""
        inverse = self.kernel.inverse_scales
        grams = self.grams if rows is None else [gram.take(rows) for gram in self.grams]
        return np.stack([gram.matvec(z) * scale for gram, scale in zip(grams, inverse, strict=True)])

    def exact(self) -> Components:
        """The same kernels with nothing rounded to float32."""
        if isinstance(self.grams[0], Dense) and self.grams[0].K.dtype == np.float64:
            return self
        out = copy(self)
        forms = self.kernel.part_items(self.items)
        pairs = zip(self.kernel.kernels, forms, self.grams, strict=True)
        out.grams = [Placement.exact(kernel, form, gram) for kernel, form, gram in pairs]
        return out


def _matrix(kernel: Kernel, items: Any, kind: type[np.floating]) -> Array:
    return kernel.matrix(items, items, out=np.empty((length(items), length(items)), kind))


# What is minimised where weights are learned: the problems of a machine and the weights of their kernel together.
#
# With a kernel Σ βₘkₘ, w has a part wₘ in the features of each kernel, and ‖w‖² = Σ ‖wₘ‖²/βₘ where the features are
# those of kₘ itself. Learning chooses β as well:
#
#     P = min over β ≥ 0, ‖β‖ₚ ≤ 1, and over w:   λ/2·Σ ‖wₘ‖²/βₘ + (1/n) Σ sᵢ·gᵢ( Σₘ ⟨wₘ, φₘ(xᵢ)⟩ + b ),
#
# which is convex in (w, β) together. For β as it is this is the usual problem with K = Σ βₘKₘ, whose dual is
#
#     max over u:   −(1/n) Σ sᵢ·gᵢ*(uᵢ) − λ/2·Σ βₘ·zᵀKₘz,        zᵢ = −sᵢuᵢ/(λn).
#
# The dual is linear in β, so that the least of it over β, with qₘ = λ·zᵀKₘz, is the dual of the joint problem,
#
#     D(u) = −(1/n) Σ sᵢ·gᵢ*(uᵢ) − ½·‖q‖ₚ*,        1/p + 1/p* = 1,
#
# by Hölder's inequality: p* = ∞, the largest q, for p = 1. Every u that the dual allows gives a bound, D(u) ≤ P.
#
# Several problems that share one β (pairs of classes, a class against the rest) count by the weight of their items:
# with shares π that sum to one, P = Σ π·P of each, q = Σ π·λ·zᵀKₘz.


_EPSILON = 2.3e-16


class Part(NamedTuple):
    """One of the problems that share the weights, and which items it is about; ``None`` for all."""

    problem: Problem
    rows: Array | None = None

    def on(self, gram: Gram) -> Problem:
        """The problem with a Gram of all items."""
        return self.problem.on(gram if self.rows is None else gram.take(self.rows))


@dataclass(frozen=True)
class DualPoint:
    """Coefficients that the dual of every part allows, (1/n) Σ s·g*, and qₘ of every kernel."""

    z: list[Array]
    conjugate: float
    squares: Array


class JointProblem:
    """Problems that share the weights of a mixture.

    Parameters
    ----------
    parts : list of Part
    p : float
        The norm of the weights that is at most one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Squared
    >>> from mercer.problems import Problem
    >>> problem = Problem(Features(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Squared(), lam=1.0)
    >>> JointProblem([Part(problem)], p=2).norm(np.array([3.0, 4.0]))
    5.0
    """

    def __init__(self, parts: Sequence[Part], p: float) -> None:
        self.parts, self.p = list(parts), float(p)
        totals = [len(part.problem.y) if (s := part.problem.weight) is None else float(s.sum()) for part in parts]
        self.shares = np.array(totals) / np.sum(totals)

    def norm(self, squares: Array) -> float:
        """‖q‖ₚ*."""
        return float(np.linalg.norm(squares, np.inf if self.p == 1 else self.p / (self.p - 1)))

    def bound(self, point: DualPoint) -> float:
        """D(u)."""
        return -point.conjugate - 0.5 * self.norm(point.squares)

    def of(self, values: Sequence[float]) -> float:
        """Σ π·value, for a value of each part."""
        return float(self.shares @ np.array(values))

    def point(self, problems: Sequence[Problem], found: Sequence[Iterate]) -> tuple[list[Array], float]:
        """Coefficients near those of a model that the dual allows, and (1/n) Σ s·g* there."""
        pairs = [
            problem.dual_point(model, np.asarray(model.scores) + model.b, own=not problem.loss.smooth)
            for problem, model in zip(problems, found, strict=True)
        ]
        return [z for z, _ in pairs], self.of([conjugate for _, conjugate in pairs])

    def squares(self, coefficients: Sequence[Array], products: Sequence[Array]) -> Array:
        """q = Σ π·λ·zᵀKₘz, from z and Kₘz of each part."""
        terms = [
            share * part.problem.lam * np.tensordot(each, z, axes=z.ndim)
            for share, part, z, each in zip(self.shares, self.parts, coefficients, products, strict=True)
        ]
        return np.sum(terms, axis=0)

    def best_combination(self, points: Sequence[DualPoint]) -> DualPoint:
        """The point Σ μ·point, μ ≥ 0 with a sum of one, whose bound is the best.

        Conjugates and q are convex: those of the sum are at most Σ μ·conjugate and Σ μ·q, by which μ is chosen. Where
        coefficients are not unique, or J has a kink, no single point need have a good bound.
        """
        conjugates, squares = np.array([point.conjugate for point in points]), np.array([p.squares for p in points])
        best = int(np.argmax([self.bound(point) for point in points]))
        mu = np.eye(len(points))[best]
        if len(points) > 1:
            found = self._simplex(conjugates, squares, mu)
            if found is not None and self._of_sum(found, conjugates, squares) > self._of_sum(mu, conjugates, squares):
                mu = found
        z = [np.tensordot(mu, np.stack(parts), axes=1) for parts in zip(*(point.z for point in points), strict=True)]
        return DualPoint(z, float(mu @ conjugates), mu @ squares)

    def _of_sum(self, mu: Array, conjugates: Array, squares: Array) -> float:
        return float(-mu @ conjugates - 0.5 * self.norm(mu @ squares))

    def _simplex(self, conjugates: Array, squares: Array, start: Array) -> Array | None:
        """The best μ: a linear program for p = 1, else something smooth."""
        count, kernels = squares.shape
        unit = 0.5 * self.norm(start @ squares) or 1.0
        if self.p == 1:  # maximise −μᵀc − t with ½·qᵀμ ≤ t
            found = scipy.optimize.linprog(
                np.append(conjugates, 1.0) / unit,
                A_ub=np.column_stack([0.5 * squares.T, -np.ones(kernels)]) / unit,
                b_ub=np.zeros(kernels),
                A_eq=np.append(np.ones(count), 0.0)[None],
                b_eq=[1.0],
            )
        else:
            power = self.p / (self.p - 1)

            def cost(mu: Array) -> tuple[float, Array]:
                q = np.maximum(mu @ squares, 0.0)
                norm = self.norm(q) or 1.0
                slope = conjugates + 0.5 * squares @ (q / norm) ** (power - 1)
                return float(mu @ conjugates + 0.5 * norm) / unit, slope / unit

            whole = {"type": "eq", "fun": lambda mu: mu.sum() - 1, "jac": lambda mu: np.ones(count)}
            found = scipy.optimize.minimize(
                cost, start, jac=True, bounds=[(0.0, 1.0)] * count, constraints=[whole], method="SLSQP"
            )
        if found.x is None or not np.isfinite(found.x).all():
            return None
        mu = np.maximum(found.x[:count], 0.0)
        return mu / mu.sum() if mu.any() else None

    def certificate(
        self,
        gram: Gram,
        components: Components,
        found: Sequence[Iterate],
        certificates: Sequence[Certificate],
        others: Sequence[DualPoint] = (),
    ) -> Certificate:
        """The joint objective of models and its duality gap, in float64.

        ``certificates`` are those of the parts for the weights as they are; ``others`` are points of the dual that may
        give a better bound than the models do.
        """
        exact = components.exact()
        z, conjugate = self.point([part.on(gram) for part in self.parts], found)
        bounds = []
        for point in [DualPoint(z, conjugate, np.empty(0)), *others]:
            products = [exact.products(each, part.rows) for each, part in zip(point.z, self.parts, strict=True)]
            bounds.append(self.bound(DualPoint(point.z, point.conjugate, self.squares(point.z, products))))
        objective = self.of([each.objective for each in certificates])
        known = [each.violation for each in certificates if each.violation is not None]
        return Certificate(objective, max(objective - max(bounds), _EPSILON * objective), max(known, default=None))


# From some weights to better ones.
#
# For fixed weights let J(β) be the least objective of all machines. It is convex, and its derivatives follow from the
# coefficients z that reach it. By each weight J falls as qₘ says,
#
#     ∂J/∂βₘ = −½·qₘ,      qₘ = λ·zᵀKₘz,
#
# as the dual is linear in β and its maximum does not move z at first order. At second order z moves: coefficients at a
# bound stay there, and the others keep to zᵢ = −g′ᵢ/λ (g′ the slope of (1/n)·s·g at the score). With h their
# curvatures,
#
#     (K + diag(λ/h))·dz + db = −Kₘz·dβₘ,      Σ dz = 0 where the intercept is free,
#
# over the items that are free, λ/h = 0 for the hinge and the tube. So with S that matrix, its border eliminated,
#
#     ∂²J/∂βₘ∂βₗ = λ·(Kₘz)ᵀ·S⁻¹·(Kₗz).
#
# Newton's step goes to the least of the parabola with these derivatives within β ≥ 0, ‖β‖ₚ ≤ 1.
#
# A step that never leads upwards, though slowly, needs no curvature: for w as it is, Σ ‖wₘ‖²/βₘ is least for
# βₘ ∝ ‖wₘ‖^(2/(p+1)), with ‖wₘ‖² = βₘ²·qₘ/λ.


#: Of more free items, so many stand for all.
_MOST = 2500
#: Coefficients nearer to a bound than this part of their range are on it.
_AT_BOUND = 1e-7
#: Curvatures below this part of the largest are none.
_FLAT = 1e-10
#: What single precision leaves of a matrix, relative to its diagonal.
_ROUNDING = 1e-7
#: Weights below this are none.
_NEGLIGIBLE = 1e-8


def normalised(weights: Array, p: float) -> Array:
    """Weights with ‖β‖ₚ = 1 that are none where they are next to none.

    Examples
    --------
    >>> import numpy as np
    >>> normalised(np.array([3.0, 4.0, 1e-12]), 2)
    array([0.6, 0.8, 0. ])
    """
    weights = np.maximum(weights, 0.0)
    weights = np.where(weights > _NEGLIGIBLE * weights.max(), weights, 0.0)
    return weights / np.linalg.norm(weights, p)


def alternating_step(weights: Array, squares: Array, p: float) -> Array:
    """The best weights for the model as it is.

    Examples
    --------
    >>> import numpy as np
    >>> alternating_step(np.array([0.5, 0.5]), np.array([9.0, 1.0]), 1)
    array([0.75, 0.25])
    """
    return normalised((weights**2 * squares) ** (1 / (p + 1)), p)


def newton_step(weights: Array, heights: Array, squares: Array, hessian: Array, p: float) -> tuple[Array, float]:
    """The weights where a parabola above lines that J lies above is least, and the height of the parabola there.

    The lines are height − ½·qᵀβ, a row of ``squares`` for each: one, that of the weights as they are, makes Newton's
    step; more of them tell of kinks, which J has where coefficients come to a bound.
    """
    unit = 0.5 * float(np.max(squares @ weights))
    top = float(np.max(heights - 0.5 * squares @ weights))
    least = _least_in_simplex if p == 1 else _least_in_ball
    found = least(weights, (heights - top) / unit, 0.5 * squares / unit, hessian / unit, p)
    if not np.isfinite(found).all() or not found.max() > 0:
        return weights, top
    new = normalised(found, p)
    way = new - weights
    return new, float(np.max(heights - 0.5 * squares @ new) + 0.5 * way @ hessian @ way)


def _least_in_simplex(weights: Array, levels: Array, lines: Array, bend: Array, p: float) -> Array:
    """A quadratic program in β, a number t above all lines, and how far it is above each."""
    cuts, kernels = lines.shape
    size = kernels + cuts + 1
    K, targets, A = np.zeros((size, size)), np.zeros(size), np.zeros((cuts + 1, size))
    K[:kernels, :kernels] = bend
    targets[:kernels], targets[-1] = bend @ weights, -1.0
    A[0, :kernels] = 1.0  # Σβ = 1
    A[1:, :kernels], A[1:, kernels:-1], A[1:, -1] = -lines, np.eye(cuts), -1.0  # level − line·β + slack = t
    low, high = np.zeros(size), np.full(size, np.inf)
    high[:kernels] = 1.0
    low[-1] = -np.inf
    high[-1] = 1.0
    found = interior_point(MatrixCurvature(K), targets, A, np.append(1.0, -levels), low, high)
    return np.where(found.at_low, 0.0, found.z)[:kernels]


def _least_in_ball(weights: Array, levels: Array, lines: Array, bend: Array, p: float) -> Array:
    """The same with ‖β‖ₚ ≤ 1."""

    def parabola(x: Array) -> tuple[float, Array]:
        way = x[:-1] - weights
        bent = bend @ way
        return float(x[-1] + 0.5 * way @ bent), np.append(bent, 1.0)

    ball = {
        "type": "ineq",
        "fun": lambda x: 1 - np.sum(np.maximum(x[:-1], 0.0) ** p),
        "jac": lambda x: np.append(-p * np.maximum(x[:-1], 0.0) ** (p - 1), 0.0),
    }
    above = {
        "type": "ineq",
        "fun": lambda x: x[-1] - levels + lines @ x[:-1],
        "jac": lambda x: np.column_stack([lines, np.ones(len(levels))]),
    }
    bounds = [(0.0, 1.0)] * weights.size + [(None, None)]
    start, options = np.append(weights, 0.0), {"maxiter": 200, "ftol": 1e-12}
    found = scipy.optimize.minimize(
        parabola, start, jac=True, bounds=bounds, constraints=[ball, above], method="SLSQP", options=options
    )
    return found.x[:-1]


def curvature(problem: Problem, model: Iterate, z: Array, products: Array, rng: np.random.Generator) -> Array:
    """∂²J/∂β² of one problem, from its solution, coefficients z that the dual allows, and Kₘ·z of every kernel."""
    count = products.shape[0]
    columns = 1 if z.ndim == 1 else z.shape[1]
    ridges = _ridges(problem, model, z).reshape(len(z), columns)
    products = products.reshape(count, len(z), columns)
    total = np.zeros((count, count))
    for column in range(columns):
        total += _of_column(problem, ridges[:, column], products[:, :, column].T, rng)
    return problem.lam * total


def _ridges(problem: Problem, model: Iterate, z: Array) -> Array:
    """λ/h of every item; infinite where a coefficient does not move."""
    if problem.loss.smooth:
        h = problem.loss.hessian_diagonal(problem.curvatures(np.asarray(model.scores) + model.b))
        return np.divide(problem.lam, h, out=np.full(h.shape, np.inf), where=h > _FLAT * h.max(initial=0.0))
    least, largest = problem.loss.slope_range(problem.y)
    u = -problem.lam * z / np.where(problem.shares > 0, problem.shares, 1.0)
    near = _AT_BOUND * (largest - least)
    free = (problem.shares > 0) & (np.abs(u) > near) & (u - least > near) & (largest - u > near)
    return np.where(free, 0.0, np.inf)


def _of_column(problem: Problem, ridges: Array, right: Array, rng: np.random.Generator) -> Array:
    """(Kₘz)ᵀ·S⁻¹·(Kₗz) over the free items."""
    free = np.flatnonzero(np.isfinite(ridges))
    if not free.size:
        return np.zeros((right.shape[1], right.shape[1]))
    if free.size > _MOST:  # each of the sample stands for several, which together bend as much as these do
        sample = np.sort(rng.choice(free, _MOST, replace=False))
        ridges = ridges * (_MOST / free.size)
        free = sample
    S = _square(problem.gram, free)
    R = right[free]
    try:
        solved = cholesky_solver(S, ridges[free] + _ROUNDING * S.diagonal().mean())(
            np.column_stack([R, np.ones(free.size)])
        )
    except linalg.LinAlgError:
        return np.zeros((right.shape[1], right.shape[1]))
    found = R.T @ solved[:, :-1]
    if problem.is_free:
        border = solved[:, -1]
        found = found - np.outer(R.T @ border, R.T @ border) / border.sum()
    return 0.5 * (found + found.T)


def _square(gram: Gram, index: Array) -> Array:
    return gram.take(index).rows(np.arange(index.size)).astype(np.float64, copy=False)


# Weights of a mixture, better and better, until a duality gap says that they are the best.
#
# Each step solves all machines for the weights as they are, from where they were, and goes to the least of a parabola
# (:mod:`.weight_steps`); where that does not lead down, a shorter way, then a step that always does. Any solver can do
# the solving. Bounds come from the coefficients found on the way, and from what lies between them: where several
# kernels fit equally well, coefficients are not unique, and those of the last step alone may prove nothing.


#: The gap that is small enough, as a part of the objective and as a part of what w costs; and a gap that is none.
_CLOSE, _OF_PENALTY, _NOTHING = 5e-5, 1e-3, 1e-10
#: Steps at most.
_LONGEST = 100
#: Lengths of Newton's step that are tried.
_LENGTHS = (1.0, 0.4, 0.1)
#: What a step must gain, of what the parabola promises.
_ENOUGH = 0.01
#: How often a solver whose tolerance is in the way goes on with a tighter one.
_TIGHTER = 3
#: Steps in a row that gain nothing before there is nothing to gain.
_PATIENCE = 5
#: A step that gains less than this part of the small gap gains nothing.
_IDLE = 0.01
#: Points of the dual that are kept.
_POINTS = 40


@dataclass(frozen=True)
class LearnedWeights:
    """Weights, the Gram of the mixture with them, and what was found on the way."""

    weights: Array
    gram: Gram
    #: Solutions of the parts for these weights, to begin with.
    starts: list[Solution]
    #: The point of the dual with the best bound.
    point: DualPoint
    status: Status
    joint: JointProblem
    components: Components
    #: The solver, with the tolerance that was needed.
    solver: Any
    #: Steps of the solver in each part.
    n_iter: Array

    def certificate(self, found: Sequence[Iterate], certificates: Sequence[Certificate]) -> Certificate:
        """The joint certificate of models that were found for these weights."""
        return self.joint.certificate(self.gram, self.components, found, certificates, [self.point])


def learn_weights(
    parts: Sequence[Part], components: Components, solver: Solver[Any], seed: int = 0, time_limit: float = np.inf
) -> LearnedWeights:
    """The weights for which machines have the least objective.

    Parameters
    ----------
    parts : list of Part
        The problems of the machines.
    components : Components
    solver : Solver
        What solves each of them.
    seed : int
    time_limit : float
        Seconds after which the best weights so far are returned.

    Returns
    -------
    LearnedWeights

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Placement
    >>> from mercer.kernels import Gaussian, Linear, Mixture
    >>> from mercer.losses import Squared
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import Newton
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> kernel = Mixture([Linear(), Gaussian(gamma=100.0)]).resolved(X)
    >>> components = Components(kernel, X, Placement())
    >>> problem = Problem(components.gram(kernel.weights_), X.sum(axis=1), Squared(), lam=0.1)
    >>> learn_weights([Part(problem)], components, Newton()).weights
    array([1., 0.])
    """
    return _Learning(parts, components, solver, seed, time_limit).run()


class _Step:
    """All machines solved for some weights."""

    def __init__(self, learning: _Learning, weights: Array, starts: Sequence[Iterate | None]) -> None:
        self.weights, self.gram = weights, learning.components.gram(weights)
        joint, rows = learning.joint, [part.rows for part in learning.joint.parts]
        self.problems: list[Problem] = [part.on(self.gram) for part in joint.parts]
        self.found = learning.solved(self.problems, starts)
        self.solutions = [each.solution for each in self.found]
        self.objective = joint.of([each.certificate.objective for each in self.found])
        #: How far the machines may be from their best for these weights.
        self.slack = joint.of([each.certificate.gap for each in self.found])
        self.z, conjugate = joint.point(self.problems, self.solutions)
        self.products = [learning.components.products(z, some) for z, some in zip(self.z, rows, strict=True)]
        self.point = DualPoint(self.z, conjugate, joint.squares(self.z, self.products))
        self._learning = learning

    @cached_property
    def hessian(self) -> Array:
        rng = np.random.default_rng(self._learning.seed)
        joint = self._learning.joint
        parts = zip(self.problems, self.solutions, self.z, self.products, strict=True)
        return np.tensordot(joint.shares, np.array([curvature(*part, rng) for part in parts]), axes=1)


class _Learning:
    def __init__(
        self, parts: Sequence[Part], components: Components, solver: Any, seed: int, time_limit: float
    ) -> None:
        kernel = components.kernel
        self.joint, self.components, self.solver, self.seed = JointProblem(parts, kernel.p), components, solver, seed
        self.deadline, self.p = time.monotonic() + time_limit, float(kernel.p)
        self.alive = kernel.inverse_scales > 0
        #: What is known of the dual, and the best that follows from it.
        self.points: list[DualPoint] = []
        self.best: DualPoint
        self.interrupted = False
        self.steps, self.n_iter = 0, np.zeros(len(parts), np.int64)

    def solved(self, problems: Sequence[Problem], starts: Sequence[Iterate | None]) -> list[Certified]:
        found: list[Any] = [None] * len(problems)

        def solve(k: int) -> None:
            found[k] = solve_certified(problems[k], self.solver, starts[k], np.random.default_rng(self.seed))

        # What Newton's method learns of a Gram it keeps there, for one thread at a time.
        smooth = any(problem.loss.smooth for problem in problems)
        for_each(solve, range(len(problems)), threads=1 if smooth else None)
        return found

    def run(self) -> LearnedWeights:
        uniform = normalised(self.alive.astype(np.float64), self.p) if self.alive.any() else self.alive * 1.0
        step = self._taken(uniform, [None] * len(self.joint.parts))
        tighter = idle = 0
        with until(self.deadline):
            while idle < _PATIENCE and self.steps < _LONGEST and not self._done(step):
                gap = self._gap(step)
                noisy = idle > 0 or step.slack > 0.5 * gap
                if noisy and tighter < _TIGHTER and hasattr(self.solver, "tol"):
                    tighter += 1
                    self.solver = replace(self.solver, tol=0.1 * self.solver.tol)
                    step = self._taken(step.weights, step.solutions)
                after = self._next(step)
                gains = step.objective - after.objective > _IDLE * _CLOSE * step.objective
                gained = gains or self._gap(after) < 0.7 * gap
                step, idle = after, 0 if gained else idle + 1
                if step.slack > 0.5 * self._gap(step) and tighter == _TIGHTER:
                    break  # better weights would not show
        status = Status.CONVERGED if self._close(step) else Status.NOT_CONVERGED
        return LearnedWeights(
            weights=step.weights,
            gram=step.gram,
            starts=step.solutions,
            point=self.best,
            status=Status.INTERRUPTED if self.interrupted else status,
            joint=self.joint,
            components=self.components,
            solver=self.solver,
            n_iter=self.n_iter,
        )

    def _done(self, step: _Step) -> bool:
        return self._close(step) or self.interrupted or time.monotonic() > self.deadline

    def _close(self, step: _Step) -> bool:
        """Where w costs little beside the losses, its part decides how good the weights are."""
        penalty = 0.5 * float(step.weights @ step.point.squares)
        return self._gap(step) <= max(min(_CLOSE * step.objective, _OF_PENALTY * penalty), _NOTHING * step.objective)

    def _gap(self, step: _Step) -> float:
        return step.objective - self.joint.bound(self.best)

    def _taken(self, weights: Array, starts: Sequence[Iterate | None]) -> _Step:
        """The machines for these weights; what they tell of the dual is kept."""
        step = _Step(self, weights, [None if start is None else Iterate(start.z, start.b) for start in starts])
        self.steps += 1
        self.interrupted |= any(each.status is Status.INTERRUPTED for each in step.solutions)
        self.n_iter += [int(each.n_iter) for each in step.solutions]
        self.points = [*self.points[-_POINTS:], step.point]
        self.best = self.joint.best_combination([*self.points, self.best] if self.steps > 1 else self.points)
        return step

    def _next(self, step: _Step) -> _Step:
        """Better weights; the same ones where none are found."""
        if self.alive.sum() < 2 or not step.point.squares.any():
            return step
        for points in ([step.point], self.points):
            target, height = self._least(step, points)
            for step_length in _LENGTHS if height < step.objective else ():
                weights = normalised(step.weights + step_length * (target - step.weights), self.p)
                tried = self._taken(weights, step.solutions)
                if tried.objective <= step.objective + _ENOUGH * step_length * (height - step.objective):
                    return tried
                if self._done(step):
                    return step
        tried = self._taken(alternating_step(step.weights, step.point.squares, self.p), step.solutions)
        return tried if tried.objective < step.objective else step

    def _least(self, step: _Step, points: Sequence[DualPoint]) -> tuple[Array, float]:
        """Where a parabola above the lines of some points of the dual is least, and its height."""
        squares = np.array([point.squares for point in points]) * self.alive
        return newton_step(step.weights, -np.array([p.conjugate for p in points]), squares, step.hessian, self.p)
