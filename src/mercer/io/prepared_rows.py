"""Rows of any table in files, each chunk prepared as a sample of the rows was."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..rows import NumberRows
from .chunked import Chunked

__all__ = ["PreparedRows"]


class PreparedRows(NumberRows):
    """Columns of words, dates and numbers with gaps, made into numbers chunk by chunk.

    Parameters
    ----------
    file : Chunked
    columns : list of str
    n_rows : int
    prepare : callable
        Makes rows of numbers of a frame with these columns.
    told : callable
        Is told the number of the pass, from 1, and how far it is.
    """

    dtype = np.dtype(np.float64)

    def __init__(
        self,
        file: Chunked,
        columns: list[str],
        n_rows: int,
        prepare: Callable[[Any], Any],
        told: Callable[[int, float], None] = lambda number, share: None,
    ) -> None:
        self.file, self.columns, self.n_rows, self.prepare, self.told = file, columns, n_rows, prepare, told
        #: How often the file was read so far.
        self.passes = 0
        rows = prepare(file.taken(columns, np.arange(min(n_rows, 1))))
        self.n_columns = rows.shape[1]
        self.names = [str(name) for name in rows.columns] if hasattr(rows, "columns") else None

    def __len__(self) -> int:
        return self.n_rows

    def chunks(self) -> Iterator[Any]:
        self.passes += 1
        done = 0
        for frame in self.file.frames(self.columns):
            rows = self.prepare(frame)
            yield rows.to_numpy() if hasattr(rows, "to_numpy") else rows
            done += len(frame)
            self.told(self.passes, done / self.n_rows)
