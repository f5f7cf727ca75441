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

#: Rows of a sample that is kept for when it is asked for again.
_SAMPLE = 20_000
_REMEDY = "both must say the same in every pass."


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

    #: The sample that was asked for last, with the numbers of its rows: it is asked for more than once.
    _last: tuple[Array, Any] | None = None

    def chunks(self) -> Iterator[Any]:
        """All rows in their order, as arrays or CSR matrices."""
        raise NotImplementedError

    def placed(self) -> Iterator[tuple[slice, Any]]:
        """The chunks, checked, each with its place among all rows."""
        first, expected = 0, len(self)
        for chunk in self.chunks():
            heed()
            if chunk.shape[0]:
                place = slice(first, first + chunk.shape[0])
                self._refuse_other_shape(chunk, place.stop)
                yield place, checked(chunk, self.dtype, range(place.start, place.stop), self.names)
                first = place.stop
        if first != expected:
            raise ValueError(f"{type(self).__name__}: chunks held {first:,} rows, and len() is {expected:,}; {_REMEDY}")

    def _refuse_other_shape(self, chunk: Any, end: int) -> None:
        name = type(self).__name__
        if chunk.ndim != 2 or (self.n_columns is not None and chunk.shape[1] != self.n_columns):
            raise ValueError(
                f"{name}: a chunk has the shape {chunk.shape}, and n_columns is {self.n_columns}; {_REMEDY}"
            )
        if end > len(self):
            raise ValueError(f"{name}: chunks hold at least {end:,} rows, and len() is {len(self):,}; {_REMEDY}")

    def taken(self, index: Array) -> Any:
        """By one pass."""
        if self._last is not None and np.array_equal(index, self._last[0]):
            return self._last[1]
        rows = self._taken(index)
        self._last = (index, rows) if index.size <= min(_SAMPLE, len(self) - 1) else None
        return rows

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
