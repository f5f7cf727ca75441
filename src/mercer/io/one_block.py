"""Columns put together into a frame whose numbers lie in one block, without holding all of them twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame_in_one_block"]


def frame_in_one_block(columns: dict[str, Any], texts: set[str], n_rows: int) -> pd.DataFrame:
    """The frame of these columns, which are taken out of the dict one by one.

    Parameters
    ----------
    columns : dict
        Arrays of float64 or datetime64, or Categoricals; empty afterwards.
    texts : set of str
        Columns of texts, which stay Python's own.
    n_rows : int

    Returns
    -------
    DataFrame

    Examples
    --------
    >>> frame_in_one_block({"a": np.array([1.0, 2.0]), "b": np.array(["x", None], object)}, {"b"}, 2)
         a     b
    0  1.0     x
    1  2.0  None
    """
    import pandas as pd

    order = list(columns)
    numbers = [name for name, column in columns.items() if getattr(column, "dtype", None) == np.float64]
    block = np.empty((len(numbers), n_rows))  # takes memory as it is filled, while the columns give theirs back
    for row, name in enumerate(numbers):
        block[row] = columns.pop(name)
    rows = pd.RangeIndex(n_rows)
    others = {name: pd.Series(columns[name], dtype=object) if name in texts else columns[name] for name in columns}
    columns.clear()
    frame = pd.DataFrame(block.T, index=rows, columns=pd.Index(numbers, dtype=object), copy=False)
    if others:
        frame = pd.concat([frame, pd.DataFrame(others, index=rows)], axis=1)[order]
    frame.columns = pd.Index(order)
    return frame
