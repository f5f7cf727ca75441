"""scikit-learn's tools around classifiers take every classifier of mercer, and find the methods it has."""

import inspect
import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import special
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import DecisionBoundaryDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import DetCurveDisplay, PrecisionRecallDisplay, RocCurveDisplay, make_scorer, roc_auc_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelClassifier, KernelSearchCV, Pegasos, Perceptron
from mercer.preprocess import WithoutOutliers

matplotlib.use("Agg")

_draws = np.random.default_rng(3)
X = _draws.standard_normal((90, 2))
y = (X[:, 0] + 0.3 * _draws.standard_normal(90) > 0).astype(int)
THREE = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.7])]

CLASSIFIERS = {
    "svc": SVC("gaussian(gamma=0.5)"),
    "svc ovr": SVC(None, strategy="ovr"),
    "logistic": KernelClassifier("gaussian(gamma=0.5)", lam=0.01),
    "linear logistic": KernelClassifier(None, lam=0.01),
    "smooth hinge": KernelClassifier("gaussian(gamma=0.5)", "smooth_hinge", lam=0.01),
    "pegasos": Pegasos("gaussian(gamma=0.5)", lam=0.01, random_state=0),
    "perceptron": Perceptron("gaussian(gamma=0.5)", epochs=5, random_state=0),
    "voted": Perceptron(variant="voted", epochs=5, random_state=0),
    "without outliers": WithoutOutliers(KernelClassifier("gaussian(gamma=0.5)", lam=0.01)),
    "search": KernelSearchCV(KernelClassifier("gaussian(gamma=0.5)"), {"lam": [0.01, 0.1]}, cv=3),
    "pipeline": make_pipeline(StandardScaler(), KernelClassifier("gaussian(gamma=0.5)", lam=0.01)),
}
LIKELY = {name: model for name, model in CLASSIFIERS.items() if hasattr(model, "predict_proba")}
every = pytest.mark.parametrize("name", CLASSIFIERS)
likely = pytest.mark.parametrize("name", LIKELY)


@pytest.fixture(autouse=True)
def short_runs_and_no_figures_left():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield
    plt.close("all")


def test_who_has_probabilities():
    assert set(LIKELY) == {"logistic", "linear logistic", "without outliers", "search", "pipeline"}


@likely
@pytest.mark.parametrize("labels", [y, THREE])
def test_probabilities_and_their_logarithms(name, labels):
    model = clone(LIKELY[name])
    for method in ("predict_proba", "predict_log_proba"):
        assert getattr(model, method).__name__ == method
        with pytest.raises(NotFittedError):
            getattr(model, method)(X)
    model.fit(X, labels)
    chances, logs = model.predict_proba(X), model.predict_log_proba(X)
    scores = model.decision_function(X)
    expected = (
        special.softmax(scores, axis=1) if scores.ndim == 2 else np.c_[special.expit(-scores), special.expit(scores)]
    )
    np.testing.assert_allclose(chances, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(logs, np.log(expected), rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))


def test_logarithms_of_probabilities_below_the_smallest_number():
    model = KernelClassifier(None, lam=1e-6).fit([[-1.0], [1.0]], [0, 1])
    far = 2000 / model.coef_[0, 0]
    assert model.predict_proba([[-far]])[0, 1] == 0
    np.testing.assert_allclose(model.predict_log_proba([[-far]])[0], [0, -2000], rtol=1e-3)


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba"])
@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (SVC(), "SVC has no probabilities: .*CalibratedClassifierCV"),
        (Pegasos(), "Pegasos has no probabilities: .*CalibratedClassifierCV"),
        (Perceptron(), "Perceptron has no probabilities: .*CalibratedClassifierCV"),
        (KernelClassifier(loss="squared"), "no probabilities with loss='squared'; use loss='logistic'"),
        (KernelClassifier(loss="no such loss"), "no such loss"),
        (WithoutOutliers(SVC()), "SVC has no probabilities: .*CalibratedClassifierCV"),
    ],
)
def test_where_there_are_no_probabilities_the_reason_is_given(model, method, reason):
    assert not hasattr(model, method)
    with pytest.raises(AttributeError, match=reason):
        getattr(model, method)


def test_other_methods_that_depend_on_the_estimator():
    with pytest.raises(AttributeError, match=r"Pegasos.partial_fit is for linear models; with a kernel, call fit"):
        Pegasos("gaussian").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(AttributeError, match="SVC keeps no models of earlier stages"):
        SVC().staged_predict(X)
    assert not hasattr(KernelClassifier(), "staged_decision_function")
    assert hasattr(Pegasos(), "staged_predict")
    assert hasattr(Perceptron(), "partial_fit")
    assert list(inspect.signature(KernelClassifier.predict_proba).parameters) == ["self", "X"]
    assert inspect.isfunction(KernelClassifier.predict_proba)
    assert KernelClassifier.predict_proba.__doc__.startswith("The probability of each class")


def test_cells_of_a_search_answer_logarithms():
    # scikit-learn hands over the column of the second class
    scoring = make_scorer(lambda truth, logs: logs[truth == 1].mean(), response_method=["predict_log_proba"])
    grid = {"lam": [0.01, 0.1]}
    mine = KernelSearchCV(LIKELY["logistic"], grid, cv=3, scoring=scoring).fit(X, y)
    theirs = GridSearchCV(LIKELY["logistic"], grid, cv=3, scoring=scoring).fit(X, y)
    expected = theirs.cv_results_["mean_test_score"]
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], expected, rtol=1e-6, atol=1e-6)


# -- tools for every classifier -----------------------------------------------------------------------------------


@every
@pytest.mark.parametrize("labels", [y, THREE])
def test_stacking(name, labels):
    stack = StackingClassifier(
        [("one", CLASSIFIERS[name]), ("two", KernelClassifier(None))], LogisticRegression(), cv=3
    )
    assert stack.fit(X, labels).score(X, labels) > 0.8
    assert stack.stack_method_[0] == ("predict_proba" if name in LIKELY else "decision_function")


@every
@pytest.mark.parametrize("display", [RocCurveDisplay, PrecisionRecallDisplay, DetCurveDisplay])
def test_curves(name, display):
    model = clone(CLASSIFIERS[name]).fit(X, y)
    curve = display.from_estimator(model, X, y)
    if display is RocCurveDisplay:
        assert curve.roc_auc == pytest.approx(roc_auc_score(y, model.decision_function(X)))


@every
@pytest.mark.parametrize("labels", [y, THREE])
def test_boundaries(name, labels):
    model = clone(CLASSIFIERS[name]).fit(X, labels)
    methods = ["auto", "predict", "decision_function"] + ["predict_proba"] * (name in LIKELY)
    for method in methods:
        drawn = DecisionBoundaryDisplay.from_estimator(model, X, grid_resolution=5, response_method=method)
        assert drawn.response.shape[:2] == (5, 5)


@every
def test_thresholds(name):
    tuned = TunedThresholdClassifierCV(CLASSIFIERS[name], cv=3).fit(X, y)
    assert tuned.score(X, y) > 0.8
    assert FixedThresholdClassifier(CLASSIFIERS[name], threshold=-np.inf).fit(X, y).predict(X).all()


@every
@pytest.mark.parametrize("labels", [y, THREE])
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(name, labels, method):
    calibrated = CalibratedClassifierCV(CLASSIFIERS[name], method=method, cv=3).fit(X, labels)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    frozen = CalibratedClassifierCV(FrozenEstimator(clone(CLASSIFIERS[name]).fit(X, labels))).fit(X, labels)
    assert frozen.score(X, labels) > 0.8


@every
def test_cross_validated_predictions(name):
    methods = ["predict", "decision_function"] + ["predict_proba", "predict_log_proba"] * (name in LIKELY)
    for method in methods:
        assert len(cross_val_predict(CLASSIFIERS[name], X, THREE, cv=3, method=method)) == len(X)


@every
def test_inspection(name):
    model = clone(CLASSIFIERS[name]).fit(X, y)
    importances = permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean
    assert importances[0] > importances[1]
    for method in ["auto", "decision_function"] + ["predict_proba"] * (name in LIKELY):
        average = partial_dependence(model, X, [0], grid_resolution=5, response_method=method)["average"][0]
        assert average[-1] > average[0]


@every
def test_frozen(name):
    model = clone(CLASSIFIERS[name]).fit(X, y)
    frozen = FrozenEstimator(model).fit(X[:2], y[:2])
    assert is_classifier(frozen)
    np.testing.assert_array_equal(frozen.predict(X), model.predict(X))
    assert hasattr(frozen, "predict_proba") == (name in LIKELY)


@every
@pytest.mark.parametrize("strategy", [OneVsRestClassifier, OneVsOneClassifier])
def test_several_classes_from_two(name, strategy):
    several = strategy(CLASSIFIERS[name]).fit(X, THREE)
    assert several.score(X, THREE) > 0.7
    if strategy is OneVsRestClassifier and name in LIKELY:
        np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1)


@every
def test_several_targets(name):
    targets = np.c_[y, X[:, 1] > 0].astype(int)
    assert MultiOutputClassifier(CLASSIFIERS[name]).fit(X, targets).predict(X).shape == targets.shape
    chain = ClassifierChain(CLASSIFIERS[name], cv=3).fit(X, targets)
    assert chain.decision_function(X).shape == targets.shape


@every
def test_bagging_and_votes(name):
    bag = BaggingClassifier(CLASSIFIERS[name], n_estimators=3, random_state=0).fit(X, y)
    assert bag.score(X, y) > 0.8
    hard = VotingClassifier([("one", CLASSIFIERS[name]), ("two", KernelClassifier(None))]).fit(X, THREE)
    assert hard.score(X, THREE) > 0.7


# -- tools for probabilities --------------------------------------------------------------------------------------


@likely
def test_soft_votes(name):
    votes = VotingClassifier([("one", LIKELY[name]), ("two", KernelClassifier(None))], voting="soft").fit(X, THREE)
    parts = [model.predict_proba(X) for model in votes.estimators_]
    np.testing.assert_allclose(votes.predict_proba(X), np.mean(parts, axis=0), rtol=1e-12)


@likely
def test_calibration_curve(name):
    shown = CalibrationDisplay.from_estimator(clone(LIKELY[name]).fit(X, y), X, y, n_bins=3)
    assert shown.prob_pred.size == 3
