"""Which of the things that users pass as X are rows that need not be in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Rows
from .dask_parts import is_dask, rows_of_dask
from .memory_mapped import Mapped

__all__ = ["refuse_elsewhere", "rows_of"]


def rows_of(X: Any) -> Rows | None:
    """The rows behind X where it is more than a collection in memory, else ``None``.

    Parameters
    ----------
    X : object
        :class:`Rows`, a ``numpy.memmap`` of rows of numbers, or an array or a frame of dask's.

    Returns
    -------
    Rows or None

    Examples
    --------
    >>> import numpy as np
    >>> rows_of(np.zeros((3, 2))) is None
    True
    """
    if isinstance(X, Rows):
        return X
    if isinstance(getattr(X, "X", None), Rows):
        name = type(X).__name__
        raise TypeError(
            f"X is a {name}, which holds features and targets; give its .X and its .y: fit(table.X, table.y)."
        )
    if is_dask(X):
        return rows_of_dask(X)
    if isinstance(X, np.memmap) and X.ndim == 2 and X.dtype.kind in "fiub":
        return Mapped(X)
    return None


def refuse_elsewhere(X: Any, name: str) -> None:
    """Refuse rows that are not in memory, for what divides them into folds again and again.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.rows import Held
    >>> refuse_elsewhere(Held(np.zeros((3, 2)), 2), "Calibrated")
    Traceback (most recent call last):
        ...
    ValueError: Calibrated divides rows into folds, which it needs in memory, and X is a Held; give it some of the \
rows as an array, such as 20000 of them, and fit what comes out to all.
    """
    if is_dask(X) or isinstance(X, Rows):
        kind = "dask collection" if is_dask(X) else type(X).__name__
        raise ValueError(
            f"{name} divides rows into folds, which it needs in memory, and X is a {kind}; give it some of the rows as "
            "an array, such as 20000 of them, and fit what comes out to all."
        )
