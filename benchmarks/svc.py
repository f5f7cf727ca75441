"""The exact SVM against scikit-learn-intelex (float32), scikit-learn's SVC, and what no method can avoid.

    python -m benchmarks.svc [--only unimi,a9a] [--repeats 3] [--json results.json]

Same C, kernel, tolerance 1e-3 and cache size for all; times are medians of interleaved runs. scikit-learn itself, far
slower, runs once. "floor" is the kernel matrix between support vectors and all rows, evaluated once.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC
from mercer.kernels import Gaussian
from reproductions.results import Results

from . import datasets
from .timing import race, touch_memory

CACHE_MB = 4000

#: name → (loader, C, gamma)
CASES: dict[str, tuple[Any, float, float]] = {
    "unimi": (datasets.unimi, 100, 0.05),
    "a9a": (lambda: datasets.svmlight("a9a/a9a.bz2", "a9a/a9a.t.bz2", 123), 1, 1 / 123),
    "ijcnn1": (lambda: datasets.svmlight("ijcnn1/ijcnn1.trn.bz2", "ijcnn1/ijcnn1.tst.bz2", 22), 32, 2),
    "cod-rna": (lambda: datasets.scaled(datasets.svmlight("cod-rna/cod-rna.bz2", "cod-rna/cod-rna.t.bz2", 8)), 32, 0.5),
    "mnist": (lambda: datasets.mnist(20_000), 10, 0.02),
    "letter": (lambda: datasets.svmlight("letter/letter.scale.bz2", "letter/letter.scale.t.bz2", 16), 16, 8),
}


def dual_objective(z: np.ndarray, f: np.ndarray) -> float:
    """½·zᵀKz − Σ|z|, what the dual minimises."""
    return float(0.5 * z @ f - np.abs(z).sum())


def measure(name: str, repeats: int, results: Results, ratios: dict[str, list[float]]) -> None:
    load, C, gamma = CASES[name]
    split = load()
    if split is None:
        return
    X, y, X_test, y_test = split
    X_test, y_test = X_test[:10_000], y_test[:10_000]
    kernel = Gaussian(gamma=gamma)

    def ours() -> SVC:
        return SVC(kernel, C=C, memory=CACHE_MB * 10**6).fit(X, y)

    contestants: dict[str, Any] = {"mercer": ours}
    try:
        from sklearnex.svm import SVC as IntelSVC

        contestants["intelex"] = lambda: IntelSVC(C=C, gamma=gamma, cache_size=CACHE_MB).fit(X, y)
    except ImportError:
        print("scikit-learn-intelex is not installed: pip install 'mercer[bench]'")
    times = race(repeats, **contestants)
    begin = time.perf_counter()
    scikit = ScikitSVC(C=C, gamma=gamma, cache_size=CACHE_MB).fit(X, y)
    scikit_seconds = time.perf_counter() - begin
    model = times["mercer"].value
    support = model.support_
    floor = race(repeats, floor=lambda: kernel.product(X, X[support], np.ones(support.size)))["floor"].median
    predictions = race(repeats, **{who: (lambda fitted=times[who].value: fitted.predict(X_test)) for who in times})
    begin = time.perf_counter()
    reference = scikit.predict(X_test)
    scikit_predicts = time.perf_counter() - begin

    mine = times["mercer"].median
    print(f"\n{name}: {X.shape[0]} × {X.shape[1]}, C={C:g}, γ={gamma:g}, floor {floor:.3f} s")
    fitted = {**{who: t.value for who, t in times.items()}, "scikit-learn": scikit}
    seconds = {**{who: t.median for who, t in times.items()}, "scikit-learn": scikit_seconds}
    predicting = {**{who: t.median for who, t in predictions.items()}, "scikit-learn": scikit_predicts}
    for who, machine in fitted.items():
        accuracy = 100 * float(np.mean(machine.predict(X_test) == y_test))
        noise = f"±{100 * times[who].spread:.0f} %" if who in times else "one run"
        print(
            f"  {who:>12}  fit {seconds[who]:7.3f} s {noise:>8}  predict {predicting[who]:6.3f} s  "
            f"{len(machine.support_)} support vectors  accuracy {accuracy:.2f} %"
        )
    agree = float(np.mean(model.predict(X_test) == reference))
    note = f"{len(support)} support vectors, gap {model.duality_gap_.max():.2g}, agreement {100 * agree:.2f} %"
    if len(model.classes_) == 2:
        z, s = np.zeros(len(y)), np.zeros(len(y))
        z[support], s[scikit.support_] = model.dual_coef_[0], scikit.dual_coef_[0]
        both = kernel.product(
            X.astype(np.float64), X.astype(np.float64)[(z != 0) | (s != 0)], np.stack([z, s], 1)[(z != 0) | (s != 0)]
        )
        objectives = dual_objective(z, both[:, 0]), dual_objective(s, both[:, 1])
        relative = (objectives[0] - objectives[1]) / abs(objectives[1])
        print(f"  dual objective {objectives[0]:.4f}, LIBSVM's {objectives[1]:.4f} (relative {relative:+.1e})")
        note += f", dual objective {relative:+.1e} of LIBSVM's"
    print(f"  worst violation {model.kkt_violation_.max():.2g}, predictions equal on {100 * agree:.2f} % of test rows")
    ratios["scikit-learn"].append(mine / scikit_seconds)
    if name != "letter":
        ratios["floor"].append(mine / floor)
    if "intelex" in times:
        ratio, predicts = mine / times["intelex"].median, predicting["mercer"] / predicting["intelex"]
        ratios["intelex"].append(ratio)
        ratios["prediction"].append(predicts)
        results.add(f"{name}: fit / scikit-learn-intelex", round(ratio, 3), 0.9, ratio <= 0.9, note)
        results.add(
            f"{name}: predict / scikit-learn-intelex", round(predicts, 3), 0.8, predicts <= 0.8, f"{len(X_test)} rows"
        )
    results.add(f"{name}: fit / floor", round(mine / floor, 2), "", True, f"floor {floor:.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(CASES), help="which data sets, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    ratios: dict[str, list[float]] = {"intelex": [], "scikit-learn": [], "floor": [], "prediction": []}
    touch_memory(8)
    for name in options.only.split(","):
        measure(name, options.repeats, results, ratios)
    bars = {"intelex": 0.3, "scikit-learn": 0.09, "floor": 6.0, "prediction": 0.35}
    print()
    for what, values in ratios.items():
        if values:
            mean = float(np.exp(np.mean(np.log(values))))
            print(f"geometric mean, {what}: {mean:.3f} (bar {bars[what]})")
            note = f"{len(values)} data sets"
            results.add(f"geometric mean of time / {what}", round(mean, 3), bars[what], mean <= bars[what], note)
    results.write(options.json)


if __name__ == "__main__":
    main()
