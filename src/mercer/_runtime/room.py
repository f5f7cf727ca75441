"""Large arrays, in memory that has served before where there is some.

A page of memory that a process touches for the first time is cleared by the system, which takes longer than most of
what a solver does with it afterwards: a gigabyte takes a tenth of a second, and on virtual machines seconds. Solvers
and searches ask for the same large arrays again and again. What nobody uses any more is therefore kept for the next who
asks. It still is the system's for the taking: pages that are kept are marked as free (MADV_FREE), and go as soon as
anybody is short of memory.
"""

from __future__ import annotations

import math
import mmap
import os
import threading
import weakref
from typing import Any

import numpy as np

from .compile import Array

__all__ = ["room_for"]

#: Smaller arrays come from NumPy, which is quicker for them.
_SMALL = 4_000_000
#: The part of the machine's memory that is kept at most.
_PART = 0.125
#: What is kept serves arrays of this part of its size or more.
_FITTING = 0.4

_lock = threading.Lock()
#: Memory that nobody uses, what was given back last at the end.
_kept: list[mmap.mmap] = []


def room_for(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array whose numbers are not set, as ``np.empty`` makes it.

    Examples
    --------
    >>> room_for((2, 3), np.float32).shape
    (2, 3)
    """
    dtype = np.dtype(dtype)
    size = math.prod(shape)
    if size * dtype.itemsize < _SMALL or not hasattr(mmap, "MADV_FREE"):
        return np.empty(shape, dtype)
    memory = _found(size * dtype.itemsize) or _new(size * dtype.itemsize)
    whole = np.frombuffer(memory, dtype, count=size)
    weakref.finalize(whole, _keep, memory).atexit = False  # views of it keep it alive
    return whole.reshape(shape)


def _found(size: int) -> mmap.mmap | None:
    """Kept memory of at least this size, and not much more."""
    with _lock:
        fitting = [memory for memory in _kept if size <= len(memory) and _FITTING * len(memory) <= size]
        if not fitting:
            return None
        best = min(reversed(fitting), key=len)
        _kept.remove(best)
        return best


def _new(size: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)  # a page of two megabytes is touched once, not five hundred times
    return memory


def _keep(memory: mmap.mmap) -> None:
    memory.madvise(mmap.MADV_FREE)
    with _lock:
        _kept.append(memory)
        while sum(map(len, _kept)) > _most():
            del _kept[0]


def _most() -> int:
    """Bytes that are kept at most."""
    return int(_PART * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def _forget() -> None:
    """A child process begins with nothing, and with a lock that nobody holds."""
    global _lock
    _lock = threading.Lock()
    _kept.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
