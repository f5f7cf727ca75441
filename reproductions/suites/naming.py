"""Kernels by the names and parameters that scikit-learn has for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from mercer.kernels import Cosine, Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid


def kernel_named(name: Any, gamma: float, degree: int, coef0: float) -> Any:
    """A kernel of this library; functions and "precomputed" as they are."""
    kernels: dict[str, Kernel] = {
        "linear": Linear(),
        "rbf": Gaussian(gamma=gamma),
        "laplacian": Laplacian(gamma=gamma),
        "poly": Polynomial(degree=degree, coef0=coef0, gamma=gamma),
        "polynomial": Polynomial(degree=degree, coef0=coef0, gamma=gamma),
        "sigmoid": Sigmoid(gamma=gamma, coef0=coef0),
        "cosine": Cosine(),
    }
    return kernels.get(name, name) if isinstance(name, str) else name


def resolved_gamma(gamma: Any, X: Any) -> float:
    """``gamma`` of a machine: "scale", "auto" or a number."""
    if not isinstance(gamma, str):
        return float(gamma)
    rows = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if gamma == "auto" or rows.ndim != 2 or rows.dtype.kind not in "fiub":
        return 1.0 / (rows.shape[1] if rows.ndim == 2 else 1)
    variance = rows.multiply(rows).mean() - rows.mean() ** 2 if sparse.issparse(rows) else rows.var()
    return 1.0 / (rows.shape[1] * variance) if variance else 1.0
