"""One machine of a support vector classifier: two classes, solved with a certificate."""

from __future__ import annotations

import time
from dataclasses import replace
from math import comb

import numpy as np

from .. import solvers
from .._runtime.compile import Array
from .._runtime.interrupts import kept
from ..grams import Dense, Features, Gram
from ..kernels import Polynomial
from ..losses.margins import Hinge
from ..problems import Certificate, Intercept, Iterate, Problem, Status, balanced, certify, keeps
from ..solvers.curvatures import few_enough
from ..solvers.svm.dual_refinement import DualRefinement
from ..solvers.svm.hard_margin import hard_margin
from ..solvers.svm.linear_margin import passes_pay
from ..solvers.svm.soft_margin import DualSolution
from ..solvers.svm.trust import trusted
from .content import row_keys
from .training import Training

#: Steps for each item after which an interior point method finds a hard margin sooner.
_PATIENCE, _LEAST_PATIENCE = 20, 2000
#: Where there is no hard margin, the machine is that of so large a C, in units of 1/(mean self-similarity).
_NEARLY_HARD = 1e3
#: Noise in scores that a margin of one does not stand.
_AUDIBLE = 0.1
#: Items of a machine among many whose kernel values are computed once.
LOOKED_UP = 1000
#: Values beyond this are not rounded to float32, which could not hold them.
_LARGEST_SINGLE = 1e37


def contradictions(data: Training, rows: Array | None = None) -> int:
    """How many of the rows appear again with another label."""
    if data.fingerprints is None:
        return 0
    rows = np.arange(len(data.targets)) if rows is None else rows
    same = np.unique(row_keys(data.fingerprints[rows], np.zeros(rows.size)), return_inverse=True)[1]
    pairs = np.unique(np.column_stack([same, data.targets[rows]]), axis=0)
    return int((np.bincount(pairs[:, 0]) > 1).sum())


class BinaryMachine:
    """One problem of a fit, with labels ±1: a pair of classes, or a class against the rest."""

    solution: DualSolution
    certificate: Certificate | None = None
    left_out = False
    start: Iterate | None = None
    #: A solution with exact scores, where somebody has found one already: it is still to be certified.
    begun: DualSolution | None = None

    def __init__(self, C: float, data: Training, rows: Array, y: Array) -> None:
        self.data, self.rows, self.y = data, rows, y
        self.C = C
        #: The C of the problem that was solved in the end.
        self.final_C = C

    def _problem(self, gram: Gram, C: float) -> Problem:
        weight = None if self.data.weight is None else self.data.weight[self.rows]
        total = self.rows.size if weight is None else weight.sum()
        lam = 0.0 if np.isinf(C) else 1 / (C * total)
        return Problem(gram, self.y, Hinge(), lam, weight, Intercept.FREE)

    @property
    def problem(self) -> Problem:
        """What is to be solved."""
        return self._problem(self._part(self.data.gram), self.C)

    def _part(self, gram: Gram) -> Gram:
        """The Gram of this machine's items."""
        return gram if self.rows.size == len(self.data.targets) else gram.take(self.rows)

    def _parts(self, exact: Gram) -> tuple[Gram, Gram]:
        """The Grams of this machine's items, to solve on and to certify with.

        Where items are few, looking a value up costs less than asking for it, and both are matrices in memory.
        """
        if self.rows.size > LOOKED_UP or self.rows.size == len(self.data.targets) or exact.features() is not None:
            working = self._part(self.data.gram)
            return working, working if exact is self.data.gram else self._part(exact)
        values = np.asarray(self._part(exact).rows(np.arange(self.rows.size)), dtype=np.float64)
        fits = float(np.abs(values).max(initial=0.0)) < _LARGEST_SINGLE
        return Dense(values.astype(np.float32) if fits else values), Dense(values)

    @property
    def one_sided(self) -> bool:
        """Whether all items have the same label, as one of many labels may be."""
        return bool((self.y == self.y[0]).all())

    def beginning(self) -> tuple[Array, Array]:
        """The largest coefficient of each item, and those to begin with: within bounds, and with a sum of zero."""
        weight = self.data.weight
        bound = np.full(self.rows.size, self.C) if weight is None else self.C * weight[self.rows]
        if self.start is None:
            return bound, np.zeros(self.rows.size)
        return bound, balanced(self.start.z, np.minimum(bound * self.y, 0.0), np.maximum(bound * self.y, 0.0))

    def approximate(self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram) -> None:
        """Solve without a certificate, as long as single precision can be trusted and one would cost anything."""
        problem = self._problem(self._part(self.data.gram), self.C)
        if np.isfinite(self.C) and not passes_pay(problem):
            self.solution = solver.solve(problem, self.start, rng)
            if trusted(problem.on(self._part(exact)), self.solution, solver.tol, rng):
                return
        self.solve(solver, rng, exact)

    def solve(self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram) -> None:
        """Solve with a certificate in float64."""
        working, exact = self._parts(exact)
        deadline = time.monotonic() + solver.time_limit
        proven = None
        if np.isinf(self.C):
            solution, certificate = self._hard(solver, rng, exact)
            if solution.status not in (Status.NOT_SEPARABLE, Status.NOT_FOUND):
                self.solution, self.certificate = solution, certificate
                return
            late = time.monotonic() > deadline  # what was not found in time may be found in more
            proven = Status.NOT_CONVERGED if late and solution.status is Status.NOT_FOUND else solution.status
            solver = replace(solver, time_limit=deadline - time.monotonic())
            # No model is hard enough: the one that is kept is soft, and its certificate is that of its own C.
            self.final_C = _NEARLY_HARD / (float(np.mean(exact.diag())) or 1.0)
        problem = self._problem(exact, self.final_C)
        if self.begun is not None:
            refinement = DualRefinement(problem, solver, rng, working, self.data.by_weights)
            self.solution, self.certificate = refinement.improved(self.begun, known=True)
            return
        found = solvers.solve_certified(
            problem, solver, self.start, rng, working=working, by_weights=self.data.by_weights
        )
        assert isinstance(found.solution, DualSolution)
        self.solution, self.certificate = found.solution, found.certificate
        if proven is not None:
            self.solution = replace(self.solution, status=proven)

    def _hard(
        self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram
    ) -> tuple[DualSolution, Certificate]:
        """The hard margin, or why there is none."""
        deadline = time.monotonic() + solver.time_limit
        exact, patience = self._features(exact), max(_LEAST_PATIENCE, _PATIENCE * self.rows.size)
        problem, by_weights, small = self._problem(exact, np.inf), self.data.by_weights, few_enough(exact)
        # Pairwise steps find a solution with few items where there are many; where it is hard to find they do not end.
        quick = replace(solver, max_iter=min(solver.max_iter, patience)) if small else solver
        refinement = DualRefinement(problem, quick, rng, self._part(self.data.gram), by_weights, last_resort=not small)
        solution, certificate = refinement.run(self.start)
        if solution.status is Status.INTERRUPTED:
            return solution, certificate
        separates = float(np.min(self.y * (np.asarray(solution.scores) + solution.b))) > 0
        status: Status = solution.status if separates else Status.NOT_FOUND
        if small and status is not Status.CONVERGED:
            try:
                solution = hard_margin(problem, deadline, by_weights)
            except KeyboardInterrupt:
                if not kept():
                    raise
                return replace(solution, status=Status.INTERRUPTED), certificate
            certificate = certify(problem, solution)
            status = solution.status
            if status is Status.CONVERGED and not keeps(problem, certificate, solver.tol):
                status = Status.NOT_CONVERGED
        if status in (Status.CONVERGED, Status.NOT_CONVERGED) and self._noise(solution) > _AUDIBLE:
            status = Status.NOT_FOUND  # the model that is published would not be the one that separates
        if status is Status.NOT_FOUND and contradictions(self.data, self.rows):
            status = Status.NOT_SEPARABLE
        return replace(solution, status=status), certificate

    def _noise(self, solution: DualSolution) -> float:
        """What rounding may change in a score of the items as they were given."""
        if self.data.linear:  # term by term: columns may have units of their own
            rows = abs(self.data.items[self.rows])
            sums = rows @ (rows.T @ np.abs(solution.z) if solution.w is None else np.abs(solution.w))
        else:
            lengths = self._part(self.data.gram).lengths()
            sums = lengths * float(lengths @ np.abs(solution.z))
        return 2.3e-16 * float(np.max(sums, initial=0.0))

    def _features(self, exact: Gram) -> Gram:
        """The items' features, where the kernel has few: they tell more exactly than the matrix what is separable."""
        kernel = self.data.kernel
        if not isinstance(kernel, Polynomial):
            return exact
        rows = self.data.items[self.rows].astype(np.float64, copy=False)
        if comb(rows.shape[1] + int(kernel.degree), int(kernel.degree)) >= self.rows.size:
            return exact
        features = kernel.features(rows)
        return Features(features) if np.isfinite(features.sum()) else exact

    def leave_out(self, status: Status) -> None:
        """No solution: the class with more weight always wins, which is the best of all models without coefficients."""
        self.left_out = True
        n = self.rows.size
        weight = np.ones(n) if self.data.weight is None else self.data.weight[self.rows]
        b = float(np.sign(self.y @ weight))
        self.solution = DualSolution(np.zeros(n), b, scores=np.zeros(n), status=status)
        self.certificate = self._of_nothing(weight, b)

    def _of_nothing(self, weight: Array, b: float) -> Certificate:
        """The certificate of a model without coefficients, which has to be quick: there may be thousands.

        It pays max(0, 1 − y·b) for every item, and the dual of zeros is zero; a hard margin has nobody pay. Targets of
        coefficients that may grow and of those that may shrink are 1 and −1, and should not differ.
        """
        paid = 0.0 if np.isinf(self.C) else float(weight @ np.maximum(0.0, 1.0 - self.y * b)) / float(weight.sum())
        alive = self.y[weight > 0]
        return Certificate(paid, paid, 2.0 if (alive > 0).any() and (alive < 0).any() else 0.0)

    def go_on_from(self, other: BinaryMachine) -> None:
        """Begin with the solution of the same machine for a smaller C.

        Coefficients at their bound tend to stay there, so all of them grow by a factor: the one for which the dual
        s·zᵀt − s²/2·zᵀKz is largest, but no more than C does.
        """
        z, f = other.solution.z, np.asarray(other.solution.scores)
        gain, cost = float(z @ self.y), float(z @ f)
        growth = self.C / other.C if np.isfinite(self.C) else 1.0
        self.start = other.solution.scaled(min(max(gain / cost, 1.0), growth) if cost > 0 else 1.0)
