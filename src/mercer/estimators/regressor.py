"""What all regressors share: targets that are numbers, the units they are learned in, and predictions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import RegressorMixin

from .._runtime.compile import Array
from .._validation.labels import checked_weights, refuse_bad_targets
from .base import KernelMachine
from .lazily import at_once, lazily


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


class Regressor(RegressorMixin, KernelMachine):
    """Base of the regressors."""

    numeric_targets = True
    #: The shape of one row's target: ``()`` of a number, ``(k,)`` of k numbers.
    target_shape_: tuple[int, ...] = ()

    def _refuse_bad_targets(self, y: Any) -> None:
        refuse_bad_targets(y)

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """The targets in float64, and the weight of each item where they differ."""
        targets = np.asarray(y, dtype=np.float64)
        self.target_shape_ = targets.shape[1:]
        if sample_weight is None:
            return targets, None
        weight = checked_weights(sample_weight, items)
        if not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number; all of them are zero.")
        return targets, weight

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
        self._refuse_nonfinite(scores, numbers)
        return scores.reshape(len(scores), *self.target_shape_)

    def predictions_of(self, decisions: Array) -> Array:
        """The score of a row is what is predicted of it."""
        return decisions
