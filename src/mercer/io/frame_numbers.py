"""Frames read from files as rows of numbers; a cell that holds none is named with its row."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import shown
from .table import DataError

__all__ = ["numbers_of_frame"]


def numbers_of_frame(frame: Any, dtype: Any, file: str, first: int) -> Array:
    """A frame as an array of finite numbers.

    Parameters
    ----------
    frame : DataFrame
    dtype : dtype
    file : str
        What messages call the file.
    first : int
        How many rows of the file stand above the frame; messages count rows from 1.

    Returns
    -------
    array

    Examples
    --------
    >>> import pandas as pd
    >>> numbers_of_frame(pd.DataFrame({"a": [1.0, None]}), float, "'t.csv'", 10)
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: 't.csv', row 12: the value of 'a' is missing; fill it or leave the row out first, or \
leave the column out (drop=['a']).
    """
    if not len(frame):
        return np.empty(frame.shape, dtype)
    frame = frame.assign(**{
        name: _without_words(name, column, file, first)
        for name, column in frame.items() if column.dtype.kind not in "fiub"
    })  # fmt: skip
    values: Array = frame.to_numpy(dtype=dtype)
    if not np.isfinite(values.sum(dtype=np.float64)):
        places = np.argwhere(~np.isfinite(values))
        if places.size:
            row, column = places[0]
            name = str(frame.columns[column])
            what = "is missing" if np.isnan(values[row, column]) else "is infinite"
            raise DataError(
                f"{file}, row {first + row + 1}: the value of {name!r} {what}; fill it or leave the row out first, or "
                f"leave the column out (drop={[name]!r})."
            )
    return values


def _without_words(name: str, column: Any, file: str, first: int) -> Any:
    """Numbers that came as something else; the first cell that is none is named."""
    import pandas as pd

    numbers = pd.to_numeric(column, errors="coerce")
    strange = np.flatnonzero(numbers.isna())
    if not strange.size:
        return numbers.astype(np.float64)
    row = int(strange[0])
    cell = column.iloc[row]
    kind = "is missing" if pd.isna(cell) else f"is {shown(str(cell))}, not a number"
    raise DataError(
        f"{file}, row {first + row + 1}: the value of {name!r} {kind}; correct it, or leave the column out "
        f"(drop={[name]!r})."
    )
