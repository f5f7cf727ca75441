"""Threads that answer, beside the loop that listens."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from typing import Any

from .._runtime.interrupts import heeding

__all__ = ["Lane"]


class Lane:
    """A queue of work and the threads that do it, which never keep the process from ending.

    Parameters
    ----------
    threads : int
    stop : Event
        Ends the work under way, as Ctrl-C would.
    """

    def __init__(self, threads: int, stop: threading.Event) -> None:
        self._work: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._stop = stop
        for _ in range(threads):
            threading.Thread(target=self._go, daemon=True, name="mercer-play").start()

    async def run(self, work: Callable[[], Any]) -> Any:
        """The result of some work; others go on meanwhile."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Any] = loop.create_future()
        self._work.put((work, loop, found))
        return await found

    def close(self) -> None:
        """Let the threads end when they are done."""
        self._work.put(None)

    def _go(self) -> None:
        while (task := self._work.get()) is not None:
            work, loop, found = task
            try:
                with heeding(self._stop):
                    result, error = work(), None
            except BaseException as raised:
                result, error = None, raised
            try:
                loop.call_soon_threadsafe(_settle, found, result, error)
            except RuntimeError:  # the loop has ended
                return
        self._work.put(None)  # for the next thread


def _settle(found: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if found.done():
        return
    if error is None:
        found.set_result(result)
    else:
        found.set_exception(error if isinstance(error, Exception) else RuntimeError(type(error).__name__))
