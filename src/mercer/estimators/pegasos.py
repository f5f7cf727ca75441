"""Pegasos as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import solvers
from ..checks import schema
from ..checks.labels import combine_weights, plain_label
from ..checks.parameters import choice, number, offered_if, truth
from ..grams import is_linear
from ..losses import as_loss
from ..messages import guide
from ..problems import Intercept, Iterate, Problem, Status, certify
from ..runtime.compile import Array
from ..solvers.base import checked_items
from ..solvers.online import PegasosSolution
from .classifier import Classifier, checkpoints_of
from .contents import content_order
from .model import LinearModel, model_of
from .training import Run, Training, training_of, warn

# Learning from rows that come in pieces, for linear models.


def offers_partial_fit(machine: Classifier) -> bool:
    """Whether ``partial_fit`` is offered: a kernel model would have to keep every row it ever saw."""
    with suppress(TypeError, ValueError):  # fit says what is wrong with a kernel
        if is_linear(machine.read_kernel()):
            return True
    raise AttributeError(
        f"{type(machine).__name__}.partial_fit is for linear models; with a kernel, call fit on all rows."
    )


def more_rows(machine: Classifier, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Training, bool]:
    """Check a piece of the data; also whether it is the first piece, in which case the model is set to zero."""
    first = not hasattr(machine, "coef_")
    if first:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
        if np.unique(classes).size < 2:
            raise ValueError("partial_fit needs two classes or more in classes.")
    elif classes is not None and not np.array_equal(np.unique(classes), machine.classes_):
        raise ValueError(f"classes={list(classes)} differ from those of the first call, {machine.classes_.tolist()}.")
    known = np.unique(classes) if first else machine.classes_

    def encode(labels: Any, sample_weight: Any, rows: Any) -> tuple[Array, Array | None]:
        codes = _codes_of(labels, known)
        if machine.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all rows at once; give partial_fit a dict of weights.")
        return codes, combine_weights(sample_weight, machine.class_weight, rows, labels, whole=False)

    data = training_of(machine, X, y, sample_weight, Run(machine, X, y, sample_weight), reset=first, encode=encode)
    if first:
        machine.classes_ = known
        scores = len(machine._positions())
        machine._publish(LinearModel(np.zeros((scores, data.items.shape[1])), np.zeros(scores)))
        machine._stage_models = []
    return data, first


def _codes_of(labels: Any, classes: Any) -> Any:
    """For each label the number of its class, or an error that names a label not announced."""
    codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if strange.size:
        first = strange[0]
        raise ValueError(
            f"label {plain_label(labels[first])!r} in row {first} is not among the classes {classes.tolist()}; "
            "name it in classes at the first call."
        )
    return codes


#: A gap below this fraction of the objective counts as converged.
_TOLERANCE = 1e-2


class Pegasos(Classifier):
    """Pegasos: the soft-margin SVM, or logistic regression, by stochastic subgradient steps of length 1/(λt).

    It minimises λ/2·‖w‖² + mean loss(y·f(x)), where f is linear or has any kernel.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default=None
        ``None`` or ``"linear"`` learns weights (``coef_``); any other kernel of :mod:`mercer.kernels`, a text such as
        ``"gaussian(gamma=0.5)"``, a function or ``"precomputed"`` learns coefficients over the rows.
    lam : float, default=1e-3
        λ. The soft margin's C is 1/(λn).
    loss : str or Loss, default="hinge"
        Any loss of :mod:`mercer.losses`: "hinge" for the SVM, "logistic", "smooth_hinge", …
    steps : int, default=100000
        Steps T. One step looks at ``batch`` rows.
    average : {"tail", True, False}, default="tail"
        Predict by the average of the models after each step of the later half, after each step, or by the last model.
    project : bool, default=False
        Keep w inside the ball of radius 1/√λ.
    batch : int, default=1
        Rows in a step.
    sampling : {"replace", "once", "epoch"} or array of int, default="replace"
        Draw rows with replacement, go through one permutation again and again, through a new permutation each epoch,
        or through the row numbers given (steps·batch of them). With "replace" the fit does not depend on how the
        file is sorted, and a row of weight two counts as two equal rows.
    kernel_scale : {"t-1", "t"}, default="t-1"
        Test margins with 1/(λ(t−1)), the true length of w, or with 1/(λt) as some texts write it.
    fit_intercept : bool, default=True
        Learn the weight of a constant feature 1; like every weight it is regularised.
    checkpoints : list of int, optional
        Steps whose models ``staged_predict`` returns, from one run.
    class_weight : dict or "balanced", optional
    memory : int or str, default="1GB"
        What a kernel matrix or a block of one may take. A larger matrix is computed row by row.
    random_state : int, RandomState or None, default=None
        Which rows are drawn. With a number, fits repeat to the last digit.

    Attributes
    ----------
    classes_ : array
    kernel_ : Kernel
    coef_ : array of shape (n_scores, n_features), of a linear machine
    support_, support_vectors_, dual_coef_ : arrays, with a kernel
    intercept_ : array of shape (n_scores,)
    n_iter_ : int
    rows_seen_ : int
        How many different rows were looked at.
    objective_ : array
        The objective reached, for each score.
    duality_gap_ : array
        How far at most it lies above the least possible objective, for each score.
    kkt_violation_ : array, of losses made of straight lines such as the hinge
        The worst violation of an optimality condition, for each score.
    converged_ : bool
        Whether every gap is below one hundredth of its objective.
    trace_ : array of shape (n_checkpoints, 2)
        Step and objective (summed over the scores) at each checkpoint.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import Pegasos
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> Pegasos(kernel="gaussian(gamma=2)", random_state=0).fit(X, y).score(X, y)
    1.0
    """

    path = "steps"
    fields: ClassVar = {
        "rows_seen_": schema.optional(schema.whole()),
        "trace_": schema.optional(
            schema.numbers("", missing=True, infinite=True) | schema.numbers("", "", missing=True, infinite=True)
        ),
        "progress": schema.optional(schema.tuple_of(schema.numbers("scores", ""), schema.whole(1))),
    }

    def __init__(
        self,
        kernel: Any = None,
        *,
        lam: float = 1e-3,
        loss: Any = "hinge",
        steps: int = 100_000,
        average: Any = "tail",
        project: bool = False,
        batch: int = 1,
        sampling: Any = "replace",
        kernel_scale: str = "t-1",
        fit_intercept: bool = True,
        checkpoints: Any = None,
        class_weight: Any = None,
        memory: int | str = "1GB",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.lam = lam
        self.loss = loss
        self.steps = steps
        self.average = average
        self.project = project
        self.batch = batch
        self.sampling = sampling
        self.kernel_scale = kernel_scale
        self.fit_intercept = fit_intercept
        self.checkpoints = checkpoints
        self.class_weight = class_weight
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        self._solver()
        as_loss(self.loss)

    def _solver(self) -> solvers.PegasosSteps:
        number(self, "lam", 0)
        number(self, "steps", 1, whole=True, strict=False)
        number(self, "batch", 1, whole=True, strict=False)
        choice(self, "kernel_scale", ("t-1", "t"))
        choice(self, "average", ("tail", True, False))
        truth(self, "project")
        truth(self, "fit_intercept")
        if isinstance(self.sampling, str):
            choice(self, "sampling", ("replace", "once", "epoch"))
        elif np.size(self.sampling) != self.steps * self.batch:
            raise ValueError(
                f"Pegasos: sampling names {np.size(self.sampling)} rows, but {self.steps} steps of {self.batch} need "
                f"{self.steps * self.batch}."
            )
        return solvers.PegasosSteps(
            steps=int(self.steps),
            average=self.average,
            project=bool(self.project),
            batch=int(self.batch),
            sampling=self.sampling,
            lead=0 if self.kernel_scale == "t-1" else 1,
            checkpoints=checkpoints_of(self, "checkpoints", self.steps),
        )

    def learn(self, data: Training) -> None:
        """Take the steps for each score, and publish where they led."""
        self._keep(data, *self._solve(data))

    def _solve(self, data: Training) -> tuple[list[Problem], list[PegasosSolution]]:
        solver, order = self._solver(), None
        if isinstance(self.sampling, str) and data.fingerprints is not None:
            order, _ = content_order(data.fingerprints, data.targets)
        if not isinstance(self.sampling, str):
            checked_items(self.sampling, len(data.gram))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        solver = replace(solver, items=order)
        problems = [self._problem(data, position) for position in self._positions()]
        solutions: list[PegasosSolution] = []
        for problem in problems:
            found = solver.solve(problem, rng=np.random.default_rng(seed))
            solutions.append(found)
            if solutions[-1].status is Status.INTERRUPTED and isinstance(self.sampling, str):
                # The other scores get a first model, so that all have one.
                solver = replace(solver, steps=min(solver.steps, len(data.gram)), checkpoints=())
        return problems, solutions

    @property
    def shares_path(self) -> bool:
        return self.checkpoints is None and isinstance(self.sampling, str)

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """A shorter run is a checkpoint of a longer one."""
        self.set_params(steps=max(values), checkpoints=sorted(values))
        solutions = self._solve(data)[1]
        for k in range(len(values)):
            yield scores_of(model_of(data, [s.stages[k] for s in solutions]))

    def _keep(self, data: Training, problems: list[Problem], solutions: list[PegasosSolution]) -> None:
        self._publish(model_of(data, solutions), data.given)
        stages = list(zip(*(s.stages for s in solutions), strict=False))
        self._stage_models = [model_of(data, list(stage)) for stage in stages]
        self.n_iter_ = solutions[0].n_iter
        self.rows_seen_ = solutions[0].seen
        if data.linear:
            self._remember(data, solutions)
        self._publish_certificates([certify(p, s) for p, s in zip(problems, solutions, strict=True)])
        close = self.duality_gap_ <= _TOLERANCE * self.objective_
        statuses = [Status.CONVERGED if each else Status.NOT_CONVERGED for each in close]
        self._publish_status([*statuses, *(s.status for s in solutions if s.status is Status.INTERRUPTED)])
        if self.status_ == str(Status.INTERRUPTED):
            warn(
                f"Pegasos was interrupted after {solutions[-1].n_iter} of {self.steps} steps; the model is the best so "
                f"far, with a duality gap of {self.duality_gap_.max():.3g}.",
                ConvergenceWarning,
            )
        self.trace_ = np.array(
            [
                (stage[0].n_iter, sum(certify(p, s).objective for p, s in zip(problems, stage, strict=True)))
                for stage in stages
            ]
        ).reshape(-1, 2)
        if self.steps * self.batch < len(data.gram):
            warn(
                f"Pegasos looked at only {self.rows_seen_} of {len(data.gram)} rows in {self.steps} steps; "
                f"raise steps to learn from all of them {guide('pegasos')}.",
                ConvergenceWarning,
            )

    def _remember(self, data: Training, solutions: list[PegasosSolution]) -> None:
        """Keep what ``partial_fit`` goes on from."""
        last = [s.last for s in solutions if s.last is not None]
        self._last = [Iterate(s.z[:0], s.b, s.n_iter, data.gram.model(s.z)) for s in last]

    def _problem(self, data: Training, position: int) -> Problem:
        y = data.signs(position, self.classes_.size)
        intercept = Intercept.PENALISED if self.fit_intercept else Intercept.NONE
        return Problem(data.gram, y, as_loss(self.loss), float(self.lam), data.weight, intercept)

    @offered_if(offers_partial_fit)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Pegasos:
        """Make one pass over more rows in random order, going on from the step reached (linear models only).

        An average is of the models after all steps so far: how long the later half will be is not known yet.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array
            All labels that will ever come; needed in the first call.

        Returns
        -------
        self
        """
        self._solver()
        data, first = more_rows(self, X, y, classes, sample_weight)
        if first:
            pairs = zip(self.coef_, self.intercept_, strict=True)
            self._last = [Iterate(np.empty(0), float(b), 0, w) for w, b in pairs]
        n, before = len(data.gram), self._last[0].n_iter
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        one_pass = solvers.PegasosSteps(steps=n, average=True, sampling="once")
        runs = []
        for position, start in enumerate(self._last):
            run = one_pass.solve(
                self._problem(data, position), replace(start, z=np.zeros(n)), np.random.default_rng(seed)
            )
            runs.append(run)
        self._last = [run.last for run in runs if run.last is not None]
        self.n_iter_ = before + n
        if self.average:
            averages = np.stack([np.append(np.asarray(run.w), run.b) for run in runs])
            model = (before * np.column_stack([self.coef_, self.intercept_]) + n * averages) / self.n_iter_
        else:
            model = self._last_weights()
        self._publish(LinearModel(model[:, :-1].copy(), model[:, -1].copy()))
        return self

    def _last_weights(self) -> Array:
        """The last iterate of each score, its intercept as the last number."""
        return np.stack([np.append(np.asarray(each.w), each.b) for each in self._last])

    def fitted_state(self) -> dict[str, Any]:
        state = super().fitted_state()
        if not isinstance(self.sampling, str):
            state["parameters"]["sampling"] = "replace"  # row numbers belong to one run of fit
        if not hasattr(self, "_last"):
            return state
        return {**state, "progress": [self._last_weights(), self._last[0].n_iter]}

    @classmethod
    def from_fitted_state(cls, state: dict[str, Any]) -> Pegasos:
        made = super().from_fitted_state(state)
        if "progress" in state:
            weights, steps = state["progress"]
            made._last = [Iterate(np.empty(0), float(row[-1]), int(steps), row[:-1]) for row in weights]
        return made
