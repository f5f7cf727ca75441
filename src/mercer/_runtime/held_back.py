"""Ctrl-C that waits: for pieces of work that lose it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["held_back"]


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """Inside this block Ctrl-C is only noted; at its end whoever would have had it has it.

    LLVM calls back into Python while it compiles, and an exception that comes up there is printed and forgotten. Where
    Python's part in signals is not played, in other threads or under a handler that is not Python's, nothing is held.
    """
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield
        return
    noted: list[Any] = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(frame))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if noted:
            handler(signal.SIGINT, noted[0])
