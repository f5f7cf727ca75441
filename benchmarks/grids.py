"""The published grids of ten textbook learners through ``KernelSearchCV``, all together against the clock.

    python -m benchmarks.grids [--json results.json]

Perceptron, Pegasos and logistic classification, linear and on a degree-2 expansion; the kernelised Perceptron and
Pegasos with Gaussian and polynomial kernels; the report's values, 5 folds on its 7565 training rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import KFold
from sklearn.preprocessing import PolynomialFeatures

from mercer import Pegasos, Perceptron
from mercer.kernels import Gaussian, Kernel, Polynomial
from mercer.search import KernelSearchCV
from reproductions import published
from reproductions.data import data_path
from reproductions.results import Results
from reproductions.unimi import prepare


def _axis(table: dict[tuple, Any], position: int) -> list[Any]:
    return sorted({key[position] for key in table})


def _linear(degree: int) -> list[tuple[str, Any, dict[str, list[Any]], int]]:
    epochs, pegasos, logistic = (
        (published.PERCEPTRON, published.PEGASOS, published.LOGISTIC)
        if degree == 1
        else (published.PERCEPTRON_DEGREE_2, published.PEGASOS_DEGREE_2, published.LOGISTIC_DEGREE_2)
    )
    suffix = "" if degree == 1 else ", degree 2"
    return [
        (f"Perceptron{suffix}", Perceptron(order="file"), {"epochs": _axis(epochs, 0)}, degree),
        (f"Pegasos{suffix}", Pegasos(random_state=0), {"lam": _axis(pegasos, 0), "steps": _axis(pegasos, 1)}, degree),
        (
            f"Logistic{suffix}",
            Pegasos(loss="logistic", random_state=0),
            {"lam": _axis(logistic, 0), "steps": _axis(logistic, 1)},
            degree,
        ),
    ]


def _kernel(
    name: str, kernels: list[Kernel], epochs: dict[tuple, Any], pegasos: dict[tuple, Any]
) -> list[tuple[str, Any, dict[str, list[Any]], int]]:
    lam, steps = _axis(pegasos, 1), _axis(pegasos, 2)
    return [
        (f"Kernel Perceptron, {name}", Perceptron(order="file"), {"kernel": kernels, "epochs": _axis(epochs, 1)}, 1),
        (f"Kernel Pegasos, {name}", Pegasos(random_state=0), {"kernel": kernels, "lam": lam, "steps": steps}, 1),
    ]


#: What, estimator, grid, and the degree of the expansion.
GRIDS = [
    *_linear(1),
    *_linear(2),
    *_kernel(
        "Gaussian",
        [Gaussian.from_sigma(sigma) for sigma in _axis(published.KERNEL_PERCEPTRON_GAUSSIAN, 0)],
        published.KERNEL_PERCEPTRON_GAUSSIAN,
        published.KERNEL_PEGASOS_GAUSSIAN,
    ),
    *_kernel(
        "polynomial",
        [Polynomial(degree=degree) for degree in _axis(published.KERNEL_PERCEPTRON_POLYNOMIAL, 0)],
        published.KERNEL_PERCEPTRON_POLYNOMIAL,
        published.KERNEL_PEGASOS_POLYNOMIAL,
    ),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    path = data_path("unimi/unimi.csv")
    if path is None:
        return
    data = prepare(path)
    wide = PolynomialFeatures(2, include_bias=False).fit_transform(data.train)
    folds = KFold(5, shuffle=True, random_state=42)
    for measured in (False, True):  # once to compile
        total, cells = 0.0, 0
        for what, estimator, grid, degree in GRIDS:
            rows = wide if degree == 2 else data.train
            rows, labels = (rows, data.y) if measured else (rows[:300], data.y[:300])
            begin = time.perf_counter()
            search = KernelSearchCV(estimator, grid, cv=folds, refit=False, memory="2GB").fit(rows, labels)
            seconds = time.perf_counter() - begin
            total += seconds
            cells += 5 * len(search.cv_results_["params"])
            if measured:
                print(f"{what:<30} {seconds:6.2f} s   best error {1 - search.best_score_:.4f} at {search.best_params_}")
    print(f"all ten learners: {total:.1f} s for {cells} fits (bar 20 s)")
    results = Results()
    results.add(
        "grids of ten learners, seconds", round(total, 1), 20, total < 20, f"{cells} fits, {np.shape(data.train)}"
    )
    results.write(options.json)


if __name__ == "__main__":
    main()
