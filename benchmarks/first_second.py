"""The first second: a first script in an empty environment, a warm process, small fits, and commands on small files.

    python -m benchmarks.first_second [--json results.json]

Processes are fresh, and those of mercer and of scikit-learn take turns; small fits take turns within one process.
Medians count. "Cold" has an empty folder for compiled code: what came with the installation is there, all else is
compiled. ``make demo`` runs once, in a clone of the last commit, with the packages in the caches of pip and uv. Bars
were written down before.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

import mercer
from reproductions.results import Results

REPEATS, FITS = 5, 40
SCRIPT = """
from sklearn.datasets import load_iris
from {module} import SVC
X, y = load_iris(return_X_y=True)
SVC().fit(X, y).predict(X)
"""
#: Commands on iris as a file, and the seconds that each may take where all is compiled.
COMMANDS = {"train svc iris.csv -o model": 1.9, "check iris.csv": 1.5, "compare iris.csv -o report": 6.0}
#: The file in which a docstring is edited.
EDITED = "mercer/solvers/svm/small_blocks.py"


def seconds(command: list[str], folder: str, **changes: str) -> float:
    """How long a process takes from its start to its end."""
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, env=os.environ | changes, check=True, capture_output=True)
    return time.perf_counter() - begin


def script(module: str) -> list[str]:
    return [sys.executable, "-c", SCRIPT.format(module=module)]


def cold(python: str) -> float:
    """The script with an empty folder for compiled code, in some environment."""
    with tempfile.TemporaryDirectory() as folder:
        return seconds([python, *script("mercer")[1:]], folder, NUMBA_CACHE_DIR=folder, PYTHONPATH="")


def lines_of(command: list[str], folder: str) -> Iterator[tuple[float, str]]:
    """The lines that a process prints, each with the seconds since its start; at last its end."""
    begin = time.perf_counter()
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            yield time.perf_counter() - begin, line
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    yield time.perf_counter() - begin, ""


def first_line(command: list[str], folder: str) -> float:
    """Seconds until a comparison tells the first error."""
    times = [passed for passed, line in lines_of(command, folder) if ": error " in line]
    return times[0]


def demo(folder: str) -> tuple[float, float]:
    """Seconds of ``make demo`` in a new clone, and of the comparison that it ends with."""
    root = Path(__file__).parents[1]
    subprocess.run(["git", "clone", "--quiet", root, folder], check=True)
    lines = list(lines_of(["make", "demo"], folder))
    begin = next(passed for passed, line in lines if "mercer compare" in line)
    return lines[-1][0], lines[-1][0] - begin


def after_an_edit() -> tuple[float, float]:
    """The script with all compiled, and again after a docstring was edited: seconds of both."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(Path(mercer.__file__).parent, Path(folder, "mercer"))
        place = {"NUMBA_CACHE_DIR": f"{folder}/code", "PYTHONPATH": folder}
        seconds(script("mercer"), folder, **place)
        before = seconds(script("mercer"), folder, **place)
        path = Path(folder, EDITED)
        path.write_text('"""Edited.\n\n' + path.read_text(encoding="utf-8").removeprefix('"""'), encoding="utf-8")
        return before, seconds(script("mercer"), folder, **place)


def in_turns(*works: Callable[[], Any], repeats: int = REPEATS) -> list[float]:
    """The median seconds of each, where one run of each follows the other; the first run does not count."""
    for work in works:
        work()
    taken = []
    for _ in range(repeats):
        row = []
        for work in works:
            begin = time.perf_counter()
            work()
            row.append(time.perf_counter() - begin)
        taken.append(row)
    return np.median(taken, axis=0).tolist()


def small_fits() -> dict[str, tuple[Callable[[], Any], Callable[[], Any], float]]:
    """Fits of mercer and of scikit-learn, and what their ratio may be."""
    iris, cancer = (load(return_X_y=True) for load in (load_iris, load_breast_cancer))
    scales = [0.01, 0.1, 1.0, 10.0]
    ours = mercer.KernelSearchCV(mercer.SVC("rbf"), {"C": [0.1, 1, 10, 100, 1000], "kernel__gamma": scales})
    theirs = GridSearchCV(SVC(), {"C": [0.1, 1, 10, 100, 1000], "gamma": scales})
    logistic = LogisticRegression(max_iter=1000)
    return {
        "SVC on iris": (lambda: mercer.SVC().fit(*iris), lambda: SVC().fit(*iris), 1.5),
        "SVC on breast_cancer": (lambda: mercer.SVC().fit(*cancer), lambda: SVC().fit(*cancer), 1.0),
        "KernelClassifier on iris": (lambda: mercer.KernelClassifier().fit(*iris), lambda: logistic.fit(*iris), 2.0),
        "search of 20 cells on iris": (lambda: ours.fit(*iris), lambda: theirs.fit(*iris), 0.2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    results = Results()

    def add(what: str, value: float, bar: float, note: str = "") -> None:
        print(f"{what:58s}{value:8.3f}   bar {bar:.2f}   {note}", flush=True)
        results.add(what, round(value, 3), f"≤ {bar}", value <= bar, note)

    with tempfile.TemporaryDirectory() as folder:
        whole, comparison = demo(folder)
        add("make demo in a new clone: seconds", whole, 25.0)
        add("of it the comparison: seconds", comparison, 8.0)
        taken = [cold(f"{folder}/.venv/bin/python") for _ in range(REPEATS)]
        add("cold, installed so: import, fit and predict iris, seconds", float(np.median(taken)), 3.0)
    before, after = after_an_edit()
    add("after an edit of a docstring / before", after / before, 1.15, f"{after:.2f} s / {before:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        own, peer = in_turns(lambda: seconds(script("mercer"), folder), lambda: seconds(script("sklearn.svm"), folder))
        add("warm: import, fit and predict iris / scikit-learn", own / peer, 1.15, f"{own:.2f} s / {peer:.2f} s")
        for what, (ours, theirs, bar) in small_fits().items():
            own, peer = in_turns(ours, theirs, repeats=FITS)
            add(f"{what} / scikit-learn", own / peer, bar, f"{1e3 * own:.2f} ms / {1e3 * peer:.2f} ms")
        X, y = load_iris(return_X_y=True)
        np.savetxt(f"{folder}/iris.csv", np.column_stack([X, y]), fmt="%g", delimiter=",", header="a,b,c,d,kind",
                   comments="")  # fmt: skip
        for words, bar in COMMANDS.items():
            command = [sys.executable, "-m", "mercer", *words.split()]
            (taken,) = in_turns(partial(seconds, command, folder), repeats=3)
            add(f"mercer {words}: seconds", taken, bar)
        told = [first_line(command, folder) for _ in range(3)]
        add(f"mercer {words}: seconds to the first error", float(np.median(told)), 2.0)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(given.json)


if __name__ == "__main__":
    main()
