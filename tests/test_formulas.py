"""Kernels whose formula is run in the cache say what their own values say."""

import numpy as np
import pytest

import mercer
from mercer.kernels import (
    DISTANCE,
    DOT,
    SQUARED_DISTANCE,
    Gaussian,
    Laplacian,
    Matern,
    OfStatistic,
    Sigmoid,
    formula_of_dots,
)
from mercer.kernels.engine import weighted_items

rng = np.random.default_rng(0)


def made(formula, statistic=SQUARED_DISTANCE):
    """A kernel of this formula, which texts do not know."""

    class Made(OfStatistic, named=False):
        def __init__(self):
            pass

        def apply(self, values):
            return formula(values)

    Made.statistic = statistic
    return Made()


FORMULAS = {
    "rational": made(lambda t: 1 / (1 + 0.3 * t)),
    "a power": made(lambda t: (1 + 0.2 * t) ** -1.5),
    "a whole power": made(lambda t: (0.1 * t + 1) ** 5, DOT),
    "falling": made(lambda t: np.exp(-0.1 * t) - 0.5 * np.exp(-t)),
    "rising": made(lambda t: np.exp(0.05 * t), DOT),
    "logarithm": made(lambda t: 5 - np.log(1 + t) - np.log1p(0.1 * t)),
    "root": made(lambda t: np.sqrt(1 + t)),
    "compact": made(lambda t: np.maximum(1 - 0.02 * t, 0) ** 3),
    "bounded": made(lambda t: np.minimum(np.abs(t - 2), 3)),
    "in place": made(lambda t: np.multiply(t, 2.0, out=t) if isinstance(t, np.ndarray) else t * 2.0, DOT),
    "sigmoid": Sigmoid(gamma=0.05, coef0=0.1),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("density", [1.0, 0.05])
def test_sums_are_those_of_the_matrix(name, dtype, density):
    kernel = FORMULAS[name]
    A, B = ((rng.standard_normal((n, 40)) * (rng.random((n, 40)) < density)).astype(dtype) for n in (33, 130))
    V = rng.standard_normal((130, 3))
    K = kernel.matrix(A.astype(float), B.astype(float))
    found = weighted_items(kernel, A, B, V)
    assert found is not None
    scale = np.abs(V).sum() * np.abs(K).max()
    np.testing.assert_allclose(found.product(A), K @ V, atol=scale * (1e-5 if dtype == np.float32 else 1e-14))


@pytest.mark.parametrize("name", FORMULAS)
def test_a_row_scores_the_same_alone(name):
    A, B, V = rng.standard_normal((20, 7)), rng.standard_normal((70, 7)), rng.standard_normal((70, 2))
    items = weighted_items(FORMULAS[name], A, B, V)
    together = items.product(A)
    for i in range(20):
        np.testing.assert_array_equal(items.product(A[i : i + 1])[0], together[i])


@pytest.mark.parametrize(
    "kernel",
    [
        made(lambda t: np.exp(-np.sqrt(t))),  # as steep at zero as a distance
        made(lambda t: np.sinc(0.1 * t)),  # no operation that formulas know
        made(lambda t: np.where(t < 1, 1 - t, 0.0)),
        made(lambda t: t.max() - t),  # no function of one number
        made(lambda t: 1 + t if isinstance(t, np.ndarray) else 2 + t),  # says one thing and does another
        made(lambda t: sum((0.01 * t) ** k for k in range(40))),  # too long
        made(lambda t: 1.0 * t, DISTANCE),
        Gaussian(),  # not resolved
        Laplacian(gamma=1.0),
        Matern(),
    ],
)
def test_other_kernels_have_no_formula_of_dots(kernel):
    assert formula_of_dots(kernel) is None


def test_values_that_are_written_anew_are_not_those_of_the_formula():
    class Doubled(Sigmoid, named=False):
        def evaluate(self, tile):
            return 2 * super().evaluate(tile)

    assert formula_of_dots(Sigmoid()) is not None
    assert formula_of_dots(Doubled()) is None
    changed = Sigmoid()
    changed.apply = lambda values: values
    assert formula_of_dots(changed) is None


def test_predictions_of_a_new_kernel_are_what_its_matrix_says():
    X, y = rng.standard_normal((120, 4)), rng.integers(0, 3, 120)
    model = mercer.SVC(FORMULAS["rational"], C=3).fit(X, y)
    new = rng.standard_normal((50, 4))
    pairs = mercer.SVC("precomputed", C=3).fit(FORMULAS["rational"](X), y)
    np.testing.assert_allclose(
        model.decision_function(new), pairs.decision_function(FORMULAS["rational"](new, X)), atol=1e-2
    )
    binary = mercer.SVC(FORMULAS["rational"], C=3).fit(X, y == 1)
    K = binary.kernel_(new, binary.support_vectors_)
    np.testing.assert_allclose(
        binary.decision_function(new), (K @ binary.dual_coef_.T)[:, 0] + binary.intercept_, atol=1e-12
    )
