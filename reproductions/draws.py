"""Random searches, each drawn from a seed: estimator, grid, rows, labels, scorers, splits, weights, options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import f1_score, log_loss, make_scorer, mean_absolute_error
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KernelCenterer, MinMaxScaler, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from mercer import SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron
from mercer.kernels import Gaussian, Laplacian, Linear, Polynomial, Spectrum

Rng = np.random.Generator


@dataclass
class Draw:
    """A search, and what its ``fit`` is given."""

    estimator: Any
    grid: Any
    X: Any
    y: Any
    options: dict[str, Any]
    params: dict[str, Any]
    #: Whether shared cells are plain fits to the last bit; else up to the tolerance of the solver.
    exact: bool
    routed: bool = False
    words: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(self.words)


class Edges:
    """A splitter that looks at the rows: each end of the first column is left out once."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        return 2

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        first = X.iloc[:, 0].to_numpy() if hasattr(X, "iloc") else np.array([np.ravel(_dense(row))[0] for row in X])
        order = np.argsort(first, kind="stable")
        third = order.size // 3
        yield order[third:], order[:third]
        yield order[:-third], order[-third:]


def _dense(row: Any) -> Any:
    return row.toarray() if sparse.issparse(row) else row


class Counting(SVC):
    """A machine with a score of its own."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        return float(len(self.support_))


class Silent(Perceptron):
    """A machine whose ``fit`` returns nothing."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:  # type: ignore[override]
        super().fit(X, y, sample_weight)


def _svc(rng: Rng) -> tuple[Any, Any, bool]:
    C = [0.1, 1, 10]
    return [
        (SVC("gaussian"), {"C": C, "kernel__gamma": [0.1, 1.0]}, False),
        (SVC(None), {"C": [0.1, 1]}, False),
        (SVC("gaussian", class_weight="balanced", strategy="ovr"), {"C": [1, -1, 10]}, False),
        (SVC(), {"kernel": [Gaussian(gamma=3.0), Laplacian(gamma=2.0)], "kernel__gamma": [0.2, 1.0]}, False),
        (SVC(), [{"kernel": [Linear()], "C": [1]}, {"kernel": ["gaussian(gamma=0.5)"], "C": C}], False),
        (SVC(Gaussian() + Linear()), {"C": [1, 10], "kernel__left__gamma": [0.5, 2]}, False),
        (Counting(), {"C": [1, 10]}, True),
    ][rng.integers(7)]


def _smooth(rng: Rng) -> tuple[Any, Any, bool]:
    return [
        (KernelClassifier("gaussian"), {"lam": [1e-3, 1e-1], "kernel__gamma": [0.5, 2.0]}, False),
        (KernelClassifier(None), {"lam": [1e-3, 1e-1], "loss": ["logistic", "squared_hinge"]}, False),
        (KernelClassifier("gaussian", "squared"), {"lam": [1e-2, 1.0], "fit_intercept": [True, False]}, False),
        (KernelClassifier("polynomial", "smooth_hinge"), {"lam": [1e-2, 1e-1]}, False),
    ][rng.integers(4)]


def _mistakes(rng: Rng) -> tuple[Any, Any, bool]:
    return [
        (Perceptron(None, random_state=0), {"epochs": [1, 3]}, True),
        (Perceptron("gaussian", random_state=1), {"epochs": [1, 5], "kernel__gamma": [0.1, 2.0]}, True),
        (Perceptron(Polynomial(), variant="averaged", random_state=0), {"epochs": [2], "kernel__degree": [2, 3]}, True),
        (Perceptron(random_state=0), {"variant": ["last", "voted"], "epochs": [1, 2]}, True),
        (Pegasos(None, random_state=0), {"steps": [50, 200], "lam": [1e-3, 1e-1]}, True),
        (Pegasos("gaussian", random_state=0), {"steps": [60, 120], "kernel__gamma": [0.5, 2.0]}, True),
        (Pegasos(None, loss="logistic", average=True, random_state=0), {"steps": [100], "lam": [1e-2, 1]}, True),
        (Silent(random_state=0), {"epochs": [1, 2]}, True),
    ][rng.integers(8)]


def _foreign(rng: Rng) -> tuple[Any, Any, bool]:
    return [
        (LogisticRegression(), {"C": [0.1, 1]}, True),
        (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3], "min_samples_leaf": [1, 5]}, True),
        (KNeighborsClassifier(), {"n_neighbors": [1, 5, 1000]}, True),
        (RidgeClassifier(), {"alpha": [0.1, 1]}, True),
    ][rng.integers(4)]


def _piped(rng: Rng) -> tuple[Any, Any, bool]:
    machine, grid, exact = (_svc, _smooth, _mistakes, _foreign)[rng.integers(4)](rng)
    steps = [(StandardScaler(with_mean=False),), (MinMaxScaler(), SelectKBest(k=2)), (PCA(2, random_state=0),)]
    pipeline = Pipeline([*((f"step{k}", step) for k, step in enumerate(steps[rng.integers(3)])), ("last", machine)])
    grids = grid if isinstance(grid, list) else [grid]
    grids = [{f"last__{name}": values for name, values in grid.items()} for grid in grids]
    if rng.random() < 0.3:
        grids = [{"last": [SVC("gaussian"), DecisionTreeClassifier(random_state=0), Perceptron(random_state=0)]}]
        exact = False
    elif rng.random() < 0.3:
        grids = [{**grid, "step0": [StandardScaler(with_mean=False), "passthrough"]} for grid in grids]
    return pipeline, grids, exact


def _regressor(rng: Rng) -> tuple[Any, Any, bool]:
    return [
        (KernelRegressor("gaussian"), {"lam": [1e-3, 1e-1], "kernel__gamma": [0.5, 2.0]}, True),
        (KernelRegressor(None, "huber"), {"lam": [1e-3, 1e-1]}, True),
        (Ridge(), {"alpha": [0.1, 1]}, True),
        (DecisionTreeRegressor(random_state=0), {"max_depth": [1, 3]}, True),
        (make_pipeline(StandardScaler(with_mean=False), KernelRegressor()), {"kernelregressor__lam": [0.01, 1]}, True),
    ][rng.integers(5)]


def _without_labels(rng: Rng) -> tuple[Any, Any, bool]:
    return [
        (KernelDensity(), {"bandwidth": [0.1, 1.0]}, True),
        (PCA(random_state=0), {"n_components": [1, 2]}, True),
        (KMeans(n_init=2, random_state=0), {"n_clusters": [2, 3]}, True),
    ][rng.integers(3)]


def _square(rng: Rng) -> tuple[Any, Any, bool]:
    return [
        (SVC("precomputed"), {"C": [0.1, 1, 10]}, False),
        (SVC(), {"kernel": ["precomputed", "linear"]}, False),
        (Perceptron("precomputed", random_state=0), {"epochs": [1, 3]}, True),
        (Pipeline([("step", KernelCenterer()), ("last", SVC("precomputed"))]), {"last__C": [1, 10]}, False),
    ][rng.integers(4)]


def _words(rng: Rng) -> tuple[Any, Any, bool]:
    return [
        (SVC(Spectrum(p=2)), {"C": [0.1, 1]}, False),
        (Perceptron(Spectrum(), random_state=0), {"epochs": [1, 2], "kernel__p": [1, 2]}, True),
    ][rng.integers(2)]


KINDS: dict[str, tuple[float, Callable]] = {
    "svc": (0.22, _svc),
    "smooth": (0.14, _smooth),
    "mistakes": (0.16, _mistakes),
    "foreign": (0.1, _foreign),
    "pipeline": (0.2, _piped),
    "regression": (0.08, _regressor),
    "no labels": (0.05, _without_labels),
    "square": (0.03, _square),
    "words": (0.02, _words),
}


def _two(model: Any, rows: Any, truth: Any, sample_weight: Any = None) -> dict[str, float]:
    return {"right": float(np.mean(model.predict(rows) == np.ravel(truth))), "rows": float(len(np.ravel(truth)))}


def _by_hand(model: Any, rows: Any, truth: Any) -> float:
    return float(np.mean(model.predict(rows) == np.ravel(truth))) + np.shape(rows)[0]


def _scoring(rng: Rng, kind: str, estimator: Any, classes: int) -> tuple[Any, list[Any]]:
    """A scoring, and the ``refit`` that go with it."""
    plain = [True, False, lambda results: int(np.argmax(results["mean_fit_time"] >= 0))]
    if kind == "no labels":
        choices: list[Any] = [(None, plain), (lambda model, rows: float(model.score(rows)) / 2, plain)]
    elif kind == "regression":
        error = make_scorer(mean_absolute_error, greater_is_better=False)
        choices = [(None, plain), ("r2", plain), (error, plain), ({"a": "r2", "b": error}, ["a", "b", False]),
                   (["r2", "neg_mean_squared_error"], ["r2", False])]  # fmt: skip
    else:
        macro = make_scorer(f1_score, average="macro", zero_division=0.0)
        choices = [(None, plain), (None, plain), ("accuracy", plain), ("balanced_accuracy", plain), (macro, plain),
                   (["accuracy", "f1_macro"], ["f1_macro", False]), (_two, ["right", False]), (_by_hand, plain),
                   ({"one": "accuracy", "two": macro, "three": _by_hand}, ["one", "three", plain[2]]),
                   ({"one": "accuracy", "two": macro}, ["two", False, plain[2]])]  # fmt: skip
        if classes == 2:
            choices += [("roc_auc", plain), ({"auc": "roc_auc", "ap": "average_precision"}, ["auc", False])]
        if isinstance(estimator, KernelClassifier) and estimator.loss == "logistic":
            choices += [("neg_log_loss", plain), (make_scorer(log_loss, response_method="predict_proba"), plain)]
    scoring, refits = choices[rng.integers(len(choices))]
    return scoring, refits[rng.integers(len(refits))]


def _splits(rng: Rng, n: int, labelled: bool) -> tuple[Any, bool]:
    """A ``cv``, and whether it needs groups."""
    seed = int(rng.integers(1000))
    halves = [(np.flatnonzero(rng.random(n) < 0.7), np.flatnonzero(rng.random(n) < 0.4)) for _ in range(2)]
    choices: list[Any] = [None, 3, KFold(3, shuffle=True, random_state=seed), ShuffleSplit(2, random_state=seed),
                          RepeatedKFold(n_splits=2, n_repeats=2, random_state=seed), Edges(), halves, iter(halves),
                          [(np.isin(np.arange(n), train), test.tolist()) for train, test in halves],
                          PredefinedSplit(rng.integers(-1, 3, n)), GroupKFold(3), LeaveOneGroupOut(),
                          GroupShuffleSplit(2, random_state=seed),
                          KFold(2, shuffle=True, random_state=np.random.RandomState(seed))]  # fmt: skip
    if labelled:
        choices += [StratifiedKFold(3, shuffle=True, random_state=seed), StratifiedGroupKFold(2),
                    RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=seed),
                    StratifiedShuffleSplit(2, random_state=seed)]  # fmt: skip
    cv = choices[rng.integers(len(choices))]
    return cv, isinstance(cv, (GroupKFold, LeaveOneGroupOut, GroupShuffleSplit, StratifiedGroupKFold))


def _rows(rng: Rng, n: int, dense: bool) -> tuple[str, Any]:
    X = rng.normal(size=(n, 4)).round(3)
    names = [f"column {k}" for k in range(4)]
    index = rng.permutation(n)
    forms = [("array", X), ("array", X), ("float32", X.astype(np.float32)), ("frame", pd.DataFrame(X, index, names)),
             ("csr", sparse.csr_array(X * (rng.random(X.shape) < 0.6))), ("csc", sparse.csc_matrix(X))]  # fmt: skip
    return forms[rng.integers(4 if dense else len(forms))]


def _labels(rng: Rng, X: Any, classes: int) -> tuple[str, Any]:
    values = X.to_numpy() if hasattr(X, "iloc") else _dense(X)
    score = values[:, 0] + values[:, 1] ** 2 + 0.5 * rng.normal(size=len(values))
    codes = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    words = np.array(["ash", "birch", "cedar"])[codes]
    forms = [("numbers", codes), ("numbers", codes), ("list", codes.tolist()), ("words", words),
             ("series", pd.Series(words, index=rng.permutation(len(words)))), ("column", codes[:, None]),
             ("one-column frame", pd.DataFrame({"label": codes}))]  # fmt: skip
    return forms[rng.integers(len(forms))]


def _target(rng: Rng, X: Any, kind: str) -> tuple[str, Any]:
    if kind == "no labels":
        return "none", None
    values = X.to_numpy() if hasattr(X, "iloc") else _dense(X)
    return "numbers", np.sin(values[:, 0]) + 0.1 * rng.normal(size=len(values))


def _route(estimator: Any, cv: Any) -> None:
    """Ask for weights and groups, as scikit-learn's routing of metadata wants it."""
    with config_context(enable_metadata_routing=True):
        estimator.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        if hasattr(cv, "set_split_request"):
            cv.set_split_request(groups=True)


def draw(seed: int) -> Draw:
    """The search of a seed. Called twice it gives two that share nothing."""
    rng = np.random.default_rng(seed)
    kind = list(KINDS)[rng.choice(len(KINDS), p=[share for share, _ in KINDS.values()])]
    estimator, grid, exact = KINDS[kind][1](rng)
    n, classes = int(rng.integers(60, 110)), int(rng.integers(2, 4))
    form, X = _rows(rng, n, kind in ("pipeline", "no labels", "square", "words"))
    scoring, refit = _scoring(rng, kind, estimator, classes)
    cv, grouped = _splits(rng, n, kind not in ("no labels", "regression"))
    labels, y = _labels(rng, X, classes) if kind not in ("no labels", "regression") else _target(rng, X, kind)
    if kind == "square":
        X = Gaussian(gamma=0.3)(np.asarray(X))
    elif kind == "words":
        X = ["".join("abcd"[k] for k in np.argsort(row)) for row in np.asarray(X)]
        cv = 3 if isinstance(cv, Edges) else cv
    params: dict[str, Any] = {"groups": rng.integers(0, 5, n)} if grouped else {}
    last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    weights = f"{last[0]}__sample_weight".removeprefix("__")
    weighted = kind != "no labels" and not isinstance(last[1], KNeighborsClassifier) and rng.random() < 0.25
    if weighted:
        params[weights] = rng.random(n) + 0.1
    routed = weighted and isinstance(estimator, SVC) and rng.random() < 0.5
    if routed:
        _route(estimator, cv)
    options = {
        "scoring": scoring,
        "refit": refit,
        "cv": cv,
        "return_train_score": bool(rng.random() < 0.4),
        "error_score": [np.nan, np.nan, 0.0][rng.integers(3)],
    }
    words = [kind, str(estimator), f"X {form}", f"y {labels}", f"scoring {scoring}", f"refit {refit}", f"cv {cv}",
             *(["weights"] if weighted else []), *(["routed"] if routed else [])]  # fmt: skip
    return Draw(estimator, grid, X, y, options, params, exact, routed, [" ".join(word.split()) for word in words])
