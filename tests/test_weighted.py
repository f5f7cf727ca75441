"""Weighted sums of kernel values against plain loops and NumPy."""

import pickle

import numpy as np
import pytest
from numba import njit
from scipy import sparse

from mercer.estimators import KernelModel, votes
from mercer.kernels import Gaussian, Linear, Matern, Polynomial
from mercer.kernels.engine import weighted_items
from mercer.runtime import power_of_two

rng = np.random.default_rng(3)


def naive(kernel, A, B, V):
    """The sums in float64, a pair at a time."""
    value = {
        Gaussian: lambda x, z: np.exp(-0.02 * ((x - z) ** 2).sum()),
        Polynomial: lambda x, z: (0.03 * (x * z).sum() + 0.5) ** 3,
        Linear: lambda x, z: (x * z).sum(),
    }[type(kernel)]
    return np.array([[value(x, z) for z in B] for x in A]) @ V


@pytest.mark.parametrize(
    "kernel", [Gaussian(gamma=0.02), Polynomial(degree=3, coef0=0.5, gamma=0.03), Linear()], ids=str
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("density", [1.0, 0.1])
@pytest.mark.parametrize(("rows", "items", "sums"), [(1, 1, 1), (7, 64, 3), (50, 65, 9), (101, 130, 150)])
def test_sums(kernel, dtype, density, rows, items, sums):
    A, B = ((rng.standard_normal((n, 51)) * (rng.random((n, 51)) < density)).astype(dtype) for n in (rows, items))
    V = rng.standard_normal((items, sums)) * (rng.random((items, sums)) < 0.3)
    expected = naive(kernel, A.astype(float), B.astype(float), V)
    found = weighted_items(kernel, A, B, V).product(A)
    scale = np.abs(V).sum(axis=0).max() * (1 + np.abs(kernel.matrix(A, B)).max())
    np.testing.assert_allclose(found, expected, atol=scale * (1e-5 if dtype == np.float32 else 1e-13))


def test_items_that_need_tiles():
    X = rng.standard_normal((5, 3))
    assert weighted_items(Matern(), X, X, np.ones((5, 1))) is None
    assert weighted_items(Gaussian(gamma=1.0), sparse.csr_array(X), X, np.ones((5, 1))) is None


@pytest.mark.parametrize(("dtype", "least"), [(np.float32, -124), (np.float64, -1020)])
def test_powers_of_two(dtype, least):
    @njit
    def raised(t, out):
        for i in range(t.size):
            out[i] = power_of_two(t[i])

    t = np.concatenate([rng.uniform(least, 0, 100_000), [0, -1, least - 2, -np.inf, np.nan]]).astype(dtype)
    found = np.empty_like(t)
    raised(t, found)
    exact = np.exp2(t[:-3].astype(np.longdouble))
    assert (np.abs(found[:-3] - exact) <= np.spacing(exact.astype(dtype))).all()
    assert found[-5] == 1
    np.testing.assert_array_equal(found[-3:], [0, 0, np.nan])


def test_what_a_model_has_laid_out_stays_with_it():
    X = rng.standard_normal((20, 3))
    model = KernelModel(Gaussian(gamma=1.0), np.arange(20), X, rng.standard_normal((2, 20)), np.zeros(2))
    before = pickle.dumps(model)
    scores = model.scores(X, "1GB")
    assert pickle.dumps(model) == before
    np.testing.assert_array_equal(pickle.loads(before).scores(X, "1GB"), scores)


def test_votes_are_counted():
    scores = rng.standard_normal((30, 10))
    won, confidence, column = np.zeros((30, 5)), np.zeros((30, 5)), 0
    for first in range(5):
        for second in range(first + 1, 5):
            for i in range(30):
                winner = second if scores[i, column] >= 0 else first
                won[i, winner] += 1
                confidence[i, second] += scores[i, column]
                confidence[i, first] -= scores[i, column]
            column += 1
    np.testing.assert_allclose(votes(scores, 5), won + confidence / (3 * (np.abs(confidence) + 1)))


class Clipped(Gaussian):
    """A kernel that somebody derives from another, with values of its own."""

    def apply(self, values):
        return np.minimum(super().apply(values), 0.5)


def test_a_kernel_derived_from_another_keeps_its_own_values():
    A, B, V = rng.standard_normal((4, 3)), rng.standard_normal((6, 3)), rng.standard_normal((6, 1))
    kernel = Clipped(gamma=0.1)
    np.testing.assert_allclose(weighted_items(kernel, A, B, V).product(A), kernel.matrix(A, B) @ V)
    np.testing.assert_allclose(kernel.product(A, B, V), kernel.matrix(A, B) @ V)
    assert kernel.matrix(A, B).max() == 0.5
    own = Gaussian(gamma=0.1)
    own.apply = lambda values: np.zeros_like(values)
    assert not own.product(A, B, V).any()
