"""What a certificate promises holds on data that are hard on numbers: recomputed here from the public attributes."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from mercer import SVC, SVDD, KernelClassifier, KernelRegressor, OneClassSVM
from mercer.grams import Dense, Multiple, Repeated
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.losses import EpsilonInsensitive, Huber, Logistic, Squared, SquaredHinge
from mercer.problems import Problem, Status, balanced, best_intercept, slack
from mercer.solvers import FeatureCurvature, MatrixCurvature, Newton, interior_point, solve_certified

CANCER = load_breast_cancer(return_X_y=True)


def soft_margin(model, K, labels, C):
    """The primal objective of a two-class machine and its true gap, from the coefficients it has published."""
    y = np.where(np.asarray(labels) == model.classes_[1], 1.0, -1.0)
    z = np.zeros(y.size)
    z[model.support_] = model.dual_coef_[0]
    f = K @ z
    primal = 0.5 * z @ f + C * np.maximum(0, 1 - y * (f + model.intercept_[0])).sum()
    assert abs(z.sum()) <= 1e-13 * np.abs(z).sum()
    assert (y * z >= 0).all()
    assert np.abs(z).max() <= C
    return primal, primal - (np.abs(z).sum() - 0.5 * z @ f)


@pytest.mark.parametrize("kernel", ["linear", None])
def test_without_free_support_items_the_intercept_is_the_best_one(kernel):
    model = SVC(kernel, C=0.1).fit([[2.0], [-1.0], [1.0], [4.0]], [0, 1, 0, 0])
    assert model.objective_[0] == pytest.approx(0.18 / (0.1 * 4))
    assert model.intercept_[0] == pytest.approx(-0.7)


class Rough(Dense):
    """A matrix whose products are as exact as those of a graphics card; exact ones are to be had."""

    error = 1e-5

    def matvec(self, z):
        noise = 1 + 1e-6 * np.sin(np.arange(len(self)) ** 2)
        return (noise if np.ndim(z) == 1 else noise[:, None]) * super().matvec(z)

    def exact(self):
        return Dense(self.K, self.index)


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), Squared(), Huber()])
@pytest.mark.parametrize(("tol", "most"), [(1e-8, 1e-6), (1e-4, 1e-4)])
@pytest.mark.parametrize("intercept", ["none", "penalised", "free"])
def test_rough_products_find_the_way_and_exact_ones_prove_it(loss, tol, most, intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=300) > 0, 1.0, -1.0)
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    problem = Problem(Rough(K), y, loss, 1 / 300, intercept=intercept)
    found = solve_certified(problem, Newton(tol=tol))
    assert found.solution.status is Status.CONVERGED
    z, b = found.solution.z, found.solution.b
    objective = z @ K @ z / 600 + np.mean(loss.costs(y, K @ z + b)) + (b * b / 600 if intercept == "penalised" else 0.0)
    assert found.certificate.objective == pytest.approx(objective, rel=1e-12)
    least = solve_certified(problem.on(Dense(K)), Newton(tol=1e-12)).certificate.objective
    assert -1e-12 <= objective - least <= found.certificate.gap <= most * objective


@pytest.mark.parametrize("around", [lambda gram: Repeated(gram, [0, 1, 1]), lambda gram: Multiple(gram, 2.0)])
def test_what_is_around_rough_products_is_as_rough(around):
    rough, exact = Rough(np.eye(3)), Dense(np.eye(3))
    assert around(rough).error == rough.error
    np.testing.assert_array_equal(around(rough).exact().matvec(np.ones(3)), around(exact).matvec(np.ones(3)))
    assert around(exact).exact().error == 0.0


def test_narrow_kernels_and_a_large_C():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 1))
    y = (X[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    model = SVC("gaussian(gamma=1e4)", C=1e4).fit(X, y)
    primal, gap = soft_margin(model, np.exp(-1e4 * (X - X.T) ** 2), y, 1e4)
    assert model.status_ == "converged"
    assert model.objective_[0] * 1e4 * 200 == pytest.approx(primal, rel=1e-8)
    assert gap <= model.duality_gap_[0] * 1e4 * 200 + 1e-8 * primal
    assert primal < 12_213  # LIBSVM stops at 12 215


@pytest.mark.parametrize("scale", [1e4, 1e5])
def test_a_tube_on_columns_of_different_units(scale):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=100), scale * rng.normal(size=100)])
    y = X @ [1, 1 / scale] + 0.1 * rng.normal(size=100)
    model = KernelRegressor(None, "epsilon_insensitive", lam=1e-4).fit(X, y)
    loss = np.maximum(0, np.abs(y - model.predict(X)) - 0.1).mean()
    assert model.converged_
    assert model.objective_ == pytest.approx(0.5e-4 * np.sum(model.coef_**2) + loss, rel=1e-9)
    assert model.duality_gap_ <= 1e-6 * model.objective_
    assert model.score(X, y) > 0.98


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("loss", ["squared", "huber", "epsilon_insensitive"])
def test_the_unit_of_the_targets_does_not_matter(unit, loss):
    X = np.linspace(0, 6, 60)[:, None]
    made = {"squared": "squared", "huber": Huber(0.5 * unit), "epsilon_insensitive": EpsilonInsensitive(0.05 * unit)}
    lam = 1e-3 / unit if loss == "epsilon_insensitive" else 1e-3
    model = KernelRegressor("gaussian", made[loss], lam=lam).fit(X, unit * np.sin(X[:, 0]))
    assert model.converged_
    assert model.score(X, unit * np.sin(X[:, 0])) > 0.99
    assert model.duality_gap_ <= 1e-6 * model.objective_


def test_kernel_values_beyond_single_precision():
    X = 1e7 * np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0
    for model in (SVC("polynomial(degree=3)"), SVC("polynomial(degree=3)", strategy="ovr")):
        model.fit(X, y)
        assert np.isfinite(model.dual_coef_).all()
        assert np.isfinite(model.duality_gap_).all()
        assert model.score(X, y) > 0.9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tube = KernelRegressor("polynomial(degree=3)", "epsilon_insensitive").fit(X, X[:, 0])
        assert np.isfinite(tube.predict(X)).all()
        hopeless = SVC("polynomial(degree=6)").fit(*CANCER)
    assert np.isfinite(hopeless.dual_coef_).all()
    assert hopeless.status_ == "converged" or hopeless.duality_gap_[0] > 1e-3 * hopeless.objective_[0]


@pytest.mark.thorough
@given(seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_hard_margins_exist_where_a_linear_program_finds_one(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 12)), int(rng.integers(1, 4))
    X = rng.integers(-9, 10, size=(n, d)) / 10 * 10.0 ** rng.integers(0, 4, size=d)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    signs, unit = np.where(y == 1, 1, -1), np.maximum(np.abs(X).max(axis=0), 1e-9)
    rows = np.column_stack([-signs[:, None] * X / unit, -signs, np.ones(n)])
    widest = optimize.linprog(
        np.r_[np.zeros(d + 1), -1], rows, np.zeros(n), bounds=[(-1, 1)] * d + [(None, None), (None, 1)]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for kernel in (None, "linear"):
            model = SVC(kernel, C=float("inf")).fit(X, y)
            if widest.x[-1] > 1e-6:
                assert model.status_ == "converged"
                assert (signs * model.decision_function(X)).min() >= 1 - 2e-3
            elif widest.x[-1] < 1e-12:
                assert model.status_ == "not separable"
            assert np.isfinite(model.dual_coef_).all()


def test_hard_margins_with_columns_of_different_units():
    X = [[-0.4, 500], [1, 300], [1.4, -600], [1.6, -600], [-0.9, 600]]
    with pytest.warns(ConvergenceWarning, match=r"no hard margin exists.* soft margin with C="):
        model = SVC("linear", C=float("inf")).fit(X, [0, 1, 1, 0, 0])
    assert np.isfinite(model.dual_coef_).all()
    model = SVC("linear", C=float("inf")).fit([[-1.5, -120], [-1.2, 140], [-1.6, -240]], [1, 0, 0])
    assert model.status_ == "converged"
    X, y = CANCER
    model = SVC(None, C=float("inf")).fit(X, y)
    assert model.status_ == "converged"
    assert (np.where(y == 1, 1, -1) * model.decision_function(X)).min() >= 1 - 1e-6
    assert model.duality_gap_[0] <= 1e-6 * model.objective_[0]
    rows, z = X[model.support_] - X.mean(axis=0), model.dual_coef_[0]
    assert np.abs(rows.T @ z - model.coef_[0]).max() <= 1e-14 * (np.abs(rows).T @ np.abs(z)).max()


def test_what_is_not_proven_is_not_claimed():
    X = np.linspace(0, 1, 40)[:, None]  # any labels of different rows can be separated by a Gaussian
    with pytest.warns(ConvergenceWarning, match="no hard margin was found"):
        model = SVC("gaussian(gamma=1e-4)", C=float("inf")).fit(X, np.arange(40) % 2)
    assert model.status_ == "not found"
    with pytest.warns(ConvergenceWarning, match="no hard margin exists"):
        assert SVC("gaussian", C=float("inf")).fit([[0.0], [1.0], [1.0]], [0, 0, 1]).status_ == "not separable"


def test_the_coefficients_sum_to_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 4)), rng.integers(0, 2, 150)
    model = SVC("cosine", C=0.01).fit(X, y)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    primal, gap = soft_margin(model, rows @ rows.T, y, 0.01)
    assert model.objective_[0] * 0.01 * 150 == pytest.approx(primal, rel=1e-10)
    assert gap <= model.duality_gap_[0] * 0.01 * 150 + 1e-10


def test_logistic_machines_at_tiny_lambda():
    model = KernelClassifier(None, lam=1e-4).fit([[-10.0], [10.0]], [0, 1])
    assert model.converged_
    assert model.objective_[0] == pytest.approx(7.617e-5, rel=1e-3)
    X, y = load_digits(return_X_y=True)
    X, y = X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]
    model = KernelClassifier(None, lam=1e-6).fit(X, y)
    assert model.converged_
    assert model.n_iter_ <= 40
    theirs = LogisticRegression(C=1 / (1e-6 * len(y)), tol=1e-10, max_iter=10_000).fit(X, y)
    margins = np.where(y == 8, 1, -1) * theirs.decision_function(X)
    best = 0.5e-6 * np.sum(theirs.coef_**2) + np.logaddexp(0, -margins).mean()
    assert model.objective_[0] <= best * (1 + 1e-9)


@pytest.mark.parametrize("lam", [1e-4, 1e-8])
def test_squared_hinges_nearly_as_hard_as_a_hard_margin(lam):
    X, y = load_digits(return_X_y=True)
    X, y = X[(y == 3) | (y == 8)], y[(y == 3) | (y == 8)]
    model = KernelClassifier(None, "squared_hinge", lam=lam).fit(X, y)
    margins = np.where(y == 8, 1, -1) * model.decision_function(X)
    objective = lam / 2 * np.sum(model.coef_**2) + 0.5 * np.square(np.maximum(0, 1 - margins)).mean()
    assert model.converged_
    assert model.objective_[0] == pytest.approx(objective, rel=1e-6)


@pytest.mark.parametrize("kernel", [None, "linear"])
def test_raw_columns_are_solved_and_certified(kernel):
    X, y = CANCER
    model = SVC(kernel, C=1).fit(X, y)
    assert model.status_ == "converged"
    margins = np.where(y == 1, 1, -1) * model.decision_function(X)
    primal = 0.5 * np.sum(model.coef_**2) + np.maximum(0, 1 - margins).sum()
    assert model.objective_[0] * len(y) == pytest.approx(primal, rel=1e-7)
    assert primal == pytest.approx(48.8757, rel=1e-5)


def test_smooth_machines_without_an_intercept_at_large_lambda():
    X = [[0.0], [1.0], [2.0]]
    model = KernelRegressor("gaussian(gamma=1)", lam=1.0, fit_intercept=False).fit(X, [0.0, 1.0, 2.0])
    K = np.exp(-np.square(np.subtract.outer(np.arange(3.0), np.arange(3.0))))
    np.testing.assert_allclose(model.dual_coef_[0], np.linalg.solve(K + 3 * np.eye(3), [0, 1, 2]), rtol=1e-6)
    assert model.converged_
    assert KernelClassifier("gaussian", lam=100.0, fit_intercept=False).fit([[0.0], [1.0]], [0, 1]).converged_


@pytest.mark.thorough
def test_limits_are_looked_at_inside_working_sets():
    X = np.random.default_rng(0).normal(size=(3000, 40))
    y = np.random.default_rng(1).integers(0, 2, 3000)
    with pytest.warns(ConvergenceWarning, match="stopped before tol"):
        model = SVC("gaussian(gamma=0.02)", C=1e6, max_iter=500).fit(X, y)
    assert model.n_iter_[0] <= 500
    with pytest.warns(ConvergenceWarning, match="KernelRegressor stopped"):
        tube = KernelRegressor(None, "epsilon_insensitive", lam=1e-9, time_limit=1e-3).fit(
            X * 10.0 ** np.arange(-5, 35, 1), y
        )
    assert not tube.converged_


# -- the parts ---------------------------------------------------------------------------------------------------------


def boxes(rng, n):
    y = np.where(rng.random(n) < 0.5, 1, -1)
    y[:2] = 1, -1
    C = rng.integers(1, 3, n) * 10.0 ** rng.integers(-3, 4)
    return np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)


@given(seed=st.integers(0, 10_000), whole=st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_best_intercept_is_the_best_of_all_corners(seed, whole):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    F = rng.integers(-3, 4, n).astype(float) if whole else rng.normal(size=n)
    low, high = boxes(rng, n)
    b = best_intercept(F, low, high)
    assert slack(F - b, low, high).sum() <= min(slack(F - corner, low, high).sum() for corner in F) * (1 + 1e-12)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_balanced_coefficients_stay_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    low, high = boxes(rng, n)
    z = balanced(2 * rng.normal(size=n), low, high)
    assert (z >= low).all()
    assert (z <= high).all()
    assert abs(z.sum()) <= 1.1e-14 * np.abs(z).sum()


@given(seed=st.integers(0, 10_000), by_features=st.booleans(), balance=st.booleans())
@settings(max_examples=40, deadline=None)
def test_interior_points_satisfy_the_optimality_conditions(seed, by_features, balance):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 30)), int(rng.integers(1, 6))
    Phi = rng.normal(size=(n, d))
    Phi /= np.linalg.norm(Phi, axis=1).max()
    low, high = boxes(rng, n)
    t = rng.normal(size=n)
    curvature = FeatureCurvature(Phi) if by_features else MatrixCurvature(Phi @ Phi.T)
    A = np.ones((int(balance), n))
    found = interior_point(curvature, t, A, np.zeros(int(balance)), low, high, sizes=(1.0, float((high - low).max())))
    F = t - Phi @ (Phi.T @ found.z) - A.T @ found.multipliers
    box = high - low
    assert np.abs(A @ found.z).max(initial=0.0) <= 1e-9 * box.max()
    # The duality gap of the box: what each item could still gain by going to a bound.
    gain = np.where(F > 0, F * (high - found.z), F * (low - found.z)).sum()
    assert gain <= 1e-6 * max(1.0, float(np.abs(t) @ np.abs(found.z)))


def nearly_constant(seed):
    """Columns of widely different scales beside a Gaussian as wide as the largest: similarities differ by little."""
    rng = np.random.default_rng(seed)
    X = (rng.random((95, 12)) < 0.5) * 10.0 ** rng.uniform(-8, 8, 12)
    wide = 1 / np.square(X - X.mean(axis=0)).sum(axis=1).mean()
    return X, rng.integers(0, 2, 95), rng.exponential(size=95), Gaussian(gamma=wide)


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 6])
def test_converged_means_that_no_condition_is_violated_by_more_than_tol(seed):
    X, y, weight, kernel = nearly_constant(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(kernel, C=3e4, tol=1e-6).fit(X, y, sample_weight=weight)
    assert model.converged_ == (model.kkt_violation_[0] <= model.tol)
    assert model.converged_ or seed == 6
    # What is published is true of the coefficients that are: F = y − Kz of those that may grow and of those that may
    # shrink, in extended precision.
    z, signs, C = np.zeros(y.size, np.longdouble), np.where(y == 1, 1, -1), 3e4 * weight
    z[model.support_] = model.dual_coef_[0]
    F = signs - kernel(X).astype(np.longdouble) @ z
    near = 1e-13 * C  # bounds are C·weight but for rounding
    grow, shrink = z < np.where(y == 1, C, 0) - near, z > np.where(y == 1, 0, -C) + near
    assert F[grow].max() - F[shrink].min() <= model.kkt_violation_[0] + 1e-8


@pytest.mark.parametrize("kernel", [Gaussian(gamma=1e-9), Polynomial(degree=2), Linear()])
@pytest.mark.parametrize("machine", [OneClassSVM, SVDD])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_novelty_machines_keep_their_tolerance_in_units_of_the_spread(machine, kernel, offset):
    X = np.random.default_rng(2).normal(size=(60, 3)) + offset * np.array([1, 2, 3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = machine(kernel, nu=0.3, tol=1e-6).fit(X)
    K = kernel(X).astype(np.longdouble)
    spread = max(K.diagonal().mean() - K.mean(), 1e-12 * K.max())
    unit = 0.3 * len(X) if machine is OneClassSVM else 2.0
    assert model.kkt_violation_ <= 1.0001 * model.tol * spread * unit or not model.converged_


def test_weights_and_coefficients_of_a_linear_machine_are_the_same_function():
    rng = np.random.default_rng(0)
    for _ in range(30):
        X = rng.normal(size=(13, 6)) * 10.0 ** rng.uniform(-6, 8, size=6)
        X[rng.integers(13, size=4)] = X[0]  # with different labels: coefficients at their bounds, which cancel
        y = np.arange(13) % 2
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = SVC("linear", C=11.8).fit(X, y)
        z, support = model.dual_coef_[0].astype(np.longdouble), X[model.support_].astype(np.longdouble)
        beyond = np.abs(z @ support - model.coef_[0]) - 1e-13 * (np.abs(z) @ np.abs(support))
        assert (np.abs(X) @ np.maximum(beyond, 0)).max() <= model.tol


@pytest.mark.parametrize("loss", ["logistic", "smooth_hinge"])
def test_a_lambda_that_is_nothing_beside_the_matrix(loss):
    X = np.random.default_rng(0).normal(size=(3, 24)) * 10.0 ** np.random.default_rng(1).uniform(-8, 8, size=24)
    model = KernelClassifier("polynomial(degree=1)", loss, lam=1e-9).fit(X, [0, 1, 0])
    assert model.converged_
    assert model.objective_[0] < 1e-6  # as far apart as one likes, for next to nothing


@pytest.mark.parametrize("seed", range(6))
def test_converged_means_a_small_gap_where_few_rows_count_for_nearly_all(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (40, 2)).astype(float), rng.integers(0, 2, 40)
    weight = np.where(rng.random(40) < 0.2, 1e6, 1.0)
    model = SVC("gaussian(gamma=1e9)", C=1e4, tol=1e-6).fit(X, y, weight)
    assert not model.converged_ or model.duality_gap_[0] <= 2e-6
