"""Blocks within blocks: gaps are closed, points are allowed, F is true, and what may not move stays."""

import numpy as np
import pytest
from sklearn.svm import SVC as ScikitSVC

from mercer.solvers.svm import NestedBlocks, Workspace, gap_of


def soft_margin(n, gamma, C, seed=0, held_out=0):
    """A Gaussian soft margin with noisy labels; the last items are held out: their bounds are zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    K = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2)).astype(np.float32)
    width = np.where(np.arange(n) < n - held_out, C, 0.0)
    return K, y, np.where(y > 0, 0.0, -width), np.where(y > 0, width, 0.0)


def solved(K, y, low, high, tolerance, **limits):
    F, z = y.copy(), np.zeros(y.size)
    steps = NestedBlocks(Workspace(), **limits).solve(K, F, z, low, high, tolerance)
    return F, z, steps


@pytest.mark.parametrize(("gamma", "C"), [(0.05, 0.1), (0.05, 100.0), (1.0, 10.0), (20.0, 10.0)])
def test_the_gap_is_closed_and_the_answer_is_libsvms(gamma, C):
    n, held_out = 1500, 300
    K, y, low, high = soft_margin(n, gamma, C, held_out=held_out)
    F, z, _ = solved(K, y, low, high, 1e-3)
    grow, shrink = gap_of(F, z, low, high)
    assert grow - shrink <= 1e-3
    assert ((low <= z) & (z <= high)).all()
    assert not z[-held_out:].any()
    assert abs(z.sum()) <= 1e-8 * (1 + np.abs(z).sum())
    np.testing.assert_allclose(F, y - K.astype(np.float64) @ z, atol=1e-7 * (1 + np.abs(z).sum()))
    train = slice(n - held_out)
    theirs = ScikitSVC(C=C, kernel="precomputed", tol=1e-5).fit(K[train, train].astype(np.float64), y[train])
    scores = (y - F) + 0.5 * (grow + shrink)
    np.testing.assert_allclose(scores[train], theirs.decision_function(K[train, train].astype(np.float64)), atol=2e-2)


def test_it_stops_after_the_steps_that_are_allowed():
    K, y, low, high = soft_margin(900, 1.0, 100.0)
    F, z, steps = solved(K, y, low, high, 1e-3, steps=50)
    assert 0 < steps <= 50
    np.testing.assert_allclose(F, y - K.astype(np.float64) @ z, atol=1e-9 * (1 + np.abs(z).sum()))


def test_it_stops_where_coefficients_grow_without_end():
    K, y, low, high = soft_margin(700, 0.05, np.inf)
    low, high = np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)
    _, z, _ = solved(K, y, low, high, 1e-3, endless=1e3)
    assert np.abs(z).max() > 1e3
