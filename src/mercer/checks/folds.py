"""Folds and samples of rows, with a share of every class in each, and what cannot be divided into them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, check_cv, train_test_split
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from ..runtime.arrays import Array
from .labels import checked_weights, plain_label, refuse_bad_labels, refuse_bad_targets
from .parameters import shown
from .tables import holds_no_rows_yet, refuse_damaged, refuse_no_rows

__all__ = [
    "EvenFolds",
    "RepeatedEvenFolds",
    "cv_of",
    "drawn_evenly",
    "learned_always",
    "refuse_bad_rows",
    "refuse_before_folds",
    "refuse_no_estimator",
    "refuse_single",
]

#: Rows of each class that a sample holds, where the class has them.
_IN_SAMPLE = 5


class EvenFolds(StratifiedKFold):
    """Folds with a share of each class, which classes of fewer rows than folds do not hinder.

    Rows of such a class are spread over as many folds as there are; a row that is the only one of its class is learned
    from in every split, and never tested.

    Examples
    --------
    >>> y = np.array(["a", "a", "a", "b", "b", "b", "c"])
    >>> [test.tolist() for _, test in EvenFolds(3).split(np.zeros(7), y)]
    [[0, 3], [1, 4], [2, 5]]
    """

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Training rows and test rows."""
        labels = np.asarray(y)
        refuse_more_folds(labels, self.n_splits)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            splits = list(super().split(X, y))
        for train, test in splits:
            yield learned_always(train, test, labels)


class RepeatedEvenFolds(RepeatedStratifiedKFold):
    """:class:`EvenFolds`, drawn again and again."""

    def __init__(self, *, n_splits: int = 5, n_repeats: int = 10, random_state: Any = None) -> None:
        super().__init__(n_splits=n_splits, n_repeats=n_repeats, random_state=random_state)
        self.cv = EvenFolds


def cv_of(cv: Any, y: Any, classifier: bool) -> Any:
    """scikit-learn's ``check_cv``, with :class:`EvenFolds` where folds of classes are only counted.

    Examples
    --------
    >>> cv_of(3, ["a", "b"] * 3, classifier=True)
    EvenFolds(n_splits=3, random_state=None, shuffle=False)
    """
    found = check_cv(cv, y, classifier=classifier)
    return EvenFolds(found.n_splits) if type(found) is StratifiedKFold and found is not cv else found


def refuse_more_folds(y: Array, folds: int) -> None:
    """Refuse more folds than any class has rows, of which some would hold no row of any class."""
    most = int(np.unique(y, return_counts=True)[1].max(initial=0))
    if most == 1:
        raise ValueError("no class has two rows, so nothing could be learned and tested; add rows, or merge classes.")
    if most < folds:
        raise ValueError(
            f"{folds} folds are more than any class has rows; use {most} folds or fewer, or merge classes."
        )


def learned_always(train: Array, test: Array, y: Array) -> tuple[Array, Array]:
    """The split with test rows of classes that no training row has among the training rows.

    Examples
    --------
    >>> learned_always(np.array([0, 1]), np.array([2, 3]), np.array(["a", "b", "a", "c"]))
    (array([0, 1, 3]), array([2]))
    """
    unknown = ~np.isin(y[test], y[train])
    if not unknown.any():
        return train, test
    return np.sort(np.concatenate([train, test[unknown]])), test[~unknown]


def drawn_evenly(y: Any, seed: Any, **sizes: Any) -> tuple[Array, Array]:
    """scikit-learn's ``train_test_split`` of row numbers, each class with its share wherever it has two rows.

    Rows that are the only ones of their classes go to the first part. Where a part has fewer rows than there are
    classes, rows are drawn whatever their classes are. With a ``train_size`` in rows, the first part is a sample: it
    holds at least five rows of each class that has them.

    Examples
    --------
    >>> y = np.repeat(["a", "b", "c"], [6, 6, 1])
    >>> [sorted(y[part].tolist()) for part in drawn_evenly(y, 0, test_size=0.5)]
    [['a', 'a', 'a', 'b', 'b', 'b', 'c'], ['a', 'a', 'a', 'b', 'b', 'b']]
    """
    codes, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)[1:]
    wanted = sizes.get("train_size")
    alone = np.flatnonzero(counts[codes] == 1)
    if isinstance(wanted, int) and wanted < codes.size:
        rare = np.flatnonzero(counts * wanted < _IN_SAMPLE * codes.size)
        order = check_random_state(seed).permutation(codes.size) if rare.size else alone
        kept = np.concatenate([alone[:0], *(order[codes[order] == label][:_IN_SAMPLE] for label in rare.tolist())])
        if 0 < kept.size <= wanted // 2:
            others = np.flatnonzero(~np.isin(codes, rare))
            first, _ = drawn_evenly(codes[others], seed, train_size=wanted - kept.size)
            chosen = np.concatenate([others[first], kept])
            return chosen, np.setdiff1d(np.arange(codes.size), chosen)
    elif 0 < alone.size < codes.size:
        others = np.flatnonzero(counts[codes] > 1)
        first, second = drawn_evenly(codes[others], seed, **sizes)
        return np.concatenate([others[first], alone]), others[second]
    try:
        first, second = train_test_split(np.arange(codes.size), stratify=codes, random_state=seed, **sizes)
    except ValueError:  # fewer rows in a part than classes, which is no part of two classes
        if counts.size < 3:
            raise
        first, second = train_test_split(np.arange(codes.size), random_state=seed, **sizes)
    return first, second


def refuse_single(classes: Array, counts: Array, name: str) -> None:
    """Refuse classes of one row where each row is scored by a machine that has not seen it."""
    if counts.sum() == 1:
        raise ValueError(f"{name}: one sample is too few to score rows that a machine has not seen; give more.")
    if counts.min() < 2:
        raise ValueError(
            f"{name}: class {plain_label(classes[int(counts.argmin())])!r} has {counts.min()} row; to score rows that "
            "a machine has not seen takes two of each class at least. Find more, or leave the class out."
        )


# What cannot be divided into folds, refused before any machine is fitted.


def refuse_no_estimator(estimator: Any) -> None:
    """Raise where something was given in the place of an estimator."""
    if isinstance(estimator, type) or not isinstance(estimator, BaseEstimator):
        raise TypeError(f"estimator={shown(estimator)} is no estimator; give one such as SVC() or KernelRegressor().")


def refuse_before_folds(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
    """Raise where rows have no order, are damaged or not there yet, and where targets or weights are none.

    Parameters
    ----------
    estimator : estimator
        What is going to be fitted: it tells what targets are.
    X, y, sample_weight
        As given to ``fit``.

    Examples
    --------
    >>> from mercer import SVC
    >>> refuse_before_folds(SVC(), [[0.0], [1.0]], ["a", None])
    Traceback (most recent call last):
        ...
    ValueError: Input y contains NaN or nothing: missing label in row 1; drop that row or label it.
    """
    refuse_damaged(X)
    refuse_no_rows(X)
    if holds_no_rows_yet(X):
        raise TypeError(f"X is a {type(X).__name__}, which holds no rows yet; call .collect() first.")
    if y is None and (is_classifier(estimator) or is_regressor(estimator)):
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    if is_classifier(estimator):
        refuse_bad_labels(y)
    elif is_regressor(estimator):
        refuse_bad_targets(y)
    if sample_weight is not None:
        weight = checked_weights(sample_weight, np.zeros((_num_samples(X), 1)))
        if not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number; all of them are zero.")


def refuse_bad_rows(machine: Any, X: Any) -> None:
    """Raise where a machine could not read its rows of numbers, which folds would name by other numbers.

    What comes before a machine in a pipeline may make other rows of them.
    """
    if not hasattr(machine, "read_items"):
        return
    kernel = machine.read_kernel().suited(X)
    if kernel.on_rows and not kernel.precomputed:
        clone(machine).read_items(X, kernel, reset=True)
