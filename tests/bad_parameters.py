"""Bad parameters and kernels that are none, each with the words of the sentence that answers it.

Parameters are those that the estimators share by name; what is wrong for one estimator is wrong for all that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

import mercer

from .bad_inputs import CLASSES, NUMBERS, X

#: An estimator of each kind, with all that wraps others.
ESTIMATORS = [
    mercer.Perceptron(epochs=5),
    mercer.Pegasos(steps=100),
    mercer.SVC(),
    mercer.NuSVC(nu=0.15),
    mercer.KernelClassifier(),
    mercer.KernelRegressor(),
    mercer.SVR(),
    mercer.NuSVR(nu=0.47),
    mercer.KernelQuantiles(quantiles=0.5),
    mercer.OneClassSVM(),
    mercer.SVDD(),
    mercer.KernelSearchCV(mercer.SVC(), {"C": [1.0]}, cv=2),
    mercer.Calibrated(mercer.SVC(), cv=2),
    mercer.TunedThreshold(mercer.SVC(), cv=2),
    mercer.Conformal(mercer.KernelRegressor(), coverage=0.7),
]

#: What only looks like a number, and numbers that are none.
NO_NUMBERS: list[Any] = ["1", True, np.array(1), np.array([1.0]), np.nan, 1j, [1], {}, b"1", 10**400]
_POSITIVE = [*NO_NUMBERS, 0, -1, -np.inf]
_SHARE = [*_POSITIVE, 1.5, np.inf]
_WHOLE = [*_POSITIVE, 2.5, np.inf]
_RATIONED = [*_POSITIVE, np.inf]

#: Bad values of each parameter, and what the sentence about them says.
PARAMETERS: dict[str, tuple[list[Any], str]] = {
    "C": (_POSITIVE, "C must be a number greater than 0"),
    "lam": (_RATIONED, "lam must be a number greater than 0"),
    "nu": (_SHARE, "nu must be a number"),
    "tol": (_RATIONED, "tol must be"),
    "epsilon": ([*NO_NUMBERS, -1, np.inf], "epsilon must be a number of at least 0"),
    "max_iter": (_WHOLE, "max_iter must be a whole number"),
    "steps": (_WHOLE, "steps must be a whole number"),
    "batch": (_WHOLE, "batch must be"),
    "epochs": (_WHOLE, "epochs must be a whole number"),
    "rate": (_RATIONED, "rate must be"),
    "rank": (_WHOLE, "rank must be a whole number"),
    "landmarks": (["nearest", 1, True], "landmarks must be one of"),
    "time_limit": (_RATIONED, "time_limit must be a number greater than 0"),
    "memory": (["plenty", True, -1, 0, np.nan, np.inf, np.array(1), None], "memory=.* is not a size"),
    "class_weight": (["even", 3, True, [1, 2]], "class_weight must be 'balanced' or a dict"),
    "quantiles": (["0.5", True, 0, 1, -0.5, np.nan, [0.5, 2.0], []], "quantiles must be"),
    "coverage": ([*NO_NUMBERS, 0, 1, -1, 2], "coverage must be a number"),
    "held_out": ([0, 1, -1, np.nan, "0.2", True], "held_out must be a number"),
    "method": (["best", 1, None], "method must be one of"),
    "fit_intercept": (["yes", 1, None, np.array(True)], "fit_intercept must be True or False"),
    "average": (["yes", 1, None], "average must be one of"),
    "estimator": (["svc", 1, None, mercer.SVC], "is no estimator|must be an object implementing"),
    "journal": ([True, 1, np.array(1)], "journal must be the path of a file"),
    "strategy": (["best", 1], "strategy must be one of"),
    "costs": (["1", True, [[1, 2]]], "costs must"),
    "kernel": (["gausian", "linear(", 1, True, np.array(1), 10**400], "kernel"),
}


def _like(values: Any) -> Callable[[Any, Any], Any]:
    """A kernel function that makes something else of the matrix of dot products."""
    return lambda A, B: values(np.asarray(A @ B.T))


def _with_nan(K: Any) -> Any:
    K[-1, -1] = np.nan
    return K


#: Functions that are no kernels, and texts of kernels that are none.
KERNELS: dict[str, tuple[Any, str]] = {
    "NaN": (_like(_with_nan), "kernel function '<lambda>' returned nan"),
    "infinite": (_like(lambda K: K / 0.0), "kernel function '<lambda>' returned (nan|-?inf)"),
    "too many columns": (_like(lambda K: np.c_[K, K]), "returned shape"),
    "one row": (_like(lambda K: K[0]), "returned shape"),
    "nothing": (_like(lambda K: None), "returned None"),
    "a text": (_like(lambda K: "K"), "returned <U1 values, not numbers"),
    "complex": (_like(lambda K: K * 1j), "returned complex numbers"),
    "masked": (_like(lambda K: np.ma.masked_array(K, K > 0)), "returned a masked array"),
    "asymmetric": (lambda A, B: np.outer(A[:, 0], B[:, 1]), "is not symmetric: k"),
    "negative": (_like(lambda K: -K), "is not positive semi-definite.*eigenvalue -"),
    "indefinite": (lambda A, B: 0.5 - np.abs(A[:, :1] - B[:, :1].T), "is not positive semi-definite.*eigenvalue -"),
    "huge": (_like(lambda K: K * 1e200), "overflows on these rows; scale the columns"),
    "vanishing": (_like(lambda K: K * 1e-200), "vanishes on these rows"),
    **{
        f"{name}({parameter}={value})": (f"{name}({parameter}={value})", f"{parameter} must be a")
        for name, parameter in [("gaussian", "gamma"), ("laplacian", "gamma"), ("matern", "nu"), ("matern", "length")]
        for value in (0, -1, 1e300)
    },
    "a power of zero": ("linear**0", "exponent must be a whole number"),
    "half a degree": ("polynomial(degree=1.5)", "degree must be a whole number"),
    "a word for a rate": ("gaussian(gamma='wide')", "gamma must be a number greater than 0, 'scale'"),
    "nothing times a kernel": ("0*linear", "scale must be a number greater than 0"),
}


def fits_of(estimator: Any) -> Iterator[tuple[str, Any, str]]:
    """Names, estimators with something bad in them, and what is to be said of it."""
    for parameter, (values, says) in PARAMETERS.items():
        if parameter in estimator.get_params(deep=False) and not _means_another(estimator, parameter):
            for value in values:
                yield f"{parameter}={value!r:.20}", clone(estimator).set_params(**{parameter: value}), says
    inside = "estimator__kernel" if hasattr(estimator, "estimator") else "kernel"
    for name, (kernel, says) in KERNELS.items():
        yield f"kernel {name}", clone(estimator).set_params(**{inside: kernel}), says


def _means_another(estimator: Any, parameter: str) -> bool:
    """Where scikit-learn checks a parameter in its own words, or it is of another kind."""
    return parameter == "estimator" and isinstance(estimator, (mercer.KernelSearchCV, mercer.TunedThreshold))


def answer_to(model: Any, task: str) -> str:
    """What a fit says; nothing where it fits."""
    rows, y = X.copy(), (NUMBERS if task == "regress" else CLASSES).copy()
    try:
        model.fit(rows, y)
    except (ValueError, TypeError) as error:
        return str(error) if np.array_equal(rows, X) else "the caller's rows were changed"
    return ""
