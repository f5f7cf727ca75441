"""scikit-learn's support vector machines in name and parameters, mercer's in everything else."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

import mercer
from mercer.losses import EpsilonInsensitive

from .naming import kernel_named, resolved_gamma


class _Adapter(BaseEstimator):
    """What both machines share: the kernel, and attributes of the fitted machine in scikit-learn's form."""

    def _kernel(self, X: Any) -> Any:
        params: Any = self
        self._gamma = resolved_gamma(params.gamma, X)
        return kernel_named(params.kernel, self._gamma, params.degree, params.coef0)

    def _publish(self, X: Any) -> None:
        machine = self.machine_
        for name in ("support_", "support_vectors_", "n_features_in_", "feature_names_in_", "n_iter_"):
            if hasattr(machine, name):
                setattr(self, name, getattr(machine, name))
        self.intercept_ = machine.intercept_
        self.dual_coef_ = sparse.csr_array(machine.dual_coef_) if sparse.issparse(X) else machine.dual_coef_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel: Any = getattr(self, "kernel", None)
        tags.input_tags.pairwise = kernel == "precomputed"
        tags.input_tags.sparse = True
        return tags


class SVC(ClassifierMixin, _Adapter):
    """Parameters of LIBSVM that have no meaning here (cache_size, shrinking, probability) are taken and ignored."""

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        self.machine_ = mercer.SVC(
            self._kernel(X),
            C=self.C,
            tol=self.tol,
            max_iter=10_000_000 if self.max_iter == -1 else self.max_iter,
            class_weight=self.class_weight,
            random_state=self.random_state,
        ).fit(X, y, sample_weight)
        self.classes_ = self.machine_.classes_
        # The model scores a pair positive for its second class, scikit-learn for its first, if there are several.
        self._sign = 1.0 if self.classes_.size == 2 else -1.0
        self._publish(X)
        self.n_support_ = self.machine_.n_support_
        if hasattr(self, "coef_"):
            del self.coef_
        if hasattr(self.machine_, "coef_"):
            coef = self.machine_.coef_
            self.coef_ = sparse.csr_array(coef) if sparse.issparse(X) else coef
        return self

    def decision_function(self, X: Any) -> Any:
        check_is_fitted(self, "machine_")
        if self.decision_function_shape == "ovr" or self.classes_.size == 2:
            return self.machine_.decision_function(X)
        rows = self.machine_.read_items(X, self.machine_.kernel_)
        return self._sign * self.machine_._model.scores(rows, self.machine_.memory)

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "machine_")
        return self.machine_.predict(X)


class SVR(RegressorMixin, _Adapter):
    """C·Σ wᵢ·loss + ½‖w‖² is λ/2·‖w‖² + the weighted mean of the losses for λ = 1/(C·Σ wᵢ)."""

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        total = float(len(y) if sample_weight is None else np.sum(sample_weight))
        lam = 1 / (self.C * total) if total else 1.0
        loss = EpsilonInsensitive(epsilon=self.epsilon)
        kernel = self._kernel(X)
        if self.kernel == "linear":  # a linear machine has weights; with a factor it has coefficients, as here
            kernel = 1 * kernel
        self.machine_ = mercer.KernelRegressor(kernel, loss, lam).fit(X, y, sample_weight)
        self._publish(X)
        self.n_support_ = np.array([self.support_.size])
        if self.kernel == "linear":
            coef = np.asarray(self.machine_.dual_coef_ @ self.support_vectors_)
            self.coef_ = sparse.csr_array(coef) if sparse.issparse(X) else coef
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "machine_")
        return self.machine_.predict(X)
