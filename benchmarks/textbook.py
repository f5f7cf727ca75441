"""The textbook learners and kernel matrices against their peers.

    python -m benchmarks.textbook [--json results.json]

- linear Pegasos and Perceptron against scikit-learn's SGDClassifier and Perceptron, the same number of updates;
- kernel Perceptron and kernel Pegasos against a plain NumPy loop over the same kernel matrix, same result;
- kernel matrices in float32 against sklearn.metrics.pairwise.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import linear_model
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import pairwise
from sklearn.preprocessing import StandardScaler

from mercer import Pegasos, Perceptron, losses, solvers
from mercer.grams import Dense
from mercer.kernels import Gaussian, Laplacian, Polynomial
from mercer.problems import Problem
from reproductions.data import data_path
from reproductions.results import Results

from .timing import race, touch_memory

REPEATS = 7


def load() -> dict[str, tuple[Any, np.ndarray]]:
    """unimi (dense, standardised) and a9a (sparse), where they are."""
    sets: dict[str, tuple[Any, np.ndarray]] = {}
    unimi = data_path("unimi/unimi.csv")
    if unimi:
        table = np.loadtxt(unimi, delimiter=",", skiprows=1)
        sets["unimi"] = StandardScaler().fit_transform(table[:8000, :-1]), table[:8000, -1]
    a9a = data_path("a9a/a9a.bz2")
    if a9a:
        X, y = load_svmlight_file(str(a9a), n_features=123)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # SGDClassifier takes no others
        sets["a9a"] = X, y
    return sets


def linear_learners(sets: dict, results: Results) -> None:
    epochs = 10
    lam = 1e-3
    for name, (X, y) in sets.items():
        n = X.shape[0]
        pairs: list[tuple[str, Callable, Callable]] = [
            (
                "Pegasos",
                lambda X=X, y=y, n=n: Pegasos(lam=lam, steps=epochs * n, average=True, random_state=0).fit(X, y),
                lambda X=X, y=y: linear_model.SGDClassifier(
                    alpha=lam, max_iter=epochs, tol=None, average=True, random_state=0
                ).fit(X, y),
            ),
            (
                "Perceptron",
                lambda X=X, y=y: Perceptron(epochs=epochs, random_state=0).fit(X, y),
                lambda X=X, y=y: linear_model.Perceptron(max_iter=epochs, tol=None, random_state=0).fit(X, y),
            ),
        ]
        for learner, ours, theirs in pairs:
            times = race(REPEATS, ours=ours, theirs=theirs)
            ratio = times["ours"].median / times["theirs"].median
            accuracy = {who: 100 * times[who].value.score(X, y) for who in times}
            print(f"{learner:>10} {name:>6}  {epochs} epochs   mercer {times['ours']}   scikit-learn {times['theirs']}")
            print(f"{'':>18}  ratio {ratio:.2f}   accuracy {accuracy['ours']:.1f} % / {accuracy['theirs']:.1f} %")
            results.add(
                f"linear {learner} on {name}: time / scikit-learn's",
                round(ratio, 3),
                0.9,
                ratio <= 0.9,
                f"{epochs} passes each; accuracy {accuracy['ours']:.1f} / {accuracy['theirs']:.1f} %; "
                f"noise ±{100 * max(t.spread for t in times.values()):.0f} %",
            )


def numpy_perceptron(K: np.ndarray, y: np.ndarray, epochs: int) -> np.ndarray:
    """The kernel Perceptron as one would write it: a dot product for every visit."""
    z = np.zeros(len(y))
    for _ in range(epochs):
        mistakes = 0
        for t in range(len(y)):
            if y[t] * (K[t] @ z) <= 0:
                z[t] += y[t]
                mistakes += 1
        if mistakes == 0:
            break
    return z


def numpy_pegasos(K: np.ndarray, y: np.ndarray, lam: float, draws: np.ndarray) -> np.ndarray:
    """Kernel Pegasos as the textbook writes it."""
    alpha = np.zeros(len(y))
    for t, i in enumerate(draws, start=1):
        if y[i] / (lam * t) * np.sum(alpha * y * K[i]) < 1:
            alpha[i] += 1
    return alpha * y / (lam * len(draws))


def kernel_learners(sets: dict, results: Results) -> None:
    """Our kernel Pegasos reads a row of the matrix for every violated margin, and little else: where many margins are
    violated (large λ) and the matrix is larger than the processor's cache, the speed of memory is the limit, of which
    rows that are added eight at a time make the most."""
    if "unimi" not in sets:
        return
    whole, labels = sets["unimi"]
    for rows, lam, T in ((2000, 1e-4, 50_000), (4000, 1e-4, 50_000), (4000, 1e-3, 50_000)):
        X, y = whole[:rows], labels[:rows]
        K = Gaussian.from_sigma(1.0)(X)
        draws = np.random.RandomState(0).randint(0, rows, T)
        gram = Dense(K)
        races: dict[str, tuple[Callable, Callable]] = {}
        if lam == 1e-4:
            races[f"kernel Perceptron, {rows} rows, 20 epochs"] = (
                lambda g=gram, y=y: (
                    solvers.MistakeDriven(epochs=20, order="file").solve(Problem(g, y, losses.PerceptronLoss())).z
                ),
                lambda K=K, y=y: numpy_perceptron(K, y, 20),
            )
        races[f"kernel Pegasos, {rows} rows, λ={lam:g}, {T} steps"] = (
            lambda g=gram, y=y, draws=draws, lam=lam: (
                solvers.PegasosSteps(steps=draws.size, average=False, sampling=draws, lead=1)
                .solve(Problem(g, y, losses.Hinge(), lam))
                .z
            ),
            lambda K=K, y=y, draws=draws, lam=lam: numpy_pegasos(K, y, lam, draws),
        )
        for name, (ours, theirs) in races.items():
            times = race(5, ours=ours, theirs=theirs)
            speedup = times["theirs"].median / times["ours"].median
            same = np.allclose(times["ours"].value, times["theirs"].value, rtol=1e-9)
            print(f"{name}   mercer {times['ours']}   NumPy {times['theirs']}   {speedup:.0f}×, same result: {same}")
            results.add(
                f"{name}: times faster than a NumPy loop",
                round(speedup, 1),
                15,
                speedup >= 15 and same,
                f"same kernel matrix (σ=1, unimi) for both; same coefficients: {same}",
            )


def matrices(sets: dict, results: Results) -> None:
    if "unimi" not in sets:
        return
    X = sets["unimi"][0].astype(np.float32)
    exact = X[:1500].astype(np.float64)
    cases: list[tuple[Any, Callable]] = [
        (Gaussian(gamma=0.05), lambda A: pairwise.rbf_kernel(A, gamma=0.05)),
        (Polynomial(degree=3), lambda A: pairwise.polynomial_kernel(A, degree=3, gamma=1, coef0=1)),
        (Laplacian(gamma=0.1), lambda A: pairwise.laplacian_kernel(A, gamma=0.1)),
    ]
    for kernel, theirs in cases:
        times = race(REPEATS, ours=lambda k=kernel: k(X), theirs=lambda f=theirs: f(X))
        ratio = times["ours"].median / times["theirs"].median
        reference = theirs(exact)
        error = float(np.linalg.norm(times["ours"].value[:1500, :1500] - reference) / np.linalg.norm(reference))
        print(f"{kernel}, {len(X)} rows   mercer {times['ours']}   scikit-learn {times['theirs']}")
        print(f"{'':>18}  ratio {ratio:.2f}   relative error {error:.1e}")
        results.add(
            f"matrix of {kernel} in float32: time / scikit-learn's",
            round(ratio, 3),
            0.5,
            ratio <= 0.5 and error <= 1e-5,
            f"{len(X)}² entries; relative error {error:.1e} (bar 1e-5)",
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    sets = load()
    touch_memory()
    linear_learners(sets, results)
    kernel_learners(sets, results)
    matrices(sets, results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
