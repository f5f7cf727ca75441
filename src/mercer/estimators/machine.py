"""One machine of a support vector classifier: two classes, solved with a certificate."""

from __future__ import annotations

import time
from dataclasses import replace
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from .. import solvers
from .._runtime.compile import Array
from .._runtime.interrupts import kept
from ..grams import Features, Gram
from ..kernels import Polynomial
from ..losses.margins import Hinge
from ..problems.certificate import MarginCertificate, certify_margin
from ..problems.problem import Problem, Solution, Status
from ..solvers.curvatures import few_enough
from ..solvers.svm.certified import Certified, solve_certified
from ..solvers.svm.coordinate import linear_start
from ..solvers.svm.hard_margin import hard_margin
from ..solvers.svm.smo import Bench
from .content import row_keys
from .training import Training

if TYPE_CHECKING:
    from .svc import SVC

#: A linear machine with more rows than this begins with passes over them.
_FEW = 1000
#: Steps for each item after which an interior point method finds a hard margin sooner.
_PATIENCE, _LEAST_PATIENCE = 20, 2000
#: Where there is no hard margin, the machine is that of so large a C, in units of 1/(mean self-similarity).
_NEARLY_HARD = 1e3
#: Noise in scores that a margin of one does not stand.
_AUDIBLE = 0.1
#: Items whose scores tell, in a search, whether single precision can be trusted.
_SPOTS = 32


def contradictions(data: Training, rows: Array | None = None) -> int:
    """How many of the rows appear again with another label."""
    if data.fingerprints is None:
        return 0
    rows = np.arange(data.targets.size) if rows is None else rows
    same = np.unique(row_keys(data.fingerprints[rows], np.zeros(rows.size)), return_inverse=True)[1]
    pairs = np.unique(np.stack([same, data.targets[rows]], axis=1), axis=0)
    return int((np.bincount(pairs[:, 0]) > 1).sum())


class Machine:
    """One two-class problem of a fit."""

    problem: Problem
    solution: Solution
    certificate: MarginCertificate | None = None
    left_out = False
    #: The scores of ``start``, where they are known for all items of the matrix.
    scores: Array | None = None
    start: Array | None = None

    def __init__(self, owner: SVC, data: Training, rows: Array, y: Array) -> None:
        self.owner, self.data, self.rows, self.y = owner, data, rows, y
        self.owner_C = owner.C

    def _state(self, C: float) -> Problem:
        weight = None if self.data.weight is None else self.data.weight[self.rows]
        total = self.rows.size if weight is None else weight.sum()
        lam = 0.0 if np.isinf(C) else 1 / (C * total)
        gram = self._part(self.data.gram)
        return Problem(gram, self.y, Hinge(), lam, weight, intercept=True, free=True)

    def _part(self, gram: Gram) -> Gram:
        """The Gram of this machine's items."""
        return gram if self.rows.size == self.data.targets.size else gram.take(self.rows)

    def _begin(self, solver: solvers.SoftMargin, rng: np.random.Generator) -> Array | None:
        """Coefficients to begin with."""
        gram = self.problem.gram
        if self.start is None and isinstance(gram, Features) and self.problem.lam > 0 and self.rows.size > _FEW:
            return linear_start(self.problem, solver.tol, rng)
        return self.start

    def solve(self, solver: solvers.SoftMargin, rng: np.random.Generator, bench: Bench, exact: Gram) -> None:
        """Solve without a certificate, as long as single precision can be trusted."""
        self.problem = self._state(self.owner.C)
        if self.problem.lam > 0:
            start = self._begin(solver, rng)
            self.solution = solver.solve(self.problem, start, rng, scores=self.scores, bench=bench)
            if self._trusted(self._part(exact), solver.tol, rng):
                return
        self.complete(solver, rng, bench, exact)

    def _trusted(self, exact: Gram, tol: float, rng: np.random.Generator) -> bool:
        """Whether this is a solution as far as the exact scores of some items tell."""
        solution = self.solution
        if solution.status is not Status.CONVERGED or not np.isfinite(solution.z).all():
            return False
        used, n = np.flatnonzero(solution.z), self.rows.size
        spots = np.sort(rng.choice(n, min(n, _SPOTS), replace=False))
        if not used.size:
            return True
        scores = exact.scores(spots, used, solution.z[used])
        return bool(np.abs(scores - np.asarray(solution.scores)[spots]).max() <= 10 * tol)

    def complete(self, solver: solvers.SoftMargin, rng: np.random.Generator, bench: Bench, exact: Gram) -> None:
        """Solve with a certificate in float64."""
        exact, deadline = self._part(exact), time.monotonic() + solver.time_limit
        self.problem = self._state(self.owner.C)
        proven = None
        if self.problem.lam == 0:
            found = self._hard(solver, rng, bench, exact)
            if found.solution.status not in (Status.NOT_SEPARABLE, Status.NOT_FOUND):
                self.solution, self.certificate = found.solution, found.certificate
                return
            late = time.monotonic() > deadline  # what was not found in time may be found in more
            proven = (
                Status.NOT_CONVERGED if late and found.solution.status is Status.NOT_FOUND else found.solution.status
            )
            solver = replace(solver, time_limit=deadline - time.monotonic())
            # No model is hard enough: the one that is kept is soft, and its certificate is that of its own C.
            self.problem = self._state(_NEARLY_HARD / (float(np.mean(exact.diag())) or 1.0))
        start = self._begin(solver, rng)
        found = solve_certified(
            self.problem, exact, solver, start, rng, self.scores, bench, by_weights=self.data.linear
        )
        self.solution, self.certificate = found.solution, found.certificate
        if proven is not None:
            self.solution = replace(self.solution, status=proven)

    def _hard(self, solver: solvers.SoftMargin, rng: np.random.Generator, bench: Bench, exact: Gram) -> Certified:
        """The hard margin, or why there is none."""
        deadline = time.monotonic() + solver.time_limit
        exact, patience = self._features(exact), max(_LEAST_PATIENCE, _PATIENCE * self.rows.size)
        small = few_enough(exact)
        # Pairwise steps find a solution with few items where there are many; where it is hard to find they do not end.
        quick = replace(solver, max_iter=min(solver.max_iter, patience)) if small else solver
        found = solve_certified(
            self.problem, exact, quick, self.start, rng, self.scores, bench, self.data.linear, not small
        )
        if found.solution.status is Status.INTERRUPTED:
            return found
        separates = float(np.min(self.y * (found.certificate.scores + found.certificate.intercept))) > 0
        status: Status = found.solution.status if separates else Status.NOT_FOUND
        if small and status is not Status.CONVERGED:
            try:
                solution = hard_margin(self.problem, exact, deadline, self.data.linear)
            except KeyboardInterrupt:
                if not kept():
                    raise
                return replace(found, solution=replace(found.solution, status=Status.INTERRUPTED))
            found = Certified(solution, certify_margin(self.problem, exact, solution))
            status = solution.status
            if status is Status.CONVERGED and found.certificate.violation > solver.tol:
                status = Status.NOT_CONVERGED
        if status in (Status.CONVERGED, Status.NOT_CONVERGED) and self._noise(found.solution) > _AUDIBLE:
            status = Status.NOT_FOUND  # the model that is published would not be the one that separates
        if status is Status.NOT_FOUND and contradictions(self.data, self.rows):
            status = Status.NOT_SEPARABLE
        return replace(found, solution=replace(found.solution, status=status))

    def _noise(self, solution: Solution) -> float:
        """What rounding may change in a score of the items as they were given."""
        if isinstance(self.data.gram, Features):  # term by term: columns may have units of their own
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
        lost = self.y * b < 1
        objective = float(self.owner.C * (weight[lost] @ (1 - self.y[lost] * b)))
        self.solution = Solution(np.zeros(n), b, status, 0, scores=np.zeros(n))
        self.certificate = MarginCertificate(b, objective, objective, 2.0, np.zeros(n))

    def go_on_from(self, other: Machine) -> None:
        """Begin with the solution of the same machine for a smaller C.

        Coefficients at their bound tend to stay there, so all of them grow by a factor: the one for which the dual
        s·zᵀt − s²/2·zᵀKz is largest, but no more than C does.
        """
        z, f = other.solution.z, np.asarray(other.solution.scores)
        gain, cost = float(z @ self.y), float(z @ f)
        growth = self.owner.C / other.owner_C if np.isfinite(self.owner.C) else 1.0
        s = min(max(gain / cost, 1.0), growth) if cost > 0 else 1.0
        self.start = s * z
        reach = other.solution.reach
        self.scores = None if reach is None else s * reach

    def finite_C(self) -> float:
        """The C of the problem that was solved in the end."""
        total = self.rows.size if self.problem.weight is None else self.problem.weight.sum()
        return 1 / (self.problem.lam * total)

    @property
    def b(self) -> float:
        return self.solution.b if self.certificate is None else self.certificate.intercept
