"""What users give that is no collection in memory: tensors of PyTorch, and collections of dask.

They are met where a fit or a prediction begins, and nowhere else. Neither library is imported to recognise what is its.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["as_host", "in_memory", "is_dask", "on_card"]


def is_dask(X: Any) -> bool:
    """Whether X is an array, a frame or something else of dask's, which is computed when somebody asks for it."""
    return hasattr(type(X), "__dask_graph__")


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
