"""Numbers for the page: many of them as base64 of their bytes, few of them as lists without NaN."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np

from .._runtime.compile import Array

__all__ = ["bytes_text", "floats_text", "grid_of", "plain"]

#: What float32 can hold.
_LARGEST = float(np.finfo(np.float32).max)


def floats_text(values: Array) -> str:
    """Little-endian float32 in base64; what is too large for it is as large as it can be.

    Examples
    --------
    >>> floats_text(np.array([1.0, -2.0]))
    'AACAPwAAAMA='
    """
    return b64encode(np.clip(values, -_LARGEST, _LARGEST).astype("<f4").tobytes()).decode("ascii")


def bytes_text(values: Array) -> str:
    """Small whole numbers in base64."""
    return b64encode(values.astype(np.uint8).tobytes()).decode("ascii")


def grid_of(values: Array, width: int, height: int) -> dict[str, Any]:
    """Values on a grid, row by row from the bottom."""
    return {"width": width, "height": height, "values": floats_text(values)}


def plain(values: Array) -> list[Any]:
    """A list of finite numbers."""
    return np.nan_to_num(values, posinf=1e300, neginf=-1e300).tolist() if values.dtype.kind == "f" else values.tolist()
