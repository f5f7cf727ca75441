import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC, keep_best
from mercer.kernels import Gaussian, Polynomial
from mercer.solvers.svm import RowCache

TOY = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
TOY_LABELS = np.array([1, 1, 1, -1, -1, -1])
X, y = make_moons(400, noise=0.3, random_state=0)


def coefficients(model, n):
    z = np.zeros(n)
    z[model.support_] = model.dual_coef_[0]
    return z


@pytest.mark.parametrize("kernel", [None, "linear"])
def test_the_toy_of_the_course(kernel):
    model = SVC(kernel, C=float("inf"), tol=1e-6).fit(TOY, TOY_LABELS)
    np.testing.assert_allclose(model.coef_, [[2, 2]], atol=1e-5)
    np.testing.assert_allclose(model.intercept_, [-3], atol=1e-5)
    np.testing.assert_allclose(model.dual_coef_, [[-2, -2, 4]], atol=1e-5)
    np.testing.assert_array_equal(model.support_vectors_, [[1, 0], [0, 1], [1, 1]])
    assert model.duality_gap_[0] < 1e-4
    assert model.status_ == "converged"


@given(seed=st.integers(0, 10_000), C=st.sampled_from([0.1, 1.0, 30.0]), gamma=st.sampled_from([0.1, 1.0, 5.0]))
@settings(max_examples=25, deadline=None)
def test_agrees_with_libsvm(seed, C, gamma):
    rng = np.random.RandomState(seed)
    rows = rng.standard_normal((80, 3))
    labels = np.where(rows[:, 0] * rows[:, 1] + 0.5 * rng.standard_normal(80) > 0, 1, -1)
    weight = rng.uniform(0.2, 2, 80)
    ours = SVC(Gaussian(gamma=gamma), C=C).fit(rows, labels, sample_weight=weight)
    theirs = ScikitSVC(C=C, gamma=gamma, tol=1e-6).fit(rows, labels, sample_weight=weight)
    K = Gaussian(gamma=gamma)(rows)
    objectives = [0.5 * z @ K @ z - np.abs(z).sum() for z in (coefficients(m, 80) for m in (ours, theirs))]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-4)
    assert ours.kkt_violation_[0] <= 1e-3
    assert abs(coefficients(ours, 80).sum()) < 1e-6
    np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(rows), atol=5e-3)


def test_the_certificate_is_computed_from_the_model():
    model = SVC("gaussian(gamma=2)", C=5).fit(X, y)
    z, signs = coefficients(model, 400), np.where(y == 1, 1, -1)
    K = Gaussian(gamma=2)(X)
    f = K @ z
    primal = 0.5 * z @ f + 5 * np.maximum(0, 1 - signs * (f + model.intercept_[0])).sum()
    assert model.objective_[0] == pytest.approx(primal / (5 * 400), rel=1e-9)
    assert model.duality_gap_[0] * 5 * 400 == pytest.approx(primal - (np.abs(z).sum() - 0.5 * z @ f), abs=1e-6)
    F = signs - f
    grow, shrink = F[z < np.where(signs > 0, 5, 0)], F[z > np.where(signs > 0, 0, -5)]
    assert model.kkt_violation_[0] == pytest.approx(max(0, grow.max() - shrink.min()), abs=1e-6)


def test_many_blocks_and_little_memory_change_nothing():
    rows, labels = make_moons(3000, noise=0.3, random_state=1)
    reference = SVC("gaussian(gamma=2)", C=10, tol=1e-4).fit(rows, labels)
    small = SVC("gaussian(gamma=2)", C=10, tol=1e-4, memory="3MB").fit(rows, labels)
    assert small.objective_[0] == pytest.approx(reference.objective_[0], rel=1e-5)
    np.testing.assert_allclose(small.decision_function(rows), reference.decision_function(rows), atol=2e-3)


@pytest.mark.parametrize("strategy", ["ovo", "ovr"])
def test_several_classes(strategy):
    rows, labels = make_blobs(300, centers=4, cluster_std=2.0, random_state=0)
    model = SVC("gaussian(gamma=0.1)", C=2, strategy=strategy).fit(rows, labels)
    scores = model.decision_function(rows)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[scores.argmax(axis=1)])
    theirs = ScikitSVC(C=2, gamma=0.1).fit(rows, labels)
    assert np.mean(model.predict(rows) == theirs.predict(rows)) > (0.99 if strategy == "ovo" else 0.9)
    assert model.n_support_.sum() == len(model.support_)
    if strategy == "ovo":
        assert model.dual_coef_.shape == theirs.dual_coef_.shape
        assert np.abs(model.n_support_ - theirs.n_support_).max() <= 3
        np.testing.assert_allclose(np.abs(model.dual_coef_).sum(), np.abs(theirs.dual_coef_).sum(), rtol=1e-2)


def test_linear_machines_agree_in_all_their_forms():
    rows, labels = make_blobs(300, centers=2, cluster_std=4.0, random_state=3)
    models = [
        SVC(None, C=1, tol=1e-5).fit(rows, labels),
        SVC("linear", C=1, tol=1e-5).fit(rows, labels),
        SVC(None, C=1, tol=1e-5).fit(sparse.csr_array(rows), labels),
    ]
    given = SVC("precomputed", C=1, tol=1e-5).fit(rows @ rows.T, labels)
    theirs = ScikitSVC(kernel="linear", C=1, tol=1e-6).fit(rows, labels)
    for model in models:
        np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(given.decision_function(rows @ rows.T), theirs.decision_function(rows), atol=1e-2)


def test_warm_start_from_another_C():
    model = SVC("gaussian(gamma=2)", C=5, warm_start=True).fit(X, y)
    again = model.fit(X, y)
    assert again.n_iter_[0] <= 5
    changed = SVC("gaussian(gamma=2)", C=5, warm_start=True).fit(X, y).set_params(C=6).fit(X, y)
    fresh = SVC("gaussian(gamma=2)", C=6).fit(X, y)
    assert changed.objective_[0] == pytest.approx(fresh.objective_[0], rel=1e-4)


def test_hard_margin_on_inseparable_rows_says_so():
    with pytest.warns(ConvergenceWarning, match="no hard margin exists"):
        model = SVC("linear", C=float("inf")).fit(X, y)
    assert model.status_ == "not separable"


def test_limits_give_a_usable_model_and_an_honest_status():
    with pytest.warns(ConvergenceWarning, match="stopped before tol"):
        model = SVC("gaussian(gamma=2)", C=1e6, max_iter=10).fit(X, y)
    assert model.status_ == "not converged"
    assert model.predict(X).shape == (400,)
    with pytest.warns(ConvergenceWarning, match="stopped before tol"):
        SVC("polynomial(degree=5)", C=1e6, time_limit=1e-3).fit(100 * X, y)


def test_an_interrupted_fit_keeps_the_best_so_far(monkeypatch):
    rows, labels = make_moons(5000, noise=0.3, random_state=1)
    calls = []
    real = RowCache.subtract

    def interrupted(self, *arguments, **named):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(self, *arguments, **named)

    monkeypatch.setattr(RowCache, "subtract", interrupted)
    with keep_best(), pytest.warns(ConvergenceWarning, match="was interrupted"):
        model = SVC("gaussian(gamma=2)", C=10).fit(rows, labels)
    assert model.status_ == "interrupted"
    assert model.kkt_violation_[0] > 1e-3
    assert model.score(rows, labels) > 0.8


@pytest.mark.parametrize("C", [0, -1, float("nan"), "1", None])
def test_bad_C(C):
    with pytest.raises(ValueError, match="C must be a number greater than 0"):
        SVC(C=C).fit(X, y)


def test_indefinite_kernels_are_refused_with_their_eigenvalue():
    K = -Gaussian(gamma=1.0)(X)
    with pytest.raises(ValueError, match=r"not positive semi-definite: .* eigenvalue -"):
        SVC("precomputed").fit(K, y)
    with pytest.raises(ValueError, match=r"sigmoid.* is not positive semi-definite"):
        SVC("sigmoid(gamma=2, coef0=-1)").fit(X, y)


def test_there_are_no_probabilities_and_the_message_says_what_to_do():
    with pytest.raises(AttributeError, match="CalibratedClassifierCV"):
        SVC().fit(X, y).predict_proba(X)


def test_contradictory_duplicates():
    rows, labels = np.vstack([X, X]), np.r_[y, 1 - y]
    model = SVC("gaussian(gamma=2)").fit(rows, labels)
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.decision_function(X), 0, atol=1e-2)


def test_progress_through_scikit_learns_callbacks():
    callback = pytest.importorskip("sklearn.callback")
    rows, labels = make_blobs(60, centers=3, random_state=0)
    seen = []

    class Spy:
        def setup(self, estimator, context):
            seen.append("setup")

        def on_fit_task_begin(self, *arguments, **named):
            seen.append("begin")

        def on_fit_task_end(self, *arguments, **named):
            seen.append("end")

        def teardown(self, estimator, context):
            seen.append("teardown")

    assert isinstance(Spy(), callback.FitCallback)
    SVC().set_callbacks(Spy()).fit(rows, labels)
    assert seen.count("begin") == seen.count("end") == 4  # the fit and its three machines
    assert (seen[0], seen[-1]) == ("setup", "teardown")


def test_hard_margin_counts_contradictions():
    rows = np.array([[0.0], [1.0], [1.0], [2.0]])
    with pytest.warns(ConvergenceWarning, match="1 row appears with more than one label"):
        SVC("linear", C=float("inf")).fit(rows, [0, 0, 1, 1])


@pytest.mark.thorough
def test_little_memory_gives_the_same_machine_and_says_so():
    rows, labels = make_blobs(3000, 80, centers=2, cluster_std=12.0, random_state=0)
    roomy = SVC("gaussian(gamma=0.0005)", C=1).fit(rows, labels)
    with pytest.warns(UserWarning, match="the result is the same"):
        cramped = SVC("gaussian(gamma=0.0005)", C=1, memory="1MB").fit(rows, labels)
    assert cramped.status_ == "converged"
    assert cramped.objective_[0] == pytest.approx(roomy.objective_[0], rel=1e-4)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_linear_machine_with_many_rows_of_a_rare_class(C):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(6000, 5))
    labels = np.where(rows @ [1, -1, 0.5, 0, 0] + rng.normal(size=6000) > 2.5, 1, -1)
    model = SVC(None, C=C).fit(rows, labels)
    theirs = ScikitSVC(kernel="linear", C=C, tol=1e-4).fit(rows, labels)
    assert model.status_ == "converged"
    assert model.kkt_violation_[0] <= 1e-3
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=5e-3)


def test_a_certificate_of_large_kernel_values_is_honest():
    rows = X + 100.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC("polynomial(degree=2)", C=10).fit(rows, y)
    K = Polynomial(degree=2)(rows)
    z = np.zeros(len(rows))
    z[model.support_] = model.dual_coef_[0]
    f = K @ z
    signs = np.where(y == model.classes_[1], 1.0, -1.0)
    primal = 0.5 * z @ f + 10 * np.maximum(0, 1 - signs * (f + model.intercept_[0])).sum()
    assert model.objective_[0] == pytest.approx(primal / (10 * len(rows)), rel=1e-6)
    assert model.status_ == "converged" or model.kkt_violation_[0] > 1e-3


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_coefficients_and_intercepts_of_pairs_have_scikit_learns_signs(kernel):
    rows, labels = load_iris(return_X_y=True)
    ours, theirs = SVC(kernel, tol=1e-6).fit(rows, labels), ScikitSVC(kernel=kernel, tol=1e-6).fit(rows, labels)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
