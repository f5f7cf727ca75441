"""From a file of numbers to a tuned model: ``mercer compare`` beside scikit-learn's SVR and KernelRidge.

    python -m benchmarks.regression [--only diabetes,friedman,houses] [--rows 1000] [--json results.json]

Three CSV files: ten measurements of patients, Friedman's function, and made-up houses with words, missing values and a
skewed price. Same rows for training and test, same preparation, same five folds and same grids of γ, C and ε, or γ and
λ, for both; the winner in cross-validation is tested once. scikit-learn searches with GridSearchCV in one process and
in as many as there are cores, warm; the faster counts. Its α is λ times the rows of a fold also in the last fit, which
has a quarter more rows.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import GridSearchCV, KFold, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR as ScikitSVR

from mercer import read
from mercer.learners import LEARNERS, spread_of
from mercer.preprocess import prepare
from mercer.study import compare
from reproductions.results import Results

from .timing import touch_memory

FOLDS, SEED = 5, 0


def diabetes(rows: int) -> pd.DataFrame:
    return load_diabetes(as_frame=True, scaled=False).frame.head(rows)


def friedman(rows: int) -> pd.DataFrame:
    X, y = make_friedman1(rows, noise=1.0, random_state=SEED)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(1, 11)]).assign(y=y)


def houses(rows: int) -> pd.DataFrame:
    random = np.random.default_rng(SEED)
    area = random.gamma(9, 12, rows)
    rooms = np.clip(np.round(area / 25 + random.normal(0, 0.7, rows)), 1, 9)
    built = random.integers(1900, 2023, rows).astype(float)
    quarter = random.choice(["north", "south", "old town", "harbour"], rows)
    premium = pd.Series(quarter).map({"north": 0, "south": 0, "old town": 0.4, "harbour": 0.25}).to_numpy()
    log_price = 11 + 0.006 * area + 0.05 * rooms + 0.002 * (built - 1950) + premium + random.normal(0, 0.2, rows)
    built[random.random(rows) < 0.08] = np.nan
    return pd.DataFrame(
        {"area": area.round(1), "rooms": rooms, "built": built, "quarter": quarter, "price": np.exp(log_price).round()}
    )


FILES: dict[str, Callable[[int], pd.DataFrame]] = {"diabetes": diabetes, "friedman": friedman, "houses": houses}


def peers(rows: int, spread: float) -> dict[str, tuple[Any, dict[str, Any]]]:
    """scikit-learn's machines with the grids that mercer has for its own."""
    svr, ridge = LEARNERS["svr"].in_units(spread).grid, LEARNERS["kernel-ridge"].grid
    inner = rows * (FOLDS - 1) // FOLDS
    centred = TransformedTargetRegressor(KernelRidge(kernel="rbf"), transformer=StandardScaler())
    return {
        "svr": (
            ScikitSVR(cache_size=1000),
            {"model__gamma": svr["kernel__gamma"], "model__C": svr["C"], "model__epsilon": svr["epsilon"]},
        ),
        # λ/2·‖w‖² + mean ½·r² is α·‖w‖² + Σ r² with α = λ·n.
        "kernel-ridge": (
            centred,
            {
                "model__regressor__gamma": ridge["kernel__gamma"],
                "model__regressor__alpha": [inner * lam for lam in ridge["lam"]],
            },
        ),
    }


def measure(name: str, rows: int, results: Results) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{name}.csv"
        FILES[name](rows).to_csv(path, index=False)
        table = read(path)
    y = np.asarray(table.y, dtype=np.float64)
    impute = "median" if table.missing else None
    compare(table, learners=["svr"], cv=2, impute=impute, seed=SEED)  # compiles
    begin = time.perf_counter()
    facts = compare(table, learners=["svr", "kernel-ridge"], cv=FOLDS, impute=impute, seed=SEED)
    whole = time.perf_counter() - begin
    mine = {one["name"]: one for one in facts["learners"]}

    train, test = (np.sort(part) for part in train_test_split(np.arange(len(y)), test_size=0.2, random_state=SEED))
    learn, held_out = table.take(train), table.take(test)
    folds = KFold(FOLDS, shuffle=True, random_state=SEED)
    print(f"\n{name}: {table.extent}; mercer compare of both learners with its report's facts {whole:.1f} s")
    found = {}
    for learner, (machine, grid) in peers(len(train), spread_of(y[train])).items():
        model = Pipeline([("prepare", prepare(table, impute=impute)), ("model", machine)])
        times = {}
        for jobs in {1, os.cpu_count()}:
            search = GridSearchCV(
                model, grid, cv=folds, scoring="neg_root_mean_squared_error", n_jobs=jobs, return_train_score=True
            )
            if jobs != 1:
                GridSearchCV(model, {}, cv=folds, n_jobs=jobs).fit(learn.X, y[train])  # its processes start and import
            begin = time.perf_counter()
            search.fit(learn.X, y[train])
            times[jobs] = time.perf_counter() - begin
        seconds = min(times.values())
        error = root_mean_squared_error(y[test], search.predict(held_out.X))
        found[learner] = (search.best_score_, error)
        own = mine[learner]["tuning"]["seconds"] + mine[learner]["fit_seconds"]
        ratio = own / seconds
        reached = mine[learner]["test"]["rmse"]
        print(f"  {learner:>12}: {own:7.2f} s, RMSE {reached:.5g}   scikit-learn {seconds:7.2f} s, RMSE {error:.5g}")
        note = f"{own:.2f} s against {seconds:.2f} s; RMSE {reached:.5g} against {error:.5g}"
        results.add(f"{name}: search of {learner} / scikit-learn's", round(ratio, 3), 1.0, ratio <= 1.0, note)
    theirs = max(found.values())[1]
    chosen = mine[facts["answer"]["chosen"]]["test"]["rmse"]
    ratio = chosen / theirs
    note = f"{facts['answer']['chosen']} {chosen:.5g} against {theirs:.5g}"
    results.add(f"{name}: test RMSE of the chosen / scikit-learn's chosen", round(ratio, 4), 1.01, ratio <= 1.01, note)
    inside = facts["intervals"]["inside"]
    results.add(f"{name}: test rows in intervals for 90 %", inside, 0.85, inside >= 0.85, facts["intervals"]["words"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(FILES), help="which files, separated by commas")
    parser.add_argument("--rows", type=int, default=2000, help="rows of the files, where there are so many")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    touch_memory()
    for name in options.only.split(","):
        measure(name, options.rows, results)
    print(f"\n{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
