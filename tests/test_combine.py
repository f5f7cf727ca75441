"""Sums of rows and moved pieces of matrices, against NumPy's own."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mercer.runtime import add_rows, fill_lower_triangle, gather, transpose_into

dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])
sizes = st.integers(1, 70)
seeds = st.integers(0, 10**6)
quick = settings(deadline=None, max_examples=40)


@dtypes
@quick
@given(sizes, st.integers(1, 150), st.integers(0, 40), seeds)
@example(3, 5000, 4, 0)  # several strips
@example(300, 2100, 300, 0)  # several threads
def test_rows_are_added_in_double_precision(dtype, rows, columns, count, seed):
    """Places may repeat; what stood there before stays in the sum."""
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(rows, columns)).astype(dtype)
    places, weights, out = rng.integers(0, rows, count), rng.normal(size=count), rng.normal(size=columns)
    many = np.zeros(rows)
    np.add.at(many, places, weights)
    expected = out + many @ K.astype(np.float64)
    add_rows(out, K, places, weights)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-14 * (1 + count) * 5)


def test_rows_of_a_part_of_a_matrix_and_weights_with_gaps():
    K, out = np.arange(48.0).reshape(6, 8), np.zeros(4)
    add_rows(out, K[::2, :4], np.array([2, 0]), np.array([1.0, 9.0, -1.0, 9.0])[::2])
    assert out.tolist() == (K[4, :4] - K[0, :4]).tolist()


def test_a_sum_in_single_precision_keeps_what_is_small():
    """Float32 alone would lose every 1 beside 1e8."""
    K, out = np.array([[1e8], [1.0]], np.float32), np.zeros(1)
    add_rows(out, K, np.array([0] + [1] * 7), np.ones(8))
    assert out.tolist() == [1e8 + 7]


def test_the_number_of_threads_changes_no_digit(monkeypatch):
    rng = np.random.default_rng(0)
    K, places, weights = rng.normal(size=(200, 5000)), rng.integers(0, 200, 111), rng.normal(size=111)
    sums = []
    for threads in ("1", "3"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        sums.append(np.zeros(5000))
        add_rows(sums[-1], K, places, weights)
    assert (sums[0] == sums[1]).all()


@dtypes
@quick
@given(sizes, sizes, st.integers(0, 40), st.integers(0, 40), seeds)
@example(200, 900, 600, 500, 0)  # several threads
def test_pieces_are_gathered(dtype, n, m, height, width, seed):
    """Places may repeat, and the target may be of another precision or a part of a larger matrix."""
    rng = np.random.default_rng(seed)
    K = rng.normal(size=(n, m)).astype(dtype)
    rows, columns = rng.integers(0, n, height), rng.integers(0, m, width)
    frame = np.full((height + 2, width + 2), -7.0, np.float32)
    gather(K, rows, columns, frame[1:-1, 1:-1])
    np.testing.assert_array_equal(frame[1:-1, 1:-1], K[np.ix_(rows, columns)].astype(np.float32))
    frame[1:-1, 1:-1] = -7.0
    assert (frame == -7.0).all()  # nothing beside the piece was written


@dtypes
@quick
@given(sizes, sizes)
@example(1, 1000)
@example(700, 300)  # several threads, no whole number of squares
def test_turned(dtype, n, m):
    source = np.arange(n * m, dtype=dtype).reshape(n, m)
    target = np.empty((m, n), dtype)
    transpose_into(source, target)
    np.testing.assert_array_equal(target, source.T)


def test_turned_inside_one_matrix():
    """The lower left corner becomes what the upper right one is, as solvers use it."""
    whole = np.zeros((50, 50))
    whole[:20, 20:] = np.arange(600.0).reshape(20, 30)
    transpose_into(whole[:20, 20:], whole[20:, :20])
    assert (whole == whole.T).all()


@given(st.integers(0, 40))
def test_mirrored(n):
    square = np.arange(float(n * n)).reshape(n, n)
    above = np.triu(square)
    fill_lower_triangle(square)
    np.testing.assert_array_equal(square, above + np.triu(above, 1).T)
