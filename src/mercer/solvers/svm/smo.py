"""Sequential minimal optimisation on a dense block of the kernel matrix: the inner half of the exact SVM.

With signed coefficients z = y·α the dual of the soft margin is

    minimise  ½·zᵀKz − yᵀz     subject to  Σz = 0,   lowᵢ ≤ zᵢ ≤ highᵢ     ([0, C] for y = 1, [−C, 0] for y = −1).

Let F = y − Kz, the negative gradient. Moving t from zⱼ to zᵢ gains t·(Fᵢ − Fⱼ) to first order, which is allowed while
zᵢ < highᵢ and zⱼ > lowⱼ; so z is optimal when max F over all that may grow exceeds min F over all that may shrink by
no more than the tolerance. That difference is the *gap* here. A step takes the j with the least F and the i that
gains most with it, (Fᵢ − Fⱼ)²/(Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ), and goes all the way.

Where the coefficients of two groups have sums of their own (:mod:`mercer.problems.problem`), both items of a step
belong to the same group, and the gap is that of the worse one. Groups lie side by side in a working set.

Two levels: :meth:`Workspace.solve` picks a working set of one or two thousand items out of the block, gathers their
small matrix so that it stays in the processor's cache, lets :func:`_smo` work on it, and brings F of the whole block up
to date.

"May not grow" and "may not shrink" are written as ∓1e30 added to F: selection is then a plain maximum over an array
and runs on many numbers at once.
"""

from __future__ import annotations

import time

import numpy as np
from scipy import linalg

from ...grams.base import Gram
from ...problems import BoxDual, Iterate, Problem, Status
from ...runtime.compile import Array, jit
from ...runtime.numerics import add_rows, gather
from ...runtime.numerics import transpose_into as transpose

# From nearly solved to solved in one step, where few coefficients are free.
#
# When it is known which coefficients are at a bound, the others solve a linear system: all free items have the same F,
# and all coefficients sum to what they sum to now,
#
#     K_FF·d + b = F_F,      Σd = 0,      z_F ← z_F + d,
#
# with a b and a Σ for each group of variables whose sums are given.
#
# Pairwise steps need tens of thousands of visits to get there when K is badly conditioned. Coefficients that the system
# puts beyond a bound are put on it, and the rest is solved again.
#
# The same leap, on the exact kernel matrix, gives the last digits of a solution (:func:`polish`): an iterative solver
# stops when no condition is violated by more than its tolerance, and from there one linear system leads to machine
# precision.


#: The cost grows with the cube of the free items; with more of them pairwise steps are faster.
LARGEST_LEAP = 600
_ATTEMPTS = 12
#: Added to the diagonal, relative to it: single precision makes nearly equal items look indefinite, and equal ones make
#: K singular in any precision.
_RIDGE, _EXACT_RIDGE = 3e-7, 1e-14
#: With more free items than this a solution is left as it is: a tolerance is a tolerance.
_LARGEST_POLISHED = 300


def newton_on_free(
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
    if not newton_on_free(K, F, own, low[free], high[free], _EXACT_RIDGE, groups):
        return None
    newton_on_free(K, F, own, low[free], high[free], _EXACT_RIDGE, groups)  # what rounding has left
    better = z.copy()
    better[free] = own
    better = dual.balanced(better)
    moved = np.flatnonzero(better != z)
    return better, scores + exact.scores(np.arange(z.size), moved, (better - z)[moved])


#: Items in a working set, or more where more are free; their float32 matrix takes 16 megabytes.
WORKING_SET = 2048
_NEVER = np.float32(1e30)
#: Curvature below this, relative to the largest self-similarity, counts as this: two equal items.
_FLAT = 1e-12
_ZERO, _TWO = np.float32(0.0), np.float32(2.0)
#: Steps for each item of a working set before a leap is tried, and after it.
_SOON, _PATIENCE = 16, 20
#: Steps on a whole block, for each item in it, and the gap, until it is cut into working sets.
_BROAD, _EARLY = 0.3, 1.0
#: Room in a working set for each free item, and the part of a block from which on the block itself will do.
_SPACE, _NEARLY_ALL = 1.7, 0.7
#: Items that violate nothing but by less than this might soon; they come into the working set as well.
_BAND = 0.03
_SIGN, _MAGNITUDE = np.int32(31), np.int32(0x7FFFFFFF)


@jit
def _key(value, place, mask):
    """A whole number that is ordered as ``value`` is, with the place where it was found in its low bits.

    The bits of a float, read as a whole number, have the order of its absolute value; flipping those of negative ones
    gives the order of the value. A maximum of whole numbers vectorises where one of floats, with its rules for NaN,
    does not, and it brings its place along (the last of equals wins); the price is that values closer than 2⁻¹² to
    each other (for 2048 places; half as close for twice as many) count as equal. ``mask`` covers the bits of the place.
    """
    bits = np.float32(value).view(np.int32)
    ordered = np.int32(bits ^ ((bits >> _SIGN) & _MAGNITUDE))
    return np.int32((ordered & ~mask) | place)


@jit
def _move(F, Ki, Kj, t, up, down, mask, begin, end):
    """F −= t·(Kᵢ − Kⱼ) of a group; where its largest F is that may grow, and the least that may shrink."""
    grow, shrink = np.int32(-(2**31)), np.int32(-(2**31))
    # Places from 0 to a size are known not to be negative, which would count from the end: only then is the loop one
    # of many numbers at once.
    F, Ki, Kj, up, down = F[begin:end], Ki[begin:end], Kj[begin:end], up[begin:end], down[begin:end]
    for k in range(F.size):
        value = np.float32(F[k] - t * (Ki[k] - Kj[k]))
        F[k] = value
        place = np.int32(begin + k)
        grow = np.int32(max(grow, _key(np.float32(value + up[k]), place, mask)))
        shrink = np.int32(max(shrink, _key(np.float32(-(value + down[k])), place, mask)))
    return grow & mask, shrink & mask


@jit
def _partner(F, up, Kj, diag, Fj, Kjj, flat, mask, begin, end):
    """The i of a group that gains most together with j."""
    best = np.int32(begin)
    F, up, Kj, diag = F[begin:end], up[begin:end], Kj[begin:end], diag[begin:end]
    for k in range(F.size):
        rise = np.float32(max((F[k] + up[k]) - Fj, _ZERO))
        curve = np.float32(max(Kjj + diag[k] - _TWO * Kj[k], flat))
        gain = np.float32(rise * rise / curve)
        best = np.int32(max(best, _key(gain, np.int32(begin + k), mask)))
    return best & mask


@jit
def _worst(F, Ki, Kj, t, up, down, mask, edges):
    """As :func:`_move` for all groups; the pair of the one with the largest gap, that gap, and where the group is."""
    j, gap, group = np.int32(0), np.float32(-np.inf), 0
    for g in range(edges.size - 1):
        grow, shrink = _move(F, Ki, Kj, t, up, down, mask, edges[g], edges[g + 1])
        other = (F[grow] + up[grow]) - (F[shrink] + down[shrink])
        if other > gap:
            j, gap, group = shrink, other, g
    return j, gap, edges[group], edges[group + 1]


@jit
def _smo(K, F, z, low, high, up, down, diag, edges, tolerance, steps):
    """Steps on a small block until its gap is within the tolerance; returns how many were made.

    ``edges`` are where its groups begin, and the end; none of them is empty.
    """
    mask = np.int32(1)
    while mask < F.size:
        mask = np.int32(2 * mask)
    mask = np.int32(mask - 1)
    flat = np.float32(1e-38)
    for k in range(diag.size):
        flat = np.float32(max(flat, _FLAT * diag[k]))
    i, j, t = np.int32(0), np.int32(0), 0.0
    for step in range(steps + 1):
        j, gap, begin, end = _worst(F, K[i], K[j], np.float32(t), up, down, mask, edges)
        if gap <= tolerance or step == steps:
            break
        i = _partner(F, up, K[j], diag, F[j], diag[j], flat, mask, begin, end)
        curve = max(diag[i] + diag[j] - _TWO * K[i, j], flat)
        t = np.float64(F[i] - F[j]) / np.float64(curve)
        room, stock = high[i] - z[i], z[j] - low[j]
        t = min(t, room, stock)
        if t <= 0.0:
            break
        z[i] = high[i] if t == room else z[i] + t
        z[j] = low[j] if t == stock else z[j] - t
        up[i] = _ZERO if z[i] < high[i] else -_NEVER
        down[j] = _ZERO if z[j] > low[j] else _NEVER
        down[i] = up[j] = _ZERO
    return step


def one_step(K: Array, F: Array, z: Array, low: Array, high: Array, tolerance: float) -> Array:
    """Change the pair of coefficients that gains most, and F with it; none where the gap is within the tolerance.

    ``K``, of all items, and ``F`` are float32, coefficients and bounds float64. Returns the two items, first the one
    that grew.

    Examples
    --------
    >>> K, F = np.eye(2, dtype=np.float32), np.array([1.0, -1.0], np.float32)
    >>> z = np.zeros(2)
    >>> one_step(K, F, z, np.array([0.0, -5.0]), np.array([5.0, 0.0]), 1e-3), z, F
    (array([0, 1]), array([ 1., -1.]), array([0., 0.], dtype=float32))
    """
    up, down = np.empty_like(F), np.empty_like(F)
    _allow(z, low, high, up, down)
    before = z.copy()
    _smo(K, F, z, low, high, up, down, K.diagonal().copy(), np.array([0, F.size]), np.float32(tolerance), 1)
    change = z - before
    return np.flatnonzero(change)[np.argsort(-change[change != 0], kind="stable")]


@jit
def gap_of(F, z, low, high):
    """max F over what may grow, min F over what may shrink."""
    grow, shrink = -np.inf, np.inf
    for i in range(F.size):
        if z[i] < high[i] and F[i] > grow:
            grow = F[i]
        if z[i] > low[i] and F[i] < shrink:
            shrink = F[i]
    return grow, shrink


@jit
def _extremes(F, z, low, high, groups, grow, shrink):
    """As :func:`gap_of` for each group."""
    for i in range(F.size):
        g = groups[i]
        if z[i] < high[i] and F[i] > grow[g]:
            grow[g] = F[i]
        if z[i] > low[i] and F[i] < shrink[g]:
            shrink[g] = F[i]


def levels_of(F: Array, z: Array, low: Array, high: Array, groups: Array) -> tuple[Array, float]:
    """The middle between what may grow and what may shrink in each group, and the gap of the worst.

    Where all of a group may do one thing only, there is no gap, and its level is the F that is nearest to one.
    """
    count = int(groups.max(initial=0)) + 1
    grow, shrink = np.full(count, -np.inf), np.full(count, np.inf)
    _extremes(F, z, low, high, groups, grow, shrink)
    upper, lower = np.where(np.isinf(grow), shrink, grow), np.where(np.isinf(shrink), grow, shrink)
    return np.where(np.isinf(upper), 0.0, 0.5 * (upper + np.where(np.isinf(lower), 0.0, lower))), float(
        (grow - shrink).max()
    )


@jit
def _select(F, z, low, high, previous, band, taken, out):
    """A working set: free items of the previous one first (half of the places), then the worst from both ends.

    Items that would violate their condition only if F moved by more than ``band`` are left out. F is measured from
    the level of its group.
    """
    size, count = out.size, 0
    taken[:] = False
    for p in range(previous.size):
        i = previous[p]
        if count < size // 2 and low[i] < z[i] < high[i]:
            out[count] = i
            taken[i] = True
            count += 1
    order = np.argsort(F)
    top, bottom = F.size - 1, 0
    while count < size and (top >= 0 or bottom < F.size):
        while top >= 0 and (taken[order[top]] or z[order[top]] >= high[order[top]]):
            top -= 1
        if top >= 0 and F[order[top]] < -band:
            top = -1
        if top >= 0:
            out[count] = order[top]
            taken[order[top]] = True
            count += 1
        while bottom < F.size and (taken[order[bottom]] or z[order[bottom]] <= low[order[bottom]]):
            bottom += 1
        if bottom < F.size and F[order[bottom]] > band:
            bottom = F.size
        if bottom < F.size and count < size:
            out[count] = order[bottom]
            taken[order[bottom]] = True
            count += 1
    return count


@jit
def _allow(z, low, high, up, down):
    """Write down who may grow and who may shrink."""
    for a in range(z.size):
        up[a] = np.float32(0.0) if z[a] < high[a] else -_NEVER
        down[a] = np.float32(0.0) if z[a] > low[a] else _NEVER


class Workspace:
    """Memory to solve blocks in: for two blocks, a working set, and blocks within blocks, used over and over.

    Memory that a process has not touched before is slow; a workspace that serves several problems pays for it once.
    """

    def __init__(self) -> None:
        self._blocks = [np.empty(0, np.float32), np.empty(0, np.float32)]
        #: The working set whose matrix is at hand, the block that it was taken from, and room for the next one.
        self._held, self._source = np.empty(0, np.int64), np.empty((0, 0), np.float32)
        self._matrices = [np.empty(0, np.float32), np.empty(0, np.float32)]
        #: Blocks within blocks, from outside in.
        self._nested: list[Array] = []
        #: Items of the largest block in either place, of blocks within blocks, and of the largest working set so far.
        self._sides, self._nested_sides, self._most = [0, 0], [0], 0

    @property
    def nbytes(self) -> int:
        """What was needed of its memory: by all of the blocks, and by the working sets."""
        return 4 * (sum(side**2 for side in self._sides + self._nested_sides) + 2 * self._most**2)

    @property
    def room(self) -> int:
        """Bytes of all its memory."""
        return sum(array.nbytes for array in self._blocks + self._nested + self._matrices)

    def forget(self) -> None:
        """Let go of everything but the memory."""
        self._held, self._source = np.empty(0, np.int64), np.empty((0, 0), np.float32)
        self._sides, self._nested_sides, self._most = [0, 0], [0], 0

    def square(self, size: int) -> Array:
        """A matrix for a block, in place of the block before the last."""
        self._blocks.reverse()
        self._sides.reverse()
        self._sides[0] = max(self._sides[0], size)
        if self._blocks[0].size < size * size:
            self._blocks[0] = np.empty(size * size, np.float32)
        return self._blocks[0][: size * size].reshape(size, size)

    def nested(self, depth: int, size: int) -> Array:
        """A matrix for a block within so many others."""
        self._nested += [np.empty(0, np.float32)] * (depth + 1 - len(self._nested))
        self._nested_sides += [0] * (depth + 1 - len(self._nested_sides))
        self._nested_sides[depth] = max(self._nested_sides[depth], size)
        if self._nested[depth].size < size * size:
            self._nested[depth] = np.empty(size * size, np.float32)
        return self._nested[depth][: size * size].reshape(size, size)

    def _gathered(self, K: Array, W: Array) -> tuple[Array, Array]:
        """A working set and its matrix, reusing what the last one has of it; items that stay come first."""
        if self._matrices[1].size < W.size**2:
            side = max(W.size, WORKING_SET)
            self._matrices[1] = np.empty(side * side, np.float32)
        self._most = max(self._most, W.size)
        old = self._matrices[0][: self._held.size**2].reshape(self._held.size, self._held.size)
        out = self._matrices[1][: W.size**2].reshape(W.size, W.size)
        known = self._held if self._source is K else self._held[:0]
        kept, places, _ = np.intersect1d(known, W, assume_unique=True, return_indices=True)
        new = np.setdiff1d(W, kept, assume_unique=True)
        order, k = np.concatenate([kept, new]), kept.size
        gather(old, places, places, out[:k, :k])
        gather(K, new, order, out[k:])
        transpose(out[k:, :k], out[:k, k:])
        self._matrices.reverse()
        self._held, self._source = order, K
        return order, out

    def solve(
        self,
        K: Array,
        F: Array,
        z: Array,
        low: Array,
        high: Array,
        tolerance: float,
        rounds: int,
        previous: Array,
        steps: float = np.inf,
        deadline: float = np.inf,
        groups: Array | None = None,
    ) -> tuple[int, Array]:
        """Bring the gap of a block within the tolerance, or make ``rounds`` working sets, or so many ``steps``.

        ``K`` is the block in float32; F, z and the bounds are float64 and are updated. Returns the number of SMO
        steps, and the last working set (the next call's ``previous``). ``groups`` numbers the group of each item where
        there are several.
        """
        n = z.size
        everything = np.arange(n)
        single = groups is None
        groups = np.zeros(n, np.int64) if groups is None else groups
        taken, chosen = np.empty(n, np.bool_), np.empty(n, np.int64)
        total, broad = 0, True
        for _ in range(rounds):
            levels, gap = levels_of(F, z, low, high, groups)
            if gap <= tolerance or total >= steps or time.monotonic() > deadline:
                break
            # At first any pair of items may be worth a step; later the same few are visited again and again, and
            # are better off in a matrix of their own: rows of a large one come from memory, at several times the cost.
            free = int(np.count_nonzero((z > low) & (z < high)))
            size = min(n, max(WORKING_SET, int(_SPACE * free)))
            whole = single and (n <= WORKING_SET or size > _NEARLY_ALL * n or (broad and gap > _EARLY))
            near = F - levels[groups]  # numbers near zero keep float32 precise
            if whole:
                W, small = everything, K
            elif single:
                band = max(0.25 * gap, _BAND)
                W = np.sort(chosen[: _select(near, z, low, high, previous, band, taken, chosen[:size])])
                W, small = self._gathered(K, W)
            else:
                W = everything
                if n > WORKING_SET:
                    room = chosen[:WORKING_SET]
                    W = room[: _select(near, z, low, high, previous, max(0.25 * gap, _BAND), taken, room)]
                W = W[np.lexsort([W, groups[W]])]
                small = np.empty((W.size, W.size), np.float32)
                gather(K, W, W, small)
            edges = np.append(np.unique(groups[W], return_index=True)[1], W.size)
            f, diag = near[W].astype(np.float32), K.diagonal()[W]
            up, down = np.empty_like(f), np.empty_like(f)
            local, lower, upper = z[W], low[W], high[W]
            _allow(local, lower, upper, up, down)
            target = np.float32(0.9 * tolerance if n <= WORKING_SET else max(0.1 * gap, 0.5 * tolerance))
            limit = int(_BROAD * n) if whole and n > WORKING_SET else _SOON * W.size
            limit, more = (int(min(count, steps - total)) for count in (limit, limit + _PATIENCE * W.size))
            made = _smo(small, f, local, lower, upper, up, down, diag, edges, target, limit)
            broad = broad and made < limit
            if made == limit and W.size <= WORKING_SET:
                if newton_on_free(small, f, local, lower, upper, groups=groups[W]):
                    _allow(local, lower, upper, up, down)
                made += _smo(small, f, local, lower, upper, up, down, diag, edges, target, more - limit)
            total += made
            previous = previous if whole and n > WORKING_SET else W
            if made == 0:
                break
            change = local - z[W]
            moved = np.flatnonzero(change)
            add_rows(F, K, W[moved], -change[moved])
            z[W] = local
        return total, previous


# Whether a solution that was found in single precision is one, as far as a few exact scores tell.


#: Items whose scores tell, in a search, whether single precision can be trusted.
_SPOTS = 32


def trusted(problem: Problem, found: Iterate, tol: float, rng: np.random.Generator) -> bool:
    """Whether the scores of some items, computed anew by the problem's Gram, are those that a solver thinks they are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import SoftMargin
    >>> problem = Problem(Features(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), 0.1, intercept="free")
    >>> trusted(problem, SoftMargin().solve(problem), 1e-3, np.random.default_rng(0))
    True
    """
    if getattr(found, "status", None) is not Status.CONVERGED or not np.isfinite(found.z).all():
        return False
    used, n = np.flatnonzero(found.z), found.z.size
    spots = np.sort(rng.choice(n, min(n, _SPOTS), replace=False))
    if not used.size:
        return True
    scores = problem.gram.scores(spots, used, found.z[used])
    return bool(np.abs(scores - np.asarray(found.scores)[spots]).max() <= 10 * tol)
