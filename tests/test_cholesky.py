"""Cholesky's factorisation of matrices that are hardly positive, against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from mercer.runtime import cholesky_solver


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 20), st.integers(0, 8), st.integers(1, 3), st.floats(1e-3, 1e3), st.integers(0, 10**6))
def test_solutions_are_those_of_the_whole_matrix(n, rank, columns, ridge, seed):
    rng = np.random.default_rng(seed)
    Phi, diagonal, right = rng.normal(size=(n, rank)), ridge * rng.uniform(1, 2, n), rng.normal(size=(n, columns))
    K = Phi @ Phi.T
    before = K.copy()
    found = cholesky_solver(K, diagonal)(right)
    np.testing.assert_allclose(found, np.linalg.solve(K + np.diag(diagonal), right), rtol=1e-7, atol=1e-9 / ridge)
    np.testing.assert_array_equal(K, before)


def test_units_do_not_matter():
    """Scaling items by powers of two scales the solution, to the last digit."""
    rng = np.random.default_rng(0)
    Phi, units = rng.normal(size=(6, 6)), 2.0 ** rng.integers(-200, 200, 6)
    K, diagonal, right = Phi @ Phi.T, rng.uniform(1, 2, 6), rng.normal(size=(6, 1))
    plain = cholesky_solver(K, diagonal)(right)
    scaled = cholesky_solver(K * units[:, None] * units, diagonal * units**2)(units[:, None] * right)
    np.testing.assert_allclose(scaled * units[:, None], plain, rtol=1e-15)


@pytest.mark.parametrize("n", [2, 30])
def test_equal_items_are_solved_by_a_hair(n):
    """K of equal items is singular; what is solved is a system that no rounding tells from it."""
    K, right = np.ones((n, n)), np.ones((n, 1))
    found = cholesky_solver(K, np.zeros(n))(right)
    np.testing.assert_allclose(K @ found, right, rtol=1e-5)


def test_a_matrix_that_rounding_made_slightly_negative():
    K = np.ones((3, 3)) - 1e-12 * (1 - np.eye(3)) + 3e-12 * np.eye(3)[::-1]
    assert np.linalg.eigvalsh(K).min() < 0
    assert np.isfinite(cholesky_solver(K, np.zeros(3))(np.ones((3, 2)))).all()


def test_what_is_not_positive_is_refused():
    with pytest.raises(linalg.LinAlgError, match="not positive definite"):
        cholesky_solver(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2))
