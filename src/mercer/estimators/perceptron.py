"""The Perceptron as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import solvers
from ..checks import schema
from ..checks.parameters import choice, number, offered_if, truth
from ..losses import PerceptronLoss
from ..messages import guide
from ..problems import Intercept, Iterate, Problem, Status
from ..rows.guests import lazily
from ..runtime.compile import Array
from ..solvers.online import MistakeDrivenSolution
from .classifier import Classifier, checkpoints_of
from .contents import merged
from .model import LinearModel, Voter, model_of, voter_along
from .pegasos import more_rows, offers_partial_fit
from .training import Training, warn


class Perceptron(Classifier):
    """The Perceptron, linear or with any kernel: add a row to the model whenever the model errs on it.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default=None
        ``None`` or ``"linear"`` learns weights (``coef_``); any other kernel of :mod:`mercer.kernels`, a text such as
        ``"gaussian(gamma=0.5)"``, a function or ``"precomputed"`` learns coefficients over the rows.
    epochs : int, default=100
        Passes over the rows at most; it stops after a pass without a mistake.
    rate : float, default=1
        Learning rate. It changes the result only with ``start="random"``.
    order : {"random", "once", "file"}, default="random"
        A new random order each epoch, one random order for all epochs, or the rows as they come. In random order the
        fit does not depend on how the file is sorted, and a row of weight two counts as two equal rows: equal rows
        are visited once, with the sum of their weights.
    variant : {"last", "averaged", "voted"}, default="last"
        Predict by the last model, by the average of the models after every step, or by their vote.
    start : {"zero", "random"}, default="zero"
        Where the model begins.
    fit_intercept : bool, default=True
    checkpoints : list of int, optional
        Epochs whose models ``staged_predict`` returns, from one run.
    class_weight : dict or "balanced", optional
    memory : int or str, default="1GB"
        What a kernel matrix or a block of one may take. A larger matrix is computed row by row.
    random_state : int, RandomState or None, default=None
        The order of the rows, and where ``start="random"`` begins. With a number, fits repeat to the last digit.

    Attributes
    ----------
    classes_ : array
    kernel_ : Kernel
    coef_ : array of shape (n_scores, n_features), of a linear machine
    support_, support_vectors_, dual_coef_ : arrays, with a kernel
        The rows that the model is made of, and their coefficients.
    intercept_ : array of shape (n_scores,)
    n_iter_ : int
        Epochs made.
    mistakes_ : list of arrays
        Mistakes in each epoch, for each score.
    converged_ : bool
        Whether the last pass was without a mistake.

    Examples
    --------
    >>> from mercer import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["same", "other", "other", "same"]
    >>> Perceptron(kernel="polynomial(degree=2)", random_state=0).fit(X, y).predict(X).tolist()
    ['same', 'other', 'other', 'same']
    """

    path = "epochs"
    fields: ClassVar = {
        "mistakes_": schema.optional(schema.list_of(schema.wholes(""))),
        "voters": schema.optional(schema.list_of(schema.instance(Voter), "scores")),
    }

    def __init__(
        self,
        kernel: Any = None,
        *,
        epochs: int = 100,
        rate: float = 1.0,
        order: str = "random",
        variant: str = "last",
        start: str = "zero",
        fit_intercept: bool = True,
        checkpoints: Any = None,
        class_weight: Any = None,
        memory: int | str = "1GB",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.epochs = epochs
        self.rate = rate
        self.order = order
        self.variant = variant
        self.start = start
        self.fit_intercept = fit_intercept
        self.checkpoints = checkpoints
        self.class_weight = class_weight
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        self._solver()

    def _solver(self) -> solvers.MistakeDriven:
        number(self, "epochs", 1, whole=True, strict=False)
        number(self, "rate", 0)
        choice(self, "order", ("random", "once", "file"))
        choice(self, "variant", ("last", "averaged", "voted"))
        choice(self, "start", ("zero", "random"))
        truth(self, "fit_intercept")
        if self.variant == "voted" and self.start == "random":
            raise ValueError("Perceptron: variant='voted' needs start='zero', so that the updates tell every model.")
        points = checkpoints_of(self, "checkpoints", self.epochs)
        return solvers.MistakeDriven(int(self.epochs), float(self.rate), self.order, self.variant, self.start, points)

    def learn(self, data: Training) -> None:
        """Make the passes for each score, and publish where they led."""
        solver = self._solver()
        data, solutions = self._solve(data, solver)
        self._keep(data, solutions, solver)

    def _solve(self, data: Training, solver: solvers.MistakeDriven) -> tuple[Training, list[MistakeDrivenSolution]]:
        order = None if data.weight is None else np.flatnonzero(data.weight)
        if self.order != "file" and data.fingerprints is not None:
            order, weight = merged(data.fingerprints, data.targets, data.weight)
            data = replace(data, weight=weight)
        solver = replace(solver, items=order)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        solutions: list[MistakeDrivenSolution] = []
        for position in self._positions():
            found = solver.solve(self._problem(data, position), rng=np.random.default_rng(seed))
            solutions.append(found)
            if solutions[-1].status is Status.INTERRUPTED:
                solver = replace(solver, epochs=1)  # the other scores get a first model, so that all have one
        return data, solutions

    @property
    def shares_path(self) -> bool:
        return self.variant != "voted" and self.checkpoints is None

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """Fewer epochs are a checkpoint of more epochs."""
        self.set_params(epochs=max(values), checkpoints=sorted(values))
        data, solutions = self._solve(data, self._solver())
        for k in range(len(values)):
            yield scores_of(model_of(data, [s.stages[k] for s in solutions]))

    def _problem(self, data: Training, position: int) -> Problem:
        y = data.signs(position, self.classes_.size)
        intercept = Intercept.PENALISED if self.fit_intercept else Intercept.NONE
        return Problem(data.gram, y, PerceptronLoss(), 0.0, data.weight, intercept)

    def _keep(self, data: Training, solutions: list[MistakeDrivenSolution], solver: solvers.MistakeDriven) -> None:
        self._publish(model_of(data, solutions), data.given)
        self._stage_models = [model_of(data, [s.stages[k] for s in solutions]) for k in range(len(solver.checkpoints))]
        self._voters = [
            voter_along(data, self._model.intercept, s.path, bool(self.fit_intercept))
            for s in solutions
            if s.path is not None
        ]
        self.n_iter_ = max(s.n_iter for s in solutions)
        self.mistakes_ = [s.trace for s in solutions]
        self._publish_status(s.status for s in solutions)
        if self.status_ == str(Status.INTERRUPTED):
            warn(
                f"Perceptron was interrupted after {solutions[-1].n_iter} of {self.epochs} epochs; the model is that "
                "of the last whole one.",
                ConvergenceWarning,
            )
        elif not self.converged_:
            remedy = (
                "use a richer kernel, or variant='averaged'" if self.variant == "last" else "or use a richer kernel"
            )
            warn(
                f"Perceptron still made mistakes in epoch {self.n_iter_}, the last allowed: the rows may not be "
                f"separable by this model. Raise epochs, {remedy} {guide('perceptron')}.",
                ConvergenceWarning,
            )

    @offered_if(offers_partial_fit)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Perceptron:
        """Make one pass over more rows, going on from the weights so far (linear models only).

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
        if self.variant != "last":
            raise ValueError(f"Perceptron: partial_fit keeps the last model only; variant={self.variant!r} needs fit.")
        data, first = more_rows(self, X, y, classes, sample_weight)
        if first:
            self._voters, self.n_iter_, self.mistakes_ = [], 0, [np.empty(0, int) for _ in self._positions()]
        order = None if data.weight is None else np.flatnonzero(data.weight)
        one_pass = solvers.MistakeDriven(epochs=1, rate=float(self.rate), order="file", items=order)
        nothing = np.zeros(len(data.gram))
        solutions = [
            one_pass.solve(self._problem(data, position), Iterate(nothing, b, w=w))
            for position, w, b in zip(self._positions(), self.coef_, self.intercept_, strict=True)
        ]
        self._publish(LinearModel(np.stack([np.asarray(s.w) for s in solutions]), np.array([s.b for s in solutions])))
        self.n_iter_ += 1
        self.mistakes_ = [np.append(old, s.trace) for old, s in zip(self.mistakes_, solutions, strict=True)]
        self._publish_status(Status.NOT_CONVERGED if s.trace[0] else Status.CONVERGED for s in solutions)
        return self

    @lazily
    def decision_function(self, X: Any) -> Array:
        """The score of each row; with ``variant="voted"`` the vote of all models, between −1 and 1."""
        if self.variant != "voted":
            return super().decision_function(X)
        check_is_fitted(self, "_model")
        if not self._voters:
            raise ValueError("Perceptron: the model was not fitted with variant='voted'; fit it again.")
        rows = self.read_items(X, self.kernel_)
        return self.decisions_of(np.stack([voter.scores(rows, self.memory) for voter in self._voters], axis=1))

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """As :meth:`decision_function`, for each of the ``checkpoints`` in turn."""
        if self.variant == "voted":
            raise ValueError("Perceptron: variant='voted' keeps no stages; use 'last' or 'averaged' with checkpoints.")
        return super().staged_decision_function(X)

    def fitted_state(self) -> dict[str, Any]:
        return {**super().fitted_state(), **({"voters": self._voters} if self._voters else {})}

    @classmethod
    def from_fitted_state(cls, state: dict[str, Any]) -> Perceptron:
        made = super().from_fitted_state(state)
        made._voters = state.get("voters", [])
        return made
