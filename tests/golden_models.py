"""Small models of every kind that a file can hold, with the answers that they must give for ever.

    python -m tests.golden_models        writes the files of kinds that have none yet into tests/golden

A golden file is never written again: the day it cannot be read any more, or answers something else, a promise to the
users is broken. ``NAME.safetensors`` is the model, ``NAME.json`` has rows and the answers of the version that wrote it.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from mercer import (
    SVC,
    SVDD,
    SVR,
    Calibrated,
    Conformal,
    GPClassifier,
    GPRegressor,
    KernelCCA,
    KernelClassifier,
    KernelDiscriminant,
    KernelKMeans,
    KernelPCA,
    KernelQuantiles,
    KernelRegressor,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Pegasos,
    Perceptron,
    SpectralClustering,
    TableClassifier,
    TableRegressor,
    TunedThreshold,
    save,
)
from mercer.kernels import Quadratic
from mercer.losses import Huber
from mercer.preprocess import (
    Constant,
    CorrelationFilter,
    DateParts,
    Filled,
    Numbers,
    OutlierFilter,
    ReadColumns,
    Standardised,
    Texts,
    WithoutOutliers,
)

HOME = Path(__file__).parent / "golden"
#: What is asked of a model; answers of a method that it lacks are not kept.
QUESTIONS = ("predict", "decision_function", "predict_proba", "predict_interval", "score_samples", "transform")

_random = np.random.RandomState(0)
X = _random.standard_normal((30, 3)).round(3)
TWO = np.where(X[:, 0] * X[:, 1] > 0, "yes", "no")
THREE = np.digitize(X[:, 0], [-0.5, 0.5]) * 10
NUMBER = (X[:, 0] - X[:, 1] ** 2 + 0.1 * X[:, 2]).round(3)
LABELS = np.column_stack([X[:, 0] > 0, X[:, 1] > 0]).astype(int)
TEXTS = ["GATTACA", "", "naïve 🙂", "GATTA", "CATCAT", "TACTAC", "GAT", "CAT"]
SETS = [{"milk", 3}, set(), Counter(egg=2), [("a", 1), "milk"], {b"\xff"}, {frozenset({"x"})}, {2.5}, {"egg"}]
GRAPHS = [
    (3, [[0, 1], [1, 2]], ["C", "O", "C"], [1, 2]), (1, [], ["N"]), (0, []), (2, [[0, 1]], ["C", "C"], [1]),
    (3, [[0, 1], [1, 2], [2, 0]], ["C", "C", "C"], [1, 1, 1]), (2, [], ["O", "O"]), (2, [[0, 1]], ["N", "O"], [2]),
    (4, [[0, 3]], ["C", "O", "N", "C"], [2]),
]  # fmt: skip
HALVES = np.array(["yes", "no"] * 4)
FRAME = pd.DataFrame(
    {
        "age": np.where(np.arange(30) % 7 == 3, np.nan, X[:, 0]),
        "pay": X[:, 1],
        "job": pd.Categorical(np.array(["cook", "smith", "poet"])[np.arange(30) % 3]),
        "town": pd.Categorical(np.array(["A", "B", "C", "D", "E"])[(np.arange(30) ** 2) % 5]),
        "day": pd.to_datetime("2024-01-01") + pd.to_timedelta(np.arange(30) * 5.3, unit="D"),
        "note": [("good day" if yes == "yes" else "bad night") + f" {k % 4}" for k, yes in enumerate(TWO)],
    }
)
KINDS = {"age": "number", "pay": "number", "job": "category", "town": "category", "day": "date", "note": "text"}
PEOPLE = FRAME[["age", "job", "day", "note"]]


def _prepared() -> ColumnTransformer:
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), MinMaxScaler())
    return ColumnTransformer(
        [
            ("numbers", numbers, ["age", "pay"]),
            ("dates", make_pipeline(DateParts(), StandardScaler()), ["day"]),
            ("words", OneHotEncoder(handle_unknown="ignore", sparse_output=False), ["job"]),
            ("rare", OneHotEncoder(min_frequency=8, handle_unknown="infrequent_if_exist"), ["town"]),
            ("text", Texts(units="words", weight=2.0), ["note"]),
        ],
        sparse_threshold=1.0,
        verbose_feature_names_out=False,
    )


def _partial(machine):
    return machine.partial_fit(X[:20], THREE[:20], classes=[0, 10, 20]).partial_fit(X[20:], THREE[20:])


#: By name: a function that makes the fitted model, and rows to ask it about.
GOLDEN = {
    "perceptron": (lambda: Perceptron(random_state=0).fit(X, THREE), X),
    "perceptron-voted": (lambda: Perceptron("polynomial(degree=2)", variant="voted", random_state=0).fit(X, TWO), X),
    "pegasos": (lambda: _partial(Pegasos(random_state=0)), X),
    "pegasos-kernel": (
        lambda: Pegasos("laplacian(gamma=0.3)", loss="logistic", steps=99, random_state=0).fit(X, TWO),
        X,
    ),
    "svc": (lambda: SVC("2*gaussian(gamma=0.3) + linear", class_weight={"yes": 2.0, "no": 1.0}).fit(X, TWO), X),
    "svc-pairs": (lambda: SVC("rbf", costs={(0, 20): 3.0}).fit(X, THREE), X),
    "svc-rest": (lambda: SVC("linear", strategy="ovr").fit(X, THREE), X),
    "svc-hard": (lambda: SVC(C=float("inf")).fit(X, X[:, 0] > 0), X),
    "svc-sparse": (lambda: SVC("cosine").fit(sparse.csr_array(X), TWO), sparse.csr_array(X)),
    "svc-precomputed": (lambda: SVC("precomputed").fit(X @ X.T, TWO), X @ X.T),
    "svc-labels": (lambda: SVC("gaussian(gamma=0.5)").fit(X, LABELS), X),
    "svc-mixture": (lambda: SVC("mixture(linear, gaussian, p=2)").fit(X, TWO), X),
    "svc-quadratic": (lambda: SVC(Quadratic(np.diag([1.0, 2.0, 0.1]))).fit(X, TWO), X),
    "svc-single": (lambda: SVC("matern(nu=1.5)").fit(X.astype(np.float32), TWO), X.astype(np.float32)),
    "nu-svc": (lambda: NuSVC("gaussian(gamma=0.2)", nu=0.3).fit(X, THREE), X),
    "kernel-logistic": (lambda: KernelClassifier("matern(nu=2.5)").fit(X, THREE), X),
    "kernel-landmarks": (lambda: KernelClassifier("rbf", "squared_hinge", rank=5).fit(X, TWO), X),
    "kernel-huber": (lambda: KernelRegressor(loss=Huber(delta=0.5)).fit(X, NUMBER), X),
    "kernel-ridge": (lambda: KernelRegressor("rbf").fit(X, X[:, :2]), X),
    "quantiles": (lambda: KernelQuantiles("rbf", quantiles=(0.1, 0.5, 0.9)).fit(X, NUMBER), X),
    "svr": (lambda: SVR(C=10.0).fit(X, NUMBER), X),
    "nu-svr": (lambda: NuSVR(kernel=None).fit(X, NUMBER), X),
    "one-class": (lambda: OneClassSVM(nu=0.2).fit(X), X),
    "svdd": (lambda: SVDD(nu=0.2).fit(X), X),
    "kernel-kmeans": (lambda: KernelKMeans("gaussian(gamma=0.3)", n_clusters=3).fit(X), X),
    "kernel-kmeans-linear": (lambda: KernelKMeans(None, n_clusters=3).fit(X), X),
    "spectral-clustering": (lambda: SpectralClustering("gaussian(gamma=0.3)", n_clusters=3).fit(X), X),
    "kernel-pca": (lambda: KernelPCA("gaussian(gamma=0.3)", n_components=3).fit(X), X),
    "kernel-discriminant": (lambda: KernelDiscriminant("gaussian(gamma=0.3)", lam=0.01).fit(X, THREE), X),
    "kernel-cca": (lambda: KernelCCA("gaussian(gamma=0.3)", "gaussian(gamma=1)", lam=0.1).fit(X, X[:, :2] ** 2), X),
    "gp-regressor": (lambda: GPRegressor(noise=0.1).fit(X, NUMBER), X),
    "gp-classifier": (lambda: GPClassifier("1.5*matern(nu=2.5)", tune=None).fit(X, THREE), X),
    "calibrated-sigmoid": (lambda: Calibrated(SVC(), cv=3).fit(X, THREE), X),
    "calibrated-isotonic": (lambda: Calibrated(SVC(), method="isotonic", cv=3).fit(X, TWO), X),
    "calibrated-venn": (
        lambda: Calibrated(SVC(), method="venn_abers", cv=3, costs={("yes", "no"): 5.0}).fit(X, TWO),
        X,
    ),
    "threshold": (lambda: TunedThreshold(SVC(), scoring="balanced_accuracy", cv=3).fit(X, TWO), X),
    "conformal": (lambda: Conformal(KernelRegressor("rbf"), coverage=0.8, held_out=0.4).fit(X, NUMBER), X),
    "conformal-cross": (lambda: Conformal(SVR(), "cross", coverage=0.8, cv=3).fit(X, NUMBER), X),
    "conformal-jackknife": (lambda: Conformal(KernelRegressor("rbf"), "jackknife+").fit(X, NUMBER), X),
    "numbers": (
        lambda: WithoutOutliers(
            Pipeline(
                [
                    ("numbers", Numbers(without=("note", "job", "town", "day"))),
                    ("impute", SimpleImputer(keep_empty_features=True)),
                    ("scale", StandardScaler()),
                    ("correlation", CorrelationFilter(0.9)),
                    ("expand", PolynomialFeatures(2, include_bias=False)),
                    ("constant", Constant()),
                    ("learner", SVC()),
                ]
            ),
            OutlierFilter("zscore", 2.5),
        ).fit(FRAME, TWO),
        FRAME,
    ),
    "reshaped": (
        lambda: make_pipeline(
            RobustScaler(),
            PowerTransformer(),
            QuantileTransformer(n_quantiles=10, output_distribution="normal"),
            Normalizer(),
            SVC(),
        ).fit(X, TWO),
        X,
    ),
    "binned": (
        lambda: make_pipeline(KBinsDiscretizer(5, encode="onehot-dense"), Binarizer(threshold=0.5), SVC()).fit(X, TWO),
        X,
    ),
    "table": (lambda: Pipeline([("prepare", _prepared()), ("learner", SVC("rbf"))]).fit(FRAME, TWO), FRAME),
    "standardised": (lambda: make_pipeline(Standardised(limit=1.5), SVC("rbf")).fit(X, TWO), X),
    "scaled-sparse": (
        lambda: Pipeline([("scale", MaxAbsScaler()), ("same", "passthrough"), ("learner", Perceptron(random_state=0))])
        .fit(sparse.csr_array(X), TWO),
        sparse.csr_array(X),
    ),
    "filled": (
        lambda: Pipeline(
            [
                ("fill", Filled()),
                ("learner", SVC("gaussian(gamma=.1).on('age','day')*spectrum(2).on('note')+equal().on('job')")),
            ]
        ).fit(PEOPLE, TWO),
        PEOPLE,
    ),
    "logarithms": (
        lambda: TransformedTargetRegressor(
            make_pipeline(StandardScaler(), KernelRegressor("rbf")),
            func=np.log1p, inverse_func=np.expm1, check_inverse=False,
        ).fit(X, np.exp(NUMBER)),
        X,
    ),
    "read": (
        lambda: Pipeline([("read", ReadColumns(KINDS, ("none",))), ("columns", _prepared()), ("learner", SVC())])
        .fit(FRAME, TWO),
        FRAME,
    ),
    "table-classes": (lambda: TableClassifier().fit(FRAME, TWO), FRAME),
    "table-numbers": (lambda: TableRegressor().fit(FRAME, NUMBER), FRAME),
    "strings": (lambda: SVC("normalised(spectrum(p=(1, 3)))").fit(TEXTS, HALVES), TEXTS),
    "strings-aligned": (lambda: SVC("subsequence(k=2) + mismatch(k=2, m=1)").fit(TEXTS[3:], HALVES[3:]), TEXTS[3:]),
    "sets": (lambda: KernelClassifier("minmax", tol=1e-2).fit(SETS, HALVES), SETS),
    "graphs": (lambda: SVC("weisfeiler_lehman(h=2)").fit(GRAPHS, HALVES), GRAPHS),
    "graphs-voted": (lambda: Perceptron("shortestpath", variant="voted", random_state=0).fit(GRAPHS, HALVES), GRAPHS),
}  # fmt: skip


def rows_as_json(rows):
    """Rows as JSON keeps them; see :func:`rows_of_json`."""
    if isinstance(rows, pd.DataFrame):
        kinds = {name: str(column.dtype) for name, column in rows.items()}
        columns = {
            name: [None if value != value else value if kinds[name] == "float64" else str(value) for value in column]
            for name, column in rows.items()
        }
        return {"frame": columns, "kinds": kinds}
    if sparse.issparse(rows):
        return {"sparse": rows.toarray().tolist()}
    if isinstance(rows, np.ndarray):
        return {"array": rows.tolist(), "dtype": str(rows.dtype)}
    return {"items": None}  # those of this file


def rows_of_json(name, stored):
    """The rows again."""
    match stored:
        case {"frame": columns, "kinds": kinds}:
            return pd.DataFrame({each: pd.Series(values).astype(kinds[each]) for each, values in columns.items()})
        case {"sparse": values}:
            return sparse.csr_array(np.array(values))
        case {"array": values, "dtype": dtype}:
            return np.array(values, dtype=dtype)
    return GOLDEN[name][1]


def answers(model, rows):
    """What the model says of the rows, by question."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for question in QUESTIONS:
            if hasattr(model, question):
                found[question] = np.asarray(getattr(model, question)(rows)).tolist()
    return found


def write_missing() -> None:
    """Write the golden files that are not there yet."""
    HOME.mkdir(exist_ok=True)
    for name, (make, rows) in GOLDEN.items():
        path = HOME / f"{name}.safetensors"
        if path.exists():
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = make()
        save(model, path, {"golden": name})
        stored = {"rows": rows_as_json(rows), "answers": answers(model, rows_of_json(name, rows_as_json(rows)))}
        (HOME / f"{name}.json").write_text(json.dumps(stored) + "\n")


if __name__ == "__main__":
    write_missing()
