"""Parquet files on a cluster: each worker reads its own groups of rows, and keeps them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..rows import OnWorkers
from .arrow_columns import frame_of_arrow
from .chunked_parquet import ChunkedParquet
from .frame_numbers import numbers_of_frame
from .sources import said_by
from .table import DataError

__all__ = ["rows_on_workers"]

#: Rows that a chunk has at least, where a file has so many: smaller groups are read together.
_ROWS = 100_000


def rows_on_workers(
    client: Any,
    file: ChunkedParquet,
    columns: list[str],
    dtype: Any,
    prepare: Callable[[Any], Any] | None = None,
) -> OnWorkers:
    """Columns of Parquet files that all workers see under the same names, in the order of files and rows.

    Parameters
    ----------
    client : distributed.Client
    file : ChunkedParquet
    columns : list of str
    dtype : dtype
        float32 or float64.
    prepare : callable, optional
        Makes rows of numbers of a frame with these columns; it is sent to the workers.
    """
    from dask import delayed

    names: list[str] | None = columns
    n_columns = len(columns)
    make = partial(delayed(_numbers), np.dtype(dtype), file.shown)
    if prepare is not None:
        shown = prepare(_read(str(file.paths[0]), [0], columns)[:1])
        names, n_columns = list(map(str, shown.columns)) if hasattr(shown, "columns") else None, shown.shape[1]
        make = partial(delayed(_prepared), delayed(prepare, pure=False, traverse=False))

    chunks: list[Any] = []
    sizes: list[int] = []
    for path in file.paths:
        counts = file.group_sizes(path)
        groups: list[int] = []
        for number, _ in enumerate(counts):
            groups.append(number)
            rows = sum(counts[each] for each in groups)
            if rows >= _ROWS or number == len(counts) - 1:
                chunks.append(make(sum(sizes), str(path.resolve()), groups, columns))
                sizes.append(rows)
                groups = []
    return OnWorkers(client, names, n_columns, np.dtype(dtype), chunks, sizes)


def _prepared(prepare: Callable[[Any], Any], first: int, path: str, groups: list[int], columns: list[str]) -> Any:
    return prepare(_read(path, groups, columns))


def _numbers(dtype: Any, shown: str, first: int, path: str, groups: list[int], columns: list[str]) -> Any:
    return numbers_of_frame(_read(path, groups, columns), dtype, shown, first)


def _read(path: str, groups: list[int], columns: list[str]) -> Any:
    """Some groups of rows, on a worker."""
    import platform

    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            return frame_of_arrow(file.read_row_groups(groups, columns=columns, use_threads=False), columns)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"the worker on {platform.node()} cannot read {path!r} ({said_by(error)}); put the file where all machines "
            "of the cluster see it under this name."
        ) from None
