"""Support vector regression as a scikit-learn regressor: a tube of given width, or one that holds a given share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from ..checks import schema
from ..checks.parameters import number
from ..grams import Gram
from ..losses import EpsilonInsensitive
from ..problems import Certificate, Intercept, Iterate, NuProblem, Problem
from .dual_machine import DualMachine
from .regressor import Regressor, Units
from .training import Training


class TubeRegressor(Regressor, DualMachine, named=False):
    """What :class:`SVR` and :class:`NuSVR` share: targets, λ = 1/(C·Σ weights), and units."""

    C: float

    def _check(self) -> None:
        number(self, "C", 0)
        super()._check()

    def _stated(self, data: Training) -> tuple[Any, float, Units]:
        """Targets with a spread of one, and the λ that belongs to them."""
        units = self._units(data)
        total = data.targets.size if data.weight is None else float(data.weight.sum())
        return units.learned(data.targets), units.spread / (float(self.C) * total), units

    @staticmethod
    def _units(data: Training) -> Units:
        return Units.of(data.targets, data.weight, centred=True)

    def _model_of(self, data: Training, problem: Problem, found: Iterate) -> Iterate:
        units = self._units(data)
        return replace(found.scaled(units.spread), b=units.given(found.b))

    def _in_users_units(self, data: Training, problem: Problem, certificate: Certificate) -> Certificate:
        spread = self._units(data).spread
        return Certificate(*(spread * each for each in certificate if each is not None))


class SVR(TubeRegressor):
    """Support vector regression: errors within a tube cost nothing. Solved exactly and with a certificate.

    It minimises ``½‖w‖² + C·Σ max(0, |y − f(x)| − epsilon)`` with an intercept that is not regularised, through
    its dual.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear machine with ``coef_``.
    C : float, default=1
        What an error beyond the tube costs.
    epsilon : float, default=0.1
        Half the width of the tube, in units of the targets.
    tol : float, default=1e-3
        The largest violation of an optimality condition allowed, in units of the targets' standard deviation.
    max_iter : int, default=10000000
        Steps at most (changes of a pair of coefficients).
    time_limit : float, optional
        Seconds from the call of ``fit`` after which the best model so far is kept, with a warning.
    memory : int or str, default="1GB"
        What the parts of the kernel matrix that are kept may take. With less the fit is slower, not different.
    random_state : int, RandomState or None, default=0
        Which items are tried first; it changes digits beyond the tolerance and no others.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_ (linear), kernel_
        As in scikit-learn.
    objective_ : float
        λ/2·‖w‖² + the mean loss, as all machines of the library count it: 1/(C·Σ weights) times ½‖w‖² + C·Σ loss.
    duality_gap_ : float
        How far at most the objective lies above the least possible one.
    kkt_violation_ : float
        The worst violation of an optimality condition, in units of the targets.
    n_iter_, status_, converged_, fit_status_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> model = SVR(C=10, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> round(model.score(X, np.sin(X[:, 0])), 2), len(model.support_) < 15
    (1.0, True)
    """

    path = "C"  # by each class for itself, as a search asks for

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 1.0,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        number(self, "epsilon", 0, strict=False)
        super()._check()

    def _state(self, data: Training, gram: Gram) -> Problem:
        targets, lam, units = self._stated(data)
        tube = EpsilonInsensitive(float(self.epsilon)).in_units(units.spread)
        return Problem(gram, targets, tube, lam, data.weight, Intercept.FREE)


class NuSVR(TubeRegressor):
    """Support vector regression whose tube is as wide as it takes: at most a share ``nu`` of the rows lies outside.

    It minimises ``½‖w‖² + C·(nu·n·ε + Σ max(0, |y − f(x)| − ε))`` over the model and the half width ε, through
    its dual.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
    C : float, default=1
    nu : float, default=0.5
        More than 0 and at most 1: an upper bound on the share of the rows outside the tube, and a lower bound on the
        share of support rows.
    tol, max_iter, time_limit, memory, random_state
        As in :class:`SVR`.

    Attributes
    ----------
    epsilon_ : float
        The half width of the tube that was found, in units of the targets.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_ (linear), kernel_, objective_, duality_gap_, \
kkt_violation_, n_iter_, status_, converged_, fit_status_
        As in :class:`SVR`; the objective has the term nu·ε besides.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> y = np.sin(X[:, 0]) + 0.1 * np.cos(20 * X[:, 0])
    >>> model = NuSVR(C=10, nu=0.2).fit(X, y)
    >>> bool(np.mean(np.abs(y - model.predict(X)) > 1.01 * model.epsilon_) <= 0.2)
    True
    """

    path = "C"  # by each class for itself, as a search asks for
    fields: ClassVar = {"epsilon_": schema.optional(schema.number(0))}

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 1.0,
        nu: float = 0.5,
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        number(self, "nu", 0, 1)
        super()._check()

    def _state(self, data: Training, gram: Gram) -> Problem:
        targets, lam, _ = self._stated(data)
        return NuProblem(gram, targets, EpsilonInsensitive(0.0), lam, data.weight, Intercept.FREE, float(self.nu))

    def _model_of(self, data: Training, problem: Problem, found: Iterate) -> Iterate:
        model = super()._model_of(data, problem, found)
        self.epsilon_ = max(0.0, model.width)
        return model
