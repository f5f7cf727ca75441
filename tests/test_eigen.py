"""Leading eigenpairs from products, against LAPACK's of the whole matrix."""

import numpy as np
import pytest

from mercer.grams import Dense, Gram, Lazy, Nystrom
from mercer.kernels import Gaussian, Laplacian, Matern, Polynomial, Spectrum, WeisfeilerLehman
from mercer.problems import Status
from mercer.solvers import eigen, leading_eigenpairs
from reproductions.eigenvalue_bounds import outcome

from .cases import GRAPHS, TEXTS

KERNELS = [Gaussian(gamma=0.01), Gaussian(gamma=3.0), Laplacian(gamma=0.2), Polynomial(degree=2), Matern(nu=1.5)]


@pytest.fixture
def by_products(monkeypatch):
    """Small matrices go the way of large ones."""
    monkeypatch.setattr(eigen, "_SMALL", 20)
    monkeypatch.setattr(eigen, "_SHARE", 0.45)


def centred(K):
    C = np.eye(len(K)) - 1 / len(K)
    return C @ K @ C


def gram_of(kernel, X, place):
    """A Gram, the same in float64, and its matrix."""
    if place == "landmarks":
        gram = Nystrom.of(kernel, X, rank=15)
        return gram, gram, gram.Phi @ gram.Phi.T
    exact = Dense(kernel(X)) if place == "dense" else Lazy(kernel, X)
    moved = X - X.mean(axis=0) if kernel.translation_invariant else X
    return Lazy(kernel, moved.astype(np.float32)) if place == "single" else exact, exact, kernel(X)


@pytest.mark.parametrize("place", ["dense", "lazy", "single", "landmarks"])
def test_every_eigenvalue_lies_within_its_bound(place, by_products):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n, kernel = int(rng.integers(25, 120)), KERNELS[seed % len(KERNELS)]
        X = rng.normal(size=(n, 4)) * rng.uniform(0.1, 3, size=4) + 100 * (seed % 2)
        if seed % 3 == 0:
            X[n // 2 :] = X[: n - n // 2]  # rows that come twice
        gram, exact, K = gram_of(kernel, X, place)
        count = int(rng.integers(1, n // 4))
        found = leading_eigenpairs(gram, count, centred=True, tol=10 ** rng.uniform(-8, -1), rng=rng, exact=exact)
        true = np.linalg.eigvalsh(centred(K))[::-1][:count]
        assert (np.abs(found.values - true) <= found.bounds).all(), seed
        assert found.status is Status.CONVERGED


@pytest.mark.parametrize(("kernel", "items"), [(Spectrum(p=2), TEXTS), (WeisfeilerLehman(h=2), GRAPHS)])
def test_of_strings_and_graphs(kernel, items):
    gram = Lazy(kernel, kernel.items(items))
    true = np.linalg.eigvalsh(centred(kernel(items)))[::-1][:3]
    found = leading_eigenpairs(gram, 3, centred=True)
    np.testing.assert_allclose(found.values, true, rtol=1e-10)
    assert (np.abs(found.values - true) <= found.bounds).all()


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 100), marks=pytest.mark.thorough)])
def test_random_problems_of_the_reproduction(seeds):
    for seed in seeds:
        found = outcome(seed)
        assert found.within, found.what


def test_directions_lie_within_their_angles(by_products):
    X = np.random.default_rng(0).normal(size=(150, 3)) * [3, 1, 0.5]
    K = Gaussian(gamma=0.1)(X)
    true = np.linalg.eigh(centred(K))[1][:, ::-1]
    found = leading_eigenpairs(Dense(K), 4, centred=True, tol=1e-3)
    for k in range(4):
        cosine = min(1.0, abs(true[:, k] @ found.vectors[:, k]))
        assert np.sqrt(1 - cosine**2) <= found.angles[k] + 1e-7 < 0.1


def test_equal_eigenvalues_have_no_directions_of_their_own(by_products):
    """Of a group, the sum of squares is what bounds each, and the angle of one alone is not known."""
    found = leading_eigenpairs(Dense(np.diag(np.r_[np.full(3, 5.0), np.full(57, 1.0)])), 2)
    np.testing.assert_allclose(found.values, 5.0)
    assert (np.abs(found.values - 5.0) <= found.bounds).all()
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-12)


def test_items_that_are_alike_to_none():
    """All eigenvalues of the centred identity are the same; LAPACK's search for some of them finds none."""
    for n, count in ((161, 2), (60, 59), (500, 3)):
        found = leading_eigenpairs(Dense(np.eye(n)), count, centred=True)
        np.testing.assert_allclose(found.values, np.ones(count), rtol=1e-12)


def test_scaled_rows_and_columns(by_products):
    K = Gaussian(gamma=0.3)(np.random.default_rng(0).normal(size=(80, 2)))
    scale = K.sum(axis=1) ** -0.5
    found = leading_eigenpairs(Dense(K), 5, scale=scale)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(scale[:, None] * K * scale)[::-1][:5], rtol=1e-8)
    assert found.values[0] == pytest.approx(1.0)


def test_more_pairs_than_rank(by_products):
    X = np.random.default_rng(0).normal(size=(100, 2))
    found = leading_eigenpairs(Lazy(Polynomial(degree=1), X), 6, centred=True)
    assert (found.values[2:] < 1e-9).all()
    np.testing.assert_allclose(found.values[:2], np.linalg.eigvalsh(centred(X @ X.T))[::-1][:2])


def test_only_products_are_asked_for():
    """A Gram of one's own with what every Gram has."""

    class Own(Gram):
        asked = 0

        def __init__(self, K):
            self.K = K

        def __len__(self):
            return len(self.K)

        def diag(self):
            return self.K.diagonal()

        def matvec(self, z):
            return self.K @ z

        def rows(self, index):
            self.asked += len(index)
            return self.K[index]

    X = np.random.default_rng(0).normal(size=(600, 3))
    gram = Own(Gaussian(gamma=0.1)(X))
    found = leading_eigenpairs(gram, 3)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(gram.K)[::-1][:3], rtol=1e-8)
    assert gram.asked < 600


def test_a_matrix_of_rough_products_leads_the_way_for_an_exact_one():
    """As that of a graphics card does: most products are the rough one's, and the result is the exact one's."""

    class Counted(Dense):
        rough, asked = 0.0, 0

        def matvec(self, z):
            self.asked += 1
            return super().matvec(z) * (1 + self.rough * np.sin(np.arange(len(z)))[:, None])

    K = Gaussian(gamma=2.0)(np.random.default_rng(0).normal(size=(600, 3)))
    rough, exact = Counted(K), Counted(K)
    rough.rough = 1e-6
    found = leading_eigenpairs(rough, 20, centred=True, exact=exact)
    true = np.linalg.eigvalsh(centred(K))[::-1][:20]
    assert (np.abs(found.values - true) <= found.bounds).all()
    assert (found.bounds < 1e-4 * found.values).all()
    assert rough.asked > exact.asked


def test_too_few_passes_are_said_and_bounded(by_products):
    K = Gaussian(gamma=3.0)(np.random.default_rng(0).normal(size=(150, 3)))
    found = leading_eigenpairs(Dense(K), 10, centred=True, tol=1e-10, max_passes=1)
    assert found.status is Status.NOT_CONVERGED
    assert (np.abs(found.values - np.linalg.eigvalsh(centred(K))[::-1][:10]) <= found.bounds).all()


def test_results_repeat():
    gram = Lazy(Gaussian(gamma=0.1), np.random.default_rng(0).normal(size=(700, 3)))
    first, again = (leading_eigenpairs(gram, 4, rng=np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first.vectors, again.vectors)
