"""Rows of float32 and smaller types are rows like others: what users receive is that of the same numbers in float64."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold

from mercer import (
    SVC,
    SVDD,
    SVR,
    Calibrated,
    KernelClassifier,
    KernelRegressor,
    KernelSearchCV,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Pegasos,
    Perceptron,
)
from mercer.kernels import Gaussian, Laplacian, Normalised, Polynomial

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 4))
goal = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=80)
classes = (goal > 0).astype(int)
wide = rng.normal(size=(200, 4))

MACHINES = [
    SVC(), NuSVC(nu=0.3), SVR(), NuSVR(), OneClassSVM(nu=0.1), SVDD(nu=0.1),
    Perceptron(epochs=5, random_state=0), Pegasos(steps=300, random_state=0),
]  # fmt: skip
KERNELS = [
    None, "polynomial(degree=3)", "gaussian", "laplacian", "matern", "cosine",
    "linear + gaussian", Normalised(Polynomial(degree=2)), Gaussian(gamma=0.1) * Laplacian(gamma=0.1),
]  # fmt: skip


def values_of(model, rows):
    return model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows)


def targets_of(machine):
    return goal if isinstance(machine, (SVR, NuSVR)) else classes


@pytest.fixture(autouse=True)
def _far_rows_are_hard_to_learn_from():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: type(machine).__name__)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
@pytest.mark.parametrize("offset", [0, 30, 1e4])
def test_the_same_numbers_make_the_same_model(machine, kernel, offset):
    rows, new = ((offset + each).astype(np.float32) for each in (X, wide))
    machine.set_params(kernel=kernel)
    if isinstance(machine, (SVC, SVR)):
        machine.set_params(max_iter=20_000)
    model, same = (type(machine)(**machine.get_params(deep=False)).fit(each, targets_of(machine))
                   for each in (rows, rows.astype(float)))  # fmt: skip
    expected = values_of(same, new.astype(float))
    np.testing.assert_array_equal(values_of(model, new.astype(float)), expected)
    found = values_of(model, new)
    np.testing.assert_allclose(found, expected, atol=5e-4 * np.ptp(expected))
    np.testing.assert_array_equal(np.sign(found), np.sign(expected))


def test_sums_of_large_values_that_cancel_keep_their_digits():
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = rows.astype(np.float32)
    assert SVC("polynomial(degree=3)").fit(rows, labels).score(rows, labels) > 0.99
    for kernel in ("polynomial(degree=2, gamma='scale')", "linear * gaussian"):
        model = SVC(kernel, max_iter=20_000).fit(rows, labels)
        np.testing.assert_array_equal(model.predict(rows), model.predict(rows.astype(float)))


@pytest.mark.parametrize("form", [sparse.csr_array, lambda rows: rows])
def test_sparse_rows_and_other_types(form):
    counts = rng.poisson(0.3, size=(80, 60)) * 100
    some_types = (np.float32, np.int16) if form is sparse.csr_array else (np.float32, np.float16, ">f4", np.int16)
    for dtype in some_types:
        rows = counts.astype(dtype)
        model = SVC("polynomial(degree=2)").fit(form(rows), classes)
        same = SVC("polynomial(degree=2)").fit(rows.astype(float), classes)
        np.testing.assert_allclose(
            model.decision_function(form(rows)), same.decision_function(rows.astype(float)), atol=1e-6
        )


def test_a_search_and_probabilities():
    rows, labels = load_breast_cancer(return_X_y=True)
    rows, labels = rows[:150].astype(np.float32), labels[:150]
    folds = KFold(3, shuffle=True, random_state=0)
    one, other = (
        KernelSearchCV(SVC("polynomial(degree=3)", max_iter=20_000), {"C": [0.1, 1.0]}, cv=folds).fit(each, labels)
        for each in (rows, rows.astype(float))
    )
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    machine = SVC("polynomial(degree=3)", max_iter=20_000)
    one, other = (Calibrated(machine, cv=folds).fit(each, labels).predict_proba(each)
                  for each in (rows, rows.astype(float)))  # fmt: skip
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_numbers_are_predicted_far_from_the_origin():
    rows, numbers = load_diabetes(return_X_y=True)
    rows = (30 + rows / rows.std(axis=0)).astype(np.float32)
    model = SVR("polynomial(degree=2)", C=1e-4, max_iter=20_000).fit(rows, numbers)
    np.testing.assert_allclose(model.predict(rows), model.predict(rows.astype(float)), atol=1e-6 * np.ptp(numbers))


@pytest.mark.parametrize("mean", [1e3, 1e4, 1e5])
def test_certificates_speak_of_the_rows_as_they_were_given(mean):
    rows = (mean + X).astype(np.float32)
    model = SVDD("linear", nu=0.2, tol=1e-6).fit(rows)
    # R² and what is beyond it, from the definition: distances from the weighted mean of the support rows.
    given = rows.astype(float) - mean
    centre = model.dual_coef_[0] @ given[model.support_]
    squares = np.square(given - centre).sum(axis=1)
    objective = min(r + np.maximum(squares - r, 0.0).sum() / (0.2 * len(rows)) for r in squares)
    assert model.objective_ == pytest.approx(objective, rel=1e-3)


@pytest.mark.parametrize("machine", [OneClassSVM, SVDD])
@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "linear + gaussian"])
def test_at_most_nu_of_the_rows_are_outliers(machine, kernel):
    for seed in range(10):
        rows = np.random.default_rng(seed).normal(size=(100, 3)).astype(np.float32)
        model = machine(kernel, nu=0.1, tol=1e-6).fit(rows)
        assert np.mean(model.predict(rows) < 0) <= 0.1


@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("lam", [1e-6, 1e-14])
@pytest.mark.parametrize(
    "machine",
    [KernelClassifier(), KernelClassifier(loss="squared_hinge"), KernelRegressor(), KernelRegressor(loss="huber")],
    ids=str,
)
def test_matrices_with_eigenvalues_that_rounding_made_negative(offset, dtype, lam, machine):
    """More negative than λ: there is a model, or a sentence, and what calls itself converged has the gap of it."""
    rows = X[:, :2] + offset
    K = (0.5 * (rows @ rows.T)).astype(dtype)
    eigenvalues = np.linalg.eigvalsh(K.astype(np.float64))
    assert eigenvalues[0] < 0
    y = classes if isinstance(machine, KernelClassifier) else goal
    model = clone(machine).set_params(kernel="precomputed", lam=lam)
    if eigenvalues[0] < -1e-5 * eigenvalues[-1]:
        with pytest.raises(ValueError, match="not positive semi-definite"):
            model.fit(K, y)
        return
    model.fit(K, y)
    assert np.isfinite(model.predict(K).astype(float)).all()
    if model.status_ == "converged":
        assert 0 <= np.max(model.duality_gap_) <= 1e-4 * np.var(y)
