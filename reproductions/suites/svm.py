"""The tests of SVC, NuSVC, SVR, NuSVR and OneClassSVM."""

from __future__ import annotations

from typing import Any

from .machines import MACHINES

NAME = "svm"
MODULE = "sklearn.svm.tests.test_svm"

_EXACT = "the same to 12 digits, not to the last"
_WEIGHTS = "negative weights are refused, not taken for zero, and what is wrong is said in other words"
_WORDS = "refused as well, in other words"
_INSIDE = "about the inside of LIBSVM's wrapper"

MEANT = {
    "test_libsvm_parameters": _EXACT,
    "test_precomputed": _EXACT,
    "test_svr_errors": "a function that returns a matrix of another shape is refused by fit already",
    "test_tweak_params": _INSIDE,
    "test_svc_raises_error_internal_representation": _INSIDE,
    "test_immutable_coef_property": "coef_ of a kernel machine is an ordinary array, which predictions do not read",
    "test_negative_sample_weights_mask_all_samples*SV?]": _WEIGHTS,
    "test_negative_weights_svc_leave_just_one_label*SVC]": _WEIGHTS,
    "test_negative_weights_svc_leave_two_labels*label-1-*": _WEIGHTS,
    "test_negative_weight_equal_coeffs*label-1-*": _WEIGHTS,
    "test_bad_input": "sparse rows are welcome to a machine that was fitted on dense ones",
    "test_svc_nonfinite_params": _WORDS,
    "test_sparse_precomputed": _WORDS,
    "test_libsvm_convergence_warnings": "two steps are enough here, and as many are allowed",
    "test_svc_invalid_break_ties_param": "ties are always broken by the confidence; there is no parameter to misuse",
    "test_svc_ovr_tie_breaking*SVC]": "ties are always broken by the confidence",
    "test_custom_kernel_not_array_input": "functions are given rows of numbers; strings have kernels of their own",
    "test_svm_classifier_sided_sample_weight*estimator1*": "asks a NuSVC at tol=1e-3 for a zero to twelve digits: "
    "some of its random starts end nine digits away",
    "test_svm_with_infinite_C*SVR*": "regression has no hard margin: λ = 1/(C·n) must be greater than 0",
}

_LIBLINEAR = "there is no LIBLINEAR: a linear machine is SVC(None), whose intercept is not regularised"
_PROBABILITY = "the hinge loss says nothing about probabilities; KernelClassifier and CalibratedClassifierCV have them"

ABSENT = {
    "test_linearsvc_*": _LIBLINEAR,
    "test_linearsvr_*": _LIBLINEAR,
    "test_linearsvc": _LIBLINEAR,
    "test_linearsvm_*": _LIBLINEAR,
    "test_linear_svm_convergence_warnings": _LIBLINEAR,
    "test_crammer_singer_binary": _LIBLINEAR,
    "test_dense_liblinear_intercept_handling": _LIBLINEAR,
    "test_liblinear_set_coef": _LIBLINEAR,
    "test_lsvc_*": _LIBLINEAR,
    "test_dual_auto*": _LIBLINEAR,
    "test_probability*": _PROBABILITY,
    "test_hasattr_predict_proba": _PROBABILITY,
    "test_svc_nusvc_probA_probB_deprecated": _PROBABILITY,
}


def patches() -> dict[str, Any]:
    return {f"sklearn.svm.{machine.__name__}": machine for machine in MACHINES}
