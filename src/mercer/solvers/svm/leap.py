"""From nearly solved to solved in one step, where few coefficients are free.

When it is known which coefficients are at a bound, the others solve a linear system: all free items have the same F,
and all coefficients sum to what they sum to now,

    K_FF·d + b = F_F,      Σd = 0,      z_F ← z_F + d,

with a b and a Σ for each group of variables whose sums are given.

Pairwise steps need tens of thousands of visits to get there when K is badly conditioned. Coefficients that the system
puts beyond a bound are put on it, and the rest is solved again.

The same leap, on the exact kernel matrix, gives the last digits of a solution (:func:`polish`): an iterative solver
stops when no condition is violated by more than its tolerance, and from there one linear system leads to machine
precision.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..._runtime.combine import add_rows
from ..._runtime.compile import Array
from ...grams.base import Gram
from ...problems import BoxDual

#: The cost grows with the cube of the free items; with more of them pairwise steps are faster.
LARGEST_LEAP = 600
_ATTEMPTS = 12
#: Added to the diagonal, relative to it: single precision makes nearly equal items look indefinite, and equal ones make
#: K singular in any precision.
_RIDGE, _EXACT_RIDGE = 3e-7, 1e-14
#: With more free items than this a solution is left as it is: a tolerance is a tolerance.
_LARGEST_POLISHED = 300


def leap(
    K: Array, F: Array, z: Array, low: Array, high: Array, ridge: float = _RIDGE, groups: Array | None = None
) -> bool:
    """Solve for the free coefficients in place; ``False``, and nothing changed, where that does not help.

    ``K`` and ``F`` may be in float32; F is brought up to date. ``ridge`` is added to the diagonal, relative to it.
    """
    free = np.flatnonzero((z > low) & (z < high))
    if not 2 <= free.size <= LARGEST_LEAP:
        return False
    A = K[np.ix_(free, free)].astype(np.float64)
    right, old = F[free].astype(np.float64), z[free]
    change, moving = np.zeros(free.size), np.arange(free.size)
    own = np.zeros(free.size, np.int64) if groups is None else groups[free]
    belongs = (own[:, None] == np.unique(own)).astype(np.float64)
    for _ in range(_ATTEMPTS):
        fixed = np.setdiff1d(np.arange(free.size), moving, assume_unique=True)
        rest = right[moving] - A[np.ix_(moving, fixed)] @ change[fixed]
        totals = -belongs[fixed].T @ change[fixed]
        step = _balanced_solution(A[np.ix_(moving, moving)], rest, belongs[moving], totals, ridge)
        if step is None:
            return False
        wanted = old[moving] + step
        inside = (wanted >= low[free[moving]]) & (wanted <= high[free[moving]])
        change[moving] = np.clip(wanted, low[free[moving]], high[free[moving]]) - old[moving]
        if inside.all():
            break
        moving = moving[inside]
        if moving.size < 2 or not belongs[moving].any(axis=0).all():
            return False
    else:
        return False
    if change @ right - 0.5 * change @ (A @ change) <= 0:  # what the dual gains
        return False
    z[free] = np.clip(old + change, low[free], high[free])
    add_rows(F, K, free, -change)
    return True


def _balanced_solution(A: Array, right: Array, belongs: Array, totals: Array, ridge: float) -> Array | None:
    """x with A·x + b = right for some b, and Σx = total, for each group, whose items are a column of ones."""
    A[np.diag_indices_from(A)] *= 1 + ridge
    try:
        factor = linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    solved = linalg.cho_solve(factor, np.column_stack([right, belongs]), check_finite=False)
    try:
        b = np.linalg.solve(belongs.T @ solved[:, 1:], belongs.T @ solved[:, 0] - totals)
    except np.linalg.LinAlgError:
        return None
    x = solved[:, 0] - solved[:, 1:] @ b
    return x if np.isfinite(x).all() else None


def polish(dual: BoxDual, exact: Gram, z: Array, scores: Array) -> tuple[Array, Array] | None:
    """Variables of a dual with those that are free solved for, and their scores; ``None`` where that does not help.

    ``exact`` is the Gram of the variables; their scores must be exact, and those of the result are.
    """
    low, high = dual.low, dual.high
    free = np.flatnonzero((z > low) & (z < high))
    if not 2 <= free.size <= _LARGEST_POLISHED:
        return None
    K = np.asarray(exact.take(free).rows(np.arange(free.size)), dtype=np.float64)
    F, own = (dual.targets - scores)[free], z[free].copy()
    groups = dual.groups[free]
    if not leap(K, F, own, low[free], high[free], _EXACT_RIDGE, groups):
        return None
    leap(K, F, own, low[free], high[free], _EXACT_RIDGE, groups)  # what rounding has left
    better = z.copy()
    better[free] = own
    better = dual.balanced(better)
    moved = np.flatnonzero(better != z)
    return better, scores + exact.scores(np.arange(z.size), moved, (better - z)[moved])
