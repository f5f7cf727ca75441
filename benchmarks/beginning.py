"""How long the beginning takes: imports, and the first fit of a machine that nobody has compiled yet.

    python -m benchmarks.beginning [--json results.json]

Every figure is a median of three fresh processes. A first fit is one of 500 rows of 10 columns with an empty folder for
compiled code, and its prediction, without the imports. Bars are half of what the figure was before imports were put
off and compiled code became smaller, on two cores of an AMD EPYC; other machines differ.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

from reproductions.results import Results

REPEATS = 3
CLOCK = "import time; begin = time.perf_counter()"
TOLD = "print(time.perf_counter() - begin)"
FIRST = """
import numpy as np
from mercer import {machine}
X = np.random.default_rng(0).normal(size=(500, 10))
y = np.sign(X[:, 0] * X[:, 1] + 0.1)
import time; begin = time.perf_counter()
{machine}("rbf").fit(X, y).predict(X)
"""
#: What is measured: the program, and the seconds that it may take.
PROGRAMS = {
    "import mercer": (f"{CLOCK}\nimport mercer", 0.05),
    "from mercer import SVC": (f"{CLOCK}\nfrom mercer import SVC", 0.72),
    "first fit of SVC": (FIRST.format(machine="SVC"), 4.0),
    "first fit of KernelClassifier": (FIRST.format(machine="KernelClassifier"), 2.35),
    "mercer --help": (f"{CLOCK}\nfrom mercer.cli import main\nmain(['--help'], standalone_mode=False)", 0.5),
}


def taken(program: str) -> float:
    """Seconds that a program says it took, with nothing compiled."""
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run(
            [sys.executable, "-c", f"{program}\n{TOLD}"],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": empty},
        )
    return float(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    results = Results()
    for what, (program, bar) in PROGRAMS.items():
        seconds = [taken(program) for _ in range(REPEATS)]
        middle = float(np.median(seconds))
        note = "seconds of the runs: " + ", ".join(f"{each:.2f}" for each in seconds)
        print(f"{what:32s}{middle:7.3f} s   bar {bar:.2f} s   {note}", flush=True)
        results.add(f"{what}: seconds", round(middle, 3), f"≤ {bar}", middle <= bar, note)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(given.json)


if __name__ == "__main__":
    main()
