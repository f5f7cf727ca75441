"""Probabilities for any machine, at the price of a few fits."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_outlier_detector, is_regressor
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._runtime.compile import Array
from .._validation.before_folds import refuse_bad_rows, refuse_before_folds, refuse_no_estimator
from .._validation.labels import checked_weights, encode, plain_label
from .._validation.offered import offered_if
from .._validation.parameters import choice, is_whole
from .._validation.rare_classes import cv_of, refuse_single
from .._validation.unwrapped import machine_of
from ..estimators.cost_matrix import cheapest, cost_matrix
from ..kernels.engine.parts import length
from ..rows import refuse_elsewhere
from ..search.out_of_fold import fit_and_score_out_of_fold, responses, scores_of
from .base import CalibrationMap
from .coupling import coupled, normalised
from .isotonic_map import IsotonicMap
from .sigmoid_map import SigmoidMap
from .venn_abers import VennAbersMap

__all__ = ["Calibrated"]

_MAPS: dict[str, type[CalibrationMap]] = {"sigmoid": SigmoidMap, "isotonic": IsotonicMap, "venn_abers": VennAbersMap}


def _has_intervals(model: Calibrated) -> bool:
    if model.method != "venn_abers":
        raise AttributeError(f"Calibrated has no intervals with method={model.method!r}; use method='venn_abers'.")
    return True


class Calibrated(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities mean what they say: of rows with a probability of 0.8, 80 % are of the class.

    The machine is fitted once on all rows, and once without each of a few folds, whose rows it then scores; a map from
    scores to probabilities is learned from these scores of rows that it had not seen. Folds share a kernel matrix.

    With several classes each has a map of its own, against the rest, and the probabilities are normalised to a sum of
    1. Where machines of pairs of classes vote (``SVC`` with ``strategy="ovo"``), the sigmoid and isotonic regression
    are fitted to the score of each pair and the probabilities of pairs coupled (Wu, Lin and Weng, 2004): scores know
    more than votes, and the log loss on letter, splice and digits is 3 to 50 % lower. Venn–Abers is careful where rows
    are few, as those of a pair are; coupling would add up so much care, so it is fitted to the votes.

    Parameters
    ----------
    estimator : classifier
        A machine of mercer, or a pipeline that ends in one; any other classifier works as well, without sharing.
    method : {"sigmoid", "isotonic", "venn_abers"}, default="sigmoid"
        Platt's sigmoid, which is right for most machines and needs few rows; isotonic regression, which takes any
        shape and needs more of them (no probability is 0 or 1: after n rows none lies beyond 1/(n + 2)); or
        Venn–Abers, isotonic regression with an interval for each probability.
    cv : int, splitter or iterable, default=5
        Folds, which divide the rows; stratified, where this is a number.
    costs : array of shape (n_classes, n_classes) or dict, optional
        What it costs to answer class j where class i is true, ``costs[i, j]`` in the order of ``classes_``, or
        ``{(true, answered): cost}`` with 1 for all other mistakes. ``predict`` then answers the class of least
        expected cost; the probabilities are as they are.
    memory : int or str, default="1GB"
        What the kernel matrix that folds share may take.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows, with its certificate.
    maps_ : list
        The map of each score.
    pairs_ : bool
        Whether maps are those of pairs of classes.
    classes_ : array
    n_features_in_, feature_names_in_ : where ``estimator_`` has them

    See Also
    --------
    KernelClassifier : the logistic loss has probabilities of its own.
    sklearn.calibration.CalibrationDisplay : ``from_estimator`` draws how reliable the probabilities are.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, Calibrated
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> model = Calibrated(SVC("gaussian(gamma=1)")).fit(X, y)
    >>> model.predict_proba([[0.0, 1.0], [0.5, 0.25]]).round(1)
    array([[0.9, 0.1],
           [0.6, 0.4]])
    >>> model.estimator_.converged_
    True
    """

    def __init__(
        self, estimator: Any, *, method: str = "sigmoid", cv: Any = 5, costs: Any = None, memory: int | str = "1GB"
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.costs = costs
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Calibrated:
        """Learn the machine from all rows, and the map from scores of rows that it had not seen.

        Parameters
        ----------
        X : rows, as the estimator takes them
        y : array of labels
        sample_weight : array of shape (n_rows,), optional
            For the machine and for the map.
        groups : array, optional
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        choice(self, "method", tuple(_MAPS))
        refuse_elsewhere(X, "Calibrated")
        refuse_no_estimator(self.estimator)
        if is_regressor(self.estimator) or is_outlier_detector(self.estimator):
            raise ValueError(
                f"Calibrated: {type(self.estimator).__name__} is no classifier, and probabilities are of classes; "
                "intervals around numbers are what Conformal makes."
            )
        refuse_before_folds(self.estimator, X, y, sample_weight)
        refuse_bad_rows(self.estimator, X)
        X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
        if not length(X):
            raise ValueError("Calibrated cannot learn from no rows: X holds 0 samples.")
        labels = column_or_1d(y, warn=True)
        self.classes_, codes = encode(labels, "Calibrated")
        if self.costs is not None:
            cost_matrix(self.costs, self.classes_, "Calibrated")
        weight = None if sample_weight is None else checked_weights(sample_weight, np.zeros((length(X), 1)))
        counts = np.bincount(codes if weight is None else codes[weight > 0], minlength=self.classes_.size)
        if is_whole(self.cv):
            refuse_single(self.classes_, counts, "Calibrated")
            if weight is not None and not weight.all() and counts.min() < self.cv:
                raise ValueError(
                    f"Calibrated: class {plain_label(self.classes_[counts.argmin()])!r} has {counts.min()} rows that "
                    f"weigh anything, fewer than the cv={self.cv} folds; use a smaller cv."
                )
        folds = list(cv_of(self.cv, labels, classifier=True).split(X, labels, groups))
        self.estimator_, unseen = fit_and_score_out_of_fold(self.estimator, X, labels, folds, weight, self.memory)
        several = self.method != "venn_abers" and self.classes_.size > 2
        self.pairs_ = several and hasattr(machine_of(self.estimator_), "pair_scores")
        scores = unseen.scores if self.pairs_ else unseen.decisions
        self.maps_ = self._learned(scores, codes, np.ones(codes.size) if weight is None else weight)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _learned(self, unseen: Array, codes: Array, weight: Array) -> list[CalibrationMap]:
        """A map for each score."""
        make, k = _MAPS[self.method].of, self.classes_.size
        if k == 2:
            return [make(unseen, codes == 1, weight)]
        if not self.pairs_:
            return [make(unseen[:, c], codes == c, weight) for c in range(k)]
        made = []
        for column, (first, second) in enumerate(combinations(range(k), 2)):
            rows = (codes == first) | (codes == second)
            made.append(make(unseen[rows, column], codes[rows] == second, weight[rows]))
        return made

    # -- predictions ----------------------------------------------------------------------------------------------

    def _columns(self, X: Any) -> Array:
        """The scores, a column for each map."""
        check_is_fitted(self, "maps_")
        scores = (scores_of if self.pairs_ else responses)(self.estimator_, X)
        return scores[:, None] if scores.ndim == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of ``classes_``; never exactly 0 or 1.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        scores = self._columns(X)
        found = np.stack(
            [each.probabilities(column) for each, column in zip(self.maps_, scores.T, strict=True)], axis=1
        )
        if self.classes_.size == 2:
            return np.column_stack([1 - found[:, 0], found[:, 0]])
        return coupled(found, self.classes_.size) if self.pairs_ else normalised(found)

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of each probability."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable label of each row, the first of equals; with ``costs`` that of least expected cost.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of labels
        """
        probabilities = self.predict_proba(X)
        if self.costs is None:
            return self.classes_[probabilities.argmax(axis=1)]
        return self.classes_[cheapest(probabilities, cost_matrix(self.costs, self.classes_, "Calibrated"))]

    @offered_if(_has_intervals)
    def predict_proba_interval(self, X: Any) -> Array:
        """From where to where the probability may be, by Venn–Abers: narrow where many rows are near.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of shape (n_rows, 2), or (n_rows, n_classes, 2) for three classes or more
            For two classes the interval is that of the second; else each class has one, against the rest, by the factor
            that makes the probabilities of a row sum to 1. It contains what :meth:`predict_proba` says.
        """
        scores = self._columns(X)
        found = np.stack([each.intervals(column) for each, column in zip(self.maps_, scores.T, strict=True)], axis=1)
        if self.classes_.size == 2:
            return found[:, 0]
        alone = [each.probabilities(column) for each, column in zip(self.maps_, scores.T, strict=True)]
        return np.minimum(found / np.sum(alone, axis=0)[:, None, None], 1.0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
