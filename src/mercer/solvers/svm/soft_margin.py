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

import threading
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from ...grams.base import Gram, RowRing
from ...grams.dense import Dense
from ...losses import MarginLoss
from ...problems import BoxDual, Iterate, Problem, Solution, Status
from ...runtime.compile import Array
from ...runtime.interrupts import check_interrupt, keeps_best
from ...runtime.numerics import add_rows, gather, transpose_into
from ..base import Solver
from .nested_blocks import NestedBlocks
from .smo import Workspace, levels_of

__all__ = ["SINGLE_RANGE", "SMALL_GAP", "DualSolution", "SoftMargin", "Workspaces", "exact_scores"]

#: A gap of more than this part of the objective is not small, whatever the tolerance says: the solver is asked for it
#: while its block is at hand.
SMALL_GAP = 8e-5
#: Kernel values in float32 need a diagonal within this range.
SINGLE_RANGE = 1e-20, 1e20

# Workspaces that wait for the next fit.
#
# Memory that a process touches for the first time is cleared by the system: hundreds of megabytes of blocks can take as
# long as all steps on them, and on virtual machines several times as long. What a fit leaves behind is therefore kept,
# up to a limit, for the fit that comes next.


#: Bytes that all workspaces which wait may have together.
_KEPT = 1_000_000_000

#: Workspaces that nobody uses; taking one and giving it back are single operations, and need no lock.
_waiting: deque[Workspace] = deque()


class Workspaces:
    """A workspace for each thread of a fit.

    Examples
    --------
    >>> with Workspaces() as workspaces:
    ...     workspaces.mine is workspaces.mine
    True
    """

    def __init__(self) -> None:
        self._of_thread = threading.local()
        self._lent: list[Workspace] = []

    @property
    def mine(self) -> Workspace:
        """The workspace of this thread."""
        if not hasattr(self._of_thread, "own"):
            try:
                self._of_thread.own = _waiting.pop()
            except IndexError:
                self._of_thread.own = Workspace()
            self._lent.append(self._of_thread.own)
        return self._of_thread.own

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._lent:
            each.forget()
            if each.room + sum(other.room for other in list(_waiting)) <= _KEPT:
                _waiting.append(each)
        self._lent = []


# Rows of the kernel matrix that are kept because they will be needed again.


class RowCache:
    """Some rows of a Gram in float32, the newest in the place of the oldest, within a memory limit.

    Rows that are at hand, or computed as fast as fresh memory is filled, are not kept at all.
    """

    def __init__(self, gram: Gram, memory: int) -> None:
        n = len(gram)
        self.gram = gram
        keeps = gram.expensive and not gram.ready
        self.capacity = 0 if not keeps else int(min(n, max(64, memory // (4 * n))))
        self.ring = RowRing(n, self.capacity, np.float32)

    @property
    def full(self) -> bool:
        """Whether a row had to go to make room for another."""
        return self.ring.evicted

    def subtract(self, F: Array, items: Array, coefficients: Array, keep: Array) -> None:
        """F −= Σ coefficient·K[item], computing rows that are not here.

        ``keep`` says which of them will be needed again; the others go by without being stored.
        """
        known = self.ring.place[items] >= 0
        passing = ~known & (~keep | (self.capacity == 0))
        if passing.any():
            z = np.zeros(F.size)
            z[items[passing]] = coefficients[passing]
            F -= self.gram.matvec(z)
        items, coefficients, known = items[~passing], coefficients[~passing], known[~passing]
        self._apply(F, items[known], coefficients[known])
        missing, weights = items[~known], coefficients[~known]
        done = 0
        while done < missing.size:
            count = min(missing.size - done, self.capacity - self.ring.next)
            chunk = missing[done : done + count]
            first = self.ring.next
            rows = self.ring.rows[first : first + count]
            self.gram.fill(chunk, rows)
            self.ring.claim(chunk)
            self._apply(F, chunk, weights[done : done + count])
            done += count

    def _apply(self, F: Array, items: Array, coefficients: Array) -> None:
        if items.size:
            add_rows(F, self.ring.rows, self.ring.place[items], -coefficients)

    def extend(self, out: Array, kept: Array, new: Array) -> Array:
        """Complete the matrix of kept and new items, whose upper left corner is there; their order is returned.

        ``kept`` is as :meth:`arrange` puts it. Rows that are here are copied; the rest is computed, but only once for
        (x, z) and (z, x).
        """
        here = self.ring.place[new] >= 0
        known, absent = new[here], new[~here]
        order = np.concatenate([kept, known, absent])
        a, b = kept.size, kept.size + known.size
        first = a - int(np.count_nonzero(self.ring.place[kept] >= 0))  # rows of items first … b−1 are here
        if b > first:
            gather(self.ring.rows, self.ring.place[order[first:b]], order[a:], out[first:b, a:])
            gather(self.ring.rows, self.ring.place[known], order[:first], out[a:b, :first])
            transpose_into(out[a:b, :first], out[:first, a:b])
            transpose_into(out[first:a, a:], out[a:, first:a])
            transpose_into(out[a:b, b:], out[b:, a:b])
        if absent.size:
            self.gram.block(absent, absent, out[b:, b:])
            if first:
                self.gram.block(absent, order[:first], out[b:, :first])
                transpose_into(out[b:, :first], out[:first, b:])
        return order

    def arrange(self, items: Array) -> Array:
        """The order in which items whose rows are here come last."""
        return np.argsort(self.ring.place[items] >= 0, kind="stable")


# The gradient of the dual: how much every item falls short of its target, kept up to date as coefficients change.


class DualGradient:
    """F = t − Kz of all items, the gradient of tᵀz − ½·zᵀKz; while it is narrowed, of those that are likely to matter.

    Bringing F up to date costs one row of K for every coefficient that has changed. As the coefficients change by less
    and less, items far from the margin stay there: F is then kept for the others alone (:meth:`narrow`), which may be
    fewer and fewer, and the far ones catch up in one go when all seems done (:meth:`widen`).
    """

    def __init__(self, gram: Gram, targets: Array, memory: int) -> None:
        self.gram = gram
        self.F = targets.copy()
        self.cache = RowCache(gram, memory)
        self._z = np.zeros(targets.size)
        #: The items whose F is kept up to date.
        self.near = np.arange(targets.size)
        #: Items that were left behind together, and the coefficients that their F belongs to.
        self._left_behind: list[tuple[Array, Array]] = []

    @property
    def narrowed(self) -> bool:
        """Whether F of some items lags behind."""
        return bool(self._left_behind)

    def update(self, z: Array, free: Array) -> int:
        """Bring F up to date with z; rows of ``free`` items will be needed again. Returns how many z have changed."""
        moved = np.flatnonzero(z != self._z)
        change = z[moved] - self._z[moved]
        if not self.narrowed:
            self.cache.subtract(self.F, moved, change, keep=free[moved])
        elif moved.size:
            self.F[self.near] -= self.gram.scores(self.near, moved, change)
        self._z = z.copy()
        return moved.size

    def belongs_to(self, z: Array) -> int:
        """Take note that F has been brought up to date with z elsewhere."""
        moved = int(np.count_nonzero(z != self._z))
        self._z = z.copy()
        return moved

    def narrow(self, near: Array) -> None:
        """From now on keep F of these items only, which are some of those whose F is kept so far."""
        self._left_behind.append((np.setdiff1d(self.near, near, assume_unique=True), self._z))
        self.near = near

    def widen(self) -> None:
        """Bring F of the far items up to date as well."""
        for items, z in self._left_behind:
            changed = np.flatnonzero(self._z != z)
            if changed.size and items.size:
                self.F[items] -= self.gram.scores(items, changed, (self._z - z)[changed])
        self._left_behind = []
        self.near = np.arange(self.F.size)


#: The parts of the memory that rows which are kept may take, and a block; there are two, and working sets of both.
_OF_ROWS, _OF_BLOCK = 0.5, 0.16
#: Items in the first block.
_FIRST = 1024
#: A block may have this many times the items of the last one.
_GROWTH = 3
#: A block is solved to this part of the gap of the whole, and no more roughly than this.
_ROUGH, _ROUGHEST = 0.05, 0.1
#: A block that has no room for all who violate their condition is solved to this part: the others will change it.
_HASTY = 0.12
#: Items that violate nothing but by less than this might soon; they come into the block as well.
_BAND = 0.03
#: Items that are farther than this and so many times the gap from violating their condition are left alone until all
#: others are done, where that leaves no more than this part of them.
_FAR, _FARTHER, _FEWER = 0.1, 4.0, 0.75
#: A gap that does not fall to this part of what it was shows that some of them matter after all.
_STALLED = 0.6
#: Coefficients (times the largest self-similarity) beyond this mean that a hard margin is not going to be found.
_ENDLESS = 1e8
#: A tolerance is made tighter by no more than this, for the sake of a gap.
_TIGHTEST = 0.01
#: With so many times the items of a first block, a machine of these, in so many steps, tells where all others begin.
_SKETCH, _SKETCH_STEPS = 3, 20_000
#: Working sets that are tried before Python looks at the clock and at Ctrl-C.
_ROUNDS = 32


@dataclass(frozen=True)
class DualSolution(Solution):
    """As :class:`Solution`, with what an exact solver knows besides."""

    #: The scores of every item of the matrix that the Gram is a part of, where they are known.
    all_scores: Array | None = None
    #: Whether a memory limit made the solver compute things more than once.
    cramped: bool = False

    def scaled(self, factor: float) -> DualSolution:
        found = super().scaled(factor)
        assert isinstance(found, DualSolution)
        return found if self.all_scores is None else replace(found, all_scores=factor * self.all_scores)


@dataclass(frozen=True)
class SoftMargin(Solver[DualSolution]):
    """The dual of the soft margin, or of a tube, with a free intercept; of given width, or of one that is found.

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
    workspace : Workspace, optional
        Memory that has served before; one thread at a time may use it.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import SoftMargin
    >>> X = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
    >>> y = np.array([1.0, 1, 1, -1, -1, -1])
    >>> solution = SoftMargin(tol=1e-6).solve(Problem(Features(X), y, Hinge(), lam=1e-6, intercept="free"))
    >>> (X.T @ solution.z).round(3), round(solution.b, 3)
    (array([2., 2.]), -3.0)
    """

    finds_width: ClassVar[bool] = True

    tol: float = 1e-3
    max_iter: int = -1
    time_limit: float = np.inf
    memory: int = 10**9
    gap: float = np.inf
    workspace: Workspace | None = field(default=None, repr=False, compare=False)

    def refusal(self, problem: Problem) -> str | None:
        dual = problem.box_dual
        if dual is None or not dual.straight:
            return f"{problem.loss} is not made of straight lines; state Hinge(), EpsilonInsensitive() or Pinball()"
        if not dual.totals.size:
            return "pairs of coefficients change together, which a free intercept asks for; state one, or use Gradient"
        if dual.hard and not isinstance(problem.loss, MarginLoss):
            return "a loss of the residual has no hard margin; state λ > 0"
        return None

    def _solve(self, problem: Problem, start: Iterate | None, rng: np.random.Generator) -> DualSolution:
        """Solve; the coefficients of a start are moved into their bounds first."""
        dual = problem.box_dual
        assert dual is not None
        gram, targets, workspace = dual.gram(problem.gram), dual.targets, self.workspace or Workspace()
        single, groups = dual.totals.size == 1, dual.groups
        if single and dual.even and (there := gram.in_memory()) is not None:
            return self._solve_in_memory(dual, *there, start, workspace)
        n = targets.size
        low, high = dual.low, dual.high
        begin = time.monotonic()
        scale = float(gram.diag().max(initial=0.0))
        gradient = DualGradient(gram, targets, int(_OF_ROWS * self.memory))
        F = gradient.F
        largest = int(max(64, min(n, np.sqrt(_OF_BLOCK * self.memory / 4))))

        begun = self._filled(problem, dual, rng) if start is None else dual.split(start.z)
        z = begun.copy() if start is None else dual.balanced(begun)
        if start is None or start.scores is None or (z != begun).any():
            gradient.update(z, (z > low) & (z < high))
        else:
            F[:] = targets - dual.spread(start.scores)
            gradient.belongs_to(z)
        if n <= min(largest, 2 * _FIRST):
            active = np.arange(n)
        elif z.any():
            active = _next_block(F, z, low, high, groups, min(largest, 4 * _FIRST), rng)
        else:
            active = _first_block(targets, high - low, min(largest, _FIRST), rng)
        old, K = np.empty(0, np.int64), np.empty((0, 0), np.float32)
        steps, status, cramped, crowded = 0, Status.NOT_CONVERGED, False, active.size < n
        while True:
            before = gap = levels_of(F, z, low, high, groups)[1]
            try:
                if active.size == n:  # F comes from the block itself, and no item may lag behind
                    gradient.widen()
                active, K = _block(gradient.cache, active, old, K, workspace)
                rough = 0.0 if active.size == n else _HASTY * gap if crowded else min(_ROUGH * gap, _ROUGHEST)
                tolerance = max(0.5 * self.tol, rough)
                made, out_of_time = self._solve_active(
                    workspace, K, F, z, low, high, active, tolerance, steps, begin, None if single else groups
                )
                steps += made
                old = active
                free = (z > low) & (z < high)
                if active.size == n and not out_of_time and np.isfinite(high - low).all():
                    tighter = self._tolerance_for_gap(dual, F, z)
                    if tighter < self.tol:
                        made, out_of_time = self._solve_active(
                            workspace, K, F, z, low, high, active, tighter, steps, begin, None if single else groups
                        )
                        steps += made
                # A block of all items has brought F up to date itself.
                moved = gradient.update(z, free) if active.size < n else gradient.belongs_to(z)
                gap = levels_of(F, z, low, high, groups)[1]
                if gradient.narrowed and (gap <= self.tol or gap > _STALLED * before or out_of_time or not moved):
                    gradient.widen()
                    gap = levels_of(F, z, low, high, groups)[1]
            except KeyboardInterrupt:  # z is as good as it was before this block, or better
                if not keeps_best():
                    raise
                status, F = Status.INTERRUPTED, targets - gram.matvec(z)
                break
            if gap <= self.tol:
                status = Status.CONVERGED
                break
            if not np.isfinite(high).all() and np.abs(z).max() * scale > _ENDLESS:
                status = Status.NOT_FOUND
                break
            if out_of_time or not moved:
                break
            limit = max((4 if gram.expensive else 8) * _FIRST, 2 * int(free.sum()))
            limit = max(_FIRST, min(limit, _GROWTH * active.size))
            if not gram.expensive and not gram.ready:
                excess = _excess(F, z, low, high, groups)[gradient.near]
                near = gradient.near[excess > -(_FAR + _FARTHER * gap)]
                if near.size < _FEWER * gradient.near.size:
                    gradient.narrow(near)
            cramped |= gradient.cache.full or largest < min(2 * _FIRST, n)
            active = _next_block(F, z, low, high, groups, min(largest, limit), rng)
            crowded = active.size == min(largest, limit)
        found = DualSolution(dual.merged(z), 0.0, steps, None, dual.gathered(targets - F), status=status)
        return replace(found, cramped=cramped, **problem.of_levels(_levels(F, z, low, high, groups)))

    def _filled(self, problem: Problem, dual: BoxDual, rng: np.random.Generator) -> Array:
        """Variables to begin with: zero, or the sums that are asked for in the places where they are likely to belong.

        A machine of some of the items, with the same λ, has about the scores of that of all items, and these tell which
        coefficients are at their bounds.
        """
        n = len(problem.gram)
        if not dual.totals.any():
            return np.zeros(dual.targets.size)
        some = np.sort(rng.permutation(n)[:_FIRST])
        one_sided = (
            isinstance(problem.loss, MarginLoss) and np.unique(problem.y[some][problem.weights[some] > 0]).size < 2
        )
        if n <= _SKETCH * _FIRST or one_sided or not problem.weights[some].any():
            return dual.filled(rng.random(dual.targets.size))
        rough = replace(self, tol=max(self.tol, _ROUGH), max_iter=_SKETCH_STEPS)
        found = rough._solve(problem.of_items(some), None, rng)
        used = np.flatnonzero(found.z)
        scores = problem.gram.scores(np.arange(n), some[used], found.z[used])
        return dual.filled(dual.targets - dual.spread(scores))

    def _solve_in_memory(
        self, dual: BoxDual, K: Array, places: Array, start: Iterate | None, workspace: Workspace
    ) -> DualSolution:
        """Solve on a matrix that is in memory. Its other items take part with coefficients that cannot leave zero."""
        N = K.shape[0]
        targets, low, high, z = np.zeros((4, N))
        targets[places] = dual.targets
        low[places], high[places] = dual.low, dual.high
        if start is not None:
            z[places] = dual.balanced(start.z)
        if isinstance(start, DualSolution) and start.all_scores is not None:
            F = targets - start.all_scores
        else:
            F = targets.copy()
            used = np.flatnonzero(z)
            add_rows(F, K, used, -z[used])
        endless = np.inf
        if not np.isfinite(dual.high - dual.low).all():
            endless = _ENDLESS / max(float(K.diagonal().max()), 1e-300)
        steps = np.inf if self.max_iter < 0 else self.max_iter
        blocks = NestedBlocks(workspace, steps, time.monotonic() + self.time_limit, endless)
        try:
            made = blocks.solve(K, F, z, low, high, self.tol)
            if N <= 2 * _FIRST and np.isinf(endless):
                tighter = self._tolerance_for_gap(dual, F[places], z[places])
                if tighter < self.tol:
                    made += blocks.solve(K, F, z, low, high, tighter)
        except KeyboardInterrupt:
            if not keeps_best():
                raise
            return _in_memory(targets - Dense(K).model(z), targets, z, low, high, places, 0, Status.INTERRUPTED)
        gap = levels_of(F, z, low, high, np.zeros(N, np.int64))[1]
        status = Status.CONVERGED if gap <= self.tol else Status.NOT_CONVERGED
        if np.abs(z).max() > endless:
            status = Status.NOT_FOUND
        return _in_memory(F, targets, z, low, high, places, made, status)

    def _tolerance_for_gap(self, dual: BoxDual, F: Array, z: Array) -> float:
        """The tolerance that should leave the gap that is asked for: gaps shrink as violations do."""
        square = float(z @ (dual.targets - F))
        paid = dual.paid(F, dual.best_levels(F))
        gap, allowed = square + paid - float(dual.targets @ z), self.gap * abs(0.5 * square + paid)
        return self.tol * max(_TIGHTEST, 0.5 * allowed / gap) if gap > allowed else self.tol

    def _solve_active(
        self,
        workspace: Workspace,
        K: Array,
        F: Array,
        z: Array,
        low: Array,
        high: Array,
        active: Array,
        tolerance: float,
        steps: int,
        begin: float,
        groups: Array | None = None,
    ) -> tuple[int, bool]:
        """Solve on the block, looking at the clock between working sets; whether a limit was reached is returned."""
        f, own, lower, upper = F[active], z[active], low[active], high[active]
        group = None if groups is None else groups[active]
        previous = np.empty(0, np.int64)
        total, limit = 0, False
        deadline = begin + self.time_limit
        try:
            while not limit:
                check_interrupt()
                left = np.inf if self.max_iter < 0 else max(0, self.max_iter - steps - total)
                made, previous = workspace.solve(
                    K, f, own, lower, upper, tolerance, _ROUNDS, previous, left, deadline, group
                )
                total += made
                if not np.isfinite(upper).all() and np.abs(own).max() * K.diagonal().max(initial=0.0) > _ENDLESS:
                    break
                gap = levels_of(f, own, lower, upper, np.zeros(f.size, np.int64) if group is None else group)[1]
                limit = time.monotonic() > deadline or 0 <= self.max_iter <= steps + total
                if made == 0 or gap <= tolerance:
                    break
        finally:  # after Ctrl-C too: coefficients stay within their bounds and sum to zero between working sets
            z[active] = own
        if active.size == z.size:
            F[active] = f
        return total, limit


def _in_memory(
    F: Array, targets: Array, z: Array, low: Array, high: Array, places: Array, steps: int, status: Status
) -> DualSolution:
    """The solution of some items of a matrix, from what is known of all of them."""
    scores, b = targets - F, float(_levels(F, z, low, high, np.zeros(z.size, np.int64))[0])
    return DualSolution(z[places], b, steps, scores=scores[places], status=status, all_scores=scores)


def _first_block(y: Array, width: Array, size: int, rng: np.random.Generator) -> Array:
    """Random items, both classes (or halves of the targets) among them."""
    alive = np.flatnonzero(width > 0)
    parts = []
    middle = 0.0 if np.abs(y).max() == 1.0 else np.median(y)
    for side in (alive[y[alive] > middle], alive[y[alive] <= middle]):
        share = max(1, round(size * side.size / alive.size))
        parts.append(rng.permutation(side)[:share])
    return np.sort(np.concatenate(parts))


def _excess(F: Array, z: Array, low: Array, high: Array, groups: Array) -> Array:
    """By how much each item violates its condition; negative where it does not."""
    distance = F - levels_of(F, z, low, high, groups)[0][groups]
    return np.maximum(np.where(z < high, distance, -np.inf), np.where(z > low, -distance, -np.inf))


def _next_block(
    F: Array, z: Array, low: Array, high: Array, groups: Array, size: int, rng: np.random.Generator
) -> Array:
    """The items that violate their condition, or nearly do, or are free."""
    excess = _excess(F, z, low, high, groups)
    # The worst pair of each group is always among them, so that every block has something to do.
    for group in range(int(groups.max(initial=0)) + 1):
        own = groups == group
        excess[np.argmax(np.where(own & (z < high), F, -np.inf))] = np.inf
        excess[np.argmin(np.where(own & (z > low), F, np.inf))] = np.inf
    near = np.flatnonzero(excess > -max(_BAND, 0.1 * levels_of(F, z, low, high, groups)[1]))
    if near.size > size:
        # Free items first; of the others, the worst are often near each other and one speaks for all: any will do.
        free = (z[near] > low[near]) & (z[near] < high[near])
        rank = rng.random(near.size) - 2.0 * free - 1.0 * (excess[near] > 0) - 4.0 * np.isinf(excess[near])
        near = near[np.argpartition(rank, size)[:size]]
    return np.sort(near)


def _block(cache: RowCache, active: Array, old: Array, K: Array, workspace: Workspace) -> tuple[Array, Array]:
    """The matrix of the active items, reusing what the last one has of it; kept items come first."""
    kept, _, places = np.intersect1d(active, old, assume_unique=True, return_indices=True)
    new = np.setdiff1d(active, kept, assume_unique=True)
    order = cache.arrange(kept)
    kept, places = kept[order], places[order]
    out = workspace.square(active.size)
    gather(K, places, places, out[: kept.size, : kept.size])
    return cache.extend(out, kept, new), out


def _levels(F: Array, z: Array, low: Array, high: Array, groups: Array) -> Array:
    """For each group the mean of F over free items; without any, the middle of what the others allow."""
    levels = levels_of(F, z, low, high, groups)[0]
    free = (z > low) & (z < high)
    for group in range(levels.size):
        own = free & (groups == group)
        if own.any():
            levels[group] = F[own].mean()
    return levels


# The scores of all items in float64, computed anew where that can matter.


#: Items that a solver in float32 puts this far on the right side of their margin, or farther, need no look …
_CLEAR = 0.05
#: … as long as no score that was looked at is wrong by more than this part of it. So many of the others are tried.
_TRUSTED, _SAMPLE = 0.02, 256
#: With so few items all scores are computed anew.
_FEW_ITEMS = 2000


def exact_scores(problem: Problem, found: Iterate) -> Array:
    """Scores from the exact Gram of a problem, for a solution whose own scores are as exact as float32 is.

    An item with zᵢ = 0 and a score clearly beyond its target adds nothing to the primal or the dual and violates
    nothing, whatever the last digits of its score. The scores of all others are computed anew, and so are those of the
    clear ones where rounding turns out to be more than a small part of "clearly".
    """
    if found.w is not None:
        return problem.gram.scores_and_square(found.z, found.w)[0]
    z, dual = found.z, problem.box_dual
    assert dual is not None
    used = np.flatnonzero(z)
    weights = z[used]
    scores = np.array(found.scores, dtype=np.float64)

    def look(items: Array) -> float:
        """Put exact scores in; the largest error that there was."""
        if not items.size:
            return 0.0
        anew = problem.gram.scores(items, used, weights) if used.size else np.zeros(items.size)
        error = float(np.abs(scores[items] - anew).max())
        scores[items] = anew
        return error

    left = np.arange(z.size)
    if z.size > _FEW_ITEMS:
        levels = problem.levels(found.b, found.width)
        distance = dual.targets - dual.spread(scores) - levels[dual.groups]
        clear = np.where(dual.high > 0, distance < -_CLEAR, True) & np.where(dual.low < 0, distance > _CLEAR, True)
        clear = (z == 0) & (dual.merged((~clear).astype(np.float64)) == 0)
        error = look(np.flatnonzero(~clear))
        left = np.flatnonzero(clear)
        sample = left[np.random.default_rng(0).permutation(left.size)[:_SAMPLE]]
        error = max(error, look(np.sort(sample)))
        left = np.setdiff1d(left, sample, assume_unique=True) if not error <= _TRUSTED * _CLEAR else left[:0]
    look(left)
    return scores
