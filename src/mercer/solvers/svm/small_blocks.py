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

from ...problems import Certificate, Status, keeps
from ...problems.dual import best_intercept
from ...runtime.compile import Array, jit
from ...runtime.numerics import copy_into
from .smo import _allow, _smo, gap_of
from .soft_margin import DualSolution

__all__ = ["MOST_STEPS", "SmallBlock", "certified_blocks", "solve_block", "solve_blocks"]

#: Steps for each item, and how often they begin anew from scores in float64.
_STEPS, _ROUNDS = 16, 4
#: Steps for each item at most.
MOST_STEPS = _STEPS * _ROUNDS
#: A tolerance is made tighter by no more than this, for the sake of a gap.
_TIGHTEST = 0.01
#: How often steps go on from exact scores at most.
_REFINEMENTS = 3
#: Free coefficients that are solved for, and how often those that would leave their bounds are left out.
_LARGEST_POLISHED, _ATTEMPTS = 300, 5
#: Added to the diagonal of those, relative to it: equal items make it singular.
_RIDGE = 1e-14
_EPSILON = 2.3e-16


@dataclass(frozen=True)
class SmallBlock:
    """A soft margin with a free intercept: places of its items in the matrix, labels ±1, and what each costs."""

    places: Array
    y: Array
    #: The largest coefficient of each item, as a positive number.
    bound: Array
    #: Coefficients to begin with, within their bounds and with a sum of zero.
    z: Array


def _joined(blocks: list[SmallBlock]) -> tuple[Array, Array, Array, Array, Array]:
    """Where each block begins among all items, and their places, labels, bounds and coefficients in one piece each."""
    parts = [(block.places, block.y, block.bound, block.z) for block in blocks]
    places, y, bound, z = map(np.concatenate, zip(*parts, strict=True))
    edges = np.zeros(len(blocks) + 1, np.int64)
    np.cumsum([own.size for own, *_ in parts], out=edges[1:])
    return edges, places, y, bound, z


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
    edges, places, y, bound, z = _joined(blocks)
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


def certified_blocks(
    K: Array, blocks: list[SmallBlock], tol: float, gap: float
) -> list[tuple[DualSolution, Certificate]]:
    """Solve each block on its part of a float64 matrix, with its certificate.

    Parameters
    ----------
    K : array of shape (n, n)
    blocks : list of SmallBlock
    tol : float
    gap : float
        The duality gap to reach, as a part of the objective.

    Returns
    -------
    list of tuple
        The status of a solution says whether it is one to the tolerance and the gap.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[4.0, 0.0, -4.0], [0.0, 0.0, 0.0], [-4.0, 0.0, 4.0]])  # of the numbers 2, 0 and −2
    >>> block = SmallBlock(np.array([0, 2]), np.array([1.0, -1.0]), np.full(2, 0.5), np.zeros(2))
    >>> (found, certificate), = certified_blocks(K, [block], 1e-3, 1e-4)
    >>> found.z, found.b, certificate
    (array([ 0.125, -0.125]), 0.0, Certificate(objective=0.125, gap=0.0, violation=0.0))
    """
    edges, places, y, bound, z = _joined(blocks)
    low, high = np.minimum(bound * y, 0.0), np.maximum(bound * y, 0.0)
    F, steps, kept = np.empty(z.size), np.zeros(len(blocks), np.int64), np.zeros(len(blocks), np.bool_)
    _refine_each(K, edges, places, y, low, high, tol, gap, z, F, steps, kept)
    parts = [slice(*pair) for pair in pairwise(edges)]
    levels = np.array([best_intercept(F[part], low[part], high[part]) for part in parts])
    figures = np.empty((len(blocks), 3))
    _judge_each(np.sqrt(K.diagonal()), edges, places, y, low, high, z, F, levels, figures)
    found = [Certificate(*each) for each in figures.tolist()]
    return [
        (
            DualSolution(
                z[part], float(b), int(made), scores=y[part] - F[part],
                status=Status.CONVERGED if well and keeps(own, tol) else Status.NOT_CONVERGED,
            ),
            own,
        )
        for part, b, made, well, own in zip(parts, levels, steps, kept, found, strict=True)
    ]  # fmt: skip


@jit
def _refine_each(K, edges, places, y, low, high, tol, gap, z, F, steps, kept):
    """Coefficients, exact F and steps of each block, and whether it is solved."""
    largest, largest_part = 0, 0
    for m in range(edges.size - 1):
        n = edges[m + 1] - edges[m]
        largest, largest_part = max(largest, n), max(largest_part, n if n < K.shape[0] else 0)
    single, double = np.empty(largest * largest, np.float32), np.empty(largest_part * largest_part)
    for m in range(edges.size - 1):
        part = slice(edges[m], edges[m + 1])
        own = places[part]
        n = own.size
        block, exact = single[: n * n].reshape(n, n), K
        if n < K.shape[0]:
            exact = double[: n * n].reshape(n, n)
            for a in range(n):
                for b in range(n):
                    exact[a, b] = K[own[a], own[b]]
        for a in range(n):
            for b in range(n):
                block[a, b] = np.float32(exact[a, b])
        steps[m], kept[m] = _refine(exact, block, y[part], low[part], high[part], tol, gap, z[part], F[part])


@jit
def _refine(exact, block, y, low, high, tol, gap, z, F):
    """Steps in single precision, then from exact scores on; the last digits of free coefficients come from a system."""
    steps, aim = 0, 0.5 * tol
    _renew(F, y, exact, z)
    for _ in range(_REFINEMENTS):
        steps += _solve(block, F, z, low, high, aim)
        _balance(z, low, high)
        _renew(F, y, exact, z)
        polished = 0
        while polished < 2 and _polish(exact, F, z, low, high):  # the second time what rounding has left
            polished += 1
        if polished:
            _balance(z, low, high)
            _renew(F, y, exact, z)
        grow, shrink = gap_of(F, z, low, high)
        level = _level(F, z, low, high, 0.5 * (grow + shrink))
        square = paid = gained = total = size = 0.0
        for i in range(F.size):
            square += z[i] * (y[i] - F[i])
            gained += z[i] * y[i]
            paid += max(high[i] * (F[i] - level), low[i] * (F[i] - level))
            total += z[i]
            size += abs(z[i])
        found, allowed = square + paid - gained, gap * (0.5 * square + paid)
        if grow - shrink <= tol and found <= allowed and abs(total) <= 1e-14 * size:
            return steps, True
        aim = tol * max(_TIGHTEST, min(0.5, 0.5 * allowed / found if found > 0 else 0.5))
    return steps, False


@jit
def _balance(z, low, high):
    """Take the little that Σz is more than zero from coefficients that are free, by the room they have."""
    excess = room = 0.0
    for i in range(z.size):
        excess += z[i]
    for i in range(z.size):
        if low[i] < z[i] < high[i]:
            room += z[i] - low[i] if excess > 0 else high[i] - z[i]
    share = min(1.0, abs(excess) / room) if room > 0 else 0.0
    for i in range(z.size):
        if low[i] < z[i] < high[i]:
            z[i] -= share * (z[i] - low[i] if excess > 0 else z[i] - high[i])


@jit
def _polish(K, F, z, low, high):
    """Solve for the free coefficients, and bring F up to date; ``False``, and nothing changed, where that is no gain.

    With F + K·change the same for all of them and Σ change = 0. Those that would leave their bounds stop there.
    """
    free = np.empty(z.size, np.int64)
    m = 0
    for i in range(z.size):
        if low[i] < z[i] < high[i]:
            free[m] = i
            m += 1
    if not 2 <= m <= _LARGEST_POLISHED:
        return False
    change, moving = np.zeros(m), np.ones(m, np.bool_)
    A, x, ones = np.empty((m, m)), np.empty(m), np.empty(m)
    for _ in range(_ATTEMPTS):
        k, total = 0, 0.0
        for p in range(m):
            if not moving[p]:
                total -= change[p]
                continue
            row = K[free[p]]
            x[k], ones[k] = F[free[p]], 1.0
            column = 0
            for q in range(m):
                if not moving[q]:
                    x[k] -= row[free[q]] * change[q]
                elif q <= p:
                    A[k, column] = row[free[q]]
                    column += 1
            A[k, k] *= 1.0 + _RIDGE
            k += 1
        if k < 2 or not _solve_both(A, k, x, ones):
            return False
        sum_x = sum_ones = 0.0
        for a in range(k):
            sum_x += x[a]
            sum_ones += ones[a]
        level = (sum_x - total) / sum_ones
        a, inside = 0, True
        for p in range(m):
            if moving[p]:
                wanted = z[free[p]] + x[a] - level * ones[a]
                if not np.isfinite(wanted):
                    return False
                if not low[free[p]] <= wanted <= high[free[p]]:
                    inside = moving[p] = False
                    wanted = min(max(wanted, low[free[p]]), high[free[p]])
                change[p] = wanted - z[free[p]]
                a += 1
        if inside:
            return _gained(K, F, z, low, high, free[:m], change)
    return False


@jit
def _gained(K, F, z, low, high, free, change):
    """Make a change of free coefficients if the dual gains by it."""
    moved = np.zeros(F.size)
    for p in range(free.size):
        c, row = change[p], K[free[p]]
        for k in range(F.size):
            moved[k] += c * row[k]
    gain = 0.0
    for p in range(free.size):
        gain += change[p] * (F[free[p]] - 0.5 * moved[free[p]])
    if not gain > 0:
        return False
    for p in range(free.size):
        i = free[p]
        z[i] = min(max(z[i] + change[p], low[i]), high[i])
    for k in range(F.size):
        F[k] -= moved[k]
    return True


@jit
def _solve_both(A, k, x, ones):
    """A⁻¹x and A⁻¹1 in place, by the factor L of A = L·Lᵀ, which is written over its lower half."""
    for a in range(k):
        row = A[a]
        for c in range(a + 1):
            total, other = row[c], A[c]
            total -= _dot(row, other, c)
            if c < a:
                row[c] = total / other[c]
            elif total > 0:
                row[a] = np.sqrt(total)
            else:
                return False
        x[a] = (x[a] - _dot(row, x, a)) / row[a]
        ones[a] = (ones[a] - _dot(row, ones, a)) / row[a]
    for a in range(k - 1, -1, -1):
        row = A[a]
        x[a] /= row[a]
        ones[a] /= row[a]
        for c in range(a):
            x[c] -= row[c] * x[a]
            ones[c] -= row[c] * ones[a]
    return True


@jit(reorder=True, inline=True)
def _dot(a, b, size):
    total = 0.0
    for i in range(size):
        total += a[i] * b[i]
    return total


@jit
def _judge_each(lengths, edges, places, y, low, high, z, F, levels, figures):
    """Objective, duality gap and worst violation of each block, as :func:`~mercer.problems.certify` has them."""
    for m in range(edges.size - 1):
        square = paid = gained = weight = paying = size = 0.0
        for i in range(edges[m], edges[m + 1]):
            distance, bound, length = F[i] - levels[m], high[i] - low[i], lengths[places[i]]
            square += z[i] * (y[i] - F[i])
            gained += z[i] * y[i]
            paid += max(high[i] * distance, low[i] * distance)
            weight += bound
            size += length * abs(z[i])
            if y[i] * distance > 0:
                paying += length * bound
        lam = 1.0 / weight  # 1/(C·Σ weights)
        part = slice(edges[m], edges[m + 1])
        grow, shrink = gap_of(F[part], z[part], low[part], high[part])
        figures[m, 0] = lam * (0.5 * square + paid)
        figures[m, 1] = max(lam * (square + paid - gained), _EPSILON * lam * paying * size)
        figures[m, 2] = max(0.0, grow - shrink)


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
def _renew(F, y, K, z):
    """F = y − K·z."""
    copy_into(y, F)
    _subtract(F, K, z)


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
