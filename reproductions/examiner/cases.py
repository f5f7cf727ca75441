"""One random fit: data, kernel, estimator and parameters, from a seed and a number alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

import mercer
from mercer import kernels, losses

from . import rows
from .definitions import Array, kernel_matrix, rows_of
from .similarities import draw_kernel

#: Estimators and how often each is drawn.
ESTIMATORS = {
    "SVC": 0.22, "NuSVC": 0.08, "SVR": 0.1, "NuSVR": 0.08, "OneClassSVM": 0.08, "SVDD": 0.06, "KernelClassifier": 0.14,
    "KernelRegressor": 0.1, "KernelQuantiles": 0.06, "Pegasos": 0.04, "Perceptron": 0.04,
}  # fmt: skip
#: Those whose targets are numbers, those without any, and those that learn from landmarks.
NUMERIC, UNLABELLED = ("SVR", "NuSVR", "KernelRegressor", "KernelQuantiles"), ("OneClassSVM", "SVDD")
OF_LANDMARKS = ("SVC", "KernelClassifier", "KernelRegressor")


@dataclass
class Case:
    """What is fitted, and what the examiner needs to know about it."""

    number: int
    estimator: Any
    X: Any
    y: Any
    weight: Array | None
    X_new: Any
    #: The kernel of the definition (``None``: the dot product), and the items in the form that definitions take.
    kernel: Any
    items: Any
    new_items: Any
    #: Whether X is the kernel matrix itself.
    given: bool = False
    tags: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return type(self.estimator).__name__

    def matrix(self) -> Array:
        """The kernel matrix of the training items by definition, or as it was given."""
        return rows_of(self.X) if self.given else kernel_matrix(self.kernel, self.items, self.items)

    def new_matrix(self) -> Array:
        """The kernel between new and training items."""
        return rows_of(self.X_new) if self.given else kernel_matrix(self.kernel, self.new_items, self.items)

    @property
    def size(self) -> int:
        """How many items there are."""
        return len(self.items)

    @property
    def single(self) -> bool:
        """Whether the rows were given in single precision."""
        return getattr(self.X, "dtype", None) == np.float32

    def __str__(self) -> str:
        return " ".join(f"{self.estimator!r} on {', '.join(self.tags)}".split())


def draw_case(seed: int, number: int) -> Case:
    """Case ``number`` of the series ``seed``."""
    rng = np.random.default_rng([seed, number])
    name = str(rng.choice(list(ESTIMATORS), p=list(ESTIMATORS.values())))
    tags: list[str] = []
    if name not in ("Perceptron", "SVDD") and rng.random() < 0.05:
        return _structured(rng, number, name)
    X, signal = rows.draw_rows(rng, tags)
    X, signal = rows.disturb(rng, X, signal, tags)
    if rng.random() < 0.15 and float(np.abs(X).max()) < 1e15:
        X = X.astype(np.float32)
        tags.append("float32")
    new = _new_rows(rng, X)
    kernel = None if rng.random() < 0.2 else draw_kernel(rng, X.astype(np.float64))
    if kernel is not None and name != "Perceptron" and rng.random() < 0.02:
        kernel = kernels.Sigmoid(gamma=float(f"{1 / max(float(np.square(X).sum(axis=1).mean()), 1e-300):.3g}"))
    items, new_items = rows_of(X), rows_of(new)
    given, X_given, new_given = False, X, new
    parameter: Any = kernel
    if kernel is not None and name != "SVDD" and rng.random() < 0.08:
        K, K_new = kernel_matrix(kernel, items, items), kernel_matrix(kernel, new_items, items)
        if max(np.abs(K).max(), np.abs(K_new).max()) < np.finfo(X.dtype).max / 2:
            given, X_given = True, np.maximum(K, K.T).astype(X.dtype)
            new_given = K_new.astype(X.dtype)
            parameter = "precomputed"
            tags.append(f"matrix of {kernel}")
    elif rng.random() < 0.15:
        X_given, new_given = sparse.csr_array(X), sparse.csr_array(new)
        tags.append("sparse")
    if parameter is not None and str(parameter) == "linear" and rng.random() < 0.5:
        parameter = "linear"
    y, weight, estimator = _problem(rng, name, parameter, signal, tags)
    landmarks = parameter is not None and "linear" not in str(parameter) and not given and "igmoid" not in str(kernel)
    if name in OF_LANDMARKS and landmarks and rng.random() < 0.1:
        estimator.set_params(rank=int(rng.integers(1, len(X) + 1)))
    return Case(number, estimator, X_given, y, weight, new_given, kernel, items, new_items, given, tags)


def _structured(rng: np.random.Generator, number: int, name: str) -> Case:
    n = int(rng.integers(4, 40))
    if rng.random() < 0.5:
        X, signal = rows.strings(rng, n)
        new: list[Any] = rows.strings(rng, 5)[0]
        kernel: Any = kernels.Spectrum(p=int(rng.integers(1, 4)))
    else:
        X, signal = rows.bags(rng, n)
        new, kernel = rows.bags(rng, 5)[0], kernels.MinMax()
    if rng.random() < 0.3:
        kernel = kernels.Normalised(kernel)
    tags = [f"{n} {'strings' if isinstance(X[0], str) else 'sets'}"]
    y, weight, estimator = _problem(rng, name, kernel, signal, tags)
    return Case(number, estimator, X, y, weight, new, kernel, X, new, False, tags)


def _new_rows(rng: np.random.Generator, X: Array) -> Array:
    """Rows to be scored: old ones, mixtures of old ones, and one a hundred times further out."""
    n = len(X)
    mixed = 0.5 * (X[rng.integers(n, size=3)] + X[rng.integers(n, size=3)])
    return np.vstack([X[rng.integers(n, size=2)], mixed, 100 * X[:1]]).astype(X.dtype)


def _problem(
    rng: np.random.Generator, name: str, kernel: Any, signal: Array, tags: list[str]
) -> tuple[Any, Array | None, Any]:
    """Labels or targets, weights, and the estimator."""
    if name in UNLABELLED:
        return None, rows.weights(rng, None, signal.size, tags), _novelty(rng, name, kernel)
    if name in NUMERIC:
        y, unit = rows.targets(rng, signal, tags)
        return y, rows.weights(rng, None, y.size, tags), _numeric(rng, name, kernel, unit)
    codes = rows.labels(rng, signal, tags)
    weight = rows.weights(rng, codes, codes.size, tags)
    y = np.array(["a", "b", "c", "d", "e"])[codes] if rng.random() < 0.2 else codes - int(rng.integers(2))
    kind = rng.random()
    class_weight: Any = None
    if kind < 0.07:
        class_weight = "balanced"
    elif kind < 0.12:
        class_weight = {label: float(f"{10 ** rng.uniform(-2, 2):.3g}") for label in np.unique(y).tolist()}
    if name == "NuSVC":
        return y, weight, _nu_svc(rng, kernel, class_weight, codes, weight)
    maker = {"SVC": _svc, "KernelClassifier": _classifier, "Pegasos": _pegasos, "Perceptron": _perceptron}[name]
    return y, weight, maker(rng, kernel, class_weight)


def _decades(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{10 ** rng.uniform(low, high):.3g}")


def _svc(rng: np.random.Generator, kernel: Any, class_weight: Any) -> Any:
    C = _decades(rng, -6, 6)
    if rng.random() < 0.15 and (kernel is None or str(kernel).startswith(("linear", "gaussian"))):
        C = float("inf")
    tol = float(rng.choice([1e-3, 1e-3, 1e-3, 1e-2, 1e-5, 1e-6]))
    strategy = str(rng.choice(["ovo", "ovr"]))
    return mercer.SVC(kernel, C=C, tol=tol, strategy=strategy, class_weight=class_weight)


def _tolerance(rng: np.random.Generator) -> float:
    return float(rng.choice([1e-3, 1e-3, 1e-4, 1e-5, 1e-6]))


def _nu_svc(rng: np.random.Generator, kernel: Any, class_weight: Any, codes: Array, weight: Array | None) -> Any:
    """A ν that all pairs of classes allow, or, now and then, some do not."""
    strategy = str(rng.choice(["ovo", "ovr"]))
    class_weight = class_weight if isinstance(class_weight, str) else None
    totals = np.bincount(codes, weight)
    if class_weight is not None:
        totals = totals / np.bincount(codes)
    pairs = totals[:, None] + totals if strategy == "ovo" or totals.size == 2 else np.full((2, 2), totals.sum())
    most = float((2 * totals.min() / pairs).min())
    nu = float(f"{min(1.0, most * rng.uniform(0.02, 1.0)):.3g}")
    return mercer.NuSVC(kernel, nu=max(nu, 1e-9), tol=_tolerance(rng), strategy=strategy, class_weight=class_weight)


def _novelty(rng: np.random.Generator, name: str, kernel: Any) -> Any:
    nu = float(f"{rng.choice([rng.uniform(0.001, 1.0), 10 ** rng.uniform(-3, 0)]):.3g}")
    return getattr(mercer, name)(kernel, nu=nu, tol=_tolerance(rng))


def _numeric(rng: np.random.Generator, name: str, kernel: Any, unit: float) -> Any:
    if name == "KernelRegressor":
        return _regressor(rng, kernel, unit)
    size = float(f"{unit * float(rng.choice([0.001, 0.01, 0.1, 0.5])):.3g}")
    C = float(f"{unit * 10 ** rng.uniform(-4, 4):.3g}")
    match name:
        case "SVR":
            return mercer.SVR(kernel, C=C, epsilon=0.0 if rng.random() < 0.1 else size, tol=_tolerance(rng))
        case "NuSVR":
            return mercer.NuSVR(kernel, C=C, nu=float(f"{rng.uniform(0.01, 1.0):.3g}"), tol=_tolerance(rng))
    levels: Any = [0.5, 0.05, (0.1, 0.9), (0.05, 0.5, 0.95)][int(rng.integers(4))]
    return mercer.KernelQuantiles(kernel, levels, lam=float(f"{10 ** rng.uniform(-6, 2) / unit:.3g}"))


def _classifier(rng: np.random.Generator, kernel: Any, class_weight: Any) -> Any:
    loss = str(rng.choice(["logistic", "logistic", "smooth_hinge", "squared_hinge", "squared"]))
    intercept, tol = bool(rng.random() < 0.75), 1e-8 if rng.random() < 0.1 else 1e-11
    lam = _decades(rng, -9, 3)
    return mercer.KernelClassifier(kernel, loss, lam, tol=tol, fit_intercept=intercept, class_weight=class_weight)


def _regressor(rng: np.random.Generator, kernel: Any, unit: float) -> Any:
    kind = str(rng.choice(["squared", "huber", "tube"]))
    loss: Any = None
    size = float(f"{unit * float(rng.choice([0.001, 0.01, 0.1, 0.5, 2.0])):.3g}")
    if kind == "huber":
        loss = losses.Huber(delta=size)
    elif kind == "tube":
        loss = losses.EpsilonInsensitive(epsilon=0.0 if rng.random() < 0.1 else size)
    return mercer.KernelRegressor(
        kernel, loss or "squared", _decades(rng, -9, 3), fit_intercept=bool(rng.random() < 0.75)
    )


def _pegasos(rng: np.random.Generator, kernel: Any, class_weight: Any) -> Any:
    loss = str(rng.choice(["hinge", "hinge", "logistic", "smooth_hinge", "squared_hinge", "squared"]))
    return mercer.Pegasos(
        kernel,
        loss=loss,
        lam=_decades(rng, -6, 2),
        steps=int(rng.choice([20, 200, 2000])),
        fit_intercept=bool(rng.random() < 0.75),
        project=bool(rng.random() < 0.2),
        class_weight=class_weight,
        random_state=0,
    )


def _perceptron(rng: np.random.Generator, kernel: Any, class_weight: Any) -> Any:
    return mercer.Perceptron(
        kernel,
        epochs=int(rng.choice([1, 10, 100])),
        variant=str(rng.choice(["last", "averaged", "voted"])),
        fit_intercept=bool(rng.random() < 0.75),
        class_weight=class_weight,
        random_state=0,
    )
