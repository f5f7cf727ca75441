"""The tests of KernelPCA."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

import mercer

from .naming import kernel_named

NAME = "kernel-pca"
MODULE = "sklearn.decomposition.tests.test_kernel_pca"

_ZERO = "directions of eigenvalue zero are no components: fewer are given, with a warning, or none, with a sentence"
MEANT = {
    "test_remove_zero_eig": _ZERO,
    "test_leave_zero_eig": _ZERO,
    "test_kernel_conditioning": _ZERO,
    "test_kernel_pca_precomputed_non_symmetric*": "a matrix that is not symmetric is refused",
    "test_precomputed_kernel_not_psd*": "an indefinite kernel is refused however few components are asked for",
}


class KernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """All solvers are one; the way back is learned from the rows, whatever alpha says."""

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        alpha: float = 1.0,
        fit_inverse_transform: bool = False,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        iterated_power: int | str = "auto",
        remove_zero_eig: bool = False,
        random_state: Any = None,
        copy_X: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alpha = alpha
        self.fit_inverse_transform = fit_inverse_transform
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.iterated_power = iterated_power
        self.remove_zero_eig = remove_zero_eig
        self.random_state = random_state
        self.copy_X = copy_X
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        X = X if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
        self.gamma_ = gamma = 1.0 / X.shape[1] if self.gamma is None else self.gamma
        kernel = self.kernel if callable(self.kernel) else kernel_named(self.kernel, gamma, self.degree, self.coef0)
        self.machine_ = mercer.KernelPCA(kernel, self.n_components, tol=self.tol or 1e-10).fit(X)
        self.sparse_ = hasattr(X, "tocsr")
        self.eigenvalues_ = self.machine_.eigenvalues_
        if hasattr(self.machine_, "dual_coef_"):
            self.eigenvectors_ = self.machine_.dual_coef_.T * np.sqrt(self.eigenvalues_)
        self._n_features_out = self.eigenvalues_.size
        return self

    def transform(self, X: Any) -> Any:
        return self.machine_.transform(X)

    def inverse_transform(self, Z: Any) -> Any:
        if not self.fit_inverse_transform or self.sparse_:
            raise NotFittedError("fit_inverse_transform was not set.")
        return self.machine_.inverse_transform(Z)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


def patches() -> dict[str, Any]:
    return {"sklearn.decomposition.KernelPCA": KernelPCA}
