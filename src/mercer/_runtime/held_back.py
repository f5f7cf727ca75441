"""Ctrl-C that waits: for pieces of work that lose it, or die of it."""

from __future__ import annotations

import threading
from _signal import SIGINT, getsignal, signal  # those of the module signal make enumerations of all they see: 10 µs
from contextlib import ContextDecorator
from typing import Any

__all__ = ["held_back"]


class held_back(ContextDecorator):
    """Inside this block Ctrl-C is only noted; at its end whoever would have had it has it.

    LLVM calls back into Python while it compiles, and an exception that comes up there is printed and forgotten.
    Compiled functions call Python for what they take and give back, and an exception that comes up there ends the
    process. In other threads than the main one, or where nobody in Python listens to Ctrl-C, nothing is held.
    """

    def __enter__(self) -> None:
        self.noted: Any = None
        self.handler = getsignal(SIGINT) if threading.current_thread() is threading.main_thread() else None
        if callable(self.handler):
            signal(SIGINT, self._note)

    def _note(self, number: int, frame: Any) -> None:
        self.noted = number, frame

    def __exit__(self, *error: object) -> None:
        if callable(self.handler):
            signal(SIGINT, self.handler)
            if self.noted is not None:
                self.handler(*self.noted)
