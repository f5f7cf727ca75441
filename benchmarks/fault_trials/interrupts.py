"""Ctrl-C at random instants of long work: how long until it is obeyed, and whether the process goes on usable.

A hundred instants over every kind of estimator, search, prediction and file (``_long_work.py``), each kind in a process
of its own that is told apart from this one, and over the commands. The time is that from the signal to
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

import numpy as np

from reproductions.results import Results

from ._long_work import KINDS

#: Instants in all, the latest of them in seconds, and how long anybody waits.
_INSTANTS, _LATEST, _PATIENCE = 100, 6.0, 120.0

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
    rng = random.Random(seed)
    delays: list[tuple[float, str]] = []
    spoiled = []
    names = list(KINDS)
    rng.shuffle(names)
    total = max(1, round(_INSTANTS * scale))
    commands = [(text, 1) for text in _COMMANDS[: max(1, round(scale * len(_COMMANDS)))]]
    for k, name in enumerate(names[: max(1, total - len(commands))]):
        times = len(range(k, total - len(commands), len(names)))
        for delay, usable in _pressed(name, times, rng):
            delays.append((delay, name))
            if not usable:
                spoiled.append(name)
    with tempfile.TemporaryDirectory() as folder:
        for text, times in commands:
            delays += [(_command(text, Path(folder), rng), f"mercer {text.split()[0]}") for _ in range(times)]
    worst = sorted(delays, reverse=True)
    high = float(np.quantile([delay for delay, _ in delays], 0.99))
    slowest = ", ".join(f"{name} {delay:.2f} s" for delay, name in worst[:3])
    results.add(
        f"Ctrl-C, 99th percentile of {len(delays)} instants", round(high, 2), "1 s at most", high <= 1.0, slowest
    )
    results.add("processes not usable after Ctrl-C", len(spoiled), 0, not spoiled, ", ".join(spoiled))


def _pressed(name: str, times: int, rng: random.Random) -> list[tuple[float, bool]]:
    """How long the work takes to end after each signal, and whether the process is as it was."""
    command = [sys.executable, "-m", f"{__package__}._long_work", name, str(3 * times)]
    found: list[tuple[float, bool]] = []
    latest = _LATEST
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        while len(found) < times and process.stdout.readline().strip() == "go":
            over, _, _ = select.select([process.stdout], [], [], rng.uniform(0.05, latest))
            begin = time.monotonic()
            if not over:
                process.send_signal(signal.SIGINT)
                if not select.select([process.stdout], [], [], _PATIENCE)[0]:
                    found.append((_PATIENCE, False))
                    break
            how, ended, usable = process.stdout.readline().split()
            if over or (how == "finished" and float(ended) < begin):
                latest *= 0.3
            else:
                found.append((float(ended) - begin, usable == "usable"))
        process.kill()
    return found


def _command(text: str, folder: Path, rng: random.Random) -> float:
    """How long a command takes to end after the signal."""
    data, model = folder / "noise.csv", folder / "model.safetensors"
    if not data.exists():
        _make(data, model)
    words = {"DATA": str(data), "MODEL": str(model), "OUT": str(folder / "new.safetensors"), "FOLDER": str(folder)}
    command = [sys.executable, "-m", "mercer", *(words.get(word, word) for word in text.split())]
    for latest in (_LATEST, 0.5 * _LATEST, 0.2 * _LATEST):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(rng.uniform(0.5, latest))
            if process.poll() is None:
                begin = time.monotonic()
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(_PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                return time.monotonic() - begin
    return 0.0


def _make(data: Path, model: Path) -> None:
    import mercer

    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 10))
    y = rng.integers(0, 2, len(X))
    lines = [",".join([*(f"{value:.4f}" for value in row), str(label)]) for row, label in zip(X, y, strict=True)]
    data.write_text(",".join(f"c{k}" for k in range(10)) + ",label\n" + "\n".join(lines) + "\n")
    table = mercer.read(str(data))
    mercer.save(mercer.SVC().fit(table.X[:1500], table.y[:1500]), model)
