"""Laplace's approximation against differences, numerical integrals and scikit-learn."""

import numpy as np
import pytest
from scipy import integrate, special, stats
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern

import mercer
from mercer import GPClassifier
from mercer.solvers.laplace import averaged, laplace

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
TWO = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, "yes", "no")
THREE = np.array(list("abc"))[np.digitize(X[:, 0], [-0.5, 0.5])]


@pytest.mark.parametrize("seed", range(5))
def test_slopes_by_the_matrix_are_differences(seed):
    rng = np.random.default_rng(seed)
    n = 20
    A, E = rng.normal(size=(2, n, n))
    K, E = A @ A.T / n, (E + E.T) / n
    y, weight = np.where(rng.random(n) < 0.5, 1.0, -1.0), rng.integers(1, 4, n).astype(float)
    K += np.eye(n)
    h = 1e-5
    above, below = (laplace(K + step * E, y, weight).log_likelihood for step in (h, -h))
    assert np.vdot(laplace(K, y, weight).slopes(K), E) == pytest.approx((above - below) / (2 * h), rel=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_likelihood_and_slopes_are_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(40, 2)), rng.integers(0, 2, 40)
    lengths, scale = np.exp(rng.normal(size=2)), float(np.exp(rng.normal()))
    shape, text = [(RBF(lengths), "gaussian(gamma=0.5)"), (Matern(lengths, nu=2.5), "matern(nu=2.5)")][seed % 2]
    peer = GaussianProcessClassifier(ConstantKernel(scale) * shape, optimizer=None).fit(rows, labels)
    model = GPClassifier(f"{scale}*scaled({text}, {(1 / lengths).tolist()})", tune=None).fit(rows, labels)
    assert model.log_marginal_likelihood_value_ == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-7)
    # Theirs is a sum of five error functions.
    np.testing.assert_allclose(model.predict_proba(rows), peer.predict_proba(rows), atol=3e-4)


def test_what_is_found_is_likelier_than_what_is_near():
    model = GPClassifier(prior=None).fit(X, TWO)
    assert model.converged_
    assert model.residual_ < 1e-4
    for name, value in model.kernel_.get_params().items():
        if name in ("scale", "kernel__weights"):
            for factor in (0.8, 1.25):
                other = GPClassifier(
                    model.kernel_.set_params(**{name: (factor * np.asarray(value)).tolist()}), tune=None
                ).fit(X, TWO)
                model.kernel_.set_params(**{name: value})
                assert other.log_marginal_likelihood_value_ < model.log_marginal_likelihood_value_


def test_a_row_of_weight_two_is_there_twice():
    weight = rng.integers(0, 3, 60)
    twice = np.repeat(np.arange(60), weight)
    kernel = "2.0*gaussian(gamma=0.7)"
    one = GPClassifier(kernel, tune=None).fit(X, TWO, weight)
    other = GPClassifier(kernel, tune=None).fit(X[twice], TWO[twice])
    assert one.log_marginal_likelihood_value_ == pytest.approx(other.log_marginal_likelihood_value_, rel=1e-6)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize(("mean", "std"), [(0.3, 0.1), (-2.0, 3.0), (5.0, 9.0), (-30.0, 2.0)])
def test_probabilities_are_averages(mean, std):
    def height(f):
        return special.expit(f) * stats.norm(mean, std).pdf(f)

    expected = integrate.quad(height, mean - 12 * std, mean + 12 * std, points=[0.0], limit=500, epsabs=0)[0]
    assert averaged(np.array([mean]), np.array([std]))[0] == pytest.approx(expected, rel=1e-6)


def test_three_classes_have_probabilities_that_sum_to_one(tmp_path):
    model = GPClassifier().fit(X, THREE)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert model.score(X, THREE) > 0.9
    far = model.predict_proba([[50.0, 50.0]])
    assert far.max() < probabilities.max()
    mercer.save(model, tmp_path / "model.mercer")
    np.testing.assert_allclose(mercer.load(tmp_path / "model.mercer").predict_proba(X), probabilities, rtol=1e-9)


@pytest.mark.parametrize(
    ("rows", "labels"),
    [
        (np.vstack([X, X]), np.r_[TWO, TWO[::-1]]),
        (np.ones((60, 2)), TWO),
        (X[:3], ["a", "b", "c"]),
        (X * [1e-90, 1e90], TWO),
        (X, X[:, 0] > 0),
    ],
    ids=["contradictions", "all the same", "three rows", "scales", "separable"],
)
@pytest.mark.filterwarnings("ignore")
def test_there_is_always_an_answer(rows, labels):
    model = GPClassifier().fit(rows, labels)
    assert np.isfinite(model.predict_proba(rows)).all()
    assert np.isfinite(model.log_marginal_likelihood_value_)
