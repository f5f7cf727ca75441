"""Rows of numbers in files of any size, as machines with landmarks learn from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..rows import NumberRows
from .chunked import Chunked
from .frame_numbers import numbers_of_frame
from .table import DataError

__all__ = ["FileRows"]


class FileRows(NumberRows):
    """Columns of numbers of a file, read chunk by chunk in every pass.

    Parameters
    ----------
    file : Chunked
    columns : list of str
    dtype : dtype
        float32 or float64.
    n_rows : int
    """

    def __init__(self, file: Chunked, columns: list[str], dtype: Any, n_rows: int) -> None:
        self.file, self.names, self.n_columns = file, columns, len(columns)
        self.dtype, self.n_rows = np.dtype(dtype), n_rows

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"<{self.n_rows:,} rows of {self.n_columns} numbers in {self.file.shown}>"

    def chunks(self) -> Iterator[Any]:
        first = 0
        for frame in self.file.frames(self.names or []):
            yield numbers_of_frame(frame, self.dtype, self.file.shown, first)
            first += len(frame)
        if first != self.n_rows:
            self.file.refuse_changed()
            raise DataError(f"{self.file.shown} had {self.n_rows:,} rows, and now has {first:,}; begin once more.")
