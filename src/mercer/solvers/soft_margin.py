"""The exact soft margin: which items matter is found from outside in.

:mod:`.smo` solves the dual on a block of the kernel matrix that fits into memory. Here the block is chosen. An item far
on the right side of the margin has coefficient 0 and one far on the wrong side has its bound; neither needs a row of
the block. So:

1. solve on a small random block;
2. bring the scores f = Kz of *all* items up to date, which costs one row of K for every coefficient that changed;
   rows of free items will be needed again and are kept, as the memory limit allows (:mod:`.row_cache`);
3. make a new block of the items that are free or violate their optimality condition, three times as many as before
   at most; stop if there is no violation.

Violators are picked at random. The worst ones lie close together, and a block full of them says one thing many times;
a random choice stands for all of them. Blocks grow like a geometric series, so that the number of kernel values
computed is a small multiple of (support items) × (all items), which no method can avoid.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .._compile import Array, jit
from ..problem import Problem, Solution, Status
from .row_cache import RowCache
from .smo import gap_of, solve_block

#: Items in the first block.
_FIRST = 1024
#: A block may have this many times the items of the last one.
_GROWTH = 3
#: A block is solved to this part of the gap of the whole.
_ROUGH = 0.05
#: Items that violate nothing but by less than this might soon; they come into the block as well.
_BAND = 0.03
#: Coefficients (times the largest self-similarity) beyond this mean that the hard margin does not exist.
_ENDLESS = 1e8
#: Working sets that are tried before Python looks at the clock and at Ctrl-C.
_ROUNDS = 32


@dataclass(frozen=True)
class SoftMargin:
    """The dual of the soft margin with an intercept, to a certified gap.

    Parameters
    ----------
    tol : float
        The largest violation of an optimality condition that is allowed at the end.
    max_iter : int
        Most steps (changes of a pair of coefficients); −1 for no limit. Looked at between working sets.
    time_limit : float
        Seconds after which the best model so far is returned.
    memory : int
        Bytes that the block of the kernel matrix may take.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problem import Problem
    >>> from mercer.solvers import SoftMargin
    >>> X = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
    >>> y = np.array([1.0, 1, 1, -1, -1, -1])
    >>> solution = SoftMargin(tol=1e-6).solve(Problem(Features(X), y, Hinge(), lam=1e-6, intercept=True))
    >>> (X.T @ solution.z).round(3), round(solution.b, 3)
    (array([2., 2.]), -3.0)
    """

    tol: float = 1e-3
    max_iter: int = -1
    time_limit: float = np.inf
    memory: int = 10**9

    def solve(self, problem: Problem, start: Array | None = None, rng: np.random.Generator | None = None) -> Solution:
        """Solve; ``start`` holds coefficients to begin with, which are moved into their bounds first."""
        rng = rng or np.random.default_rng(0)
        gram, targets = problem.gram, problem.targets()
        n = targets.size
        low, high = problem.bounds()
        begin = time.monotonic()
        scale = float(gram.diag().max(initial=0.0))
        cache = RowCache(gram, int(0.6 * self.memory))
        largest = int(max(64, min(n, np.sqrt(0.2 * self.memory / 4))))
        # Two blocks, the present and the last, take turns in the same memory.
        arenas = [np.empty(largest * largest, np.float32) for _ in range(2)]

        z = np.zeros(n)
        if start is not None:
            z = _balanced(np.clip(start, low, high), low, high)
        F = targets.copy()
        used = np.flatnonzero(z)
        cache.subtract(F, used, z[used], keep=(z[used] > low[used]) & (z[used] < high[used]))
        synced = z.copy()
        if z.any():
            active = _next_block(F, z, low, high, min(largest, 4 * _FIRST), rng)
        else:
            active = (
                np.arange(n)
                if n <= min(largest, 2 * _FIRST)
                else _first_block(targets, high - low, min(largest, _FIRST), rng)
            )
        old, K = np.empty(0, np.int64), np.empty((0, 0), np.float32)
        steps, status = 0, Status.NOT_CONVERGED
        while True:
            grow, shrink = gap_of(F, z, low, high)
            try:
                active, K = _block(cache, active, old, K, arenas[0])
                arenas.reverse()
                rough = min(_ROUGH * (grow - shrink), 0.1) if active.size < n else 0.0
                tolerance = max(0.5 * self.tol, rough)
                made, out_of_time = self._solve_active(K, F, z, low, high, active, tolerance, steps, begin)
                steps += made
                old = active

                moved = np.flatnonzero(z != synced)
                if active.size < n:  # else the block was the whole, and brought F up to date itself
                    free = (z[moved] > low[moved]) & (z[moved] < high[moved])
                    cache.subtract(F, moved, z[moved] - synced[moved], keep=free)
            except KeyboardInterrupt:  # z is as good as it was before this block, or better
                status, F = Status.INTERRUPTED, targets - gram.matvec(z)
                break
            synced = z.copy()
            grow, shrink = gap_of(F, z, low, high)
            if grow - shrink <= self.tol:
                status = Status.CONVERGED
                break
            if not np.isfinite(high).all() and np.abs(z).max() * scale > _ENDLESS:
                status = Status.NOT_SEPARABLE
                break
            if out_of_time or moved.size == 0:
                break
            support = int(np.count_nonzero(z)) * (1 if gram.expensive else _GROWTH)
            inside = int(np.count_nonzero((z > low) & (z < high)))
            limit: int = min(_GROWTH * active.size, max(4 * _FIRST, min(support, 8 * _FIRST), 2 * inside))
            limit = max(limit, _FIRST)
            active = _next_block(F, z, low, high, min(largest, limit), rng)
        b = _intercept(F, z, low, high)
        return Solution(z=z, b=b, status=status, n_iter=steps, seen=n, scores=targets - F)

    def _solve_active(
        self,
        K: Array,
        F: Array,
        z: Array,
        low: Array,
        high: Array,
        active: Array,
        tolerance: float,
        steps: int,
        begin: float,
    ) -> tuple[int, bool]:
        """Solve on the block, looking at the clock between working sets; whether a limit was reached is returned."""
        f, own, lower, upper = F[active], z[active], low[active], high[active]
        previous = np.empty(0, np.int64)
        total, limit = 0, False
        while not limit:
            made, previous = solve_block(K, f, own, lower, upper, tolerance, _ROUNDS, previous)
            total += made
            if not np.isfinite(upper).all() and np.abs(own).max() * K.diagonal().max(initial=0.0) > _ENDLESS:
                break
            grow, shrink = gap_of(f, own, lower, upper)
            if made == 0 or grow - shrink <= tolerance:
                break
            limit = time.monotonic() - begin > self.time_limit or 0 <= self.max_iter <= steps + total
        z[active] = own
        if active.size == z.size:
            F[active] = f
        return total, limit


def _first_block(y: Array, width: Array, size: int, rng: np.random.Generator) -> Array:
    """Random items, both classes (or halves of the targets) among them."""
    alive = np.flatnonzero(width > 0)
    parts = []
    middle = 0.0 if np.abs(y).max() == 1.0 else np.median(y)
    for side in (alive[y[alive] > middle], alive[y[alive] <= middle]):
        share = max(1, round(size * side.size / alive.size))
        parts.append(rng.permutation(side)[:share])
    return np.sort(np.concatenate(parts))


def _next_block(F: Array, z: Array, low: Array, high: Array, size: int, rng: np.random.Generator) -> Array:
    """The items that violate their condition, or nearly do, or are free; the worst first."""
    grow, shrink = gap_of(F, z, low, high)
    middle = 0.5 * (grow + shrink)
    excess = np.full(z.size, -np.inf)
    may_grow, may_shrink = z < high, z > low
    excess[may_grow] = F[may_grow] - middle
    excess[may_shrink] = np.maximum(excess[may_shrink], middle - F[may_shrink])
    near = np.flatnonzero(excess > -max(_BAND, 0.1 * (grow - shrink)))
    if near.size > size:
        # Free items first; of the others, the worst are often near each other and one speaks for all: any will do.
        free = may_grow[near] & may_shrink[near]
        rank = rng.random(near.size) - 2.0 * free - 1.0 * (excess[near] > 0)
        near = near[np.argpartition(rank, size)[:size]]
    return np.sort(near)


def _block(cache: RowCache, active: Array, old: Array, K: Array, arena: Array) -> tuple[Array, Array]:
    """The matrix of the active items, reusing what the last one has of it; kept items come first."""
    kept, _, places = np.intersect1d(active, old, assume_unique=True, return_indices=True)
    new = np.setdiff1d(active, kept, assume_unique=True)
    order = np.concatenate([kept, new])
    out = arena[: order.size**2].reshape(order.size, order.size)
    _copy_block(K, places, out)
    if new.size:
        cache.block(new, order, out[kept.size :])
        out[: kept.size, kept.size :] = out[kept.size :, : kept.size].T
    return order, out


@jit
def _copy_block(K: Array, places: Array, out: Array) -> None:
    """The rows and columns ``places`` of K, to the upper left corner of ``out``."""
    for a in range(places.size):
        row, target = K[places[a]], out[a]
        for b in range(places.size):
            target[b] = row[places[b]]


def _balanced(z: Array, low: Array, high: Array) -> Array:
    """Coefficients within their bounds that sum to zero: the side with too much gives some of it up."""
    for _ in range(3):
        total = z.sum()
        side = z > 0 if total > 0 else z < 0
        weight = np.abs(z[side]).sum()
        if total == 0 or weight == 0:
            break
        z = z.copy()
        z[side] *= 1 - min(1.0, abs(total) / weight)
    return np.clip(z, low, high)


def _intercept(F: Array, z: Array, low: Array, high: Array) -> float:
    """The mean of y − f over free items; without any, the middle of what the others allow."""
    free = (z > low) & (z < high)
    if free.any():
        return float(F[free].mean())
    grow, shrink = gap_of(F, z, low, high)
    if not np.isfinite(grow) or not np.isfinite(shrink):
        return float(grow if np.isfinite(grow) else shrink if np.isfinite(shrink) else 0.0)
    return float(0.5 * (grow + shrink))
