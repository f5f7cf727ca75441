"""Ctrl-C: one rule for everything that takes long.

1. ``KeyboardInterrupt`` is raised: by every fit, prediction, search, nested cross-validation and comparison. Whoever
   calls them in a loop, as ``cross_val_score`` does, ends with it; nothing goes on with a model that is half made.
2. Inside ``with mercer.keep_best():`` work that has something to show gives it back instead, and says so. A solver
   returns its best model (``status_`` "interrupted", with a ConvergenceWarning). A search fits the best of the settings
   that were tried on all folds (``stopped_`` "interrupted", with a warning); nested cross-validation and a comparison
   keep what was finished. Where there is nothing to show yet, ``KeyboardInterrupt`` is raised all the same.
3. A number is never made of half a fit: inside a search, a nested cross-validation or a comparison the fit under way is
   dropped, request or not (:func:`all_or_nothing`). Loops that are not ours, such as ``cross_val_score``, do not know
   of the request: do not make it around them.

Python hands Ctrl-C to the main thread alone. Threads of ours (:func:`.parallel.for_each`) are told by the thread
that waits for them, and ask between two pieces of work (:func:`check_interrupt`): the same exception then comes up in
them, once.

Time limits go the same way: inside ``with until(deadline):`` work that heeds Ctrl-C ends when the time is over, in the
middle of a product if need be, and the block with it.

The request and the message belong to a context, which threads of ours take over from the thread that started them;
other threads of the process are not concerned.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from _signal import SIGINT, getsignal, signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..messages import printable

__all__ = [
    "Progress",
    "all_or_nothing",
    "at_work",
    "check_interrupt",
    "interrupted_by",
    "keep_best",
    "keeps_best",
    "progress",
    "step_aside",
    "until",
    "without_interrupts",
]

# A fork while threads of ours are at work.
#
# A child process has only the thread that forked; what another one was in the middle of stays so for ever in it: a lock
# of the BLAS library or of the compiler that was held is never let go, and the child waits for it without end. And
# before a fork the BLAS library itself shuts its threads down, which may wait for one that was just put to work. So a
# fork waits until no thread of ours is in the middle of a piece of work: threads that begin one (:func:`at_work`) or
# look up from it (:func:`step_aside`) wait until the fork is over.


#: Seconds that a fork waits for others; one that cannot look up, or that waits for us, is not waited for any longer.
_PATIENCE = 3.0

_own = threading.local()
_turn = threading.Condition()
_running = 0
_forks = 0
#: The lock of the compiler, in processes that have one.
_compiler: Any = None


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
    global _forks, _compiler
    until = time.monotonic() + _PATIENCE
    ours = 1 if getattr(_own, "depth", 0) else 0
    with _turn:
        _forks += 1
        while _running > ours and (left := until - time.monotonic()) > 0:
            _turn.wait(left)
    _compiler = getattr(sys.modules.get("numba.core.compiler_lock"), "global_compiler_lock", None)
    if _compiler is not None:
        _compiler.acquire()


def _after_in_parent() -> None:
    global _forks
    if _compiler is not None:
        _compiler.release()
    with _turn:
        _forks -= 1
        _turn.notify_all()


def _after_in_child() -> None:
    global _forks, _running, _turn
    if _compiler is not None:
        _compiler.release()
    _turn, _forks = threading.Condition(), 0
    _running = 1 if getattr(_own, "depth", 0) else 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


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
def all_or_nothing() -> Iterator[None]:
    """Inside this block, fits are finished or not there at all: the caller keeps what is whole."""
    with _being(_kept, False):
        yield


def keeps_best() -> bool:
    """Whether work that is interrupted here should give back what it has."""
    return _kept.get()


def check_interrupt() -> None:
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
    ...     check_interrupt()
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
def interrupted_by(stop: threading.Event) -> Iterator[None]:
    """Inside this block, :func:`check_interrupt` listens to this event."""
    with _being(_stop, stop):
        yield


@contextlib.contextmanager
def _being(variable: ContextVar, value: object) -> Iterator[None]:
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


# Ctrl-C that waits: for pieces of work that lose it, or die of it.


def without_interrupts(work: Callable[..., Any], *arguments: Any) -> Any:
    """The result of ``work(*arguments)``; Ctrl-C meanwhile is only noted, and whoever would have had it has it after.

    LLVM calls back into Python while it compiles, and an exception that comes up there is printed and forgotten.
    Compiled functions call Python for what they take and give back, and an exception that comes up there ends the
    process. In other threads than the main one, or where nobody in Python listens to Ctrl-C, nothing is held.

    Examples
    --------
    >>> without_interrupts(max, 1, 2)
    2
    """
    handler: Any = getsignal(SIGINT) if threading.current_thread() is threading.main_thread() else None
    if not callable(handler):
        return work(*arguments)
    noted: list[tuple[int, Any]] = []
    signal(SIGINT, lambda number, frame: noted.append((number, frame)))
    try:
        return work(*arguments)
    finally:
        signal(SIGINT, handler)
        if noted:
            handler(*noted[0])


# How far long work is, and how long it will still take, for those who watch it. The one place for it.
#
# On a terminal a bar is drawn on the standard error and taken away again at the end; elsewhere ten lines are written.


#: Lines that are written at most where there is no terminal for a bar.
_LINES = 10


class Progress:
    """What work calls to tell how far it is. This one shows nothing."""

    done = 0.0

    def advance(self, amount: float = 1, what: str | None = None) -> None:
        """So much more is done; ``what`` comes next, where that is worth a word."""
        self.reach(self.done + amount, what)

    def reach(self, done: float, what: str | None = None) -> None:
        """So much is done in all; ``what`` comes next, where that is worth a word."""
        self.done = done

    def tell(self, what: str) -> None:
        """Something was found meanwhile."""


@contextmanager
def progress(
    what: str, total: float | None = None, *, unit: str = "", shown: bool = True, lines: bool = True
) -> Iterator[Progress]:
    """Inside this block, tell what it gives whenever a part of the work is done.

    Parameters
    ----------
    what : str
        The work, in a word or two: "searching".
    total : float, optional
        How much there is to do. ``None`` where nobody knows: then only the time is shown.
    unit : str
        What is counted: "fits". Without one the share that is done is shown.
    shown : bool, default=True
        Whether to show anything at all.
    lines : bool, default=True
        Whether to write lines where the standard error is no terminal.

    Yields
    ------
    Progress

    Examples
    --------
    >>> from mercer.runtime.interrupts import progress
    >>> with progress("searching", 20, unit="fits", shown=False) as watched:
    ...     watched.advance(5)
    ...     watched.done
    5.0
    """
    shown = shown and sys.stderr is not None  # a process may have none
    if shown and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress as Bars

        with Bars(*_columns(total, unit), console=Console(stderr=True), transient=True) as bars:
            yield _Bar(bars, what, total)
    elif shown and lines and total is not None:
        yield _Lines(total, unit)
    else:
        yield Progress()


def _columns(total: float | None, unit: str) -> list[Any]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    what = TextColumn("{task.description}", markup=False)
    if total is None:
        return [SpinnerColumn(), what, TimeElapsedColumn()]
    counted = [MofNCompleteColumn(), TextColumn(unit)] if unit else []
    return [what, BarColumn(), *counted, TimeRemainingColumn()]


class _Bar(Progress):
    """A bar on a terminal."""

    def __init__(self, bars: Any, what: str, total: float | None) -> None:
        self.bars, self.task = bars, bars.add_task(printable(what), total=total)

    def reach(self, done: float, what: str | None = None) -> None:
        self.done = done
        described = {} if what is None else {"description": printable(what)}
        self.bars.update(self.task, completed=done, **described)

    def tell(self, what: str) -> None:
        self.bars.console.print(printable(what), markup=False, highlight=False)


class _Lines(Progress):
    """A line for each tenth of the work."""

    def __init__(self, total: float, unit: str) -> None:
        self.total, self.unit, self.begin = total, unit, time.monotonic()

    def reach(self, done: float, what: str | None = None) -> None:
        before, self.done = self.done, done
        if done <= 0 or done * _LINES // self.total == before * _LINES // self.total:
            return
        spent = time.monotonic() - self.begin
        left = spent * (self.total - done) / done
        far = f"{done:g} of {self.total:g} {self.unit}" if self.unit else f"{100 * done / self.total:.0f} %"
        print(f"{far}, {spent:.0f} s, about {left:.0f} s left", file=sys.stderr, flush=True)

    def tell(self, what: str) -> None:
        print(printable(what), file=sys.stderr, flush=True)
