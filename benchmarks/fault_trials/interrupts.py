"""Ctrl-C at random instants of long work: how long until it is obeyed, and whether the process goes on usable.

A hundred instants over every kind of estimator, search, prediction and file (``_long_work.py``), one after the other in
one process that lives through all of them, and over the commands. The time is that from the signal to
``KeyboardInterrupt`` at the caller, or to the end of a command. Afterwards the process fits a small machine, whose bits
must be those of before. Work that ends by itself before the signal is tried again, sooner.
"""

from __future__ import annotations

import random
import select
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from reproductions.results import Results

from ._long_work import KINDS

#: Instants in all, the latest of them in seconds, and how long anybody waits.
_INSTANTS, _LATEST, _PATIENCE = 100, 3.0, 60.0
#: How often work that ends too soon is begun anew.
_TRIES = 4

#: Commands that take long, with a table of noise in the place of DATA and a model in that of MODEL.
_COMMANDS = (
    "train svc DATA -o OUT --set C=1000",
    "tune svc DATA",
    "compare DATA --output FOLDER",
    "check DATA",
    "kernel DATA --kernel gaussian",
    "explain MODEL DATA",
)


def show(results: Results, scale: float, seed: int) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell makes what it starts aside deaf to it
    rng = random.Random(seed)
    total = max(2, round(_INSTANTS * scale))
    commands = rng.sample(_COMMANDS, max(1, round(min(1.0, scale) * len(_COMMANDS))))
    names = rng.sample(list(KINDS), len(KINDS))
    process = _Process(rng)
    found = [process.pressed(names[k % len(names)]) for k in _grouped(total - len(commands), len(names))]
    process.end()
    with tempfile.TemporaryDirectory() as folder:
        found += [_command(text, Path(folder), rng) for text in commands]
    pressed = [each for each in found if each is not None]
    high = float(np.quantile([each.delay for each in pressed], 0.99))
    worst = sorted(pressed, key=lambda each: each.delay, reverse=True)
    slowest = ", ".join(f"{each.name} {each.delay:.2f} s" for each in worst[:3])
    spoiled = [each.name for each in pressed if not each.usable]
    results.add(
        f"Ctrl-C, 99th percentile of {len(pressed)} instants", round(high, 2), "1 s at most", high <= 1.0, slowest
    )
    results.add("processes not usable after Ctrl-C", len(spoiled), 0, not spoiled, ", ".join(spoiled))


def _grouped(instants: int, kinds: int) -> list[int]:
    """Kinds, as evenly as can be; the instants of one follow each other."""
    return sorted(k % kinds for k in range(instants))


class _Pressed(NamedTuple):
    """How long work took to end after Ctrl-C, and whether its process was as before."""

    name: str
    delay: float
    usable: bool


class _Process:
    """The process that works; a new one where it has ended, or did not end its work."""

    def __init__(self, rng: random.Random) -> None:
        self.rng, self.ready = rng, ""
        self._begin()

    def _begin(self) -> None:
        command = [sys.executable, "-m", f"{__package__}._long_work"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def pressed(self, name: str) -> _Pressed | None:
        """One instant of a kind of work; ``None`` where it always ended before."""
        latest = _LATEST
        for _ in range(_TRIES):
            told = "" if self.ready == name else name
            self.ready = name
            try:
                found = self._once(told, latest)
            except (BrokenPipeError, ValueError):  # it is there no more
                found = _PATIENCE, False
            if found is not None:
                if not found[1]:
                    self.end()
                    self.ready = ""
                    self._begin()
                return _Pressed(name, *found)
            latest *= 0.3
        return None

    def _once(self, told: str, latest: float) -> tuple[float, bool] | None:
        """The delay, and whether the process is usable; ``None`` where the work had ended before the signal."""
        asked, answers = self.process.stdin, self.process.stdout
        assert asked is not None
        assert answers is not None
        print(told, file=asked, flush=True)
        if answers.readline().strip() != "go":
            raise ValueError("it did not begin")
        over, _, _ = select.select([answers], [], [], self.rng.uniform(0.02, latest))
        begin = time.monotonic()
        if not over:
            self.process.send_signal(signal.SIGINT)
            if not select.select([answers], [], [], _PATIENCE)[0]:
                return _PATIENCE, False
        how, ended, usable = answers.readline().split()
        ended_before = over or (how == "finished" and float(ended) < begin)
        return None if ended_before else (float(ended) - begin, usable == "usable")


def _command(text: str, folder: Path, rng: random.Random) -> _Pressed | None:
    """One instant of a command."""
    data, model = folder / "noise.csv", folder / "model.safetensors"
    if not data.exists():
        _make(data, model)
    words = {"DATA": str(data), "MODEL": str(model), "OUT": str(folder / "new.safetensors"), "FOLDER": str(folder)}
    command = [sys.executable, "-m", "mercer", *(words.get(word, word) for word in text.split())]
    for latest in (2 * _LATEST, _LATEST, 0.5 * _LATEST):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(rng.uniform(0.5, latest))
            if process.poll() is None:
                begin = time.monotonic()
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(_PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                return _Pressed(f"mercer {text.split()[0]}", time.monotonic() - begin, True)
    return None


def _make(data: Path, model: Path) -> None:
    import mercer

    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 10))
    y = rng.integers(0, 2, len(X))
    lines = [",".join([*(f"{value:.4f}" for value in row), str(label)]) for row, label in zip(X, y, strict=True)]
    data.write_text(",".join(f"c{k}" for k in range(10)) + ",label\n" + "\n".join(lines) + "\n")
    table = mercer.read(str(data))
    mercer.save(mercer.SVC().fit(table.X[:1500], table.y[:1500]), model)
