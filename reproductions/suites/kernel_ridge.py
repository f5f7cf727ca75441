"""The tests of KernelRidge."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import Tags

import mercer

from .naming import kernel_named

NAME = "kernel-ridge"
MODULE = "sklearn.tests.test_kernel_ridge"

MEANT = {"test_kernel_ridge_singular_kernel": "λ = 0 is refused: the solution would not be unique"}


class KernelRidge(RegressorMixin, BaseEstimator):
    """alpha·‖w‖² + Σ wᵢ·r² is twice Σ wᵢ times λ/2·‖w‖² + the weighted mean of ½·r² for λ = alpha/Σ wᵢ."""

    def __init__(
        self,
        alpha: float = 1,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Any = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidge:
        gamma = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        kernel = kernel_named(self.kernel, gamma, self.degree, self.coef0)
        total = float(X.shape[0] if sample_weight is None else np.sum(sample_weight))
        targets = np.asarray(y)
        self._shape = targets.shape[1:]
        self.machines_ = [
            mercer.KernelRegressor(kernel, lam=self.alpha / total, fit_intercept=False).fit(X, column, sample_weight)
            for column in targets.reshape(len(targets), -1).T
        ]
        return self

    def predict(self, X: Any) -> Any:
        columns = np.stack([machine.predict(X) for machine in self.machines_], axis=1)
        return columns.reshape(-1, *self._shape)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def patches() -> dict[str, Any]:
    return {"sklearn.kernel_ridge.KernelRidge": KernelRidge}
