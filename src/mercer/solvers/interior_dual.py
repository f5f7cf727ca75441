"""Losses whose dual is a quadratic program, by an interior point method.

Losses such as the squared hinge and Huber's are made of straight and of curved pieces. Newton's method jumps from piece
to piece, and where λ is small it may do so for very long. Their duals (:mod:`mercer.problems.box_dual`),

    minimise  ½·zᵀ(K + D)z − tᵀz     subject to  lowᵢ ≤ zᵢ ≤ highᵢ,   Σz = 0 where the intercept is free,

have no pieces.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy

from .._runtime.compile import Array
from ..problems import BoxDual, Intercept, Iterate, Problem, Solution, Status, best_intercept, certify
from .base import Solver
from .curvatures import curvature_of, few_enough, few_features, reconciled, weights_of
from .interior import interior_point


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
