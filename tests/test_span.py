"""Vectors of the feature space, the basis, and the nearly inverse operator of Newton's step."""

import numpy as np
import pytest
from scipy import sparse

from mercer.grams import Basis, Dense, Features, Lazy
from mercer.kernels import Gaussian, Linear
from mercer.losses import Logistic
from mercer.problems import Problem
from mercer.solvers import Newton, solve_certified

rng = np.random.default_rng(1)
X = rng.normal(size=(60, 4))
h = rng.uniform(0, 1, size=60) / 60
wide = sparse.csr_array(sparse.random(60, 700, 0.05, random_state=0))


def spans():
    """Every kind of span, with the features that its vectors are made of."""
    return [
        ("dense features", Features(X).span, X),
        ("sparse features", Features(sparse.csr_array(np.where(np.abs(X) < 0.3, 0, X))).span, None),
        ("many features", Features(wide).span, wide.toarray()),
        ("kernel in memory", Dense(X @ X.T).span, X),
        ("kernel in pieces", Lazy(Linear(), X).span, X),
    ]


@pytest.mark.parametrize(("name", "span", "Phi"), spans(), ids=lambda value: value if isinstance(value, str) else "")
def test_vectors_are_sums_of_items(name, span, Phi):
    Phi = span.Phi.toarray() if Phi is None else Phi
    a, b = rng.normal(size=(2, 60))
    u, v = span.combine(a), span.combine(b)
    assert span.dot(u, v) == pytest.approx((Phi.T @ a) @ (Phi.T @ b))
    np.testing.assert_allclose(span.scores(u - 2 * v), Phi @ (Phi.T @ (a - 2 * b)), atol=1e-10)
    np.testing.assert_allclose(span.scores(span.gradient(0.5, u, b)), Phi @ (Phi.T @ (0.5 * a + b)), atol=1e-10)
    moved, scores = span.moved(u, span.scores(u), 0.3, v, span.scores(v))
    np.testing.assert_allclose(scores, Phi @ (Phi.T @ (a + 0.3 * b)), atol=1e-10)
    np.testing.assert_allclose(span.scores(moved), scores, atol=1e-10)
    assert not span.scores(span.zero(())).any()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("name", "span", "Phi"), spans(), ids=lambda value: value if isinstance(value, str) else "")
def test_the_preconditioner_is_exact_where_there_are_few_directions(name, span, Phi, intercept):
    """Against the explicit matrix, built from the features with a column of ones."""
    if name == "many features":
        pytest.skip("only its diagonal is used")
    Phi = span.Phi.toarray() if Phi is None else Phi
    ones = np.ones((60, 1)) if intercept else np.zeros((60, 0))
    every = np.hstack([Phi, ones])
    operator = every.T @ (h[:, None] * every) + 0.01 * np.diag([1.0] * 4 + [0.0] * intercept)
    a = rng.normal(size=60)
    right = np.concatenate([Phi.T @ a, [0.7] * intercept])
    expected = np.linalg.solve(operator, right)
    d, db = span.preconditioner(0.01, h, intercept)(span.combine(a), np.float64(0.7 if intercept else 0.0))
    np.testing.assert_allclose(span.scores(d), Phi @ expected[:4], rtol=1e-7, atol=1e-8)
    assert db == pytest.approx(expected[4] if intercept else 0.0, abs=1e-8)


def test_columns_are_treated_one_by_one():
    several = rng.uniform(0, 1, size=(60, 3)) / 60
    a, right = rng.normal(size=(60, 3)), rng.normal(size=3)
    for _, span, _ in spans():
        d, db = span.preconditioner(0.01, several, True)(span.combine(a), right)
        for c in range(3):
            single, single_b = span.preconditioner(0.01, several[:, c].copy(), True)(span.combine(a[:, c]), right[c])
            np.testing.assert_allclose(span.scores(d)[:, c], span.scores(single), atol=1e-8)
            assert db[c] == pytest.approx(single_b, abs=1e-8)


def test_a_basis_holds_what_it_says():
    K = Gaussian(gamma=0.1)(X)
    basis = Basis(Dense(K))
    basis.deepen(1e-3)
    L = basis.coordinates
    np.testing.assert_allclose(K[:, basis.pivots] @ basis.weights, L, atol=1e-6)
    rest = K - L @ L.T
    assert np.trace(rest) / 60 <= 1e-3
    assert np.linalg.eigvalsh(rest).min() > -1e-9
    width = L.shape[1]
    basis.deepen(1e-3)
    assert basis.coordinates.shape[1] == width
    basis.deepen(0.0)
    np.testing.assert_allclose(basis.coordinates @ basis.coordinates.T, K, atol=1e-8)


def test_a_basis_of_equal_items_and_of_nothing():
    basis = Basis(Dense(np.ones((10, 10))))
    basis.deepen(0.0)
    np.testing.assert_allclose(np.abs(basis.coordinates), 1)
    assert basis.coordinates.shape == (10, 1)
    nothing = Basis(Dense(np.zeros((10, 10))))
    nothing.deepen(0.0)
    assert nothing.coordinates.shape == (10, 0)


# -- quick products on the way ----------------------------------------------------------------------------------------


def test_single_precision_where_rows_are_many_and_it_is_exact_enough():
    rows = rng.normal(size=(2100, 3))
    gram = Lazy(Gaussian(gamma=0.2), 1e3 + rows)  # moved to their mean, rows far away are as exact as others
    rounded = gram.rounded()
    assert rounded.dtype == np.float32
    z = rng.normal(size=2100)
    np.testing.assert_allclose(rounded.matvec(z), gram.matvec(z), atol=1e-5 * np.abs(z).sum())
    assert Lazy(Gaussian(gamma=0.2), rows[:100]).rounded() is None
    assert Lazy(Gaussian(gamma=1e5), rows).rounded() is None  # a width that single precision does not tell from nothing
    assert Lazy(Gaussian(gamma=0.2), sparse.csr_array(np.tile(wide.toarray(), (40, 1)))).rounded() is None


def test_the_part_of_some_items_in_single_precision():
    K = Gaussian(gamma=0.2)(rng.normal(size=(1300, 3)))
    gram = Dense(K).take(rng.permutation(1300)[:1100])
    rounded = gram.rounded()
    assert rounded.K.dtype == np.float32
    for shape in ((1100,), (1100, 4)):
        z = rng.normal(size=shape)
        np.testing.assert_allclose(rounded.matvec(z), gram.matvec(z), atol=1e-6 * np.abs(z).sum())
    assert Dense(K[:900, :900]).rounded() is None  # too few to be worth it
    assert Dense(1e31 * K).rounded() is None  # too large for single precision
    assert rounded.rounded() is None


def test_models_have_exact_scores_and_solutions_are_those_of_exact_products():
    rows = rng.normal(size=(2100, 3))
    y = np.sign(rows[:, 0] * rows[:, 1] + 0.3 * rng.normal(size=2100))
    gram = Lazy(Gaussian(gamma=0.3), rows)
    rough = gram.span.quick
    a, b = rng.normal(size=(2, 2100))
    moved, scores = rough.moved(rough.combine(a), a, 1.0, rough.combine(b), b)
    np.testing.assert_allclose(scores, gram.matvec(a + b), atol=1e-5 * np.abs(a + b).sum())
    sharpened = rough.sharpened(moved)
    np.testing.assert_array_equal(rough.sharper.scores(sharpened), gram.matvec(a + b))
    quick = rough.sharper
    _, scores = quick.moved(quick.combine(a), a, 1.0, quick.combine(b), b)
    np.testing.assert_array_equal(scores, gram.matvec(a + b))
    in_memory = Dense(gram.rows(np.arange(2100)))
    ours, theirs = (
        solve_certified(Problem(each, y, Logistic(), 1e-3, intercept="free"), Newton(1e-8))
        for each in (gram, in_memory)
    )
    assert str(ours.solution.status) == "converged"
    assert ours.certificate.gap <= 1e-6 * ours.certificate.objective
    # λ/2·‖f − f*‖² is at most the gap, and no score moves by more than ‖f − f*‖·√k(x, x), which is 1 here.
    away = sum(np.sqrt(2 * each.certificate.gap / 1e-3) for each in (ours, theirs))
    np.testing.assert_allclose(ours.solution.scores, theirs.solution.scores, rtol=0, atol=away)
    assert away < 0.01


def test_products_with_the_hessian_are_those_of_dense_rows():
    Phi, v = wide.toarray(), rng.normal(size=700)
    scores, total = Features(wide).span.hessian_product(h, v, 0.5)
    np.testing.assert_allclose(scores, Phi @ v + 0.5)
    np.testing.assert_allclose(total, Phi.T @ (h * (Phi @ v + 0.5)))
