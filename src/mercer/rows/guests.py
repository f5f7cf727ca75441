"""What users give that is no collection in memory: tensors of PyTorch, and collections of dask.

They are met where a fit or a prediction begins, and nowhere else. Neither library is imported to recognise what is its.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from .base import Mapped, Rows

__all__ = [
    "as_host",
    "at_once",
    "in_memory",
    "is_dask",
    "lazily",
    "on_card",
    "on_cluster",
    "refuse_elsewhere",
    "rows_of",
]


def is_dask(X: Any) -> bool:
    """Whether X is an array, a frame or something else of dask's, which is computed when somebody asks for it."""
    return hasattr(type(X), "__dask_graph__")


def on_cluster() -> bool:
    """Whether a dask cluster is at work here.

    Examples
    --------
    >>> on_cluster()
    False
    """
    from .dask import dask_client

    return dask_client() is not None


def _is_tensor(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "torch" and hasattr(X, "detach")


def on_card(X: Any) -> bool:
    """Whether these are the numbers of a tensor on a graphics card.

    Examples
    --------
    >>> on_card([[1.0]])
    False
    """
    return type(X) is not np.ndarray and _is_tensor(X) and bool(X.is_cuda)


def as_host(X: Any) -> Any:
    """A tensor as an array in the memory of the processor, where checks and models live; anything else as it is.

    Examples
    --------
    >>> as_host([1, 2])
    [1, 2]
    """
    return X.detach().cpu().numpy() if type(X) is not np.ndarray and _is_tensor(X) else X


def in_memory(values: Any) -> Any:
    """Targets or weights in the memory of the processor: computed where dask was to, and fetched from a card.

    Examples
    --------
    >>> in_memory([1, 2])
    [1, 2]
    """
    if values is None or type(values) is np.ndarray:
        return values
    return as_host(values.compute() if is_dask(values) else values)


# Which of the things that users pass as X are rows that need not be in memory.


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
        from .dask import rows_of_dask

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


# Predictions of rows that dask has: arrays of dask's, computed where the rows are when somebody asks for them.


def lazily(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of one answer a row. For an array or a frame of dask's it gives one of dask's, and computes nothing."""

    @wraps(method)
    def answered(self: Any, X: Any) -> Any:
        if not is_dask(X):
            return method(self, X)
        from .dask import later

        return later(self, method.__name__, X)

    return answered


def at_once(method: Callable[..., float]) -> Callable[..., float]:
    """A method that makes one number of rows and targets: for those of dask's, it has them answered now.

    Targets on a graphics card come from there.
    """

    @wraps(method)
    def scored(self: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        rows = rows_of(X) if is_dask(X) else X
        return method(self, rows, in_memory(y), in_memory(sample_weight))

    return scored
