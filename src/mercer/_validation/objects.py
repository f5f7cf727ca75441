"""Items of any kind, as the user gives them: words, sets, graphs, rows of a frame."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._runtime.compile import Array


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: ``None``, NaN, ``pandas.NA`` or a missing date.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    pandas = sys.modules.get("pandas")  # a value of pandas' own exists only where pandas was imported
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def holds_no_rows_yet(X: Any) -> bool:
    """Whether this is a plan of work whose rows come with ``collect``, as the lazy frames of polars are."""
    return hasattr(X, "collect")


def chosen(given: Any, index: Array) -> Any:
    """Some of the items that a user gave, in the kind of collection that they came in."""
    plain = isinstance(given, (list, tuple, np.ndarray)) or hasattr(given, "columns") or hasattr(given, "dtype")
    return _safe_indexing(given, index) if plain else given[index]
