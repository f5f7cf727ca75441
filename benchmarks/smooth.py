"""Smooth losses against scikit-learn and LIBLINEAR, to the same objective.

    python -m benchmarks.smooth [--json results.json]

- kernel logistic regression to a gap of 1e-6 against LogisticRegression on the explicit map, the same optimum;
- linear logistic regression and the squared hinge against LIBLINEAR on sparse data. LIBLINEAR runs at the loosest of a
  few tolerances that reaches our objective to 1e-6, so that both times are for the same quality.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from mercer import KernelClassifier
from mercer.kernels import Polynomial
from mercer.losses import as_loss
from reproductions.results import Results

from . import datasets
from .timing import race, touch_memory


def objective(X: Any, y: np.ndarray, w: np.ndarray, loss: str, lam: float) -> float:
    return float(0.5 * lam * w @ w + np.mean(as_loss(loss).value(y * (X @ w))))


def linear(name: str, split: datasets.Split | None, results: Results) -> None:
    if split is None:
        return
    X, y = split[0], split[1]
    y = np.where(y == y.max(), 1.0, -1.0)
    lam = 1.0 / len(y)  # C = 1
    for loss in ("logistic", "squared_hinge"):

        def ours(loss: str = loss) -> Any:
            return KernelClassifier(None, loss, lam, fit_intercept=False, tol=1e-3).fit(X, y)

        mine = objective(X, y, ours().coef_[0], loss, lam)

        def theirs(tol: float, loss: str = loss) -> Any:
            if loss == "logistic":
                return LogisticRegression(C=1, solver="liblinear", fit_intercept=False, tol=tol, max_iter=1000).fit(
                    X, y
                )
            # LIBLINEAR's squared hinge has no ½.
            return LinearSVC(C=0.5, loss="squared_hinge", dual=False, fit_intercept=False, tol=tol, max_iter=1000).fit(
                X, y
            )

        tolerances = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
        reached = next(
            (t for t in tolerances if objective(X, y, theirs(t).coef_[0], loss, lam) <= mine * (1 + 1e-6)), 1e-5
        )
        times = race(5, ours=ours, theirs=lambda t=reached: theirs(t))
        other = objective(X, y, times["theirs"].value.coef_[0], loss, lam)
        ratio = times["ours"].median / times["theirs"].median
        print(f"{loss:>14} {name:>8}   mercer {times['ours']}   LIBLINEAR {times['theirs']} (tol {reached:g})")
        print(f"{'':>24} ratio {ratio:.2f}   objectives {mine:.9f} / {other:.9f}")
        results.add(
            f"linear {loss} on {name}: time / LIBLINEAR's",
            round(ratio, 3),
            0.9,
            ratio <= 0.9,
            f"objectives {mine:.8f} / {other:.8f}",
        )


def kernel(results: Results) -> None:
    split = datasets.unimi()
    if split is None:
        return
    X, y = split[0][:4000].astype(np.float64), split[1][:4000]
    lam = 1e-4
    Phi = Polynomial(degree=3).features(X)

    def ours() -> Any:
        return KernelClassifier(Polynomial(degree=3), "logistic", lam, tol=1e-5).fit(X, y)

    def theirs() -> Any:
        return LogisticRegression(C=1 / (lam * len(y)), solver="newton-cholesky", tol=1e-8).fit(Phi, y)

    times = race(3, ours=ours, theirs=theirs)
    model, other = times["ours"].value, times["theirs"].value
    gap = float(model.duality_gap_[0] / model.objective_[0])
    scores = other.decision_function(Phi)
    reference = float(0.5 * lam * np.sum(other.coef_**2) + np.mean(as_loss("logistic").value(y * scores)))
    relative = abs(model.objective_[0] - reference) / reference
    print(f"kernel logistic, cubic, 4000 rows   mercer {times['ours']}   explicit map {times['theirs']}")
    print(f"{'':>24} relative gap {gap:.1e}, objective {model.objective_[0]:.9f} / {reference:.9f}")
    results.add("kernel logistic: relative duality gap", gap, 1e-6, gap <= 1e-6, "4000 rows of unimi, cubic kernel")
    results.add(
        "kernel logistic: objective against the explicit map", relative, 1e-6, relative <= 1e-6,
        f"time ratio {times['ours'].median / times['theirs'].median:.2f}",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    touch_memory()
    linear("a9a", datasets.svmlight("a9a/a9a.bz2", "a9a/a9a.t.bz2", 123, dense=False), results)
    reuters = datasets.svmlight("reuters_lasvm/reuters.trn.bz2", "reuters_lasvm/reuters.tst.bz2", 8315, dense=False)
    linear("reuters", reuters, results)
    kernel(results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
