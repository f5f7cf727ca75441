"""Threads.

Work is cut into pieces whose results do not depend on who computes them, so a result is the same for any number of
threads. Plain Python threads run compiled code that has let go of the interpreter lock; unlike OpenMP or Numba's own
pool they survive a fork, which waits until none of them is in the middle of a piece (:mod:`.forks`), and two callers
at once.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ALL_COMPLETED, FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from .interrupts import at_work, check_interrupt, interrupted_by

__all__ = ["give_back", "hold", "in_background", "prefetched", "release"]

T = TypeVar("T")


#: Threads that are allowed here; ``None`` where nobody has said how many.
_allowed: ContextVar[int | None] = ContextVar("threads", default=None)


def thread_count() -> int:
    """How many threads to use: the machine's cores, or fewer inside a joblib worker or by ``NUMBA_NUM_THREADS``."""
    return min(int(os.environ.get("NUMBA_NUM_THREADS") or _cores()), _allowed.get() or sys.maxsize)


@contextlib.contextmanager
def at_most(threads: int | None) -> Iterator[None]:
    """Inside this block no more threads than so many are used; ``None`` allows as many as outside."""
    token = _allowed.set(threads or _allowed.get())
    try:
        yield
    finally:
        _allowed.reset(token)


@functools.cache
def _cores() -> int:
    return joblib.cpu_count()


@functools.cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


_lock = threading.Lock()
_inside = 0
_limit: Any = None


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products inside this block use one thread each: the threads are ours.

    Blocks may overlap on several threads; the first one in sets the limit and the last one out lifts it. No other
    thread forks while one is inside, except where that one heeds.
    """
    global _inside, _limit
    with at_work():
        with _lock:
            if _inside == 0:
                _take_over()
                _limit = _blas().limit(limits=1)
            _inside += 1
        try:
            yield
        finally:
            with _lock:
                _inside -= 1
                if _inside == 0:
                    _take_over()
                    _limit.restore_original_limits()
                    _take_over()


def _take_over() -> None:
    """Let this thread set limits: newer threadpoolctl heeds only the thread that was the first to set one."""
    for library in _blas().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_worker = threading.local()


def _mark_worker() -> None:
    """Threads of ours start no threads of their own."""
    _worker.busy = True


def for_each(work: Callable[[T], Any], pieces: Iterable[T], threads: int | None = None) -> None:
    """Call ``work`` on every piece, on several threads. An exception or Ctrl-C drops what has not started.

    Ctrl-C, or the end of the time, is passed on to the threads: long pieces under way that :func:`heed` it end early.
    """
    pieces = list(pieces)
    if not pieces:
        return
    threads = 1 if getattr(_worker, "busy", False) else min(threads or thread_count(), len(pieces))
    if threads <= 1:
        with one_blas_thread():
            for piece in pieces:
                check_interrupt()
                work(piece)
        return
    waiting, stop = iter(pieces), threading.Event()

    def work_through() -> None:
        with interrupted_by(stop):
            for piece in waiting:
                with at_work():
                    work(piece)

    with one_blas_thread():
        pool = _pool(threads)
        futures: list[Future] = []
        try:
            # Each thread works in a context like that of the caller.
            futures += (pool.submit(copy_context().run, work_through) for _ in range(threads))
            wait_for(futures, FIRST_EXCEPTION, check_interrupt)
            for future in futures:
                if future.done():
                    future.result()
        except BaseException as error:
            for _ in waiting:  # nobody starts another piece
                pass
            if not isinstance(error, Exception):
                stop.set()
            pool.shutdown(wait=False)
            wait_for(futures, ALL_COMPLETED)  # a second Ctrl-C does not
            raise
    _idle.append((threads, pool))


#: Seconds after which a thread that waits looks up.
_GLANCE = 0.05


def wait_for(futures: list[Future], until: str, look_up: Callable[[], None] = lambda: None) -> None:
    """Wait for threads, and look up again and again.

    Where the system hands Ctrl-C to another thread than the main one, Python does not wake the main thread up to raise
    it: a thread that sleeps without a limit would never hear of it.
    """
    while True:
        done, not_done = wait(futures, timeout=_GLANCE, return_when=until)
        if not not_done or (until == FIRST_EXCEPTION and any(future.exception() for future in done)):
            return
        look_up()


#: Threads that have nothing to do, by how many they are: starting new ones for every matrix takes too long.
_idle: list[tuple[int, ThreadPoolExecutor]] = []


def _forget() -> None:
    """A child process has none of its parent's threads, and nobody is inside a block.

    Where another thread of the parent was inside one, the child goes on with one BLAS thread: to give it more, the
    library would wait for a lock that the other thread may have held, and that nobody lifts any more.
    """
    global _inside, _lock
    _idle.clear()
    _lock = threading.Lock()
    _inside = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _pool(threads: int) -> ThreadPoolExecutor:
    """A pool of that many threads that nobody else uses."""
    with _lock:
        for place, (size, _) in enumerate(_idle):
            if size == threads:
                return _idle.pop(place)[1]
    return ThreadPoolExecutor(threads, initializer=_mark_worker)


# Open files that one process at a time holds. The system lets go of them when a process ends, however that is.


def hold(handle: int, wait: bool = True) -> bool | None:
    """Hold an open file until it is closed.

    Parameters
    ----------
    handle : int
        As ``os.open`` gives it.
    wait : bool, default=True
        Whether to wait until nobody else holds it.

    Returns
    -------
    bool or None
        ``False`` where somebody else holds it; ``None`` where the system or the file system has no locks.

    Examples
    --------
    >>> import os, tempfile
    >>> path = tempfile.NamedTemporaryFile().name
    >>> first, second = (os.open(path, os.O_CREAT | os.O_RDWR) for _ in range(2))
    >>> hold(first), hold(second, wait=False)
    (True, False)
    >>> os.close(first)
    >>> hold(second, wait=False)
    True
    >>> os.unlink(path)
    """
    try:
        import fcntl
    except ImportError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def release(handle: int) -> None:
    """Let go of an open file and close it; also for processes that were forked meanwhile, and have it open still."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)
    except (ImportError, OSError):
        pass
    os.close(handle)


# Reading on while somebody works on what was read.


_END: Any = object()


def prefetched(parts: Iterator[T]) -> Iterator[T]:
    """The same parts, of which the next one is made by another thread in the meantime; never more than one.

    Examples
    --------
    >>> list(prefetched(iter([1, 2, 3])))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, parts, _END)
        while True:
            wait_for([coming], FIRST_EXCEPTION)
            part = coming.result()
            if part is _END:
                return
            coming = reader.submit(next, parts, _END)
            yield part


# Work that cannot be cut into pieces, such as an eigendecomposition: done aside, so that Ctrl-C need not wait.


def in_background(work: Callable[[], T]) -> T:
    """The result of ``work``, from a thread that is left alone when Ctrl-C comes; what it finds then is lost.

    The work must change nothing that anybody else looks at, and let go of the interpreter lock, as NumPy's linear
    algebra does. It has one BLAS thread, so that results do not depend on how many there are.

    Examples
    --------
    >>> import numpy as np
    >>> in_background(lambda: np.linalg.eigvalsh(np.diag([2.0, 1.0])))
    array([1., 2.])
    """
    found: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            found.set_result(context.run(work))
        except BaseException as error:
            found.set_exception(error)

    with one_blas_thread():
        threading.Thread(target=run, daemon=True).start()
        wait_for([found], FIRST_EXCEPTION, check_interrupt)
    return found.result()


# Memory that has been freed, given back to the system.


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
