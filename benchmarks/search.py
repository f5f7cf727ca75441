"""Tuning an SVM on a grid: one search of mercer against GridSearchCV over its peers.

    python -m benchmarks.search [--only unimi,spambase] [--json results.json]

Five folds, five values of C, five of γ, the same splits for all. Peers: scikit-learn-intelex in float32, and
scikit-learn's SVC with two processes, both with a cache of 1 GB. Printed with the times: the largest difference between
any two cells, the winners, and the cost in fits at the winner.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC
from mercer.kernels import Gaussian
from mercer.search import KernelSearchCV
from reproductions.results import Results

from . import datasets
from .timing import race, touch_memory

C = [0.1, 1, 10, 100, 1000]
GAMMA = [0.005, 0.02, 0.05, 0.2, 0.5]
CACHE_MB = 1000
#: The part of the faster peer's time that a search may take, and what it may cost in fits at the winner.
RATIO = {"unimi": 0.06, "spambase": 0.06, "svmguide1": 0.12}
FITS = 15
#: How far a cell's mean score may be from scikit-learn's.
DIFFERENCE = 3e-4


def _unimi() -> tuple[np.ndarray, np.ndarray] | None:
    split = datasets.unimi()
    return None if split is None else (np.asarray(split[0][:8000], dtype=np.float32), split[1][:8000])


def _spambase() -> tuple[np.ndarray, np.ndarray] | None:
    table = datasets.spambase()
    if table is None:
        return None
    X, y = table
    return StandardScaler().fit_transform(X).astype(np.float32), y


def _svmguide1() -> tuple[np.ndarray, np.ndarray] | None:
    split = datasets.scaled(datasets.svmlight("svmguide1/svmguide1.bz2", "svmguide1/svmguide1.t.bz2", 4))
    return None if split is None else split[:2]


CASES = {"unimi": _unimi, "spambase": _spambase, "svmguide1": _svmguide1}


def measure(name: str, results: Results) -> None:
    data = CASES[name]()
    if data is None:
        return
    X, y = data
    folds = StratifiedKFold(5, shuffle=True, random_state=0)

    def ours() -> KernelSearchCV:
        return KernelSearchCV(SVC("gaussian"), {"C": C, "kernel__gamma": GAMMA}, cv=folds, refit=False).fit(X, y)

    mine = race(3, ours=ours)["ours"]
    search = mine.value
    winner = search.best_params_
    fit = race(3, fit=lambda: SVC(Gaussian(gamma=winner["kernel__gamma"]), C=winner["C"]).fit(X, y))["fit"].median

    def peer(machine: Any, jobs: int) -> tuple[float, GridSearchCV]:
        begin = time.perf_counter()
        grid = GridSearchCV(machine, {"C": C, "gamma": GAMMA}, cv=folds, n_jobs=jobs, refit=False).fit(X, y)
        return time.perf_counter() - begin, grid

    times = {}
    try:
        from sklearnex.svm import SVC as IntelSVC

        times["intelex"], _ = peer(IntelSVC(cache_size=CACHE_MB), 1)
    except ImportError:
        print("scikit-learn-intelex is not installed: pip install 'mercer[bench]'")
    times["scikit-learn"], reference = peer(ScikitSVC(cache_size=CACHE_MB), 2)
    fastest = min(times.values())
    difference = np.abs(search.cv_results_["mean_test_score"] - reference.cv_results_["mean_test_score"]).max()
    best = reference.cv_results_["mean_test_score"][search.best_index_]
    ratio, cost = mine.median / fastest, mine.median / fit
    print(f"\n{name}: {X.shape[0]} × {X.shape[1]}, 125 cells")
    print(f"  mercer {mine}, one fit at the winner {fit:.3f} s: {cost:.1f} fits")
    for who, seconds in times.items():
        print(f"  {who:>12} {seconds:8.2f} s   ratio {mine.median / seconds:.3f}")
    print(
        f"  winner {winner} ({search.best_score_:.5f}), theirs {reference.best_params_} ({reference.best_score_:.5f})"
    )
    print(f"  largest difference of a cell {difference:.5f}")
    note = f"{mine.median:.2f} s against {fastest:.2f} s"
    results.add(f"{name}: search / faster peer", round(ratio, 4), RATIO[name], ratio <= RATIO[name], note)
    results.add(f"{name}: search in fits at the winner", round(cost, 1), FITS, cost <= FITS, f"one fit {fit:.3f} s")
    results.add(
        f"{name}: largest difference of a cell",
        float(difference),
        DIFFERENCE,
        difference <= DIFFERENCE,
        "mean_test_score",
    )
    tie = reference.best_score_ - best
    results.add(f"{name}: winner", float(tie), 2e-3, tie <= 2e-3, "its score there below their best")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(CASES), help="which data sets, separated by commas")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    touch_memory()
    for name in options.only.split(","):
        measure(name, results)
    print(f"\n{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
