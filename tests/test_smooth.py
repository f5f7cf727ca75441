import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import HuberRegressor, LogisticRegression, QuantileRegressor, Ridge
from sklearn.metrics import mean_pinball_loss
from sklearn.svm import SVR

from mercer import SVC, KernelClassifier, KernelRegressor, losses
from mercer.grams import Dense, Features
from mercer.kernels import Gaussian, Polynomial
from mercer.losses import EpsilonInsensitive, Huber, Pinball, as_residual_loss
from mercer.problems import Problem
from mercer.solvers import Gradient, Newton

from .cases import RESIDUAL_LOSSES

rng = np.random.RandomState(0)
X = rng.standard_normal((120, 3))
y = np.where(X[:, 0] * X[:, 1] + 0.4 * rng.standard_normal(120) > 0, 1, -1)
t = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(120)
SMOOTH = [losses.Logistic(), losses.SmoothHinge(), losses.SquaredHinge(), losses.Squared()]


def objective(problem, K, z, b):
    return problem.objective(np.vdot(z, K @ z), K @ z + b)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_derivatives_by_finite_differences(loss):
    K = Gaussian(gamma=0.3)(X)
    problem = Problem(Dense(K), y.astype(float), loss, 0.01, rng.uniform(0.5, 2, 120), intercept="free")
    z, b = 0.1 * rng.standard_normal(120), 0.2
    g = problem.slopes(K @ z + b)
    gradient = K @ (0.01 * z + g)
    for i in (0, 17, 60):
        step = np.zeros(120)
        step[i] = 1e-5
        up, down = (objective(problem, K, z + s * step, b) for s in (1, -1))
        assert gradient[i] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-9)
    up, down = (objective(problem, K, z, b + s) for s in (1e-5, -1e-5))
    assert g.sum() == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
@pytest.mark.parametrize("kernel", [None, "gaussian(gamma=0.3)"])
def test_newton_reaches_a_certified_minimum(loss, kernel):
    model = KernelClassifier(kernel, loss, 0.01).fit(X, y)
    assert model.converged_
    assert model.duality_gap_[0] <= 1e-6 * model.objective_[0]


@pytest.mark.parametrize("loss", SMOOTH, ids=lambda loss: loss.name)
def test_gradient_descent_goes_to_the_same_place(loss):
    problem = Problem(Dense(Gaussian(gamma=0.3)(X)), y.astype(float), loss, 0.05, intercept="free")
    newton, gradient = Newton().solve(problem), Gradient(max_iter=20_000).solve(problem)
    assert gradient.trace.min() == pytest.approx(newton.trace[-1], rel=1e-7)
    assert (np.diff(gradient.trace) <= 1e-12).all()


def test_logistic_is_scikit_learns_on_the_explicit_map():
    Phi = Polynomial(degree=2).features(X)
    ours = KernelClassifier(Polynomial(degree=2), lam=0.01).fit(X, y)
    theirs = LogisticRegression(C=1 / (0.01 * 120), tol=1e-10, max_iter=5000).fit(Phi, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(Phi), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(Phi), atol=1e-5)
    linear = KernelClassifier(None, lam=0.01).fit(X, y)
    np.testing.assert_allclose(linear.coef_, LogisticRegression(C=1 / 1.2, tol=1e-10).fit(X, y).coef_, atol=1e-6)


def test_subgradient_descent_approaches_the_soft_margin():
    exact = SVC("gaussian(gamma=0.3)", C=1 / (0.05 * 120), tol=1e-6).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="stopped after"):
        ours = KernelClassifier("gaussian(gamma=0.3)", "hinge", 0.05, solver="gradient", max_iter=200).fit(X, y)
    best = exact.objective_[0]
    assert best <= ours.objective_[0] + 1e-9
    assert ours.objective_[0] <= best * 1.02


def test_newton_refuses_a_kink():
    with pytest.raises(ValueError, match="use SVC for the hinge, or solver='gradient'"):
        KernelClassifier(loss="hinge").fit(X, y)


def test_probabilities_only_where_the_loss_has_them():
    model = KernelClassifier("gaussian", "smooth_hinge").fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match="no probabilities with loss='smooth_hinge'"):
        model.predict_proba(X)
    several = KernelClassifier("gaussian", lam=0.01).fit(X, np.digitize(X[:, 2], [-0.5, 0.5]))
    np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1)


def test_kernel_ridge():
    ours = KernelRegressor("gaussian(gamma=0.3)", lam=0.01, fit_intercept=False).fit(X, t)
    theirs = KernelRidge(kernel="rbf", gamma=0.3, alpha=0.01 * 120).fit(X, t)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5, atol=1e-7)
    linear = KernelRegressor(None, lam=0.01).fit(X, t)
    ridge = Ridge(alpha=0.01 * 120).fit(X, t)
    np.testing.assert_allclose(linear.coef_[0], ridge.coef_, rtol=1e-6)
    np.testing.assert_allclose(linear.intercept_[0], ridge.intercept_, rtol=1e-6)


def test_support_vector_regression():
    for C in (0.5, 5.0):
        ours = KernelRegressor("gaussian(gamma=0.3)", EpsilonInsensitive(0.1), lam=1 / (C * 120)).fit(X, t)
        theirs = SVR(gamma=0.3, C=C, epsilon=0.1, tol=1e-6).fit(X, t)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-3)
        assert abs(len(ours.support_) - len(theirs.support_)) <= 3


def test_huber_ignores_outliers():
    spoiled = t.copy()
    spoiled[:5] += 100
    robust = KernelRegressor("gaussian(gamma=0.3)", Huber(0.1), lam=1e-3).fit(X, spoiled)
    plain = KernelRegressor("gaussian(gamma=0.3)", lam=1e-3).fit(X, spoiled)
    clean = np.arange(120) >= 5
    errors = [np.abs(m.predict(X)[clean] - t[clean]).mean() for m in (robust, plain)]
    assert errors[0] < 0.3 * errors[1]
    linear = KernelRegressor(None, Huber(1.0), lam=1e-6).fit(X, 3 * X[:, 0] + 0.1 * t)
    reference = HuberRegressor(epsilon=5, alpha=0).fit(X, 3 * X[:, 0] + 0.1 * t)
    np.testing.assert_allclose(linear.coef_[0], reference.coef_, atol=0.02)


@pytest.mark.parametrize("loss", RESIDUAL_LOSSES, ids=str)
def test_residual_losses_by_finite_differences(loss):
    r = np.linspace(-2, 2, 41) + 0.013
    np.testing.assert_allclose(loss.slope(r), (loss.value(r + 1e-6) - loss.value(r - 1e-6)) / 2e-6, atol=1e-6)
    np.testing.assert_allclose(loss.curvature(r), (loss.slope(r + 1e-6) - loss.slope(r - 1e-6)) / 2e-6, atol=1e-6)
    assert (loss.value(np.array([-1e4, 1e4])) > 0).all()


def test_unknown_names():
    with pytest.raises(ValueError, match=r"use one of .*epsilon_insensitive, .*huber, .*pinball, .*squared"):
        as_residual_loss("absolute")
    with pytest.raises(ValueError, match="lam must be"):
        KernelRegressor(lam=0).fit(X, t)


def test_regression_gradient_by_finite_differences():
    problem = Problem(Features(X), t, Huber(0.5), 0.1, intercept="free")
    z, b = 0.01 * rng.standard_normal(120), 0.1
    f = X @ (X.T @ z)
    g = problem.slopes(f + b)
    up, down = (objective(problem, X @ X.T, z, b + s) for s in (1e-6, -1e-6))
    assert g.sum() == pytest.approx((up - down) / 2e-6, rel=1e-4)


@pytest.mark.parametrize("loss", ["huber", "epsilon_insensitive"])
def test_targets_of_next_to_nothing_are_no_wrong_parameters(loss):
    """A parameter in units of the targets may be beyond what anybody would give."""
    assert np.abs(KernelRegressor("gaussian", loss=loss).fit(X, 1e-305 * t).predict(X)).max() < 1e-300


def test_the_median_and_other_quantiles_of_a_constant():
    """With a huge λ nothing but the intercept is left, which is a quantile of the targets."""
    targets = np.arange(1.0, 12.0) ** 2
    for tau in (0.1, 0.5, 0.85):
        model = KernelRegressor("gaussian", Pinball(tau), lam=1e6).fit(np.arange(11.0)[:, None], targets)
        np.testing.assert_allclose(model.predict([[3.0]]), np.quantile(targets, tau, method="inverted_cdf"), atol=1e-3)


@pytest.mark.parametrize("tau", [0.2, 0.5, 0.9])
def test_linear_quantiles_are_those_of_a_linear_program(tau):
    model = KernelRegressor(None, Pinball(tau), lam=1e-9).fit(X, t)
    reference = QuantileRegressor(quantile=tau, alpha=0).fit(X, t)
    ours, theirs = (mean_pinball_loss(t, each.predict(X), alpha=tau) for each in (model, reference))
    assert ours == pytest.approx(theirs, rel=1e-6)
    np.testing.assert_allclose(model.coef_[0], reference.coef_, atol=1e-3)


def test_a_quantile_has_its_share_below():
    """The free intercept sees to it, whatever the kernel: at most τ·n targets below, at most (1 − τ)·n above."""
    for tau in (0.1, 0.7):
        model = KernelRegressor("gaussian(gamma=0.3)", Pinball(tau), lam=1e-3).fit(X, t)
        residual = t - model.predict(X)
        assert (residual < -1e-4).sum() <= tau * len(t)
        assert (residual > 1e-4).sum() <= (1 - tau) * len(t)
        assert model.duality_gap_ <= 1e-4 * model.objective_


@pytest.mark.parametrize("bad", [0, 1, -0.5, "0.5", None, float("nan"), True])
def test_quantiles_that_are_none(bad):
    with pytest.raises(ValueError, match="Pinball: tau must be a number between 0 and 1, got"):
        Pinball(tau=bad)


def test_a_better_model_is_never_given_up_for_a_better_bound():
    """On columns of very different sizes Newton's method stops short; what else is tried must not be worse."""
    random = np.random.default_rng(4)
    rows = random.normal(size=(100, 4)) * [1e-2, 1, 30, 1e3]
    labels = np.where(random.normal(size=100) + rows[:, 1] > 0, 1, -1)
    for steps in (2, 3, 160):
        model = KernelClassifier("polynomial(degree=2)", "squared_hinge", lam=1e-5, max_iter=steps)
        assert model.fit(rows, labels).objective_[0] <= 0.5  # what a model of zeros has


def test_a_loose_tolerance_still_proves_something():
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 4)) * [1, 1, 10, 100]
    labels = np.where(random.normal(size=400) + rows[:, 1] > 0, 1, -1)
    for loss in ("squared_hinge", "logistic"):
        model = KernelClassifier("polynomial(degree=2)", loss, lam=1e-5, tol=1e-3, rank=15).fit(rows, labels)
        assert not model.converged_ or model.duality_gap_[0] <= 0.01 * model.objective_[0]
