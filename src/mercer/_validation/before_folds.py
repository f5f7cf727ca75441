"""What cannot be divided into folds, refused before any machine is fitted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import _num_samples

from .labels import checked_weights, refuse_bad_labels, refuse_bad_targets
from .objects import holds_no_rows_yet
from .tables import refuse_damaged

__all__ = ["refuse_before_folds"]


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
    if isinstance(X, (set, frozenset, dict, str, bytes, Iterator)) and not sparse.issparse(X):
        raise TypeError(f"X is a {type(X).__name__}, not rows in an order; give an array, a list or a frame.")
    if holds_no_rows_yet(X):
        raise TypeError(f"X is a {type(X).__name__}, which holds no rows yet; call .collect() first.")
    if is_classifier(estimator) and y is not None:
        refuse_bad_labels(y)
    elif is_regressor(estimator) and y is not None:
        refuse_bad_targets(y)
    if sample_weight is not None:
        weight = checked_weights(sample_weight, np.zeros((_num_samples(X), 1)))
        if not weight.any():
            raise ValueError("Sample weights must contain at least one non-zero number; all of them are zero.")
