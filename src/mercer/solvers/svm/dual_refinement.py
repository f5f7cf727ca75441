"""The soft margin, and the tube, to a certificate in float64.

:class:`.SoftMargin` is fast because it works on kernel values in float32. Whether what it found is a solution is told
by the exact matrix, item by item. Where such a matrix is factorised in no time, as on a graphics card, that solver is
stopped early, and active sets (:mod:`.active_sets`) find the rest of the way. Where what was found is no solution,

1. the solver goes on from the exact scores, as long as that brings it nearer;
2. an interior point method in float64 takes over (:mod:`..interior`), which does not care how badly K is conditioned;
3. the free coefficients are solved for as a linear system (:func:`.leap.polish`).

The best of all is kept, and its status follows from its certificate. Ctrl-C raises; inside ``keep_best()`` the best by
then is returned.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ..._runtime.compile import Array
from ..._runtime.interrupts import kept, until, whole
from ...grams.base import Gram
from ...problems import Certificate, Iterate, Problem, Status, balanced, certify, keeps
from ..curvatures import LARGEST_MATRIX, agree, curvature_of, few_features, reconciled, weights_of
from ..interior import interior_point
from .active_sets import active_sets
from .exact_scores import exact_scores
from .leap import polish
from .soft_margin import DualSolution, SoftMargin

#: How often a solution that single precision took for one is improved from exact scores.
_REFINEMENTS = 3
#: A gap of more than this part of the objective is not small, whatever the tolerance says: the solver is asked for it
#: while its block is at hand, and for so few items nothing is left untried.
SMALL_GAP, _FEW_ITEMS = 8e-5, 500
#: From the first of these violations on, active sets find the rest of the way often; from the second, as a rule.
_NEAR, _NEARER = 1.5, 0.3
#: Matrices that an interior point method has in memory at a time.
_COPIES = 4
#: Steps for each item after which an interior point method, where there can be one, is the faster way.
_PATIENCE, _LEAST_PATIENCE = 100, 20_000
#: Coefficients that are nearer to a bound than this, relative to the largest, are next to it.
_NEXT = 1e-5
#: Items for which active sets are guessed as a last resort.
LARGEST_GUESSED = 1000
#: Blocks of items that an interior point method solves one after the other.
_BLOCKS = 5
#: Kernel values in float32 need a diagonal within this range.
SINGLE_RANGE = 1e-20, 1e20

Pair = tuple[DualSolution, Certificate]


class DualRefinement:
    """Solutions of one problem, better and better.

    Without the ``last_resort`` of an interior point method the solver's own steps are all there is.
    """

    def __init__(
        self,
        problem: Problem,
        solver: SoftMargin,
        rng: np.random.Generator | None = None,
        working: Gram | None = None,
        by_weights: bool = False,
        last_resort: bool = True,
    ) -> None:
        self.problem, self.solver, self.rng = problem, solver, rng
        self.by_weights, self.last_resort = by_weights, last_resort
        dual = problem.box_dual
        assert dual is not None
        self.working = problem if working is None else problem.on(working)
        self.dual, self.low, self.high = dual, dual.low, dual.high
        #: The Gram of the variables of the dual, without rounding to float32.
        self.exact = dual.gram(problem.gram)
        self.deadline = time.monotonic() + solver.time_limit
        self.steps = 0

    def run(self, start: Iterate | None) -> Pair:
        """The best solution, and its certificate."""
        return self.improved(*self._first(start))

    def improved(self, first: DualSolution, known: bool = False) -> Pair:
        """The best solution from a first one on, and its certificate; ``known``: the scores of the first are exact."""
        self.steps = max(self.steps, first.n_iter)
        best = self._certified(first, known)
        if first.status is Status.INTERRUPTED:
            return best
        try:
            with whole(), until(self.deadline):
                for better in self._improved(best):
                    best = better
        except KeyboardInterrupt:
            if not kept():
                raise
            return self._ended(best, Status.INTERRUPTED)
        converged = keeps(self.problem, best[1], self.solver.tol)
        return self._ended(best, Status.CONVERGED if converged else Status.NOT_CONVERGED)

    def _first(self, start: Iterate | None) -> tuple[DualSolution, bool]:
        """What the solver finds, with active sets where these are fast; and whether its scores are exact."""
        tol, dual = self.solver.tol, self.dual
        if not self.exact.factorises or dual.hard or tol >= _NEARER:
            return self._pairwise(tol, start), False
        for near in (_NEAR, _NEARER):
            reached = self._pairwise(near, start)
            if reached.status is not Status.CONVERGED or self._limited():
                return reached, False
            z = dual.balanced(dual.split(reached.z))
            F = dual.targets - self.exact.matvec(z)
            found = active_sets(self.exact, dual, z, F, tol, self.deadline, persistent=near == _NEARER)
            if found is not None:
                z, F = found
                scores = dual.gathered(dual.targets - F)
                return replace(reached, z=dual.merged(z), scores=scores, all_scores=None), True
            start = reached
        return self._pairwise(tol, start), False

    def _ended(self, best: Pair, status: Status) -> Pair:
        return replace(best[0], status=status, n_iter=self.steps), best[1]

    def _improved(self, best: Pair) -> Iterator[Pair]:
        """Solutions that are better and better."""
        if not self._done(best) and not self._limited():
            best = self._polished(best)
            yield best
        tol = self.solver.tol
        for _ in range(_REFINEMENTS):
            if self._done(best) or self._limited():
                break
            if _violation(best) <= tol:
                tol *= 0.1
            again = self._better(best, self._certified(self._pairwise(tol, best[0])))
            if again is best:
                break
            best = again
            yield best
        for _ in range(_BLOCKS if self.last_resort else 0):
            if self._done(best) or self._limited():
                break
            again = best
            for found in self._interior(best):
                again = self._better(again, self._polished(self._certified(found)))
            if again is best:
                break
            best = again
            yield best
        guessable = self.last_resort and not self.dual.hard and self.low.size <= LARGEST_GUESSED
        if guessable and not self._done(best) and not self._limited():
            best = self._guessed(best)
            yield best
        if self.low.size <= LARGEST_MATRIX and not self._limited():  # beyond that a tolerance is a tolerance
            yield self._polished(best)

    def _done(self, found: Pair) -> bool:
        _, certificate = found
        small = certificate.gap <= SMALL_GAP * abs(certificate.objective) or self.low.size > _FEW_ITEMS
        return keeps(self.problem, certificate, self.solver.tol) and small

    def _limited(self) -> bool:
        return time.monotonic() > self.deadline or 0 <= self.solver.max_iter <= self.steps

    def _pairwise(self, tol: float, start: Iterate | None) -> DualSolution:
        """Let the solver work on kernel values in float32."""
        allowed = self.solver.max_iter
        if self._affordable(self.low.size):
            patience = max(_LEAST_PATIENCE, _PATIENCE * self.low.size)
            allowed = patience if allowed < 0 else min(allowed, self.steps + patience)
        if allowed >= 0:
            allowed = max(0, allowed - self.steps)
        solver = replace(
            self.solver, tol=tol, max_iter=allowed, time_limit=self.deadline - time.monotonic(), gap=SMALL_GAP
        )
        problem, unit = self._in_range()
        if unit != 1.0 and start is not None:
            start = replace(start, z=start.z * unit)
        with np.errstate(over="ignore", invalid="ignore"):  # what single precision cannot hold is not certified
            found = solver.solve(problem, start, self.rng)
        self.steps += found.n_iter
        return found if unit == 1.0 else replace(found, z=found.z / unit)

    def _in_range(self) -> tuple[Problem, float]:
        """The problem with a kernel matrix that float32 can hold: K/s, whose coefficients are s times as large."""
        largest = float(self.working.gram.diag().max(initial=0.0))
        if largest == 0.0 or SINGLE_RANGE[0] < largest < SINGLE_RANGE[1]:
            return self.working, 1.0
        gram = self.working.gram.scaled(1 / largest)
        return replace(self.working, gram=gram, lam=self.working.lam / largest), largest

    def _certified(self, solution: DualSolution, known: bool = False) -> Pair:
        """With its certificate; ``known``: its scores are exact already."""
        z = self.dual.merged(self.dual.balanced(self.dual.split(solution.z)))
        if self.dual.doubled and self.dual.totals.size > 1:  # what is left where two walls cancel need not sum to zero
            z = balanced(z, self.dual.merged(self.low), self.dual.merged(self.high))
        known = known and bool((z == solution.z).all())
        if not np.isfinite(z).all():
            z = self.dual.merged(self.dual.balanced(np.zeros(self.low.size)))
        # A model that is known by its weights is judged by them, and not by what rounding makes of their scores.
        w = self.problem.gram.model(z) if self.by_weights and solution.w is None else solution.w
        solution = replace(solution, z=z, w=w, all_scores=None)
        scores = exact_scores(self.problem, solution) if w is not None or not known else np.asarray(solution.scores)
        F = self.dual.targets - self.dual.spread(scores)
        if self.dual.hard:
            variables = self.dual.split(z)
            b = 0.5 * float(F[variables < self.high].max(initial=-np.inf) + F[variables > self.low].min(initial=np.inf))
            levels = np.array([b])
        else:
            levels = self.dual.best_levels(F)
        solution = replace(solution, scores=scores, **self.problem.of_levels(levels))
        return solution, certify(self.problem, solution, scores)

    def _polished(self, best: Pair) -> Pair:
        """With coefficients next to a bound on it, and with the last digits of the free ones, where that is better."""
        if not self.dual.hard:
            z, scores = self._variables(best)
            settled = self.dual.balanced(self._on_bounds(z, scores))
            moved = np.flatnonzero(settled != z)
            if moved.size:
                scores = scores + self.exact.scores(np.arange(z.size), moved, (settled - z)[moved])
                best = self._better(best, self._of_variables(best[0], settled, scores))
        found = polish(self.dual, self.exact, *self._variables(best))
        return best if found is None else self._better(best, self._of_variables(best[0], *found))

    def _guessed(self, best: Pair) -> Pair:
        """By active sets, which find coefficients where points inside of all bounds are too far from these."""
        z, scores = self._variables(best)
        found = active_sets(self.exact, self.dual, z, self.dual.targets - scores, self.solver.tol, self.deadline)
        if found is None:
            return best
        z, F = found
        return self._better(best, self._of_variables(best[0], z, self.dual.targets - F))

    def _variables(self, found: Pair) -> tuple[Array, Array]:
        """The variables of a solution, and their scores."""
        return self.dual.split(found[0].z), self.dual.spread(np.asarray(found[0].scores))

    def _of_variables(self, solution: DualSolution, z: Array, scores: Array) -> Pair:
        """The solution with other variables, whose scores are exact."""
        return self._certified(
            replace(solution, z=self.dual.merged(z), scores=self.dual.gathered(scores), w=None), known=True
        )

    def _better(self, best: Pair, found: Pair) -> Pair:
        """The one that violates less than it may, or less; of two such, the one with the smaller gap."""
        ranks = [(max(_violation(each), self.solver.tol), each[1].gap) for each in (found, best)]
        return found if ranks[0] < ranks[1] else best

    # -- interior point -------------------------------------------------------------------------------------------

    def _affordable(self, items: int) -> bool:
        """Whether an interior point method has room: for a matrix of the items and copies of it, or for features."""
        room = int(np.sqrt(self.solver.memory / (8 * _COPIES)))
        return items <= min(LARGEST_MATRIX, room) or few_features(self.exact) is not None

    def _interior(self, best: Pair) -> list[DualSolution]:
        """Solve for all coefficients, or for those that are not clearly where they belong; nothing if too many.

        Coefficients that belong on a bound are put there. That takes away digits where K is nearly singular, so the
        point inside is given as well.
        """
        z, targets = self.dual.split(best[0].z), self.dual.targets
        block = np.flatnonzero(self.high > self.low)
        if not self._affordable(block.size):
            levels = self.problem.levels(best[0].b, best[0].width)
            distance = targets - self.dual.spread(np.asarray(best[0].scores)) - levels[self.dual.groups]
            band = max(0.3, 2 * _violation(best))
            settled = np.where(z <= self.low, distance < -band, (z >= self.high) & (distance > band))
            block = block[~settled[block]]
            if block.size < 2 or not self._affordable(block.size):
                return []
        fixed = z.copy()
        fixed[block] = 0.0
        others = np.flatnonzero(fixed)
        wanted = targets[block]
        if others.size:
            wanted = wanted - self.exact.scores(block, others, fixed[others])
        curvature, unit = curvature_of(self.exact, block, centred=self.dual.even and not others.size)
        low, high = self.low[block] * unit, self.high[block] * unit
        belongs = (self.dual.groups == np.arange(self.dual.totals.size)[:, None]).astype(np.float64)
        A, totals = belongs[:, block], (self.dual.totals - belongs @ fixed) * unit
        if not A.any(axis=1).all():
            return []
        sizes = 1.0, float((high - low).max())
        found = interior_point(curvature, wanted, A, totals, low, high, sizes=sizes, deadline=self.deadline)
        self.steps += found.steps
        single = self.dual.even and self.dual.totals.size == 1
        w = weights_of(self.exact, found, unit) if self.by_weights and single and not others.size else None
        points = []
        for new in (np.where(found.at_low, low, np.where(found.at_high, high, found.z)), found.z):
            z = fixed.copy()
            z[block] = new / unit
            z = self.dual.balanced(z)
            own = w
            if w is not None:
                z = self._reconciled(w, self._on_bounds(self._reconciled(w, z), self.exact.scores_and_square(z, w)[0]))
                own = w if agree(few_features(self.exact), w, z, 0.01 * self.solver.tol) else None
            scores = self.dual.gathered(self.exact.scores_and_square(z, own)[0])
            levels_found = self.problem.of_levels(found.multipliers)
            merged = self.dual.merged(z)
            points.append(DualSolution(merged, w=own, scores=scores, status=Status.CONVERGED, **levels_found))
        return points

    def _reconciled(self, w: Array, z: Array) -> Array:
        return reconciled(few_features(self.exact), w, z, self.low, self.high, True)

    def _on_bounds(self, z: Array, scores: Array) -> Array:
        """Variables next to a bound where their scores say that they belong on it."""
        F = self.dual.targets - scores
        distance = F - self.dual.best_levels(F)[self.dual.groups]
        slight = _NEXT * np.minimum(self.high - self.low, float(np.abs(z).max(initial=0.0)))
        z = np.where((distance > 0.1 * self.solver.tol) & (self.high - z < slight), self.high, z)
        return np.where((distance < -0.1 * self.solver.tol) & (z - self.low < slight), self.low, z)


def _violation(found: Pair) -> float:
    """The worst violation of an optimality condition, which a dual with bounds always knows."""
    violation = found[1].violation
    assert violation is not None
    return violation
