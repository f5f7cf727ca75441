import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from mercer import KernelRegressor, Pegasos, Perceptron
from mercer.datasets import make_margins, make_waves


@pytest.fixture(scope="module")
def split():
    X, y = make_margins(10_000, random_state=0)
    return X[:8000], y[:8000], X[8000:], y[8000:]


def error(split, *steps):
    X, y, X_test, y_test = split
    return 1 - make_pipeline(StandardScaler(), *steps).fit(X, y).score(X_test, y_test)


def test_has_the_character_it_promises(split):
    X = split[0]
    correlations = np.corrcoef(X.T)
    assert (np.abs(correlations[np.ix_([2, 5, 9], [2, 5, 9])]) > 0.97).all()
    others = np.delete(np.delete(correlations, [2, 9], 0), [2, 9], 1)
    assert np.abs(others - np.eye(8)).max() < 0.6
    assert 0.4 < np.mean(split[1] == 1) < 0.6


def test_linear_learners_err_near_28_per_cent(split):
    assert 0.25 < error(split, Pegasos(lam=0.01, random_state=0)) < 0.31
    assert 0.25 < error(split, Pegasos(lam=0.01, loss="logistic", random_state=0)) < 0.31


def test_degree_two_learners_err_near_6_per_cent(split):
    expand = PolynomialFeatures(2, include_bias=False)
    assert 0.045 < error(split, expand, Pegasos(lam=0.01, random_state=0)) < 0.075


def test_a_cubic_kernel_errs_near_2_to_3_per_cent(split):
    learner = Perceptron("polynomial(degree=3)", epochs=50, random_state=0, variant="averaged")
    assert 0.015 < error(split, learner) < 0.035


def test_repeats_for_a_seed():
    assert all(np.array_equal(a, b) for a, b in zip(make_margins(50, random_state=1), make_margins(50, random_state=1)))
    with pytest.raises(ValueError, match="n_samples"):
        make_margins(0)


def test_waves_are_followed_by_a_kernel_and_not_by_a_line():
    X, y = make_waves(1500, random_state=0)
    line, curve = KernelRegressor(None), KernelRegressor("gaussian(gamma=4)", "huber", lam=1e-4)
    left = [np.median(np.abs(y[1000:] - each.fit(X[:1000], y[:1000]).predict(X[1000:]))) for each in (line, curve)]
    assert left[1] < 0.3 < 2 * left[1] < left[0]
    assert all(np.array_equal(a, b) for a, b in zip(make_waves(50, random_state=1), make_waves(50, random_state=1)))
    with pytest.raises(ValueError, match="n_samples"):
        make_waves(0)
