"""A fork while threads of ours are at work.

A child process has only the thread that forked; what another one was in the middle of stays so for ever in it: a lock
of the BLAS library or of the compiler that was held is never let go, and the child waits for it without end. And before
a fork the BLAS library itself shuts its threads down, which may wait for one that was just put to work. So a fork waits
until no thread of ours is in the middle of a piece of work: threads that begin one (:func:`at_work`) or look up from it
(:func:`step_aside`) wait until the fork is over.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator

from numba.core.compiler_lock import global_compiler_lock

__all__ = ["at_work", "step_aside"]

#: Seconds that a fork waits for others; one that cannot look up, or that waits for us, is not waited for any longer.
_PATIENCE = 3.0

_own = threading.local()
_turn = threading.Condition()
_running = 0
_forks = 0


@contextlib.contextmanager
def at_work() -> Iterator[None]:
    """Inside this block, no other thread forks, except while this one steps aside."""
    depth = getattr(_own, "depth", 0)
    if depth == 0:
        _begin()
    _own.depth = depth + 1
    try:
        yield
    finally:
        _own.depth = depth
        if depth == 0:
            _end()


def step_aside() -> None:
    """Let another thread fork now, if it wants to: this one is in the middle of nothing."""
    if _forks and getattr(_own, "depth", 0):
        _end()
        _begin()


def _begin() -> None:
    global _running
    with _turn:
        while _forks:
            _turn.wait()
        _running += 1


def _end() -> None:
    global _running
    with _turn:
        _running -= 1
        _turn.notify_all()


def _before() -> None:
    global _forks
    until = time.monotonic() + _PATIENCE
    ours = 1 if getattr(_own, "depth", 0) else 0
    with _turn:
        _forks += 1
        while _running > ours and (left := until - time.monotonic()) > 0:
            _turn.wait(left)
    global_compiler_lock.acquire()


def _after_in_parent() -> None:
    global _forks
    global_compiler_lock.release()
    with _turn:
        _forks -= 1
        _turn.notify_all()


def _after_in_child() -> None:
    global _forks, _running, _turn
    global_compiler_lock.release()
    _turn, _forks = threading.Condition(), 0
    _running = 1 if getattr(_own, "depth", 0) else 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
