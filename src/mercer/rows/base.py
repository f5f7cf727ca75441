"""What may be asked of items that need not be in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..checks.tables import refuse_extreme
from ..kernels.engine.tiles import length
from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt

__all__ = ["Held", "Mapped", "NumberRows", "Rows", "Work", "checked", "sample_of"]

#: What is done with a chunk of items and the parts of vectors that belong to it. It is a function of a module, with
#: what it needs besides bound by keywords of ``functools.partial``, so that it can be sent to where the items are; what
#: is bound by its place is refused.
Work = Callable[..., Any]


class Rows:
    """A sequence of items in chunks. Passes over them are made in the order of the items.

    Rows of numbers are checked as they are read: a pass ends with an error that names the first row that holds
    something else than finite numbers.
    """

    #: What the numbers of rows are kept in, float32 or float64; ``None`` for other items.
    dtype: Any = None
    #: How many numbers a row has, and the names of these columns where they have some.
    n_columns: int | None = None
    names: list[str] | None = None
    #: Whether work is done where the items are, and they had better stay there.
    apart: bool = False

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return (len(self),) if self.n_columns is None else (len(self), self.n_columns)

    def __getitem__(self, index: Any) -> Any:
        """The items with these numbers, in memory; a single number gives the item itself."""
        numbers = np.arange(len(self))[index]
        return self.taken(numbers.reshape(1))[0] if numbers.ndim == 0 else self.taken(numbers)

    def taken(self, index: Array) -> Any:
        """The items with these numbers, from 0, in memory and in this order."""
        raise NotImplementedError

    def each(self, work: Work, *vectors: Array) -> Iterator[tuple[slice, Any]]:
        """Do ``work(items, *parts)`` on each chunk, with the parts of the vectors (one number an item) that belong to
        it; yields the place of the chunk among all items and what the work returned, in order.
        """
        raise NotImplementedError

    def total(self, work: Work, *vectors: Array) -> Any:
        """The sum of what ``work`` returns for the chunks, added up in their order."""
        return sum(part for _, part in self.each(work, *vectors))


def sample_of(n: int, size: int, seed: int = 0) -> Array:
    """The numbers of so many of n items, drawn at random, in their order."""
    return np.sort(np.random.default_rng(seed).choice(n, size, replace=False))


# Rows of numbers that are read chunk by chunk, and checked as they are read.


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
            check_interrupt()
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


# Rows of numbers in a file that is mapped into memory.


#: Bytes of a chunk.
_CHUNK = 32_000_000


class Mapped(NumberRows):
    """A ``numpy.memmap``, of which no more than a chunk is ever copied.

    Parameters
    ----------
    numbers : numpy.memmap of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from mercer.rows import Mapped
    >>> with tempfile.TemporaryFile() as file:
    ...     rows = Mapped(np.memmap(file, dtype=np.float32, shape=(5, 2)))
    ...     rows.shape, rows[[4, 0]].tolist(), rows.dtype
    ((5, 2), [[0.0, 0.0], [0.0, 0.0]], dtype('float32'))
    """

    def __init__(self, numbers: np.memmap) -> None:
        self.numbers = numbers
        self.dtype = np.dtype(np.float32 if numbers.dtype == np.float32 else np.float64)
        self.n_columns = numbers.shape[1]

    @property
    def nbytes(self) -> int:
        """What all rows would take in memory."""
        return self.numbers.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.numbers.shape[0]

    def taken(self, index: Array) -> Any:
        return checked(np.asarray(self.numbers[index]), self.dtype, index)

    def chunks(self) -> Iterator[Any]:
        size = max(1, _CHUNK // max(1, self.dtype.itemsize * self.numbers.shape[1]))
        for begin in range(0, len(self), size):
            yield np.asarray(self.numbers[begin : begin + size])


# Items in memory, or mapped into it, as rows that are passed over chunk by chunk.


class Held(Rows):
    """Items that are at hand.

    Parameters
    ----------
    items : collection
        Checked items, in the form that the kernel works on.
    at_once : int
        Items of a chunk.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.rows import Held
    >>> rows = Held(np.arange(10.0).reshape(5, 2), at_once=3)
    >>> [(place.start, total) for place, total in rows.each(np.sum)]
    [(0, np.float64(15.0)), (3, np.float64(30.0))]
    """

    def __init__(self, items: Any, at_once: int) -> None:
        self.items, self.at_once = items, at_once
        self.dtype = getattr(items, "dtype", None)
        if getattr(items, "ndim", 0) == 2:
            self.n_columns = items.shape[1]

    def __len__(self) -> int:
        return length(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def each(self, work: Work, *vectors: Array) -> Iterator[tuple[slice, Any]]:
        for begin in range(0, len(self), self.at_once):
            check_interrupt()
            place = slice(begin, min(begin + self.at_once, len(self)))
            yield place, work(self.items[place], *(vector[place] for vector in vectors))
