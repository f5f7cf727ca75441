"""Items of any kind, as the user gives them: words, sets, graphs, rows of a frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._runtime.compile import Array


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: ``None``, NaN, ``pandas.NA`` or a missing date."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)) and bool(value != value)


def chosen(given: Any, index: Array) -> Any:
    """Some of the items that a user gave, in the kind of collection that they came in."""
    plain = isinstance(given, (list, tuple, np.ndarray)) or hasattr(given, "columns") or hasattr(given, "dtype")
    return _safe_indexing(given, index) if plain else given[index]
