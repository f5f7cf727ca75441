"""Memory: what a fit takes against what it is allowed.

Twenty shapes, from two thousand to twenty thousand rows of five to five hundred columns, dense and sparse, of two
classes, many, and of numbers; each is fitted in a process of its own (``_peak.py``), whose high-water mark the system
keeps. Counted are the shapes that take more than the ``memory`` allowed with their rows and 60 MB. Searches,
fits and predictions with a limit have to keep within it and 30 MB (``_within.py``).
"""

from __future__ import annotations

import subprocess
import sys

from mercer.checks.parameters import bytes_of
from reproductions.results import Results

#: Machine, rows, columns, kind of rows, classes (0: numbers).
SHAPES = [
    ("SVC", 2000, 20, "dense", 2),
    ("SVC", 4000, 20, "dense", 2),
    ("SVC", 10_000, 5, "dense", 2),
    ("SVC", 10_000, 20, "sparse", 2),
    ("SVC", 4000, 500, "dense", 5),
    ("SVC", 20_000, 20, "dense", 20),
    ("SVC 50MB", 10_000, 20, "dense", 2),
    ("SVC rank", 20_000, 20, "dense", 2),
    ("KernelClassifier", 2000, 5, "dense", 2),
    ("KernelClassifier", 4000, 20, "dense", 2),
    ("KernelClassifier", 4000, 500, "dense", 2),
    ("KernelClassifier", 4000, 20, "dense", 10),
    ("KernelClassifier", 6000, 100, "sparse", 2),
    ("KernelClassifier 100MB", 10_000, 20, "dense", 2),
    ("KernelClassifier rank", 20_000, 20, "dense", 2),
    ("KernelClassifier rank", 10_000, 100, "dense", 10),
    ("KernelRegressor", 4000, 20, "dense", 0),
    ("KernelRegressor", 8000, 5, "dense", 0),
    ("KernelRegressor rank", 20_000, 100, "dense", 0),
    ("KernelRegressor rank", 10_000, 20, "dense", 0),
]
_BESIDE = 60e6
#: Work, machine (``_within.py``), rows, and the memory that is allowed; beside it there are rows and tiles.
LIMITED = [
    ("search", "SVC", 3000, "60MB"),
    ("search", "SVC", 8000, "300MB"),
    ("search", "KernelClassifier", 3000, "60MB"),
    ("search", "KernelClassifier", 4000, "150MB"),
    ("search of another limit", "KernelClassifier", 4000, "150MB"),
    ("search", "KernelClassifier", 5000, "300MB"),
    ("search", "KernelRegressor", 2500, "100MB"),
    ("search", "NuSVC", 3000, "60MB"),
    ("search", "SVR", 3000, "60MB"),
    ("search", "Pegasos", 3000, "60MB"),
    ("search", "rank", 4000, "80MB"),
    ("calibrated", "KernelClassifier", 3000, "100MB"),
    ("conformal", "KernelRegressor", 3000, "100MB"),
    ("fit", "KernelClassifier", 4000, "150MB"),
    ("fit", "huber", 4000, "150MB"),
    ("fit", "KernelQuantiles", 3000, "120MB"),
    ("fit", "OneClassSVM", 6000, "60MB"),
    ("fit", "KernelPerceptron", 6000, "60MB"),
    ("fit", "rank", 20_000, "200MB"),
    ("fit", "SVC rank", 10_000, "120MB"),
    ("fit", "regressor rank", 20_000, "200MB"),
    ("predict", "SVC", 5000, "60MB"),
]
_ASIDE = 30e6


def show(results: Results, scale: float, seed: int) -> None:
    shapes = SHAPES[: max(1, round(scale * len(SHAPES)))]
    above = []
    for machine, n, width, kind, classes in shapes:
        command = [sys.executable, "-m", f"{__package__}._peak", machine, str(n), str(width), kind, str(classes)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        taken = int(done.stdout)
        what = f"{machine} {n}×{width} {kind}, {classes} classes: {taken / 1e6:.0f} MB"
        allowed = bytes_of(machine.split()[-1] if machine.endswith("MB") else "1GB")
        if taken > allowed + 2 * 8 * n * width + _BESIDE:
            above.append(what)
    results.add("shapes that took more than was allowed", len(above), 0, not above, "; ".join(above))
    _show_limited(results, LIMITED[: max(1, round(scale * len(LIMITED)))])


def _show_limited(results: Results, limited: list[tuple[str, str, int, str]]) -> None:
    shares = {}
    for work, machine, n, memory in limited:
        command = [sys.executable, "-m", f"{__package__}._within", work, machine, str(n), memory]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        shares[f"{work}, {machine} {n} {memory}"] = (int(done.stdout) - _ASIDE) / bytes_of(memory)
    worst = max(shares, key=lambda each: shares[each])
    results.add("worst peak of work with a limit, less 30 MB, as a part of the memory allowed",
                round(shares[worst], 2), 1.0, shares[worst] <= 1, worst)  # fmt: skip
