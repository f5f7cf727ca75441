"""Checks of kernel parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .base import is_number


def whole_number(kernel: Any, name: str, minimum: int) -> None:
    """Check that a parameter is a whole number of at least ``minimum``."""
    value = getattr(kernel, name)
    if not is_number(value) or not np.isfinite(value) or value != int(value) or value < minimum:
        raise ValueError(
            f"{type(kernel).__name__}: {name} must be a whole number of at least {minimum}, got {value!r}."
        )


def one_of(kernel: Any, name: str, options: Sequence[Any]) -> None:
    """Check that a parameter is one of a few values."""
    value = getattr(kernel, name)
    if not any(type(value) is type(option) and value == option for option in options):
        shown = ", ".join(map(repr, options))
        raise ValueError(f"{type(kernel).__name__}: {name} must be one of {shown}; got {value!r}.")


def truth(kernel: Any, name: str) -> None:
    """Check that a parameter is true or false."""
    one_of(kernel, name, (False, True))
