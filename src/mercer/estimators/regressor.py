"""What all regressors share: targets that are numbers, the units they are learned in, and predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin

from .._runtime.compile import Array
from .._validation.labels import checked_weights, refuse_bad_targets
from .base import KernelMachine
from .training import Training


class Units(NamedTuple):
    """Targets y = c + s·y′ are learned as y′, centred and with a spread of one: tolerances mean the same for all.

    With a loss that grows with the power d of its unit (2, or 1 for a tube), the objective is s^d times that of the
    problem in those units, whose λ is s^(2−d) times as large.
    """

    centre: float
    spread: float

    @classmethod
    def of(cls, data: Training, centred: bool) -> Units:
        centre = float(np.average(data.targets, weights=data.weight)) if centred else 0.0
        counted = (data.targets - centre)[slice(None) if data.weight is None else data.weight > 0]
        largest = float(np.abs(counted).max(initial=0.0))
        spread = largest * float(np.sqrt(np.mean(np.square(counted / largest)))) if largest > 0 else 1.0
        return cls(centre, spread)


class Regressor(RegressorMixin, KernelMachine):
    """Base of the regressors."""

    numeric_targets = True

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
