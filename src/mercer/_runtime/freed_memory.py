"""Memory that has been freed, given back to the system."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

__all__ = ["give_back"]


def give_back() -> None:
    """Give back what the C library keeps of freed memory: in glibc that may be tens of megabytes for each thread.

    Large arrays of several sizes, made and freed by turns, leave such remains; the next large piece of work would come
    on top of them.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    return getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
