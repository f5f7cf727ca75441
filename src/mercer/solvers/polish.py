"""The last digits of a soft margin, by linear algebra.

When it is known which coefficients are at a bound, the others solve a linear system: all free items have margin 1, and
all coefficients sum to zero,

    K_FF·z_F + b = y_F − K_FB·z_B,      Σz_F = −Σz_B.

An iterative solver stops when no condition is violated by more than its tolerance; from there this system gives the
solution to machine precision, as long as no coefficient leaves its bounds. Those that do are put on their bound, and
the rest is solved again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from .._compile import Array
from ..certificate import balanced
from ..grams.base import Gram
from ..problem import Problem, Solution

#: More free items than this are left as they are: the cost grows with their cube, and a tolerance is a tolerance.
_LARGEST = 300
_ATTEMPTS = 8


def polish(problem: Problem, exact: Gram, solution: Solution) -> Solution:
    """The solution with its free coefficients solved for in float64, or as it was where that is not possible."""
    low, high = problem.bounds()
    z = solution.z.copy()
    for _ in range(_ATTEMPTS):
        free = np.flatnonzero((z > low) & (z < high))
        if not 2 <= free.size <= _LARGEST:
            return solution
        fixed = np.flatnonzero((z != 0) & ~((z > low) & (z < high)))
        K = exact.take(free).rows(np.arange(free.size)).astype(np.float64)
        right = problem.targets()[free] - (exact.scores(free, fixed, z[fixed]) if fixed.size else 0.0)
        found = _solve(K, right, -z[fixed].sum())
        if found is None:
            return solution
        wanted, b = found
        outside = (wanted < low[free]) | (wanted > high[free])
        z[free] = np.clip(wanted, low[free], high[free])
        if not outside.any():
            z = balanced(z, low, high)
            better = _dual(problem, exact, z) >= _dual(problem, exact, solution.z)
            return replace(solution, z=z, b=b) if better else solution
    return solution


def _dual(problem: Problem, exact: Gram, z: Array) -> float:
    """What the dual maximises, tᵀz − ½·zᵀKz."""
    used = np.flatnonzero(z)
    return float(problem.targets() @ z - 0.5 * z[used] @ exact.scores(used, used, z[used])) if used.size else 0.0


def _solve(K: Array, right: Array, total: float) -> tuple[Array, float] | None:
    """K·z + b = right with Σz = total; a hair is added to the diagonal, as equal items make K singular."""
    K = K.copy()
    K[np.diag_indices_from(K)] += 1e-12 * max(float(K.diagonal().max()), 1e-300)
    try:
        factor = linalg.cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    solved = linalg.cho_solve(factor, np.stack([right, np.ones(right.size)], axis=1), check_finite=False)
    b = (solved[:, 0].sum() - total) / solved[:, 1].sum()
    z = solved[:, 0] - b * solved[:, 1]
    return (z, float(b)) if np.isfinite(z).all() else None
