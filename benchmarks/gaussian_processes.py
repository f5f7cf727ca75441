"""Gaussian processes beside scikit-learn's: errors, densities, coverage of intervals, likelihoods, time.

    python -m benchmarks.gaussian_processes FOLDER [--tables yacht energy …] [--splits 10] [--most 1500] [--rows 5000]
                                            [--json results.json]

FOLDER has the tables that papers on Gaussian processes use, each with ten official splits: NAME/data.csv.gz with the
target last, and NAME/test_mask.csv.gz with a column for each split. Both learn a variance, a length for each
column and the noise on standardised rows, at most so many as ``--most`` says. Times are of the processor.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from mercer import GPRegressor
from reproductions.results import Results

TABLES = ("yacht", "energy", "concrete", "airfoil", "wine")


class Judged(NamedTuple):
    """A fit on one split: error and negative log density of the test rows, coverage, likelihood, time."""

    rmse: float
    nll: float
    inside: float
    likelihood: float
    seconds: float
    warned: int


def judged(model: Any, split: tuple[np.ndarray, ...], **options: Any) -> Judged:
    X, y, X_test, y_test = split
    begun = time.process_time()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y)
    seconds = time.process_time() - begun
    mean, std = model.predict(X_test, return_std=True, **options)
    reach = std * stats.norm.ppf(0.95)
    return Judged(
        float(np.sqrt(np.mean(np.square(mean - y_test)))),
        float(-np.mean(stats.norm(mean, std).logpdf(y_test))),
        float(np.mean(np.abs(mean - y_test) <= reach)),
        float(model.log_marginal_likelihood_value_),
        seconds,
        len(said),
    )


def peer(columns: int) -> GaussianProcessRegressor:
    kernel = ConstantKernel() * RBF(np.ones(columns), (1e-3, 1e4)) + WhiteKernel(0.1, (1e-6, 10.0))
    return GaussianProcessRegressor(kernel, alpha=0.0)


def splits_of(folder: Path, count: int, most: int) -> Any:
    """Standardised training and test rows of each split."""
    data = np.loadtxt(folder / "data.csv.gz", delimiter=",")
    masks = np.loadtxt(folder / "test_mask.csv.gz", delimiter=",").astype(bool)
    for k in range(count):
        train, test = np.flatnonzero(~masks[:, k]), np.flatnonzero(masks[:, k])
        if train.size > most:
            train = np.sort(np.random.default_rng(k).choice(train, most, replace=False))
        centre, spread = data[train].mean(axis=0), data[train].std(axis=0)
        rows = (data - centre) / np.where(spread > 0, spread, 1.0)
        yield rows[train, :-1], rows[train, -1], rows[test, :-1], rows[test, -1]


def on_tables(folder: Path, tables: list[str], count: int, most: int, results: Results) -> None:
    better: list[bool] = []
    inside, told = [], 0
    for name in tables:
        ours, theirs = [], []
        for split in splits_of(folder / name, count, most):
            ours.append(judged(GPRegressor(), split, observed=True))
            theirs.append(judged(peer(split[0].shape[1]), split))
        mine, other = (np.mean(each, axis=0) for each in (ours, theirs))
        inside.append(mine[2])
        told += int(sum(each.warned for each in ours))
        for place, what in enumerate(("RMSE", "negative log density")):
            # Not worse: within a hundredth of a standard deviation, or of a nat.
            fine = bool(mine[place] <= other[place] + 0.01)
            better.append(fine)
            results.add(f"{name}: {what}", round(mine[place], 4), round(other[place], 4), fine, "scikit-learn's")
        times = f"{mine[4]:.2f} s of the processor a fit, {other[4]:.2f} s; likelihood {mine[3]:.1f}, {other[3]:.1f}"
        results.add(f"{name}: time", round(mine[4] / other[4], 3), 1.0, mine[4] < other[4], times)
        print(name, mine.round(4), other.round(4), flush=True)
    results.add("not worse than scikit-learn", round(float(np.mean(better)), 2), 0.8, np.mean(better) >= 0.8, "cells")
    coverage = float(np.mean(inside))
    results.add("coverage of 90 % intervals", round(coverage, 3), ".87-.93", 0.87 <= coverage <= 0.93, "mean of tables")
    results.add("warnings", told, 0, told == 0, f"{len(tables) * count} fits")


def many_rows(n: int, results: Results) -> None:
    """One fit of n rows and 20 columns, and one evaluation of scikit-learn's likelihood at what was found."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.1 * rng.normal(size=n)
    y = (y - y.mean()) / y.std()
    GPRegressor().fit(X[:200], y[:200])
    begun = time.process_time()
    model = GPRegressor(fit_intercept=False).fit(X, y)
    ours = time.process_time() - begun
    kernel = ConstantKernel(float(model.kernel_.scale)) * RBF(model.lengths_, "fixed") + WhiteKernel(model.noise_)
    theirs = GaussianProcessRegressor(kernel, alpha=0.0, optimizer=None).fit(X, y)
    kernel = ConstantKernel(float(model.kernel_.scale)) * RBF(model.lengths_) + WhiteKernel(model.noise_)
    theirs.kernel_ = kernel
    begun = time.process_time()
    value, _ = theirs.log_marginal_likelihood(kernel.theta, eval_gradient=True, clone_kernel=False)
    one = time.process_time() - begun
    near = abs(value / model.log_marginal_likelihood_value_ - 1)
    results.add("the same likelihood", f"{near:.1e}", 1e-8, near < 1e-8, f"{n} rows")
    note = f"a whole fit of {model.n_iter_} factorisations, {ours:.1f} s, in evaluations of scikit-learn's, {one:.1f} s"
    results.add(f"{n} × 20 rows", round(ours / one, 2), 5.0, ours <= 5 * one, note)
    quick = [time.process_time()]
    for each in (model, theirs):
        each.predict(X)
        quick.append(time.process_time())
    ratio = (quick[1] - quick[0]) / (quick[2] - quick[1])
    results.add("predict without variance", round(ratio, 3), 0.2, ratio <= 0.2, "of scikit-learn's time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--most", type=int, default=1500)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    results = Results()
    on_tables(options.folder, options.tables, options.splits, options.most, results)
    if options.rows:
        many_rows(options.rows, results)
    for row in results.rows:
        print(f"{'ok  ' if row['ok'] else 'FAIL'} {row['what']}: {row['value']} ({row['bar']}) {row['note']}")
    results.write(options.json)


if __name__ == "__main__":
    main()
