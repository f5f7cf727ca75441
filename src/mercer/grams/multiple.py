"""A multiple of a kernel matrix, wherever that lives."""

from __future__ import annotations

from typing import Any

from .._runtime.compile import Array
from .base import Gram


class Multiple(Gram):
    """The Gram of ``factor``·K.

    Parameters
    ----------
    gram : Gram
    factor : float

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Dense
    >>> Multiple(Dense(np.eye(2)), 3.0).matvec(np.array([1.0, 2.0]))
    array([3., 6.])
    """

    def __init__(self, gram: Gram, factor: float) -> None:
        self.gram, self.factor = gram, factor
        self.ready, self.expensive, self.workspace = gram.ready, gram.expensive, gram.workspace
        self.error = gram.error

    def __len__(self) -> int:
        return len(self.gram)

    def diag(self) -> Array:
        return self.factor * self.gram.diag()

    def matvec(self, z: Array) -> Array:
        return self.factor * self.gram.matvec(z)

    def rows(self, index: Any) -> Array:
        return self.factor * self.gram.rows(index)

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else Multiple(exact, self.factor)
