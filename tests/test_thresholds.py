"""The threshold that scores best is the one that scikit-learn finds, from machines that share a matrix."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, fbeta_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import SVC, Calibrated, KernelClassifier, TunedThreshold

from .structured import LABELS, WORDS

X, y = make_classification(300, 5, weights=[0.85], flip_y=0.1, random_state=0)
words = np.where(y == 1, "rare", "usual")
machine = SVC("gaussian(gamma=0.2)", C=0.5, tol=1e-6)
later = partial(pytest.param, marks=pytest.mark.thorough)


@pytest.mark.thorough
@parametrize_with_checks(
    [TunedThreshold(SVC(), cv=2, thresholds=20)],
    expected_failed_checks=lambda estimator: {"check_classifiers_train": "the threshold need not be 0"},
)
def test_what_scikit_learn_asks_of_estimators(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("estimator", "labels", "options"),
    [
        (machine, y, {}),
        (machine, y, {"scoring": "accuracy", "thresholds": 31, "cv": 3}),
        later(machine, y, {"scoring": "f1", "cv": StratifiedKFold(4, shuffle=True, random_state=0)}),
        (machine, words, {"scoring": make_scorer(fbeta_score, beta=2, pos_label="rare"), "thresholds": 31}),
        later(machine, words, {"scoring": make_scorer(fbeta_score, beta=2, pos_label="usual")}),
        (machine, y, {"thresholds": [-1.0, -0.5, 0.0, 0.5]}),
        later(machine, y, {"cv": ShuffleSplit(4, random_state=0)}),
        (machine, y, {"cv": 0.3, "refit": False, "random_state": 0}),
        (KernelClassifier("gaussian(gamma=0.2)", lam=1e-2), y, {"thresholds": 31}),
        later(KernelClassifier("gaussian(gamma=0.2)", lam=1e-2), y, {"response_method": "decision_function"}),
        later(make_pipeline(StandardScaler(), machine), y, {}),
        (Calibrated(machine, cv=3), y, {"cv": 3}),
        later(LogisticRegression(), y, {}),
    ],
)
def test_as_scikit_learn_does(estimator, labels, options):
    peer = TunedThresholdClassifierCV(clone(estimator), store_cv_results=True, **options).fit(X, labels)
    found = TunedThreshold(clone(estimator), store_cv_results=True, **options).fit(X, labels)
    assert found.best_threshold_ == pytest.approx(peer.best_threshold_, abs=1e-3)
    assert found.best_score_ == pytest.approx(peer.best_score_, abs=0.01)
    np.testing.assert_allclose(found.cv_results_["thresholds"], peer.cv_results_["thresholds"], atol=1e-3)
    assert np.abs(found.cv_results_["scores"] - peer.cv_results_["scores"]).mean() < 2e-3
    assert (found.predict(X) == peer.predict(X)).mean() > 0.99


def test_machines_of_folds_are_fitted_together(monkeypatch):
    fits = []
    fit = SVC.fit
    monkeypatch.setattr(SVC, "fit", lambda self, *a, **k: fits.append(1) or fit(self, *a, **k))
    TunedThreshold(machine).fit(X, y)
    assert len(fits) == 1


def test_what_is_scored_improves_on_new_rows():
    model = TunedThreshold(machine).fit(X[:200], y[:200])
    plain = clone(machine).fit(X[:200], y[:200])
    scores = [balanced_accuracy_score(y[200:], each.predict(X[200:])) for each in (model, plain)]
    assert scores[0] > scores[1]
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    fixed = FixedThresholdClassifier(plain, threshold=model.best_threshold_, response_method="decision_function")
    np.testing.assert_array_equal(model.predict(X), fixed.fit(X[:200], y[:200]).predict(X))


def test_weights_count_as_rows_that_come_again():
    weight = np.where(y == 1, 5.0, 1.0)
    heavy, plain = (TunedThreshold(machine, scoring="accuracy").fit(X, y, w) for w in (weight, None))
    assert heavy.predict(X).mean() > plain.predict(X).mean()
    piped = TunedThreshold(make_pipeline(StandardScaler(), machine), scoring="accuracy").fit(X, y, weight)
    assert piped.predict(X).mean() > plain.predict(X).mean()


@pytest.mark.thorough
def test_frames_strings_and_searches():
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = TunedThreshold(make_pipeline(StandardScaler(), machine)).fit(frame, words)
    assert model.feature_names_in_.tolist() == list("abcde")
    assert set(model.predict(frame)) == {"rare", "usual"}
    assert set(TunedThreshold(SVC("spectrum(p=2)"), cv=2).fit(WORDS, LABELS).predict(WORDS)) <= set(LABELS)
    grid = GridSearchCV(TunedThreshold(machine, cv=3), {"estimator__C": [0.1, 1]}, cv=3, scoring="f1").fit(X, y)
    assert grid.best_params_["estimator__C"] in (0.1, 1)


def test_files_and_pickles(tmp_path):
    model = TunedThreshold(make_pipeline(StandardScaler(), machine), scoring="f1").fit(X, y)
    path = tmp_path / "model.safetensors"
    mercer.save(model, path)
    for back in (mercer.load(path), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        assert back.best_threshold_ == model.best_threshold_


def test_what_cannot_be():
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        TunedThreshold(machine).fit(X, np.arange(300) % 3)
    with pytest.raises(ValueError, match="refit cannot be False"):
        TunedThreshold(machine, refit=False).fit(X, y)
    with pytest.raises(ValueError, match="constant predictions"):
        TunedThreshold(SVC("gaussian(gamma=1)")).fit(np.ones((300, 2)), y)


def test_rows_without_weight_fill_no_folds():
    rows, labels = make_classification(200, random_state=0)
    weight = np.repeat([0.0, 1.0], [60, 140])
    weighted = TunedThreshold(SVC()).fit(rows, labels, sample_weight=weight)
    assert weighted.best_threshold_ == TunedThreshold(SVC()).fit(rows[60:], labels[60:]).best_threshold_
