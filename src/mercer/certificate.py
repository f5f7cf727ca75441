"""The certificate of a soft margin: how good a machine is, computed from the machine alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ._compile import Array
from .grams.base import Gram
from .problem import Problem, Solution

__all__ = ["MarginCertificate", "certify_margin"]

#: Items whose margin a solver in float32 puts beyond 1 by more than this (and by its possible rounding) need no look.
_CLEAR = 0.05


class MarginCertificate(NamedTuple):
    """The intercept, the primal objective, its duality gap, and the worst violation of an optimality condition.

    ``scores`` are those of all items, without the intercept; exact where they matter.
    """

    intercept: float
    objective: float
    gap: float
    violation: float
    scores: Array


def certify_margin(problem: Problem, exact: Gram, solution: Solution) -> MarginCertificate:
    """The certificate of a solution of the soft margin's dual, in float64.

    With signed coefficients z within their bounds and Σz = 0,

        primal = ½·zᵀKz + Σ Cᵢ·max(0, 1 − yᵢ(fᵢ + b)),      dual = Σ|zᵢ| − ½·zᵀKz,      dual ≤ optimum ≤ primal.

    An item with zᵢ = 0 and a margin clearly above 1 adds nothing to either and violates nothing, whatever the last
    digits of its score: scores are computed anew only for support items and items near or inside the margin, from
    ``exact``, the kernel matrix without rounding to float32.
    """
    z, y = solution.z, problem.y
    low, high = problem.bounds()
    scores = np.asarray(solution.scores)
    largest = float(np.abs(problem.gram.diag()).max(initial=0.0))
    rounding = 1e-7 * largest * float(np.abs(z).sum())  # of a score that float32 kernel values add up to
    near = np.flatnonzero((z != 0) | (y * (scores + solution.b) < 1 + _CLEAR + rounding))
    used = np.flatnonzero(z)
    f = np.zeros(near.size) if not used.size else exact.scores(near, used, z[used])
    scores = scores.copy()
    scores[near] = f
    F = y[near] - f
    here, lower, upper = z[near], low[near], high[near]
    free = (here > lower) & (here < upper)
    grow = float(F[here < upper].max(initial=-np.inf))
    shrink = float(F[here > lower].min(initial=np.inf))
    b = _best_intercept(F, free, grow, shrink)
    norm = float(here @ f)
    box = np.where(np.isfinite(upper - lower), upper - lower, 0.0)
    slack = np.maximum(0.0, 1 - y[near] * (f + b))
    hard = ~np.isfinite(upper - lower)
    primal = 0.5 * norm + float(box @ slack) + (np.inf if hard.any() and slack[hard].max() > 1 else 0.0)
    dual = float(np.abs(here).sum()) - 0.5 * norm
    return MarginCertificate(b, primal, max(0.0, primal - dual), max(0.0, grow - shrink), scores)


def _best_intercept(F: Array, free: Array, grow: float, shrink: float) -> float:
    """y − f is the same for all free items, up to the tolerance; without free items, the middle of what is allowed."""
    if free.any():
        return float(F[free].mean())
    ends = [end for end in (grow, shrink) if np.isfinite(end)]
    return float(np.mean(ends)) if ends else 0.0
