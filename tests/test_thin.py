"""Rows that are mostly zeros."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mercer import SVC
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.kernels.engine import ThinRows, is_thin, near_origin

rng = np.random.default_rng(0)


def one_hot(n, blocks=12, size=10, dtype=np.float64):
    out = np.zeros((n, blocks * size), dtype)
    out[np.arange(n)[:, None], size * np.arange(blocks) + rng.integers(0, size, (n, blocks))] = 1
    return out


@settings(deadline=None)
@given(st.integers(1, 40), st.integers(1, 1100), st.integers(1, 30), st.floats(0, 0.6), st.integers(0, 10**6))
def test_products_are_those_of_dense_rows(n, m, width, density, seed):
    random = np.random.default_rng(seed)
    A, B = (random.normal(size=(k, width)) * (random.random((k, width)) < density) for k in (n, m))
    i, j = random.integers(0, n, 5), random.integers(0, m, 600)
    for left, right in ((A, B), (sparse.csr_array(A), sparse.csr_array(B))):
        thin, other = ThinRows.of(left), ThinRows.of(right)
        np.testing.assert_allclose(thin.product(slice(0, n), other, slice(0, m)), A @ B.T, atol=1e-12)
        np.testing.assert_allclose(thin.product(i, other, j), A[i] @ B[j].T, atol=1e-12)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.1), Polynomial(degree=2), Linear()], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_do_not_notice(kernel, dtype):
    A, B = one_hot(300, dtype=dtype), one_hot(70, dtype=dtype)
    assert is_thin(A)
    assert near_origin(A)
    pairs = ((x, z) for x in A for z in B)
    values = {"gaussian": lambda x, z: np.exp(-0.1 * ((x - z) ** 2).sum()), "linear": lambda x, z: x @ z}
    value = values.get(str(kernel).partition("(")[0], lambda x, z: (1 + x @ z) ** 2)
    expected = np.array([value(x.astype(float), z.astype(float)) for x, z in pairs]).reshape(300, 70)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(kernel(A, B), expected, rtol=tolerance)
    np.testing.assert_allclose(kernel(sparse.csr_array(A), sparse.csr_array(B)), expected, rtol=tolerance)
    K = kernel(A)
    assert (K == K.T).all()


def test_rows_far_from_the_origin_keep_their_digits():
    """Mostly zeros, but the same large number in one column: moving the rows is worth more than skipping zeros."""
    A = one_hot(200, dtype=np.float32)
    far = np.hstack([A, np.full((200, 1), 1e4, np.float32)])
    assert is_thin(far)
    assert not near_origin(far)
    np.testing.assert_allclose(Gaussian(gamma=0.1)(far), Gaussian(gamma=0.1)(A), rtol=1e-5)


def test_a_machine_on_thin_rows_is_the_machine_on_dense_rows():
    X = one_hot(400)
    y = (X[:, 0] + X[:, 9] + X[:, 20] + 0.3 * rng.normal(size=400) > 0.2).astype(int)
    thin = SVC(Gaussian(gamma=0.1), C=2, tol=1e-6).fit(X, y)
    # Moved rows have the same distances and no zeros.
    dense = SVC(Gaussian(gamma=0.1), C=2, tol=1e-6).fit(X - 0.1, y)
    np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X - 0.1), atol=1e-4)
    assert thin.kkt_violation_[0] <= 1e-6
