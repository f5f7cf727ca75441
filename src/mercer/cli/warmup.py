"""``mercer warmup``: compile ahead what first fits, predictions, searches and comparisons need."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import numpy as np

from ..runtime import progress, thread_count


def _classes(n: int = 150, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Rows of four numbers in classes that overlap."""
    rng = np.random.default_rng(0)
    y = rng.integers(k, size=n)
    return rng.normal(size=(n, 4)) + y[:, None], y


def _numbers(n: int = 150) -> tuple[np.ndarray, np.ndarray]:
    X, y = _classes(n)
    return X, X[:, 0] * X[:, 1] + y


def _first_fits() -> None:
    from .. import SVC

    for k in (3, 2):
        X, y = _classes(150, k)
        SVC().fit(X, y).predict(X)


def _first_study() -> None:
    """All learners of two classes but the one that :func:`_first_fits` goes along with, which another process does."""
    from ..study import DEFAULT_LEARNERS, compare

    compare("moons:200", learners=[name for name in DEFAULT_LEARNERS if name != "svc"], cv=2, repeats=1, trees=False)


def _svc() -> None:
    from .. import SVC

    _first_fits()
    X, y = _classes(150, 2)
    SVC().fit(X, y).predict(X.astype(np.float32))
    SVC("linear").fit(X, y).predict(X)
    SVC("gaussian(gamma=0.5)").fit(*_classes(1500, 2)).predict(X)


def _linear() -> None:
    from scipy import sparse

    from .. import SVC, KernelClassifier, Pegasos, Perceptron

    X, y = _classes(3000, 2)
    for items in (X, sparse.csr_array(X)):
        for machine in (SVC("linear"), KernelClassifier(None), Pegasos(None), Perceptron(None)):
            machine.fit(items, y).predict(items)


def _kernel_classifier() -> None:
    from .. import KernelClassifier

    for k in (3, 2):
        X, y = _classes(150, k)
        KernelClassifier().fit(X, y).predict_proba(X)


def _regressors() -> None:
    from .. import SVR, KernelRegressor

    X, y = _numbers()
    for machine in (KernelRegressor(), KernelRegressor(loss="huber"), SVR(), SVR("linear")):
        machine.fit(X, y).predict(X)


def _others() -> None:
    from .. import NuSVC, OneClassSVM

    X, y = _classes()
    for machine in (NuSVC(), OneClassSVM()):
        machine.fit(X, y).predict(X)


def _searches() -> None:
    from .. import SVC, KernelClassifier, KernelRegressor, KernelSearchCV

    gammas = {"kernel__gamma": [0.1, 1.0]}
    X, y = _classes()
    KernelSearchCV(SVC("rbf"), {"C": [0.1, 1.0, 10.0], **gammas}).fit(X, y)
    lams = {"lam": [0.1, 0.01], **gammas}
    KernelSearchCV(KernelClassifier("rbf"), lams).fit(X, y)
    KernelSearchCV(KernelRegressor("rbf"), lams).fit(*_numbers())


def _compare(table: str) -> None:
    from . import main

    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "rows.csv")
        np.savetxt(rows, np.column_stack(_numbers() if table == "numbers" else _classes()), fmt="%.4g", delimiter=",")
        main(["compare", table if ":" in table else str(rows), "-o", f"{folder}/report"], standalone_mode=False)


#: What is compiled, a process for each; the longest first.
ROADS: dict[str, Callable[[], None]] = {
    "comparisons of two classes": lambda: _compare("moons:200"),
    "comparisons of three classes": lambda: _compare("classes"),
    "comparisons of numbers": lambda: _compare("numbers"),
    "support vector classifiers": _svc,
    "linear machines": _linear,
    "searches": _searches,
    "kernel classifiers": _kernel_classifier,
    "regressors": _regressors,
    "other machines": _others,
}

#: What a first script and a first comparison need, in two halves that take about as long.
FIRST_ROADS: dict[str, Callable[[], None]] = {"first fits": _first_fits, "a first study": _first_study}


def travel(road: str) -> None:
    """Go one road in this process, which compiles what is on it."""
    warnings.simplefilter("ignore")
    (ROADS | FIRST_ROADS)[road]()


def compile_ahead(
    roads: Iterable[str], done: Callable[[], None] = lambda: None, environment: Mapping[str, str] | None = None
) -> None:
    """Go each road in a process of its own, with as many at once as there are cores."""

    def one(road: str) -> None:
        code = f"from mercer.cli.warmup import travel; travel({road!r})"
        command = [sys.executable, "-c", code]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if run.returncode:
            raise OSError(f"{road} could not be compiled: {run.stderr.strip().splitlines()[-1]}")
        done()

    with ThreadPoolExecutor(thread_count()) as pool:
        list(pool.map(one, roads))


@click.command()
def warmup() -> None:
    """Compile ahead what first fits, predictions, searches and comparisons need.

    Loops are compiled when they are first needed, some seconds for each kind of machine, and kept on disk. This does it
    for the common ones at once, on all cores: after an installation from source, a new Numba, or in the image of a
    container. What is compiled already costs some seconds.

    \b
    Example:
      mercer warmup
    """
    with progress("compiling", len(ROADS), unit="parts") as watched:
        compile_ahead(ROADS, watched.advance)
    click.echo("What common fits, predictions, searches and comparisons need is compiled.")
