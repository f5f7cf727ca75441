"""Rows of numbers in files of any size, as machines with landmarks learn from them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import shown
from ..rows import NumberRows
from .chunked import Chunked
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
            yield self._numbers(frame, first)
            first += len(frame)
        if first != self.n_rows:
            self.file.refuse_changed()
            raise DataError(f"{self.file.shown} had {self.n_rows:,} rows, and now has {first:,}; begin once more.")

    def _numbers(self, frame: Any, first: int) -> Array:
        """A frame as an array; a cell that holds no number is named, rows counted from 1."""
        for name, column in frame.items():
            if column.dtype.kind not in "fiub":
                self._refuse_words(name, column, first)
        values = frame.to_numpy(dtype=self.dtype)
        if not np.isfinite(values.sum(dtype=np.float64)):
            places = np.argwhere(~np.isfinite(values))
            if places.size:
                row, column = places[0]
                what = "is missing" if np.isnan(values[row, column]) else "is infinite"
                raise DataError(
                    f"{self.file.shown}, row {first + row + 1}: the value of {frame.columns[column]!r} {what}; fill it "
                    f"or leave the row out first, or leave the column out (drop={[str(frame.columns[column])]!r})."
                )
        return values

    def _refuse_words(self, name: str, column: Any, first: int) -> None:
        """Name the first cell that is no number."""
        import pandas as pd

        row = int(np.argmax(pd.to_numeric(column, errors="coerce").isna()))
        cell = column.iloc[row]
        kind = "is missing" if pd.isna(cell) else f"is {shown(str(cell))}, not a number"
        raise DataError(
            f"{self.file.shown}, row {first + row + 1}: the value of {name!r} {kind}; correct it, or leave the column "
            f"out (drop={[name]!r})."
        )
