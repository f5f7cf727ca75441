"""Products of rows in strips: those of plain matrix products, and each one the same whatever stands beside it."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mercer.kernels.engine import Strips, ThinRows, in_one_order, is_thin, near_origin

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def rows(rng, n, width, dtype):
    return rng.normal(size=(n, width)).astype(dtype)


@dtypes
@settings(deadline=None, max_examples=30)
@given(st.integers(0, 20), st.integers(1, 40), st.integers(0, 20), st.integers(0, 10**6))
@example(5, 257, 7, 0)
@example(3, 600, 1, 0)
def test_products_are_those_of_matrices(dtype, n, m, width, seed):
    rng = np.random.default_rng(seed)
    A, B = rows(rng, n, width, dtype), rows(rng, m, width, dtype)
    strips, rounding = Strips(B), (1 + width) * np.finfo(dtype).eps * 20
    exact = A.astype(np.float64) @ B.T.astype(np.float64)
    np.testing.assert_allclose(strips.product(A, slice(0, m)), exact, atol=rounding)
    places = rng.integers(0, m, 30)
    np.testing.assert_allclose(strips.product(A, places), exact[:, places], atol=rounding)
    np.testing.assert_allclose(strips.product(A, slice(m // 2, m)), exact[:, m // 2 :], atol=rounding)
    np.testing.assert_array_equal(strips[places], B[places])
    np.testing.assert_allclose(strips.squared_norms, (B.astype(np.float64) ** 2).sum(axis=1), rtol=1e-6, atol=1e-30)


@dtypes
def test_each_product_is_the_same_to_the_last_bit_alone_and_in_company(dtype):
    """One row or many, these columns or those: the sum runs in one order."""
    rng = np.random.default_rng(0)
    A, B = rows(rng, 37, 23, dtype), rows(rng, 700, 23, dtype)
    whole = Strips(B).product(A, slice(0, 700))
    for i in (0, 3, 36):
        assert (Strips(B).product(A[i : i + 1], slice(0, 700)) == whole[i]).all()
    places = rng.permutation(700)[:300]
    assert (Strips(B).product(A[::3], places) == whole[::3, places]).all()
    assert (Strips(B[places]).product(A, slice(0, 300)) == whole[:, places]).all()
    assert (Strips(B).product(np.asfortranarray(A), slice(256, 700)) == whole[:, 256:]).all()


def test_a_centre_is_taken_off_both_sides():
    """Far from the origin, float32 keeps what rows differ in only if it is."""
    rng = np.random.default_rng(0)
    A, B = rows(rng, 9, 3, np.float64), rows(rng, 11, 3, np.float64)
    centre = np.array([1e4, -1e4, 0.0])
    left, right = in_one_order((A + centre).astype(np.float32), B + centre, centre)
    assert left.dtype == right.values.dtype == np.float64
    np.testing.assert_allclose(right.product(left, slice(0, 11)), A @ B.T, atol=2e-2)  # of rounding A to float32
    left, right = in_one_order(A + centre, B + centre, centre)
    np.testing.assert_allclose(right.product(left, slice(0, 11)), A @ B.T, atol=1e-10)


def test_thin_rows_keep_strips_apart():
    """Other places are other strips, also where one array is freed and another takes its address."""
    A = np.eye(60) * np.arange(1.0, 61.0)
    thin = ThinRows.of(A)
    for shift in range(50):
        places = (np.arange(5) + shift) % 60
        np.testing.assert_array_equal(thin.product(places.copy(), thin, places), A[places] @ A[places].T)


@pytest.mark.parametrize(
    ("share", "width", "thin"), [(0.05, 100, True), (0.5, 100, False), (0.0, 10, False), (0.0, 3000, False)]
)
def test_who_is_thin(share, width, thin):
    rng = np.random.default_rng(0)
    A = (rng.random((200, width)) < share) * 1.0
    assert is_thin(A) == thin


def test_who_lies_near_the_origin():
    spread = np.random.default_rng(0).normal(size=(200, 3))
    assert near_origin(spread)
    assert not near_origin(spread + 10)
