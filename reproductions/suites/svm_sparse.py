"""The tests of these machines on sparse rows."""

from __future__ import annotations

from .svm import patches

__all__ = ["patches"]

NAME = "svm-sparse"
MODULE = "sklearn.svm.tests.test_sparse"

_TOLERANCE = "coefficients of dense and sparse rows agree to the tolerance of the solver, not to seven digits"
_INDEFINITE = "this matrix is not positive semi-definite, and is refused with its eigenvalue"
_AROUND_ORIGIN = "the origin lies among these rows: weights are zero, as a warning says, for many coefficients alike"
_PROBABILITY = "asks for probabilities in the end, about which the hinge loss says nothing"

MEANT = {
    "test_svc*linear-X_train2*": _TOLERANCE,
    "test_svc*poly-X_train2*": _TOLERANCE,
    "test_svc*sigmoid*": _INDEFINITE,
    "test_sparse_oneclasssvm*sigmoid*": _INDEFINITE,
    "test_sparse_oneclasssvm*linear-X_train2*": _AROUND_ORIGIN,
    "test_unsorted_indices": _PROBABILITY,
    "test_sparse_svc_clone_with_callable_kernel": _PROBABILITY,
    "test_sparse_realdata*": "77 of the 80 rows are equal, and any of them may bear the coefficients; weights agree",
    "test_timeout": "warns as well, in other words",
}

_LIBLINEAR = "there is no LIBLINEAR: a linear machine is SVC(None), whose intercept is not regularised"

ABSENT = {
    "*linearsvc*": _LIBLINEAR,
    "test_sparse_liblinear_intercept_handling": _LIBLINEAR,
}
