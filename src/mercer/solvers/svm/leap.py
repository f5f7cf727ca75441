"""From nearly solved to solved in one step, where few coefficients are free.

When it is known which coefficients are at a bound, the others solve a linear system: all free items have the same F,
and all coefficients sum to what they sum to now,

    K_FF·d + b = F_F,      Σd = 0,      z_F ← z_F + d.

Pairwise steps need tens of thousands of visits to get there when K is badly conditioned. Coefficients that the system
puts beyond a bound are put on it, and the rest is solved again.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..._runtime.combine import add_rows
from ..._runtime.compile import Array

#: The cost grows with the cube of the free items; with more of them pairwise steps are faster.
LARGEST_LEAP = 600
_ATTEMPTS = 12
#: Single precision makes nearly equal items look indefinite.
_RIDGE = 3e-7


def leap(K: Array, F: Array, z: Array, low: Array, high: Array, hair: float = _RIDGE) -> bool:
    """Solve for the free coefficients in place; ``False``, and nothing changed, where that does not help.

    ``K`` and ``F`` may be in float32; F is brought up to date. ``hair`` is added to the diagonal, relative to it.
    """
    free = np.flatnonzero((z > low) & (z < high))
    if not 2 <= free.size <= LARGEST_LEAP:
        return False
    A = K[np.ix_(free, free)].astype(np.float64)
    right, old = F[free].astype(np.float64), z[free]
    change, moving = np.zeros(free.size), np.arange(free.size)
    for _ in range(_ATTEMPTS):
        fixed = np.setdiff1d(np.arange(free.size), moving, assume_unique=True)
        rest = right[moving] - A[np.ix_(moving, fixed)] @ change[fixed]
        step = _balanced_solution(A[np.ix_(moving, moving)], rest, -change[fixed].sum(), hair)
        if step is None:
            return False
        wanted = old[moving] + step
        inside = (wanted >= low[free[moving]]) & (wanted <= high[free[moving]])
        change[moving] = np.clip(wanted, low[free[moving]], high[free[moving]]) - old[moving]
        if inside.all():
            break
        moving = moving[inside]
        if moving.size < 2:
            return False
    else:
        return False
    if change @ right - 0.5 * change @ (A @ change) <= 0:  # what the dual gains
        return False
    z[free] = np.clip(old + change, low[free], high[free])
    add_rows(F, K, free, -change)
    return True


def _balanced_solution(A: Array, right: Array, total: float, hair: float) -> Array | None:
    """x with A·x + b = right for some b, and Σx = total."""
    A[np.diag_indices_from(A)] *= 1 + hair
    try:
        factor = linalg.cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    solved = linalg.cho_solve(factor, np.stack([right, np.ones(right.size)], axis=1), check_finite=False)
    x = solved[:, 0] - (solved[:, 0].sum() - total) / solved[:, 1].sum() * solved[:, 1]
    return x if np.isfinite(x).all() else None
