"""SVR, NuSVC, NuSVR and OneClassSVM beside scikit-learn (LIBSVM) and, where it has them, scikit-learn-intelex.

    python -m benchmarks.family [--repeats 3] [--json results.json]

Same kernel and settings for all, at the usual tolerance of 1e-3 (1e-4 for OneClassSVM, whose scores are in another
unit); times are medians of interleaved runs, the dual's value beside them. The target of the regressions is the first
column of a table.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn import svm

import mercer
from mercer.kernels import Gaussian
from reproductions.results import Results

from . import datasets
from .timing import race, touch_memory

CACHE_MB = 2000
SETTINGS: dict[str, dict[str, float]] = {
    "SVR": {"C": 1.0, "epsilon": 0.1},
    "NuSVC": {"nu": 0.1},
    "NuSVR": {"C": 1.0, "nu": 0.5},
    "OneClassSVM": {"nu": 0.1},
}
TABLES: dict[str, Any] = {
    "unimi": datasets.unimi,
    "svmguide1": lambda: datasets.scaled(datasets.svmlight("svmguide1/svmguide1.bz2", "svmguide1/svmguide1.t.bz2", 4)),
    "cod-rna": lambda: datasets.scaled(datasets.svmlight("cod-rna/cod-rna.bz2", "cod-rna/cod-rna.t.bz2", 8)),
    "letter": lambda: datasets.svmlight("letter/letter.scale.bz2", "letter/letter.scale.t.bz2", 16),
}
MOST_ROWS = 15_000
#: Halves of the alphabet are hard to tell apart: a smaller share leaves no margin.
SHARES = {("NuSVC", "letter"): {"nu": 0.3}}


def objective(machine: str, model: Any, K_of: Any, X: Any, y: Any) -> float:
    """The value of the dual at the published coefficients; of a free margin at Σ|z| = 1."""
    z = np.asarray(model.dual_coef_, dtype=np.float64)[0]
    square = float(z @ K_of(X[model.support_], X[model.support_]) @ z)
    if machine == "NuSVC":
        return 0.5 * square / float(np.abs(z).sum()) ** 2
    if machine == "OneClassSVM":
        return 0.5 * square
    width = SETTINGS[machine].get("epsilon", 0.0)
    return 0.5 * square - float(y[model.support_] @ z) + width * float(np.abs(z).sum())


def peers(machine: str) -> dict[str, Any]:
    found = {"scikit-learn": getattr(svm, machine)}
    try:
        import sklearnex.svm as fast

        if machine in ("SVR", "NuSVC", "NuSVR"):
            found["intelex"] = getattr(fast, machine)
    except ImportError:
        print("scikit-learn-intelex is not installed: pip install 'mercer[bench]'")
    return found


def measure(machine: str, table: str, repeats: int, results: Results, ratios: dict[str, list[float]]) -> None:
    split = TABLES[table]()
    if split is None:
        return
    X, labels = np.asarray(split[0], dtype=np.float64), split[1]
    some = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    X, labels = X[some], labels[some]
    y = (labels > np.median(labels)) if np.unique(labels).size > 2 else labels == labels.max()
    if machine.endswith("SVR"):
        X, y = X[:, 1:], X[:, 0].copy()
    gamma = 1 / X.shape[1]
    kernel, settings = Gaussian(gamma=gamma), SETTINGS[machine] | SHARES.get((machine, table), {})
    runs: dict[str, Any] = {
        who: (lambda cls=cls: cls(gamma=gamma, cache_size=CACHE_MB, **settings).fit(X, y))
        for who, cls in peers(machine).items()
    }
    runs["mercer"] = lambda: getattr(mercer, machine)(kernel, memory=CACHE_MB * 10**6, **settings).fit(X, y)
    times = race(repeats, **runs)
    values = {who: objective(machine, timed.value, kernel, X, y) for who, timed in times.items()}
    print(f"\n{machine} on {table}: {len(X)} × {X.shape[1]}, {len(times['mercer'].value.support_)} support rows")
    for who, timed in times.items():
        print(f"  {who:13}{timed}  dual {values[who]:.8g}")
    for who in runs:
        if who == "mercer":
            continue
        ratio = times["mercer"].median / times[who].median
        ratios.setdefault(f"{machine} / {who}", []).append(ratio)
        better = values["mercer"] <= values[who] + 1e-3 * abs(values[who])
        note = f"noise ±{100 * times['mercer'].spread:.0f} %; dual {values['mercer']:.8g} beside {values[who]:.8g}"
        results.add(f"{machine} on {table}: time / {who}", round(ratio, 3), None, better, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="machines, separated by commas")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    touch_memory()
    results, ratios = Results(), {}
    for machine in options.only.split(",") if options.only else SETTINGS:
        for table in TABLES:
            measure(machine, table, options.repeats, results, ratios)
    print()
    for pair, found in ratios.items():
        mean = float(np.exp(np.mean(np.log(found))))
        print(f"{pair}: geometric mean {mean:.3f}")
        results.add(f"{pair}: geometric mean of times", round(mean, 3), 0.5, mean <= 0.5, f"{len(found)} tables")
    whole = float(np.exp(np.mean(np.log([each for found in ratios.values() for each in found]))))
    print(f"all: geometric mean {whole:.3f}")
    results.add("all machines and peers: geometric mean of times", round(whole, 3), 0.5, whole <= 0.5, "")
    results.write(options.json)


if __name__ == "__main__":
    main()
