"""What a display needs to know about a fitted estimator, alone or at the end of a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._runtime.compile import Array


def last_step(estimator: Any) -> Any:
    """The learner itself: at the end of a pipeline, inside an estimator that wraps another one, at any depth."""
    while (deeper := inner(estimator)) is not None:
        estimator = deeper
    return estimator


def reach_learner(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The learner, and the rows as they reach it."""
    while (deeper := inner(estimator)) is not None:
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = deeper
    return estimator, X


def inner(estimator: Any) -> Any:
    """The estimator inside: of a pipeline, a search, a wrapper; ``None`` where it is a learner itself."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    return getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", None))


def margins(scores: Any, y: Any, classes: Any) -> Array:
    """How clearly each row is on its right side.

    For two classes y·f(x). For more, the score of the row's own class minus the best score of another one: positive
    exactly where the prediction is right.

    Examples
    --------
    >>> margins([2.0, -1.0], ["b", "b"], ["a", "b"])
    array([ 2., -1.])
    >>> margins([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]], ["a", "b"], ["a", "b", "c"])
    array([ 2., -2.])
    """
    scores = np.asarray(scores, dtype=np.float64)
    codes = np.searchsorted(np.asarray(classes), np.asarray(y))
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    rows = np.arange(len(codes))
    own = scores[rows, codes]
    others = scores.copy()
    others[rows, codes] = -np.inf
    return own - others.max(axis=1)
