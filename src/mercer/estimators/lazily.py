"""Predictions of rows that dask has: arrays of dask's, computed where the rows are when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._runtime.parallel import at_most, one_blas_thread
from ..cuda import as_host
from ..rows import is_dask, rows_of, values_of_dask
from ..rows.dask_parts import DaskParts
from ..rows.on_workers import numbers_of

__all__ = ["at_once", "lazily"]


def lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of one answer a row. For an array or a frame of dask's it gives one of dask's, and computes nothing."""

    @wraps(method)
    def answered(self: Any, X: Any) -> Any:
        return _later(self, method.__name__, X) if is_dask(X) else method(self, X)

    return answered


def at_once(method: Callable[..., float]) -> Callable[..., float]:
    """A method that makes one number of rows and targets: for those of dask's, it has them answered now.

    Targets on a graphics card come from there.
    """

    @wraps(method)
    def scored(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        rows = rows_of(X) if is_dask(X) else X
        targets, weights = (as_host(values_of_dask(values)) for values in (y, sample_weight))
        return method(self, rows, targets, weights)

    return scored


def _later(machine: Any, method: str, X: Any) -> Any:
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
