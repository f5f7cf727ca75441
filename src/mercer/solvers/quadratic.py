"""Losses whose dual is a quadratic program, by an interior point method.

The squared hinge and Huber's loss are made of straight and of curved pieces. Newton's method jumps from piece to piece,
and where λ is small it may do so for very long. Their duals,

    minimise  ½·zᵀ(K + D)z − yᵀz     subject to  lowᵢ ≤ zᵢ ≤ highᵢ,   Σz = 0 where the intercept is free,

have no pieces.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from .._runtime.compile import Array
from ..problems.problem import Problem, Solution, Status
from .curvatures import curvature_of, few_enough, few_features, reconciled, weights_of
from .interior import interior_point


def can_be_quadratic(problem: Problem) -> bool:
    """Whether the dual is a quadratic program, and not too large a one."""
    return (
        problem.y.ndim == 1 and few_enough(problem.gram) and problem.loss.dual_curvature is not None and problem.lam > 0
    )


def solve_quadratic(problem: Problem, size: float = 1.0, deadline: float = np.inf) -> list[Solution]:
    """The minimum, or nothing where the dual is no quadratic program, or too large a one.

    ``size`` is a guess of how large coefficients are. With coefficients that belong on a bound put there, and as it
    was found: putting them there takes away digits where K is nearly singular.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import SquaredHinge
    >>> from mercer.problems import Problem
    >>> problem = Problem(Features(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), SquaredHinge(), lam=0.5)
    >>> solve_quadratic(problem)[0].z.round(4)
    array([ 0.3333, -0.3333])
    """
    dual, n = problem.quadratic_dual(), len(problem.gram)
    if dual is None or not can_be_quadratic(problem):
        return []
    low, high, ridge = dual
    items = np.flatnonzero(high > low)
    free = problem.intercept and problem.free
    curvature, unit = curvature_of(problem.gram, items, centred=free)
    A, c = np.ones((int(free), items.size)), np.zeros(int(free))
    lower, upper = low[items], high[items]
    bounds = lower * unit, upper * unit
    found = interior_point(
        curvature, problem.y[items], A, c, *bounds, ridge[items] / unit, (1.0, size * unit), deadline
    )
    w = weights_of(problem.gram, found, unit)
    points = []
    for new in (np.where(found.at_low, bounds[0], np.where(found.at_high, bounds[1], found.z)), found.z):
        z = np.zeros(n)
        z[items] = np.clip(new / unit, lower, upper)
        if w is not None:
            z = reconciled(few_features(problem.gram), w, z, low, high, balance=free)
        scores = problem.gram.scores_and_square(z, w)[0]
        b = _intercept(problem, scores) if free else 0.0
        points.append(Solution(z=z, b=b, status=Status.CONVERGED, n_iter=found.steps, seen=n, scores=scores, w=w))
    return points


def _intercept(problem: Problem, scores: Array) -> float:
    """The b for which the loss is least: its slope by b, which never falls, is zero there."""

    def slope(b: float) -> float:
        return float(problem.derivatives(scores + b)[0].sum())

    wide = 2 * float(np.abs(problem.y - scores).max()) + 1.0  # beyond it all items are on one side
    if not slope(-wide) < 0 < slope(wide):
        return 0.0
    return float(optimize.brentq(slope, -wide, wide, xtol=1e-15 * wide, rtol=1e-15))
