"""The exact SVM against LIBSVM through scikit-learn: same dual objective, same predictions, conditions met.

Bars: the dual objective within 1e-4 of LIBSVM's, 99.9 % of the test rows predicted alike, no condition violated by more
than 1e-3. LIBSVM runs at its default tolerance 1e-3, as mercer does.
"""

from __future__ import annotations

import lzma

import numpy as np
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC as ScikitSVC

from benchmarks import datasets
from mercer import SVC
from mercer.kernels import Gaussian

from .data import data_path
from .results import Results


def _unimi() -> datasets.Split | None:
    split = datasets.unimi()
    return None if split is None else (split[0][:8000], split[1][:8000], split[0][8000:], split[1][8000:])


def _svmguide1() -> datasets.Split | None:
    split = datasets.svmlight("svmguide1/svmguide1.bz2", "svmguide1/svmguide1.t.bz2", 4)
    if split is None:
        return None
    X, y, X_test, y_test = split
    scale = MinMaxScaler((-1, 1)).fit(X)
    return scale.transform(X), y, scale.transform(X_test), y_test


def _spambase() -> datasets.Split | None:
    table, path = datasets.spambase(), data_path("spambase/spam.traintest.xz")
    if table is None or path is None:
        return None
    with lzma.open(path, "rt") as file:
        test = np.loadtxt(file).astype(bool)
    X, y = table
    scale = StandardScaler().fit(X[~test])
    return scale.transform(X[~test]), y[~test], scale.transform(X[test]), y[test]


#: name → (loader, C, gamma); the last two take minutes, most of them LIBSVM's.
CASES = {
    "unimi": (_unimi, 100, 0.05),
    "svmguide1": (_svmguide1, 2, 2),
    "spambase": (_spambase, 10, 0.01),
    "a9a": (lambda: datasets.svmlight("a9a/a9a.bz2", "a9a/a9a.t.bz2", 123), 1, 1 / 123),
    "letter": (lambda: datasets.svmlight("letter/letter.scale.bz2", "letter/letter.scale.t.bz2", 16), 16, 8),
}


def dual(model: SVC | ScikitSVC, X: np.ndarray, kernel: Gaussian) -> float:
    """Σ|z| − ½·zᵀKz of a machine for two classes, in float64."""
    rows, z = X[model.support_].astype(np.float64), model.dual_coef_[0]
    return float(np.abs(z).sum() - 0.5 * z @ kernel.product(rows, rows, z))


def compare(name: str, results: Results) -> None:
    load, C, gamma = CASES[name]
    split = load()
    if split is None:
        return
    X, y, X_test, y_test = split
    kernel = Gaussian(gamma=gamma)
    mine = SVC(kernel, C=C).fit(X, y)
    theirs = ScikitSVC(C=C, gamma=gamma, cache_size=2000, break_ties=len(np.unique(y)) > 2).fit(X, y)
    ours, reference = mine.predict(X_test), theirs.predict(X_test)
    equal, violation = float(np.mean(ours == reference)), float(mine.kkt_violation_.max())
    accuracy = f"accuracy {100 * np.mean(ours == y_test):.3f} % / {100 * np.mean(reference == y_test):.3f} %"
    print(f"{name:>10}: equal predictions {100 * equal:.3f} %, violation {violation:.1e}, {accuracy}")
    if len(mine.classes_) == 2:
        relative = dual(mine, X, kernel) / dual(theirs, X, kernel) - 1
        print(f"{'':>10}  dual objective {relative:+.1e} relative to LIBSVM's")
        results.add(f"{name}: dual objective, relative", relative, 1e-4, abs(relative) <= 1e-4, accuracy)
    results.add(f"{name}: equal predictions", equal, 0.999, equal >= 0.999, f"{len(y_test)} test rows")
    results.add(f"{name}: worst violation", violation, 1e-3, violation <= 1e-3, "in float64")
