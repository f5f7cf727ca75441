"""A kernel matrix in which items appear more than once: what is computed of an item is computed once."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.cholesky import Solve
from .._runtime.combine import gather
from .._runtime.compile import Array
from .base import Gram


class Repeated(Gram):
    """The Gram of items of another one, of which some come several times.

    Parameters
    ----------
    gram : Gram
    index : array
        The item of ``gram`` that stands in each place.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Lazy
    >>> from mercer.kernels import Linear
    >>> twice = Lazy(Linear(), np.array([[1.0], [2.0]])).take([0, 1, 0, 1])
    >>> type(twice).__name__, twice.matvec(np.array([1.0, 0.0, 0.0, 1.0]))
    ('Repeated', array([3., 6., 3., 6.]))
    """

    def __init__(self, gram: Gram, index: Any) -> None:
        self.gram, self.index = gram, np.asarray(index, dtype=np.int64)
        self.ready, self.expensive, self.factorises = gram.ready, gram.expensive, gram.factorises
        self.error = gram.error

    def __len__(self) -> int:
        return self.index.size

    def diag(self) -> Array:
        return self.gram.diag()[self.index]

    def lengths(self) -> Array:
        return self.gram.lengths()[self.index]

    def _merged(self, places: Array, z: Array) -> tuple[Array, Array]:
        """The items in these places, each once, and what is multiplied with them altogether."""
        items, where = np.unique(self.index[places], return_inverse=True)
        sums = np.zeros((items.size, *z.shape[1:]))
        np.add.at(sums, where, z)
        return items, sums

    def matvec(self, z: Array) -> Array:
        items, sums = self._merged(np.arange(self.index.size), np.asarray(z, dtype=np.float64))
        full = np.zeros((len(self.gram), *sums.shape[1:]))
        full[items] = sums
        return self.gram.matvec(full)[self.index]

    def inverse(self, index: Array, ridge: Array) -> Solve | None:
        items = self.index[index]
        return self.gram.inverse(items, ridge) if np.unique(items).size == items.size else None

    def rows(self, index: Any) -> Array:
        return self.gram.rows(self.index[index])[:, self.index]

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        some, there = np.unique(self.index[rows], return_inverse=True)
        others, here = (some, there) if rows is columns else np.unique(self.index[columns], return_inverse=True)
        small = np.empty((some.size, others.size), np.float32)
        self.gram.block(some, others, small)
        gather(small, there, here, out)

    def scores(self, rows: Array, columns: Array, z: Array) -> Array:
        some, there = np.unique(self.index[rows], return_inverse=True)
        return self.gram.scores(some, *self._merged(columns, z))[there]

    def fill(self, rows: Array, out: Array) -> None:
        once = np.empty((rows.size, len(self.gram)), np.float32)
        self.gram.fill(self.index[rows], once)
        gather(once, np.arange(rows.size), self.index, out)

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else Repeated(exact, self.index)

    def take(self, index: Any) -> Gram:
        return self.gram.take(self.index[np.asarray(index)])

    def scaled(self, factor: float) -> Repeated:
        return Repeated(self.gram.scaled(factor), self.index)
