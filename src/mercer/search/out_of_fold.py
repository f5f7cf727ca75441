"""What a machine says of rows that it has not seen: every row scored by the machine that was fitted without its fold.

The folds of a cross-validation are one setting of a search: rows are prepared once where nothing is fitted to them, and
one kernel matrix serves all folds (:mod:`.shared_cells`). What cannot share is fitted fold by fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from .._runtime.compile import Array
from .._validation.labels import checked_weights, plain_label, refuse_bad_labels
from .._validation.memory import bytes_of, in_all
from .._validation.unwrapped import machine_of, rows_at_machine
from ..estimators.training import known_gram
from ..grams import Dense
from ..kernels.engine.parts import length
from .cell import predicted
from .content_keys import setting_key
from .layers import peel, weight_name
from .outcome import Outcome
from .shared_cells import Fold, SharedCells

__all__ = ["OutOfFold", "fit_and_score_out_of_fold", "out_of_fold"]


@dataclass(frozen=True)
class OutOfFold:
    """Decision values of a classifier, or predictions of a regressor, of rows that it was fitted without."""

    #: One for each row, or a column for each class.
    decisions: Array
    #: A column for each pair of classes, where machines of pairs vote; else the decision values.
    scores: Array
    #: Training and test rows of each fold.
    splits: list[Fold]


def out_of_fold(
    estimator: Any, X: Any, y: Any, splits: Any, sample_weight: Any = None, memory: int | str = "1GB"
) -> OutOfFold:
    """Score every row by the machine that was fitted without its fold.

    The result is that of scikit-learn's ``cross_val_predict`` (with ``method="decision_function"`` for a classifier),
    within the tolerance of the solver.

    Parameters
    ----------
    estimator : estimator
        A machine of mercer, classifier or regressor, or layers around one, such as a pipeline; any other estimator is
        fitted fold by fold.
    X, y : rows and targets
    splits : iterable of (training rows, test rows)
        Every row is a test row once.
    sample_weight : array of shape (n_rows,), optional
    memory : int or str, default="1GB"
        What the kernel matrix may take.

    Returns
    -------
    OutOfFold

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.model_selection import StratifiedKFold
    >>> from mercer import SVC
    >>> from mercer.search import out_of_fold
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> unseen = out_of_fold(SVC("gaussian(gamma=1)"), X, y, StratifiedKFold(5).split(X, y))
    >>> float(((unseen.decisions > 0) == y).mean())
    1.0
    """
    return _OutOfFold(estimator, X, y, splits, sample_weight, memory).scored()


def fit_and_score_out_of_fold(
    estimator: Any, X: Any, y: Any, splits: Any, sample_weight: Any = None, memory: int | str = "1GB"
) -> tuple[Any, OutOfFold]:
    """The estimator fitted on all rows, from the same matrix where there is one, and its out-of-fold scores.

    Parameters are those of :func:`out_of_fold`.
    """
    work = _OutOfFold(estimator, X, y, splits, sample_weight, memory)
    unseen = work.scored()
    return work.fitted(), unseen


class _OutOfFold:
    """Fits without each fold, and on all rows, of one estimator."""

    def __init__(self, estimator: Any, X: Any, y: Any, splits: Any, sample_weight: Any, memory: int | str) -> None:
        n = length(X)
        rows = np.arange(n)
        self.estimator, self.X, self.y = estimator, X, y
        self.folds = [(rows[np.asarray(train)], np.sort(rows[np.asarray(test)])) for train, test in splits]
        refuse_overlap(self.folds, n)
        self.weight = None if sample_weight is None else checked_weights(sample_weight, np.zeros((n, 1)))
        if is_classifier(estimator):
            refuse_bad_labels(y)
            refuse_missing_classes(y, self.folds)
        self.layers, self.machine = peel(estimator)
        self.memory = memory
        self.shared = SharedCells.of(clone(estimator), X, y, self.weight, bytes_of(memory))

    def scored(self) -> OutOfFold:
        if self.shared is not None:
            self.shared.keep_of = _scores
            self.shared.keep_matrix = not self.layers
            self.shared.run([{}], self.folds)
        parts = [self._part(train, test) for train, test in self.folds]
        order = np.argsort(np.concatenate([test for _, test in self.folds]))
        decisions, scores = (np.concatenate(part)[order] for part in zip(*parts, strict=True))
        return OutOfFold(decisions, scores, self.folds)

    def fitted(self) -> Any:
        """The estimator, fitted on all rows."""
        matrix = None if self.shared is None else self.shared.matrix
        known = None if matrix is None else Dense(matrix, room=bytes_of(self.memory) - matrix.nbytes)
        with in_all(self.memory), known_gram(known):
            return clone(self.estimator).fit(self.X, self.y, **self._weights(slice(None)))

    def _weights(self, rows: Any) -> dict[str, Array]:
        return {} if self.weight is None else {weight_name(self.estimator): self.weight[rows]}

    def _part(self, train: Array, test: Array) -> tuple[Array, Array]:
        """The decision values and scores of a fold's test rows."""
        outcome = None if self.shared is None else self.shared.outcome(setting_key({}), train)
        if outcome is not None:
            found = _looked_up(self.machine, np.unique(_safe_indexing(self.y, train)), outcome, test)
            return predicted(self.estimator, found[0]), predicted(self.estimator, found[1])
        rows = _safe_split(self.estimator, self.X, None, train)[0]
        own = clone(self.estimator).fit(rows, _safe_indexing(self.y, train), **self._weights(train))
        new = _safe_split(self.estimator, self.X, None, test, train)[0]
        return responses(own, new), scores_of(own, new)


def refuse_overlap(folds: list[Fold], n: int) -> None:
    """Every row is scored once, or nobody knows which score counts."""
    times = np.bincount(np.concatenate([test for _, test in folds] or [np.empty(0, np.int64)]), minlength=n)
    if (times != 1).any():
        row = int(np.argmax(times != 1))
        raise ValueError(
            f"out-of-fold scores need folds that divide the rows, but row {row} is a test row {times[row]} times; use "
            "a splitter such as KFold or StratifiedKFold, without repeats."
        )


def refuse_missing_classes(y: Any, folds: list[Fold]) -> None:
    """A machine that has not seen a class cannot score it."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    for number, (train, _) in enumerate(folds):
        there = np.bincount(codes[train], minlength=classes.size)
        if not there.all():
            missing = classes[int(np.argmin(there))]
            raise ValueError(
                f"fold {number} has no training row of class {plain_label(missing)!r}; use fewer or stratified folds, "
                "or leave the class out."
            )


def _scores(machine: Any, scores: Array, rows: Array) -> Array:
    machine.decisions_of(scores, rows)  # which refuses scores that are none
    return scores


def _looked_up(machine: Any, classes: Array, outcome: Outcome, test: Array) -> tuple[Array, Array]:
    """The decision values and scores of a fold's test rows, as computed together with the others."""
    if outcome.error is not None:
        raise ValueError(outcome.error)
    own = clone(machine)
    if is_classifier(own):
        own.classes_ = classes
    decisions = own.decisions_of(outcome.of(test))
    return decisions, outcome.of(test) if hasattr(own, "pair_scores") and classes.size > 2 else decisions


def scores_of(fitted: Any, X: Any) -> Array:
    """A column for each pair of classes, where machines of pairs vote; else the decision values."""
    machine = machine_of(fitted)
    if hasattr(machine, "pair_scores") and machine.classes_.size > 2:
        return machine.pair_scores(rows_at_machine(fitted, X))
    return responses(fitted, X)


def responses(fitted: Any, X: Any) -> Array:
    """Predictions of a regressor, decision values of a classifier; where it has none, its probabilities."""
    if not is_classifier(fitted):
        return fitted.predict(X)
    if hasattr(fitted, "decision_function"):
        return fitted.decision_function(X)
    probabilities = fitted.predict_proba(X)
    return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
