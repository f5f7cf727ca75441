"""Calibrated probabilities against scikit-learn's CalibratedClassifierCV around its SVC.

    python -m benchmarks.calibration [--only unimi,letter] [--repeats 3] [--json results.json]

Same kernel, C, γ, tolerance and 5 folds for all; the sigmoid for all. scikit-learn runs both ways: an ensemble of five
machines (its default), and one machine with out-of-fold scores. Quality is that on rows that nobody has seen: log loss,
Brier score (summed over the classes), expected calibration error of the most probable class in ten bins, and how many
rows have a label that is not the most probable.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC, Calibrated
from mercer.kernels import Gaussian
from reproductions.data import data_path
from reproductions.results import Results

from . import datasets
from .timing import race, touch_memory

#: "No worse" allows for what tolerances of 1e-3 in the machines leave open.
SLACK = 1.001
CACHE_MB = 1000
#: Larger sets are raced once: scikit-learn takes minutes.
FEW_ROWS = 8000


def _split(X: np.ndarray, y: np.ndarray, rows: int) -> datasets.Split:
    some, new, known, truth = train_test_split(X, y, train_size=rows, random_state=0, stratify=y)
    return some, known, new, truth


def unimi() -> datasets.Split | None:
    split = datasets.unimi()
    return None if split is None else _split(split[0], split[1], 7500)


def spambase() -> datasets.Split | None:
    table = datasets.spambase()
    return None if table is None else datasets.scaled(_split(*table, 3000))


def a9a() -> datasets.Split | None:
    split = datasets.svmlight("a9a/a9a.bz2", "a9a/a9a.t.bz2", 123)
    return None if split is None else (split[0][:8000], split[1][:8000], *split[2:])


def mnist() -> datasets.Split | None:
    """Ten digits, pixels between 0 and 1."""
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    paths = [path for name in names if (path := data_path(f"mnist/{name}-ubyte.xz")) is not None]
    if len(paths) < len(names):
        return None
    images, labels, new, truth = (datasets.idx(path) for path in paths)
    pixels = [(part.reshape(len(part), -1) / np.float32(255)).astype(np.float32) for part in (images[:5000], new)]
    return pixels[0], labels[:5000], pixels[1], truth


def splice() -> datasets.Split | None:
    """One column for each base at each place."""
    import pandas as pd

    path = data_path("splice_uci/splice.csv.xz")
    if path is None:
        return None
    table = pd.read_csv(path)
    return _split(pd.get_dummies(table.iloc[:, :-1]).to_numpy(np.float32), table.iloc[:, -1].to_numpy(), 2000)


#: name → (loader, C, gamma)
CASES: dict[str, tuple[Any, float, float]] = {
    "unimi": (unimi, 100, 0.05),
    "svmguide1": (
        lambda: datasets.scaled(datasets.svmlight("svmguide1/svmguide1.bz2", "svmguide1/svmguide1.t.bz2", 4)), 10, 0.5,
    ),
    "spambase": (spambase, 10, 0.01),
    "a9a": (a9a, 1, 1 / 123),
    "letter": (lambda: datasets.svmlight("letter/letter.scale.bz2", "letter/letter.scale.t.bz2", 16), 16, 2),
    "mnist": (mnist, 10, 0.02),
    "splice": (splice, 10, 0.02),
}  # fmt: skip


def quality(model: Any, X: Any, y: np.ndarray) -> dict[str, float]:
    P = model.predict_proba(X)
    own = np.equal(y[:, None], model.classes_)
    return {
        "log loss": float(log_loss(y, P, labels=model.classes_)),
        "Brier score": float(((P - own) ** 2).sum(axis=1).mean()),
        "calibration error": calibration_error(P.max(axis=1), own[np.arange(len(y)), P.argmax(axis=1)]),
        "contradictions": float(np.sum(model.predict(X) != model.classes_[P.argmax(axis=1)])),
    }


def calibration_error(claimed: np.ndarray, right: np.ndarray) -> float:
    """How far claims and truth are apart on average, in ten bins."""
    bins = np.minimum((10 * claimed).astype(int), 9)
    gaps = [abs(claimed[bins == b].sum() - right[bins == b].sum()) for b in range(10)]
    return float(sum(gaps) / len(claimed))


def measure(name: str, repeats: int, results: Results) -> None:
    load, C, gamma = CASES[name]
    split = load()
    if split is None:
        return
    X, y, X_test, y_test = split
    contestants: dict[str, Any] = {"mercer": Calibrated(SVC(Gaussian(gamma=gamma), C=C))}
    for who, ensemble in (("ensemble", True), ("one machine", False)):
        peer = ScikitSVC(C=C, gamma=gamma, cache_size=CACHE_MB)
        contestants[who] = CalibratedClassifierCV(peer, cv=5, ensemble=ensemble)
    runs = {who: (lambda model=model: model.fit(X, y)) for who, model in contestants.items()}
    times = race(repeats if len(y) < FEW_ROWS else 1, **runs)
    seconds, fitted = ({who: getattr(t, what) for who, t in times.items()} for what in ("median", "value"))
    print(f"\n{name}: {X.shape[0]} × {X.shape[1]}, {len(np.unique(y))} classes, C={C:g}, γ={gamma:g}")
    found = {who: quality(model, X_test, y_test) for who, model in fitted.items()}
    for who, figures in found.items():
        print(f"  {who:>12} {seconds[who]:8.3f} s  " + "  ".join(f"{k} {v:.5g}" for k, v in figures.items()))
    for what in ("log loss", "Brier score"):
        for who in ("ensemble", "one machine"):
            ratio = found["mercer"][what] / found[who][what]
            note = f"{found['mercer'][what]:.5f} against {found[who][what]:.5f}"
            results.add(f"{name}: {what} / scikit-learn's ({who})", round(ratio, 4), SLACK, ratio <= SLACK, note)
    for who in ("ensemble", "one machine"):
        ratio = seconds["mercer"] / seconds[who]
        note = f"{seconds['mercer']:.3f} s against {seconds[who]:.3f} s"
        results.add(f"{name}: time / scikit-learn's ({who})", round(ratio, 3), 0.333, ratio <= 1 / 3, note)
    errors = ", ".join(f"{who} {figures['calibration error']:.4f}" for who, figures in found.items())
    results.add(f"{name}: calibration error", round(found["mercer"]["calibration error"], 5), "", True, errors)
    count = int(found["mercer"]["contradictions"])
    results.add(f"{name}: labels that are not the most probable", count, 0, count == 0, f"{len(y_test)} rows")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(CASES), help="which data sets, separated by commas")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    touch_memory()
    for name in options.only.split(","):
        measure(name, options.repeats, results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
