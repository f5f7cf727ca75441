"""dask arrays and frames as rows of numbers: what they say of themselves, and where their chunks come from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from .base import Rows
from .number_rows import NumberRows
from .on_workers import OnWorkers, numbers_of

__all__ = ["DaskParts", "InTurn", "dask_client", "is_dask", "rows_of_dask", "values_of_dask"]


def is_dask(X: Any) -> bool:
    """Whether X is an array, a frame or something else of dask's, which is computed when somebody asks for it."""
    return hasattr(type(X), "__dask_graph__")


def values_of_dask(y: Any) -> Any:
    """Targets or weights in memory, where dask was to compute them."""
    return y.compute() if is_dask(y) else y


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
