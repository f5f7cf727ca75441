"""What is known of one cell of a search: one setting of the parameters, trained on one fold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

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


def fold_key(train: Array) -> str:
    """A text for the training rows of a fold."""
    return hashlib.sha256(np.ascontiguousarray(train, dtype=np.int64).tobytes()).hexdigest()[:24]
