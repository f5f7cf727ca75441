"""Small soft margins, each without leaving compiled code: one on its own matrix, or many on parts of one.

A machine of a few hundred items takes less than a millisecond of steps (:mod:`.smo`); a search over pairs of 26 classes
has thousands of them, and what surrounds a step in Python would take longer than the steps. Here each part is copied
out of the matrix, solved, and its scores are brought up to date in float64. What is not solved within a few steps for
each item is said so, and left to :class:`.SoftMargin`, which knows more ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...problems import Status
from ...runtime.compile import Array, jit
from .smo import _allow, _smo, gap_of
from .soft_margin import DualSolution

__all__ = ["MOST_STEPS", "SmallBlock", "solve_block", "solve_blocks"]

#: Steps for each item, and how often they begin anew from scores in float64.
_STEPS, _ROUNDS = 16, 4
#: Steps for each item at most.
MOST_STEPS = _STEPS * _ROUNDS
#: A tolerance is made tighter by no more than this, for the sake of a gap.
_TIGHTEST = 0.01


@dataclass(frozen=True)
class SmallBlock:
    """A soft margin with a free intercept: places of its items in the matrix, labels ±1, and what each costs."""

    places: Array
    y: Array
    #: The largest coefficient of each item, as a positive number.
    bound: Array
    #: Coefficients to begin with, within their bounds and with a sum of zero.
    z: Array


def solve_blocks(K: Array, blocks: list[SmallBlock], tol: float) -> list[DualSolution]:
    """Solve each block on its part of a float32 matrix; the status says whether it is solved.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[4, 0, -4], [0, 0, 0], [-4, 0, 4]], np.float32)  # of the numbers 2, 0 and −2
    >>> block = SmallBlock(np.array([0, 2]), np.array([1.0, -1.0]), np.full(2, 10.0), np.zeros(2))
    >>> found = solve_blocks(K, [block], 1e-3)[0]
    >>> found.z, found.b, str(found.status)
    (array([ 0.125, -0.125]), 0.0, 'converged')
    """
    edges = np.cumsum([0, *(block.places.size for block in blocks)])
    places, y, bound, z = (
        np.concatenate([getattr(block, name) for block in blocks]) for name in ("places", "y", "bound", "z")
    )
    scores, levels, gaps = np.empty(z.size), np.empty(len(blocks)), np.empty(len(blocks))
    steps = np.zeros(len(blocks), np.int64)
    _solve_each(K, edges, places, y, np.minimum(bound * y, 0.0), np.maximum(bound * y, 0.0), tol, z, scores, levels,
                gaps, steps)  # fmt: skip
    parts = [slice(*pair) for pair in pairwise(edges)]
    return [
        DualSolution(
            z[part], float(b), int(made), scores=scores[part],
            status=Status.CONVERGED if gap <= tol else Status.NOT_CONVERGED,
        )
        for part, b, made, gap in zip(parts, levels, steps, gaps, strict=True)
    ]  # fmt: skip


def solve_block(K: Array, y: Array, bound: Array, z: Array, tol: float, gap: float) -> DualSolution:
    """Solve a soft margin on its own float32 matrix to a tolerance, and to a duality gap if it takes no more than that.

    Parameters
    ----------
    K : array of shape (n, n)
    y, bound : arrays of shape (n,)
        Labels ±1, and the largest coefficient of each item as a positive number.
    z : array of shape (n,)
        Coefficients to begin with, within their bounds and with a sum of zero.
    tol : float
    gap : float
        As a part of the objective.

    Returns
    -------
    DualSolution
        The status says whether it is solved to the tolerance.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[4, -4], [-4, 4]], np.float32)  # of the numbers 2 and −2
    >>> found = solve_block(K, np.array([1.0, -1.0]), np.full(2, 10.0), np.zeros(2), 1e-3, 1e-4)
    >>> found.z, found.b, str(found.status)
    (array([ 0.125, -0.125]), 0.0, 'converged')
    """
    z, low, high = z.copy(), np.minimum(bound * y, 0.0), np.maximum(bound * y, 0.0)
    F, steps, left, level = _solve_to_gap(K, y, low, high, z, tol, gap)
    status = Status.CONVERGED if left <= tol else Status.NOT_CONVERGED
    return DualSolution(z, level, steps, scores=y - F, status=status)


@jit
def _solve_to_gap(K, y, low, high, z, tol, gap):
    """F, steps, the worst violation that is left, and the intercept; gaps shrink as violations do."""
    F = y.copy()
    _subtract(F, K, z)
    steps = _solve(K, F, z, low, high, 0.5 * tol)
    grow, shrink = gap_of(F, z, low, high)
    level = _level(F, z, low, high, 0.5 * (grow + shrink))
    square = paid = gained = 0.0
    for i in range(F.size):
        square += z[i] * (y[i] - F[i])
        gained += z[i] * y[i]
        paid += max(high[i] * (F[i] - level), low[i] * (F[i] - level))
    found, allowed = square + paid - gained, gap * (0.5 * square + paid)
    if grow - shrink <= tol and found > allowed:
        steps += _solve(K, F, z, low, high, tol * max(_TIGHTEST, 0.5 * allowed / found))
        grow, shrink = gap_of(F, z, low, high)
        level = _level(F, z, low, high, 0.5 * (grow + shrink))
    return F, steps, grow - shrink, level


@jit
def _solve_each(K, edges, places, y, low, high, tol, z, scores, levels, gaps, steps):
    """Coefficients, scores, intercept, gap and steps of each block."""
    largest = 0
    for m in range(edges.size - 1):
        largest = max(largest, edges[m + 1] - edges[m])
    memory = np.empty(largest * largest, np.float32)
    for m in range(edges.size - 1):
        part = slice(edges[m], edges[m + 1])
        own = places[part]
        block = memory[: own.size * own.size].reshape(own.size, own.size)
        for a in range(own.size):
            source, target = K[own[a]], block[a]
            for b in range(own.size):
                target[b] = source[own[b]]
        F = y[part].copy()
        _subtract(F, block, z[part])
        steps[m] = _solve(block, F, z[part], low[part], high[part], tol)
        scores[part] = y[part] - F
        grow, shrink = gap_of(F, z[part], low[part], high[part])
        gaps[m] = grow - shrink
        levels[m] = _level(F, z[part], low[part], high[part], 0.5 * (grow + shrink))


@jit
def _solve(K, F, z, low, high, tol):
    """Steps on one block until its gap is within the tolerance; F is kept in float64."""
    n, total = F.size, 0
    f, diag, up, down = (
        np.empty(n, np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
    )
    for a in range(n):
        diag[a] = K[a, a]
    edges = np.array([0, n])
    for _ in range(_ROUNDS):
        grow, shrink = gap_of(F, z, low, high)
        if grow - shrink <= tol:
            break
        middle = 0.5 * (grow + shrink)  # numbers near zero keep float32 precise
        for a in range(n):
            f[a] = np.float32(F[a] - middle)
        _allow(z, low, high, up, down)
        before = z.copy()
        made = _smo(K, f, z, low, high, up, down, diag, edges, np.float32(0.9 * tol), _STEPS * n)
        total += made
        _subtract(F, K, z - before)
        if made == 0 or made == _STEPS * n:
            break
    return total


@jit
def _subtract(F, K, change):
    """F −= K·change."""
    for i in range(F.size):
        if change[i] != 0.0:
            c, row = change[i], K[i]
            for k in range(F.size):
                F[k] -= c * row[k]


@jit
def _level(F, z, low, high, otherwise):
    """The mean of F over free items; without any, the middle of what the others allow."""
    total, count = 0.0, 0
    for i in range(F.size):
        if low[i] < z[i] < high[i]:
            total += F[i]
            count += 1
    return total / count if count else otherwise
