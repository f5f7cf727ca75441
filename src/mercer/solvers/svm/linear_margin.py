"""The linear soft margin, and the linear tube, to a certificate in float64.

Passes over the rows (:mod:`.coordinate`) need no kernel value and cost what the rows hold, however many there are.
Primal, dual and every violation follow from w in one pass more. Where passes crawl, as they do with a large C, and few
coefficients are free, the kernel rows of those few are the shorter way: the exact solver then goes on from where the
passes ended (:mod:`.dual_refinement`).
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from scipy import sparse

from ..._runtime.interrupts import heed, kept
from ...grams.base import Gram
from ...problems import Certificate, Iterate, Problem, Status, best_intercept, certify, keeps
from ..curvatures import few_features
from .coordinate import CoordinateDescent
from .dual_refinement import DualRefinement
from .soft_margin import DualSolution, SoftMargin

__all__ = ["linear_margin", "passes_pay"]

#: With no more items than this (dense rows, sparse rows) the exact solver is done before passes have begun.
_FEW_ITEMS, _FEW_SPARSE = 1000, 30
#: Visits of items between two looks at the clock and at Ctrl-C.
_AT_ONCE = 200_000
#: Passes over all items: so many at least before they are said to crawl, and at most.
_LEAST, _MOST = 100, 2000
#: What a kernel value costs, in visits of an item.
_KERNEL_VALUE = 1 / 40
#: The part of the memory that the kernel values of free items, in float32, may take.
_BLOCK = 0.1
#: A gap of this part of the objective is small. For its sake violations are made smaller by this factor, so often.
_SMALL_GAP, _TIGHTER, _TIMES = 8e-5, 0.3, 4

Pair = tuple[DualSolution, Certificate]


def passes_pay(problem: Problem) -> bool:
    """Whether this is a linear soft margin or tube with items enough for passes over them."""
    dual, Phi = problem.box_dual, problem.gram.features()
    if Phi is None or dual is None or not dual.straight or dual.hard or not problem.is_free or dual.totals.size > 1:
        return False
    return len(problem.gram) > (_FEW_SPARSE if sparse.issparse(Phi) else _FEW_ITEMS)


def linear_margin(
    problem: Problem,
    solver: SoftMargin,
    start: Iterate | None = None,
    rng: np.random.Generator | None = None,
    working: Gram | None = None,
    by_weights: bool = False,
) -> Pair:
    """The solution of a linear problem and its certificate: by passes, and where they crawl by the exact solver.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import SoftMargin
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> problem = Problem(Features(X), np.sign(X[:, 0] + 0.5), Hinge(), lam=1e-3, intercept="free")
    >>> solution, certificate = linear_margin(problem, SoftMargin())
    >>> str(solution.status), certificate.gap <= 1e-4 * certificate.objective
    ('converged', True)
    """
    return _Road(problem, solver, rng or np.random.default_rng(0), by_weights).travelled(start, working)


class _Road:
    """One problem on its way."""

    def __init__(self, problem: Problem, solver: SoftMargin, rng: np.random.Generator, by_weights: bool) -> None:
        self.problem, self.solver, self.rng, self.by_weights = problem, solver, rng, by_weights
        self.deadline = time.monotonic() + solver.time_limit
        self.narrow = few_features(problem.gram) is not None

    def travelled(self, start: Iterate | None, working: Gram | None) -> Pair:
        descent = CoordinateDescent(self.problem, self.rng, start)
        best = self._passes(descent)
        if best[0].status is not Status.NOT_CONVERGED or not self._shorter(descent) or self._limited(descent):
            return best
        rest = replace(
            self.solver,
            max_iter=-1 if self.solver.max_iter < 0 else int(self._left(descent)),
            time_limit=self.deadline - time.monotonic(),
        )
        again, certificate = DualRefinement(self.problem, rest, self.rng, working, self.by_weights).run(best[0])
        return replace(again, n_iter=again.n_iter + descent.passes), certificate

    def _passes(self, descent: CoordinateDescent) -> Pair:
        """What passes find."""
        tol, rounds, status = 0.5 * self.solver.tol, 0, Status.NOT_CONVERGED
        try:
            while not self._limited(descent) and not self._crawls(descent):
                heed()
                if not descent.run(tol, min(_AT_ONCE, self._left(descent) * len(self.problem.gram))):
                    continue
                best, tol, rounds = self._certified(descent), tol * _TIGHTER, rounds + 1
                small = best[1].gap <= _SMALL_GAP * abs(best[1].objective)
                if self._kept(best) and (small or rounds > _TIMES):
                    return replace(best[0], status=Status.CONVERGED), best[1]
        except KeyboardInterrupt:
            if not kept():
                raise
            status = Status.INTERRUPTED
        best = self._certified(descent)
        if status is Status.NOT_CONVERGED and self._kept(best):
            status = Status.CONVERGED
        return replace(best[0], status=status), best[1]

    def _kept(self, found: Pair) -> bool:
        return keeps(self.problem, found[1], self.solver.tol)

    def _limited(self, descent: CoordinateDescent) -> bool:
        return time.monotonic() > self.deadline or self._left(descent) <= 0

    def _left(self, descent: CoordinateDescent) -> float:
        """The passes that are left."""
        return np.inf if self.solver.max_iter < 0 else self.solver.max_iter - descent.passes

    def _crawls(self, descent: CoordinateDescent) -> bool:
        """Whether passes have taken as long as the kernel rows of all free items would, or too long by any measure."""
        if self.narrow:
            enough: float = _LEAST
        else:
            enough = max(_LEAST, _KERNEL_VALUE * descent.free) if self._shorter(descent) else _MOST
        return descent.visits >= max(_AT_ONCE, enough * len(self.problem.gram))

    def _shorter(self, descent: CoordinateDescent) -> bool:
        """Whether there is another way than passes: features are few, or the kernel matrix of free items has room."""
        return self.narrow or 4 * descent.free**2 <= _BLOCK * self.solver.memory

    def _certified(self, descent: CoordinateDescent) -> Pair:
        problem, dual, z = self.problem, self.problem.box_dual, descent.allowed()
        assert dual is not None
        w = problem.gram.model(z)
        scores = problem.gram.scores_and_square(z, w)[0]
        b = best_intercept(dual.targets - dual.spread(scores), dual.low, dual.high)
        own = w if self.by_weights else None
        found = DualSolution(z, b, descent.passes, w=own, scores=scores, status=Status.NOT_CONVERGED)
        return found, certify(problem, found, scores)
