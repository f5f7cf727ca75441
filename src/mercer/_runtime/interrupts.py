"""Ctrl-C: one rule for everything that takes long.

1. ``KeyboardInterrupt`` is raised: by every fit, prediction, search, nested cross-validation and comparison. Whoever
   calls them in a loop, as ``cross_val_score`` does, ends with it; nothing goes on with a model that is half made.
2. Inside ``with mercer.keep_best():`` work that has something to show gives it back instead, and says so. A solver
   returns its best model (``status_`` "interrupted", with a ConvergenceWarning). A search fits the best of the settings
   that were tried on all folds (``stopped_`` "interrupted", with a warning); nested cross-validation and a comparison
   keep what was finished. Where there is nothing to show yet, ``KeyboardInterrupt`` is raised all the same.
3. A number is never made of half a fit: inside a search, a nested cross-validation or a comparison the fit under way is
   dropped, request or not (:func:`whole`). Loops that are not ours, such as ``cross_val_score``, do not know of the
   request: do not make it around them.

Python hands Ctrl-C to the main thread alone. Threads of ours (:func:`.parallel.for_each`) are told by the thread
that waits for them, and ask between two pieces of work (:func:`heed`): the same exception then comes up in them, once.

Time limits go the same way: inside ``with until(deadline):`` work that heeds Ctrl-C ends when the time is over, in the
middle of a product if need be, and the block with it.

The request and the message belong to a context, which threads of ours take over from the thread that started them;
other threads of the process are not concerned.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextvars import ContextVar

from .forks import step_aside

__all__ = ["heed", "heeding", "keep_best", "kept", "until", "whole"]

_kept: ContextVar[bool] = ContextVar("kept", default=False)
#: Set when the thread that waits for this one was interrupted; ``None`` in threads that Python itself interrupts.
_stop: ContextVar[threading.Event | None] = ContextVar("stop", default=None)
#: When work is to end, by ``time.monotonic``.
_deadline: ContextVar[float] = ContextVar("deadline", default=float("inf"))


class _OutOfTime(BaseException):
    """The deadline is over: ends a block of :func:`until`, and is never seen outside of it."""


@contextlib.contextmanager
def keep_best() -> Iterator[None]:
    """Inside this block, Ctrl-C ends a fit or a search early with the best so far, instead of an exception.

    The model then has the ``status_`` "interrupted" and comes with a ``ConvergenceWarning``; a search has ``stopped_``
    "interrupted". Work that has nothing to show yet raises ``KeyboardInterrupt`` as ever.

    Examples
    --------
    >>> import mercer
    >>> with mercer.keep_best():
    ...     model = mercer.SVC().fit([[0.0], [1.0]], ["no", "yes"])
    >>> model.status_
    'converged'
    """
    with _being(_kept, True):
        yield


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """Inside this block, fits are finished or not there at all: the caller keeps what is whole."""
    with _being(_kept, False):
        yield


def kept() -> bool:
    """Whether work that is interrupted here should give back what it has."""
    return _kept.get()


def heed() -> None:
    """Raise ``KeyboardInterrupt`` in a thread of ours whose caller was interrupted; once, as Ctrl-C itself would.

    Where a deadline is over, the block that asked for it ends here.
    """
    step_aside()
    stop = _stop.get()
    if stop is not None and stop.is_set():
        _stop.set(None)
        raise KeyboardInterrupt
    if time.monotonic() > _deadline.get():
        raise _OutOfTime


@contextlib.contextmanager
def until(deadline: float) -> Iterator[None]:
    """A block that ends where work heeds that the deadline, by ``time.monotonic``, is over; not before it has begun.

    Examples
    --------
    >>> done = []
    >>> with until(0.0):
    ...     done.append("something")
    ...     heed()
    ...     done.append("more")
    >>> done
    ['something']
    """
    try:
        with _being(_deadline, min(deadline, _deadline.get())):
            yield
    except _OutOfTime:
        if time.monotonic() <= deadline:  # it is the deadline of somebody outside
            raise


@contextlib.contextmanager
def heeding(stop: threading.Event) -> Iterator[None]:
    """Inside this block, :func:`heed` listens to this event."""
    with _being(_stop, stop):
        yield


@contextlib.contextmanager
def _being(variable: ContextVar, value: object) -> Iterator[None]:
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)
