"""How clearly rows are decided, from decision values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array


def decision_margins(scores: Any, codes: Any) -> Array:
    """How clearly each row is on its right side, from its decision values and the number of its class.

    For two classes y·f(x). For more, the score of the row's own class less the best score of another one: positive
    exactly where the prediction is right.

    Examples
    --------
    >>> decision_margins([2.0, -1.0], [1, 1])
    array([ 2., -1.])
    >>> decision_margins([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]], [0, 1])
    array([ 2., -2.])
    """
    scores, codes = np.asarray(scores, dtype=np.float64), np.asarray(codes)
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    rows = np.arange(len(codes))
    others = scores.copy()
    others[rows, codes] = -np.inf
    return scores[rows, codes] - others.max(axis=1)
