"""Cases in processes of their own, each under a watchdog: a fit that hangs costs one process, not the run."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

#: Seconds until a process has compiled what it needs.
_WARM = 900.0
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def _work(work: Callable[[int], Any], warm: Callable[[], Any], pipe: Connection) -> None:
    warm()
    pipe.send(None)
    while (number := pipe.recv()) is not None:
        pipe.send(work(number))


class _Worker:
    def __init__(self, work: Callable[[int], Any], warm: Callable[[], Any]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(work, warm, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.number: int | None = None
        self.deadline = time.monotonic() + _WARM

    def give(self, number: int, limit: float) -> None:
        self.number, self.deadline = number, time.monotonic() + limit
        self.pipe.send(number)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def run(
    work: Callable[[int], Any],
    warm: Callable[[], Any],
    lost: Callable[[int, str], Any],
    numbers: list[int],
    jobs: int,
    limit: float,
) -> Iterator[Any]:
    """``work(number)`` for every number, in any order; ``lost(number, why)`` where its process died, or took too long.

    ``warm`` is called once in every process; ``limit`` are seconds for one number.
    """
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    waiting = iter(numbers)
    workers = [_Worker(work, warm) for _ in range(min(jobs, len(numbers)))]
    try:
        while workers:
            ready = wait([worker.pipe for worker in workers], timeout=1.0)
            for worker in list(workers):
                why = ""
                if worker.pipe in ready:
                    try:
                        result = worker.pipe.recv()
                    except EOFError:
                        why = "the process died"
                    else:
                        if worker.number is not None:
                            yield result
                elif time.monotonic() > worker.deadline:
                    why = "no answer in time"
                else:
                    continue
                if why:
                    number = worker.number
                    worker.end()
                    workers.remove(worker)
                    if number is None:
                        raise RuntimeError(f"a process could not start: {why}")
                    yield lost(number, why)
                    worker = _Worker(work, warm)
                    workers.append(worker)
                    continue
                number = next(waiting, None)
                if number is None:
                    worker.end()
                    workers.remove(worker)
                else:
                    worker.give(number, limit)
    finally:
        for worker in workers:
            worker.end()
