"""What each column of a row does to its score, whatever the model makes of it: beside the values of other rows.

A column is taken away from a row x by giving it the values of other rows instead: f(x) less the mean of f over x with
the values that some other rows have in that column. It needs no feature that has a name and no typical value, so that
numbers, words, dates and texts are treated alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .opened_model import Direction, OpenedModel

__all__ = ["column_effects"]

#: Other rows whose values are tried, and rows scored at once.
_OTHERS, _BLOCK = 50, 5000
#: Smaller changes than this share of a score are rounding.
_ROUNDING = 1e-12


def column_effects(
    opened: OpenedModel, one: Any, among: Any, direction: Direction, *, random_state: Any = 0
) -> dict[str, float]:
    """By column, how much the score of a row is above its mean over the values that other rows have there.

    Parameters
    ----------
    opened : OpenedModel
    one : frame or array with one row
    among : frame or array
        Other rows.
    direction : Direction
        What the score speaks for.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    dict
        Empty where rows have no columns, or are sparse.
    """
    import pandas as pd

    if not opened.takes_columns or sparse.issparse(one) or sparse.issparse(among):
        return {}
    row, others = as_frame(one), as_frame(among)
    names = list(row.columns)
    if list(others.columns) != names:
        others = others[names] if set(names) <= set(others.columns) else others.set_axis(names, axis=1)
    count = min(_OTHERS, len(others))
    drawn = np.sort(check_random_state(random_state).permutation(len(others))[:count])
    others = others.iloc[drawn].reset_index(drop=True)
    base = pd.concat([row] * count, ignore_index=True)
    score = float(opened.scores(one, direction)[0])
    at_once = max(1, _BLOCK // count)
    effects: dict[str, float] = {}
    for begin in range(0, len(names), at_once):
        some = names[begin : begin + at_once]
        tried = pd.concat([_with_column(base, others, name) for name in some], ignore_index=True)
        scores = opened.scores(as_given(tried, among), direction).reshape(len(some), count)
        changes = score - scores.mean(axis=1)
        changes[np.abs(changes) < _ROUNDING * np.abs(scores).max(axis=1)] = 0.0
        effects |= {str(name): float(change) for name, change in zip(some, changes, strict=True)}
    return effects


def _with_column(base: Any, others: Any, name: Any) -> Any:
    changed = base.copy(deep=False)
    changed[name] = others[name]
    return changed


def as_frame(X: Any) -> Any:
    """Rows as a pandas frame, whose columns can be changed one by one."""
    import pandas as pd

    if hasattr(X, "iloc"):
        return X
    return X.to_pandas() if hasattr(X, "to_pandas") else pd.DataFrame(np.asarray(X))


def as_given(frame: Any, like: Any) -> Any:
    """A frame as the user gives rows: an array where those are one."""
    return frame if hasattr(like, "columns") else frame.to_numpy()
