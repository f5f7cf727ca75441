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

from ..._runtime.combine import add_rows, gather
from ..._runtime.compile import Array
from ..._runtime.interrupts import heed, kept
from ...grams.dense import Dense
from ...problems.certificate import balanced, best_intercept, slack
from ...problems.problem import Problem, Solution, Status
from .dual_gradient import Shortfall
from .row_cache import RowCache
from .smo import Bench, gap_of

#: Items in the first block.
_FIRST = 1024
#: A block may have this many times the items of the last one.
_GROWTH = 3
#: A block is solved to this part of the gap of the whole.
_ROUGH = 0.05
#: Items that violate nothing but by less than this might soon; they come into the block as well.
_BAND = 0.03
#: Gaps below this are the end game: items far from the margin are left alone until all others are done.
_LATE = 0.5
#: Coefficients (times the largest self-similarity) beyond this mean that a hard margin is not going to be found.
_ENDLESS = 1e8
#: A tolerance is made tighter by no more than this, for the sake of a gap.
_TIGHTEST = 0.01
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
    gap : float
        The duality gap to reach, as a part of the objective, where one block has all items and it costs little.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
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
    gap: float = np.inf

    def solve(
        self,
        problem: Problem,
        start: Array | None = None,
        rng: np.random.Generator | None = None,
        scores: Array | None = None,
        bench: Bench | None = None,
    ) -> Solution:
        """Solve; ``start`` holds coefficients to begin with, which are moved into their bounds first.

        ``scores`` are those of a start that is within its bounds, where somebody knows them; ``bench`` is memory that
        has served before.
        """
        rng = rng or np.random.default_rng(0)
        gram, targets = problem.gram, problem.targets()
        if (there := gram.in_memory()) is not None:
            return self._solve_in_memory(problem, *there, start, scores, bench or Bench())
        n = targets.size
        low, high = problem.bounds()
        begin = time.monotonic()
        scale = float(gram.diag().max(initial=0.0))
        short = Shortfall(gram, targets, int(0.6 * self.memory))
        F = short.F
        largest = int(max(64, min(n, np.sqrt(0.2 * self.memory / 4))))
        bench = bench or Bench()

        z = np.zeros(n) if start is None else balanced(start, low, high)
        if scores is None:
            short.update(z, (z > low) & (z < high))
        else:
            F[:] = targets - scores
            short.belongs_to(z)
        if n <= min(largest, 2 * _FIRST):
            active = np.arange(n)
        elif z.any():
            active = _next_block(F, z, low, high, min(largest, 4 * _FIRST), rng)
        else:
            active = _first_block(targets, high - low, min(largest, _FIRST), rng)
        old, K = np.empty(0, np.int64), np.empty((0, 0), np.float32)
        steps, status, cramped = 0, Status.NOT_CONVERGED, False
        while True:
            grow, shrink = gap_of(F, z, low, high)
            try:
                active, K = _block(short.cache, active, old, K, bench)
                rough = min(_ROUGH * (grow - shrink), 0.1) if active.size < n else 0.0
                tolerance = max(0.5 * self.tol, rough)
                made, out_of_time = self._solve_active(bench, K, F, z, low, high, active, tolerance, steps, begin)
                steps += made
                old = active
                free = (z > low) & (z < high)
                if active.size == n and not out_of_time and np.isfinite(high - low).all():
                    tighter = self._tolerance_for_gap(targets, F, z, low, high)
                    if tighter < self.tol:
                        made, out_of_time = self._solve_active(bench, K, F, z, low, high, active, tighter, steps, begin)
                        steps += made
                # A block of all items has brought F up to date itself.
                moved = short.update(z, free) if active.size < n else short.belongs_to(z)
                grow, shrink = gap_of(F, z, low, high)
                if short.narrowed and (grow - shrink <= self.tol or out_of_time or not moved):
                    short.widen()
                    grow, shrink = gap_of(F, z, low, high)
            except KeyboardInterrupt:  # z is as good as it was before this block, or better
                if not kept():
                    raise
                status, F = Status.INTERRUPTED, targets - gram.matvec(z)
                break
            if grow - shrink <= self.tol:
                status = Status.CONVERGED
                break
            if not np.isfinite(high).all() and np.abs(z).max() * scale > _ENDLESS:
                status = Status.NOT_FOUND
                break
            if out_of_time or not moved:
                break
            limit = max((4 if gram.expensive else 8) * _FIRST, 2 * int(free.sum()))
            limit = max(_FIRST, min(limit, _GROWTH * active.size))
            if grow - shrink < _LATE and not gram.expensive and not gram.ready and not short.narrowed:
                near = np.flatnonzero(_excess(F, z, low, high) > -(0.1 + 2 * (grow - shrink)))
                if near.size < n / 2:
                    short.narrow(near)
            cramped |= short.cache.full or largest < min(2 * _FIRST, n)
            active = _next_block(F, z, low, high, min(largest, limit), rng)
        b = _intercept(F, z, low, high)
        return Solution(z=z, b=b, status=status, n_iter=steps, seen=n, scores=targets - F, cramped=cramped)

    def _solve_in_memory(
        self, problem: Problem, K: Array, places: Array, start: Array | None, scores: Array | None, bench: Bench
    ) -> Solution:
        """Solve on a matrix that is in memory. Its other items take part with coefficients that cannot leave zero.

        ``scores`` may be those of all items of the matrix.
        """
        n, N = places.size, K.shape[0]
        targets, low, high, z = np.zeros((4, N))
        targets[places] = problem.targets()
        low[places], high[places] = problem.bounds()
        if start is not None:
            z[places] = start
            z = balanced(z, low, high)
        if scores is None or scores.size < N:
            F = targets.copy()
            used = np.flatnonzero(z)
            add_rows(F, K, used, -z[used])
        else:
            F = targets - scores
        begin, everything = time.monotonic(), np.arange(N)
        try:
            steps, _ = self._solve_active(bench, K, F, z, low, high, everything, self.tol, 0, begin)
        except KeyboardInterrupt:
            if not kept():
                raise
            reach = Dense(K).model(z)
            b = _intercept(targets - reach, z, low, high)
            return Solution(z[places], b, Status.INTERRUPTED, 0, seen=n, scores=reach[places], reach=reach)
        grow, shrink = gap_of(F, z, low, high)
        status = Status.CONVERGED if grow - shrink <= self.tol else Status.NOT_CONVERGED
        endless = not np.isfinite(high[places] - low[places]).all()
        if endless and np.abs(z).max() * float(K.diagonal().max()) > _ENDLESS:
            status = Status.NOT_FOUND
        reach = targets - F
        b = _intercept(F, z, low, high)
        return Solution(z[places], b, status, steps, seen=n, scores=reach[places], reach=reach)

    def _tolerance_for_gap(self, targets: Array, F: Array, z: Array, low: Array, high: Array) -> float:
        """The tolerance that should leave the gap that is asked for: gaps shrink as violations do."""
        square = float(z @ (targets - F))
        paid = float(slack(F - best_intercept(F, low, high), low, high).sum())
        gap, allowed = square + paid - float(targets @ z), self.gap * abs(0.5 * square + paid)
        return self.tol * max(_TIGHTEST, 0.5 * allowed / gap) if gap > allowed else self.tol

    def _solve_active(
        self,
        bench: Bench,
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
        deadline = begin + self.time_limit
        try:
            while not limit:
                heed()
                left = np.inf if self.max_iter < 0 else max(0, self.max_iter - steps - total)
                made, previous = bench.solve(K, f, own, lower, upper, tolerance, _ROUNDS, previous, left, deadline)
                total += made
                if not np.isfinite(upper).all() and np.abs(own).max() * K.diagonal().max(initial=0.0) > _ENDLESS:
                    break
                grow, shrink = gap_of(f, own, lower, upper)
                limit = time.monotonic() > deadline or 0 <= self.max_iter <= steps + total
                if made == 0 or grow - shrink <= tolerance:
                    break
        finally:  # after Ctrl-C too: coefficients stay within their bounds and sum to zero between working sets
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


def _excess(F: Array, z: Array, low: Array, high: Array) -> Array:
    """By how much each item violates its condition; negative where it does not."""
    grow, shrink = gap_of(F, z, low, high)
    middle = 0.5 * (grow + shrink)
    return np.maximum(np.where(z < high, F - middle, -np.inf), np.where(z > low, middle - F, -np.inf))


def _next_block(F: Array, z: Array, low: Array, high: Array, size: int, rng: np.random.Generator) -> Array:
    """The items that violate their condition, or nearly do, or are free."""
    excess = _excess(F, z, low, high)
    # The worst pair is always among them, so that every block has something to do.
    excess[np.argmax(np.where(z < high, F, -np.inf))] = excess[np.argmin(np.where(z > low, F, np.inf))] = np.inf
    grow, shrink = gap_of(F, z, low, high)
    near = np.flatnonzero(excess > -max(_BAND, 0.1 * (grow - shrink)))
    if near.size > size:
        # Free items first; of the others, the worst are often near each other and one speaks for all: any will do.
        free = (z[near] > low[near]) & (z[near] < high[near])
        rank = rng.random(near.size) - 2.0 * free - 1.0 * (excess[near] > 0) - 4.0 * np.isinf(excess[near])
        near = near[np.argpartition(rank, size)[:size]]
    return np.sort(near)


def _block(cache: RowCache, active: Array, old: Array, K: Array, bench: Bench) -> tuple[Array, Array]:
    """The matrix of the active items, reusing what the last one has of it; kept items come first."""
    kept, _, places = np.intersect1d(active, old, assume_unique=True, return_indices=True)
    new = np.setdiff1d(active, kept, assume_unique=True)
    order = cache.arrange(kept)
    kept, places = kept[order], places[order]
    out = bench.square(active.size)
    gather(K, places, places, out[: kept.size, : kept.size])
    return cache.extend(out, kept, new), out


def _intercept(F: Array, z: Array, low: Array, high: Array) -> float:
    """The mean of y − f over free items; without any, the middle of what the others allow."""
    free = (z > low) & (z < high)
    if free.any():
        return float(F[free].mean())
    grow, shrink = gap_of(F, z, low, high)
    if not np.isfinite(grow) or not np.isfinite(shrink):
        return float(grow if np.isfinite(grow) else shrink if np.isfinite(shrink) else 0.0)
    return float(0.5 * (grow + shrink))
