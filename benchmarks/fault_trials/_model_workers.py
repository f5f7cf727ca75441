"""Processes that load model files and ask the models, watched from outside: a crash or a hang is seen, not suffered.

A worker is told the bytes of a file and the name of the golden model that it was made of. It answers what became of
them: refused in a sentence, or answers; how long it took; how far memory rose above what it was before, as the kernel
of the operating system counts it; and which of the events that no data file should cause an audit hook has seen.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Outcome", "outcomes"]

HANG = 2.0
#: Before a worker is given up, so that the time of a slow one can still be told.
_PATIENCE = 20.0
_FORBIDDEN = ("exec", "import", "socket.", "subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork")


@dataclass
class Outcome:
    """What became of a file.

    ``end`` is "refused", "accepted", "crash" or "hang", or "error" for anything but a sentence.
    """

    number: int
    name: str
    end: str
    message: str = ""
    answers: dict[str, Any] = field(default_factory=dict)
    parameters: str = ""
    seconds: float = 0.0
    bytes: int = 0
    events: list[str] = field(default_factory=list)


def outcomes(files: Iterable[tuple[str, bytes]], max_bytes: int, workers: int = 2) -> Iterator[Outcome]:
    """What becomes of each file, in any order."""
    waiting = iter(enumerate(files))
    pool = [_Worker(max_bytes) for _ in range(workers)]
    try:
        busy = [worker for worker in pool if worker.start_next(waiting)]
        while busy:
            for worker in list(busy):
                outcome = worker.finished()
                if outcome is None:
                    continue
                yield outcome
                if not worker.start_next(waiting):
                    busy.remove(worker)
            time.sleep(0.0005)
    finally:
        for worker in pool:
            worker.end()


class _Worker:
    """A process, and what it was last given."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.process: Any = None

    def start_next(self, waiting: Iterator[tuple[int, tuple[str, bytes]]]) -> bool:
        """Give it the next file; whether there was one."""
        task = next(waiting, None)
        if task is None:
            return False
        if self.process is None:
            context = multiprocessing.get_context("spawn")
            self.pipe, theirs = context.Pipe()
            self.process = context.Process(target=_work, args=(theirs, self.max_bytes), daemon=True)
            self.process.start()
            theirs.close()  # so that the end of the process is the end of the pipe
            self.pipe.recv()  # ready
        self.number, (self.name, data) = task
        self.began = time.monotonic()
        self.pipe.send((self.name, data))
        return True

    def finished(self) -> Outcome | None:
        """What became of its file; ``None`` while it is at work."""
        with contextlib.suppress(EOFError, ConnectionError):
            if self.pipe.poll():
                return Outcome(self.number, self.name, **self.pipe.recv())
            if time.monotonic() - self.began < _PATIENCE:
                return None
            self.end()
            return Outcome(self.number, self.name, "hang", seconds=_PATIENCE)
        self.process.join()
        code = self.process.exitcode
        self.end()
        return Outcome(self.number, self.name, "crash", f"exit status {code}")

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def _work(pipe: Any, max_bytes: int) -> None:
    """What a worker does: first all golden models once, so that whatever is loaded or compiled once is."""
    from mercer import load
    from mercer.io import DataError
    from tests.golden_models import GOLDEN, HOME, answers, rows_of_json

    warnings.simplefilter("ignore")
    rows, path = {}, os.path.join(tempfile.mkdtemp(), "m.safetensors")
    for name in GOLDEN:
        stored = json.loads((HOME / f"{name}.json").read_text())
        rows[name] = rows_of_json(name, stored["rows"])
        for kept in (rows[name], rows[name][:0]):
            with contextlib.suppress(ValueError):
                model = load(HOME / f"{name}.safetensors")
                str(model.get_params())
                answers(model, kept)
    _warm_up(rows)
    seen: list[str] = []
    watching = [False]
    sys.addaudithook(lambda event, args: (watching[0] and seen.extend(_forbidden(event, args))) or None)
    pipe.send("ready")
    while True:
        name, data = pipe.recv()
        Path(path).write_bytes(data)
        seen.clear()
        before, began = _forget_peak(), time.perf_counter()
        said: dict[str, Any] = {"message": "", "answers": {}, "parameters": ""}
        watching[0] = True
        try:
            model = load(path, max_bytes)
            said |= {"end": "accepted", "answers": answers(model, rows[name]), "parameters": str(model.get_params())}
        except (DataError, ValueError) as error:
            said |= {"end": "refused", "message": f"{type(error).__name__}: {error}"}
        except Exception as error:
            said |= {"end": "error", "message": f"{type(error).__name__}: {error}"}
        watching[0] = False
        said |= {"seconds": time.perf_counter() - began, "bytes": _peak() - before, "events": list(seen)}
        pipe.send(said)


def _warm_up(rows: dict[str, Any]) -> None:
    """Compile what kernels need that no golden model has, but a forged one may name."""
    from mercer import Perceptron

    words = ["subsequence", "localalignment", "spectrum(p=(1, 2))", "normalised(weighteddegree)", "mismatch(k=2, m=1)"]
    nodes = ["weisfeilerlehman", "weisfeilerlehmanassignment", "shortestpath", "randomwalk(decay=0.01)", "graphlet"]
    vectors = ["polynomial", "matern", "matern(nu=3.1)", "laplacian(gamma=1)", "linear*linear", "linear**2"]
    numbers = rows["svc"][:4]
    given = [(words, ["GATT", "ATTA", "CCCC", "TAGC"]), (nodes, rows["graphs"][:4]), (vectors, numbers)]
    for kernels, items in (*given, (vectors, numbers.astype(np.float32))):
        for text in kernels:
            model = Perceptron(text, epochs=1, random_state=0).fit(items, [0, 1, 0, 1])
            model.predict(items[:3])


def _forbidden(event: str, args: tuple[Any, ...]) -> list[str]:
    if event == "open":
        path, mode, flags = (*args, None, None, None)[:3]
        writing = (isinstance(mode, str) and set(mode) & set("wax+")) or (
            isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        )
        return [f"open {path} {mode}"] if writing else []
    if event == "compile":
        return [] if args[1] == "<unknown>" else [f"compile {args[1]}"]  # a text split by Python's grammar, never run
    return [f"{event} {str(args)[:120]}"] if event.startswith(_FORBIDDEN) else []


def _forget_peak() -> int:
    """The bytes that are taken now, from which on the peak is counted."""
    Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return 1024 * int(line.split()[1])
    raise RuntimeError("the system does not tell the peak of memory")
