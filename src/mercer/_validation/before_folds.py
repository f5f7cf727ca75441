"""What cannot be divided into folds, refused before any machine is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils.validation import _num_samples

from .labels import checked_weights, refuse_bad_labels, refuse_bad_targets
from .objects import holds_no_rows_yet
from .parameters import shown
from .tables import refuse_damaged, refuse_no_rows

__all__ = ["refuse_bad_rows", "refuse_before_folds", "refuse_no_estimator"]


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
    kernel = machine.read_kernel()
    if kernel.on_rows and not kernel.precomputed:
        clone(machine).read_items(X, kernel, reset=True)
