"""Gaps and new words in rows, where a model takes them: what a file has to treat as the model does."""

from __future__ import annotations

from typing import Any

import numpy as np

from .computation import Computation

__all__ = ["with_gaps_and_new_words"]

#: Columns that are tried, and every how many rows of a column are changed.
_COLUMNS, _EVERY = 20, 9
_NEW_WORD = "a word that is new"


def with_gaps_and_new_words(X: Any, model: Any, computation: Computation) -> Any:
    """The rows, some of them with a gap or a new word in a column; where the model refuses such, as they were.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> model = make_pipeline(SimpleImputer(), SVC("rbf")).fit([[0.0], [1.0]], [0, 1])
    >>> with_gaps_and_new_words(np.array([[0.5], [0.7]]), model, computed(model)).tolist()
    [[nan], [0.7]]
    """
    for place, column in enumerate(computation.columns[:_COLUMNS]):
        strange = [(np.nan, 0), (_NEW_WORD, 4)] if column.words else [(np.nan, 0)]
        for value, begin in strange:
            changed = _changed(X, place, value, (begin + place) % _EVERY)
            if _takes(model, changed):
                X = changed
    return X


def _changed(X: Any, place: int, value: Any, begin: int) -> Any:
    """The rows, with a value in every so many of a column."""
    changed = X.copy()
    if hasattr(X, "iloc"):
        changed.iloc[begin::_EVERY, place] = value
    else:
        changed[begin::_EVERY, place] = value
    return changed


def _takes(model: Any, X: Any) -> bool:
    try:
        model.predict(X)
    except Exception:  # whatever its steps raise, it refuses such rows
        return False
    return True
