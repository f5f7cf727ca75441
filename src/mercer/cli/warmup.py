"""``mercer warmup``: compile ahead what first fits, predictions, searches and comparisons need."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
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


def _svc() -> None:
    from .. import SVC

    for k in (3, 2):
        X, y = _classes(150, k)
        model = SVC().fit(X, y)
        model.decision_function(X)
        model.predict(X.astype(np.float32))
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
_ROADS: dict[str, Callable[[], None]] = {
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


def travel(road: str) -> None:
    """Go one road in this process, which compiles what is on it."""
    warnings.simplefilter("ignore")
    _ROADS[road]()


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
    with progress("compiling", len(_ROADS), unit="parts") as watched, ThreadPoolExecutor(thread_count()) as pool:

        def one(road: str) -> None:
            code = f"from mercer.cli.warmup import travel; travel({road!r})"
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            if done.returncode:
                raise OSError(f"{road} could not be compiled: {done.stderr.strip().splitlines()[-1]}")
            watched.advance()

        list(pool.map(one, _ROADS))
    click.echo("What common fits, predictions, searches and comparisons need is compiled.")
