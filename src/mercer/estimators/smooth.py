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
from .._runtime.compile import Array
from .._validation.labels import checked_weights, refuse_bad_targets
from .._validation.memory import bytes_of
from .._validation.parameters import choice, number, truth
from ..grams import Features, Gram, gram_of
from ..kernels import Linear
from ..losses.margins import Hinge, Logistic, Squared, as_loss
from ..losses.residuals import EpsilonInsensitive, as_residual_loss
from ..problems.certificate import balanced
from ..problems.problem import Certificate, Problem, Regression, Solution, Stage, Status, Tube, certify
from ..problems.softmax import Softmax
from ..solvers.certified_smooth import minimise_certified, small
from ..solvers.curvatures import reconciled
from ..solvers.ridge import LARGEST_RIDGE, RidgePath
from ..solvers.svm.certified import solve_certified
from .alike import warn_if_alike
from .base import KernelMachine, RowMachine, Training
from .indefinite import refuse_indefinite
from .model import LinearModel, kernel_model
from .progress import FRAMES, CallbackSupportMixin, reported, with_callbacks

#: Changes of a pair of coefficients that count as one step of a tube.
_TUBE_STEPS = 100_000
#: Items of a linear machine whose matrix is looked at, to write its weights as coefficients.
_FEW = 1000


def _gram(kernel: Any, rows: Any, memory: int | str, free: bool) -> Gram:
    """The Gram of a smooth machine: features where it is linear; a free intercept lets them move."""
    if kernel is None or isinstance(kernel, Linear):
        return Features.around_mean(rows) if free else Features(rows)
    return gram_of(kernel, rows, memory)


def _by_coefficients(problem: Problem, solution: Solution) -> tuple[Solution, Certificate]:
    """A linear machine that was found by its weights, as coefficients of the items, and the certificate of those."""
    assert isinstance(problem.gram, Features)
    balance, Phi = problem.intercept and problem.free, problem.gram.Phi
    choices = [reconciled(Phi, np.asarray(solution.w), solution.z, balance=balance), solution.z]
    if len(problem.gram) <= _FEW:  # weights may have a part that no item has, and that no score shows
        K = np.asarray(problem.gram.rows(np.arange(len(problem.gram))), dtype=np.float64)
        choices.append(np.linalg.lstsq(K, Phi @ np.asarray(solution.w), rcond=1e-15)[0])
    if balance:  # to the last digit: items are not where they were given, and Σz says by how much that matters
        choices = [z - z.mean(axis=0) for z in choices]
        choices = [z - z.mean(axis=0) for z in choices]
    certificate, z = min(((certify(problem, z, solution.b), z) for z in choices), key=lambda pair: pair[0].gap)
    status = solution.status
    if status is Status.CONVERGED and not small(problem, certificate):
        status = Status.NOT_CONVERGED
    return replace(solution, z=z, w=None, status=status), certificate


def _warn_if_short(estimator: Any, remedy: str, frames: int = 0) -> None:
    if estimator.status_ == str(Status.INTERRUPTED):
        warnings.warn(
            f"{type(estimator).__name__} was interrupted; the model is the best so far, after {estimator.n_iter_} "
            f"iterations, with a duality gap of {np.max(estimator.duality_gap_):.3g}.",
            ConvergenceWarning,
            stacklevel=3 + frames,
        )
    elif estimator.status_ != str(Status.CONVERGED):
        warnings.warn(
            f"{type(estimator).__name__} stopped after {estimator.n_iter_} iterations with a duality gap of "
            f"{np.max(estimator.duality_gap_):.3g}, at an objective of {np.max(estimator.objective_):.3g}; {remedy}.",
            ConvergenceWarning,
            stacklevel=3 + frames,
        )


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

    def _make_gram(self, kernel: Any, rows: Any) -> Gram:
        return _gram(kernel, rows, self.memory, self.fit_intercept)

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
        found: list[tuple[Solution, Certificate]] = []
        with reported(self, X, y, len(problems), "score") as run:
            for k, problem in enumerate(problems):
                found.append(run(k, partial(self._minimise, data.kernel, problem, solver)))
                if found[-1][0].status is Status.INTERRUPTED:
                    solver = replace(solver, max_iter=1)  # the other scores get a first model, so that all have one
        solutions = [solution for solution, _ in found]
        certificates = [certificate for _, certificate in found]
        self._publish(self._assemble(data, self._scores_of(solutions)), data.given)
        self.n_iter_ = max(s.n_iter for s in solutions)
        self.objective_ = np.array([c.objective for c in certificates])
        self.duality_gap_ = np.array([c.gap for c in certificates])
        statuses = {solution.status for solution in solutions}
        self.converged_ = statuses == {Status.CONVERGED}
        self.status_ = str(Status.worst(statuses))
        _warn_if_short(self, "scale the columns, or raise max_iter, time_limit or lam", FRAMES)
        return self

    @staticmethod
    def _minimise(
        kernel: Any, problem: Problem, solver: Any, start: Stage | None = None
    ) -> tuple[Solution, Certificate]:
        found = minimise_certified(problem, solver, start)
        return found if kernel is None or found[0].w is None else _by_coefficients(problem, found[0])

    @property
    def shares_path(self) -> bool:
        return self.solver == "newton"

    def _along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """With falling λ, each score goes on from its last solution.

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
            pairs = zip(problems, starts, strict=True)
            solutions = [self._minimise(data.kernel, problem, solver, start)[0] for problem, start in pairs]
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

    def _refuse_probabilities(self) -> None:
        if as_loss(self.loss) != Logistic():
            raise AttributeError(
                f"KernelClassifier has no probabilities with loss={self.loss!r}; use loss='logistic', or wrap it in "
                "sklearn.calibration.CalibratedClassifierCV."
            )

    def _probabilities_of(self, decision: Array, log: bool = False) -> Array:
        if decision.ndim == 2:
            return (special.log_softmax if log else special.softmax)(decision, axis=1)
        second = (special.log_expit if log else special.expit)(decision)
        return np.column_stack([special.log_expit(-decision) if log else 1 - second, second])


def _unit(targets: Array) -> float:
    """What centred targets are measured in: their spread, or 1 where they have none."""
    largest = float(np.abs(targets).max(initial=0.0))
    return largest * float(np.sqrt(np.mean(np.square(targets / largest)))) if largest > 0 else 1.0


class KernelRegressor(RegressorMixin, RowMachine):
    """Regression with any loss of the residual: kernel ridge, Huber, support vector regression.

    It minimises λ/2·‖w‖² + mean loss(y − f(x)), f = w·φ(x) + b.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
    loss : {"squared", "huber", "epsilon_insensitive"} or ResidualLoss, default="squared"
        A loss of :mod:`mercer.losses` where its parameter matters: ``Huber(delta=2)``.
    lam : float, default=1e-3
    tol : float, default=1e-11
        As in :class:`KernelClassifier`. The tube stops when no optimality condition is violated by more than this (but
        at least 1e-5), in units of the targets' standard deviation.
    max_iter : int, default=100
        Newton steps; steps of the tube's solver are counted in hundred thousands.
    fit_intercept : bool, default=True
        The tube ("epsilon_insensitive") always has one.
    memory : int or str, default="1GB"
    time_limit : float, optional
        Seconds after which the best model so far is returned, with a warning.

    Attributes
    ----------
    intercept_, coef_ or support_, dual_coef_
    objective_, duality_gap_ : float
        λ/2·‖w‖² + the mean loss, and how far at most it lies above the least possible.
    n_iter_, status_, converged_

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
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.memory = memory
        self.time_limit = time_limit

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
        if self.time_limit is not None:
            number(self, "time_limit", 0)
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
            kernel = kernel.resolved(rows, weight)
            self._try_kernel(kernel, rows)
        gram = self._make_gram(kernel, rows)
        warn_if_alike(self, kernel, rows, gram)
        refuse_indefinite(gram, kernel)
        # Targets are centred and measured in units of their spread, so that tolerances mean the same for all of them:
        # with y = c + s·y′ a squared or Huber loss is s² times that of the residual in those units.
        tube = isinstance(loss, EpsilonInsensitive)
        centre = float(np.average(targets, weights=weight)) if tube or self.fit_intercept else 0.0
        unit = _unit((targets - centre)[slice(None) if weight is None else weight > 0])
        problem = Regression(
            gram,
            (targets - centre) / unit,
            loss.in_units(unit),
            float(self.lam),
            weight,
            bool(self.fit_intercept),
            True,
        )
        solution, certificate = self._tube(problem, unit) if tube else self._smooth(problem)
        if kernel is not None and not tube and solution.w is not None:
            solution, certificate = _by_coefficients(problem, solution)
        intercept = np.array([solution.b * unit + centre])
        if kernel is None:
            assert isinstance(gram, Features)
            w = unit * (gram.model(solution.z) if solution.w is None else solution.w)[None]
            self._publish(LinearModel(w, intercept + gram.shift(w)))
        else:
            shift = unit * gram.shift(gram.model(solution.z)) if isinstance(gram, Features) else 0.0
            self._publish(kernel_model(kernel, rows, unit * solution.z[None], intercept + shift), X)
        self.objective_, self.duality_gap_ = (unit**2 * value for value in certificate)
        self.n_iter_ = int(solution.n_iter)
        self.status_ = str(solution.status)
        self.converged_ = solution.status is Status.CONVERGED
        _warn_if_short(self, "scale the columns, or raise max_iter, time_limit or lam")
        return self

    def _make_gram(self, kernel: Any, rows: Any) -> Gram:
        return _gram(kernel, rows, self.memory, self.fit_intercept or not as_residual_loss(self.loss).smooth)

    def _seconds(self) -> float:
        return np.inf if self.time_limit is None else float(self.time_limit)

    def _smooth(self, problem: Regression) -> tuple[Solution, Certificate]:
        return minimise_certified(problem, solvers.Newton(float(self.tol), int(self.max_iter), self._seconds()))

    def _tube(self, problem: Regression, unit: float) -> tuple[Solution, Certificate]:
        """The tube as a soft margin of all items twice, whose objective is 1/λ times this one.

        A tube's loss in units of s is s times smaller, not s²: λ is s times larger than it was.
        """
        n, lam = len(problem.gram), problem.lam * unit
        twice = problem.gram.take(np.tile(np.arange(n), 2))
        tube = Tube(twice, problem.y, Hinge(), lam, problem.weight, True, True, epsilon=problem.loss.epsilon)
        solver = solvers.SoftMargin(
            tol=max(float(self.tol), 1e-5),
            max_iter=_TUBE_STEPS * int(self.max_iter),
            time_limit=self._seconds(),
            memory=bytes_of(self.memory),
        )
        found = solve_certified(tube, twice, solver, by_weights=self.kernel is None)
        z, certificate = found.solution.z, found.certificate
        low, high = tube.bounds()
        z = balanced(z[:n] + z[n:], low[n:], high[:n])  # both walls of an item may cancel, and digits with them
        solution = replace(found.solution, z=z, scores=None)
        # The objective is that of the model as it is now; the bound from below holds for all models.
        scores, square = problem.gram.scores_and_square(z, solution.w)
        objective = 0.5 * problem.lam * square + problem.loss_of(scores + solution.b) / unit
        bound = problem.lam * (certificate.objective - certificate.gap)
        return solution, Certificate(objective, max(objective - bound, problem.lam * certificate.gap))

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
