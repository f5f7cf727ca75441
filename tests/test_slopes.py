"""Every kernel is differentiated as the differences of its matrices say."""

import numpy as np
import pandas as pd
import pytest

from mercer.kernels import (
    SQUARED_DISTANCE,
    Gaussian,
    Laplacian,
    Linear,
    LocalAlignment,
    Matern,
    Normalised,
    OfStatistic,
    Parameters,
    Periodic,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
    entry_slopes,
)

from .cases import KERNELS, STRUCTURED, TABLE_KERNELS

rng = np.random.default_rng(0)
X = rng.normal(size=(9, 3))
PEOPLE = pd.DataFrame({"age": rng.normal(size=9), "hours": rng.normal(size=9), "job": list("abcabcaab")})
WEIGHTS = [1.0, 0.5, 2.0]

EXPRESSIONS = [
    *(
        inner.scaled(WEIGHTS)
        for inner in (Periodic(2.0, 0.7), Matern(0.5), Matern(1.0), Matern(2.5), Sigmoid(0.2, 0.1))
    ),
    Normalised(Polynomial(gamma=0.3)).scaled(WEIGHTS),
    (Linear() + 0.5 * Gaussian(0.3) * Laplacian(0.2)).scaled(WEIGHTS),
    RationalQuadratic(0.6).scaled(rng.normal(size=(2, 3))),
    Gaussian(0.4).scaled(WEIGHTS).scaled([0.3, 0.0, 1.5]),
]
#: What a rule on scores that are whole numbers leaves out: where alignments are equally good there are kinks.
SMOOTH = [(kernel, items) for kernel, items in STRUCTURED if kernel != LocalAlignment()]
CASES = [
    *((kernel, X) for kernel in KERNELS + EXPRESSIONS),
    *((kernel, PEOPLE[["job"]] if not kernel.parts() else PEOPLE) for kernel in TABLE_KERNELS),
    (0.3 * Gaussian(0.1).on("age") + Periodic(3.0).on("hours"), PEOPLE),
    *SMOOTH,
]


def differences(parameters, items, V, h=1e-4):
    """Of Σ V∘K by each number of θ, in the fourth order."""

    def total(place, step):
        theta = parameters.start
        theta[place] += step
        return np.sum(V * parameters.kernel(theta).matrix(items, items))

    return np.array(
        [
            (8 * (total(k, h) - total(k, -h)) - (total(k, 2 * h) - total(k, -2 * h))) / (12 * h)
            for k in range(parameters.start.size)
        ]
    )


@pytest.mark.parametrize(("kernel", "items"), CASES, ids=[str(kernel)[:60] for kernel, _ in CASES])
def test_slopes_are_differences(kernel, items):
    items = kernel.items(items)
    kernel = kernel.resolved(items)
    parameters = Parameters(kernel)
    n = len(kernel.matrix(items, items))
    V = np.random.default_rng(1).normal(size=(n, n))
    V += V.T
    whole = entry_slopes(kernel, items, items, lambda i, j: V[i][:, j])
    half = entry_slopes(kernel, items, items, lambda i, j: V[i][:, j], symmetric=True)
    expected = differences(parameters, items, V)
    assert len(parameters.names) == expected.size
    for found in (whole, half):
        np.testing.assert_allclose(
            parameters.slopes(parameters.start, found),
            expected,
            rtol=0,
            atol=1e-7 * np.abs(expected).max(initial=1e-300),
        )


def test_many_tiles_are_summed():
    rows = np.random.default_rng(2).normal(size=(1100, 2))
    kernel = 2.0 * Matern(1.5).scaled([1.0, 0.7])
    a, s = rng.normal(size=(2, len(rows)))
    parameters = Parameters(kernel)
    found = entry_slopes(kernel, rows, rows, lambda i, j: np.outer(a[i], a[j]) + np.outer(s[i], s[j]), symmetric=True)
    expected = differences(parameters, rows, np.outer(a, a) + np.outer(s, s))
    np.testing.assert_allclose(parameters.slopes(parameters.start, found), expected, rtol=1e-7)


class Kinked(OfStatistic, named=False):
    """A formula that no code can be written for, with a parameter."""

    statistic = SQUARED_DISTANCE
    smooth = Gaussian.smooth

    def __init__(self, gamma=1.0):
        self.gamma = gamma

    def apply(self, values):
        return 1 / np.cosh(self.gamma * values)


def test_a_kernel_from_outside_is_differentiated_by_differences():
    kernel = Kinked(0.4).scaled(WEIGHTS)
    parameters = Parameters(kernel)
    found = entry_slopes(kernel, X, X, lambda i, j: np.ones((9, 9))[i][:, j])
    np.testing.assert_allclose(
        parameters.slopes(parameters.start, found), differences(parameters, X, np.ones((9, 9))), rtol=1e-6
    )


def test_parameters_travel_to_a_line_and_back():
    kernel = 2.0 * Polynomial(3, coef0=0.0, gamma=0.3) + Sigmoid(1.0, -0.5)
    parameters = Parameters(kernel, fixed=["scale"])
    assert parameters.names == ["left__kernel__gamma", "right__gamma", "right__coef0"]
    np.testing.assert_allclose(parameters.start, [np.log(0.3), 0.0, -0.5])
    assert str(parameters.kernel(parameters.start + 1)) == str(
        2.0 * Polynomial(3, coef0=0.0, gamma=float(np.exp(np.log(0.3) + 1))) + Sigmoid(float(np.e), 0.5)
    )
