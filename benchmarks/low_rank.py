"""Landmarks: how much of a kernel matrix they leave out, and machines that learn from them beside scikit-learn's.

    python -m benchmarks.low_rank [--rank 500] [--rows 10000] [--json results.json]

- The share of the trace left out by as many landmarks chosen by randomly pivoted Cholesky, with equal chances, and by
  the seeding of k-means++; and the least share that any rank could leave out, from the eigenvalues of 3000 rows.
- A logistic machine on as many landmarks, beside scikit-learn's ``Nystroem`` (equal chances) with its
  ``LogisticRegression`` at the same λ: time and errors on test rows.
"""

from __future__ import annotations

import argparse

import numpy as np
from scipy import linalg
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from mercer import KernelClassifier
from mercer.grams import Nystrom
from mercer.kernels import Gaussian
from reproductions.results import Results

from . import datasets
from .timing import race, touch_memory

#: λ of the machines, and rows whose eigenvalues are computed.
LAM, EXACT = 1e-5, 3000

TABLES = {
    "unimi": (datasets.unimi, 0.1),
    "a9a": (lambda: datasets.svmlight("a9a/a9a.bz2", "a9a/a9a.t.bz2", 123), 1 / 123),
    "ijcnn1": (lambda: datasets.svmlight("ijcnn1/ijcnn1.trn.bz2", "ijcnn1/ijcnn1.tst.bz2", 22), 2.0),
    "cod-rna": (lambda: datasets.scaled(datasets.svmlight("cod-rna/cod-rna.bz2", "cod-rna/cod-rna.t.bz2", 8)), 0.5),
    "mnist": (lambda: datasets.mnist(10_000), 0.02),
}


def landmarks(name: str, X: np.ndarray, gamma: float, rank: int, results: Results) -> None:
    kernel = Gaussian(gamma=gamma)
    left = {how: Nystrom.of(kernel, X, rank, how, "4GB").missing for how in ("pivoted", "uniform", "farthest")}
    part = X[:: max(1, len(X) // EXACT)][:EXACT].astype(np.float64)
    values = np.clip(linalg.eigvalsh(kernel(part))[::-1], 0.0, None)
    least = float(values[rank:].sum() / values.sum())
    note = f"rank {rank} of {len(X)} rows; " + ", ".join(f"{how} {value:.4g}" for how, value in left.items())
    note += f"; least possible on {len(part)} of the rows {least:.4g}"
    print(f"{name:10s}left out: {note}")
    ok = left["pivoted"] <= 1.02 * left["uniform"]
    results.add(f"{name}: trace left out by pivoted landmarks / equal chances",
                round(left["pivoted"] / left["uniform"], 3), 1.0, ok, note)  # fmt: skip


def machines(name: str, split: datasets.Split, gamma: float, rank: int, rows: int, results: Results) -> None:
    X, y, X_test, y_test = split
    X, y = X[:rows], y[:rows]
    ours = KernelClassifier(Gaussian(gamma=gamma), lam=LAM, rank=rank, tol=1e-5)
    theirs = make_pipeline(
        Nystroem(gamma=gamma, n_components=rank, random_state=0),
        LogisticRegression(C=1 / (LAM * len(X)), max_iter=1000),
    )
    timed = race(3, ours=lambda: ours.fit(X, y), theirs=lambda: theirs.fit(X, y))
    errors = [1 - model.score(X_test, y_test) for model in (ours, theirs)]
    ratio = timed["ours"].median / timed["theirs"].median
    note = (
        f"test error {100 * errors[0]:.2f} % beside {100 * errors[1]:.2f} %; {timed['ours']} beside {timed['theirs']}"
    )
    print(f"{name:10s}time ratio {ratio:.2f}; {note}")
    results.add(f"{name}: time of a logistic machine on {rank} landmarks / scikit-learn's",
                round(ratio, 3), 1.0, ratio <= 1 and errors[0] <= errors[1] + 0.003, note)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rank", type=int, default=500)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    results = Results()
    touch_memory()
    for name, (load, gamma) in TABLES.items():
        split = load()
        if split is not None:
            landmarks(name, split[0][: given.rows], gamma, given.rank, results)
            machines(name, split, gamma, given.rank, given.rows, results)
    results.write(given.json)


if __name__ == "__main__":
    main()
