"""A fingerprint of everything that a fit leaves behind and of what it answers, for one way to give the same rows.

    python -m benchmarks.fault_trials._fingerprint ORDER

prints one line a machine: its name, and a hash over its fitted attributes and its answers to new rows, asked for one
by one, seven at a time and all at once. Times are left out; they are the only thing that may differ.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

import mercer
from mercer.kernels import Kernel
from tests import cases

#: Rows to learn from and new ones, of no round numbers, and those of fits that go other ways for many rows.
_FEW, _MANY, _NEW, _WIDTH = 701, 4507, 61, 9

#: The same rows in the same type, laid out differently.
ORDERS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "read-only": lambda X: _locked(X.copy()),
}

_ANSWERS = ("predict", "decision_function", "predict_proba", "predict_interval", "score_samples", "transform")


def _locked(X: np.ndarray) -> np.ndarray:
    X.setflags(write=False)
    return X


def machines() -> Iterator[tuple[str, Any, Any, Any, Any]]:
    """Every estimator of the library with rows, targets and new rows."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((_MANY, _WIDTH))
    numbers = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(_MANY)
    classes = np.array(["a", "b", "c"])[np.digitize(numbers, [-0.5, 0.5])]
    new, few = rng.standard_normal((_NEW, _WIDTH)), slice(0, _FEW)
    thin = X * (rng.random(X.shape) < 0.2)
    kinds = [
        ("classes", cases.ESTIMATORS, classes),
        ("numbers", cases.REGRESSORS, numbers),
        ("novelty", cases.NOVELTY, None),
    ]
    for kind, estimators, targets in kinds:
        for estimator in estimators:
            y = None if targets is None else targets[few]
            yield f"{kind} {estimator!r}", estimator, X[few], y, new
            single = (X[few].astype(np.float32), y, new.astype(np.float32))
            yield f"{kind} {estimator!r} of float32", estimator, *single
            yield f"{kind} {estimator!r} of CSR", estimator, sparse.csr_array(thin[few]), y, sparse.csr_array(new)
    small = {"kernel__gamma": [0.05, 0.2]}
    wrapped = [
        ("search C", mercer.KernelSearchCV(mercer.SVC(), small | {"C": [1, 10]}, cv=3, random_state=0), classes),
        ("search lam", mercer.KernelSearchCV(mercer.KernelRegressor(), small | {"lam": [1e-3, 1e-2]}, cv=3), numbers),
        ("search two", mercer.KernelSearchCV(mercer.SVC(), small, cv=3, n_jobs=2), classes),
        ("sigmoid", mercer.Calibrated(mercer.SVC(), method="sigmoid"), classes),
        ("isotonic", mercer.Calibrated(mercer.SVC(), method="isotonic"), classes),
        ("venn_abers", mercer.Calibrated(mercer.SVC(), method="venn_abers"), classes == "a"),
        ("threshold", mercer.TunedThreshold(mercer.SVC(), scoring="f1"), (classes == "a").astype(int)),
        ("conformal", mercer.Conformal(mercer.KernelRegressor(), coverage=0.9), numbers),
        ("pipeline", make_pipeline(MinMaxScaler(), mercer.SVC()), classes),
        ("quantiles", mercer.KernelQuantiles(quantiles=(0.1, 0.5, 0.9)), numbers),
    ]
    for name, estimator, y in wrapped:
        yield name, estimator, X[few], y[few], new
    many = [
        (mercer.SVC(), classes == "a"),
        (mercer.SVC(memory="8MB"), classes),
        (mercer.KernelClassifier(), classes),
        (mercer.KernelClassifier(memory="20MB"), classes == "a"),
        (mercer.KernelClassifier(rank=300), classes),
        (mercer.KernelClassifier(rank=200, memory="2MB"), classes == "a"),
        (mercer.KernelRegressor(), numbers),
        (mercer.SVR(kernel="laplacian(gamma=0.1)"), numbers),
        (mercer.SVC(kernel=None), classes),
        (mercer.Pegasos(kernel="gaussian(gamma=0.1)", steps=20_000), classes),
    ]
    for estimator, y in many:
        yield f"many rows {estimator!r}", estimator, X, y, new
    for number, (kernel, items) in enumerate(cases.STRUCTURED):
        if kernel.always_psd:
            some = list(items) * 3
            yield f"items {number} {kernel!r}", mercer.SVC(kernel), some, np.arange(len(some)) % 2, list(items)


def fingerprint(estimator: Any, X: Any, y: Any, new: Any) -> str:
    """A hash over what a fit leaves and answers; "differs" where an answer depends on the rows asked with it."""
    hashed = hashlib.sha256()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(estimator)
        if hasattr(model, "random_state"):
            model.set_params(random_state=0)
        model.fit(X) if y is None else model.fit(X, y)
    _add(hashed, model)
    count = new.shape[0] if hasattr(new, "shape") else len(new)
    for name in _ANSWERS:
        if not hasattr(model, name) or (name == "predict_interval" and isinstance(model, mercer.KernelQuantiles)):
            continue
        whole = np.asarray(getattr(model, name)(new))
        for size in (1, 7):
            pieces = [np.asarray(getattr(model, name)(new[at : at + size])) for at in range(0, count, size)]
            if np.concatenate(pieces).tobytes() != whole.tobytes():
                return f"differs in {name} by {size}"
        hashed.update(whole.tobytes())
    return hashed.hexdigest()


def _add(hashed: Any, value: Any) -> None:
    """Hash an attribute and all that it is made of."""
    if isinstance(value, np.ndarray):
        hashed.update(repr(value.tolist()).encode() if value.dtype == object else np.ascontiguousarray(value).tobytes())
    elif sparse.issparse(value):
        for part in (value.data, value.indices, value.indptr):
            _add(hashed, part)
    elif isinstance(value, dict):
        for key in sorted(map(str, value)):
            if "time" not in key:
                hashed.update(key.encode())
                _add(hashed, next(v for k, v in value.items() if str(k) == key))
    elif isinstance(value, (list, tuple)):
        for part in value:
            _add(hashed, part)
    elif isinstance(value, (str, int, float, bool, np.generic, Kernel)) or value is None:
        hashed.update(repr(value).encode())
    elif isinstance(value, BaseEstimator):
        fitted = {k: v for k, v in vars(value).items() if k.endswith("_") and not k.startswith("_")}
        _add(hashed, fitted)
        _add(hashed, getattr(value, "steps", None) or [])


def main() -> None:
    laid_out = ORDERS[sys.argv[1]]
    for name, estimator, X, y, new in machines():
        dense = isinstance(X, np.ndarray)
        rows, questions = (laid_out(X), laid_out(new)) if dense else (X, new)
        print(f"{name.replace(chr(10), ' ')}\t{fingerprint(estimator, rows, y, questions)}", flush=True)


if __name__ == "__main__":
    main()
