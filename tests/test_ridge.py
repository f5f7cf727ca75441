"""The squared loss along λ, against the linear system that defines it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import KernelClassifier
from mercer.grams import Dense
from mercer.kernels import Gaussian
from mercer.losses import Squared
from mercer.problems import Problem
from mercer.solvers import RidgePath, solve_ridge


@settings(deadline=None, max_examples=30)
@given(
    st.integers(1, 25),
    st.integers(1, 30),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
    st.integers(0, 10**6),
)
def test_every_lambda_solves_its_bordered_system(n, rank, intercept, dtype, seed):
    """(K + λn)·z + b = y, and Σz = 0 where b is free."""
    rng = np.random.default_rng(seed)
    Phi, y = rng.normal(size=(n, rank)), rng.normal(size=n)
    K = (Phi @ Phi.T).astype(dtype)
    path = RidgePath(K)
    for lam in (1e-3, 0.1, 10.0):
        ridge = K.astype(np.float64) + lam * n * np.eye(n)
        if intercept:
            bordered = np.block([[ridge, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
            *expected, b = np.linalg.solve(bordered, np.append(y, 0.0))
        else:
            expected, b = np.linalg.solve(ridge, y), 0.0
        found = path.solve(y, lam, intercept)
        rounding = 1e-6 if dtype == np.float32 else 1e-9  # of eigenvalues that should be zero
        np.testing.assert_allclose(lam * n * found.z, lam * n * np.array(expected), rtol=1e-5, atol=rounding / lam)
        assert found.b == pytest.approx(b, rel=1e-5, abs=rounding / lam)


@pytest.mark.parametrize("intercept", [True, False])
def test_weights_count_as_repeated_items(intercept):
    """An item of weight zero is not there, one of weight two is there twice; weights have no unit."""
    rng = np.random.default_rng(1)
    X, y, weight = rng.normal(size=(12, 2)), rng.normal(size=12), np.array([0.0, 1, 2] * 4)
    times = np.repeat(np.arange(12), weight.astype(int))
    K = Gaussian(gamma=0.7)(X)
    found = RidgePath(K, 3 * weight).solve(y, 0.05, intercept)
    repeated = RidgePath(K[np.ix_(times, times)]).solve(y[times], 0.05, intercept)
    np.testing.assert_allclose(K @ found.z + found.b, K[:, times] @ repeated.z + repeated.b, atol=1e-12)
    problems = [Problem(Dense(K), target, Squared(), 0.05, 3 * weight, "free" if intercept else "none")
                for target in (y, -2 * y)]  # fmt: skip
    for factor, solution in zip((1, -2), solve_ridge(problems), strict=True):
        np.testing.assert_allclose(solution.z, factor * found.z, atol=1e-12)
        assert solution.b == pytest.approx(factor * found.b, abs=1e-12)


def test_a_constant_target_is_an_intercept():
    found = RidgePath(np.eye(5)).solve(np.full(5, 7.0), 0.1, True)
    assert found.b == pytest.approx(7.0)
    np.testing.assert_allclose(found.z, 0, atol=1e-12)


def test_a_path_is_what_newton_finds():
    """Another way to the same minimum, through the estimator."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    K = Gaussian(gamma=0.7)(X)
    path = RidgePath(K)
    for lam in (1e-3, 0.1):
        found = path.solve(y, lam, True)
        model = KernelClassifier(Gaussian(gamma=0.7), "squared", lam=lam).fit(X, y)
        np.testing.assert_allclose(K @ found.z + found.b, model.decision_function(X), atol=1e-6)
