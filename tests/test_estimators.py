import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils._testing import set_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import (
    SVC,
    GPClassifier,
    GPRegressor,
    KernelClassifier,
    KernelKMeans,
    KernelRegressor,
    NuSVC,
    Pegasos,
    Perceptron,
)
from mercer.kernels import Gaussian, Linear

from .cases import COMPONENTS, ESTIMATORS, NOVELTY, REGRESSORS, UNLABELLED

X, y = make_moons(150, noise=0.2, random_state=0)


def beyond(estimator):
    """Checks that ask for what a machine cannot have."""
    if isinstance(estimator, GPClassifier):
        return {"check_decision_proba_consistency": "probabilities depend on the variance too"}
    if isinstance(estimator, NuSVC):
        return {"check_class_weight_classifiers": "a rare class allows a small nu only"}
    if isinstance(estimator, (KernelKMeans, GPRegressor)):
        why = "other seedings are drawn, and where a descent ends depends on rounding"
        return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}
    return {}


EVERY = ESTIMATORS + REGRESSORS + NOVELTY + UNLABELLED + COMPONENTS
#: One of each class; the others differ in parameters.
FIRST = list({type(estimator): estimator for estimator in reversed(EVERY)}.values())


@parametrize_with_checks(FIRST, expected_failed_checks=beyond)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.thorough
@parametrize_with_checks([each for each in EVERY if each not in FIRST], expected_failed_checks=beyond)
def test_scikit_learn_with_other_parameters(estimator, check):
    check(estimator)


every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)


def seeded(estimator, seed):
    copy = clone(estimator)
    set_random_state(copy, seed)
    return copy


def assert_same_scores(ours, theirs, estimator):
    """Equal paths give equal scores; an iterative solver may end anywhere within its tolerance."""
    loose = isinstance(estimator, SVC)
    np.testing.assert_allclose(ours, theirs, rtol=1e-2 if loose else 1e-6, atol=3e-3 if loose else 1e-7)


@every
@pytest.mark.parametrize(
    "labels", [["no", "yes"], [False, True], [-1, 1], ["🐈", "🐕"], [3.5, 7.25], [b"a", b"b"]], ids=str
)
def test_any_two_labels_come_back(estimator, labels):
    target = np.array(labels)[y]
    model = seeded(estimator, 0).fit(X, target)
    assert model.classes_.tolist() == sorted(labels)
    numbered = seeded(estimator, 0).fit(X, y)
    assert model.predict(X).tolist() == np.array(labels)[numbered.predict(X)].tolist()


@every
def test_results_repeat_for_a_seed_and_a_number_of_threads(estimator, monkeypatch):
    def fitted():
        return seeded(estimator, 3).fit(X, y).decision_function(X)

    first = fitted()
    assert np.array_equal(first, fitted())
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert np.array_equal(first, fitted())


@every
def test_the_order_of_the_file_does_not_matter(estimator):
    order = np.random.RandomState(0).permutation(len(X))
    models = [seeded(estimator, 0).fit(rows, labels) for rows, labels in ((X, y), (X[order], y[order]))]
    assert_same_scores(*(model.decision_function(X) for model in models), estimator)


@every
def test_weights_are_repeated_rows(estimator):
    weight = np.random.RandomState(0).randint(0, 4, len(X))
    repeated = seeded(estimator, 0).fit(X.repeat(weight, axis=0), y.repeat(weight))
    weighted = seeded(estimator, 0).fit(X, y, sample_weight=weight)
    assert_same_scores(weighted.decision_function(X), repeated.decision_function(X), estimator)
    # What classes count does not change the rate of a kernel, which describes rows; it is the same for both here.
    kernel = {} if estimator.kernel is None else {"kernel": weighted.kernel_}
    balanced = seeded(estimator, 0).set_params(class_weight={0: 1, 1: 3}, **kernel).fit(X, y)
    by_rows = seeded(estimator, 0).set_params(**kernel).fit(X, y, sample_weight=np.where(y == 1, 3, 1))
    assert_same_scores(balanced.decision_function(X), by_rows.decision_function(X), estimator)


@pytest.mark.parametrize("learner", [Perceptron, Pegasos])
def test_precomputed_is_the_kernel(learner):
    options = {"order": "file"} if learner is Perceptron else {"sampling": np.arange(3000) % 150, "steps": 3000}
    kernel = Gaussian(gamma=1.0)
    direct = learner(kernel, random_state=0, **options).fit(X, y)
    given = learner("precomputed", random_state=0, **options).fit(kernel(X), y)
    np.testing.assert_allclose(direct.decision_function(X[:20]), given.decision_function(kernel(X[:20], X)))
    np.testing.assert_array_equal(direct.support_, given.support_)
    np.testing.assert_array_equal(direct.support_vectors_, X[direct.support_])
    assert cross_val_score(learner("precomputed", random_state=0), kernel(X), y).mean() > 0.7
    weight = np.where(np.arange(150) % 2, 1.0, 0.0)
    half = learner("precomputed", random_state=0).fit(kernel(X), y, sample_weight=weight)
    assert (half.support_ % 2 == 1).all()
    assert half.decision_function(kernel(X[:3], X)).shape == (3,)


def test_decision_is_the_expansion_over_the_support():
    model = Pegasos(Gaussian(gamma=1.0), steps=3000, random_state=0).fit(X, y)
    K = Gaussian(gamma=1.0)(X, X[model.support_])
    np.testing.assert_allclose(model.decision_function(X), K @ model.dual_coef_[0] + model.intercept_[0])


def test_prediction_stays_within_its_memory():
    sizes = []

    def gaussian(A, B):
        sizes.append(8 * len(A) * len(B))
        return Gaussian(gamma=1.0)(A, B)

    model = Pegasos(gaussian, steps=3000, random_state=0).fit(X, y)
    expected = model.decision_function(X)
    limit = 8 * model.support_.size * 7
    sizes.clear()
    np.testing.assert_allclose(model.set_params(memory=limit).decision_function(X), expected, rtol=1e-12)
    assert max(sizes) <= limit


def test_the_fitted_model_does_not_follow_the_kernel():
    kernel = Gaussian(gamma=1.0)
    model = Pegasos(kernel, steps=2000, random_state=0).fit(X, y)
    before = model.decision_function(X)
    kernel.gamma = 50.0
    model.set_params(kernel__gamma=9.0)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_parameters_of_a_kernel_given_as_text_can_be_tuned():
    search = GridSearchCV(Pegasos("gaussian", steps=2000, random_state=0), {"kernel__gamma": [1e-3, 2.0]}, cv=3)
    assert search.fit(X, y).best_params_ == {"kernel__gamma": 2.0}


def test_another_kind_of_fit_leaves_nothing_behind():
    model = Perceptron("gaussian", random_state=0).fit(X, y)
    model.set_params(kernel=None).fit(X, y)
    assert not hasattr(model, "dual_coef_")
    assert model.set_params(kernel="gaussian").fit(X, y).decision_function(X).shape == (150,)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("learner", [SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron])
def test_a_linear_machine_has_weights_whichever_way_it_was_asked_for(learner):
    options = {"random_state": 0} if "random_state" in learner().get_params() else {}
    models = [learner(kernel, **options).fit(X, y) for kernel in (None, "linear", Linear())]
    for model in models:
        assert model.kernel_ == Linear()
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        scores = (model.decision_function if hasattr(model, "decision_function") else model.predict)(X)
        np.testing.assert_allclose(scores, X @ model.coef_[0] + model.intercept_[0], rtol=1e-12, atol=1e-12)
        assert hasattr(model, "partial_fit") == (learner in (Pegasos, Perceptron))


@pytest.mark.parametrize("learner", [SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron])
def test_fitted_attributes_agree(learner):
    model = learner("gaussian").fit(X, y)
    assert model.converged_ == (model.status_ == "converged")
    assert np.all(model.n_iter_ > 0)
    if learner is not Perceptron:  # which minimises nothing
        assert np.all(model.duality_gap_ >= 0)
        assert np.all(model.objective_ > 0)
    tube = learner is KernelRegressor and KernelRegressor("gaussian", "epsilon_insensitive").fit(X, y)
    assert hasattr(model, "kkt_violation_") == (learner in (SVC, Pegasos))  # losses made of straight lines
    assert not tube or 0 <= tube.kkt_violation_ < 1e-4


@every
def test_binary_rows_count_by_content(estimator):
    rows = (np.random.RandomState(0).rand(64, 8) > 0.5).astype(float)
    labels = (rows[:, 0] + rows[:, 3] > rows[:, 1] + rows[:, 2]).astype(int)
    order = np.random.RandomState(1).permutation(64)
    models = [seeded(estimator, 0).fit(a, b) for a, b in ((rows, labels), (rows[order], labels[order]))]
    assert_same_scores(*(model.decision_function(rows) for model in models), estimator)


def test_searches_tune_inner_parameters():
    search = GridSearchCV(
        Pegasos(2 * Gaussian() + Linear(), steps=2000, random_state=0),
        {"kernel__left__kernel__gamma": [0.01, 2.0], "lam": [1e-3]},
        cv=3,
    ).fit(X, y)
    assert search.best_params_["kernel__left__kernel__gamma"] == 2.0


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames_give_feature_names(frame):
    library = pytest.importorskip(frame)
    table = library.DataFrame({"first": X[:, 0], "second": X[:, 1]})
    model = Perceptron("gaussian(gamma=1)", random_state=0).fit(table, library.Series(y))
    assert model.feature_names_in_.tolist() == ["first", "second"]
    np.testing.assert_array_equal(model.predict(table), model.predict(table))


@every
def test_sparse_and_dense_rows_agree(estimator):
    rows = np.where(np.abs(X) < 0.3, 0.0, X)
    dense = seeded(estimator, 0).fit(rows, y)
    for make in (sparse.csr_array, sparse.csc_matrix):
        other = seeded(estimator, 0).fit(make(rows), y)
        assert_same_scores(other.decision_function(make(rows)), dense.decision_function(rows), estimator)
    wide = sparse.csr_array(rows)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert_same_scores(
        seeded(estimator, 0).fit(wide, y).decision_function(wide), dense.decision_function(rows), estimator
    )


@every
def test_predicting_no_rows(estimator):
    model = seeded(estimator, 0).fit(X, y)
    assert model.predict(X[:0]).shape == (0,)


def test_ties_go_to_the_second_class():
    model = Perceptron(fit_intercept=False, random_state=0).fit([[1.0], [-1.0]], ["a", "b"])
    assert model.predict([[0.0]]).tolist() == ["b"]


def test_ctrl_c_stops_a_long_fit():
    code = (
        "import numpy as np, mercer; from mercer import Pegasos\n"
        "X = np.random.RandomState(0).standard_normal((2000, 5)); y = np.arange(2000) % 2\n"
        "Pegasos('gaussian', steps=10, random_state=0).fit(X, y)\n"
        "print('ready', flush=True)\n"
        "Pegasos('gaussian', steps=20_000_000, random_state=0).fit(X, y)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert time.monotonic() - begin < 10
