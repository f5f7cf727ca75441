"""Mixtures of kernels beside single kernels and beside weights that are all the same.

    python -m benchmarks.mixtures [--only columns,splice,adult] [--splits 5] [--rows 3000] [--json results.json]

- columns: three kernels on columns that matter and seven on columns that do not. How much weight do the useless get?
- splice: donors, acceptors and neither from the bases around them; spectrum and weighted degree kernels of several
  lengths, on all bases, on those of each side and on those near the site;
- adult: numbers and categories of a census, each column with a kernel of its own.

Every mixture is measured on the same splits as each of its kernels alone and as the plain sum, with its duality gap and
with its time beside that of one plain fit of the sum. All kernels have unit variance; C is chosen for each contestant
by cross-validation on the training part of the first split.
"""

from __future__ import annotations

import argparse
import lzma
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.model_selection import StratifiedShuffleSplit

from mercer import SVC, KernelSearchCV
from mercer.kernels import Equal, Gaussian, Kernel, Mixture, Spectrum, WeightedDegree
from reproductions.data import data_path
from reproductions.results import Results

#: What C is chosen from.
_C = [0.1, 0.3, 1.0, 3.0, 10.0]


def uniform(kernels: list[Kernel]) -> Mixture:
    """The plain sum, of kernels of unit variance."""
    return Mixture(kernels, weights=[1 / len(kernels)] * len(kernels))


def relative_gap(model: Any) -> float:
    return float(np.max(model.duality_gap_ / model.objective_))


# -- kernels that matter and kernels that do not ------------------------------------------------------------------


def columns(seeds: int, results: Results) -> None:
    for p in (1.0, 2.0):
        useless, gaps = [], []
        for seed in range(seeds):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(600, 10))
            score = np.sin(2 * X[:, 0]) + X[:, 1] + X[:, 2] ** 2 - 1
            y = np.where(score + 0.3 * rng.normal(size=600) > 0, 1, -1)
            kernel = Mixture([Gaussian(gamma=0.5).on(column) for column in range(10)], p=p)
            model = SVC(kernel, C=0.1).fit(X, y)
            weights = model.kernel_.weights_
            useless.append(float(weights[3:].sum() / weights.sum()))
            gaps.append(relative_gap(model))
        print(f"columns, p={p:g}: share of the useless {np.round(useless, 4)}, largest gap {max(gaps):.1e}")
        results.add(
            f"3 useful and 7 useless kernels, p={p:g}: largest share of the useless", round(max(useless), 4),
            0.05 if p == 1 else None, p > 1 or max(useless) < 0.05, f"{seeds} seeds, largest gap {max(gaps):.1e}",
        )  # fmt: skip
        results.add(f"3 useful and 7 useless kernels, p={p:g}: gap", max(gaps), 1e-4, max(gaps) <= 1e-4, "relative")


# -- accuracies ---------------------------------------------------------------------------------------------------


def study(name: str, items: Any, y: np.ndarray, kernels: list[Kernel], splits: int, results: Results) -> None:
    """Accuracies over splits of mixtures, the plain sum and every kernel alone."""
    contestants: dict[str, Kernel] = {str(kernel): uniform([kernel]) for kernel in kernels}
    contestants |= {"plain sum": uniform(kernels)}
    contestants |= {f"mixture, p={p:g}": Mixture(kernels, p=p) for p in (1.0, 1.3, 2.0)}
    parts = list(StratifiedShuffleSplit(splits, test_size=1 / 3, random_state=1).split(np.zeros(len(y)), y))
    scores, seconds, gaps = {}, {}, {}
    for title, kernel in contestants.items():
        train = parts[0][0]
        search = KernelSearchCV(SVC(kernel), {"C": _C}, cv=3).fit(_some(items, train), y[train])
        found = []
        for train, test in parts:
            begin = time.perf_counter()
            model = clone(SVC(kernel, C=search.best_params_["C"])).fit(_some(items, train), y[train])
            seconds.setdefault(title, []).append(time.perf_counter() - begin)
            gaps[title] = max(gaps.get(title, 0.0), relative_gap(model))
            found.append(model.score(_some(items, test), y[test]))
        scores[title] = np.array(found)
        measured = f"{100 * np.mean(found):.2f} ± {100 * np.std(found):.2f} %  {np.median(seconds[title]):.2f} s"
        print(f"{name:>8} {title:>40} C={search.best_params_['C']:<5g} {measured}  gap {gaps[title]:.1e}", flush=True)
        if len(model.kernel_.kernels) > 1:
            used = [
                f"{weight:.2f} {part}" for weight, part in zip(model.kernel_.weights_, kernels, strict=True) if weight
            ]
            print(f"{'':>12} {', '.join(used)}")
    single = max((str(kernel) for kernel in kernels), key=lambda title: scores[title].mean())
    best, plain = scores[single].mean(), scores["plain sum"].mean()
    for title in (title for title in contestants if title.startswith("mixture")):
        mean = scores[title].mean()
        ratio = np.median(seconds[title]) / np.median(seconds["plain sum"])
        results.add(
            f"{name}, {title}: accuracy", round(100 * mean, 2), round(100 * best, 2), mean >= best,
            f"best single kernel {single}; plain sum {100 * plain:.2f} %; {splits} splits",
        )  # fmt: skip
        results.add(f"{name}, {title}: gap", gaps[title], 1e-4, gaps[title] <= 1e-4, "relative, the largest")
        results.add(
            f"{name}, {title}: time / plain fit of the sum", round(float(ratio), 2), None, True,
            f"{np.median(seconds[title]):.2f} s",
        )  # fmt: skip


def _some(items: Any, index: np.ndarray) -> Any:
    return items.iloc[index] if hasattr(items, "iloc") else [items[place] for place in index]


def splice(rows: int, splits: int, results: Results) -> None:
    path = data_path("splice_uci/splice.csv.xz")
    if path is None:
        return
    table = pd.read_csv(path, header=None, skipinitialspace=True)
    table = table.sample(min(rows, len(table)), random_state=0)
    sequences = table.iloc[:, :-1].astype(str).agg("".join, axis=1)
    frame = pd.DataFrame({"bases": sequences, "before": sequences.str[:30], "after": sequences.str[30:]})
    frame["near"], frame["site"] = sequences.str[20:40], sequences.str[26:36]
    kernels: list[Kernel] = [Spectrum(p=p).on("bases") for p in (2, 4)]
    kernels += [WeightedDegree(k=k).on("bases") for k in (1, 3, 5)]
    kernels += [WeightedDegree(k=3).on(side) for side in ("before", "after", "near")]
    kernels += [WeightedDegree(k=5).on("site"), Spectrum(p=3).on("before"), Spectrum(p=3).on("after")]
    study("splice", frame, table.iloc[:, -1].to_numpy(), kernels, splits, results)


def adult(rows: int, splits: int, results: Results) -> None:
    path = data_path("adult_raw/adult.data.xz")
    if path is None:
        return
    names = ["age", "workclass", "fnlwgt", "education", "years", "marital", "occupation", "relationship", "race",
             "sex", "gain", "loss", "hours", "country", "income"]  # fmt: skip
    with lzma.open(path, "rt") as file:
        table = pd.read_csv(file, header=None, names=names, skipinitialspace=True, na_values=["?"])
    table = table.sample(rows, random_state=0).reset_index(drop=True)
    words = ["workclass", "education", "marital", "occupation", "relationship", "race", "sex", "country"]
    table[words] = table[words].fillna("unknown")
    table["gain"], table["loss"] = np.log1p(table["gain"]), np.log1p(table["loss"])
    kernels: list[Kernel] = [Gaussian().on(name) for name in ("age", "years", "gain", "loss", "hours", "fnlwgt")]
    kernels += [Equal().on(name) for name in words]
    study("adult", table.drop(columns="income"), table["income"].to_numpy(), kernels, splits, results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="columns,splice,adult")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    runs: dict[str, Callable[[], None]] = {
        "columns": lambda: columns(options.splits, results),
        "splice": lambda: splice(options.rows, options.splits, results),
        "adult": lambda: adult(options.rows, options.splits, results),
    }
    for name in options.only.split(","):
        runs[name]()
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
