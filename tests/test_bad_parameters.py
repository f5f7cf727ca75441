"""Bad parameters and kernels that are none: every estimator says so in a sentence, before it works."""

import re
import warnings

import numpy as np
import pytest

import mercer

from .bad_inputs import CLASSES, NUMBERS, X, task_of
from .bad_parameters import ESTIMATORS, answer_to, fits_of


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda each: type(each).__name__)
def test_bad_parameters_and_kernels_get_a_sentence(estimator):
    wrong = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, model, says in fits_of(estimator):
            said = answer_to(model, task_of(estimator))
            if re.search(says, said) is None or "\n" in said or len(said) > 500:
                wrong[name] = said[:200]
    assert not wrong


def test_no_bound_on_coefficients_ends_on_noise():
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((60, 2)), rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for C in (np.inf, 1e6):
            model = mercer.SVC("linear", C=C, time_limit=0.3).fit(rows * 1e3, labels)
            assert np.isfinite(model.decision_function(rows)).all()
            assert model.status_ is not None


def test_landmarks_do_not_hide_a_kernel_that_is_none():
    def distances(A, B):
        return 0.5 - np.abs(A[:, :1] - B[:, :1].T)

    for model in (mercer.SVC(distances, rank=10), mercer.KernelRegressor(distances, rank=5)):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            model.fit(X, CLASSES)
    with pytest.raises(ValueError, match="zero for all items"):
        mercer.SVC(lambda A, B: np.zeros((len(A), len(B))), rank=10).fit(X, CLASSES)


def test_columns_of_tiny_numbers_are_learned_or_said_to_be_tiny():
    assert (mercer.SVC().fit(X * 1e-20, CLASSES).predict(X * 1e-20) == mercer.SVC().fit(X, CLASSES).predict(X)).all()
    with pytest.warns(UserWarning, match="no larger than .*scale the columns"):
        mercer.SVC(None).fit(X * 1e-20, CLASSES)
    with pytest.warns(UserWarning, match="no larger than .*lower lam"):
        mercer.KernelRegressor(None).fit(X * 1e-20, NUMBERS)
    with pytest.warns(UserWarning, match="as gaussian.* sees them, are the same"):
        mercer.SVC("gaussian(gamma=1e-300)").fit(X, CLASSES)
    with pytest.raises(ValueError, match="overflows on these rows; scale"):
        mercer.NuSVC(None, nu=0.15).fit(X * 1e20, CLASSES)


@pytest.mark.filterwarnings("ignore:OneClassSVM. the origin")
def test_the_origin_among_the_rows_makes_all_of_them_usual():
    for rows in (X, X.astype(np.float32), X[:, ::-1], X[::-1]):
        assert (mercer.OneClassSVM(None).fit(rows).predict(rows) == 1).all()
    same = np.full((20, 3), 0.3)
    assert (mercer.SVDD(None).fit(same).predict(same) == 1).all()
