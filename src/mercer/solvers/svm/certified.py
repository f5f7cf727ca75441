"""The soft margin, and the tube, to a certificate in float64.

:class:`.SoftMargin` is fast because it works on kernel values in float32. Whether what it found is a solution is told
by the exact matrix, item by item; where it is not,

1. the solver goes on from the exact scores, as long as that brings it nearer;
2. an interior point method in float64 takes over (:mod:`.interior`), which does not care how badly K is conditioned;
3. the free coefficients are solved for as a linear system (:mod:`.polish`).

The best of all is kept, and its status follows from its certificate. Ctrl-C raises; inside ``keep_best()`` the best by
then is returned.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..._runtime.compile import Array
from ..._runtime.interrupts import kept, whole
from ...grams.base import Gram
from ...problems.certificate import MarginCertificate, balanced, best_intercept, certify_margin
from ...problems.problem import Problem, Solution, Status
from ..curvatures import LARGEST_MATRIX, agree, curvature_of, few_features, reconciled, weights_of
from ..interior import interior_point
from .polish import polish
from .smo import Bench
from .soft_margin import SoftMargin

#: How often a solution that single precision took for one is improved from exact scores.
_REFINEMENTS = 3
#: A gap of more than this part of the objective is not small, whatever the tolerance says: the solver is asked for it
#: while its block is at hand, and for so few items nothing is left untried.
_SMALL_GAP, _FEW = 8e-5, 500
#: A gap of so little is none.
_NO_GAP = 1e-9
#: Matrices that an interior point method has in memory at a time.
_COPIES = 4
#: Steps for each item after which an interior point method, where there can be one, is the faster way.
_PATIENCE, _LEAST_PATIENCE = 100, 20_000
#: Coefficients that are nearer to a bound than this, relative to the largest, are next to it.
_NEXT = 1e-5
#: Blocks of items that an interior point method solves one after the other.
_BLOCKS = 5
#: Kernel values in float32 need a diagonal within this range.
_RANGE = 1e-20, 1e20


@dataclass(frozen=True)
class Certified:
    """A solution with its certificate."""

    solution: Solution
    certificate: MarginCertificate


def solve_certified(
    problem: Problem,
    exact: Gram,
    solver: SoftMargin,
    start: Array | None = None,
    rng: np.random.Generator | None = None,
    scores: Array | None = None,
    bench: Bench | None = None,
    by_weights: bool = False,
    last_resort: bool = True,
) -> Certified:
    """Solve the dual of a soft margin or a tube; ``exact`` is the kernel matrix without rounding to float32.

    ``by_weights``: the model is going to be known by its weights, which may then be more exact than the coefficients.
    Without the ``last_resort`` of an interior point method the solver's own steps are all there is.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> gram = Features(np.array([[2.0], [-1.0], [1.0], [4.0]]))
    >>> problem = Problem(gram, np.array([-1.0, 1.0, -1.0, -1.0]), Hinge(), lam=2.5, intercept=True)
    >>> found = solve_certified(problem, gram, SoftMargin())
    >>> round(found.certificate.objective, 6), round(found.certificate.intercept, 6)
    (0.18, -0.7)
    """
    return _Search(problem, exact, solver, rng, bench, by_weights, last_resort).run(start, scores)


class _Search:
    #: Of all that was found, what has the least gap.
    narrowest: Certified

    def __init__(
        self,
        problem: Problem,
        exact: Gram,
        solver: SoftMargin,
        rng: np.random.Generator | None,
        bench: Bench | None,
        by_weights: bool,
        last_resort: bool,
    ) -> None:
        self.problem, self.exact, self.solver = problem, exact, solver
        self.rng, self.bench, self.by_weights, self.last_resort = rng, bench, by_weights, last_resort
        self.low, self.high = problem.bounds()
        self.hard = not np.isfinite(self.high - self.low).all()
        self.deadline = time.monotonic() + solver.time_limit
        self.steps = 0

    def run(self, start: Array | None, scores: Array | None) -> Certified:
        first = self._pairwise(self.solver.tol, start, scores)
        best = self._certified(first)
        if first.status is Status.INTERRUPTED:
            return best
        try:
            with whole():
                for better in self._improved(best):
                    best = better
        except KeyboardInterrupt:
            if not kept():
                raise
            return replace(best, solution=replace(best.solution, status=Status.INTERRUPTED, n_iter=self.steps))
        if best.certificate.violation > self.solver.tol and self._proven(self.narrowest):
            best = self.narrowest
        converged = best.certificate.violation <= self.solver.tol or self._proven(best)
        status = Status.CONVERGED if converged else Status.NOT_CONVERGED
        return replace(best, solution=replace(best.solution, status=status, n_iter=self.steps))

    def _improved(self, best: Certified) -> Iterator[Certified]:
        """Solutions that are better and better."""
        if not self._done(best) and not self._limited():
            best = self._polished(best)
            yield best
        tol = self.solver.tol
        for _ in range(_REFINEMENTS):
            if self._done(best) or self._limited():
                break
            if best.certificate.violation <= tol:
                tol *= 0.1
            again = self._better(best, self._pairwise(tol, best.solution.z, best.certificate.scores))
            if again is best:
                break
            best = again
            yield best
        for _ in range(_BLOCKS if self.last_resort else 0):
            if self._done(best) or self._limited():
                break
            again = best
            for found in self._interior(best):
                again = self._better(again, found)
            if again is best:
                break
            best = again
            yield best
        if self.low.size <= LARGEST_MATRIX and not self._limited():  # beyond that a tolerance is a tolerance
            yield self._polished(best)

    def _done(self, found: Certified) -> bool:
        certificate = found.certificate
        small = certificate.gap <= _SMALL_GAP * abs(certificate.objective) or self.low.size > _FEW
        return certificate.violation <= self.solver.tol and small

    def _proven(self, found: Certified) -> bool:
        """Whether the gap proves that there is nothing left to gain, whatever is violated by tiny coefficients.

        That of a hard margin proves it only for machines that violate nothing.
        """
        return not self.hard and found.certificate.gap <= _NO_GAP * abs(found.certificate.objective)

    def _limited(self) -> bool:
        return time.monotonic() > self.deadline or 0 <= self.solver.max_iter <= self.steps

    def _pairwise(self, tol: float, start: Array | None, scores: Array | None) -> Solution:
        """Let the solver work on kernel values in float32."""
        allowed = self.solver.max_iter
        if self._affordable(self.low.size):
            patience = max(_LEAST_PATIENCE, _PATIENCE * self.low.size)
            allowed = patience if allowed < 0 else min(allowed, self.steps + patience)
        if allowed >= 0:
            allowed = max(0, allowed - self.steps)
        solver = replace(
            self.solver, tol=tol, max_iter=allowed, time_limit=self.deadline - time.monotonic(), gap=_SMALL_GAP
        )
        problem, unit = self._in_range()
        if unit != 1.0:
            start = None if start is None else start * unit
        found = solver.solve(problem, start, self.rng, scores, self.bench)
        self.steps += found.n_iter
        return found if unit == 1.0 else replace(found, z=found.z / unit)

    def _in_range(self) -> tuple[Problem, float]:
        """The problem with a kernel matrix that float32 can hold: K/s, whose coefficients are s times as large."""
        largest = float(self.problem.gram.diag().max(initial=0.0))
        if largest == 0.0 or _RANGE[0] < largest < _RANGE[1]:
            return self.problem, 1.0
        gram = self.problem.gram.scaled(1 / largest)
        return replace(self.problem, gram=gram, lam=self.problem.lam / largest), largest

    def _certified(self, solution: Solution, known: bool = False) -> Certified:
        z = balanced(solution.z, self.low, self.high)
        known = known and bool((z == solution.z).all())
        if not np.isfinite(z).all():
            z = np.zeros(z.size)
        # A model that is known by its weights is judged by them, and not by what rounding makes of their scores.
        w = self.exact.model(z) if self.by_weights and solution.w is None else solution.w
        solution = replace(solution, z=z, w=w)
        certificate = certify_margin(self.problem, self.exact, solution, known)
        found = Certified(replace(solution, b=certificate.intercept), certificate)
        if not hasattr(self, "narrowest") or certificate.gap < self.narrowest.certificate.gap:
            self.narrowest = found
        return found

    def _polished(self, best: Certified) -> Certified:
        """With the last digits of its free coefficients, where that is better."""
        exact = replace(best.solution, scores=best.certificate.scores)
        other = polish(self.problem, self.exact, exact)
        return best if other is exact else self._better(best, other, known=True)

    def _better(self, best: Certified, other: Solution, known: bool = False) -> Certified:
        """The one that violates less than it may, or less; of two such, the one with the smaller gap."""
        found = self._certified(other, known)
        ranks = [(max(c.violation, self.solver.tol), c.gap) for c in (found.certificate, best.certificate)]
        return found if ranks[0] < ranks[1] else best

    # -- interior point -------------------------------------------------------------------------------------------

    def _affordable(self, items: int) -> bool:
        """Whether an interior point method has room: for a matrix of the items and copies of it, or for features."""
        room = int(np.sqrt(self.solver.memory / (8 * _COPIES)))
        return items <= min(LARGEST_MATRIX, room) or few_features(self.exact) is not None

    def _interior(self, best: Certified) -> list[Solution]:
        """Solve for all coefficients, or for those that are not clearly where they belong; nothing if too many.

        Coefficients that belong on a bound are put there. That takes away digits where K is nearly singular, so the
        point inside is given as well.
        """
        n, z = self.low.size, best.solution.z
        block = np.flatnonzero(self.high > self.low)
        if not self._affordable(block.size):
            certificate = best.certificate
            distance = self.problem.targets() - certificate.scores - certificate.intercept
            band = max(0.3, 2 * certificate.violation)
            settled = np.where(z <= self.low, distance < -band, (z >= self.high) & (distance > band))
            block = block[~settled[block]]
            if block.size < 2 or not self._affordable(block.size):
                return []
        fixed = z.copy()
        fixed[block] = 0.0
        others = np.flatnonzero(fixed)
        targets = self.problem.targets()[block]
        if others.size:
            targets = targets - self.exact.scores(block, others, fixed[others])
        curvature, unit = curvature_of(self.exact, block, centred=not others.size)
        low, high = self.low[block] * unit, self.high[block] * unit
        A, total, sizes = np.ones((1, block.size)), np.array([-fixed.sum() * unit]), (1.0, float((high - low).max()))
        found = interior_point(curvature, targets, A, total, low, high, sizes=sizes, deadline=self.deadline)
        self.steps += found.steps
        w = weights_of(self.exact, found, unit) if self.by_weights and not others.size else None
        points = []
        for new in (np.where(found.at_low, low, np.where(found.at_high, high, found.z)), found.z):
            z = fixed.copy()
            z[block] = new / unit
            z = balanced(z, self.low, self.high)
            own = w
            if w is not None:
                z = self._on_bounds(reconciled(few_features(self.exact), w, z, self.low, self.high, True), w)
                own = w if agree(few_features(self.exact), w, z, 0.01 * self.solver.tol) else None
            scores, b = self.exact.scores_and_square(z, own)[0], float(found.multipliers[0])
            points.append(Solution(z=z, b=b, status=Status.CONVERGED, n_iter=0, seen=n, scores=scores, w=own))
        return points

    def _on_bounds(self, z: Array, w: Array) -> Array:
        """Coefficients next to a bound where the weights say that they belong on it."""
        F = self.problem.targets() - self.exact.scores_and_square(z, w)[0]
        distance = F - best_intercept(F, self.low, self.high)
        slight = _NEXT * np.minimum(self.high - self.low, float(np.abs(z).max(initial=0.0)))
        z = np.where((distance > 0.1 * self.solver.tol) & (self.high - z < slight), self.high, z)
        z = np.where((distance < -0.1 * self.solver.tol) & (z - self.low < slight), self.low, z)
        return reconciled(few_features(self.exact), w, z, self.low, self.high, True)
