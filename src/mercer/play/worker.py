"""A process for work that takes long, kept warm and out of the way: one job at a time, and the newest one wins."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

from .._runtime.interrupts import heeding
from .._runtime.parallel import at_most
from .heard import in_a_sentence

__all__ = ["Worker"]

#: How far the process steps back behind those who answer at once.
_NICENESS = 19
_GONE = "the process for long work has ended; ask again."
#: What ends the lines of a job: whether it was finished, ended by a newer one, or went wrong.
_FINISHED, _CANCELLED, _FAILED = "finished", "cancelled", "failed"


class Worker:
    """The process, as the server sees it.

    Parameters
    ----------
    warm : dict, optional
        A job that is done first, so that compiled code is there when it is needed.
    """

    def __init__(self, warm: dict[str, Any] | None = None) -> None:
        self._warm = warm
        self._lock = threading.Lock()
        self._connection: Any = None
        self._number = 0
        #: Who gets the lines of each job: called with the way it ended, or None, and a line.
        self._takers: dict[int, Callable[[str | None, Any], None]] = {}

    def start(self) -> None:
        """Start the process where it is not running."""
        with self._lock:
            if self._connection is not None:
                return
            context = multiprocessing.get_context("spawn")
            self._connection, other = context.Pipe()
            context.Process(target=_work, args=(other, self._warm), daemon=True, name="mercer-play-worker").start()
            other.close()
            threading.Thread(target=self._listen, args=(self._connection,), daemon=True).start()

    def close(self) -> None:
        """End the process."""
        with self._lock, contextlib.suppress(OSError):
            if self._connection is not None:
                self._connection.send(None)

    async def lines(self, job: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The lines of a job as they come; the last one says where it failed, or was ended by a newer job."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self.start)
        found: asyncio.Queue[tuple[str | None, Any]] = asyncio.Queue()

        def take(end: str | None, line: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(found.put_nowait, (end, line))

        number = self._send(job, take)
        try:
            while True:
                end, line = await found.get()
                if end == _CANCELLED:
                    yield {"cancelled": True}
                elif end == _FAILED:
                    yield {"error": line}
                if end is not None:
                    return
                yield line
        finally:
            self._cancel(number)

    def _send(self, job: dict[str, Any], take: Callable[[str | None, Any], None]) -> int:
        with self._lock:
            self._number += 1
            self._takers[self._number] = take
            try:
                if self._connection is None:
                    raise OSError(_GONE)
                self._connection.send((self._number, job))
            except OSError:
                take(_FAILED, _GONE)
            return self._number

    def _cancel(self, number: int) -> None:
        with self._lock:
            if self._takers.pop(number, None) is not None and self._connection is not None:
                with contextlib.suppress(OSError):
                    self._connection.send((number, None))

    def _listen(self, connection: Any) -> None:
        """Hand lines on until the process ends, which the next job then starts again."""
        with contextlib.suppress(EOFError, OSError):
            while True:
                number, end, line = connection.recv()
                with self._lock:
                    take = self._takers.get(number) if end is None else self._takers.pop(number, None)
                if take is not None:
                    take(end, line)
        with self._lock:
            self._connection = None
            left, self._takers = list(self._takers.values()), {}
        for take in left:
            take(_FAILED, _GONE)


def _work(connection: Any, warm: dict[str, Any] | None) -> None:
    """What the process does: jobs, one after the other, until nobody listens any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this one
    with contextlib.suppress(OSError, AttributeError):  # which Windows does not know
        os.nice(_NICENESS)
    jobs: queue.SimpleQueue[tuple[int, dict[str, Any], threading.Event]] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(connection, jobs), daemon=True).start()
    from .surface import surface

    if warm is not None:
        with contextlib.suppress(ValueError):
            list(surface(warm))
    while True:
        number, job, stop = jobs.get()
        try:
            with heeding(stop), at_most(1):  # the other cores are for those who answer at once
                for line in surface(job):
                    connection.send((number, None, line))
                    if stop.is_set():
                        raise KeyboardInterrupt
            connection.send((number, _FINISHED, None))
        except KeyboardInterrupt:
            connection.send((number, _CANCELLED, None))
        except Exception as error:
            connection.send((number, _FAILED, in_a_sentence(error)))


def _receive(connection: Any, jobs: queue.SimpleQueue[tuple[int, dict[str, Any], threading.Event]]) -> None:
    """Take jobs in; each of them ends the one before, and a job without content only that."""
    current, stop = 0, threading.Event()
    while True:
        try:
            message = connection.recv()
        except (EOFError, OSError):
            message = None
        if message is None:
            os._exit(0)  # in the middle of whatever is under way: nobody waits for it
        number, job = message
        if job is None:
            if number == current:
                stop.set()
            continue
        stop.set()
        current, stop = number, threading.Event()
        jobs.put((number, job, stop))
