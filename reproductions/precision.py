"""Does the type of numbers matter? Rows in float32 beside the same numbers in float64, and bounds that both must keep.

    python -m reproductions.precision [--only offsets,tables,outliers,choices] [--fits 400] [--json results.json]

Every estimator is fitted with every kernel to rows around several offsets, and to scikit-learn's classic tables without
any scaling: once to float32, once to the same numbers in float64. New rows may be answered differently only where the
decision value in float64 is within the stated error of the boundary; numbers may differ by the stated error. A fit that
has not converged must say the same as well. ``outliers`` counts training rows that machines for what is usual leave
outside, ``choices`` compares searches and probabilities.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.base import clone, is_classifier, is_outlier_detector
from sklearn.model_selection import KFold, train_test_split

from mercer import (
    SVC,
    SVDD,
    SVR,
    Calibrated,
    KernelClassifier,
    KernelQuantiles,
    KernelRegressor,
    KernelSearchCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Pegasos,
    Perceptron,
)  # fmt: skip

from .results import Results

#: What scores of rows in float32 may be off, as a part of the range of scores.
ERROR = 5e-4
OFFSETS = (0, 30, 1e3, 1e4, 1e5)
KERNELS = (
    "linear", "polynomial(degree=3)", "gaussian", "laplacian", "matern(nu=2.5)", "cosine", "linear + gaussian",
    "normalised(polynomial(degree=2)) * gaussian",
)  # fmt: skip
STEPS = 5000
MACHINES = (
    SVC(max_iter=STEPS), NuSVC(nu=0.2, max_iter=STEPS), SVR(max_iter=STEPS), NuSVR(max_iter=STEPS),
    OneClassSVM(nu=0.1, max_iter=STEPS), SVDD(nu=0.1, max_iter=STEPS), KernelClassifier(max_iter=30),
    KernelRegressor(), KernelQuantiles(max_iter=30), Perceptron(epochs=20, random_state=0),
    Pegasos(steps=1000, random_state=0),
)  # fmt: skip


def scores(model: Any, X: np.ndarray) -> np.ndarray:
    """Decision values, or predicted numbers, a column each."""
    found = model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X)
    return np.asarray(found, dtype=np.float64).reshape(len(X), -1)


def beyond(single: Any, double: Any, X: np.ndarray, new: np.ndarray) -> tuple[int, int, float]:
    """Answers that differ, those that the stated error does not excuse, and the largest error of a score.

    The last is a part of the range of the scores of all rows, those learned from among them.
    """
    everything = scores(double, np.vstack([X, new]).astype(np.float64))
    expected, ranges, X = everything[len(X) :], np.maximum(np.ptp(everything, axis=0), 1e-300), new
    errors = np.abs(scores(single, X) - expected) / ranges
    if not (is_classifier(double) or is_outlier_detector(double)):
        wrong = int((errors > ERROR).any(axis=1).sum())
        return wrong, wrong, float(errors.max())
    differs = single.predict(X) != double.predict(X.astype(np.float64))
    # Distance to the boundary: of zero, or of the two largest scores from each other.
    ordered = np.sort(expected, axis=1)
    away = np.abs(expected[:, 0]) if expected.shape[1] == 1 else ordered[:, -1] - ordered[:, -2]
    return int(differs.sum()), int((differs & (away > ERROR * ranges.max())).sum()), float(errors.max())


def compare(machine: Any, kernel: str, X: np.ndarray, y: np.ndarray, new: np.ndarray) -> tuple[int, int, float] | None:
    """What differs between float32 and float64; ``None`` where both refuse in the same words."""
    models, refusals = [], []
    for rows in (X, X.astype(np.float64)):
        try:
            models.append(clone(machine).set_params(kernel=kernel).fit(rows, y))
        except ValueError as error:
            refusals.append(str(error))
    if refusals:
        return None if len(set(refusals)) == 1 and not models else (len(new), len(new), np.inf)
    single, double = models
    if getattr(single, "status_", None) != getattr(double, "status_", None):
        return len(new), len(new), np.inf
    return beyond(single, double, X, new)


def targets(machine: Any, labels: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    return labels if is_classifier(machine) or is_outlier_detector(machine) else numbers


def all_kernels(
    what: str, machine: Any, data: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]], results: Results
) -> None:
    """One figure: rows that no stated error excuses, for all kernels and some data."""
    rows = differing = unexcused = refused = 0
    worst = 0.0
    for X, y, new in data:
        for kernel in KERNELS:
            found = compare(machine, kernel, X, y, new)
            if found is None:
                refused += 1
                continue
            rows += len(new)
            differing, unexcused, worst = differing + found[0], unexcused + found[1], max(worst, found[2])
    note = f"{len(KERNELS)} kernels, {rows} rows, {differing} answered differently, the largest error of a score is "
    note += f"{worst:.1e} of their range" + (f", {refused} refused in the same words" if refused else "")
    print(f"{what:<40} {unexcused} rows; {note}", flush=True)
    results.add(f"{what}: rows that float32 answers otherwise", unexcused, 0, unexcused == 0, note)


def offsets(results: Results, fits: int) -> None:
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(80, 4)), rng.normal(size=(250, 4))
    goal = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=len(X))
    for machine in MACHINES:
        y = targets(machine, (goal > 0).astype(int), goal)
        for offset in OFFSETS:
            data = [((offset + X).astype(np.float32), y, (offset + new).astype(np.float32))]
            all_kernels(f"{type(machine).__name__} at {offset:g}", machine, data, results)


def tables(results: Results, fits: int) -> None:
    for load in (datasets.load_iris, datasets.load_wine, datasets.load_breast_cancer, datasets.load_diabetes):
        rows, y = load(return_X_y=True)
        labels = (y > np.median(y)).astype(int) if load is datasets.load_diabetes else y
        split = train_test_split(rows.astype(np.float32), labels, y.astype(float), train_size=100, random_state=0)
        X, new, labels, _, numbers, _ = split
        for machine in MACHINES:
            data = [(X, targets(machine, labels, numbers), new)]
            all_kernels(f"{type(machine).__name__} on {load.__name__[5:]}", machine, data, results)


def outliers(results: Results, fits: int) -> None:
    """Training rows outside: at most a share nu of them in every fit."""
    kernels = ("gaussian", "laplacian", "linear + gaussian", "gaussian(gamma=3)", "linear")
    for machine in (OneClassSVM, SVDD):
        broken, worst = 0, 0.0
        for seed in range(fits // 2):
            rng = np.random.default_rng(seed)
            nu, kernel = (0.05, 0.1, 0.2, 0.5)[seed % 4], kernels[seed % len(kernels)]
            offset = (0, 30, 1e3)[seed % 3]
            # A half space needs rows away from the origin of feature space.
            X = (10 * (kernel == "linear") + offset + rng.normal(size=(int(rng.integers(30, 200)), 3))).astype(
                np.float32
            )
            share = float(np.mean(machine(kernel, nu=nu, tol=1e-6).fit(X).predict(X) < 0))
            broken, worst = broken + (share > nu), max(worst, share / nu)
        note = f"{fits // 2} fits, {len(kernels)} kernels; the largest share is {worst:.3f} of nu"
        print(f"{machine.__name__}: {broken} fits; {note}", flush=True)
        what = f"{machine.__name__} on float32: fits with more outliers than nu allows"
        results.add(what, broken, 0, broken == 0, note)


def choices(results: Results, fits: int) -> None:
    """What is chosen, and how likely classes are: on unscaled rows, by sums of huge values that cancel."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    X, folds = X.astype(np.float32), KFold(5, shuffle=True, random_state=0)
    machine = SVC("polynomial(degree=3)")
    found = [machine.fit(rows, y).score(rows, y) for rows in (X, X.astype(np.float64))]
    results.add(
        "SVC, polynomial, breast cancer: accuracy", found[0], found[1], found[0] == found[1], "float64 is the bar"
    )
    print(f"SVC {found}", flush=True)
    grid = {"kernel": ["polynomial(degree=3)", "gaussian", "linear"], "C": [0.1, 1.0]}
    search = KernelSearchCV(SVC(max_iter=100_000), grid, cv=folds)
    one, other = (clone(search).fit(rows, y) for rows in (X, X.astype(np.float64)))
    same = np.array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    note = f"scores of all settings are {'the same' if same else 'different'}; best {one.best_params_}"
    results.add("KernelSearchCV: best score", one.best_score_, other.best_score_, same, note)
    print(f"KernelSearchCV {one.best_score_} {other.best_score_}; {note}", flush=True)
    found = [Calibrated(machine, cv=folds).fit(rows, y).predict_proba(rows) for rows in (X, X.astype(np.float64))]
    apart, right = float(np.abs(found[0] - found[1]).max()), [float(np.mean(p.argmax(axis=1) == y)) for p in found]
    note = f"accuracy {right[0]:.4f}, in float64 {right[1]:.4f}"
    results.add("Calibrated: largest difference of a probability", apart, 1e-6, apart <= 1e-6, note)
    print(f"Calibrated {apart:.1e}; {note}", flush=True)


PARTS = {"offsets": offsets, "tables": tables, "outliers": outliers, "choices": choices}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="which parts, separated by commas")
    parser.add_argument("--fits", type=int, default=400, help="fits in which outliers are counted")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    results = Results()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # far rows converge slowly; that both say the same is compared
        for name in options.only.split(","):
            PARTS[name](results, options.fits)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
