"""One setting of a search as scikit-learn sees it: an estimator on row numbers that looks its answers up."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags

from .._runtime.compile import Array
from .._validation.offered import offered_as
from .content_keys import setting_key
from .layers import peel, target_functions
from .outcome import Outcome

if TYPE_CHECKING:
    from .shared_cells import SharedCells


class Cell(BaseEstimator):
    """Stands for the estimator of a search. Its X is a column of row numbers.

    ``fit`` looks the fold up in what was computed together; what is not there is fitted for real. A search makes a cell
    for every setting and fold, so a cell is light: the estimator is shared, and made with the cell's parameters only
    where it is needed.
    """

    def __init__(self, estimator: Any, shared_cells: SharedCells, params: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.shared_cells = shared_cells
        self.params = params or {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.estimator.get_params(deep)

    def set_params(self, **params: Any) -> Cell:
        self.params = {**self.params, **params}
        return self

    def made(self) -> Any:
        """The estimator with the parameters of this cell, which stay as they are whatever becomes of it."""
        return clone(self.estimator).set_params(**clone(self.params, safe=False))

    def __sklearn_clone__(self) -> Cell:
        return Cell(self.estimator, self.shared_cells, dict(self.params))

    def __sklearn_tags__(self) -> Tags:
        return self.shared_cells.tags

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Cell:
        train = _numbers(X)
        self.outcome_: Outcome | None = None
        if not self.shared_cells.over:  # else the winner is fitted
            self.outcome_ = self.shared_cells.outcome(setting_key(self.params), train)
        if self.outcome_ is None:
            self.fitted_, self.train_ = self.made(), train
            try:
                self.fitted_.fit(self._rows(X), y, **fit_params)
            except (ValueError, ImportError, RuntimeError) as error:  # of the last two, that there is no graphics card
                self.shared_cells.refusals[str(error)] += 1
                raise
            return self
        if self.outcome_.error is not None:
            self.shared_cells.refusals[self.outcome_.error] += 1
            raise ValueError(self.outcome_.error)
        # Once decision values are known, path and kernel have no say in what becomes of them; anything else may.
        _, machine = peel(self.estimator)
        silent = all({machine.path, "kernel"} & set(name.split("__")) for name in self.params)
        self.machine_ = copy(machine if silent else peel(self.made())[1])
        if is_classifier(self.estimator):
            self.machine_.name_classes(self.shared_cells.targets[train])
        return self

    @property
    def shared(self) -> bool:
        """Whether the cell was computed together with others."""
        return self.outcome_ is not None

    def _rows(self, X: Any) -> Any:
        return self.shared_cells.rows(self.fitted_, _numbers(X), self.train_)

    @property
    def classes_(self) -> Array:
        return self.fitted_.classes_ if self.outcome_ is None else self.machine_.classes_

    def predict(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.predict(self._rows(X))
        return predicted(self.estimator, self.machine_.predictions_of(self.outcome_.of(_numbers(X))))

    @offered_as(made)
    def decision_function(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.decision_function(self._rows(X))
        return self.outcome_.of(_numbers(X))

    @offered_as(made)
    def predict_proba(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.predict_proba(self._rows(X))
        return self.machine_.probabilities_of(self.outcome_.of(_numbers(X)))

    @offered_as(made)
    def predict_log_proba(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.predict_log_proba(self._rows(X))
        return self.machine_.probabilities_of(self.outcome_.of(_numbers(X)), log=True)

    def score(self, X: Any, y: Any, **score_params: Any) -> float:
        if self.outcome_ is None:
            return self.fitted_.score(self._rows(X), y, **score_params)
        usual = accuracy_score if is_classifier(self.estimator) else r2_score
        own = usual if target_functions(self.estimator) else getattr(self.machine_, "score_of", usual)
        return float(own(y, self.predict(X), **score_params))


class Accuracy:
    """The accuracy of shared cells, without the checks that cost more than a cell; of others, what the scorer says."""

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    def __call__(self, cell: Cell, X: Any, y: Any) -> float:
        if not cell.shared:
            return self.scorer(cell, X, y)
        return float(np.mean(cell.predict(X) == np.asarray(y)))


def predicted(estimator: Any, predictions: Array) -> Array:
    """Predictions of the machine inside an estimator in the unit of the targets."""
    for _, back in reversed(target_functions(estimator)):
        predictions = back(predictions)
    return predictions


def _numbers(X: Any) -> Array:
    return np.asarray(X)[:, 0]
