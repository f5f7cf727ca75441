"""The exact soft margin: which items matter is found from outside in.

:mod:`.smo` solves the dual on a block of the kernel matrix that fits into memory. Here the block is chosen. An item far
on the right side of the margin has coefficient 0 and one far on the wrong side has its bound; neither needs a row of
the block. So:

1. solve on a small random block;
2. bring the scores f = Kz of *all* items up to date, which costs one column of K for every coefficient that changed
   and is done tile by tile, never storing them;
3. make a new block of the items that are free or violate their optimality condition, the worst first, twice as many
   as before at most; stop if there is no violation.

The blocks grow like a geometric series, so all work before the last block costs about as much as the last, and the
number of kernel values computed is a small multiple of (support items) × (all items), which no method can avoid.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .._compile import Array
from ..problem import Problem, Solution, Status
from .smo import gap_of, solve_block

#: Items in the first block.
_FIRST = 1024
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
        Most steps (changes of a pair of coefficients); −1 for no limit.
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
        gram, y = problem.gram, np.asarray(problem.y, dtype=np.float64)
        n = y.size
        low, high = problem.bounds()
        begin = time.monotonic()
        largest = int(max(64, min(n, np.sqrt(self.memory / 4))))

        z = np.zeros(n) if start is None else _balanced(np.clip(start, low, high), low, high)
        F = y - gram.matvec(z) if z.any() else y.copy()
        synced = z.copy()
        active = _first_block(y, high - low, min(largest, _FIRST if start is None else n), rng)
        if z.any():
            active = _next_block(F, z, low, high, largest)
        old, K = np.empty(0, np.int64), np.empty((0, 0), np.float32)
        steps, status = 0, Status.NOT_CONVERGED
        while True:
            active, K = _block(gram, active, old, K)
            tolerance = self._inner_tolerance(F, z, low, high)
            made, out_of_time = self._solve_active(K, F, z, low, high, active, tolerance, steps, begin)
            steps += made
            old = active

            moved = np.flatnonzero(z != synced)
            F -= gram_product(gram, moved, z[moved] - synced[moved])
            synced = z.copy()
            grow, shrink = gap_of(F, z, low, high)
            if grow - shrink <= self.tol:
                status = Status.CONVERGED
                break
            if out_of_time or (made == 0 and tolerance <= self.tol and moved.size == 0):
                break
            active = _next_block(F, z, low, high, min(largest, max(2 * active.size, _FIRST)))
        b = _intercept(F, z, low, high)
        return Solution(z=z, b=b, status=status, n_iter=steps, seen=n)

    def _inner_tolerance(self, F: Array, z: Array, low: Array, high: Array) -> float:
        """A block is solved well beyond the present gap, but not to the last digit while it still grows."""
        grow, shrink = gap_of(F, z, low, high)
        return max(0.8 * self.tol, 0.05 * (grow - shrink))

    def _solve_active(self, K, F, z, low, high, active, tolerance, steps, begin):
        """Solve on the block, looking at the clock between working sets; whether a limit was reached is returned."""
        f, own, lower, upper = F[active], z[active], low[active], high[active]
        previous = np.empty(0, np.int64)
        total, limit = 0, False
        while not limit:
            made, previous = solve_block(K, f, own, lower, upper, tolerance, _ROUNDS, previous)
            total += made
            grow, shrink = gap_of(f, own, lower, upper)
            if made == 0 or grow - shrink <= tolerance:
                break
            limit = time.monotonic() - begin > self.time_limit or 0 <= self.max_iter <= steps + total
        z[active] = own
        return total, limit


def gram_product(gram, items: Array, coefficients: Array) -> Array:
    """Σ coefficient·K[:, item]."""
    z = np.zeros(len(gram))
    z[items] = coefficients
    return gram.matvec(z)


def _first_block(y: Array, width: Array, size: int, rng: np.random.Generator) -> Array:
    """Random items, both classes among them."""
    alive = np.flatnonzero(width > 0)
    parts = []
    for sign in (1.0, -1.0):
        members = alive[y[alive] == sign]
        share = max(1, round(size * members.size / alive.size))
        parts.append(rng.permutation(members)[:share])
    return np.sort(np.concatenate(parts))


def _next_block(F: Array, z: Array, low: Array, high: Array, size: int) -> Array:
    """The items that violate their condition, or nearly do, or are free; the worst first."""
    grow, shrink = gap_of(F, z, low, high)
    middle = 0.5 * (grow + shrink)
    excess = np.full(z.size, -np.inf)
    may_grow, may_shrink = z < high, z > low
    excess[may_grow] = F[may_grow] - middle
    excess[may_shrink] = np.maximum(excess[may_shrink], middle - F[may_shrink])
    excess[may_grow & may_shrink] += 2 * abs(grow - shrink)  # free items first
    near = np.flatnonzero(excess > -0.25 * (grow - shrink))
    if near.size > size:
        near = near[np.argpartition(-excess[near], size)[:size]]
    return np.sort(near)


def _block(gram, active: Array, old: Array, K: Array) -> tuple[Array, Array]:
    """The matrix of the active items, reusing what the last one has of it; kept items come first."""
    kept = np.intersect1d(active, old)
    if kept.size < 0.3 * active.size:
        return active, gram.block(active, active)
    new = np.setdiff1d(active, kept)
    order = np.concatenate([kept, new])
    places = np.searchsorted(np.sort(old), kept)
    places = np.argsort(old)[places]
    out = np.empty((order.size, order.size), np.float32)
    out[: kept.size, : kept.size] = K[np.ix_(places, places)]
    if new.size:
        fresh = gram.block(new, order)
        out[kept.size :] = fresh
        out[: kept.size, kept.size :] = fresh[:, : kept.size].T
    return order, out


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
