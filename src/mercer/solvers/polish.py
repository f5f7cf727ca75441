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

from .._cholesky import cholesky_solver
from .._compile import Array
from ..certificate import balanced
from ..grams.base import Gram
from ..problem import Problem, Solution

#: More free items than this are left as they are: the cost grows with their cube, and a tolerance is a tolerance.
_LARGEST = 300
_ATTEMPTS = 8
#: The system is solved once, and then for what rounding has left.
_CORRECTIONS = 3


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
            return replace(solution, z=z, b=b, w=None) if better else solution
    return solution


def _dual(problem: Problem, exact: Gram, z: Array) -> float:
    """What the dual maximises, tᵀz − ½·zᵀKz."""
    used = np.flatnonzero(z)
    return float(problem.targets() @ z - 0.5 * z[used] @ exact.scores(used, used, z[used])) if used.size else 0.0


def _solve(K: Array, right: Array, total: float) -> tuple[Array, float] | None:
    """K·z + b = right with Σz = total; what rounding leaves of both equations is solved for once more."""
    try:
        inverse = cholesky_solver(K, np.zeros(right.size))
    except linalg.LinAlgError:
        return None
    of_one = inverse(np.ones((right.size, 1)))[:, 0]
    z, b = np.zeros(right.size), 0.0
    for _ in range(_CORRECTIONS):
        step = inverse((right - K @ z - b)[:, None])[:, 0]
        more = (step.sum() - (total - z.sum())) / of_one.sum()
        z, b = z + step - more * of_one, b + more
    return (z, float(b)) if np.isfinite(z).all() else None
