"""How long a prediction of one row takes, where checks and preparations are all that there is to it.

    python -m benchmarks.one_row [--json results.json]

Machines of 1000 support rows with 10 features: the arithmetic itself is a microsecond or two.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from mercer import SVC, KernelClassifier, KernelRegressor
from reproductions.results import Results

#: Microseconds, and how often a row is predicted.
BAR, TIMES = 50.0, 500


def microseconds(method: Any, row: np.ndarray) -> float:
    """The median of many calls."""
    method(row)
    seconds = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        method(row)
        seconds.append(time.perf_counter() - begin)
    return 1e6 * float(np.median(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    rng, results = np.random.default_rng(0), Results()
    X = rng.standard_normal((1001, 10))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.standard_normal(1001)
    for dtype in (np.float64, np.float32):
        rows, row = X[:1000].astype(dtype), X[1000:].astype(dtype)
        machines = [
            SVC("gaussian(gamma=1)").fit(rows, y[:1000] > 0),
            KernelClassifier("gaussian(gamma=0.1)").fit(rows, y[:1000] > 0),
            KernelRegressor("gaussian(gamma=0.1)").fit(rows, y[:1000]),
        ]
        for machine in machines:
            for name in ("predict", "decision_function"):
                if hasattr(machine, name):
                    taken = microseconds(getattr(machine, name), row)
                    what = f"{type(machine).__name__}.{name} of one row, {np.dtype(dtype)}: microseconds"
                    print(f"{what} {taken:.1f} (bar {BAR:g})")
                    results.add(what, round(taken, 1), BAR, taken <= BAR, f"{len(machine.support_)} support rows")
    results.write(options.json)


if __name__ == "__main__":
    main()
