"""The most memory that a fit has beside what the process has before it.

    python -m benchmarks.fault_trials._peak MACHINE N WIDTH KIND CLASSES

prints the bytes that were measured: the high-water mark of the process, which the system keeps, less its memory before
the fit. Everything compiled has been used before, and freed memory given back.
"""

from __future__ import annotations

import ctypes
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import mercer

MACHINES: dict[str, Any] = {
    "SVC": lambda: mercer.SVC(),
    "SVC 50MB": lambda: mercer.SVC(memory="50MB"),
    "SVC rank": lambda: mercer.SVC(rank=500),
    "KernelClassifier": lambda: mercer.KernelClassifier(),
    "KernelClassifier 100MB": lambda: mercer.KernelClassifier(memory="100MB"),
    "KernelClassifier rank": lambda: mercer.KernelClassifier(rank=500),
    "KernelClassifier rank 100MB": lambda: mercer.KernelClassifier(rank=500, memory="100MB"),
    "KernelRegressor": lambda: mercer.KernelRegressor(),
    "KernelRegressor rank": lambda: mercer.KernelRegressor(rank=500),
}


def given(n: int, width: int, kind: str, classes: int) -> tuple[Any, Any]:
    """Rows and targets: numbers where there are no classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, width))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    targets = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1])) if classes else y
    if kind == "sparse":
        return sparse.csr_array(X * (rng.random(X.shape) < 0.1)), targets
    return X, targets


def status(name: str) -> int:
    """A line of what the system says of this process, in bytes."""
    return 1024 * int(re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])  # type: ignore[index]


def peak_of(work: Callable[[], Any]) -> int:
    """The most bytes that the process has while this is done, beside those that it has before."""
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    work()
    return status("VmHWM") - before


def main() -> None:
    warnings.simplefilter("ignore")
    machine, n, width, kind, classes = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4], int(sys.argv[5])
    X, y = given(n, width, kind, classes)
    some = slice(0, max(600, 3 * classes))
    MACHINES[machine]().fit(X[some], y[some])
    model = MACHINES[machine]()
    print(peak_of(lambda: model.fit(X, y)))


if __name__ == "__main__":
    main()
