"""What is known of one cell of a search: one setting of the parameters, trained on one fold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np

from .._runtime.compile import Array


@dataclass(frozen=True)
class Outcome:
    """The decision values of some rows, or why there are none."""

    rows: Array
    decision: Array
    seconds: float
    error: str | None = None

    def of(self, rows: Array) -> Array:
        """The decision values of these rows, in their order."""
        return self.decision[np.searchsorted(self.rows, rows)]


def setting_key(params: dict[str, Any]) -> str:
    """A text for a setting of parameters: equal for equal ones, and different for different ones."""
    return ", ".join(f"{name}={content_key(params[name])}" for name in sorted(params))


def content_key(value: Any) -> str:
    """A text for what a value holds, the same in every process; of functions only this process knows the same again."""
    if hasattr(value, "get_params") and not isinstance(value, type):
        return f"{type(value).__name__}({setting_key(value.get_params(deep=False))})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{content_key(k)}: {content_key(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(content_key, value)) + "]"
    if value is None or isinstance(value, (str, bool, int, float, np.generic)):
        return repr(value)
    if callable(value):
        return f"{getattr(value, '__qualname__', type(value).__name__)} at {id(value)}"
    return joblib.hash(value)


def fold_key(train: Array) -> str:
    """A text for the training rows of a fold."""
    return hashlib.sha256(np.ascontiguousarray(train, dtype=np.int64).tobytes()).hexdigest()[:24]
