"""Kernel ridge, Huber and support vector regression as a scikit-learn regressor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
from sklearn.base import RegressorMixin

from .. import solvers
from .._runtime.compile import Array
from .._validation.labels import checked_weights, refuse_bad_targets
from .._validation.memory import bytes_of
from ..grams import Features, Placement
from ..losses.margins import Hinge
from ..losses.residuals import EpsilonInsensitive, SquaredError, as_residual_loss
from ..problems.certificate import MarginCertificate, balanced
from ..problems.problem import Certificate, Problem, Regression, Solution, Stage, Tube
from ..solvers.certified_smooth import minimise_certified
from ..solvers.svm.certified import solve_certified
from .risk import RiskMinimiser
from .training import Training

#: Changes of a pair of coefficients that count as one step of a tube.
_TUBE_STEPS = 100_000


class _Units(NamedTuple):
    """Targets y = c + s·y′ are learned as y′, centred and with a spread of one: tolerances mean the same for all.

    A squared or Huber loss of a residual is s² times that of the residual in those units. A tube's is s times: with λ
    also s times larger, its objective is s times that of the problem in those units.
    """

    centre: float
    spread: float

    @classmethod
    def of(cls, data: Training, centred: bool) -> _Units:
        centre = float(np.average(data.targets, weights=data.weight)) if centred else 0.0
        counted = (data.targets - centre)[slice(None) if data.weight is None else data.weight > 0]
        largest = float(np.abs(counted).max(initial=0.0))
        spread = largest * float(np.sqrt(np.mean(np.square(counted / largest)))) if largest > 0 else 1.0
        return cls(centre, spread)


class KernelRegressor(RegressorMixin, RiskMinimiser):
    """Regression with any loss of the residual: kernel ridge, Huber, support vector regression.

    It minimises λ/2·‖w‖² + mean loss(y − f(x)), f = w·φ(x) + b.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear model with ``coef_``.
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
    kernel_, intercept_, coef_ or support_, dual_coef_
    objective_, duality_gap_ : float
        λ/2·‖w‖² + the mean loss, and how far at most it lies above the least possible.
    kkt_violation_ : float, of the tube
        The worst violation of an optimality condition, in units of the targets.
    n_iter_, status_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRegressor
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> round(KernelRegressor("gaussian", lam=1e-5).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])), 3)
    1.0
    """

    path = "lam"
    numeric_targets = True

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

    @property
    def placement(self) -> Placement:
        """As the intercept is free, features may move."""
        return Placement(self.memory, centred=self._has_intercept())

    def _has_intercept(self) -> bool:
        return bool(self.fit_intercept) or self._is_tube()

    def _is_tube(self) -> bool:
        return isinstance(as_residual_loss(self.loss), EpsilonInsensitive)

    def _check(self) -> None:
        super()._check()
        as_residual_loss(self.loss)

    # -- targets --------------------------------------------------------------------------------------------------

    def _refuse_bad_targets(self, y: Any) -> None:
        refuse_bad_targets(y)

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """The targets in float64, and the weight of each item where they differ."""
        targets = np.asarray(y, dtype=np.float64)
        if sample_weight is None:
            return targets, None
        weight = checked_weights(sample_weight, items)
        if not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number; all of them are zero.")
        return targets, weight

    def _units(self, data: Training) -> _Units:
        return _Units.of(data, self._has_intercept())

    def _standardised(self, data: Training) -> Array:
        centre, spread = self._units(data)
        return (data.targets - centre) / spread

    # -- problem and solution -------------------------------------------------------------------------------------

    def _state(self, data: Training) -> list[Problem]:
        spread = self._units(data).spread
        loss = as_residual_loss(self.loss).in_units(spread)
        lam = float(self.lam) * (spread if self._is_tube() else 1.0)
        return [Regression(data.gram, self._standardised(data), loss, lam, data.weight, bool(self.fit_intercept), True)]

    def _solver(self, problems: int = 1) -> Any:
        if not self._is_tube():
            return self._newton(problems)
        return solvers.SoftMargin(
            tol=max(float(self.tol), 1e-5),
            max_iter=_TUBE_STEPS * int(self.max_iter),
            time_limit=self._seconds(problems),
            memory=bytes_of(self.memory),
        )

    def _solve(self, problem: Problem, solver: Any, start: Any = None) -> tuple[Solution, Any]:
        if isinstance(problem.loss, EpsilonInsensitive):
            return _solve_tube(problem, solver, start)
        return minimise_certified(problem, solver, start)

    def _models(self, data: Training, stages: list[Stage]) -> list[Stage]:
        """The model in the units of the targets."""
        centre, spread = self._units(data)
        return [
            Stage(n_iter, spread * z, spread * b + centre, None if w is None else spread * w)
            for n_iter, z, b, w in stages
        ]

    def _certificates(self, data: Training, certificates: list[Any]) -> list[Any]:
        """Objective and gap in the units of the targets."""
        spread = self._units(data).spread
        if self._is_tube():
            each = certificates[0]
            return [
                each._replace(
                    objective=spread * each.objective, gap=spread * each.gap, violation=spread * each.violation
                )
            ]
        return [Certificate(*(spread**2 * value for value in certificates[0]))]

    def _publish_certificates(self, certificates: Any) -> None:
        super()._publish_certificates(certificates)
        for name in ("objective_", "duality_gap_", "kkt_violation_"):
            if name in vars(self):
                setattr(self, name, float(getattr(self, name)[0]))

    def _ridge(self, data: Training) -> tuple[float, list[Array]] | None:
        return (1.0, [self._standardised(data)]) if as_residual_loss(self.loss) == SquaredError() else None

    # -- predictions ----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The value of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.predictions_of(self.decisions_of(self._scores(X)))

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """The one score of each row."""
        return scores[:, 0]

    def predictions_of(self, decisions: Array) -> Array:
        """The score of a row is what is predicted of it."""
        return decisions


def _solve_tube(
    problem: Problem, solver: solvers.SoftMargin, start: Stage | None
) -> tuple[Solution, MarginCertificate]:
    """The tube as a soft margin of all items twice, whose objective is 1/λ times this one."""
    n, loss = len(problem.gram), cast(EpsilonInsensitive, problem.loss)
    twice = problem.gram.take(np.tile(np.arange(n), 2))
    tube = Tube(twice, problem.y, Hinge(), problem.lam, problem.weight, True, True, epsilon=loss.epsilon)
    begin = None if start is None else np.concatenate([np.maximum(start.z, 0.0), np.minimum(start.z, 0.0)])
    found = solve_certified(tube, twice, solver, begin, by_weights=isinstance(problem.gram, Features))
    z, certificate = found.solution.z, found.certificate
    low, high = tube.bounds()
    z = balanced(z[:n] + z[n:], low[n:], high[:n])  # both walls of an item may cancel, and digits with them
    solution = replace(found.solution, z=z, scores=None)
    # The objective is that of the model as it is now; the bound from below holds for all models.
    scores, square = problem.gram.scores_and_square(z, solution.w)
    objective = problem.objective(square, scores + solution.b)
    gap = problem.lam * certificate.gap
    bound = problem.lam * certificate.objective - gap
    return solution, certificate._replace(objective=objective, gap=max(objective - bound, gap))
