"""Every smooth loss, kernelised: classification and regression."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import special
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from .. import solvers
from .._compile import Array
from .._labels import checked_weights, refuse_bad_targets
from .._numbers import choice, number, truth
from .._parallel import bytes_of
from ..losses import Logistic, Squared, as_loss
from ..problem import Problem, Regression, Solution, Stage, Status, Tube, certify
from ..residuals import EpsilonInsensitive, as_residual_loss
from ..softmax import Softmax
from ..solvers.polish import polish
from ..solvers.ridge import LARGEST_RIDGE, RidgePath
from .alike import warn_if_alike
from .base import KernelMachine, RowMachine, Training
from .indefinite import refuse_indefinite
from .model import LinearModel, kernel_model
from .progress import CallbackSupportMixin, reported, with_callbacks


def _refuse_probabilities(estimator: Any) -> None:
    """Say what to do where the loss has no probabilities."""
    if as_loss(estimator.loss) != Logistic():
        raise AttributeError(
            f"KernelClassifier has no probabilities with loss={estimator.loss!r}; use loss='logistic', or wrap it in "
            "sklearn.calibration.CalibratedClassifierCV."
        )


def _warn_if_short(estimator: Any, remedy: str) -> None:
    if estimator.status_ == str(Status.INTERRUPTED):
        warnings.warn(
            f"{type(estimator).__name__} was interrupted; the model is the best so far, {_gap_of(estimator)}.",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif estimator.status_ != str(Status.CONVERGED):
        warnings.warn(
            f"{type(estimator).__name__} stopped after {estimator.n_iter_} iterations before tol={estimator.tol:g} was "
            f"reached; {remedy}.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _gap_of(estimator: Any) -> str:
    gap = getattr(estimator, "duality_gap_", None)
    return f"after {estimator.n_iter_} iterations" + ("" if gap is None else f", with a duality gap of {gap.max():.3g}")


class KernelClassifier(CallbackSupportMixin, KernelMachine):
    """A classifier with any loss of the margin: kernel logistic regression, smooth and squared-hinge machines, …

    It minimises λ/2·‖w‖² + mean loss(y·f(x)), f = w·φ(x) + b, with an intercept that is not regularised.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` learns a linear model with ``coef_``.
    loss : str or Loss, default="logistic"
        "logistic", "smooth_hinge", "squared_hinge", "squared"; with ``solver="gradient"`` any loss.
    lam : float, default=1e-3
        λ; C = 1/(λn).
    solver : {"newton", "gradient"}, default="newton"
        Newton's method with conjugate gradients, or plain (sub)gradient descent.
    tol : float, default=1e-11
    max_iter : int, default=100
        Newton steps; gradient steps are counted in hundreds.
    fit_intercept : bool, default=True
    class_weight : dict or "balanced", optional
    memory : int or str, default="1GB"
    time_limit : float, optional
        Seconds after which the best model so far is returned, with a warning.

    Attributes
    ----------
    classes_, intercept_, coef_ or support_, dual_coef_ : as in the other machines
    objective_, duality_gap_ : arrays, one number for each problem solved (a softmax is one)
    n_iter_, status_, converged_

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import KernelClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelClassifier("gaussian(gamma=2)", lam=1e-3).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.97, 0.03]])
    """

    path = "lam"
    precisions = (np.float64,)  # rounding to float32 makes ‖w‖² = zᵀKz of a small w negative

    def __init__(
        self,
        kernel: Any = "gaussian",
        loss: Any = "logistic",
        lam: float = 1e-3,
        solver: str = "newton",
        *,
        tol: float = 1e-11,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        memory: int | str = "1GB",
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.lam = lam
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.memory = memory
        self.time_limit = time_limit

    def _solver(self, problems: int = 1) -> Any:
        number(self, "lam", 0)
        number(self, "tol", 0)
        number(self, "max_iter", 1, whole=True, strict=False)
        choice(self, "solver", ("newton", "gradient"))
        truth(self, "fit_intercept")
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        limit = np.inf if self.time_limit is None else float(self.time_limit) / problems
        loss = as_loss(self.loss)
        if self.solver == "gradient":
            return solvers.Gradient(max_iter=100 * int(self.max_iter), tol=float(self.tol), time_limit=limit)
        if not loss.smooth:
            raise ValueError(
                f"KernelClassifier: loss={loss.name!r} has a kink, which Newton's method cannot pass; use SVC for the "
                "hinge, or solver='gradient'."
            )
        return solvers.Newton(float(self.tol), int(self.max_iter), limit)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelClassifier:
        """Learn from rows and labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
            More than two classes are learned together by the logistic loss (softmax), else one against the rest.
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        self._solver()  # bad parameters are refused before the data are looked at
        data = self._training(X, y, sample_weight)
        refuse_indefinite(data.gram, data.kernel)
        problems = self._all_problems(data)
        solver = self._solver(len(problems))
        solutions: list[Solution] = []
        with reported(self, X, y, len(problems), "score") as run:
            for k, problem in enumerate(problems):
                solutions.append(run(k, partial(solver.solve, problem)))
                if solutions[-1].status is Status.INTERRUPTED:
                    solver = replace(solver, max_iter=1)  # the other scores get a first model, so that all have one
        self._publish(self._assemble(data, self._scores_of(solutions)), data.given)
        self.n_iter_ = max(s.n_iter for s in solutions)
        certificates = [certify(p, s.z, s.b, s.w) for p, s in zip(problems, solutions, strict=True)]
        self.objective_ = np.array([c.objective for c in certificates])
        self.duality_gap_ = np.array([c.gap for c in certificates])
        statuses = {solution.status for solution in solutions}
        self.converged_ = statuses == {Status.CONVERGED}
        self.status_ = str(next(s for s in list(Status)[::-1] if s in statuses))
        _warn_if_short(self, "scale the columns, or raise max_iter, time_limit or lam")
        return self

    @property
    def shares_path(self) -> bool:
        return self.solver == "newton"

    def _along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """With falling λ, each score goes on from its last solution; nothing is certified on the way.

        The squared loss needs no solver: one eigendecomposition serves every λ.
        """
        refuse_indefinite(data.gram, data.kernel)
        loss = as_loss(self.loss)
        if loss == Squared() and data.weight is None and len(data.gram) <= LARGEST_RIDGE:
            ridge = RidgePath(data.gram.rows(np.arange(len(data.gram))), float(loss.curvature(0.0)))
            signs = [data.signs(position, self.classes_.size) for position in self._problems()]
            for lam in values:
                self.lam = lam
                self._solver()
                found = [ridge.solve(y, float(lam), bool(self.fit_intercept)) for y in signs]
                yield scores_of(self._assemble(data, found))
            return
        stages: list[Stage] = []
        for lam in values:
            self.lam = lam
            solver, problems = self._solver(), self._all_problems(data)
            starts: list[Any] = list(stages) or [None] * len(problems)
            solutions = [solver.solve(problem, start) for problem, start in zip(problems, starts, strict=True)]
            stages = [s.stage for s in solutions]
            yield scores_of(self._assemble(data, self._scores_of(solutions)))

    def _scores_of(self, solutions: list[Solution]) -> list[Stage]:
        """One model for each class score: the columns, where one problem has them all.

        The same number added to every score of a softmax changes nothing: intercepts are given with a mean of zero.
        """
        stages = [solution.stage for solution in solutions]
        stages = [stage._replace(b=stage.b - stage.b.mean()) if np.ndim(stage.b) else stage for stage in stages]
        return [column for stage in stages for column in stage.columns()]

    def _all_problems(self, data: Training) -> list[Problem]:
        if as_loss(self.loss) == Logistic() and self.classes_.size > 2:
            own = np.equal(data.codes[:, None], np.arange(self.classes_.size)).astype(np.float64)
            return [Softmax(data.gram, own, Logistic(), float(self.lam), data.weight, bool(self.fit_intercept), True)]
        return [self._problem(data, position) for position in self._problems()]

    def _problem(self, data: Training, position: int) -> Problem:
        y = data.signs(position, self.classes_.size)
        intercept = bool(self.fit_intercept)
        return Problem(data.gram, y, as_loss(self.loss), float(self.lam), data.weight, intercept, free=True)

    @property
    def predict_proba(self) -> Callable[[Any], Array]:
        """A function of rows that gives the probability of each class; only with ``loss="logistic"``."""
        _refuse_probabilities(self)
        return self._probabilities

    def _probabilities(self, X: Any) -> Array:
        """The probability of each class, in the order of ``classes_`` (for ``loss="logistic"``)."""
        return self._probabilities_of(self.decision_function(X))

    def _probabilities_of(self, decision: Array) -> Array:
        if decision.ndim == 2:
            return special.softmax(decision, axis=1)
        second = special.expit(decision)
        return np.column_stack([1 - second, second])


class KernelRegressor(RegressorMixin, RowMachine):
    """Regression with any loss of the residual: kernel ridge, Huber, support vector regression.

    It minimises λ/2·‖w‖² + mean loss(y − f(x)), f = w·φ(x) + b.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
    loss : {"squared", "huber", "epsilon_insensitive"} or ResidualLoss, default="squared"
        A loss of :mod:`mercer.residuals` where its parameter matters: ``Huber(delta=2)``.
    lam : float, default=1e-3
    tol : float, default=1e-11
    max_iter : int, default=100
    fit_intercept : bool, default=True
        The tube ("epsilon_insensitive") always has one.
    memory : int or str, default="1GB"

    Attributes
    ----------
    intercept_, coef_ or support_, dual_coef_
    n_iter_, status_, objective_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRegressor
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> round(KernelRegressor("gaussian", lam=1e-5).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])), 3)
    1.0
    """

    precisions = (np.float64,)

    def __init__(
        self,
        kernel: Any = "gaussian",
        loss: Any = "squared",
        lam: float = 1e-3,
        *,
        tol: float = 1e-11,
        max_iter: int = 100,
        fit_intercept: bool = True,
        memory: int | str = "1GB",
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRegressor:
        """Learn from rows and real targets.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        number(self, "lam", 0)
        number(self, "tol", 0)
        number(self, "max_iter", 1, whole=True, strict=False)
        truth(self, "fit_intercept")
        loss = as_residual_loss(self.loss)
        kernel = self._kernel()
        bytes_of(self.memory)
        refuse_bad_targets(y)
        rows, targets = self._rows(X, kernel, y, reset=True, numeric=True)
        targets = np.asarray(targets, dtype=np.float64)
        weight = None
        if sample_weight is not None:
            weight = checked_weights(sample_weight, rows)
            if not weight.any():
                raise ValueError("Sample weights must contain at least one non-zero number; all of them are zero.")
        if kernel is not None:
            self._try_kernel(kernel, rows)
        gram = self._make_gram(kernel, rows)
        warn_if_alike(self, kernel, rows, gram)
        refuse_indefinite(gram, kernel)
        # Targets are centred and brought to a scale of one, so that tolerances mean the same for all units.
        centre, scale = float(targets.mean()), float(targets.std()) or 1.0
        lam, intercept = float(self.lam), bool(self.fit_intercept)
        if isinstance(loss, EpsilonInsensitive):
            n = len(gram)
            twice = gram.take(np.tile(np.arange(n), 2))
            problem = Tube(twice, targets - centre, None, lam, weight, True, True, loss.epsilon)  # type: ignore[arg-type]
            solver = solvers.SoftMargin(tol=max(self.tol, 1e-5) * scale, memory=bytes_of(self.memory))
            solution = polish(problem, twice, solver.solve(problem))
            z, b = solution.z[:n] + solution.z[n:], solution.b + centre
        else:
            shift = centre if intercept else 0.0
            task = Regression(gram, targets - shift, loss, lam, weight, intercept, True)
            solution = solvers.Newton(float(self.tol) * scale, int(self.max_iter)).solve(task)
            z, b = solution.z, solution.b + shift
        values = np.array([b])
        if kernel is None:
            self._publish(LinearModel((gram.model(z) if solution.w is None else solution.w)[None], values))
        else:
            self._publish(kernel_model(kernel, rows, z[None], values), X)
        f, square = gram.scores_and_square(z, solution.w)
        share = np.ones(targets.size) if weight is None else weight * (targets.size / weight.sum())
        self.objective_ = float(0.5 * lam * square + np.mean(share * loss.value(targets - f - b)))
        self.n_iter_ = int(solution.n_iter)
        self.status_ = str(solution.status)
        _warn_if_short(self, "scale the columns, or raise max_iter or lam")
        return self

    def predict(self, X: Any) -> Array:
        """The value of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)

        Returns
        -------
        array of shape (n_rows,)
        """
        check_is_fitted(self, "_model")
        return self._model.scores(self._rows(X, self._fitted_kernel()), self.memory)[:, 0]
