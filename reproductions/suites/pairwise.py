"""The tests of kernel functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.metrics import pairwise

from .naming import kernel_named

NAME = "pairwise"
MODULE = "sklearn.metrics.tests.test_pairwise"
TESTS = ("*kernel*", "test_cosine_similarity", "test_pairwise_similarity_sparse_output")

MEANT = {"test_pairwise_similarity_sparse_output": "kernel matrices are dense arrays, as solvers want them"}
ABSENT = {
    "*chi2*": "there is no χ² kernel",
    "test_chi_square_kernel": "there is no χ² kernel",
}


def _function(name: str, *parameters: str) -> Callable[..., Any]:
    """A kernel of this library as a function of two collections and of those parameters that it has there."""

    def matrix(X: Any, Y: Any = None, **given: Any) -> Any:
        for parameter in given:
            if parameter not in parameters:
                raise TypeError(f"{name}_kernel() got an unexpected keyword argument {parameter!r}")
        gamma = given.get("gamma")
        gamma = 1.0 / (X.shape[1] if hasattr(X, "shape") else len(X[0])) if gamma is None else gamma
        return kernel_named(name, gamma, given.get("degree", 3), given.get("coef0", 1.0))(X, Y)

    matrix.__name__ = f"{name}_kernel"
    return matrix


KERNELS = {
    "linear": _function("linear"),
    "polynomial": _function("polynomial", "degree", "gamma", "coef0"),
    "poly": _function("polynomial", "degree", "gamma", "coef0"),
    "rbf": _function("rbf", "gamma"),
    "laplacian": _function("laplacian", "gamma"),
    "sigmoid": _function("sigmoid", "gamma", "coef0"),
    "cosine": _function("cosine"),
}


def patches() -> dict[str, Any]:
    names = {"linear", "polynomial", "rbf", "laplacian", "sigmoid"}
    functions = {f"sklearn.metrics.pairwise.{name}_kernel": KERNELS[name] for name in names}
    functions["sklearn.metrics.pairwise.cosine_similarity"] = KERNELS["cosine"]
    functions["sklearn.metrics.pairwise.PAIRWISE_KERNEL_FUNCTIONS"] = {**pairwise.PAIRWISE_KERNEL_FUNCTIONS, **KERNELS}
    return functions
