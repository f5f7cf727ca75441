"""Tensors of PyTorch that users pass instead of arrays; torch is not imported to recognise one."""

from __future__ import annotations

from typing import Any

__all__ = ["as_host", "on_card"]


def _is_tensor(X: Any) -> bool:
    return type(X).__module__.partition(".")[0] == "torch" and hasattr(X, "detach")


def on_card(X: Any) -> bool:
    """Whether these are the numbers of a tensor on a graphics card.

    Examples
    --------
    >>> on_card([[1.0]])
    False
    """
    return _is_tensor(X) and bool(X.is_cuda)


def as_host(X: Any) -> Any:
    """A tensor as an array in the memory of the processor, where checks and models live; anything else as it is.

    Examples
    --------
    >>> as_host([1, 2])
    [1, 2]
    """
    return X.detach().cpu().numpy() if _is_tensor(X) else X
