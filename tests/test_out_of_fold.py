"""Scores of rows that a machine has not seen are those of plain cross-validation, whatever is shared."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris, make_moons, make_regression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron
from mercer.kernels import Spectrum
from mercer.preprocess import OutlierFilter, WithoutOutliers
from mercer.search import SharedStatistics, out_of_fold

from .structured import LABELS, WORDS

X, y = make_moons(150, noise=0.25, random_state=0)
numbers, target = make_regression(120, 4, noise=3.0, random_state=0)
iris, species = load_iris(return_X_y=True)
species = np.array(["setosa", "versicolor", "virginica"])[species]
frame = pd.DataFrame(X, columns=["a", "b"])

CASES = {
    "two classes": (SVC("gaussian(gamma=1)", tol=1e-6), X, y),
    "gamma from the rows": (SVC("rbf", tol=1e-6), X, y),
    "linear": (SVC("linear", tol=1e-6), X, y),
    "hard margin": (SVC("gaussian(gamma=5)", C=np.inf, tol=1e-6), iris[:100], species[:100]),
    "pairs": (SVC("gaussian(gamma=0.3)", tol=1e-6), iris, species),
    "against the rest": (SVC("gaussian(gamma=0.3)", strategy="ovr", tol=1e-6), iris, species),
    "softmax": (KernelClassifier("gaussian(gamma=0.3)", lam=1e-2), iris, species),
    "squared": (KernelClassifier("gaussian(gamma=1)", "squared"), X, y),
    "gradient": (KernelClassifier("gaussian(gamma=1)", solver="gradient", lam=0.1, max_iter=2), X, y),
    "perceptron": (Perceptron("gaussian(gamma=1)", random_state=0), X, y),
    "pegasos": (Pegasos("gaussian(gamma=1)", steps=500, random_state=0), X, y),
    "ridge": (KernelRegressor("gaussian(gamma=0.1)"), numbers, target),
    "tube": (KernelRegressor("gaussian(gamma=0.1)", "epsilon_insensitive"), numbers, target),
    "pipeline": (make_pipeline(StandardScaler(), SVC("gaussian(gamma=1)", tol=1e-6)), X, y),
    "scaled regression": (make_pipeline(StandardScaler(), KernelRegressor("gaussian(gamma=0.1)")), numbers, target),
    "without outliers": (WithoutOutliers(SVC("gaussian(gamma=1)", tol=1e-6), OutlierFilter()), X, y),
    "frame": (make_pipeline(StandardScaler(), SVC("rbf", tol=1e-6)), frame, y),
    "sparse": (SVC("rbf", tol=1e-6), sparse.csr_array(np.where(X > 0, X, 0)), y),
    "strings": (SVC(Spectrum(p=2), tol=1e-6), WORDS, LABELS),
    "matrix": (SVC("precomputed", tol=1e-6), X @ X.T + np.eye(len(X)), y),
    "another's": (LogisticRegression(), X, y),
}


def plainly(estimator, X, y, splits):
    method = "decision_function" if is_classifier(estimator) else "predict"
    return cross_val_predict(clone(estimator), X, y, cv=splits, method=method)


@pytest.mark.parametrize("name", CASES)
def test_as_plain_cross_validation(name):
    estimator, rows, labels = CASES[name]
    folds = KFold if np.asarray(labels).dtype.kind == "f" else StratifiedKFold
    splits = list(folds(3, shuffle=True, random_state=1).split(np.zeros(len(labels)), labels))
    found = out_of_fold(estimator, rows, labels, splits)
    plain = plainly(estimator, rows, np.asarray(labels), splits)
    scale = np.abs(plain).max()
    np.testing.assert_allclose(found.decisions, plain, atol=2e-4 * scale)
    assert not hasattr(estimator, "classes_")


def test_one_matrix_serves_all_folds(monkeypatch):
    made = []
    whole = SharedStatistics.matrix
    monkeypatch.setattr(SharedStatistics, "matrix", lambda *a, **k: made.append(1) or whole(*a, **k))
    monkeypatch.setattr(SVC, "fit", lambda *a, **k: pytest.fail("a plain fit"))
    out_of_fold(SVC("gaussian(gamma=1)"), X, y, StratifiedKFold(5).split(X, y))
    assert len(made) == 1


@pytest.mark.parametrize(
    "estimator",
    [SVC("gaussian(gamma=1)", tol=1e-6), make_pipeline(StandardScaler(), SVC("gaussian(gamma=1)", tol=1e-6))],
)
def test_weights_are_divided_among_the_folds(estimator):
    weight = np.random.default_rng(0).integers(0, 4, len(y)).astype(float)
    splits = list(StratifiedKFold(4).split(X, y))
    found = out_of_fold(estimator, X, y, splits, weight).decisions
    name = "svc__sample_weight" if hasattr(estimator, "steps") else "sample_weight"
    for train, test in splits:
        plain = clone(estimator).fit(X[train], y[train], **{name: weight[train]}).decision_function(X[test])
        np.testing.assert_allclose(found[test], plain, atol=1e-4)


def test_weights_of_an_estimator_of_another_library():
    weight = np.random.default_rng(0).uniform(0.1, 4, len(y))
    splits = list(StratifiedKFold(4).split(X, y))
    found = out_of_fold(GaussianNB(), X, y, splits, weight).decisions
    for train, test in splits:
        plain = GaussianNB().fit(X[train], y[train], weight[train]).predict_proba(X[test])[:, 1]
        np.testing.assert_allclose(found[test], plain)


def test_a_matrix_that_does_not_fit_changes_nothing():
    splits = list(StratifiedKFold(4).split(X, y))
    machine = SVC("gaussian(gamma=1)", tol=1e-6)
    small = out_of_fold(machine, X, y, splits, memory=1000).decisions
    np.testing.assert_allclose(small, out_of_fold(machine, X, y, splits).decisions, atol=1e-4)


def test_groups_stay_together():
    groups = np.repeat(np.arange(30), 5)
    splits = list(GroupKFold(5).split(X, y, groups))
    found = out_of_fold(SVC("gaussian(gamma=1)", tol=1e-6), X, y, splits)
    np.testing.assert_allclose(found.decisions, plainly(SVC("gaussian(gamma=1)", tol=1e-6), X, y, splits), atol=1e-4)
    assert [test.tolist() for _, test in found.splits] == [test.tolist() for _, test in splits]


def test_folds_must_divide_the_rows():
    with pytest.raises(ValueError, match=r"need folds that divide the rows, but row \d+ is a test row \d times"):
        out_of_fold(SVC(), X, y, ShuffleSplit(3, random_state=0).split(X))


def test_a_class_that_a_fold_has_not_seen():
    with pytest.raises(ValueError, match="fold 0 has no training row of class 'setosa'; use fewer or stratified folds"):
        out_of_fold(SVC(), iris, species, KFold(3).split(iris))


def test_what_a_fit_refuses_is_refused():
    broken = X.copy()
    broken[3, 0] = np.nan
    with pytest.raises(ValueError, match="row 3"):
        out_of_fold(
            SVC("gaussian(gamma=1)"),
            broken,
            y,
            [(np.arange(75), np.arange(75, 150)), (np.arange(75, 150), np.arange(75))],
        )
    with pytest.raises(ValueError, match="C must be a number"):
        out_of_fold(SVC(C=-1), X, y, StratifiedKFold(3).split(X, y))
