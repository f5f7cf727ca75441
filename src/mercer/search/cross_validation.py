"""What a machine says of rows that it has not seen: every row scored by the machine that was fitted without its fold.

The folds of a cross-validation are one setting of a search: rows are prepared once where nothing is fitted to them, and
one kernel matrix serves all folds (:mod:`.shared_cells`). What cannot share is fitted fold by fold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import _safe_split

from ..checks.folds import cv_of, drawn_evenly
from ..checks.labels import checked_weights, plain_label, refuse_bad_labels
from ..checks.parameters import bytes_of, in_all
from ..composition import machine_of, rows_at_machine
from ..grams import Dense
from ..kernels.engine.tiles import length
from ..presentation import Markup, table_html
from ..runtime.compile import Array
from ..runtime.interrupts import all_or_nothing, keeps_best
from .keys import Outcome, peel, setting_key, weight_name
from .numbered import predicted
from .shared_cells import Fold, SharedCells

__all__ = [
    "NestedResult",
    "OutOfFold",
    "ProtocolResult",
    "fit_and_score_out_of_fold",
    "nested_cross_validation",
    "out_of_fold",
    "train_validate_test",
]


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
            self.shared.keep_matrix = self.machine is self.estimator
            self.shared.run([{}], self.folds)
        parts = [self._part(train, test) for train, test in self.folds]
        order = np.argsort(np.concatenate([test for _, test in self.folds]))
        decisions, scores = (np.concatenate(part)[order] for part in zip(*parts, strict=True))
        return OutOfFold(decisions, scores, self.folds)

    def fitted(self) -> Any:
        """The estimator, fitted on all rows."""
        matrix = None if self.shared is None else self.shared.matrix
        known = None if matrix is None else Dense(matrix, room=bytes_of(self.memory) - matrix.nbytes)
        with in_all(self.memory):
            if known is not None:
                return clone(self.estimator).fit_on(known, self.X, self.y, self.weight)
            return clone(self.estimator).fit(self.X, self.y, **self._weights(slice(None)))

    def _weights(self, rows: Any) -> dict[str, Array]:
        return {} if self.weight is None else {weight_name(self.estimator): self.weight[rows]}

    def _part(self, train: Array, test: Array) -> tuple[Array, Array]:
        """The decision values and scores of a fold's test rows."""
        shared = self.shared
        outcome = None if shared is None else shared.outcome(setting_key({}), train)
        if shared is not None and outcome is not None:
            found = _looked_up(self.machine, np.unique(_safe_indexing(self.y, train)), outcome, test)
            return predicted(shared.functions, found[0]), predicted(shared.functions, found[1])
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


# How good is the result of a search? Nested cross-validation, and training, validation and test rows.


@dataclass(frozen=True)
class NestedResult:
    """The score of the whole procedure, search included, on rows that it never saw.

    ``stopped`` is "interrupted" where Ctrl-C left outer folds out (:func:`mercer.keep_best`), else ``None``.
    """

    scores: Array
    params: list[dict[str, Any]]
    searches: list[Any]
    stopped: str | None = None

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def sd(self) -> float:
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.sd:.4f} over {len(self.scores)} outer folds" + (
            f" ({self.stopped} before the others)" if self.stopped else ""
        )

    def _repr_html_(self) -> Markup:
        folds = zip(self.scores, self.params, strict=True)
        rows = [
            [k, f"{score:.4f}", ", ".join(f"{name} = {value}" for name, value in params.items())]
            for k, (score, params) in enumerate(folds, 1)
        ]
        return table_html(self, rows, heads=["outer fold", "score", "parameters chosen"])


def nested_cross_validation(search: Any, X: Any, y: Any, *, cv: Any = 5, groups: Any = None) -> NestedResult:
    """Search inside each training part of an outer cross-validation, and score on what it left out.

    Parameters
    ----------
    search : KernelSearchCV
        Not fitted; a copy of it is fitted for each outer fold.
    X, y : rows and labels
    cv : int, splitter or iterable, default=5
        The outer folds.
    groups : array, optional

    Returns
    -------
    NestedResult

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV, nested_cross_validation
    >>> X, y = make_moons(150, noise=0.1, random_state=0)
    >>> result = nested_cross_validation(KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [1, 100]}, cv=3), X, y, cv=3)
    >>> len(result.scores)
    3
    """
    searches: list[Any] = []
    scores: list[float] = []
    stopped = None
    try:
        for train, test in cv_of(cv, y, classifier=is_classifier(search.estimator)).split(X, y, groups):
            with all_or_nothing():
                fitted = clone(search).fit(_safe_indexing(X, train), _safe_indexing(y, train))
                score = fitted.score(_safe_indexing(X, test), _safe_indexing(y, test))
            searches.append(fitted)
            scores.append(score)
    except KeyboardInterrupt:
        if not (keeps_best() and scores):
            raise
        stopped = "interrupted"
    done = searches[: len(scores)]
    return NestedResult(np.array(scores), [fitted.best_params_ for fitted in done], done, stopped)


@dataclass(frozen=True)
class ProtocolResult:
    """Scores on the three parts of the rows, and the search that chose the parameters."""

    train: float
    validation: float
    test: float
    search: Any

    def __str__(self) -> str:
        return f"training {self.train:.4f}, validation {self.validation:.4f}, test {self.test:.4f}"

    def _repr_html_(self) -> Markup:
        scores = {"training": self.train, "validation": self.validation, "test": self.test}
        return table_html("scores", [[part, f"{score:.4f}"] for part, score in scores.items()])


def train_validate_test(
    search: Any, X: Any, y: Any, *, validation: float = 0.2, test: float = 0.2, random_state: Any = 0
) -> ProtocolResult:
    """Choose parameters on validation rows, fit them on training and validation rows, and test once.

    Parameters
    ----------
    search : KernelSearchCV
        Not fitted; its ``cv`` is replaced by one split.
    X, y : rows and labels
    validation, test : float
        Their shares of all rows.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ProtocolResult

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV, train_validate_test
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> search = KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [1, 100]})
    >>> train_validate_test(search, X, y).test > 0.9
    True
    """
    if not (0 < validation < 1 and 0 < test < 1 and validation + test < 1):
        raise ValueError(f"validation={validation!r} and test={test!r} must be shares of the rows, together below 1.")
    rng = check_random_state(random_state)
    labels = np.asarray(y) if is_classifier(search.estimator) else None

    def parts(rows: Array, share: float) -> tuple[Array, Array]:
        if labels is None:
            return train_test_split(np.arange(rows.size), test_size=share, random_state=rng)
        return drawn_evenly(labels[rows], rng, test_size=share)

    rest, held_out = parts(np.arange(len(y)), test)
    train, valid = parts(rest, validation / (1 - test))
    chosen = clone(search).set_params(cv=[(train, valid)], return_train_score=True)
    chosen.fit(_safe_indexing(X, rest), _safe_indexing(y, rest))
    scores = chosen.cv_results_
    return ProtocolResult(
        float(scores["mean_train_score"][chosen.best_index_]),
        float(scores["mean_test_score"][chosen.best_index_]),
        float(chosen.score(_safe_indexing(X, held_out), _safe_indexing(y, held_out))),
        chosen,
    )
