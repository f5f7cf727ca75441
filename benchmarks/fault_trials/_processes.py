"""Processes that are made to be killed: copies of this one, with everything imported and compiled."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["forked", "in_memory", "kill", "killed_after", "result_of"]


def in_memory() -> str | None:
    """A folder that is no disk, for trials that are not about disks; ``None`` where there is none."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def forked(work: Callable[[], Any]) -> int:
    """Do some work in a copy of this process; its number."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        _speak_to_nobody()
        work()
        status = 0
    finally:
        os._exit(status)


def kill(child: int) -> None:
    """End a copy on the spot."""
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def killed_after(work: Callable[[], Any], seconds: float) -> None:
    """Do some work in a copy, and kill that so many seconds after it has begun."""
    ready, told = os.pipe()
    child = forked(lambda: (os.write(told, b"!"), work()))
    os.close(told)
    os.read(ready, 1)
    os.close(ready)
    time.sleep(seconds)
    kill(child)


def result_of(work: Callable[[], Any], folder: Path) -> Any:
    """What some work returns in a copy that is left alone."""
    place = folder / "result"
    _, status = os.waitpid(forked(lambda: place.write_bytes(pickle.dumps(work()))), 0)
    if status:
        raise RuntimeError(f"the work ended with {status}")
    found = pickle.loads(place.read_bytes())  # of our own making
    place.unlink()
    return found


def _speak_to_nobody() -> None:
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
