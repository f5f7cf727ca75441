"""How costs grow with rows and columns, and how well they are foretold.

    python -m benchmarks.growth [--most 8000] [--plot growth.pdf] [--json results.json]

- Seconds of products with every Gram and of fits with every solver against n (at 20 columns) and against d (at 2000
  rows), with exponents by least squares of logarithms. Rows are made; those of a graphics card where there is one.
- Seconds of four learners against n, five sizes each, beside what in scikit-learn solves the same problem or nearly
  so, with exponents of both; `--plot` draws them.
- Seconds and memory of fits of real tables, foretold from short fits of some of their rows, beside what they took. Each
  fit runs in a process of its own; its memory is that of the process, foretold as what it had before and the fit's own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC as PeerSVC

from mercer import SVC, KernelClassifier, KernelRegressor, KernelSearchCV, Pegasos, Perceptron
from mercer.cuda import available
from mercer.grams import Cuda, Dense, Features, Lazy, Nystrom, Streamed
from mercer.growth import PowerLaw, foretell
from mercer.kernels import Gaussian
from reproductions.results import Results

from . import datasets
from .timing import touch_memory

KERNEL, COLUMNS, ROWS, RANK = Gaussian(gamma=0.05), 20, 2000, 100
#: Numbers of columns that costs are measured at.
WIDTHS = (10, 40, 160)


def table(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=n) > 0, 1, -1)


def product(make: Callable[[np.ndarray], Any], X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    gram, z = make(X), y.astype(np.float64)
    return lambda: gram.matvec(z)


def learning(machine: Any, X: np.ndarray, y: np.ndarray) -> Callable[[], Any]:
    return lambda: machine.fit(X, y)


GRAMS: dict[str, Callable[[np.ndarray], Any]] = {
    "Dense": lambda X: Dense(KERNEL.matrix(X, X)),
    "Lazy": lambda X: Lazy(KERNEL, X),
    "Features": Features,
    "Nystrom": lambda X: Nystrom.of(KERNEL, X, RANK),
    "Streamed": lambda X: Streamed.of(KERNEL, X, RANK, memory="1MB"),
    **({"Cuda": lambda X: Cuda(KERNEL, X)} if available() else {}),
}
MACHINES: dict[str, Any] = {
    "SVM": SVC(KERNEL),
    "Newton, matrix in memory": KernelClassifier(KERNEL, lam=1e-4, tol=1e-4),
    "Newton, matrix computed": KernelClassifier(KERNEL, lam=1e-4, tol=1e-4, memory="20MB"),
    "Newton, landmarks": KernelClassifier(KERNEL, lam=1e-4, tol=1e-4, rank=RANK),
    "ridge": KernelRegressor(KERNEL, lam=1e-4, tol=1e-4),
    "kernel Pegasos": Pegasos(kernel=KERNEL, lam=1e-3, random_state=0),
    "kernel Perceptron": Perceptron(KERNEL, epochs=5, random_state=0),
}
COSTS: dict[str, Callable[..., Callable[[], Any]]] = {
    **{f"K·z, {name}": partial(product, make) for name, make in GRAMS.items()},
    **{name: partial(learning, machine) for name, machine in MACHINES.items()},
}


def shortest(work: Callable[[], Any], enough: float = 0.3, most: int = 5) -> float:
    """The least of some times, after one that is not counted."""
    work()
    taken: list[float] = []
    while len(taken) < most and sum(taken) < enough:
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return min(taken)


def exponents(most: int, results: Results) -> dict[str, tuple[list[int], list[float], PowerLaw]]:
    lengths = [most // 4, most // 2, most]
    print(f"{'seconds of':28s}{'n^':>7s}{'d^':>7s}   at n = {lengths} with {COLUMNS} columns")
    found = {}
    for name, cost in COSTS.items():
        by_n = [shortest(cost(*table(n, COLUMNS))) for n in lengths]
        by_d = [shortest(cost(*table(ROWS, d))) for d in WIDTHS]
        law, across = PowerLaw.fitted({"n": lengths}, by_n), PowerLaw.fitted({"d": WIDTHS}, by_d)
        found[name] = lengths, by_n, law
        seconds = "  ".join(f"{value:8.4f}" for value in by_n)
        print(f"{name:28s}{law.exponents['n']:7.2f}{across.exponents['d']:7.2f}   {seconds}", flush=True)
        note = f"d^{across.exponents['d']:.2f} at {ROWS} rows; seconds at n = {lengths}: {seconds}"
        results.add(f"{name}: exponent of n", round(law.exponents["n"], 2), None, True, note)
    return found


def plot(found: dict[str, tuple[list[int], list[float], PowerLaw]], path: str) -> None:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 6))
    for name, (lengths, seconds, law) in found.items():
        line = axes.loglog(lengths, seconds, "o", label=f"{name}: n^{law.exponents['n']:.2f}")[0]
        axes.loglog(lengths, [law(n=n) for n in lengths], "-", color=line.get_color())
    axes.set(xlabel="rows", ylabel="seconds")
    axes.legend(fontsize="small")
    figure.savefig(path, bbox_inches="tight")


# -- beside scikit-learn ----------------------------------------------------------------------------------------------

GAMMA, GRID = 0.05, [0.1, 1.0, 10.0]


def same_landmarks(last: Any, n: int) -> Any:
    """A linear learner on all n landmarks: the kernel machine itself, with its matrix factorised first."""
    return make_pipeline(Nystroem(gamma=GAMMA, n_components=n, random_state=0), last)


#: What is compared: sizes of ours, sizes of the peer, both makers of a learner for n rows, and who the peer is.
RACES: dict[str, tuple[list[int], list[int], Callable[[int], Any], Callable[[int], Any], str]] = {
    "SVC": (
        [2000, 4000, 8000, 16_000, 32_000],
        [1000, 2000, 4000, 8000, 16_000],
        lambda n: SVC(KERNEL),
        lambda n: PeerSVC(gamma=GAMMA, cache_size=1000),
        "SVC: the same problem",
    ),
    "KernelClassifier": (
        [1000, 2000, 4000, 8000, 16_000],
        [250, 500, 1000, 2000, 4000],
        lambda n: KernelClassifier(KERNEL, lam=1e-4, tol=1e-4),
        lambda n: same_landmarks(LogisticRegression(C=1e4 / n, max_iter=1000), n),
        "LogisticRegression on Nystroem with all rows as landmarks: the same problem up to the intercept",
    ),
    "Pegasos": (
        [1000, 2000, 4000, 8000, 16_000],
        [250, 500, 1000, 2000, 4000],
        lambda n: Pegasos(kernel=KERNEL, lam=1e-3, random_state=0),
        lambda n: same_landmarks(SGDClassifier(alpha=1e-3, random_state=0), n),
        "SGDClassifier on Nystroem with all rows as landmarks: same objective but for the intercept, own rule to stop",
    ),
    "KernelSearchCV": (
        [500, 1000, 2000, 4000, 8000],
        [500, 1000, 2000, 4000, 8000],
        lambda n: KernelSearchCV(SVC(KERNEL), {"C": GRID}, cv=3),
        lambda n: GridSearchCV(PeerSVC(gamma=GAMMA, cache_size=1000), {"C": GRID}, cv=3, n_jobs=2),
        "GridSearchCV over SVC on two processes: the same cells",
    ),
}


def beside_peers(results: Results) -> dict[str, tuple[list[int], list[float], PowerLaw]]:
    print(f"{'seconds of':46s}{'n^':>6s}   at n")
    found = {}
    for name, (own_sizes, peer_sizes, own, peer, who) in RACES.items():
        for title, sizes, make in ((name, own_sizes, own), (f"scikit-learn's for {name}", peer_sizes, peer)):
            # One fit of every size is not counted: some code is compiled for large tables only.
            seconds = [shortest(learning(make(n), *table(n, COLUMNS)), most=1) for n in sizes]
            found[title] = sizes, seconds, PowerLaw.fitted({"n": sizes}, seconds)
            shown = "  ".join(f"{n}: {value:.3f}" for n, value in zip(sizes, seconds, strict=True))
            exponent = found[title][2].exponents["n"]
            print(f"{title:46s}{exponent:6.2f}   {shown}", flush=True)
            note = f"seconds at n = {shown}" + ("" if title == name else f"; {who}")
            results.add(f"{title}, five sizes: exponent of n", round(exponent, 2), None, True, note)
    return found


# -- foretold and measured --------------------------------------------------------------------------------------------


def real(name: str) -> tuple[Any, np.ndarray] | None:
    """Rows and labels of a data set, standardised where they are not on one scale."""
    if name == "spambase":
        found = datasets.spambase()
        return None if found is None else (np.log1p(found[0]), found[1])
    loaders: dict[str, Callable[[], Any]] = {
        "unimi": datasets.unimi,
        "a9a": lambda: datasets.svmlight("a9a/a9a.bz2", "a9a/a9a.t.bz2", 123),
        "ijcnn1": lambda: datasets.svmlight("ijcnn1/ijcnn1.trn.bz2", "ijcnn1/ijcnn1.tst.bz2", 22),
        "letter": lambda: datasets.svmlight("letter/letter.scale.bz2", "letter/letter.scale.t.bz2", 16),
        "cod-rna": lambda: datasets.scaled(datasets.svmlight("cod-rna/cod-rna.bz2", "cod-rna/cod-rna.t.bz2", 8)),
    }
    split = loaders[name]()
    return None if split is None else (split[0].astype(np.float64), split[1])


LEARNERS: dict[str, Callable[[], Any]] = {
    "svc": lambda: SVC("rbf"),
    "kernel-logistic": lambda: KernelClassifier("rbf", lam=1e-4, tol=1e-4),
    "kernel-logistic, 500 landmarks": lambda: KernelClassifier("rbf", lam=1e-4, tol=1e-4, rank=500),
}
#: Tables, rows of them, and learners.
PAIRS = [
    ("unimi", 10_000, "svc"),
    ("unimi", 10_000, "kernel-logistic"),
    ("spambase", 4601, "kernel-logistic"),
    ("a9a", 20_000, "svc"),
    ("a9a", 32_561, "kernel-logistic, 500 landmarks"),
    ("ijcnn1", 49_990, "svc"),
    ("ijcnn1", 20_000, "kernel-logistic"),
    ("letter", 15_000, "svc"),
    ("cod-rna", 59_535, "svc"),
    ("cod-rna", 20_000, "kernel-logistic"),
    ("cod-rna", 59_535, "kernel-logistic, 500 landmarks"),
]


def measured(name: str, n: int, learner: str) -> dict[str, float] | None:
    """In this process: what is foretold of a fit, and what it takes."""
    found = real(name)
    if found is None:
        return None
    order = np.random.default_rng(0).permutation(len(found[1]))[:n]  # some files have one class after the other
    X, y = found[0][order], found[1][order]
    machine = LEARNERS[learner]().fit(X[:500], y[:500])  # loads what is compiled
    before = _peak()
    told = foretell(machine, X, y)
    begin = time.perf_counter()
    machine.fit(X, y)
    return {
        "seconds": time.perf_counter() - begin,
        "bytes": _peak(),
        "foretold seconds": told.seconds,
        "foretold bytes": told.bytes + before,
    }


def _peak() -> float:
    return 1024.0 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def foretold(results: Results) -> None:
    for name, n, learner in PAIRS:
        command = [sys.executable, "-m", "benchmarks.growth", "--one", json.dumps([name, n, learner])]
        took = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
        if took is None:
            print(f"{name}: the data are not at hand; skipped")
            continue
        for what in ("seconds", "bytes"):
            ratio = took[f"foretold {what}"] / took[what]
            unit = 1.0 if what == "seconds" else 1e6
            note = f"foretold {took[f'foretold {what}'] / unit:.3g}, measured {took[what] / unit:.3g}"
            note += "" if what == "seconds" else " MB of the process"
            title = f"{learner}, {n} rows of {name}: {what} foretold / measured"
            print(f"{title:80s}{ratio:6.2f}   {note}", flush=True)
            results.add(title, round(ratio, 2), "½ to 2", 0.5 <= ratio <= 2, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=8000, help="rows of the largest made table")
    parser.add_argument("--plot", metavar="FILE")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--one", help="a table, rows and a learner as JSON: one fit in this process")
    parser.add_argument("--foretold-only", action="store_true", help="leave the exponents out")
    parser.add_argument("--peers-only", action="store_true", help="only the learners beside scikit-learn's")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.one:
        print(json.dumps(measured(*json.loads(given.one))))
        return
    results = Results()
    if not given.foretold_only:
        touch_memory()
        if not given.peers_only:
            exponents(given.most, results)
        found = beside_peers(results)
        if given.plot:
            plot(found, given.plot)
    if not given.peers_only:
        foretold(results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(given.json)


if __name__ == "__main__":
    main()
