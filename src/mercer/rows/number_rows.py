"""Rows of numbers that are read chunk by chunk, and checked as they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._runtime.interrupts import heed
from .._validation.tables import refuse_extreme
from .base import Rows, Work

__all__ = ["NumberRows", "checked"]


def checked(chunk: Any, dtype: Any, numbers: Any = None, names: list[str] | None = None) -> Any:
    """A chunk in the form that kernels work on; ``numbers`` are those of its rows among all.

    Examples
    --------
    >>> import numpy as np
    >>> checked(np.array([[1, 2]]), np.float32)
    array([[1., 2.]], dtype=float32)
    >>> checked(np.array([[1.0, np.nan]]), np.float64, numbers=[700])
    Traceback (most recent call last):
        ...
    ValueError: Input X contains NaN in row 700, column 1; remove the row or impute the value first, for example with \
sklearn.impute.SimpleImputer.
    """
    rows = chunk.astype(dtype) if sparse.issparse(chunk) else np.ascontiguousarray(chunk, dtype=dtype)
    refuse_extreme(rows, columns=names, tiny=False, numbers=numbers)
    return rows


class NumberRows(Rows):
    """Rows of numbers. A subclass says how they are read (:meth:`chunks`), in chunks small enough for memory."""

    #: The rows that were asked for last, with their numbers: a sample is asked for more than once.
    _last: tuple[Array, Any] | None = None

    def chunks(self) -> Iterator[Any]:
        """All rows in their order, as arrays or CSR matrices."""
        raise NotImplementedError

    def placed(self) -> Iterator[tuple[slice, Any]]:
        """The chunks, checked, each with its place among all rows."""
        first = 0
        for chunk in self.chunks():
            heed()
            if chunk.shape[0]:
                place = slice(first, first + chunk.shape[0])
                yield place, checked(chunk, self.dtype, range(place.start, place.stop), self.names)
                first = place.stop

    def __getitem__(self, index: Array) -> Any:
        """By one pass; the rows come in the order of the index."""
        index = np.arange(len(self))[index]
        if self._last is None or not np.array_equal(index, self._last[0]):
            self._last = index, self._taken(index)
        return self._last[1]

    def _taken(self, index: Array) -> Any:
        order = np.argsort(index, kind="stable")
        ordered, found = index[order], []
        for place, chunk in self.placed():
            here = ordered[np.searchsorted(ordered, place.start) : np.searchsorted(ordered, place.stop)]
            if here.size:
                found.append(chunk[here - place.start])
        if not found:
            return np.empty((0, self.n_columns or 0), self.dtype)
        back = np.empty_like(order)
        back[order] = np.arange(order.size)
        return (sparse.vstack(found, format="csr") if sparse.issparse(found[0]) else np.concatenate(found))[back]

    def each(self, work: Work, *vectors: Array) -> Iterator[tuple[slice, Any]]:
        for place, chunk in self.placed():
            yield place, work(chunk, *(vector[place] for vector in vectors))
