"""The linear soft margin, and the linear tube, to a certificate in float64.

Passes over the rows (:mod:`.coordinate`) need no kernel value and cost what the rows hold, however many there are.
Primal, dual and every violation follow from w in one pass more. Where passes crawl, as they do with a large C, and few
coefficients are free, the kernel rows of those few are the shorter way: the exact solver then goes on from where the
passes ended (:mod:`.dual_refinement`).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...grams.base import Gram
from ...grams.walk import LATER, SOON, add, foresee, score
from ...problems import Certificate, Iterate, Problem, Status, balanced, best_intercept, certify, keeps
from ...runtime.compile import Array, jit
from ...runtime.interrupts import check_interrupt, keeps_best
from ..interior import few_features
from .refinement import DualRefinement
from .soft_margin import SMALL_GAP, DualSolution, SoftMargin

__all__ = ["CoordinateDescent", "linear_margin", "passes_pay"]

# A step of many coefficients at once, on the face of the bounds that a linear dual has come to.
#
# Coefficients that are free see a quadratic function without bounds, g·d + ½·dᵀHd with H = X·Xᵀ + ρ·11ᵀ. Where rows are
# alike it is flat in some directions, or nearly so, and one coefficient at a time moves along them as slowly as its
# neighbours let it. Conjugate gradients see the direction as a whole; each costs two looks at the free rows. The step
# is bent where it meets bounds, and halved until it is worth that: the objective falls by a part of what its slope
# promises.


#: A direction is good enough when it leaves so little of the gradient.
_LEFT = 0.1
#: What of the slope a step must keep, and how often it is halved at most for that.
_KEPT, _HALVINGS = 0.1, 8
#: A curvature of less than this part of what the diagonal says is none.
_FLAT = 1e-14


@jit
def free_items(items, order, alive, z):
    """The items that are alive and between their bounds, in their order in memory; a tube has a kink at zero."""
    face, count = np.empty(alive, np.int64), 0
    for p in range(alive):
        i = order[p]
        if items.low[i] < z[i] < items.high[i] and (items.half_width[i] == 0.0 or z[i] != 0.0):
            face[count] = i
            count += 1
    return np.sort(face[:count])


@jit
def _bounds(items, i, old):
    """The bounds of a coefficient as far as its gradient goes on: in a tube to zero."""
    if items.half_width[i] == 0.0:
        return items.low[i], items.high[i]
    return (0.0, items.high[i]) if old > 0.0 else (items.low[i], 0.0)


@jit
def _direction(rows, items, face, gradient, rho, most, v):
    """About −H⁻¹g, by conjugate gradients with the diagonal of H for a measure; v is room for a vector of weights."""
    direction, left, bent = np.zeros(face.size), -gradient, np.empty(face.size)
    measure = items.squares[face] + rho
    along = left / measure
    size, enough = np.dot(left, along), _LEFT * np.abs(left).max()
    for _ in range(most):
        v[:] = 0.0
        for k in range(face.size):
            add(rows, face[k], along[k], v)
        constant = rho * along.sum()
        for k in range(face.size):
            bent[k] = score(rows, face[k], v) + constant
        curvature = np.dot(along, bent)
        if curvature <= _FLAT * np.dot(along * measure, along):
            break
        length = size / curvature
        direction += length * along
        left -= length * bent
        if np.abs(left).max() <= enough:
            break
        before, size = size, np.dot(left / measure, left)
        along = left / measure + (size / before) * along
    return direction


@jit
def face_step(rows, items, face, z, w, b, total, rho, most):
    """Move the coefficients of a face towards its minimum, and w with them; the new Σz."""
    gradient, v = np.empty(face.size), np.empty(w.size)
    for k in range(face.size):
        i = face[k]
        half = items.half_width[i] if z[i] > 0.0 else -items.half_width[i]
        gradient[k] = score(rows, i, w) + b + rho * total - items.targets[i] + half
    direction = _direction(rows, items, face, gradient, rho, most, v)
    length, change = 1.0, np.empty(face.size)
    for _ in range(_HALVINGS):
        v[:] = 0.0
        for k in range(face.size):
            i = face[k]
            low, high = _bounds(items, i, z[i])
            change[k] = min(max(z[i] + length * direction[k], low), high) - z[i]
            add(rows, i, change[k], v)
        slope, added = np.dot(gradient, change), change.sum()
        if slope + 0.5 * (np.dot(v, v) + rho * added * added) <= _KEPT * slope < 0.0:
            w += v
            for k in range(face.size):
                i = face[k]
                low, high = _bounds(items, i, z[i])
                z[i] = min(max(z[i] + length * direction[k], low), high)
            return total + added
        length *= 0.5
    return total


# The linear soft margin, and the linear tube, one coefficient at a time.
#
# With K = X·Xᵀ the dual needs no kernel matrix: w = Σ zᵢxᵢ is kept, a score costs one row. Without the constraint Σz =
# 0 each coefficient could be solved for in turn. The constraint enters with a multiplier, which is the intercept b, and
# a penalty:
#
#     ½‖w‖² − tᵀz + ε·Σ|z| + b·Σz + ρ/2·(Σz)²,      lowᵢ ≤ zᵢ ≤ highᵢ,      b ← b + ρ·Σz  after each pass.
#
# The penalty is a constant feature of size √ρ, so a pass is that of a linear machine without intercept. For item i,
# with F = tᵢ − xᵢ·w − b − ρ·Σz and the curvature q = ‖xᵢ‖² + ρ, the best coefficient is zᵢ + F/q, moved towards zero by
# ε/q, then into its bounds. At a fixed point Σz = 0 and all conditions hold. After some passes, those coefficients that
# are between their bounds take a step together (:mod:`.face`).


#: Passes between two steps on the face that they have come to, and conjugate gradients in each.
_PERIOD, _GRADIENTS = 10, 20


class _Items(NamedTuple):
    """What a pass knows of each item: its target, half the width of its tube, its bounds, and ‖x‖²."""

    targets: Array
    half_width: Array
    low: Array
    high: Array
    squares: Array


class _Progress(NamedTuple):
    """How far passes have come: the multiplier b, the penalty ρ, Σz, and who is visited.

    The first ``alive`` items of the order are; those that their gradient holds at a bound by more than ``slack`` sleep
    until all others are done.
    """

    b: float
    rho: float
    total: float
    alive: int
    slack: float


@jit
def _pass(rows, items, order, z, w, b, total, rho, alive, slack):
    """One pass over the items that are alive; the worst violation seen, the new Σz, and how many stay alive."""
    worst, kept = 0.0, 0
    for p in range(alive):
        foresee(rows, order[min(p + SOON, alive - 1)], order[min(p + LATER, alive - 1)])
        i = order[p]
        old, half = z[i], items.half_width[i]
        F = items.targets[i] - score(rows, i, w) - b - rho * total
        grow = F - (half if old >= 0.0 else -half) if old < items.high[i] else -np.inf
        shrink = -F - (half if old <= 0.0 else -half) if old > items.low[i] else -np.inf
        violation = max(grow, shrink)
        if violation < -slack:
            continue
        order[p], order[kept] = order[kept], i
        kept += 1
        if violation <= 0.0:
            continue
        worst = max(worst, violation)
        curvature = items.squares[i] + rho
        best = old + F / curvature
        best = max(best - half / curvature, 0.0) if best > 0.0 else min(best + half / curvature, 0.0)
        new = min(max(best, items.low[i]), items.high[i])
        if new != old:
            z[i] = new
            total += new - old
            add(rows, i, new - old, w)
    return worst, total, kept


@jit
def _passes(rows, items, order, z, w, progress, rng, tol, visits):
    """Passes until no condition is violated by more than ``tol``, or until so many items were visited."""
    b, rho, total, alive, slack = progress
    seen, done, passes = 0, False, 0
    while not done and seen < visits:
        for p in range(alive - 1, 0, -1):
            other = int(rng.random() * (p + 1))
            order[p], order[other] = order[other], order[p]
        worst, total, kept = _pass(rows, items, order, z, w, b, total, rho, alive, slack)
        seen += alive
        b += rho * total
        if kept and max(worst, abs(rho * total)) > tol:
            alive, slack = kept, worst
        else:
            done = alive == order.size and max(worst, abs(rho * total)) <= tol
            alive, slack = order.size, np.inf  # all seems done, or all sleep: ask those that sleep
        passes += 1
        if not done and passes % _PERIOD == 0:
            face = free_items(items, order, alive, z)
            if face.size:
                total = face_step(rows, items, face, z, w, b, total, rho, _GRADIENTS)
                b += rho * total
                seen += _GRADIENTS * face.size
    return _Progress(b, rho, total, alive, slack), done, seen


class CoordinateDescent:
    """Coefficients of a linear soft margin or tube with a free intercept, better and better.

    Parameters
    ----------
    problem : Problem
        With a Gram that knows its features.
    rng : numpy.random.Generator
        Decides the order of the items.
    start : Iterate, optional

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> X = np.array([[2.0], [-2.0]])
    >>> problem = Problem(Features(X), np.array([1.0, -1.0]), Hinge(), lam=0.01, intercept="free")
    >>> descent = CoordinateDescent(problem, np.random.default_rng(0))
    >>> descent.run(1e-6, visits=1000), descent.z.round(3)
    (True, array([ 0.125, -0.125]))
    """

    def __init__(self, problem: Problem, rng: np.random.Generator, start: Iterate | None = None) -> None:
        dual, n = problem.box_dual, len(problem.gram)
        assert dual is not None
        walk, squares = problem.gram.walk(), problem.gram.diag()
        if dual.doubled:  # both walls of a tube are those of one item
            lower, upper = dual.targets[:n], dual.targets[n:]
            self._items = _Items(0.5 * (lower + upper), 0.5 * (upper - lower), dual.low[n:], dual.high[:n], squares)
        else:
            self._items = _Items(dual.targets, np.zeros(n), dual.low, dual.high, squares)
        self._rows, self._rng, self._order = walk.rows, rng, np.arange(n)
        self.z = np.zeros(n) if start is None else balanced(start.z, self._items.low, self._items.high)
        self._w = walk.start() if start is None else problem.gram.model(self.z)
        b = 0.0 if start is None else float(start.b)
        self._progress = _Progress(b, max(float(squares.mean()), 1e-12), 0.0, n, np.inf)
        #: Items looked at.
        self.visits = 0

    def run(self, tol: float, visits: float) -> bool:
        """Go on until no condition is violated by more than ``tol``, which is returned, or for so many visits."""
        state: Any = _passes(
            self._rows, self._items, self._order, self.z, self._w, self._progress, self._rng, tol, visits
        )
        self._progress, done, seen = _Progress(*state[0]), state[1], state[2]
        self.visits += seen
        return bool(done)

    @property
    def passes(self) -> int:
        """How often all items could have been looked at."""
        return -(-self.visits // self.z.size)

    @property
    def free(self) -> int:
        """How many coefficients are neither at a bound nor, in a tube, zero."""
        z, items = self.z, self._items
        return int(np.count_nonzero((z > items.low) & (z < items.high) & ((items.half_width == 0) | (z != 0))))

    def allowed(self) -> Array:
        """The coefficients, with a sum of zero to rounding."""
        return balanced(self.z, self._items.low, self._items.high)


#: With no more items than this (dense rows, sparse rows) the exact solver is done before passes have begun.
_FEW_ITEMS, _FEW_SPARSE = 1000, 30
#: Visits of items between two looks at the clock and at Ctrl-C.
_AT_ONCE = 200_000
#: Passes over all items: so many at least before they are said to crawl, and at most.
_LEAST, _MOST = 100, 2000
#: What a kernel value costs, in visits of an item.
_KERNEL_VALUE = 1 / 40
#: The part of the memory that the kernel values of free items, in float32, may take.
_BLOCK = 0.1
#: For the sake of a small gap violations are made smaller by this factor, so often.
_TIGHTER, _TIMES = 0.3, 4

Pair = tuple[DualSolution, Certificate]


def passes_pay(problem: Problem) -> bool:
    """Whether this is a linear soft margin or tube with items enough for passes over them."""
    dual, Phi = problem.box_dual, problem.gram.features()
    if Phi is None or dual is None or not dual.straight or dual.hard or not problem.is_free or dual.totals.size > 1:
        return False
    return len(problem.gram) > (_FEW_SPARSE if sparse.issparse(Phi) else _FEW_ITEMS)


def linear_margin(
    problem: Problem,
    solver: SoftMargin,
    start: Iterate | None = None,
    rng: np.random.Generator | None = None,
    working: Gram | None = None,
    by_weights: bool = False,
) -> Pair:
    """The solution of a linear problem and its certificate: by passes, and where they crawl by the exact solver.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import SoftMargin
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> problem = Problem(Features(X), np.sign(X[:, 0] + 0.5), Hinge(), lam=1e-3, intercept="free")
    >>> solution, certificate = linear_margin(problem, SoftMargin())
    >>> str(solution.status), certificate.gap <= 1e-4 * certificate.objective
    ('converged', True)
    """
    return _Road(problem, solver, rng or np.random.default_rng(0), by_weights).travelled(start, working)


class _Road:
    """One problem on its way."""

    def __init__(self, problem: Problem, solver: SoftMargin, rng: np.random.Generator, by_weights: bool) -> None:
        self.problem, self.solver, self.rng, self.by_weights = problem, solver, rng, by_weights
        self.deadline = time.monotonic() + solver.time_limit
        self.narrow = few_features(problem.gram) is not None

    def travelled(self, start: Iterate | None, working: Gram | None) -> Pair:
        descent = CoordinateDescent(self.problem, self.rng, start)
        best = self._passes(descent)
        if best[0].status is not Status.NOT_CONVERGED or not self._shorter(descent) or self._limited(descent):
            return best
        rest = replace(
            self.solver,
            max_iter=-1 if self.solver.max_iter < 0 else int(self._left(descent)),
            time_limit=self.deadline - time.monotonic(),
        )
        again, certificate = DualRefinement(self.problem, rest, self.rng, working, self.by_weights).run(best[0])
        return replace(again, n_iter=again.n_iter + descent.passes), certificate

    def _passes(self, descent: CoordinateDescent) -> Pair:
        """What passes find."""
        tol, rounds, status = 0.5 * self.solver.tol, 0, Status.NOT_CONVERGED
        try:
            while not self._limited(descent) and not self._crawls(descent):
                check_interrupt()
                if not descent.run(tol, min(_AT_ONCE, self._left(descent) * len(self.problem.gram))):
                    continue
                best, tol, rounds = self._certified(descent), tol * _TIGHTER, rounds + 1
                small = best[1].gap <= SMALL_GAP * abs(best[1].objective)
                if self._kept(best) and (small or rounds > _TIMES):
                    return replace(best[0], status=Status.CONVERGED), best[1]
        except KeyboardInterrupt:
            if not keeps_best():
                raise
            status = Status.INTERRUPTED
        best = self._certified(descent)
        if status is Status.NOT_CONVERGED and self._kept(best):
            status = Status.CONVERGED
        return replace(best[0], status=status), best[1]

    def _kept(self, found: Pair) -> bool:
        return keeps(found[1], self.solver.tol, self.problem.lam == 0)

    def _limited(self, descent: CoordinateDescent) -> bool:
        return time.monotonic() > self.deadline or self._left(descent) <= 0

    def _left(self, descent: CoordinateDescent) -> float:
        """The passes that are left."""
        return np.inf if self.solver.max_iter < 0 else self.solver.max_iter - descent.passes

    def _crawls(self, descent: CoordinateDescent) -> bool:
        """Whether passes have taken as long as the kernel rows of all free items would, or too long by any measure."""
        if self.narrow:
            enough: float = _LEAST
        else:
            enough = max(_LEAST, _KERNEL_VALUE * descent.free) if self._shorter(descent) else _MOST
        return descent.visits >= max(_AT_ONCE, enough * len(self.problem.gram))

    def _shorter(self, descent: CoordinateDescent) -> bool:
        """Whether there is another way than passes: features are few, or the kernel matrix of free items has room."""
        return self.narrow or 4 * descent.free**2 <= _BLOCK * self.solver.memory

    def _certified(self, descent: CoordinateDescent) -> Pair:
        problem, dual, z = self.problem, self.problem.box_dual, descent.allowed()
        assert dual is not None
        w = problem.gram.model(z)
        scores = problem.gram.scores_and_square(z, w)[0]
        b = best_intercept(dual.targets - dual.spread(scores), dual.low, dual.high)
        own = w if self.by_weights else None
        found = DualSolution(z, b, descent.passes, w=own, scores=scores, status=Status.NOT_CONVERGED)
        return found, certify(problem, found, scores)
