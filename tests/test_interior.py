"""The interior point method: optimality conditions and a general solver confirm what it finds."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import optimize

from mercer.solvers import FeatureCurvature, MatrixCurvature, interior_point

seeds = st.integers(0, 10**6)


def program(seed, n, rank, rows, kind):
    """½·zᵀΦΦᵀz − tᵀz over a box that holds a point with A·z = c."""
    rng = np.random.default_rng(seed)
    Phi, t = rng.normal(size=(n, rank)) / np.sqrt(rank), rng.normal(size=n)
    low, high = -rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n)
    if kind == "above zero":
        low, high = np.zeros(n), np.full(n, np.inf)
    elif kind == "mixed":
        low[::3], high[1::3] = -np.inf, np.inf
    A = rng.normal(size=(rows, n))
    middle = np.clip(rng.normal(size=n), np.maximum(low, -1), np.minimum(high, 1))
    return Phi, t, A, A @ middle, low, high


def assert_optimal(K, found, t, A, c, low, high, tolerance):
    """Allowed, and with g = Kz − t + Aᵀβ no coefficient may move downhill: g = 0 inside, ≥ 0 at the lower bound."""
    z = found.z
    assert ((low <= z) & (z <= high)).all()
    np.testing.assert_allclose(A @ z, c, atol=tolerance)
    g = K @ z - t + A.T @ found.multipliers
    np.testing.assert_allclose(np.minimum(np.maximum(g, 0), z - low), 0, atol=tolerance)
    np.testing.assert_allclose(np.minimum(np.maximum(-g, 0), high - z), 0, atol=tolerance)


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(1, 15), st.integers(1, 15), st.integers(0, 2), st.sampled_from(["box", "mixed"]))
@example(412, 7, 1, 0, "mixed")  # seven steps that lead nowhere, and then it does
def test_optimality_conditions_hold(seed, n, rank, rows, kind):
    Phi, t, A, c, low, high = program(seed, n, rank, min(rows, n), kind)
    K = Phi @ Phi.T + 1e-3 * np.eye(n)
    found = interior_point(MatrixCurvature(K), t, A, c, low, high)
    assert_optimal(K, found, t, A, c, low, high, 1e-6 * max(1.0, np.abs(found.z).max()))


@settings(deadline=None, max_examples=10)
@given(seeds, st.integers(2, 7), st.sampled_from(["box", "above zero"]))
def test_the_minimum_is_that_of_a_general_solver(seed, n, kind):
    Phi, t, A, c, low, high = program(seed, n, n, 1, kind)
    K = Phi @ Phi.T + 0.1 * np.eye(n)

    def value(z):
        return 0.5 * z @ K @ z - t @ z

    start = np.clip(np.linalg.lstsq(A, c)[0], low, high)
    other = optimize.minimize(
        value, start, jac=lambda z: K @ z - t, method="SLSQP", bounds=list(zip(low, high)),
        constraints={"type": "eq", "fun": lambda z: A @ z - c, "jac": lambda z: A},
        options={"ftol": 1e-13, "maxiter": 500},
    )  # fmt: skip
    assume(other.success)
    found = interior_point(MatrixCurvature(K), t, A, c, low, high)
    assert value(found.z) == pytest.approx(other.fun, rel=1e-6, abs=1e-7)


@settings(deadline=None, max_examples=20)
@given(seeds, st.integers(3, 20), st.integers(1, 3), st.booleans())
def test_features_and_their_matrix_lead_to_the_same_point(seed, n, rank, balance):
    """K = ΦΦᵀ + 0.1, known by its matrix or by its features; the vector that comes along is Φᵀz."""
    Phi, t, A, c, low, high = program(seed, n, rank, int(balance), "box")
    by_matrix = interior_point(MatrixCurvature(Phi @ Phi.T), t, A, c, low, high, extra=0.1)
    by_features = interior_point(FeatureCurvature(Phi), t, A, c, low, high, extra=0.1)
    np.testing.assert_allclose(by_features.z, by_matrix.z, atol=1e-6)
    np.testing.assert_allclose(by_features.vector, Phi.T @ by_features.z, atol=1e-7)
    assert_optimal(Phi @ Phi.T + 0.1 * np.eye(n), by_features, t, A, c, low, high, 1e-6)


def test_bounds_that_hold_are_named():
    """Without bounds z = t; those of the first and the last are met."""
    t, bound = np.array([2.0, 0.3, -2.0]), np.ones(3)
    found = interior_point(MatrixCurvature(np.eye(3)), t, np.empty((0, 3)), np.empty(0), -bound, bound)
    assert found.at_high.tolist() == [True, False, False]
    assert found.at_low.tolist() == [False, False, True]
    np.testing.assert_allclose(found.z, [1.0, 0.3, -1.0], atol=1e-8)


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_bad_scaling_does_not_block_the_road(unit):
    """Columns of very different units: pairwise steps would take as many visits as the squared ratio."""
    rng = np.random.default_rng(0)
    Phi = rng.normal(size=(20, 2)) * [1.0, unit]
    length = np.sqrt((Phi**2).sum(axis=1).max())
    y = np.where(rng.random(20) < 0.5, 1.0, -1.0)
    Phi, box = Phi / length, 10.0
    low, high = np.where(y > 0, 0, -box), np.where(y > 0, box, 0)
    found = interior_point(FeatureCurvature(Phi), y, np.ones((1, 20)), np.zeros(1), low, high)
    assert found.steps < 60
    assert_optimal(Phi @ Phi.T, found, y, np.ones((1, 20)), np.zeros(1), low, high, 1e-6)


def test_a_deadline_that_has_passed_gives_a_point_inside_the_bounds():
    found = interior_point(
        MatrixCurvature(np.eye(2)), np.ones(2), np.ones((1, 2)), np.zeros(1), -np.ones(2), np.ones(2), deadline=0.0
    )
    assert found.steps == 0
    assert (np.abs(found.z) < 1).all()
