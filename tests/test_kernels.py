import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone

from mercer.kernels import (
    After,
    Cosine,
    Function,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Normalised,
    Polynomial,
    Precomputed,
    Quadratic,
    RankOne,
    as_kernel,
    parse,
)
from mercer.kernels.engine import SQUARED_DISTANCE

from . import naive
from .cases import KERNELS, halves, row_sums

X = np.random.RandomState(0).uniform(-2, 2, (17, 3))
Z = np.random.RandomState(1).uniform(-2, 2, (9, 3))
names = [str(kernel) for kernel in KERNELS]


@pytest.mark.parametrize("kernel", KERNELS, ids=names)
class TestEveryKernel:
    def test_is_its_definition(self, kernel):
        expected = [[naive.value(kernel, x, z) for z in Z] for x in X]
        np.testing.assert_allclose(kernel(X, Z), expected, rtol=1e-9, atol=1e-12)

    def test_contracts(self, kernel):
        K = kernel(X)
        assert np.array_equal(K, K.T)
        np.testing.assert_allclose(np.diag(K), kernel.diag(X), rtol=1e-12)
        if kernel.always_psd:
            assert np.linalg.eigvalsh(K).min() >= -1e-10 * np.abs(K).max()
        order = np.random.RandomState(2).permutation(len(X))
        np.testing.assert_allclose(kernel(X[order]), K[np.ix_(order, order)], rtol=1e-10, atol=1e-13)

    def test_is_pure(self, kernel):
        before, copy = X.copy(), clone(kernel)
        first = kernel(X, Z)
        assert np.array_equal(first, kernel(X, Z))
        assert np.array_equal(X, before)
        assert copy == kernel

    def test_is_its_text(self, kernel):
        if "<" not in str(kernel):
            assert parse(str(kernel)) == kernel

    def test_features_are_its_features(self, kernel):
        features = kernel.features(X)
        if features is not None:
            np.testing.assert_allclose(features @ kernel.features(Z).T, kernel(X, Z), rtol=1e-9, atol=1e-11)

    @pytest.mark.parametrize("offset", [0, 30, 1e4])
    def test_numbers_of_any_type_are_taken_as_they_are(self, kernel, offset):
        for dtype in (np.float32, np.float16, ">f4", np.int16):
            left, right = (offset + X).astype(dtype), (offset + Z).astype(dtype)
            np.testing.assert_array_equal(kernel(left, right), kernel(left.astype(float), right.astype(float)))

    def test_sparse_rows(self, kernel):
        gappy = np.where(np.abs(X) < 1, 0.0, X)
        for left in (sparse.csr_array(gappy), sparse.csr_matrix(gappy)):
            np.testing.assert_allclose(kernel(left, left), kernel(gappy), rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(kernel(left), kernel(gappy), rtol=1e-9, atol=1e-11)

    def test_several_tiles_agree_with_one(self, kernel):
        many = np.tile(X, (70, 1))[:1100]
        np.testing.assert_allclose(kernel(many)[:17, -17:], kernel(many[:17], many[-17:]), rtol=1e-9, atol=1e-12)

    def test_nested_parameters(self, kernel):
        for name, value in kernel.get_params(deep=True).items():
            changed = clone(kernel)
            if isinstance(value, float):
                assert changed.set_params(**{name: value * 2}).get_params()[name] == value * 2
        assert clone(kernel) == kernel


def test_two_maps_in_one_expression_do_not_mix():
    a, b = Quadratic(np.diag([1.0, 2.0, 3.0])), Quadratic(np.diag([5.0, 0.5, 1.0]))
    np.testing.assert_allclose((a + b)(X, Z), a(X, Z) + b(X, Z))
    inner = Linear()
    np.testing.assert_allclose(
        (After(np.sin, inner) + After(np.cos, inner))(X), np.cos(X[:, None] - X[None]).sum(axis=2)
    )


def test_products_without_the_matrix():
    many = np.random.RandomState(3).standard_normal((1500, 3))
    v = np.random.RandomState(4).standard_normal((1500, 2))
    for kernel in KERNELS:
        np.testing.assert_allclose(kernel.product(X, many, v), kernel(X, many) @ v, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(kernel.product(X, many, v[:, 0]), kernel(X, many) @ v[:, 0], rtol=1e-8, atol=1e-8)


def test_a_product_of_half_the_matrix_is_that_of_the_whole_on_any_number_of_threads(monkeypatch):
    many = np.random.RandomState(3).standard_normal((1700, 3))
    V = np.random.RandomState(4).standard_normal((1700, 3))
    for v in (V, V[:, 0]):
        found = []
        for threads in ("1", "3"):
            monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
            found.append(Gaussian(gamma=0.5).product(many, many, v))
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[0], Gaussian(gamma=0.5)(many) @ v, atol=1e-10)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_frames(frame):
    library = pytest.importorskip(frame)
    table = library.DataFrame({name: X[:, k] for k, name in enumerate("abc")})
    np.testing.assert_array_equal(Gaussian()(table), Gaussian()(X))


def expressions():
    leaves = st.sampled_from(
        [Linear(), Gaussian(gamma=0.5), Polynomial(degree=2), Laplacian(gamma=0.1), Cosine(), Matern(nu=1.5)]
    )

    def combine(inner):
        return st.one_of(
            st.builds(lambda a, b: a + b, inner, inner),
            st.builds(lambda a, b: a * b, inner, inner),
            st.builds(lambda c, a: c * a, st.floats(0.01, 100), inner),
            st.builds(lambda a, p: a**p, inner, st.integers(1, 2)),
            st.builds(Normalised, inner),
        )

    return st.recursive(leaves, combine, max_leaves=5)


@given(kernel=expressions(), rows=arrays(float, (6, 3), elements=st.floats(-2, 2, width=32)))
@settings(max_examples=60, deadline=None)
def test_random_expressions_are_kernels_and_text(kernel, rows):
    K = kernel(rows)
    assert np.array_equal(K, K.T)
    np.testing.assert_allclose(np.diag(K), kernel.diag(rows), rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * max(1e-12, np.abs(K).max())
    expected = [[naive.value(kernel, x, z) for z in rows] for x in rows]
    np.testing.assert_allclose(K, expected, rtol=1e-7, atol=1e-9 * max(1.0, np.abs(K).max()))
    assert parse(str(kernel)) == kernel


def test_the_expression_computes_a_statistic_once(monkeypatch):
    calls = []
    tile = type(SQUARED_DISTANCE).tile
    monkeypatch.setattr(
        type(SQUARED_DISTANCE), "tile", lambda self, *arguments: calls.append(1) or tile(self, *arguments)
    )
    (Gaussian(gamma=0.1) + Gaussian(gamma=0.2) * Gaussian(gamma=0.3))(X)
    assert len(calls) == 1


def test_far_from_the_origin_distances_keep_their_digits():
    moved = X + 1e6
    np.testing.assert_allclose(Gaussian(gamma=1.0)(moved), Gaussian(gamma=1.0)(moved - 1e6), rtol=1e-8)


def test_sigma_is_a_standard_deviation():
    assert Gaussian.from_sigma(3.0)([[0.0]], [[3.0]])[0, 0] == pytest.approx(np.exp(-0.5))
    assert parse("gaussian(sigma=3)") == Gaussian.from_sigma(3)


def test_squared_dot_product_is_its_explicit_map():
    def degree_two(rows):
        return np.column_stack([rows[:, 0] ** 2, np.sqrt(2) * rows[:, 0] * rows[:, 1], rows[:, 1] ** 2])

    two = X[:, :2]
    np.testing.assert_allclose(Polynomial(degree=2, coef0=0)(two), degree_two(two) @ degree_two(two).T)


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("linear", Linear()),
        ("2*gaussian(gamma=0.5) + linear", 2 * Gaussian(0.5) + Linear()),
        (" gaussian( .5 )*polynomial(degree=3, coef0=0) ", Gaussian(0.5) * Polynomial(3, 0)),
        ("(linear + 1*cosine)**2", (Linear() + 1 * Cosine()) ** 2),
        ("normalised(linear + gaussian)", Normalised(Linear() + Gaussian())),
        ("Gaussian(gamma=1e-3)", Gaussian(1e-3)),
        ("quadratic(B=[[1, 0], [0, 2]])", Quadratic([[1, 0], [0, 2]])),
        ("precomputed", Precomputed()),
    ],
)
def test_text_forms(text, kernel):
    assert parse(text) == kernel
    assert parse(str(kernel)) == kernel


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("gausian(gamma=1)", "there is no kernel 'gausian'"),
        ("gaussian(width=1)", "gaussian takes gamma"),
        ("linear - gaussian", "only kernel names"),
        ("__import__('os').system('true')", "only kernel names"),
        ("linear + 3", "is not a kernel"),
        ("3*4", "arithmetic on numbers"),
        ("7", "only a number"),
        ("", "cannot be read"),
        ("linear +", "cannot be read"),
        ("gaussian(gamma=-1)", "greater than 0"),
        ("-2*linear", "only kernel names"),
        ("(" * 300 + "linear" + ")" * 300, "cannot be read"),
        ("linear" + " + linear" * 30_000, "characters"),
        ("linear" + " + linear" * 200, "more than 100 parts"),
        ("linear**1.5", "whole number"),
        ("linear**1000", "at most 100"),
        ("matern(nu=1, nu=2)", "given twice"),
        ("normalised(3)", "must be a kernel"),
        ("2*precomputed", "cannot be part of an expression"),
        ("gaussian(sigma='a')", "sigma must be a number"),
        ("quadratic(B=[[1], [2, 3]])", "square matrix of numbers"),
    ],
)
def test_bad_text_is_refused(text, hint):
    with pytest.raises(ValueError, match=re.escape(hint)):
        parse(text)


@pytest.mark.parametrize(
    ("kernel", "hint"),
    [
        (Gaussian(gamma=0), "gamma must be a number greater than 0"),
        (Gaussian(gamma=float("nan")), "gamma must be"),
        (Gaussian(gamma="scal"), "number greater than 0, 'scale', 'auto' or 'median'; got 'scal'"),
        (Polynomial(degree=1.5), "whole number"),
        (Polynomial(coef0=-1), "at least 0"),
        (0 * Linear(), "greater than 0"),
        (Quadratic([[1, 2], [0, 1]]), "symmetric"),
        (Quadratic([[1, 0], [0, -1]]), "smallest eigenvalue is -1"),
        (Function(lambda A, B: None), "returned None"),
        (Function(lambda A, B: A), "returned shape"),
        (Function(lambda A, B: (A @ B.T) * 1j), "complex"),
        (Function(lambda A, B: (A @ B.T) * np.nan), "returned nan"),
        (Function(lambda A, B: np.full((len(A), len(B)), "x")), "not numbers"),
        (RankOne(lambda A: A), "one a row"),
        (After(lambda A: A[:1], Linear()), "one item for each"),
    ],
)
def test_impossible_kernels_are_refused(kernel, hint):
    with pytest.raises(ValueError, match=hint):
        kernel(X)


def test_rows_of_different_widths_are_refused():
    with pytest.raises(ValueError, match="left rows have 3 features, the right ones 2"):
        Linear()(X, X[:, :2])


def test_as_kernel_takes_text_functions_and_kernels():
    assert as_kernel("linear") == Linear()
    assert isinstance(as_kernel(lambda A, B: A @ B.T), Function)
    with pytest.raises(TypeError, match="is not a kernel"):
        as_kernel(3)


def test_kernels_with_functions_print_their_names():
    assert str(RankOne(row_sums) + After(halves, Linear())) == "rank_one(<row_sums>) + after(<halves>, linear)"
    with pytest.raises(ValueError, match="cannot be read"):
        parse("rank_one(<row_sums>)")


def test_no_rows():
    assert Gaussian(gamma=1.0)(X[:0], X).shape == (0, 17)


def test_features_of_a_high_degree():
    rows = np.array([[0.5, -0.25], [0.75, 1.0], [-0.5, 0.125]])
    kernel = Polynomial(degree=40, gamma=0.5, coef0=0.5)
    features = kernel.features(rows)
    lengths = np.sqrt(kernel.diag(rows))
    np.testing.assert_allclose(features @ features.T, kernel(rows), atol=1e-13 * np.outer(lengths, lengths).max())
