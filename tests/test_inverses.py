"""The inverses that speed conjugate gradients up, and the basis they stand on, against dense linear algebra."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer.grams import Basis, Dense, Exact, Features, Lazy, Whole
from mercer.kernels import Gaussian

seeds = st.integers(0, 10**6)
quick = settings(deadline=None, max_examples=25)


def newton(Phi, lam, h, intercept):
    """λ + Σ hᵢ·φᵢφᵢᵀ with a free intercept as a last feature 1, as one dense matrix."""
    every = np.hstack([Phi, np.ones((len(Phi), int(intercept)))])
    return every.T @ (h[:, None] * every) + lam * np.diag([1.0] * Phi.shape[1] + [0.0] * intercept)


def curvatures(rng, n):
    """Some of them zero, as beyond a hinge's corner."""
    h = rng.uniform(0, 1, n) * (rng.random(n) < 0.7)
    h[0] = 1.0
    return h / n


@quick
@given(seeds, st.integers(1, 30), st.integers(1, 6), st.booleans(), st.booleans(), st.sampled_from([1e-4, 0.1]))
def test_few_coordinates(seed, n, width, intercept, thin, lam):
    rng = np.random.default_rng(seed)
    L, h = rng.normal(size=(n, width)) * (rng.random((n, width)) < 0.7), curvatures(rng, n)
    v, vb = rng.normal(size=width), rng.normal()
    rows = sparse.csr_array(L) if thin else L
    d, db = Exact(rows, lam, h, intercept)(v, np.float64(vb if intercept else 0.0))
    residual = newton(L, lam, h, intercept) @ np.append(d, [db] * intercept) - np.append(v, [vb] * intercept)
    np.testing.assert_allclose(residual, 0, atol=1e-8)


@quick
@given(seeds, st.integers(2, 25), st.booleans(), st.sampled_from([1e-3, 0.1]))
def test_the_whole_matrix(seed, n, intercept, lam):
    """v = Σ uᵢφᵢ comes as coefficients and scores, and so does the answer."""
    rng = np.random.default_rng(seed)
    Phi, h, u, vb = rng.normal(size=(n, n)), curvatures(rng, n), rng.normal(size=n), rng.normal()
    K = Phi @ Phi.T
    (z, scores), db = Whole(K, lam, h, intercept)(np.stack([u, K @ u]), np.float64(vb if intercept else 0.0))
    expected = np.linalg.solve(newton(Phi, lam, h, intercept), np.append(Phi.T @ u, [vb] * intercept))
    np.testing.assert_allclose(scores, K @ z, atol=1e-7 * np.abs(scores).max())
    np.testing.assert_allclose(scores, Phi @ expected[:n], rtol=1e-5, atol=1e-6 * np.abs(scores).max())
    assert db == pytest.approx(expected[-1] if intercept else 0.0, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("columns", [2, 4])
def test_columns_have_inverses_of_their_own(columns):
    rng = np.random.default_rng(0)
    L, h = rng.normal(size=(20, 3)), rng.uniform(0, 1, (20, columns)) / 20
    v, vb = rng.normal(size=(3, columns)), rng.normal(size=columns)
    d, db = Exact(L, 0.1, h, True)(v, vb)
    for c in range(columns):
        expected = np.linalg.solve(newton(L, 0.1, h[:, c], True), np.append(v[:, c], vb[c]))
        np.testing.assert_allclose(np.append(d[:, c], db[c]), expected, atol=1e-10)


# -- the basis ------------------------------------------------------------------------------------------------------


@quick
@given(seeds, st.integers(1, 60), st.integers(1, 8))
def test_a_basis_finds_the_rank_and_is_orthonormal(seed, n, rank):
    """With Q = pivots·weights: QᵀQ = 1, and coordinates are scores of Q."""
    rng = np.random.default_rng(seed)
    Phi = rng.normal(size=(n, rank))
    basis = Basis(Features(Phi))
    basis.deepen(0.0)
    Q = Phi[basis.pivots].T @ basis.weights
    assert Q.shape[1] == np.linalg.matrix_rank(Phi)
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-6)
    np.testing.assert_allclose(Phi @ Q, basis.coordinates, atol=1e-6)
    np.testing.assert_allclose(basis.coordinates @ basis.coordinates.T, Phi @ Phi.T, atol=1e-8 * n)


def test_what_is_missing_is_what_is_left_of_the_trace():
    X = np.random.default_rng(0).normal(size=(700, 3))
    K = Gaussian(gamma=0.1)(X)
    for gram in (Dense(K), Lazy(Gaussian(gamma=0.1), X)):
        basis = Basis(gram)
        widths = []
        for enough in (0.3, 0.03, 1e-4):
            basis.deepen(enough)
            L = basis.coordinates
            assert np.trace(K - L @ L.T) / 700 == pytest.approx(basis.missing, abs=1e-9)
            assert basis.missing <= enough
            np.testing.assert_allclose(K[:, basis.pivots] @ basis.weights, L, atol=1e-5)  # over several rounds
            widths.append(L.shape[1])
        assert widths == sorted(widths)
