"""Values of new rows far outside of what a model was trained on, where its predictions are guesses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._validation.unwrapped import parts_of, steps_before
from ..preprocess import ReadColumns

__all__ = ["FarValue", "far_values"]

#: A value is far outside where it is beyond the training range by more than this share of the range's width.
_BEYOND = 0.5


class FarValue(NamedTuple):
    """A value, the place of its row, and the smallest and largest value of its column in training."""

    row: int
    column: str
    value: float
    low: float
    high: float


def far_values(model: Any, X: Any) -> list[FarValue]:
    """The numbers of new rows that are far outside the training range of their column.

    That is beyond the smallest or largest training value by more than half of what lies between these two. Models know
    no such rows, and what they predict there is a guess.

    Parameters
    ----------
    model : fitted estimator
        A :class:`mercer.TableClassifier` or :class:`mercer.TableRegressor`, or a pipeline that
        :func:`mercer.preprocess.pipeline` has made.
    X : frame or array of new rows

    Returns
    -------
    list of FarValue
        Those furthest outside first; none where the model does not remember ranges.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import TableRegressor
    >>> from mercer.explain import far_values
    >>> stones = pd.DataFrame({"width": [4.1, 5.2, 6.0, 7.3], "depth": [61.0, 60.5, 62.5, 59.0]})
    >>> model = TableRegressor().fit(stones, [400, 700, 1200, 2100])
    >>> far_values(model, pd.DataFrame({"width": [5.0, 31.8], "depth": [61.0, 61.0]}))
    [FarValue(row=1, column='width', value=31.8, low=4.1, high=7.3)]
    """
    parts = (part for step in steps_before(model) for part in parts_of(step))
    reading = next((part for part in parts if isinstance(part, ReadColumns)), None)
    ranges = getattr(reading, "ranges_", {})
    if reading is None or not ranges:
        return []
    rows = reading.transform(X)
    found = []
    for name, (low, high) in ranges.items():
        values = rows[name].to_numpy() if hasattr(rows, "columns") else rows[:, [*reading.kinds].index(name)]
        beyond = np.maximum(low - values, values - high)
        for row in np.flatnonzero(beyond > _BEYOND * (high - low)).tolist():
            share = beyond[row] / (high - low) if high > low else np.inf
            found.append((share, FarValue(row, name, float(values[row]), low, high)))
    return [far for _, far in sorted(found, key=lambda each: (-each[0], each[1].row))]
