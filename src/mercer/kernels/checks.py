"""Checks of kernel parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._validation.parameters import number, shown
from .._validation.parameters import truth as truth

#: Lengths, depths and rounds beyond this take for ever and tell nothing more.
_LARGEST = 1000


def positive(kernel: Any, name: str, minimum: float = 0.0, strict: bool = True) -> None:
    """Check that a parameter is a finite number above ``minimum``."""
    number(kernel, name, minimum, strict=strict)


def whole_number(kernel: Any, name: str, minimum: int) -> None:
    """Check that a parameter is a whole number of at least ``minimum``, and no larger than any use of it."""
    number(kernel, name, minimum, whole=True, strict=False)
    if getattr(kernel, name) > _LARGEST:
        raise ValueError(
            f"{type(kernel).__name__}: {name} must be at most {_LARGEST}, got {shown(getattr(kernel, name))}."
        )


def one_of(kernel: Any, name: str, options: Sequence[Any]) -> None:
    """Check that a parameter is one of a few values."""
    value = getattr(kernel, name)
    if not any(type(value) is type(option) and value == option for option in options):
        raise ValueError(
            f"{type(kernel).__name__}: {name} must be one of {', '.join(map(repr, options))}; got {shown(value)}."
        )
