"""Machines that are one problem, solved through its dual: the way that SVR, NuSVR, OneClassSVM and SVDD share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import solvers
from ..checks.parameters import bytes_of, number
from ..grams import Gram, Placement
from ..messages import guide
from ..problems import Certificate, Iterate, Problem, Solution, Status
from ..runtime.compile import Array
from ..solvers.svm.linear import passes_pay
from ..solvers.svm.smo import trusted
from .base import KernelMachine, rescale
from .model import model_of
from .training import Training, warn


class DualMachine(KernelMachine, named=False):
    """Base of machines with one score.

    A subclass states its problem (:meth:`_state`) and says which model a solution stands for (:meth:`_model_of`), and
    what its certificate is in the user's units (:meth:`_in_users_units`).
    """

    tol: float
    max_iter: int
    time_limit: float | None
    random_state: Any

    @property
    def placement(self) -> Placement:
        """Rows in float32 are enough to find the solution; the certificate goes back to all digits."""
        return Placement(self.memory, np.float32, centred=True)

    def _check(self) -> None:
        """Refuse bad parameters, before the data are looked at."""
        number(self, "tol", 0)
        number(self, "max_iter", 1, whole=True, strict=False)
        if self.time_limit is not None:
            number(self, "time_limit", 0)

    def _state(self, data: Training, gram: Gram) -> Problem:
        """The problem, with the Gram that it is to be solved on."""
        raise NotImplementedError

    def _model_of(self, data: Training, problem: Problem, found: Iterate) -> Iterate:
        """The model in the user's units: its score is what users read."""
        raise NotImplementedError

    def _in_users_units(self, data: Training, problem: Problem, certificate: Certificate) -> Certificate:
        raise NotImplementedError

    def _solver(self, data: Training) -> solvers.SoftMargin:
        seconds, memory = data.run.seconds_left(), bytes_of(self.memory)
        return solvers.SoftMargin(float(self.tol), int(self.max_iter), seconds, memory, workspace=data.workspace)

    def _draw(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def learn(self, data: Training) -> None:
        """Solve, and publish what was found."""
        rng = self._draw()
        with data.run.reported(1, "machine") as run:
            problem, found = run(0, partial(self._solve, data, rng))
        solution, certificate = found.solution, found.certificate
        model = self._model_of(data, problem, solution)
        self._publish(model_of(data, [model]), data.given)
        self._publish_support(data, model)
        certificate = self._in_users_units(data, problem, certificate)
        self.objective_, self.duality_gap_, self.kkt_violation_ = certificate
        self._publish_status([solution.status])
        self.fit_status_ = int(not self.converged_)
        self.n_iter_ = int(solution.n_iter)
        self._warn_if_short()

    def _solve(self, data: Training, rng: np.random.Generator) -> tuple[Problem, solvers.Certified]:
        problem = self._state(data, data.exact_gram())
        found = solvers.solve_certified(
            problem, self._solver(data), None, rng, working=data.gram, by_weights=data.linear
        )
        return problem, found

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """Each machine goes on from the solution of the last; nothing is certified on the way."""
        exact, last = data.exact_gram(), None
        for value in values:
            setattr(self, self.path, value)
            self._check()
            rng, solver = self._draw(), self._solver(data)
            problem = self._state(data, exact)
            start = None if last is None else self._grown(problem, *last)
            quick = None if passes_pay(problem) else solver.solve(problem.on(data.gram), start, rng)
            found: Solution | None = quick if quick is not None and trusted(problem, quick, solver.tol, rng) else None
            if found is None:
                certified = solvers.solve_certified(
                    problem, solver, start, rng, working=data.gram, by_weights=data.linear
                )
                found = certified.solution
            last = problem, found
            yield scores_of(model_of(data, [self._model_of(data, problem, found)]))

    @staticmethod
    def _grown(problem: Problem, before: Problem, found: Iterate) -> Iterate:
        """The solution of another problem with the same items, to begin with.

        Coefficients at their bound tend to stay there, so all of them grow by a factor: the one for which the dual
        s·(yᵀz − ε·Σ|z|) − s²/2·zᵀKz is largest, but no more than their bounds do.
        """
        z, scores = found.z, np.asarray(found.scores)
        gain = float(z @ problem.y) - problem.loss.half_width * float(np.abs(z).sum())
        cost, growth = float(z @ scores), before.lam / problem.lam
        factor = min(max(gain / cost, min(1.0, growth)), growth) if cost > 0 and growth > 1 else growth
        return Iterate(factor * z, found.b, scores=factor * scores)

    def _publish_support(self, data: Training, model: Iterate) -> None:
        """The support items and their coefficients, of linear machines too."""
        if data.linear:
            self.support_ = np.flatnonzero(model.z)
            self.support_vectors_ = data.items[self.support_]
            self.dual_coef_ = model.z[self.support_][None, :]
        self.n_support_ = np.array([self.support_.size], dtype=np.int32)
        self.shape_fit_ = getattr(data.items, "shape", (len(data.gram),))

    def _warn_if_short(self) -> None:
        """Warn of everything short of a solution."""
        name = type(self).__name__
        if self.status_ == str(Status.INTERRUPTED):
            message = f"{name} was interrupted; the model is the best so far, with a worst violation of "
        elif not self.converged_:
            message = f"{name} stopped before tol={self.tol:g} was reached: the worst violation is "
        else:
            return
        remedy = f" Raise max_iter or time_limit, or {rescale(self.kernel_)} {guide('certificates')}."
        remedy = "" if self.status_ == str(Status.INTERRUPTED) else remedy
        figures = f"{self.kkt_violation_:.3g}, the duality gap {self.duality_gap_:.3g}"
        warn(f"{message}{figures}.{remedy}", ConvergenceWarning)
