"""Kernel ridge, Huber, quantile and support vector regression as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin

from .. import solvers
from .._runtime.compile import Array
from .._validation.labels import checked_weights, refuse_bad_targets
from .._validation.memory import bytes_of
from ..losses import Squared, as_residual_loss
from ..problems import Certificate, Intercept, Iterate, Problem
from .risk import RiskMinimiser
from .training import Training

#: Changes of a pair of coefficients that count as one step of a tube.
_TUBE_STEPS = 100_000


class _Units(NamedTuple):
    """Targets y = c + s·y′ are learned as y′, centred and with a spread of one: tolerances mean the same for all.

    With a loss that grows with the power d of its unit (2, or 1 for a tube), the objective is s^d times that of the
    problem in those units, whose λ is s^(2−d) times as large.
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
    """Regression with any loss of the residual: kernel ridge, Huber, quantile and support vector regression.

    It minimises λ/2·‖w‖² + mean loss(y − f(x)), f = w·φ(x) + b.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear model with ``coef_``.
    loss : {"squared", "huber", "epsilon_insensitive", "pinball"} or ResidualLoss, default="squared"
        A loss of :mod:`mercer.losses` where its parameter matters: ``Huber(delta=2)``, ``Pinball(tau=0.9)``.
    lam : float, default=1e-3
    tol : float, default=1e-11
        As in :class:`KernelClassifier`. A tube or a quantile stops when no optimality condition is violated by more than this (but
        at least 1e-5), in units of the targets' standard deviation.
    max_iter : int, default=100
        Newton steps; steps of the solver of tubes and quantiles are counted in hundred thousands.
    fit_intercept : bool, default=True
        Tubes ("epsilon_insensitive") and quantiles ("pinball") always have one.
    memory : int or str, default="1GB"
    time_limit : float, optional
        Seconds after which the best model so far is returned, with a warning.

    Attributes
    ----------
    kernel_, intercept_, coef_ or support_, dual_coef_
    objective_, duality_gap_ : float
        λ/2·‖w‖² + the mean loss, and how far at most it lies above the least possible.
    kkt_violation_ : float, of a tube or a quantile
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

    def _intercept(self) -> Intercept:
        """The solver of losses with a kink needs one."""
        return super()._intercept() if as_residual_loss(self.loss).smooth else Intercept.FREE

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
        return _Units.of(data, self._intercept() is Intercept.FREE)

    def _standardised(self, data: Training) -> Array:
        centre, spread = self._units(data)
        return (data.targets - centre) / spread

    # -- problem and solution -------------------------------------------------------------------------------------

    def _state(self, data: Training) -> list[Problem]:
        spread, loss = self._units(data).spread, as_residual_loss(self.loss)
        lam = float(self.lam) * spread ** (2 - loss.degree)
        targets = self._standardised(data)
        return [Problem(data.gram, targets, loss.in_units(spread), lam, data.weight, self._intercept())]

    def _solver(self, problems: int = 1) -> Any:
        if as_residual_loss(self.loss).smooth:
            return self._newton(problems)
        return solvers.SoftMargin(
            tol=max(float(self.tol), 1e-5),
            max_iter=_TUBE_STEPS * int(self.max_iter),
            time_limit=self._seconds(problems),
            memory=bytes_of(self.memory),
        )

    def _models(self, data: Training, found: Sequence[Iterate]) -> list[Iterate]:
        """The model in the units of the targets."""
        centre, spread = self._units(data)
        scaled = [each.scaled(spread) for each in found]
        return [replace(each, b=spread * each.b + centre) for each in scaled]

    def _certificates(self, data: Training, certificates: list[Certificate]) -> list[Certificate]:
        """In the units of the targets."""
        spread, degree = self._units(data).spread, as_residual_loss(self.loss).degree
        ((objective, gap, violation),) = certificates
        worst = None if violation is None else spread * violation
        return [Certificate(spread**degree * objective, spread**degree * gap, worst)]

    def _publish_certificates(self, certificates: Sequence[Certificate]) -> None:
        super()._publish_certificates(certificates)
        for name in ("objective_", "duality_gap_", "kkt_violation_"):
            if name in vars(self):
                setattr(self, name, float(getattr(self, name)[0]))

    def _ridge_targets(self, data: Training) -> list[Array] | None:
        return [self._standardised(data)] if as_residual_loss(self.loss) == Squared() else None

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
        self._refuse_nonfinite(scores, numbers)
        return scores[:, 0]

    def predictions_of(self, decisions: Array) -> Array:
        """The score of a row is what is predicted of it."""
        return decisions
