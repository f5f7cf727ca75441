"""The time limit of one fit: it runs from the call, and what cannot be shown in time is said."""

import time

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, SVR, KernelClassifier, KernelRegressor, OneClassSVM
from mercer.estimators import Run
from mercer.estimators import training as time_limits

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
y = np.arange(400) % 2


def test_what_is_left_counts_from_the_beginning_of_the_fit():
    model = SVC(time_limit=100)
    assert Run(model).seconds_left() == 100
    assert Run(SVC()).seconds_left() == np.inf
    begun = Run(model, begun=time.monotonic())
    time.sleep(0.01)
    assert 90 < begun.seconds_left() < 99.995


@pytest.mark.parametrize(
    "model",
    [
        KernelClassifier(rank=300, time_limit=1e-9),
        KernelRegressor(rank=300, time_limit=1e-9),
        SVC(rank=300, time_limit=1e-9),
        SVC("mixture(gaussian, linear)", time_limit=1e-9),
        KernelClassifier("mixture(gaussian, linear)", time_limit=1e-9),
    ],
)
def test_where_nothing_can_be_shown_a_sentence_says_so(model, monkeypatch):
    monkeypatch.setattr(time_limits, "_GRACE", 0.0)
    with pytest.raises(ValueError, match=r"the time limit of 1e-09 s was over before .* raise time_limit"):
        model.fit(X, y)


@pytest.mark.parametrize("model", [KernelClassifier(), KernelRegressor(loss="huber"), SVC(), SVR(), OneClassSVM()])
def test_under_any_limit_there_is_a_model_with_a_certificate(model):
    model.set_params(time_limit=1e-9)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.status_ == "not converged"
    assert np.isfinite(model.duality_gap_).all()
    assert model.predict(X).shape == y.shape


def test_a_model_of_zeros_is_certified_without_a_look_at_the_items():
    with pytest.warns(ConvergenceWarning):
        model = KernelClassifier(time_limit=1e-9).fit(X, y)
    np.testing.assert_allclose(model.objective_, np.log(2))
    np.testing.assert_allclose(model.duality_gap_, np.log(2))
