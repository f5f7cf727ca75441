"""One setting of a search as scikit-learn sees it: an estimator on row numbers that looks its answers up."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.metaestimators import available_if

from .._compile import Array
from .._interrupts import whole
from .layers import peel
from .outcome import NotReached, Outcome, setting_key

if TYPE_CHECKING:
    from .study import Study


def _machine_has(name: str) -> Any:
    return available_if(lambda cell: hasattr(cell.made(), name))


class Cell(BaseEstimator):
    """Stands for the estimator of a search. Its X is a column of row numbers of the study.

    ``fit`` looks the fold up in the study; rows that are no fold of it (all rows, when the winner is fitted) are fitted
    for real. A search makes a cell for every setting and fold, so a cell is light: the estimator is shared, and made
    with the cell's parameters only where it is needed.
    """

    def __init__(self, estimator: Any, study: Study, params: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.study = study
        self.params = params or {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.estimator.get_params(deep)

    def set_params(self, **params: Any) -> Cell:
        self.params = {**self.params, **params}
        return self

    def made(self) -> Any:
        """The estimator with the parameters of this cell."""
        return clone(self.estimator).set_params(**self.params)

    def __sklearn_clone__(self) -> Cell:
        return Cell(self.estimator, self.study, dict(self.params))

    def __sklearn_tags__(self) -> Tags:
        return self.study.tags

    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Cell:
        train = _numbers(X)
        self.outcome_: Outcome | None = self.study.outcome(setting_key(self.params), train)
        if self.outcome_ is None:
            self.train_ = train
            if train.size == self.study.size:  # the winner, on all rows
                self.fitted_ = self._fitted(y, fit_params)
                return self
            if self.study.late():
                raise self._not_reached()
            with self._all_or_nothing():
                self.fitted_ = self._fitted(y, fit_params)
            return self
        if self.outcome_.error is not None:
            self.study.refusals[self.outcome_.error] += 1
            raise ValueError(self.outcome_.error)
        self.machine_ = copy(peel(self.estimator)[1])
        self.machine_.classes_ = np.unique(_safe_indexing(self.study.y, train))
        return self

    def _fitted(self, y: Any, fit_params: dict[str, Any]) -> Any:
        try:
            return self.made().fit(self.study.rows(self.train_), y, **fit_params)
        except ValueError as error:
            self.study.refusals[str(error)] += 1
            raise

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Work of a fold outside the study; Ctrl-C drops it, and ends the search alone where that was asked for."""
        with self.study.interruptible(), whole():
            yield
            return
        raise self._not_reached()

    def _not_reached(self) -> NotReached:
        return NotReached(f"the search stopped ({self.study.stopped}) before this setting was tried")

    def _ask(self, method: str, X: Any) -> Array:
        """What the model of a fold outside the study says."""
        with self._all_or_nothing():
            answer = getattr(self.fitted_, method)(self.study.rows(_numbers(X), self.train_))
        return answer

    @property
    def classes_(self) -> Array:
        return self.fitted_.classes_ if self.outcome_ is None else self.machine_.classes_

    def predict(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self._ask("predict", X)
        return self.machine_._labels_of(self.outcome_.of(_numbers(X)))

    @_machine_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self._ask("decision_function", X)
        return self.outcome_.of(_numbers(X))

    @_machine_has("predict_proba")
    def predict_proba(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self._ask("predict_proba", X)
        return self.machine_._probabilities_of(self.outcome_.of(_numbers(X)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        measure = r2_score if self.study.tags.estimator_type == "regressor" else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def share_right(cell: Cell, X: Any, y: Any) -> float:
    """Accuracy, without the checks that cost more than a cell: its labels are known to fit those of ``y``."""
    return float(np.mean(cell.predict(X) == np.asarray(y)))


def _numbers(X: Any) -> Array:
    return np.asarray(X)[:, 0]
