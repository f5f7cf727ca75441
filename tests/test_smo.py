"""The inner solver of the exact SVM: its answers are optimal, its points are allowed, its gradient is true."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import optimize

from mercer.solvers.svm import Workspace, gap_of, smo

seeds = st.integers(0, 10**6)


def dual(seed, n, rank, C, equal=0, narrow=0.0):
    """A random soft margin: K of rank ``rank`` in float32, labels as targets, boxes of different widths."""
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, rank))
    Phi[:equal] = Phi[0]
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    y[:2] = 1.0, -1.0
    width = C * rng.uniform(0.5, 2, n) * (rng.random(n) >= narrow)
    return (Phi @ Phi.T).astype(np.float32), y, np.where(y > 0, 0.0, -width), np.where(y > 0, width, 0.0)


def solved(K, targets, low, high, tolerance=1e-4, rounds=10_000, start=None, **limits):
    """z and F where the solver has left them."""
    z = np.zeros(targets.size) if start is None else start.copy()
    F = targets - K.astype(np.float64) @ z
    steps, _ = Workspace().solve(K, F, z, low, high, tolerance, rounds, np.empty(0, np.int64), **limits)
    return z, F, steps


def assert_allowed(z, F, K, targets, low, high):
    """Inside the box, Σz = 0, and F is what it says it is."""
    assert ((low <= z) & (z <= high)).all()
    size = np.abs(z).sum()
    assert abs(z.sum()) <= 1e-9 * (1 + size)  # pairwise steps keep it to the last digit, linear systems do not
    np.testing.assert_allclose(F, targets - K.astype(np.float64) @ z, atol=1e-10 * (1 + size * np.abs(K).max()))


def violation(K, z, targets, low, high):
    """The worst pair, by the definition of optimality: moving along it gains to first order."""
    F = targets - K.astype(np.float64) @ z
    return max((F[i] - F[j] for i in np.flatnonzero(z < high) for j in np.flatnonzero(z > low)), default=-np.inf)


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(2, 30), st.integers(1, 12), st.sampled_from([0.01, 1.0, 10.0]), st.integers(0, 9))
def test_optimality_conditions_hold(seed, n, rank, C, equal):
    K, y, low, high = dual(seed, n, rank, C, equal)
    z, F, _ = solved(K, y, low, high)
    assert_allowed(z, F, K, y, low, high)
    # Single precision inside limits what can be reached where coefficients are large.
    reach = 1e-4 + 3e-6 * np.abs(z).sum() * K.max()
    assert violation(K, z, y, low, high) <= reach


@settings(deadline=None, max_examples=15)
@given(seeds, st.integers(2, 8), st.integers(1, 8), st.sampled_from([0.3, 3.0]))
def test_the_minimum_is_that_of_a_general_solver(seed, n, rank, C):
    K, y, low, high = dual(seed, n, rank, C)
    z, _, _ = solved(K, y, low, high, 1e-5)
    exact = K.astype(np.float64)

    def value(z):
        return 0.5 * z @ exact @ z - y @ z

    other = optimize.minimize(
        value, np.zeros(n), jac=lambda z: exact @ z - y, method="SLSQP", bounds=list(zip(low, high)),
        constraints={"type": "eq", "fun": np.sum, "jac": np.ones_like}, options={"ftol": 1e-12, "maxiter": 500},
    )  # fmt: skip
    assert other.success
    assert value(z) == pytest.approx(other.fun, rel=1e-4, abs=1e-4)


def test_two_points_have_a_known_answer():
    """x = ±2 on a line: ‖2z·2‖ = ½, so z = ⅛; a box smaller than that is filled."""
    K, y = np.array([[4, -4], [-4, 4]], np.float32), np.array([1.0, -1.0])
    for box, expected in ((9.0, 0.125), (0.1, 0.1)):
        z, F, _ = solved(K, y, np.array([0.0, -box]), np.array([box, 0.0]))
        np.testing.assert_allclose(z, [expected, -expected], rtol=1e-6)
        np.testing.assert_allclose(F, [1 - 8 * expected, 8 * expected - 1], atol=1e-6)


def test_no_box_at_all():
    """A hard margin: bounds are infinite, and the margin of the nearest points is one."""
    X = np.array([[3.0, 1.0], [4.0, 2.0], [0.0, 0.0], [-1.0, 1.0]])
    K, y = (X @ X.T).astype(np.float32), np.array([1.0, 1.0, -1.0, -1.0])
    endless = np.full(4, np.inf)
    z, F, _ = solved(K, y, np.where(y > 0, 0.0, -endless), np.where(y > 0, endless, 0.0), 1e-6)
    w = X.T @ z
    # The closest points are (3, 1) and (0, 0): the widest gap is their distance.
    np.testing.assert_allclose(w, 2 * np.array([3.0, 1.0]) / 10, rtol=1e-5)
    assert np.isfinite(F).all()


def test_boxes_of_no_width_stay_where_they_are():
    K, y, low, high = dual(3, 30, 5, 10.0, narrow=0.5)
    z, _, _ = solved(K, y, low, high)
    assert not z[high == low].any()
    assert violation(K, z, y, low, high) <= 1e-3
    nothing = np.zeros(30)
    z, _, steps = solved(K, y, nothing, nothing)
    assert (steps, z.any()) == (0, False)


def test_equal_items_with_opposite_labels_pay_both():
    """Nothing tells them apart: F stays 1 and −1 whatever z is, and the whole box is used."""
    K, y = np.ones((4, 4), np.float32), np.array([1.0, 1.0, -1.0, -1.0])
    low, high = np.where(y > 0, 0.0, -2.0), np.where(y > 0, 2.0, 0.0)
    z, F, _ = solved(K, y, low, high)
    assert z.tolist() == [2.0, 2.0, -2.0, -2.0]
    assert F.tolist() == y.tolist()


@settings(deadline=None, max_examples=20)
@given(seeds)
def test_going_on_from_any_allowed_point(seed):
    """A start is kept where it is optimal, and made better where it is not."""
    K, y, low, high = dual(seed, 20, 6, 1.0)
    z, _, _ = solved(K, y, low, high, 1e-5)
    again, _, steps = solved(K, y, low, high, 1e-4, start=z)
    assert steps == 0
    assert (again == z).all()
    other, F, _ = solved(K, y, low, high, 1e-5, start=0.3 * z)
    assert_allowed(other, F, K, y, low, high)
    assert violation(K, other, y, low, high) <= 1e-3


def test_limits_are_kept_and_leave_an_allowed_point():
    K, y, low, high = dual(1, 60, 10, 100.0)
    before = violation(K, np.zeros(60), y, low, high)
    for limits in ({"steps": 7}, {"deadline": 0.0}, {"rounds": 0}):
        z, F, steps = solved(K, y, low, high, **limits)
        assert steps <= limits.get("steps", 0)
        assert_allowed(z, F, K, y, low, high)
    z, F, steps = solved(K, y, low, high, steps=7)
    assert 0.5 * z @ K @ z - y @ z < 0  # seven steps are better than none
    assert before == 2.0


def test_a_block_that_is_larger_than_a_working_set(monkeypatch):
    """Working sets of 16 out of 120 items lead to the same minimum as one of them all."""
    K, y, low, high = dual(5, 120, 7, 1.0)
    whole, _, _ = solved(K, y, low, high, 1e-5)
    monkeypatch.setattr(smo, "WORKING_SET", 16)
    parts, F, _ = solved(K, y, low, high, 1e-4)
    assert_allowed(parts, F, K, y, low, high)
    assert violation(K, parts, y, low, high) <= 1e-3
    minima = [0.5 * z @ K.astype(float) @ z - y @ z for z in (whole, parts)]
    assert minima[0] == pytest.approx(minima[1], rel=1e-4)


@example(0)
@settings(deadline=None, max_examples=25)
@given(seeds)
def test_the_gap_is_the_worst_pair(seed):
    rng = np.random.default_rng(seed)
    low, high = -rng.integers(0, 2, 9), rng.integers(0, 2, 9)
    z = np.clip(rng.integers(-1, 2, 9), low, high).astype(float)
    F = rng.normal(size=9)
    grow, shrink = gap_of(F, z, low.astype(float), high.astype(float))
    assert grow == max((f for f, a, top in zip(F, z, high) if a < top), default=-np.inf)
    assert shrink == min((f for f, a, bottom in zip(F, z, low) if a > bottom), default=np.inf)


def test_a_bench_serves_problem_after_problem():
    bench = Workspace()
    for seed in range(4):
        K, y, low, high = dual(seed, 25, 5, 1.0)
        z, F = np.zeros(25), y.copy()
        bench.solve(K, F, z, low, high, 1e-4, 1000, np.empty(0, np.int64))
        alone, _, _ = solved(K, y, low, high)
        assert (z == alone).all()
    first, second = bench.square(7), bench.square(7)
    first[:], second[:] = 1.0, 2.0
    assert first.sum() == 49  # two blocks at a time
