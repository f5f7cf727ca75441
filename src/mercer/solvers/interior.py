"""Quadratic programs with bounds by an interior point method: the road that bad scaling does not block.

    minimise  ½·zᵀKz − tᵀz     subject to  A·z = c,   lowᵢ ≤ zᵢ ≤ highᵢ

with few rows in A. Pairwise steps need a number of visits that grows with the condition of K; here every step solves
for all coefficients at once, in float64, and some twenty steps are enough whatever K is.

With multipliers β of the equations and p, q ≥ 0 of the bounds, a minimum satisfies

    Kz − t + Aᵀβ − p + q = 0,     Az = c,     pᵢ·(zᵢ − lowᵢ) = 0,     qᵢ·(highᵢ − zᵢ) = 0.

The last two are relaxed to μ, and Newton's step towards that point is taken while μ goes to zero (Mehrotra's
predictor and corrector). Eliminating p and q leaves one system,

    (K + D)·dz + Aᵀ·dβ = r,     A·dz = s,     D = p/(z − low) + q/(high − z),

whose matrix is factored once a step: K itself, or the features of the items where they are fewer than the items.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy
from scipy import linalg, sparse

from ..grams.base import Gram
from ..problems import BoxDual, Intercept, Iterate, Problem, Solution, Status, best_intercept, certify
from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.numerics import cholesky_solver, product, turned_product
from ..runtime.threads import one_blas_thread
from .base import Solver

#: Steps at most; after some thirty rounding errors have the word.
_STEPS = 80
#: How often what rounding leaves of a system is solved for again.
_CORRECTIONS = 2
#: How far of the way to the nearest bound a step may go.
_SHY = 0.995
_ROUNDING = 2.3e-16
#: What is minimised is zero where it is this small, relative to what the targets make it.
_NOTHING = 1e-14
#: What the first equation may be off by, relative to t, where the minimum is.
_EVEN = 1e-8
#: A box wider than this has one side only.
_ENDLESS = 1e20
#: A distance from the minimum, as a share of what is minimised, that another start would not make smaller.
_ARRIVED = 1e-10
#: Steps that may lead nowhere before it is all over.
_TRIES = 10


#: Solves (K + D)·dz + Aᵀ·dβ = r and A·dz = s, given what z and its vector differ by; the vector's change comes with it.
Solve = Callable[[Array, Array, Array], tuple[Array, Array, Array]]


class Curvature(Protocol):
    """K, as far as an interior point method asks for it: through the vector that belongs to coefficients z."""

    def vector(self, z: Array) -> Array:
        """The vector of z."""
        ...

    def scores(self, w: Array) -> Array:
        """K·z for the z that w is the vector of."""
        ...

    def system(self, diagonal: Array, A: Array) -> Solve:
        """The equations of a step, with a positive diagonal D."""
        ...


class MatrixCurvature:
    """K as a matrix; the vector of z is z.

    Examples
    --------
    >>> import numpy as np
    >>> solve = MatrixCurvature(np.eye(2)).system(np.array([1.0, 3.0]), np.empty((0, 2)))
    >>> solve(np.array([2.0, 2.0]), np.empty(0), np.zeros(2))[0]
    array([1. , 0.5])
    """

    def __init__(self, K: Array) -> None:
        self.K = K

    def vector(self, z: Array) -> Array:
        return z

    def scores(self, w: Array) -> Array:
        return product(self.K, w)

    def system(self, diagonal: Array, A: Array) -> Solve:
        inverse = cholesky_solver(self.K, diagonal)
        of_A = inverse(A.T) if A.size else A.T
        small = A @ of_A

        def once(r: Array, s: Array) -> tuple[Array, Array]:
            of_r = inverse(r[:, None])[:, 0]
            dbeta = np.linalg.solve(small, A @ of_r - s)
            return of_r - of_A @ dbeta, dbeta

        def solve(r: Array, s: Array, mismatch: Array) -> tuple[Array, Array, Array]:
            dz, dbeta = once(r, s)
            for _ in range(_CORRECTIONS):
                more, more_beta = once(r - product(self.K, dz) - diagonal * dz - A.T @ dbeta, s - A @ dz)
                dz, dbeta = dz + more, dbeta + more_beta
            return dz, dbeta, dz

        return solve


class FeatureCurvature:
    """K = Φ·Φᵀ with fewer features than items; the vector of z is w = Φᵀz, the weights of a linear model.

    w is a variable of its own: scores Φw keep their digits where columns are scaled badly, and those of ΦΦᵀz do not.
    With E = D⁻¹, dz = E·(r − Φ·dw − Aᵀ·dβ) leaves a system of the size of w and β alone,

        (1 + ΦᵀEΦ)·dw + ΦᵀEAᵀ·dβ = Φᵀz − w + ΦᵀEr,      AEΦ·dw + AEAᵀ·dβ = AEr − s.

    Examples
    --------
    >>> import numpy as np
    >>> solve = FeatureCurvature(np.array([[1.0], [0.0]])).system(np.ones(2), np.empty((0, 2)))
    >>> solve(np.array([2.0, 2.0]), np.empty(0), np.zeros(1))[0]
    array([1., 2.])
    """

    def __init__(self, Phi: Array) -> None:
        self.Phi = Phi

    def vector(self, z: Array) -> Array:
        return turned_product(self.Phi, z)

    def scores(self, w: Array) -> Array:
        return product(self.Phi, w)

    def system(self, diagonal: Array, A: Array) -> Solve:
        E, width = 1 / diagonal, self.Phi.shape[1]
        B = np.hstack([self.Phi, A.T])
        inverse = cholesky_solver(turned_product(B * E[:, None], B), np.repeat([1.0, 0.0], [width, A.shape[0]]))

        def once(r: Array, s: Array, mismatch: Array) -> tuple[Array, Array, Array]:
            x = inverse((B.T @ (E * r) + np.concatenate([mismatch, -s]))[:, None])[:, 0]
            return E * (r - B @ x), x[width:], x[:width]

        def solve(r: Array, s: Array, mismatch: Array) -> tuple[Array, Array, Array]:
            dz, dbeta, dw = once(r, s, mismatch)
            for _ in range(_CORRECTIONS):
                left = r - self.Phi @ dw - diagonal * dz - A.T @ dbeta
                more = once(left, s - A @ dz, mismatch + self.Phi.T @ dz - dw)
                dz, dbeta, dw = dz + more[0], dbeta + more[1], dw + more[2]
            return dz, dbeta, dw

        return solve


class Optimum(NamedTuple):
    """The point found, its vector, the multipliers of the equations, and which coefficients belong on their bounds."""

    z: Array
    vector: Array
    multipliers: Array
    at_low: Array
    at_high: Array
    steps: int


def interior_point(
    curvature: Curvature,
    targets: Array,
    A: Array,
    c: Array,
    low: Array,
    high: Array,
    extra: Array | float = 0.0,
    sizes: tuple[float, ...] = (1.0,),
    deadline: float = np.inf,
) -> Optimum:
    """Minimise; bounds may be infinite, and A may have no rows. K should have a diagonal of about one, as t has.

    ``extra`` is added to the diagonal of K. ``sizes`` are guesses of how large coefficients are: the way begins so far
    from the bounds, and begins again with the next guess where it leads nowhere.

    Examples
    --------
    >>> import numpy as np
    >>> found = interior_point(MatrixCurvature(np.eye(2)), np.array([1.0, -1.0]), np.ones((1, 2)), np.zeros(1),
    ...                        np.array([0.0, -9.0]), np.array([9.0, 0.0]))
    >>> found.z.round(6)
    array([ 1., -1.])
    """
    with one_blas_thread(), np.errstate(all="ignore"):  # what is not finite ends the way
        best, total = None, 0
        for size in sizes:
            walk = _Walk(curvature, targets, A, c, low, high, extra, size)
            steps = 0
            while steps < _STEPS and time.monotonic() < deadline and walk.step():
                check_interrupt()
                steps += 1
            total += steps
            if best is None or walk.share < best.share:
                best = walk
            if best.share < _ARRIVED:
                break
    assert best is not None
    return Optimum(*best.best, total)


class _Walk:
    """A point inside all bounds on its way to the minimum."""

    def __init__(
        self,
        curvature: Curvature,
        targets: Array,
        A: Array,
        c: Array,
        low: Array,
        high: Array,
        extra: Array | float,
        size: float,
    ) -> None:
        self.curvature, self.t, self.A, self.c, self.extra = curvature, targets, A, c, extra
        # A bound that is farther away than digits reach is none, as long as there is another one.
        wide = high - low > _ENDLESS
        low, high = np.where(wide & (-low > high), -np.inf, low), np.where(wide & (-low <= high), np.inf, high)
        self.low, self.high = low, high
        self.below, self.above = np.isfinite(low), np.isfinite(high)
        self.unit = np.minimum(high - low, size)
        self.beta = np.zeros(A.shape[0])
        self.p, self.q = self.below.astype(np.float64), self.above.astype(np.float64)
        # Near zero, where most coefficients end, inside the bounds.
        self.z = np.clip(0.0, low + 0.5 * self.unit, high - 0.5 * self.unit)
        self.w = curvature.vector(self.z)
        #: The least distance from the minimum so far, by itself and as a share of what is minimised.
        self.distance = self.share = np.inf
        #: A minimum of less than this is zero.
        self.nothing = _NOTHING * float(np.abs(targets) @ self.unit) + 1e-300
        nowhere = np.zeros(self.z.size, bool)
        self.best = (self.z, self.w, self.beta, nowhere, nowhere)
        self.worse = 0

    def step(self) -> bool:
        """One step; whether another one may help."""
        a = np.where(self.below, self.z - self.low, 1.0)
        b = np.where(self.above, self.high - self.z, 1.0)
        p, q = self.p, self.q
        Kz = self.curvature.scores(self.w) + self.extra * self.z
        mismatch = self.curvature.vector(self.z) - self.w
        dual = self.t - Kz - self.A.T @ self.beta + p - q
        primal = self.c - self.A @ self.z
        products = float(a @ p + b @ q)
        mu = products / max(1, int(self.below.sum() + self.above.sum()))
        if not self._note(a, b, Kz, dual, primal, products):
            return False
        try:
            solve = self.curvature.system(p / a + q / b + self.extra, self.A)
        except linalg.LinAlgError:
            return False

        def direction(wanted_a: Array, wanted_b: Array) -> tuple[Array, ...]:
            dz, dbeta, dw = solve(dual + wanted_a / a - wanted_b / b, primal, mismatch)
            return dz, dbeta, dw, (wanted_a - p * dz) / a, (wanted_b + q * dz) / b

        # How far one could go if rounding and bounds allowed it tells how much to aim for the middle first.
        try:
            dz, _, _, dp, dq = direction(-a * p, -b * q)
        except linalg.LinAlgError:
            return False
        t = self._longest(a, b, dz, dp, dq)
        reached = float((a + t * dz * self.below) @ (p + t * dp) + (b - t * dz * self.above) @ (q + t * dq))
        aim = float(max(reached, 0.0) / products) ** 3 * mu if products > 0 else 0.0
        centred = np.where(self.below, aim - a * p - dz * dp, 0.0), np.where(self.above, aim - b * q + dz * dq, 0.0)
        try:
            dz, dbeta, dw, dp, dq = direction(*centred)
        except linalg.LinAlgError:
            return False
        if not (np.isfinite(dz).all() and np.isfinite(dbeta).all()):
            return False
        t = min(1.0, _SHY * self._longest(a, b, dz, dp, dq))
        self.z, self.w, self.beta = self.z + t * dz, self.w + t * dw, self.beta + t * dbeta
        self.p, self.q = p + t * dp * self.below, q + t * dq * self.above
        inside = np.where(self.below, self.z > self.low, True) & np.where(self.above, self.z < self.high, True)
        return t > 1e-10 and bool(inside.all())

    def _note(self, a: Array, b: Array, Kz: Array, dual: Array, primal: Array, products: float) -> bool:
        """Keep the best point so far; whether it is worth going on."""
        size = float(np.abs(self.z) @ np.abs(self.t)) + float(self.z @ Kz)
        off = float(np.abs(dual) @ np.abs(self.z)) + float(np.abs(self.beta) @ np.abs(primal))
        distance = products + off
        share = distance / max(size, self.nothing)
        self.worse = 0 if distance < self.distance or share < self.share else self.worse + 1
        self.distance = min(self.distance, distance)
        if share < self.share:
            self.share = share
            # Of a bound's distance and its multiplier one is zero: the smaller one, each in its own unit.
            unit = np.minimum(self.high - self.low, float(np.abs(self.z).max()))
            at_low, at_high = self.below & (a < self.p * unit), self.above & (b < self.q * unit)
            self.best = (self.z, self.w, self.beta, at_low, at_high)
        there = share <= 10 * _ROUNDING and np.abs(dual).max() <= _EVEN * max(1.0, float(np.abs(self.t).max()))
        return not there and self.worse < _TRIES

    def _longest(self, a: Array, b: Array, dz: Array, dp: Array, dq: Array) -> float:
        """How far a step may go until the first of z, p, q reaches a bound, at most all the way."""
        longest = 1.0
        for value, change, held in ((a, dz, self.below), (b, -dz, self.above), (self.p, dp, self.below),
                                    (self.q, dq, self.above)):  # fmt: skip
            falling = held & (change < 0)
            if falling.any():
                longest = min(longest, float((value[falling] / -change[falling]).min()))
        return longest


# Between a Gram and an interior point method: K as it is given to one, and a model as it comes back.


#: So many items, or features, an interior point method takes at most.
LARGEST_MATRIX, LARGEST_WIDTH = 3000, 512
#: Numbers that features may have to be used by an interior point method.
_LARGEST_TABLE = 50_000_000
#: What rounding leaves of a weight, relative to the terms that it is the sum of.
_ROUNDED = 1e-14


def few_features(gram: Gram) -> Any | None:
    """The features of the items, where they are few enough for an interior point method, else ``None``."""
    Phi = gram.features()
    if Phi is None:
        return None
    small = Phi.shape[1] <= LARGEST_WIDTH and Phi.shape[0] * Phi.shape[1] <= _LARGEST_TABLE
    return Phi if small else None


def few_enough(gram: Gram) -> bool:
    """Whether an interior point method can take all items, or their features."""
    return len(gram) <= LARGEST_MATRIX or few_features(gram) is not None


def weights_of(gram: Gram, found: Optimum, unit: float) -> Array | None:
    """The weights of the linear model that was found, where an interior point method worked with them."""
    return None if few_features(gram) is None else found.vector / np.sqrt(unit)


def reconciled(Phi: Any, w: Array, z: Array, low: Any = -np.inf, high: Any = np.inf, balance: bool = True) -> Array:
    """Coefficients near z whose vector Φᵀz is w, and whose sum is zero if they are to ``balance``.

    Putting coefficients on their bounds changes their vector by little, but large columns make much of that. The free
    ones make up for it, by the change that does and is smallest beside their distances to their bounds: one that is
    close to a bound would leave it otherwise, and undo all when it is put there again. Several models are columns.
    """
    z, w = z.copy(), np.asarray(w)
    wide = z.reshape(z.shape[0], -1)
    free = np.flatnonzero(((z > low) & (z < high)).reshape(wide.shape).all(axis=1))
    if not free.size:
        return z
    rows = np.asarray(Phi[free].toarray() if sparse.issparse(Phi) else Phi[free], dtype=np.float64)
    unit = np.maximum(np.abs(rows).max(axis=0, initial=0.0), 1e-300)
    equations = np.column_stack([rows / unit, np.ones(free.size)][: 1 + balance]).T
    room = np.minimum(z - low, high - z).reshape(wide.shape)[free].min(axis=1)
    room = np.where(np.isfinite(room), room, 1.0)
    for _ in range(2):
        missing = (w.reshape(w.shape[0], -1) - Phi.T @ wide) / unit[:, None]
        missing = np.vstack([missing, -wide.sum(axis=0)]) if balance else missing
        wide[free] += room[:, None] * np.linalg.lstsq(equations * room, missing, rcond=None)[0]
    return np.clip(z, low, high)


def agree(Phi: Any, w: Array, z: Array, tol: float) -> bool:
    """Whether the model with coefficients z is the one with weights w.

    The weight of every column is then Φᵀz but for rounding in its own unit, or what is beyond that changes no score by
    more than ``tol``. What rounding leaves of a large column says nothing about the weight of a small one.
    """
    size = abs(Phi)
    beyond = np.maximum(np.abs(Phi.T @ z - w) - _ROUNDED * (size.T @ np.abs(z)), 0.0)
    return bool((size @ beyond <= tol).all())


def curvature_of(gram: Gram, items: Array, centred: bool) -> tuple[Curvature, float]:
    """K/s for some items, with s such that its diagonal is at most one; and s.

    ``centred``: where Σz = 0, moving all items by the same amount changes no more than the intercept, and a matrix of
    items around their mean has more digits for what they differ in.
    """
    Phi = few_features(gram)
    if Phi is not None:
        Phi = Phi[items].toarray() if sparse.issparse(Phi) else Phi[items]
        Phi = np.asarray(Phi, dtype=np.float64)
        if centred:
            Phi = Phi - Phi.mean(axis=0)
        unit = float(np.einsum("ij,ij->i", Phi, Phi).max(initial=0.0)) or 1.0
        return FeatureCurvature(Phi / np.sqrt(unit)), unit
    part = gram if items.size == len(gram) else gram.take(items)
    K = np.array(part.rows(np.arange(items.size)), dtype=np.float64)
    if centred:
        means = K.mean(axis=0)
        K += means.mean() - means - means[:, None]
    unit = float(K.diagonal().max(initial=0.0)) or 1.0
    K /= unit
    return MatrixCurvature(K), unit


# Losses whose dual is a quadratic program, by an interior point method.
#
# Losses such as the squared hinge and Huber's are made of straight and of curved pieces. Newton's method jumps from
# piece to piece, and where λ is small it may do so for very long. Their duals (:mod:`mercer.problems.dual`),
#
#     minimise  ½·zᵀ(K + D)z − tᵀz     subject to  lowᵢ ≤ zᵢ ≤ highᵢ,   Σz = 0 where the intercept is free,
#
# have no pieces.


@dataclass(frozen=True)
class InteriorPoint(Solver[Solution]):
    """Some twenty steps that each solve for all coefficients at once, in float64, however badly K is conditioned.

    Parameters
    ----------
    time_limit : float
        Seconds after which the best model so far is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import SquaredHinge
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import InteriorPoint
    >>> problem = Problem(Features(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), SquaredHinge(), lam=0.5)
    >>> InteriorPoint().solve(problem).z.round(4)
    array([ 0.3333, -0.3333])
    """

    time_limit: float = np.inf

    def refusal(self, problem: Problem) -> str | None:
        dual = problem.box_dual
        if problem.lam == 0:
            return "its dual has no bounds without λ; state λ > 0, or use SoftMargin for a hard margin"
        if dual is None:
            return f"the dual of {problem.loss} is no quadratic program; use Newton or Gradient"
        if problem.intercept is Intercept.PENALISED:
            return "its matrix has no room for a penalised intercept; state a free one or none, or use Newton"
        if not few_enough(dual.gram(problem.gram)):
            return f"{len(problem.gram)} items are too many for matrices of them all; use Newton or SoftMargin"
        return None

    def _solve(self, problem: Problem, start: Iterate | None, rng: np.random.Generator) -> Solution:
        return min(self.candidates(problem, start), key=lambda found: certify(problem, found).gap)

    def candidates(self, problem: Problem, start: Iterate | None = None) -> list[Solution]:
        """The minimum with coefficients that belong on a bound put there, and as it was found.

        Putting them there takes away digits where K is nearly singular. How large coefficients are is guessed from the
        start.
        """
        dual = problem.box_dual
        assert dual is not None
        gram = dual.gram(problem.gram)
        items = np.flatnonzero(dual.high > dual.low)
        curvature, unit = curvature_of(gram, items, centred=dual.even)
        free = int(problem.is_free)
        A, c = np.ones((free, items.size)), np.zeros(free)
        size = 1.0 if start is None else float(np.abs(start.z).max(initial=0.0)) or 1.0
        low, high = _bounded(problem, dual)
        bounds = low[items] * unit, high[items] * unit
        deadline = time.monotonic() + self.time_limit
        found = interior_point(
            curvature, dual.targets[items], A, c, *bounds, dual.ridge[items] / unit, (1.0, size * unit), deadline
        )
        w = weights_of(gram, found, unit)
        points = []
        for new in (np.where(found.at_low, bounds[0], np.where(found.at_high, bounds[1], found.z)), found.z):
            z = np.zeros(dual.low.size)
            z[items] = np.clip(new / unit, dual.low[items], dual.high[items])
            if w is not None:
                z = reconciled(few_features(gram), w, z, dual.low, dual.high, balance=problem.is_free)
            z = dual.merged(z)
            scores = problem.gram.scores_and_square(z, w)[0]
            b = _intercept(problem, dual, scores) if problem.is_free else 0.0
            points.append(Solution(z, b, found.steps, w, scores, Status.CONVERGED))
        return points


def _bounded(problem: Problem, dual: BoxDual) -> tuple[Array, Array]:
    """Bounds of which one at least is finite, as the method asks for.

    The squared loss has none. But its minimum costs no more than the model of zeros, so that no item's residual r has
    s·r² > Σ s·y², and z = s·r/(λn).
    """
    endless = np.isinf(dual.low) & np.isinf(dual.high)
    if not endless.any():
        return dual.low, dual.high
    largest = (
        2 * np.sqrt(problem.weights * (problem.weights @ np.square(problem.y))) / (problem.lam * len(problem.gram))
    )
    return np.where(endless, -largest, dual.low), np.where(endless, largest, dual.high)


def _intercept(problem: Problem, dual: BoxDual, scores: Array) -> float:
    """The b for which the loss is least: its slope by b, which never falls, is zero there."""
    if dual.straight:
        return best_intercept(dual.targets - dual.spread(scores), dual.low, dual.high)

    def slope(b: float) -> float:
        return float(problem.slopes(scores + b).sum())

    wide = 2 * float(np.abs(problem.y - scores).max()) + 1.0  # beyond it all items are on one side
    if not slope(-wide) < 0 < slope(wide):
        return 0.0
    return float(scipy.optimize.brentq(slope, -wide, wide, xtol=1e-15 * wide, rtol=1e-15))
