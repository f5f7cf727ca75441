"""One machine of a classifier whose margin is found along with the model, so that a given share of the items pays."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from .. import solvers
from ..checks.parameters import number
from ..grams import Gram
from ..losses.margins import Hinge
from ..problems import Certificate, Intercept, NuProblem, Problem, Status, certify
from ..runtime.compile import Array
from ..solvers.svm.smo import trusted
from ..solvers.svm.soft_margin import DualSolution
from .base import rescale
from .margin_classifier import MarginClassifier
from .pairs import BinaryMachine
from .training import Training

#: Items from which the margin is estimated, how exactly, and in how many steps.
_SAMPLE, _ROUGH, _STEPS = 500, 0.05, 50_000
#: How often the problem is stated anew because its margin is not near one.
_ROUNDS = 8
#: The margin of a problem that has been stated well.
_NEAR_ONE = 0.8, 1.25
#: A margin that is less than this part of what all coefficients together could make it is none: in single precision,
#: and in double.
_NO_MARGIN, _NO_EXACT_MARGIN = 1e-5, 1e-11


#: Solves the problem as it is stated, from a start and to a tolerance; with a certificate where one is wanted.
Once = Callable[[DualSolution | None, float], tuple[DualSolution, Certificate | None]]


class NuMachine(BinaryMachine):
    """Two classes with a margin that is found.

    Coefficients and scores grow with 1/λ, and so does the margin: λ is chosen so that the margin is one, as it is for
    every other machine. Then the solution is that of a soft margin with C = 1/(λ·Σ weights).
    """

    def __init__(self, nu: float, data: Training, rows: Array, y: Array) -> None:
        super().__init__(1.0, data, rows, y)
        self.nu = nu
        self.lam = 0.0

    def _problem(self, gram: Gram, C: float) -> Problem:
        weight = None if self.data.weight is None else self.data.weight[self.rows]
        return NuProblem(gram, self.y, Hinge(), self.lam, weight, Intercept.FREE, self.nu)

    def _guess(self, solver: solvers.SoftMargin, rng: np.random.Generator) -> float:
        """λ for which the margin is about one, from some of the items."""
        gram = self._part(self.data.gram)
        some = np.sort(rng.permutation(self.rows.size)[:_SAMPLE])
        y = self.y[some]
        share = 2 * float(min(np.mean(y > 0), np.mean(y < 0)))
        self.lam = self.nu * (float(gram.diag().mean()) or 1.0)
        if share == 0:
            return self.lam
        problem = NuProblem(gram.take(some), y, Hinge(), self.lam, None, Intercept.FREE, min(self.nu, share))
        rough = replace(solver, tol=_ROUGH, max_iter=_STEPS, workspace=None)
        for _ in range(_ROUNDS):
            margin = rough.solve(problem, None, rng).width
            if margin * problem.lam <= _NO_MARGIN * self.lam or margin > _NEAR_ONE[0]:
                break
            problem = replace(problem, lam=problem.lam * margin)
        return problem.lam * margin if margin > _NEAR_ONE[0] else problem.lam

    def _rough(self, solver: solvers.SoftMargin, rng: np.random.Generator) -> DualSolution | None:
        """A rough solution, with λ restated so that its margin is one; ``None`` if it is not found in a few steps."""
        if self.rows.size <= _SAMPLE:
            return None
        rough = replace(solver, tol=max(solver.tol, _ROUGH), max_iter=min(solver.max_iter, 4 * _STEPS))
        found = rough.solve(self._problem(self._part(self.data.gram), 1.0), None, rng)
        if found.status is not Status.CONVERGED or found.width <= _NO_MARGIN:
            return None
        self.lam *= found.width
        return replace(found.scaled(1 / found.width), b=found.b / found.width)

    def approximate(self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram) -> None:
        """Solve without a certificate, as long as single precision can be trusted."""
        working = self._part(self.data.gram)

        def once(start: DualSolution | None, tol: float) -> tuple[DualSolution, Certificate | None]:
            found = replace(solver, tol=tol).solve(self._problem(working, 1.0), start, rng)
            return found, None

        self._settle(once, solver, rng, _NO_MARGIN)
        if not trusted(self._problem(self._part(exact), 1.0), self.solution, solver.tol, rng):
            self.start = None
            self.solve(solver, rng, exact)

    def solve(self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram) -> None:
        """Solve with a certificate in float64."""
        working, exact = self._part(self.data.gram), self._part(exact)
        deadline = time.monotonic() + solver.time_limit

        def once(start: DualSolution | None, tol: float) -> tuple[DualSolution, Certificate | None]:
            within = replace(solver, tol=tol, time_limit=deadline - time.monotonic())
            found = solvers.solve_certified(
                self._problem(exact, 1.0), within, start, rng, working=working, by_weights=self.data.linear
            )
            assert isinstance(found.solution, DualSolution)
            return found.solution, found.certificate

        self._settle(once, solver, rng, _NO_EXACT_MARGIN)

    def _settle(self, once: Once, solver: solvers.SoftMargin, rng: np.random.Generator, least: float) -> None:
        """Solve, and state the problem anew, until the tolerance is one for a margin of one.

        Where more rows than a share nu are on the wrong side of every margin, the widest is none at all.
        """
        start = self.start if isinstance(self.start, DualSolution) else None
        if start is None or not self.lam:
            start, self.lam = None, self._guess(solver, rng)
            start = self._rough(solver, rng)
        steps = 0
        for _ in range(_ROUNDS):
            solution, certificate = once(start, _NEAR_ONE[0] * solver.tol)
            steps += solution.n_iter
            margin = solution.width
            possible = float(np.abs(solution.z).sum()) * float(self._part(self.data.gram).diag().max(initial=0.0))
            if not margin > least * possible:
                solved = solution.status is Status.CONVERGED
                status = Status.NOT_FOUND if solved else solution.status
                self.solution, self.certificate = replace(solution, n_iter=steps, status=status), certificate
                return
            self.lam *= margin
            scaled = solution.scaled(1 / margin)
            start = replace(scaled, b=solution.b / margin, n_iter=steps)
            self.certificate = None
            if certificate is not None:
                violation = certificate.violation
                assert violation is not None
                self.certificate = Certificate(
                    certificate.objective / margin, certificate.gap / margin, violation / margin
                )
            self.solution = start
            if margin > _NEAR_ONE[0] or solution.status is not Status.CONVERGED:
                return
        self.solution = replace(self.solution, status=Status.NOT_FOUND)

    def go_on_from(self, other: BinaryMachine) -> None:
        """Begin with the solution of the same machine for another nu."""
        assert isinstance(other, NuMachine)
        self.start, self.lam = other.solution, other.lam

    def leave_out(self, status: Status) -> None:
        self.lam = self.lam or 1.0
        super().leave_out(status)

    def _of_nothing(self, weight: Array, b: float) -> Certificate:
        problem = self._problem(self._part(self.data.gram), self.C)
        return certify(problem, self.solution, np.zeros(self.rows.size))


# The support vector classifier whose margin holds all but a given share of the rows.


class NuSVC(MarginClassifier):
    """The soft-margin support vector machine whose margin is as wide as it takes: at most a share ``nu`` pays.

    It minimises ½‖w‖² − nu·ρ + mean max(0, ρ − y·f(x)) over the model and the margin ρ, through its dual. Scores are
    in units of the margin, so that the machine is that of an :class:`SVC` with some C, which need not be chosen.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear machine with ``coef_``.
    nu : float, default=0.5
        More than 0 and at most 1: an upper bound on the share of rows within the margin or beyond, and a lower bound on
        the share of support rows, in each machine. A class that is rare allows no more than twice its share.
    strategy, tol, max_iter, time_limit, class_weight, memory, random_state
        As in :class:`SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, coef_ (linear), intercept_
    n_iter_, status_, converged_
        As in :class:`SVC`.
    objective_ : array
        λ/2·‖w‖² + mean max(0, 1 − y·f(x)) − nu of each machine, with the λ for which the margin is one.
    duality_gap_, kkt_violation_ : array
        As in :class:`SVC`, in units of the margin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> bool(len(model.support_) >= 20), model.score(X, y)
    (True, 0.98)
    """

    path = "nu"
    path_falls = True
    largest_similarity = 1e30  # as blocks of the matrix are in single precision
    _softer = "raise nu"

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        nu: float = 0.5,
        strategy: str = "ovo",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        class_weight: Any = None,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.strategy = strategy
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.memory = memory
        self.random_state = random_state

    def _check_hardness(self) -> None:
        number(self, "nu", 0, 1)

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """As every classifier does; a nu that some machine cannot have is refused."""
        codes, weight = super().encoded(y, sample_weight, items)
        self._refuse_infeasible(codes, weight)
        return codes, weight

    def _machines(self, data: Training) -> list[BinaryMachine]:
        self._refuse_infeasible(data.targets, data.weight)
        return super()._machines(data)

    def _machines_again(self, data: Training, last: list[BinaryMachine]) -> list[BinaryMachine]:
        self._refuse_infeasible(data.targets, data.weight)
        return super()._machines_again(data, last)

    def _refuse_infeasible(self, codes: Array, weight: Array | None) -> None:
        """Coefficients of both classes of a machine sum to the same, and no class has more of them than weight."""
        classes, weights = self.classes_.tolist(), np.bincount(codes, weight, self.classes_.size)
        if weights.size == 2 or self.strategy == "ovo":
            sides = [(i, j, weights[i], weights[j]) for i, j in combinations(range(weights.size), 2)]
        else:
            sides = [(i, -1, weights[i], weights.sum() - weights[i]) for i in range(weights.size)]
        first, second, one, other = min(sides, key=lambda side: min(side[2:]) / (side[2] + side[3]))
        largest = 2 * min(one, other) / (one + other)
        if self.nu > largest * (1 + 1e-12):
            against = "the rest" if second < 0 else repr(classes[second])
            raise ValueError(
                f"NuSVC: nu={self.nu:g} is infeasible: {classes[first]!r} ({one:g}) against {against} ({other:g}) "
                f"allows at most nu={_floor(largest)}; lower nu, or use SVC."
            )

    def _without_margin(self, machines: list[BinaryMachine]) -> str:
        return (
            f"NuSVC: no margin was found that leaves at most a share nu={self.nu:g} of the rows on its wrong side; if "
            f"there is one, it is too narrow for the precision of numbers, and scores mean little. Raise nu, "
            f"{rescale(self.kernel_)}, or choose a kernel that tells more."
        )

    def _machine(self, data: Training, rows: Array, y: Array) -> BinaryMachine:
        return NuMachine(float(self.nu), data, rows, y)


def _floor(value: float) -> float:
    """The largest number of four digits that is not above it."""
    digits = 4 - int(np.ceil(np.log10(value)))
    return float(np.floor(value * 10.0**digits) / 10.0**digits)
