"""What machines of residuals share that minimise a regularised risk: one problem for each score, in its own units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import solvers
from .._runtime.compile import Array
from .._validation.memory import bytes_of
from ..grams import Gram, Placement
from ..losses import ResidualLoss
from ..problems import Certificate, Intercept, Iterate, Problem
from .regressor import Regressor, Units
from .risk import RiskMinimiser
from .training import Training

__all__ = ["Regression"]

#: Changes of a pair of coefficients that count as one step, of a loss with a kink.
_PAIRS_A_STEP = 100_000


class Regression(Regressor, RiskMinimiser):
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

    def _solver(self, problems: int = 1, gram: Gram | None = None) -> Any:
        if self._losses(1)[0].smooth:
            return self._newton(problems, gram)
        return solvers.SoftMargin(
            tol=max(self._tolerance(), 1e-5),
            max_iter=_PAIRS_A_STEP * int(self.max_iter),
            time_limit=self._seconds(problems),
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
