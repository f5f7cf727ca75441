"""Machines that minimise a regularised risk, λ/2·‖w‖² + mean loss, with any loss: the way that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .. import solvers
from ..checks import schema
from ..checks.parameters import bytes_of, number, truth
from ..grams import Dense, Gram, Lazy, Placement
from ..losses import Squared
from ..messages import guide
from ..problems import Certificate, Intercept, Iterate, Problem, Solution, Status
from ..runtime.compile import Array
from ..solvers.certified import certified_if_solved
from ..solvers.ridge import LARGEST_RIDGE, LARGEST_SYSTEM, RidgePath, solve_ridge, solve_ridge_of_many
from .base import rescale
from .choosing import Choosing, chosen
from .model import model_of
from .training import Mixed, Training, components_of, mixed, warn

if TYPE_CHECKING:
    from ..mixtures import Components

__all__ = ["RiskMinimiser"]

#: Parts that the gradient is to shrink to, where nobody says another: in memory, and where items are passed over.
_TOLERANCE, _OF_PASSES = 1e-11, 1e-4
#: Further than this the solution for a sample of the items is not that for all of them.
_OF_SAMPLE = 1e-2
#: Matrices of all items that a factorisation has in memory at once.
_MATRICES = 4


class RiskMinimiser(Choosing, named=False):
    """Base of :class:`KernelClassifier`, :class:`KernelRegressor` and :class:`KernelQuantiles`.

    A subclass states problems (:meth:`_state`), names a solver (:meth:`_solver`), and says which models the solutions
    stand for (:meth:`_models`). The intercept is not regularised.
    """

    lam: Any
    tol: float | None
    max_iter: int
    fit_intercept: bool
    time_limit: float | None
    path_falls = True
    fields: ClassVar = {"lam_": schema.optional(schema.number(0))}
    learns_weights = True
    precisions = (np.float64,)

    @property
    def by_products(self) -> bool:
        """Newton's method asks for no more."""
        return isinstance(self._solver(), solvers.Newton)

    @property
    def placement(self) -> Placement:
        """Where the intercept is free, features may move."""
        return replace(super().placement, centred=self._intercept() is Intercept.FREE)

    # -- what is to be minimised ----------------------------------------------------------------------------------

    def _check(self) -> None:
        """Refuse bad parameters, before the data are looked at."""
        self._check_choices()
        if not self._is_left_open:
            number(self, "lam", 0)
        if self.tol is not None:
            number(self, "tol", 0)
        number(self, "max_iter", 1, whole=True, strict=False)
        truth(self, "fit_intercept")
        self._check_rank()
        if self.time_limit is not None:
            number(self, "time_limit", 0)

    def _lam(self) -> float:
        """λ, as given or as it was chosen."""
        return float(self.lam_ if self._is_left_open else self.lam)

    def _set_path(self, data: Training, ridge: float, without: float) -> None:
        self.lam_ = ridge / (len(data.targets) - without)

    def _stated(self, data: Training, ridge: float) -> list[tuple[Array, Problem]]:
        self._set_path(data, ridge, 0.0)
        return [(np.arange(len(data.targets)), problem) for problem in self._state(data)]

    def _quickly_solved(self, problem: Problem, start: Iterate | None, seconds: float) -> Solution:
        found: Solution = self._solver(seconds, problem.gram).solve(problem, start)
        return found

    def _tolerance(self, gram: Gram | None = None) -> float:
        """Of the gradient: where all items are passed over for every digit, less than landmarks leave out is enough."""
        if self.tol is not None:
            return float(self.tol)
        return _OF_PASSES if gram is not None and gram.by_passes else _TOLERANCE

    def _newton(self, seconds: float, gram: Gram | None) -> solvers.Newton:
        return solvers.Newton(self._tolerance(gram), int(self.max_iter), seconds)

    def _solver(self, seconds: float = np.inf, gram: Gram | None = None) -> Any:
        """The solver of a problem on this Gram, with so much time."""
        raise NotImplementedError

    def _state(self, data: Training) -> list[Problem]:
        """The problems that are to be solved."""
        raise NotImplementedError

    def _intercept(self) -> Intercept:
        return Intercept.FREE if self.fit_intercept else Intercept.NONE

    def _models(self, data: Training, found: Sequence[Iterate]) -> list[Iterate]:
        """One model for each score, in the units of the user's targets."""
        raise NotImplementedError

    def _certificates(self, data: Training, certificates: list[Certificate]) -> list[Certificate]:
        """The certificates in the units of the user's targets."""
        return certificates

    def _ridge_targets(self, data: Training) -> list[Array] | None:
        """The targets of a squared loss, for which one eigendecomposition serves every λ."""
        raise NotImplementedError

    # -- the way --------------------------------------------------------------------------------------------------

    def learn(self, data: Training) -> None:
        """State the problems, solve them one after the other, and publish what was found."""
        data = chosen(self, data)
        mixture = self._mixed(data, components_of(data, self.placement)) if data.kernel.learns else None
        data = data if mixture is None else mixture.data
        problems = self._state(data)
        run = data.run
        seconds = run.seconds_left() / len(problems)
        solver = self._solver(seconds, data.gram) if mixture is None else mixture.solver
        together = self._solved_together(data, problems, solver) if mixture is None else []
        found: list[solvers.Certified] = []
        with run.reported(len(problems), "score") as part:
            for k, problem in enumerate(problems):
                solved = together[k] if together else None
                start = self._start(problem, found, run.seconds_left()) if mixture is None else mixture.starts[k]
                if hasattr(solver, "time_limit"):
                    solver = replace(solver, time_limit=run.seconds_left() / (len(problems) - k))
                found.append(part(k, partial(self._solve, data, problem, solver, start, solved)))
                if found[-1].solution.status is Status.INTERRUPTED and hasattr(solver, "max_iter"):
                    solver = replace(solver, max_iter=1)  # the other scores get a first model, so that all have one
        self._publish(model_of(data, self._models(data, [each.solution for each in found])), data.given)
        self._publish_approximation(data)
        certificates, statuses = [each.certificate for each in found], [each.solution.status for each in found]
        steps = np.array([int(each.solution.n_iter) for each in found])
        if mixture is not None:
            certificates = [mixture.certificate([each.solution for each in found], certificates)]
            statuses.append(mixture.status(certificates[0]))
            steps = steps + mixture.learned.n_iter
        self._publish_certificates(self._certificates(data, certificates))
        self._publish_status(statuses)
        self.n_iter_ = int(steps.max())
        self._publish_left_out(run)
        self._warn_if_short()

    def _mixed(self, data: Training, components: Components) -> Mixed:
        """The weights of a mixture, learned for all scores together."""
        problems = [(problem, None) for problem in self._state(data)]
        seconds = data.run.seconds_left()
        with data.run.preparing():
            return mixed(data, problems, components, self._solver(seconds), seconds)

    @staticmethod
    def _solve(
        data: Training, problem: Problem, solver: Any, start: Iterate | None = None, solved: Solution | None = None
    ) -> solvers.Certified:
        """Solve, unless what is known to be ``solved`` has a certificate that says so, or the time is over."""
        seconds = getattr(solver, "time_limit", np.inf)
        known = None if solved is None else certified_if_solved(problem, solved, seconds)
        return known or solvers.solve_certified(problem, solver, solved or start, by_weights=data.by_weights)

    def _solved_together(self, data: Training, problems: list[Problem], solver: Any) -> list[Solution]:
        """The solutions for all targets of a squared loss, by one factorisation or by conjugate gradients together.

        None where that does not pay.
        """
        gram = data.gram
        if not isinstance(solver, solvers.Newton) or self._ridge_targets(data) is None or _few_features(data):
            return []
        n = len(gram)
        if n <= LARGEST_SYSTEM:
            fits = len(problems) > 1 and _MATRICES * 8 * n * n <= bytes_of(self.memory)
            return solve_ridge(problems) if fits else []
        own = self.tol is None and isinstance(gram, (Dense, Lazy))
        return solve_ridge_of_many(problems, data.run.seconds_left()) if own else []

    def _start(self, problem: Problem, found: list[solvers.Certified], seconds: float) -> Iterate | None:
        """Where the solver begins, after what it has found for the scores before.

        Where a pass over all items takes long, a sample of them shows the way.
        """
        gram = problem.gram
        if gram.sample is None:
            return None
        solver = self._solver(seconds, gram)
        if isinstance(solver, solvers.Newton):
            solver = replace(solver, tol=max(solver.tol, _OF_SAMPLE))
        near = solver.solve(problem.of_items(gram.drawn))
        return Iterate(np.zeros(problem.y.shape), near.b, w=near.w)

    def beside(self, n: int) -> int:
        """The eigenvectors of the matrix, where these serve all λ; else the coordinates of all items."""
        squared = getattr(self, "loss", None) in ("squared", Squared())
        return RidgePath.footprint(n) if squared and self._decomposes(n) else super().beside(n)

    def _decomposes(self, n: int) -> bool:
        """Whether a matrix of n items is small enough for its eigenvectors, in time and in memory."""
        return n <= LARGEST_RIDGE and RidgePath.footprint(n) <= bytes_of(self.memory)

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """With falling λ, each score goes on from its last solution; a squared loss needs no solver.

        Where weights of a mixture are learned, all λ share the matrices of its kernels.
        """
        if data.kernel.learns:
            components = components_of(data, self.placement)
            for lam in values:
                self.lam = lam
                self._check()
                mixture = self._mixed(data, components)
                stated = zip(self._state(mixture.data), mixture.starts, strict=True)
                last = [self._solve(mixture.data, each, mixture.solver, start).solution for each, start in stated]
                yield scores_of(model_of(mixture.data, self._models(mixture.data, last)))
            return
        whole = self._decomposes(len(data.gram)) and not _few_features(data)
        targets = self._ridge_targets(data) if whole else None
        if targets is not None:
            path = RidgePath.of(data.gram, data.weight)
        starts: list[Solution] = []
        seconds = data.run.seconds_left()
        for lam in values:
            self.lam = lam
            self._check()
            if targets is not None:
                found = [path.solve(t, float(lam), bool(self.fit_intercept)) for t in targets]
                yield scores_of(model_of(data, self._models(data, found)))
                continue
            results: list[solvers.Certified] = []
            for k, problem in enumerate(self._state(data)):
                start = starts[k] if starts else self._start(problem, results, seconds)
                results.append(self._solve(data, problem, self._solver(seconds, data.gram), start))
            starts = [each.solution for each in results]
            yield scores_of(model_of(data, self._models(data, starts)))

    def _warn_if_short(self) -> None:
        """Warn of everything short of a solution."""
        name = type(self).__name__
        gap = f"a duality gap of {np.max(self.duality_gap_):.3g}"
        if self.status_ == str(Status.INTERRUPTED):
            message = (
                f"{name} was interrupted; the model is the best so far, after {self.n_iter_} iterations, with {gap}."
            )
        elif not self.converged_:
            message = (
                f"{name} stopped after {self.n_iter_} iterations with {gap}, at an objective of "
                f"{np.max(self.objective_):.3g}; {rescale(self.kernel_)}, or raise max_iter, time_limit or lam "
                f"{guide('certificates')}."
            )
        else:
            return
        warn(message, ConvergenceWarning)


def _few_features(data: Training) -> bool:
    """Whether there are fewer features than items: those are solved for in less time than the matrix is."""
    features = data.gram.features()
    return features is not None and features.shape[1] < len(data.gram)
