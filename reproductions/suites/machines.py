"""scikit-learn's support vector machines in name and parameters, mercer's in everything else."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

import mercer

from .naming import kernel_named, resolved_gamma

#: Steps where no number is given.
_NO_LIMIT = 10_000_000


class _Adapter(BaseEstimator):
    """What the machines share: the kernel, and attributes of the fitted machine in scikit-learn's form.

    Parameters of LIBSVM that have no meaning here (cache_size, shrinking, probability) are taken and ignored.
    """

    #: The machine of this library, and the parameters that both have.
    kind: Any
    shared: tuple[str, ...]

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        given: Any = self
        self._gamma = resolved_gamma(given.gamma, X)
        kernel = kernel_named(given.kernel, self._gamma, given.degree, given.coef0)
        params = {name: getattr(self, name) for name in self.shared}
        steps = _NO_LIMIT if given.max_iter == -1 else given.max_iter
        self.machine_ = self.kind(kernel, tol=given.tol, max_iter=steps, **params).fit(X, y, sample_weight)
        for name in ("support_", "support_vectors_", "n_features_in_", "feature_names_in_", "n_iter_", "n_support_",
                     "shape_fit_", "fit_status_", "offset_"):  # fmt: skip
            if hasattr(self.machine_, name):
                setattr(self, name, getattr(self.machine_, name))
        self.intercept_ = np.atleast_1d(self.machine_.intercept_)
        for name in ("dual_coef_", "coef_"):
            found = getattr(self.machine_, name, None)
            if found is not None:
                setattr(
                    self, name, sparse.csr_array(np.atleast_2d(found)) if sparse.issparse(X) else np.atleast_2d(found)
                )
            elif hasattr(self, name):  # of an earlier fit
                delattr(self, name)
        return self

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "machine_")
        return self.machine_.predict(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel: Any = getattr(self, "kernel", None)
        tags.input_tags.pairwise = kernel == "precomputed"
        tags.input_tags.sparse = True
        return tags


class _Classifier(ClassifierMixin, _Adapter):
    """A machine for pairs of classes."""

    classes_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y, sample_weight)
        self.classes_ = self.machine_.classes_
        # The model scores a pair positive for its second class, scikit-learn for its first, if there are several.
        self._sign = 1.0 if self.classes_.size == 2 else -1.0
        return self

    def decision_function(self, X: Any) -> Any:
        check_is_fitted(self, "machine_")
        shape: Any = self
        if shape.decision_function_shape == "ovr" or self.classes_.size == 2:
            return self.machine_.decision_function(X)
        rows = self.machine_.read_items(X, self.machine_.kernel_)
        return self._sign * self.machine_._model.scores(rows, self.machine_.memory)


class SVC(_Classifier):
    kind, shared = mercer.SVC, ("C", "class_weight", "random_state")

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


class NuSVC(_Classifier):
    kind, shared = mercer.NuSVC, ("nu", "class_weight", "random_state")

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
        self.nu = nu
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


class SVR(RegressorMixin, _Adapter):
    kind, shared = mercer.SVR, ("C", "epsilon")

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


class NuSVR(RegressorMixin, _Adapter):
    kind, shared = mercer.NuSVR, ("C", "nu")

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter


class OneClassSVM(OutlierMixin, _Adapter):
    kind, shared = mercer.OneClassSVM, ("nu",)

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    def decision_function(self, X: Any) -> Any:
        check_is_fitted(self, "machine_")
        return self.machine_.decision_function(X)

    def score_samples(self, X: Any) -> Any:
        check_is_fitted(self, "machine_")
        return self.machine_.score_samples(X)


#: The machines that stand for those of scikit-learn with these names.
MACHINES = (SVC, NuSVC, SVR, NuSVR, OneClassSVM)
