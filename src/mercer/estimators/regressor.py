"""What all regressors share: targets that are numbers, the units they are learned in, and predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin

from .. import solvers
from ..checks import schema
from ..checks.labels import refuse_bad_targets
from ..checks.parameters import bytes_of
from ..grams import Gram, Placement
from ..losses import ResidualLoss
from ..problems import Certificate, Intercept, Iterate, Problem
from ..rows.guests import at_once, lazily
from ..runtime.compile import Array
from .base import KernelMachine
from .risk import RiskMinimiser
from .training import Training

__all__ = ["Regression"]


class Units(NamedTuple):
    """Targets y = c + s·y′ are learned as y′, centred and with a spread of one: tolerances mean the same for all.

    With a loss that grows with the power d of its unit (2, or 1 for tubes and quantiles), the objective is s^d times
    that of the problem in those units, whose λ is s^(2−d) times as large.
    """

    centre: float
    spread: float

    @classmethod
    def of(cls, targets: Array, weight: Array | None, centred: bool) -> Units:
        centre = float(np.average(targets, weights=weight)) if centred else 0.0
        counted = (targets - centre)[slice(None) if weight is None else weight > 0]
        largest = float(np.abs(counted).max(initial=0.0))
        spread = largest * float(np.sqrt(np.mean(np.square(counted / largest)))) if largest > 0 else 1.0
        return cls(centre, spread)

    def learned(self, targets: Array) -> Array:
        """Targets in these units."""
        return (targets - self.centre) / self.spread

    def given(self, predictions: Array) -> Array:
        """Predictions in the units of the user."""
        return self.centre + self.spread * predictions


class Regressor(RegressorMixin, KernelMachine, named=False):
    """Base of the regressors."""

    target_kind = answers = "numbers"
    fields: ClassVar = {
        "target_shape_": schema.optional(schema.tuple_of() | schema.tuple_of(schema.whole(1, size="targets")))
    }
    #: The shape of one row's target: ``()`` of a number, ``(k,)`` of k numbers.
    target_shape_: tuple[int, ...] = ()

    def _refuse_bad_targets(self, y: Any) -> None:
        refuse_bad_targets(y)

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """The targets in float64, and the weight of each item where they differ."""
        targets = np.asarray(y, dtype=np.float64)
        self.target_shape_ = targets.shape[1:]
        return targets, super().encoded(None, sample_weight, items)[1]

    def n_scores(self) -> int:
        return math.prod(self.target_shape_)

    @lazily
    def predict(self, X: Any) -> Array:
        """The value of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,), or (n_rows, n_targets) as ``y`` was
        """
        return self.predictions_of(self.decisions_of(self._scores(X)))

    @at_once
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R²: the share of the targets' variance that predictions explain.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        y : array of shape (n_rows,), or (n_rows, n_targets)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        return super().score(X, y, sample_weight)

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """The scores of each row, in the shape of the targets."""
        return super().decisions_of(scores, numbers).reshape(len(scores), *self.target_shape_)

    def predictions_of(self, decisions: Array) -> Array:
        """The score of a row is what is predicted of it."""
        return decisions


# What machines of residuals share that minimise a regularised risk: one problem for each score, in its own units.


#: Changes of a pair of coefficients that count as one step, of a loss with a kink.
_PAIRS_A_STEP = 100_000


class Regression(Regressor, RiskMinimiser, named=False):
    """Base of :class:`KernelRegressor` and :class:`KernelQuantiles`.

    A machine has a score for each column of its targets, or several for one. A subclass says which loss each has
    (:meth:`_losses`) and of which targets (:meth:`_columns`).
    """

    def _losses(self, columns: int) -> list[ResidualLoss]:
        """The loss of each score, for so many columns of targets."""
        raise NotImplementedError

    def _columns(self, data: Training) -> list[Array]:
        """The targets of each score."""
        return list(data.targets.reshape(len(data.targets), -1).T)

    def _intercept(self) -> Intercept:
        """The solver of losses with a kink needs one."""
        return super()._intercept() if self._losses(1)[0].smooth else Intercept.FREE

    def _check(self) -> None:
        super()._check()
        self._losses(1)

    @property
    def placement(self) -> Placement:
        """The solver of losses with a kink looks at single items."""
        return replace(super().placement, by_passes=self._losses(1)[0].smooth)

    # -- targets --------------------------------------------------------------------------------------------------

    def _units(self, data: Training) -> list[Units]:
        """Those of each score."""
        centred = self._intercept() is Intercept.FREE
        return [Units.of(column, data.weight, centred) for column in self._columns(data)]

    def _standardised(self, data: Training) -> list[Array]:
        pairs = zip(self._units(data), self._columns(data), strict=True)
        return [units.learned(column) for units, column in pairs]

    # -- problem and solution -------------------------------------------------------------------------------------

    def _state(self, data: Training) -> list[Problem]:
        made = []
        targets = self._standardised(data)
        for units, own, loss in zip(self._units(data), targets, self._losses(len(targets)), strict=True):
            lam = self._lam() * units.spread ** (2 - loss.degree)
            made.append(Problem(data.gram, own, loss.in_units(units.spread), lam, data.weight, self._intercept()))
        return made

    def _solver(self, seconds: float = np.inf, gram: Gram | None = None) -> Any:
        if self._losses(1)[0].smooth:
            return self._newton(seconds, gram)
        return solvers.SoftMargin(
            tol=max(self._tolerance(), 1e-5),
            max_iter=_PAIRS_A_STEP * int(self.max_iter),
            time_limit=seconds,
            memory=bytes_of(self.memory),
        )

    def _squared_targets(self, data: Training) -> list[Array]:
        return self._standardised(data)

    def _models(self, data: Training, found: Sequence[Iterate]) -> list[Iterate]:
        """The models in the units of the targets."""
        pairs = zip(self._units(data), found, strict=True)
        return [replace(each.scaled(units.spread), b=units.given(each.b)) for units, each in pairs]

    def _in_target_units(self, data: Training, scores: list[Array]) -> list[Array]:
        return [units.given(each) for units, each in zip(self._units(data), scores, strict=True)]

    def _certificates(self, data: Training, certificates: list[Certificate]) -> list[Certificate]:
        """In the units of the targets."""
        made = []
        units_of = self._units(data)
        if len(certificates) < len(units_of):  # one for all, where weights of kernels are learned for all of them
            return certificates
        losses = self._losses(len(certificates))
        for units, loss, certificate in zip(units_of, losses, certificates, strict=True):
            unit = units.spread**loss.degree
            worst = None if certificate.violation is None else units.spread * certificate.violation
            made.append(Certificate(unit * certificate.objective, unit * certificate.gap, worst))
        return made
