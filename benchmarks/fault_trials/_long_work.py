"""Work that takes long, one kind after the other in one process, which somebody else interrupts.

    python -m benchmarks.fault_trials._long_work

reads the name of a kind, makes its work ready, prints "go" and begins; when it is interrupted it prints the time, and
fits a small machine, which must come out as it did before anything was interrupted. An empty line begins the same work
anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import mercer
from mercer import kernels

Work = Callable[[], Any]


#: Whether work is to be short, to load what is compiled.
short = False


def rows(n: int, width: int = 10, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal((_size(n), width))


def _size(n: int, most: int = 300) -> int:
    """How many there are; of very many, enough for loops that few never reach."""
    return min(n, 1200 if n >= 50_000 else most) if short else n


def coins(n: int, sides: int = 2) -> Any:
    """Labels that have nothing to do with any row: the hardest to learn."""
    return np.random.default_rng(1).permutation(np.arange(_size(n)) % sides)


def strings(n: int, letters: int) -> list[str]:
    drawn = np.random.default_rng(2).choice(list("ACGT"), (_size(n), _size(letters, 30)))
    return ["".join(row) for row in drawn]


def graphs(n: int, nodes: int) -> list[Any]:
    rng, n, nodes = np.random.default_rng(3), _size(n), _size(nodes, 10)
    return [(nodes, rng.integers(0, nodes, (3 * nodes, 2)), list(rng.choice(list("CON"), nodes))) for _ in range(n)]


def fit(model: Any, X: Any, y: Any = None) -> Work:
    return lambda: model.fit(X) if y is None else model.fit(X, y)


def predicting() -> Work:
    model = mercer.SVC().fit(rows(4000), coins(4000))
    new = rows(1_000_000)
    return lambda: model.predict(new)


def predicting_strings() -> Work:
    model = mercer.SVC(kernels.LocalAlignment(), tol=0.1).fit(strings(40, 20), coins(40))
    new = strings(40, 60_000)
    return lambda: model.predict(new)


def reading(kind: str) -> Work:
    path = Path(tempfile.mkdtemp()) / f"rows.{kind}"
    with path.open("w") as file:
        if kind == "csv":
            file.write(",".join(f"c{k}" for k in range(20)) + ",label\n")
            line = ",".join(f"{k / 7:.5f}" for k in range(20)) + ",{}\n"
        elif kind == "svmlight":
            line = "{} " + " ".join(f"{k + 1}:{k / 7:.5f}" for k in range(20)) + "\n"
        else:
            line = ">name label={}\n" + "ACGT" * 100 + "\n"
        for k in range(_size(400_000)):
            file.write(line.format(k % 2))
    return lambda: mercer.read(str(path), max_bytes="4GB")


def explaining() -> Work:
    from mercer.explain import overview

    X, y = rows(3000, 40), coins(3000)
    model = mercer.SVC().fit(X, y)
    return lambda: overview(model, X, y)


def diagnosing() -> Work:
    from mercer.diagnostics import diagnose

    return lambda: diagnose("gaussian", rows(6000), coins(6000))


def comparing() -> Work:
    from mercer.io import read
    from mercer.study import compare

    return lambda: compare(read(f"waves:{_size(3000, 60)}"))


def nested() -> Work:
    from mercer.search import nested_cross_validation

    search = mercer.KernelSearchCV(mercer.SVC(), GAMMAS | {"C": [1, 10, 100, 1000]}, cv=3)
    return lambda: nested_cross_validation(search, rows(3000), coins(3000), cv=3)


GAMMAS = {"kernel__gamma": [0.01, 0.1, 1.0]}


def numbers(n: int) -> Any:
    return rows(n, 1, seed=5).ravel()


def searching(model: Any, grid: dict[str, Any], X: Any, y: Any, **options: Any) -> Work:
    return fit(mercer.KernelSearchCV(model, grid, cv=3, **options), X, y)


#: By name, what makes the work ready.
KINDS: dict[str, Callable[[], Work]] = {
    "SVC": lambda: fit(mercer.SVC(C=100), rows(12_000), coins(12_000)),
    "SVC of wide rows": lambda: fit(mercer.SVC(C=10), rows(6000, 1500), coins(6000)),
    "SVC of little memory": lambda: fit(mercer.SVC(C=10, memory="1MB"), rows(12_000), coins(12_000)),
    "SVC of ten classes": lambda: fit(mercer.SVC(C=100), rows(12_000), coins(12_000, 10)),
    "SVC, linear": lambda: fit(mercer.SVC(None, C=100), rows(100_000, 100), coins(100_000)),
    "SVC, linear, sparse": lambda: fit(
        mercer.SVC(None, C=100),
        sparse.random_array((_size(100_000), 5000), density=0.004, rng=0, format="csr"),
        coins(100_000),
    ),
    "SVC, hard margin": lambda: fit(mercer.SVC(C=np.inf), rows(3000), coins(3000)),
    "SVC of a mixture": lambda: fit(mercer.SVC("mixture(gaussian, linear, laplacian)"), rows(4000), coins(4000)),
    "SVC on landmarks": lambda: fit(mercer.SVC(rank=1500), rows(15_000), coins(15_000)),
    "SVC, Laplacian": lambda: fit(mercer.SVC("laplacian"), rows(6000, 300), coins(6000)),
    "SVC, Matern": lambda: fit(mercer.SVC("matern(nu=0.7)"), rows(4000), coins(4000)),
    "LocalAlignment": lambda: fit(mercer.SVC(kernels.LocalAlignment(), tol=0.1), strings(500, 400), coins(500)),
    "LocalAlignment, long": lambda: fit(mercer.SVC(kernels.LocalAlignment(), tol=0.1), strings(12, 40_000), coins(12)),
    "Subsequence": lambda: fit(mercer.SVC(kernels.Subsequence(k=4)), strings(500, 300), coins(500)),
    "Mismatch": lambda: fit(mercer.SVC(kernels.Mismatch(k=8, m=3)), strings(300, 1500), coins(300)),
    "WeightedDegree": lambda: fit(mercer.SVC(kernels.WeightedDegree(k=10)), strings(4000, 1500), coins(4000)),
    "Spectrum": lambda: fit(mercer.SVC(kernels.Spectrum(p=8)), strings(5000, 3000), coins(5000)),
    "ShortestPath": lambda: fit(mercer.SVC(kernels.ShortestPath()), graphs(400, 300), coins(400)),
    "RandomWalk": lambda: fit(mercer.SVC(kernels.RandomWalk(decay=0.01)), graphs(150, 60), coins(150)),
    "Graphlet": lambda: fit(mercer.SVC(kernels.Graphlet(size=5)), graphs(60, 300), coins(60)),
    "WeisfeilerLehman": lambda: fit(mercer.SVC(kernels.WeisfeilerLehman(h=8)), graphs(3000, 100), coins(3000)),
    "KernelClassifier": lambda: fit(mercer.KernelClassifier(lam=1e-7), rows(8000), coins(8000)),
    "KernelClassifier, lazy": lambda: fit(mercer.KernelClassifier(memory="50MB"), rows(12_000, 50), coins(12_000)),
    "KernelClassifier, softmax": lambda: fit(mercer.KernelClassifier(lam=1e-6), rows(5000), coins(5000, 10)),
    "KernelClassifier on landmarks": lambda: fit(mercer.KernelClassifier(rank=2500), rows(20_000), coins(20_000)),
    "KernelClassifier, streamed": lambda: fit(
        mercer.KernelClassifier(rank=700, memory="20MB"), rows(100_000), coins(100_000)
    ),
    "KernelClassifier of a mixture": lambda: fit(
        mercer.KernelClassifier("mixture(gaussian, linear, p=2)"), rows(3000), coins(3000)
    ),
    "KernelRegressor": lambda: fit(mercer.KernelRegressor(lam=1e-9), rows(9000), numbers(9000)),
    "KernelRegressor, Huber": lambda: fit(mercer.KernelRegressor(loss="huber"), rows(5000), numbers(5000)),
    "KernelRegressor, pinball": lambda: fit(mercer.KernelRegressor(loss="pinball"), rows(3500), numbers(3500)),
    "KernelQuantiles": lambda: fit(mercer.KernelQuantiles(), rows(2500), numbers(2500)),
    "SVR": lambda: fit(mercer.SVR(C=100), rows(8000), numbers(8000)),
    "NuSVC": lambda: fit(mercer.NuSVC(nu=0.3), rows(10_000), coins(10_000)),
    "NuSVR": lambda: fit(mercer.NuSVR(), rows(6000), numbers(6000)),
    "OneClassSVM": lambda: fit(mercer.OneClassSVM(nu=0.3), rows(20_000)),
    "SVDD": lambda: fit(mercer.SVDD(nu=0.3), rows(15_000)),
    "Perceptron": lambda: fit(mercer.Perceptron("gaussian", epochs=1000), rows(10_000), coins(10_000)),
    "Perceptron, linear": lambda: fit(mercer.Perceptron(epochs=10_000), rows(50_000), coins(50_000)),
    "Pegasos": lambda: fit(mercer.Pegasos("gaussian", steps=3_000_000), rows(10_000), coins(10_000)),
    "Pegasos, linear": lambda: fit(mercer.Pegasos(None, steps=300_000_000), rows(50_000), coins(50_000)),
    "Calibrated": lambda: fit(mercer.Calibrated(mercer.SVC(C=10)), rows(8000), coins(8000)),
    "TunedThreshold": lambda: fit(mercer.TunedThreshold(mercer.SVC(C=10), scoring="f1"), rows(8000), coins(8000)),
    "Conformal": lambda: fit(mercer.Conformal(mercer.KernelRegressor()), rows(6000), numbers(6000)),
    "search, SVC": lambda: searching(mercer.SVC(), GAMMAS | {"C": [1, 10, 100, 1000]}, rows(4000), coins(4000)),
    "search, ridge": lambda: searching(
        mercer.KernelRegressor(), GAMMAS | {"lam": np.logspace(-8, 0, 9)}, rows(4000), numbers(4000)
    ),
    "search, two jobs": lambda: searching(
        mercer.SVC(), GAMMAS | {"C": [1, 10, 100, 1000]}, rows(4000), coins(4000), n_jobs=2
    ),
    "search, strings": lambda: searching(
        mercer.SVC(kernels.LocalAlignment(), tol=0.1), {"C": [1, 10]}, strings(400, 300), coins(400)
    ),
    "predicting": predicting,
    "predicting strings": predicting_strings,
    "reading CSV": lambda: reading("csv"),
    "reading svmlight": lambda: reading("svmlight"),
    "reading FASTA": lambda: reading("fasta"),
    "explaining": explaining,
    "diagnosing": diagnosing,
    "comparing": comparing,
    "nested cross-validation": nested,
}


def _small_fit() -> str:
    X, y = rows(300), coins(300)
    found = [mercer.SVC().fit(X, y).dual_coef_, mercer.KernelClassifier().fit(X, y).dual_coef_]
    return hashlib.sha256(b"".join(each.tobytes() for each in found)).hexdigest()


def _ready(name: str) -> Work:
    """The work of a kind; what it needs has been compiled."""
    global short
    short = True
    with contextlib.suppress(ValueError):  # so few rows may be refused
        KINDS[name]()()
    short = False
    return KINDS[name]()


def _tried(work: Work) -> tuple[str, float]:
    """How work ended, and when; Ctrl-C is for the work alone."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        print("go", flush=True)
        work()
        how = "finished"
    except KeyboardInterrupt:
        how = "interrupted"
    ended = time.monotonic()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return how, ended


def main() -> None:
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    right = _small_fit()
    work: Work = _small_fit
    for line in sys.stdin:
        if line.strip():
            work = _ready(line.strip())
        how, ended = _tried(work)
        print(f"{how} {ended} {'usable' if _small_fit() == right else 'spoiled'}", flush=True)


if __name__ == "__main__":
    main()
