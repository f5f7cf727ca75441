"""Free coefficients by one linear system: never worse, always allowed, and the end where the bounds allow it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.grams import Dense
from mercer.losses import Hinge
from mercer.problems import Problem
from mercer.solvers import SoftMargin
from mercer.solvers.svm import LARGEST_LEAP, newton_on_free, polish

seeds = st.integers(0, 10**6)


def inside(seed, n, room):
    """A positive matrix, targets and a point strictly inside boxes, with Σz = 0."""
    rng = np.random.default_rng(seed)
    Phi, z = rng.normal(size=(n, n + 2)), rng.uniform(-0.4, 0.4, n) * room
    z -= z.mean()
    low, high = z - room * rng.uniform(0.1, 1, n), z + room * rng.uniform(0.1, 1, n)
    return Phi @ Phi.T, rng.normal(size=n), z, low, high


@settings(deadline=None, max_examples=40)
@given(seeds, st.integers(2, 25), st.sampled_from([0.05, 1.0, 1e6]), st.sampled_from([np.float32, np.float64]))
def test_a_leap_gains_and_stays_allowed(seed, n, room, dtype):
    K, targets, z, low, high = inside(seed, n, room)
    K = K.astype(dtype)
    exact, before = K.astype(np.float64), z.copy()
    F = targets - exact @ z
    old = F.copy()
    if not newton_on_free(K, F, z, low, high):
        assert (z == before).all()
        assert (old == F).all()
        return
    size = np.abs(z).max()
    assert ((low <= z) & (z <= high)).all()
    assert z.sum() == pytest.approx(0.0, abs=1e-8 * n * size)
    np.testing.assert_allclose(F, targets - exact @ z, atol=1e-8 * (1 + np.abs(K).max() * size * n))
    assert 0.5 * z @ exact @ z - targets @ z <= 0.5 * before @ exact @ before - targets @ before


@settings(deadline=None, max_examples=30)
@given(seeds, st.integers(2, 25))
def test_with_room_it_ends_where_the_bordered_system_says(seed, n):
    """K·z + b = t and Σz = 0, solved as one system of n + 1 equations."""
    K, targets, z, _, _ = inside(seed, n, 1.0)
    bordered = np.block([[K, np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    expected = np.linalg.solve(bordered, np.append(targets, 0.0))[:n]
    room = 10 * (np.abs(expected) + np.abs(z)) + 1
    F = targets - K @ z
    assert newton_on_free(K, F, z, -room, room, ridge=0.0)
    np.testing.assert_allclose(z, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    assert np.ptp(F) < 1e-7 * (1 + np.abs(F).max())  # all free items have the same F


def test_coefficients_at_a_bound_do_not_move():
    """Only the third and fourth are free, and the best for those two is to share their F."""
    z = np.array([0.0, 1.0, 0.2, -1.2])
    low, high, F = np.array([0.0, 0.0, 0.0, -2.0]), np.array([1.0, 1.0, 1.0, 0.0]), np.array([9.0, 9.0, 1.0, 0.0])
    assert newton_on_free(np.eye(4), F, z, low, high)
    np.testing.assert_allclose(z, [0.0, 1.0, 0.7, -1.7], atol=1e-6)
    np.testing.assert_allclose(F, [9.0, 9.0, 0.5, 0.5], atol=1e-6)


def test_a_leap_that_would_leave_the_box_ends_on_it():
    """Without bounds z would be (3, −1, −1, −1); the first may only reach 1, and the others balance that."""
    z, F = np.zeros(4), np.array([4.0, 0.0, 0.0, 0.0])
    assert newton_on_free(np.eye(4), F, z, np.full(4, -5.0), np.array([1.0, 5.0, 5.0, 5.0]))
    np.testing.assert_allclose(z, [1, -1 / 3, -1 / 3, -1 / 3], atol=1e-6)


@pytest.mark.parametrize("free", [0, 1, LARGEST_LEAP + 1])
def test_nothing_to_leap_for(free):
    n = LARGEST_LEAP + 1
    z = np.zeros(n)
    high = np.where(np.arange(n) < free, 1.0, 0.0)
    assert not newton_on_free(np.eye(n), np.ones(n), z, -high, high)
    assert not z.any()


# -- the last digits of a solution ----------------------------------------------------------------------------------


def soft_margin(seed, n=60, C=10.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    K = np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))
    return K, Problem(Dense(K), y, Hinge(), 1 / (C * n), intercept="free")


@pytest.mark.parametrize("seed", range(4))
def test_a_polished_solution_is_exact(seed):
    """From a violation of a thousandth to one of rounding; scores stay those of the coefficients."""
    K, problem = soft_margin(seed)
    rough = SoftMargin(tol=1e-3).solve(problem).z
    z, scores = polish(problem.box_dual, problem.gram, rough, K @ rough)
    assert (np.abs(z) <= 10).all()
    assert (z * problem.y >= 0).all()
    assert abs(z.sum()) < 1e-12
    np.testing.assert_allclose(scores, K @ z, atol=1e-10)
    before, after = (problem.box_dual.violation(each, K @ each) for each in (rough, z))
    assert after <= max(1e-9, 1e-3 * before)


def test_where_nothing_is_free_there_is_nothing_to_polish():
    K, problem = soft_margin(0, C=1e-3)
    z = np.where(problem.y > 0, problem.box_dual.high, 0.0)
    assert polish(problem.box_dual, problem.gram, z, K @ z) is None
