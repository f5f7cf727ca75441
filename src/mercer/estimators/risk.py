"""Machines that minimise a regularised risk, λ/2·‖w‖² + mean loss, with any loss: the way that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, r2_score

from .. import solvers
from ..checks import schema
from ..checks.parameters import bytes_of, is_number, number, size_in_words, truth
from ..grams import Dense, Gram, Lazy, Placement
from ..losses import Squared
from ..messages import guide
from ..metrics import (
    FAMILIES,
    RIDGES,
    TRIED,
    Clock,
    Tried,
    descended,
    exactly_left_out,
    family_of,
    learned_metric,
    left_out,
    tried_table,
)
from ..mixtures import Components, Part
from ..problems import Certificate, Intercept, Iterate, Problem, Solution, Status
from ..runtime.compile import Array
from ..solvers.certified import certified_if_solved
from ..solvers.ridge import LARGEST_RIDGE, LARGEST_SYSTEM, RidgePath, solve_ridge, solve_ridge_of_many
from .base import KernelMachine, rescale
from .model import model_of
from .running import Run, warn
from .training import Mixed, Training, components_of, mixed

__all__ = ["BY_LEAVE_ONE_OUT", "chosen", "refuse_bad_choices"]

# What a machine may leave to exact leave-one-out: the weights of columns (``metric="learned"``), and λ (``"loo"``).


#: What ``lam`` may be in the place of a number.
BY_LEAVE_ONE_OUT = "loo"
#: Matrices of all items that a path of λ has at once.
_PATH_MATRICES = 2
#: The part of the time that weights may take.
_LEARNING = 0.4


def refuse_bad_choices(machine: RiskMinimiser) -> None:
    """Refuse what is not to be had by leaving out rows."""
    name = type(machine).__name__
    if machine.metric not in (None, "learned"):
        raise ValueError(f"{name}: metric must be 'learned' or None, got {machine.metric!r}.")
    if machine.lam == BY_LEAVE_ONE_OUT and not squared(machine):
        raise ValueError(
            f"{name}: lam='loo' needs loss='squared', of which the error of each row without it is known from one "
            "factorisation; for other losses search for lam (KernelSearchCV)."
        )
    if machine.lam == BY_LEAVE_ONE_OUT and (machine.rank is not None or machine.device is not None):
        raise ValueError(f"{name}: lam='loo' needs the whole matrix in memory; leave rank and device out.")


def squared(machine: Any) -> bool:
    """Whether the loss is the squared one."""
    return getattr(machine, "loss", None) in ("squared", Squared())


def chosen(machine: RiskMinimiser, data: Training) -> Training:
    """The training items under the learned metric, where one is to be learned; sets ``lam_`` and what was tried."""
    for name in ("lam_", "tried_", "loo_predictions_", "loo_score_"):
        machine.__dict__.pop(name, None)
    tried: list[Tried] = []
    if machine.metric == "learned":
        data, tried = _under_learned_metric(machine, data)
    if machine.lam == BY_LEAVE_ONE_OUT:
        tried = tried + _choose_lam(machine, data)
    if tried:
        machine.tried_ = tried_table(tried)
    return data


def _under_learned_metric(machine: RiskMinimiser, data: Training) -> tuple[Training, list[Tried]]:
    name = type(machine).__name__
    family = family_of(data.kernel)
    if family is None:
        known = " or ".join(map(repr, FAMILIES))
        raise ValueError(f"{name}: metric='learned' is for the kernels {known}, not for {data.kernel}.")
    if not isinstance(data.items, np.ndarray):
        raise ValueError(f"{name}: metric='learned' needs dense rows in memory; pass X.toarray(), or leave metric out.")
    if len(data.targets) < 2:
        raise ValueError(f"{name}: metric='learned' leaves out one row after the other, and there is one sample.")
    found = learned_metric(
        data.items.astype(np.float64, copy=False),
        np.column_stack(machine._squared_targets(data)),
        data.weight,
        families=(family.name,),
        gamma=None if isinstance(machine.read_kernel().get_params()["gamma"], str) else data.kernel.gamma,  # type: ignore[attr-defined]
        lam=float(machine.lam) if squared(machine) and is_number(machine.lam) else None,
        intercept=bool(machine.fit_intercept),
        seconds=_LEARNING * data.run.seconds_left(),
    )
    kernel = found.best.kernel
    gram = machine.placement.gram(kernel, data.items, data.weight)
    return replace(data, kernel=kernel, gram=gram), found.tried


def _choose_lam(machine: RiskMinimiser, data: Training) -> list[Tried]:
    """Try values of λ, down from one to the next; the best is ``lam_``."""
    n, name = len(data.gram), type(machine).__name__
    weight = None if data.weight is None else data.weight * (n / data.weight.sum())
    if n < 2 or (weight is not None and np.count_nonzero(weight) < 2):
        raise ValueError(
            f"{name}: lam='loo' leaves out one row after the other, and there is one sample (with a weight)."
        )
    if _PATH_MATRICES * 8 * n * n > bytes_of(machine.memory):
        raise ValueError(
            f"{name}: lam='loo' needs {size_in_words(_PATH_MATRICES * 8 * n * n)} for matrices of all {n} rows, more "
            f"than memory={machine.memory!r}; raise it, or search for lam (KernelSearchCV)."
        )
    own = np.column_stack(machine._squared_targets(data))
    whole = data.gram.rows(np.arange(n))
    unit = float(np.mean(np.einsum("ii->i", whole))) or 1.0
    known: dict[tuple[int, int], float] = {}

    def matrix() -> Array:
        return np.array(whole, dtype=np.float64)

    def error(place: tuple[int, int]) -> float:
        known[place] = left_out(matrix(), own, unit * RIDGES[place[1]], machine.fit_intercept, weight).error(
            own, weight
        )
        return known[place]

    descended(error, (0, len(RIDGES) // 2), (1, len(RIDGES)), Clock(_LEARNING * data.run.seconds_left()))
    best = min(known, key=lambda each: known[each])
    machine.lam_ = unit * RIDGES[best[1]] / (n - 1)
    unseen = exactly_left_out(matrix, own, machine.lam_, bool(machine.fit_intercept), weight)
    machine.loo_predictions_ = machine.decisions_of(np.column_stack(machine._in_target_units(data, list(unseen.T))))
    return [
        Tried(str(data.kernel)[:40], 0, 1.0, unit * RIDGES[place[1]] / (n - 1), n, value)
        for place, value in known.items()
    ]


#: Parts that the gradient is to shrink to, where nobody says another: in memory, and where items are passed over.
_TOLERANCE, _OF_PASSES = 1e-11, 1e-4
#: Further than this the solution for a sample of the items is not that for all of them.
_OF_SAMPLE = 1e-2
#: Matrices of all items that a factorisation has in memory at once.
_MATRICES = 4


class RiskMinimiser(KernelMachine, named=False):
    """Base of :class:`KernelClassifier`, :class:`KernelRegressor` and :class:`KernelQuantiles`.

    A subclass states problems (:meth:`_state`), names a solver (:meth:`_solver`), and says which models the solutions
    stand for (:meth:`_models`). The intercept is not regularised.
    """

    lam: Any
    #: How columns are weighted; a parameter of some machines.
    metric: str | None = None
    tol: float | None
    max_iter: int
    fit_intercept: bool
    time_limit: float | None
    path_falls = True
    fields: ClassVar = {
        "lam_": schema.optional(schema.number(0)),
        "tried_": schema.optional(TRIED),
        "loo_predictions_": schema.optional(schema.numbers("rows") | schema.numbers("rows", "scores")),
        "loo_score_": schema.optional(schema.number()),
    }
    learns_weights = True
    precisions = (np.float64,)

    @property
    def by_products(self) -> bool:
        """Newton's method asks for no more."""
        return isinstance(self._solver(), solvers.Newton)

    @property
    def shares_path(self) -> bool:
        """A metric is learned for each λ anew."""
        return self.metric is None

    @property
    def placement(self) -> Placement:
        """Where the intercept is free, features may move."""
        return replace(super().placement, centred=self._intercept() is Intercept.FREE)

    # -- what is to be minimised ----------------------------------------------------------------------------------

    def _check(self) -> None:
        """Refuse bad parameters, before the data are looked at."""
        refuse_bad_choices(self)
        if self.lam != BY_LEAVE_ONE_OUT:
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
        return float(self.lam_ if self.lam == BY_LEAVE_ONE_OUT else self.lam)

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

    def _in_target_units(self, data: Training, scores: list[Array]) -> list[Array]:
        """Scores of problems as they were stated, in the units of the user's targets."""
        return scores

    def _certificates(self, data: Training, certificates: list[Certificate]) -> list[Certificate]:
        """The certificates in the units of the user's targets."""
        return certificates

    def _ridge_targets(self, data: Training) -> list[Array] | None:
        """The targets of a squared loss, for which one eigendecomposition serves every λ."""
        raise NotImplementedError

    def _squared_targets(self, data: Training) -> list[Array]:
        """The targets that a squared loss would have, for choices by leave-one-out."""
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
        if "loo_predictions_" in vars(self):
            self.loo_score_ = self._score_of_left_out(run)
        self._warn_if_short()

    def _score_of_left_out(self, run: Run) -> float:
        """What :meth:`score` says of predictions by machines without each row."""
        measure = r2_score if self.target_kind == "numbers" else accuracy_score
        return float(measure(run.y, self.predictions_of(self.loo_predictions_), sample_weight=run.sample_weight))

    def _mixed(self, data: Training, components: Components) -> Mixed:
        """The weights of a mixture, learned for all scores together."""
        problems = self._state(data)
        seconds = data.run.seconds_left()
        with data.run.preparing():
            return mixed(data, [Part(problem) for problem in problems], components, self._solver(seconds), seconds)

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
