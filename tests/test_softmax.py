"""Several classes at once."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from mercer import KernelClassifier, KernelRegressor, KernelSearchCV, keep_best
from mercer.grams import Dense, Features
from mercer.kernels import Gaussian, Polynomial
from mercer.losses import Softmax
from mercer.problems import Iterate, Problem, certify
from mercer.solvers import Gradient, Newton

X, classes = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
rng = np.random.default_rng(0)


def softmax(gram, weight=None, intercept=True, lam=0.02):
    own = np.eye(3)[classes]
    return Problem(gram, own, Softmax(), lam, weight, "free" if intercept else "none")


def test_derivatives_by_finite_differences():
    problem = softmax(Features(X), rng.uniform(0.5, 2, len(X)))
    scores, change = rng.normal(size=(2, len(X), 3))
    small = 1e-6 * change
    g, h = problem.slopes(scores), problem.curvatures(scores)
    up, down = problem.mean_cost(scores + small), problem.mean_cost(scores - small)
    assert np.vdot(g, change) == pytest.approx((up - down) / 2e-6, rel=1e-6)
    after, before = (problem.slopes(scores + s * small) for s in (1, -1))
    np.testing.assert_allclose(problem.loss.hessian_product(h, change), (after - before) / 2e-6, atol=1e-9)
    unit = np.zeros((len(X), 3))
    unit[4, 1] = 1.0
    assert problem.loss.hessian_diagonal(h)[4, 1] == pytest.approx(problem.loss.hessian_product(h, unit)[4, 1])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_it_is_scikit_learns_multinomial_regression(intercept, weighted):
    weight = rng.integers(0, 3, len(X)).astype(float) if weighted else None
    total = len(X) if weight is None else weight.sum()
    theirs = LogisticRegression(C=1 / (0.02 * total), fit_intercept=intercept, tol=1e-10, max_iter=10_000)
    Phi = Polynomial(degree=2).features(X)
    for ours, rows in ((KernelClassifier(None, lam=0.02), X), (KernelClassifier(Polynomial(degree=2), lam=0.02), Phi)):
        model = ours.set_params(fit_intercept=intercept).fit(X, classes, weight)
        theirs.fit(rows, classes, weight)
        np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(rows), atol=2e-5)
        assert model.duality_gap_.shape == (1,)
        assert model.duality_gap_[0] <= 1e-8 * model.objective_[0]
    linear = KernelClassifier(None, lam=0.02, fit_intercept=intercept).fit(X, classes, weight)
    np.testing.assert_allclose(linear.coef_, theirs.fit(X, classes, weight).coef_, atol=1e-4)
    np.testing.assert_allclose(linear.coef_.sum(axis=0), 0, atol=1e-9)


def test_the_gap_bounds_what_can_be_gained():
    problem = softmax(Dense(Gaussian(gamma=0.5)(X)))
    best = Newton(1e-12).solve(problem).trace[-1]
    for far in (0.0, 0.01, 1.0):
        objective, gap = certify(problem, Iterate(far * rng.normal(size=(len(X), 3)), far * rng.normal(size=3)))[:2]
        assert objective - gap <= best + 1e-12 <= objective + 2e-12


def test_gradient_descent_goes_to_the_same_place():
    problem = softmax(Dense(Gaussian(gamma=0.5)(X)), lam=0.05)
    newton, gradient = Newton().solve(problem), Gradient(max_iter=20_000).solve(problem)
    assert gradient.trace.min() == pytest.approx(newton.trace[-1], rel=1e-7)
    np.testing.assert_allclose(gradient.scores, newton.scores, atol=1e-3)


def test_a_search_along_lambda_gives_the_models_of_single_fits():
    search = KernelSearchCV(KernelClassifier("gaussian(gamma=0.5)"), {"lam": [1e-1, 1e-2, 1e-3]}, cv=3)
    search.set_params(scoring="neg_log_loss").fit(X, classes)
    assert search.best_params_["lam"] in (1e-2, 1e-3)
    folds = np.arange(0, len(X), 2)
    model = KernelClassifier("gaussian(gamma=0.5)", lam=1e-3).fit(X[folds], classes[folds])
    assert model.decision_function(X).shape == (len(X), 3)
    assert (model.predict(X) == classes[:]).mean() > 0.9


def test_labels_of_any_kind_and_the_order_of_classes():
    names = np.array(["setosa", "versicolor", "virginica"])[classes]
    model = KernelClassifier("gaussian(gamma=0.5)", lam=1e-3).fit(X, names)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(X)).all()
    numbers = KernelClassifier("gaussian(gamma=0.5)", lam=1e-3).fit(X, classes).predict_proba(X)
    np.testing.assert_allclose(numbers, chances)


def test_an_interrupted_fit_keeps_the_best_so_far(monkeypatch):
    calls = []

    class Impatient(type(Features(X).span)):
        def gradient(self, *arguments):
            calls.append(1)
            if len(calls) == 4:
                raise KeyboardInterrupt
            return super().gradient(*arguments)

    monkeypatch.setattr(Features, "span", property(lambda gram: Impatient(gram.Phi, None, 4)))
    with keep_best(), pytest.warns(ConvergenceWarning, match=r"was interrupted; the model is the best so far.*gap of"):
        model = KernelClassifier(None, lam=1e-4).fit(X, classes)
    assert model.status_ == "interrupted"
    assert not model.converged_
    assert model.score(X, classes) > 0.9


def test_a_time_limit_is_kept_and_said():
    with pytest.warns(ConvergenceWarning, match="scale the columns, or raise max_iter, time_limit or lam"):
        model = KernelClassifier("gaussian(gamma=0.5)", lam=1e-6, time_limit=1e-9).fit(X, classes)
    assert model.status_ == "not converged"
    with pytest.raises(ValueError, match="time_limit must be a number greater than 0"):
        KernelClassifier(time_limit=-1).fit(X, classes)


@pytest.mark.parametrize("kernel", [None, "linear", "polynomial", "gaussian", "cosine"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_single_precision_is_enough_for_rows(kernel, loss):
    """Rows in float32 give the model of the same rows in float64."""
    rows = rng.normal(size=(100, 5)).astype(np.float32)
    labels = rng.integers(0, 3, 100)
    for target in (labels, labels > 0):
        model = KernelClassifier(kernel, loss, 1e-2).fit(rows, target)
        assert model.status_ == "converged"
        same = KernelClassifier(kernel, loss, 1e-2).fit(rows.astype(np.float64), target)
        np.testing.assert_allclose(model.decision_function(rows), same.decision_function(rows.astype(float)), atol=1e-9)


@pytest.mark.parametrize("kernel", [None, "linear", "precomputed"])
def test_nothing_to_learn_from_is_learned_at_once(kernel):
    rows = np.zeros((6, 6))
    model = KernelClassifier(kernel).fit(rows, [0, 1, 2] * 2)
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.predict_proba(rows), 1 / 3)


def test_matrices_with_negative_eigenvalues_are_refused():
    S = rng.normal(size=(90, 90))
    for model in (KernelClassifier("precomputed"), KernelRegressor("precomputed")):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            model.fit(S + S.T, rng.integers(0, 3, 90))


def test_intercepts_have_a_mean_of_zero():
    model = KernelClassifier(None, lam=0.02).fit(X, np.where(classes == 2, 0, classes + 1))
    assert model.intercept_.mean() == pytest.approx(0, abs=1e-12)
