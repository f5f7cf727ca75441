"""Leave-one-out from one factor, the gradients of kernels, weights of columns as a kernel's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import Gaussian, Laplacian, Linear, parse
from mercer.metrics import (
    FAMILIES,
    error_and_slopes,
    exactly_left_out,
    groups_left_out,
    learned_metric,
    left_out,
)


def refitted(K, y, lam, intercept, weights):
    """The system of all other rows, solved anew for each row."""
    out = np.empty(y.shape)
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        s = weights[rest]
        used = rest[s > 0]
        s = weights[used]
        A = K[np.ix_(used, used)] + lam * s.sum() * np.diag(1 / s)
        if intercept:
            A = np.block([[A, np.ones((used.size, 1))], [np.ones((1, used.size)), np.zeros((1, 1))]])
            solved = np.linalg.solve(A, np.vstack([y[used], np.zeros((1, y.shape[1]))]))
            out[i] = K[i, used] @ solved[:-1] + solved[-1]
        else:
            out[i] = K[i, used] @ np.linalg.solve(A, y[used])
    return out


@settings(deadline=None)
@given(
    seed=st.integers(0, 10_000), n=st.integers(2, 25), targets=st.integers(1, 3), intercept=st.booleans(),
    lam=st.sampled_from([1e-4, 1e-2, 1.0]), weighted=st.booleans(),
)  # fmt: skip
def test_rows_left_out_are_those_of_machines_without_them(seed, n, targets, intercept, lam, weighted):
    rng = np.random.default_rng(seed)
    K = Laplacian(gamma=0.5)(rng.normal(size=(n, 2)))
    y = rng.normal(size=(n, targets))
    weights = rng.integers(0, 4, n) * rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    if np.count_nonzero(weights) < 2:
        weights[:2] = 1.0
    found = exactly_left_out(lambda: K.copy(), y, lam, intercept, weights if weighted else None)
    np.testing.assert_allclose(found, refitted(K, y, lam, intercept, weights), atol=1e-8)


def test_many_rows_of_different_weight_are_as_exact(monkeypatch):
    rng = np.random.default_rng(0)
    K = Laplacian(gamma=0.5)(rng.normal(size=(300, 2)))
    y, weights = rng.normal(size=(300, 2)), rng.uniform(0, 3, 300)
    weights[7] = 0.0
    expected = exactly_left_out(lambda: K.copy(), y, 1e-3, True, weights)
    monkeypatch.setattr("mercer.metrics.leave_one_out.LARGEST_RIDGE", 10)
    np.testing.assert_allclose(exactly_left_out(lambda: K.copy(), y, 1e-3, True, weights), expected, atol=1e-8)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_gradients_are_finite_differences(name):
    rng = np.random.default_rng(0)
    family, rows, items = FAMILIES[name], rng.normal(size=(40, 3)), rng.normal(size=(600, 3))
    weights, z, gamma = np.array([1.0, 0.3, 2.0]), rng.normal(size=(600, 2)), 0.4

    def f(x):
        return family.values(family.distances(x * weights, items * weights), gamma) @ z

    K = family.values(family.distances(rows * weights, items * weights), gamma)
    found = family.gradients(rows, items, weights, gamma, K, z)
    for j in range(3):
        step = np.zeros(3)
        step[j] = 1e-6
        np.testing.assert_allclose(found[:, j], (f(rows + step) - f(rows - step)) / 2e-6, atol=1e-6)


def test_a_planted_column_has_the_weight():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    found = learned_metric(X, np.abs(X[:, [4]]))
    assert found.best.weights[4] == 1 > 5 * np.delete(found.best.weights, 4).max()
    assert found.best.error < 0.3 * found.plain.error


def test_weights_of_columns_are_part_of_a_kernel():
    X = np.random.default_rng(0).normal(size=(6, 3))
    weights = [2.0, 0.0, 0.5]
    for kernel in (Laplacian(gamma=0.3), Gaussian(gamma=0.3), Linear() + Gaussian(gamma=1.0)):
        scaled = kernel.scaled(weights)
        np.testing.assert_allclose(scaled(X), kernel(X * weights))
        assert parse(str(scaled)) == scaled
    with pytest.raises(ValueError, match="2 weights"):
        Laplacian(gamma=1.0).scaled([1.0, 2.0])(X)
    with pytest.raises(ValueError, match="at least 0"):
        Laplacian(gamma=1.0).scaled([1.0, -2.0, 1.0])(X)


def problem(seed, n=40, columns=4):
    rng = np.random.default_rng(seed)
    weights = np.r_[0.0, rng.uniform(0.2, 3, n - 1)]
    X, y = rng.normal(size=(n, columns)), rng.normal(size=(n, 2))
    return X, y, weights / weights.mean(), rng.normal(size=columns) / 3


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_slopes_of_the_leave_one_out_error_are_finite_differences(name, intercept, weighted):
    X, y, weights, start = problem(0)
    family, counted = FAMILIES[name], weights if weighted else None

    def error(logarithms, ridge=0.2):
        K = family.values(family.distances(X * np.exp(logarithms)), 0.4)
        return left_out(K, y, ridge, intercept, counted).error(y, counted)

    K = family.values(family.distances(X * np.exp(start)), 0.4)
    found, W, by_ridge = error_and_slopes(K.copy(), y, 0.2, intercept, counted)
    assert found == pytest.approx(error(start))
    expected = [(error(start + step) - error(start - step)) / 2e-5 for step in 1e-5 * np.eye(start.size)]
    np.testing.assert_allclose(family.slopes(X, np.exp(start), 0.4, W * K), expected, atol=1e-6)
    assert by_ridge == pytest.approx((error(start, 0.2 + 1e-5) - error(start, 0.2 - 1e-5)) / 2e-5, abs=1e-6)


@settings(deadline=None)
@given(
    seed=st.integers(0, 10_000), n=st.integers(4, 25), targets=st.integers(1, 3), intercept=st.booleans(),
    weighted=st.booleans(),
)  # fmt: skip
def test_groups_left_out_are_those_of_machines_without_them(seed, n, targets, intercept, weighted):
    rng = np.random.default_rng(seed)
    K, y = Laplacian(gamma=0.5)(rng.normal(size=(n, 2))), rng.normal(size=(n, targets))
    groups = rng.integers(0, 3, n)
    groups[:2] = 0, 1
    weights = rng.integers(0, 3, n) * 1.0 if weighted else np.ones(n)
    weights[:2] = 1.0
    found = groups_left_out(K.copy(), y, 0.3, groups, intercept, weights if weighted else None)
    for group in np.unique(groups):
        used = np.flatnonzero((groups != group) & (weights > 0))
        A = K[np.ix_(used, used)] + 0.3 * np.diag(1 / weights[used])
        right, near = y[used], K[np.ix_(groups == group, used)]
        if intercept:
            A = np.block([[A, np.ones((used.size, 1))], [np.ones((1, used.size)), np.zeros((1, 1))]])
            right, near = np.vstack([right, np.zeros((1, targets))]), np.column_stack([near, np.ones(len(near))])
        np.testing.assert_allclose(found.predictions[groups == group], near @ np.linalg.solve(A, right), atol=1e-8)
