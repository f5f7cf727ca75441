"""The threshold on the scores of a two-class machine by which it scores best."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring
from sklearn.metrics._scorer import _BaseScorer
from sklearn.model_selection import StratifiedShuffleSplit, TunedThresholdClassifierCV
from sklearn.model_selection._classification_threshold import _mean_interpolated_score
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.multiclass import type_of_target

from ..checks.folds import cv_of, refuse_bad_rows, refuse_before_folds, refuse_single
from ..checks.labels import checked_weights
from ..checks.parameters import is_number, is_whole
from ..kernels.engine.tiles import length
from ..rows import refuse_elsewhere
from ..runtime.compile import Array
from ..search.keys import weight_name
from ..search.numbered import Cell
from ..search.shared_cells import Fold, SharedCells

__all__ = ["TunedThreshold"]


class TunedThreshold(TunedThresholdClassifierCV):
    """A two-class machine that answers by the threshold with the best score on rows that it has not seen.

    A drop-in for scikit-learn's ``TunedThresholdClassifierCV``: same arguments, same attributes, same threshold. The
    machines of all folds are fitted together, on one kernel matrix; where they cannot be (machines of other libraries,
    ``cv="prefit"``, scorers that are not made of a metric, routed metadata) they are fitted one by one.

    Parameters
    ----------
    estimator : classifier
        A machine of mercer, or a pipeline that ends in one; any other works as well, without sharing.
    scoring : str or scorer, default="balanced_accuracy"
    response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
        What the threshold is on: probabilities where there are any, else decision values.
    thresholds : int or array, default=100
        How many thresholds are tried, or which.
    cv : int, float, splitter, iterable, "prefit" or None, default=None
        Folds (5 by default), or the part of the rows that is held out.
    refit : bool, default=True
    n_jobs : int, optional
        For fits that share nothing.
    random_state : int, RandomState or None, default=None
        For a part of the rows that is held out.
    store_cv_results : bool, default=False

    Attributes
    ----------
    estimator_ : classifier
    best_threshold_, best_score_ : float
    cv_results_ : dict of "thresholds" and "scores", with ``store_cv_results``
    classes_ : array
    n_features_in_, feature_names_in_ : where ``estimator_`` has them

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mercer import SVC, TunedThreshold
    >>> X, y = make_classification(300, weights=[0.9], random_state=0)
    >>> model = TunedThreshold(SVC(C=0.1), scoring="balanced_accuracy").fit(X, y)
    >>> bool(model.best_threshold_ < 0)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> TunedThreshold:
        """Find the threshold on folds, and fit the machine on all rows.

        Parameters
        ----------
        X : rows, as the estimator takes them
        y : array of labels, two classes
        sample_weight : array of shape (n_rows,), optional
            For the machine, and for the score where its metric takes weights.
        **params
            Routed by scikit-learn, where that is enabled.

        Returns
        -------
        self
        """
        self._validate_params()
        refuse_elsewhere(X, "TunedThreshold")
        refuse_before_folds(self.estimator, X, y, sample_weight)
        refuse_bad_rows(self.estimator, X)
        X, y, sample_weight = indexable(X, y, sample_weight)
        if sample_weight is not None:
            sample_weight = checked_weights(sample_weight, np.zeros((length(X), 1)))
            numbered = self.cv is None or is_number(self.cv)  # folds of our making, not indices of the caller's
            if 0 < np.count_nonzero(sample_weight) < sample_weight.size and numbered and not params:
                counted = np.flatnonzero(sample_weight)  # rows that do not count fill no folds
                X, y, sample_weight = (_safe_indexing(each, counted) for each in (X, y, sample_weight))
        shared = None if params else self._shared(X, y, sample_weight)
        if shared is None:
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            return super().fit(X, y, **weights, **params)
        kind = type_of_target(y, input_name="y")
        if kind != "binary":
            raise ValueError(f"Only binary classification is supported. Unknown label type: {kind}")
        rows = np.arange(shared.size)
        refuse_single(*np.unique(np.asarray(y), return_counts=True), "TunedThreshold")
        folds = [(rows[train], rows[test]) for train, test in self._splitter(y).split(X, y)]
        if not self.refit and len(folds) > 1:
            raise ValueError("When cv has several folds, refit cannot be False.")
        self._curve_scorer = self._get_curve_scorer()
        shared.run([{}], [(train, np.unique(test)) for train, test in folds])
        self._choose([self._curve(shared, fold, y) for fold in folds])
        own = rows if self.refit else folds[0][0]
        self.estimator_ = clone(self.estimator)
        whole = shared.rows(self.estimator_, own, own)
        self.estimator_.fit(whole, _safe_indexing(y, own), **self._weights(shared, own))
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _shared(self, X: Any, y: Any, weight: Any) -> SharedCells | None:
        """The machines of all folds, to be fitted together; ``None`` where each must be a fit of its own."""
        scorer = check_scoring(self.estimator, scoring=self.scoring)
        ours = isinstance(scorer, _BaseScorer) and type(scorer).__module__.startswith("sklearn.")
        if (
            not ours
            or (isinstance(self.cv, str) and self.cv == "prefit")
            or (weight is not None and _routing_enabled())
        ):
            return None
        return SharedCells.of(clone(self.estimator), X, y, weight)

    def _splitter(self, y: Any) -> Any:
        if is_number(self.cv) and not is_whole(self.cv):
            return StratifiedShuffleSplit(n_splits=1, test_size=self.cv, random_state=self.random_state)
        return cv_of(self.cv, y, classifier=True)

    def _curve(self, shared: SharedCells, fold: Fold, y: Any) -> tuple[Array, Array]:
        """The score of each threshold on the test rows of a fold, and the thresholds."""
        train, test = fold
        cell = Cell(shared.estimator, shared).fit(
            train[:, None], _safe_indexing(y, train), **self._weights(shared, train)
        )
        weights = {}
        if shared.weight is not None and self._curve_scorer._accept_sample_weight():
            weights["sample_weight"] = shared.weight[test]
        return self._curve_scorer(cell, test[:, None], _safe_indexing(y, test), **weights)

    def _weights(self, shared: SharedCells, rows: Array) -> dict[str, Array]:
        return {} if shared.weight is None else {weight_name(self.estimator): shared.weight[rows]}

    def _choose(self, curves: list[tuple[Array, Array]]) -> None:
        """The threshold whose score is best on average over the folds, as scikit-learn chooses it."""
        scores, thresholds = zip(*curves, strict=True)
        if any(np.isclose(each[0], each[-1]) for each in thresholds):
            raise ValueError(
                "The provided estimator makes constant predictions. Therefore, it is impossible to optimize the "
                "decision threshold."
            )
        tried = np.asarray(self.thresholds)
        if tried.ndim == 0:
            tried = np.linspace(min(map(np.min, thresholds)), max(map(np.max, thresholds)), int(self.thresholds))
        means = _mean_interpolated_score(tried, thresholds, scores)
        best = int(means.argmax())
        self.best_score_, self.best_threshold_ = means[best], tried[best]
        if self.store_cv_results:
            self.cv_results_ = {"thresholds": tried, "scores": means}
