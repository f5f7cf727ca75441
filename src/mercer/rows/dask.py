"""Rows of numbers on the workers of a dask cluster: they stay there, and work is sent to them.

Each chunk is a future: dask keeps the recipe by which it was made, and makes it again where the worker that held it is
lost. So is what work needs besides: the landmarks of a fit are sent once for all, the coefficients of a pass once for
the pass, a vector of all rows once for as long as it stays the same. Back come the results, in the order of the chunks;
sums are added up on the workers, a few at a time in a fixed order. What is computed depends on how the rows are cut
into chunks, and not on who computes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.threads import at_most, one_blas_thread
from .base import NumberRows, Rows, Work, checked

__all__ = [
    "DaskParts",
    "InTurn",
    "OnWorkers",
    "dask_client",
    "later",
    "numbers_of",
    "rows_of_dask",
]

#: Chunks of which results come back together, for each thread of the cluster.
_LOT = 4
#: Sums that one task adds up.
_ADDED = 8
#: Bytes from which on something that work needs is sent once for all chunks.
_LARGE = 1000
#: Things that were sent and are remembered: those of a fit, and the last of a pass.
_REMEMBERED = 4


class OnWorkers(Rows):
    """Rows whose chunks are futures of a cluster.

    Parameters
    ----------
    client : distributed.Client
    names : list of str or None
        The names of the columns.
    n_columns : int
    dtype : numpy.dtype
    chunks : list of dask.delayed.Delayed
        What makes each chunk, an array or a frame.
    sizes : list of int or None
        How many rows each has; counted on the workers where nobody knows.

    Attributes
    ----------
    passes : int
        How often work was done on all chunks, or on all pairs of them.
    sent, received : int
        Bytes of vectors and constants that have left this process, and of results that have come back, so far.
    """

    apart = True

    def __init__(
        self, client: Any, names: list[str] | None, n_columns: int, dtype: Any, chunks: list[Any], sizes: Any
    ) -> None:
        self.client, self.names, self.n_columns, self.dtype = client, names, n_columns, dtype
        self.sent = self.received = self.passes = 0
        #: What was sent, with the future of it; and the last vectors of all rows, with those of their parts.
        self._constants: dict[int, tuple[Any, Any]] = {}
        self._vectors: tuple[list[Array], list[list[Any]]] = [], []
        read = client.compute(chunks)
        sizes = client.gather(client.map(len, read)) if sizes is None else sizes
        ends = np.cumsum([0, *sizes]).tolist()
        #: Where the rows of each chunk are among all.
        self.places = [slice(begin, end) for begin, end in pairwise(ends) if end > begin]
        filled = (chunk for chunk, size in zip(read, sizes, strict=True) if size)
        self._chunks = [
            client.submit(_checked, chunk, dtype, place.start, names, pure=False)
            for chunk, place in zip(filled, self.places, strict=True)
        ]
        self._size = ends[-1]

    def __len__(self) -> int:
        return self._size

    def taken(self, index: Array) -> Any:
        order = np.argsort(index, kind="stable")
        ordered, out = index[order], np.empty((index.size, *self.shape[1:]), self.dtype)
        begins = np.searchsorted(ordered, [place.start for place in self.places])
        cuts = [*begins.tolist(), index.size]
        asked = [(number, slice(begin, end)) for number, (begin, end) in enumerate(pairwise(cuts)) if end > begin]
        tasks = (self._task(_taken, number, [ordered[here] - self.places[number].start], {}) for number, here in asked)
        for (_, here), rows in zip(asked, self._in_order(tasks), strict=True):
            out[order[here]] = rows
        return out

    def each(self, work: Work, *vectors: Array) -> Iterator[tuple[slice, Any]]:
        return zip(self.places, self._in_order(self._tasks(work, vectors)), strict=True)

    def total(self, work: Work, *vectors: Array) -> Any:
        """The sum, added up on the workers: one result travels, however many chunks there are."""
        parts = list(self._tasks(work, vectors))
        while len(parts) > 1:
            some = [parts[begin : begin + _ADDED] for begin in range(0, len(parts), _ADDED)]
            parts = [self.client.submit(_added, each, pure=False) for each in some]
        return next(self._in_order(parts))

    def paired(self, work: Work, vector: Array) -> Iterator[tuple[slice, Any]]:
        """Do ``work(left, right, left part, right part)`` on each pair of chunks, once for both orders.

        It returns what a pair adds to the result of its left chunk, and to that of its right one; yields the place of
        each chunk and its sum, added up on the workers in the order of the chunks.
        """
        function, constants = self._with_constants(work)
        parts = [own[0] for own in self._cut((vector,))]
        numbers = range(len(self.places))
        pairs = {
            (left, right): self.client.submit(
                _done, function, self._chunks[left], [self._chunks[right], parts[left], parts[right]], constants,
                pure=False,
            )
            for left in numbers for right in numbers[left:]
        }  # fmt: skip
        sums = [
            self.client.submit(
                _added_sides, [(pairs[min(one, other), max(one, other)], int(other < one)) for other in numbers],
                pure=False,
            )
            for one in numbers
        ]  # fmt: skip
        return zip(self.places, self._in_order(sums), strict=True)

    # -- tasks ----------------------------------------------------------------------------------------------------

    def _tasks(self, work: Work, vectors: tuple[Array, ...]) -> Iterator[Any]:
        """Futures of the work on all chunks, in their order."""
        function, constants = self._with_constants(work)
        parts = self._cut(vectors) if vectors else [[]] * len(self.places)
        for number, own in enumerate(parts):
            yield self._task(function, number, own, constants)

    def _with_constants(self, work: Work) -> tuple[Work, dict[str, Any]]:
        """The function of a pass itself, and what is bound to it, as it is sent."""
        self.passes += 1
        if isinstance(work, partial) and work.args:
            name = getattr(work.func, "__name__", "work")
            raise TypeError(
                f"{name} has arguments bound by their places, which are those of a chunk and its vectors; bind them "
                "by keywords, as in partial(work, landmarks=landmarks)."
            )
        function, bound = (work.func, work.keywords) if isinstance(work, partial) else (work, {})
        return function, {name: self._once(value) for name, value in bound.items()}

    def _task(self, function: Work, number: int, parts: list[Any], constants: dict[str, Any]) -> Any:
        return self.client.submit(_done, function, self._chunks[number], parts, constants, pure=False)

    def _in_order(self, tasks: Iterable[Any]) -> Iterator[Any]:
        """The results of tasks, of which two lots are under way at a time."""
        tasks, lot = iter(tasks), _LOT * max(1, sum(self.client.nthreads().values()))
        now = list(islice(tasks, lot))
        while now:
            check_interrupt()
            coming = list(islice(tasks, lot))
            for result in self._gathered(now):
                self.received += _bytes(result)
                yield result
            now = coming

    def _gathered(self, tasks: list[Any]) -> list[Any]:
        """Results; where chunks hold something else than numbers, it is the first of them that is complained about."""
        try:
            return list(self.client.gather(tasks))
        except ValueError:
            for chunk in self._chunks:
                wrong = chunk.exception()
                if isinstance(wrong, ValueError):
                    raise wrong from None
            raise

    # -- what is sent ---------------------------------------------------------------------------------------------

    def _once(self, value: Any) -> Any:
        """Something that work on every chunk needs: where it is large it is sent once, and no more while remembered."""
        if _bytes(value) < _LARGE:
            return value
        # It is known by its place in memory, which is its own as long as it is kept here.
        found = self._constants.pop(id(value), None) or (value, self._send(value))
        self._constants[id(value)] = found
        if len(self._constants) > _REMEMBERED:
            del self._constants[next(iter(self._constants))]  # what has not been asked for longest
        return found[1]

    def _cut(self, vectors: tuple[Array, ...]) -> list[list[Any]]:
        """The parts of vectors of all rows for each chunk; what says the same as the last time is not sent again."""
        before, parts = self._vectors
        if len(before) != len(vectors) or not all(map(np.array_equal, before, vectors)):
            parts = [[self._send(vector[place]) for vector in vectors] for place in self.places]
            self._vectors = [vector.copy() for vector in vectors], parts
        return parts

    def _send(self, value: Any) -> Any:
        """A future whose recipe holds the value, so that it outlives the worker that is sent it first."""
        self.sent += _bytes(value)
        return self.client.submit(_itself, value, pure=False)


def _bytes(value: Any) -> int:
    """What a value takes on its way, as far as it is arrays."""
    if isinstance(value, (list, tuple)):
        return sum(map(_bytes, value))
    if sparse.issparse(value):
        return sum(part.nbytes for part in (value.data, value.indices, value.indptr))
    if isinstance(value, (np.ndarray, np.generic)):
        return value.nbytes
    if isinstance(value, dict):
        return sum(map(_bytes, value.values()))
    return 0 if value is None or isinstance(value, type) else _bytes(value.__getstate__())


# -- what is done on a worker -----------------------------------------------------------------------------------------


def _itself(value: Any) -> Any:
    return value


def numbers_of(chunk: Any, dtype: Any) -> Any:
    """A chunk of a dask array or frame as an array; gaps in its columns become NaN."""
    return chunk.to_numpy(dtype=dtype, na_value=np.nan) if hasattr(chunk, "to_numpy") else chunk


def _checked(chunk: Any, dtype: Any, first: int, names: list[str] | None) -> Any:
    numbers = numbers_of(chunk, dtype)
    return checked(numbers, dtype, range(first, first + numbers.shape[0]), names)


def _taken(rows: Any, index: Array) -> Any:
    return rows[index]


def _done(work: Work, chunk: Any, parts: list[Any], constants: dict[str, Any]) -> Any:
    """A worker does as many things at once as it has threads: each of them needs one."""
    with at_most(1), one_blas_thread():
        return work(chunk, *parts, **constants)


def _added(parts: list[Any]) -> Any:
    return sum(parts[1:], start=parts[0])


def _added_sides(pairs: list[tuple[Any, int]]) -> Any:
    """The sum of what each pair of chunks adds to one of its sides."""
    return _added([both[side] for both, side in pairs])


# dask arrays and frames as rows of numbers: what they say of themselves, and where their chunks come from.


class DaskParts(NamedTuple):
    """A dask array or frame of numbers, cut into chunks of rows."""

    #: The names of the columns, where they have some.
    names: list[str] | None
    n_columns: int
    dtype: Any
    #: What each chunk is made by (``dask.delayed``), as an array or a frame.
    chunks: list[Any]
    #: How many rows each has, where that is known.
    sizes: list[int] | None

    @classmethod
    def of(cls, X: Any) -> DaskParts:
        """What is known of X without computing any of it."""
        if hasattr(type(X), "to_dask_array") and X.ndim == 2:
            return cls._of_frame(X)
        if not hasattr(type(X), "ndim"):
            raise TypeError(
                f"X is a {type(X).__module__}.{type(X).__name__}, which holds no rows of numbers; give a dask.array or "
                "a dask.dataframe."
            )
        if X.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {X.ndim}D array instead: X is a {type(X).__name__} of dask's; rows of "
                "numbers have two dimensions (X.reshape(-1, 1) for one column, X.to_frame() for a series)."
            )
        if X.dtype.kind not in "fiub":
            raise ValueError(f"X is a dask array of type {X.dtype}; turn it into numbers first (X.astype(float)).")
        if np.isnan(X.shape[1]):
            raise ValueError(
                "X is a dask array with an unknown number of columns; tell dask how many there are with "
                "X.compute_chunk_sizes()."
            )
        X = X.rechunk({1: -1})
        sizes = None if np.isnan(X.chunks[0]).any() else [int(size) for size in X.chunks[0]]
        return cls(None, int(X.shape[1]), _precision([X.dtype]), X.to_delayed().ravel().tolist(), sizes)

    @classmethod
    def _of_frame(cls, X: Any) -> DaskParts:
        from pandas.api.types import is_bool_dtype, is_numeric_dtype

        for column, dtype in zip(X.columns, X.dtypes, strict=True):
            if not (is_numeric_dtype(dtype) or is_bool_dtype(dtype)) or getattr(dtype, "kind", "") == "c":
                raise ValueError(
                    f"column {column!r} of X is of type {dtype}; encode it as numbers first, for example with "
                    "dask.dataframe.get_dummies, or leave it out."
                )
        names = list(X.columns) if all(isinstance(name, str) for name in X.columns) else None
        return cls(names, len(X.columns), _precision(X.dtypes), X.to_delayed(), None)


def _precision(dtypes: Any) -> Any:
    return np.dtype(np.float32 if all(dtype == np.float32 for dtype in dtypes) else np.float64)


def rows_of_dask(X: Any) -> Rows:
    """The rows of a dask array or frame: on the workers of a cluster, where dask has one, else made in turn."""
    parts, client = DaskParts.of(X), dask_client()
    return InTurn(parts) if client is None else OnWorkers(client, *parts)


def dask_client() -> Any | None:
    """The client of the dask cluster that is at work here; ``None`` where there is none."""
    if "distributed" not in sys.modules:
        return None
    from dask.base import get_scheduler

    try:
        client = getattr(get_scheduler(), "__self__", None)
    except RuntimeError:  # one that is closed
        return None
    return client if hasattr(client, "submit") else None


class InTurn(NumberRows):
    """Rows of dask's without a cluster: their chunks are made in this process, one after the other, in every pass.

    Parameters
    ----------
    parts : DaskParts
    """

    def __init__(self, parts: DaskParts) -> None:
        import dask

        self.names, self.n_columns, self.dtype, self._chunks, sizes = parts
        sizes = list(dask.compute(*map(dask.delayed(len), self._chunks))) if sizes is None else sizes
        self._size = int(sum(sizes))

    def __len__(self) -> int:
        return self._size

    def chunks(self) -> Iterator[Any]:
        for chunk in self._chunks:
            yield numbers_of(chunk.compute(), self.dtype)


# Predictions of rows that dask has: arrays of dask's, computed where the rows are when somebody asks for them.


def later(machine: Any, method: str, X: Any) -> Any:
    """The answers of a method for rows of dask's, an array of dask's."""
    import dask.array
    from dask import delayed

    check_is_fitted(machine)
    parts = DaskParts.of(X)
    # One row shows whether the columns are those of training, and what an answer looks like.
    shown = getattr(machine, method)(_named(np.zeros((1, parts.n_columns)), parts.names))
    names = getattr(machine, "feature_names_in_", None)
    model = delayed(machine, pure=False, traverse=False)
    sizes = [np.nan] * len(parts.chunks) if parts.sizes is None else parts.sizes
    return dask.array.concatenate(
        [
            dask.array.from_delayed(
                delayed(_answer, pure=True)(model, method, chunk, parts.dtype, names),
                (size, *shown.shape[1:]),
                dtype=shown.dtype,
            )
            for chunk, size in zip(parts.chunks, sizes, strict=True)
        ]
    )


def _answer(machine: Any, method: str, chunk: Any, dtype: Any, names: Any) -> Any:
    """The answers for a chunk. A worker does as many things at once as it has threads: each of them needs one."""
    with at_most(1), one_blas_thread():
        return getattr(machine, method)(_named(numbers_of(chunk, dtype), names))


def _named(rows: Any, names: Any) -> Any:
    """Rows under the names that a machine was trained with."""
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)
