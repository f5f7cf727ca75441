"""Kernel machines: a kernel × a loss × a solver.

Examples
--------
>>> from mercer import Perceptron
>>> Perceptron(random_state=0).fit([[0.0], [1.0]], ["no", "yes"]).predict([[3.0]]).tolist()
['yes']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calibration import Calibrated, TunedThreshold
    from .estimators import (
        SVC,
        SVDD,
        SVR,
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
    )
    from .exports import export
    from .intervals import Conformal
    from .io import read, scan
    from .model_files import load, save
    from .runtime.interrupts import keep_best
    from .search import KernelSearchCV
    from .tables import TableClassifier, TableRegressor

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "Calibrated",
    "Conformal",
    "GPClassifier",
    "GPRegressor",
    "KernelCCA",
    "KernelClassifier",
    "KernelDiscriminant",
    "KernelKMeans",
    "KernelPCA",
    "KernelQuantiles",
    "KernelRegressor",
    "KernelSearchCV",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Pegasos",
    "Perceptron",
    "SpectralClustering",
    "TableClassifier",
    "TableRegressor",
    "TunedThreshold",
    "__version__",
    "export",
    "keep_best",
    "load",
    "read",
    "save",
    "scan",
]

__version__ = "0.1.0"


_ESTIMATORS = (
    "SVC",
    "SVDD",
    "SVR",
    "KernelCCA",
    "GPClassifier",
    "GPRegressor",
    "KernelClassifier",
    "KernelDiscriminant",
    "KernelKMeans",
    "KernelPCA",
    "KernelQuantiles",
    "KernelRegressor",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Pegasos",
    "Perceptron",
    "SpectralClustering",
)
_HOMES = dict.fromkeys(_ESTIMATORS, "estimators") | {
    "Calibrated": "calibration",
    "Conformal": "intervals",
    "KernelSearchCV": "search",
    "TableClassifier": "tables",
    "TableRegressor": "tables",
    "TunedThreshold": "calibration",
    "export": "exports",
    "keep_best": "runtime.interrupts",
    "load": "model_files",
    "read": "io",
    "save": "model_files",
    "scan": "io",
}

#: What to use in the place of what other libraries have.
_ELSEWHERE = {
    "CCA": "mercer.KernelCCA(None, None)",
    "CalibratedClassifierCV": "mercer.Calibrated(machine)",
    "GaussianProcessClassifier": "mercer.GPClassifier",
    "GaussianProcessRegressor": "mercer.GPRegressor",
    "GridSearchCV": "mercer.KernelSearchCV, or scikit-learn's own",
    "HalvingGridSearchCV": "mercer.KernelSearchCV(..., strategy='halving')",
    "KMeans": "mercer.KernelKMeans('linear', n_clusters)",
    "KernelRidge": "mercer.KernelRegressor(kernel, lam=alpha / n) for n rows",
    "LinearDiscriminantAnalysis": "mercer.KernelDiscriminant(None)",
    "LinearSVC": "mercer.SVC('linear', strategy='ovr'), or mercer.KernelClassifier('linear', 'squared_hinge')",
    "LinearSVR": "mercer.SVR('linear')",
    "LogisticRegression": "mercer.KernelClassifier('linear', lam=1 / (C * n)) for n rows",
    "Nystroem": "the parameter rank, as in mercer.SVC(rank=500)",
    "OneVsOneClassifier": "mercer.SVC(strategy='ovo')",
    "OneVsRestClassifier": "mercer.SVC(strategy='ovr')",
    "QuantileRegressor": "mercer.KernelQuantiles",
    "RandomizedSearchCV": "mercer.KernelSearchCV(..., strategy='random'), or scikit-learn's own",
    "Ridge": "mercer.KernelRegressor('linear', lam=alpha / n) for n rows",
    "SGDClassifier": "mercer.Pegasos(lam=alpha)",
    "TunedThresholdClassifierCV": "mercer.TunedThreshold(machine)",
}


def __getattr__(name: str) -> Any:
    """Import estimators when they are first asked for: ``import mercer`` alone costs nothing."""
    if name in _HOMES:
        globals()[name] = found = getattr(import_module(f".{_HOMES[name]}", __name__), name)
        return found
    if name in (
        "calibration",
        "clusters",
        "columns",
        "cuda",
        "datasets",
        "describe",
        "diagnostics",
        "displays",
        "estimators",
        "explain",
        "exports",
        "grams",
        "intervals",
        "io",
        "kernels",
        "learners",
        "losses",
        "margins",
        "metrics",
        "mixtures",
        "model_files",
        "preprocess",
        "problems",
        "report",
        "rows",
        "search",
        "solvers",
        "statistics",
        "tables",
    ):
        return import_module(f".{name}", __name__)
    remedy = f"; use {_ELSEWHERE[name]}." if name in _ELSEWHERE else ""
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}{remedy}")


def __dir__() -> list[str]:
    return sorted(__all__)
