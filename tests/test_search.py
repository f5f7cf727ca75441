"""A search gives what scikit-learn's gives, whatever work is shared."""

from __future__ import annotations

import copy
from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_classification, make_moons
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, TargetEncoder
from sklearn.svm import SVC as ScikitSVC

from mercer import SVC, KernelClassifier, KernelQuantiles, KernelRegressor, Pegasos, Perceptron
from mercer.kernels import Gaussian, Linear
from mercer.search import KernelSearchCV, SharedStatistics

X, y = make_moons(240, noise=0.25, random_state=3)
X3, y3 = make_classification(200, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=1)
CV = StratifiedKFold(4, shuffle=True, random_state=0)

#: Learners whose path from one setting to the next is exact: the same scores to the last bit.
EXACT = [
    (Perceptron(None, random_state=0), {"epochs": [1, 3, 10]}),
    (Perceptron("gaussian", random_state=0), {"epochs": [1, 5], "kernel__gamma": [0.1, 2.0]}),
    (Perceptron("polynomial", variant="averaged", random_state=0), {"epochs": [2, 4], "kernel__degree": [2, 3]}),
    (Perceptron("gaussian", variant="voted", random_state=0), {"epochs": [1, 3]}),
    (Pegasos(None, random_state=0), {"steps": [50, 500], "lam": [1e-3, 1e-1]}),
    (Pegasos("gaussian", random_state=0), {"steps": [100, 400], "lam": [1e-2], "kernel__gamma": [0.5, 2.0]}),
    (Pegasos(None, loss="logistic", average=True, random_state=0), {"steps": [100, 300], "lam": [1e-2]}),
]


@pytest.mark.parametrize(("estimator", "grid"), EXACT, ids=str)
@pytest.mark.parametrize(("rows", "labels"), [(X, y), (X3, y3)], ids=["two", "three"])
def test_mistake_driven_learners_score_bit_for_bit_as_in_a_plain_grid(estimator, grid, rows, labels):
    mine = KernelSearchCV(estimator, grid, cv=CV, return_train_score=True).fit(rows, labels)
    theirs = GridSearchCV(estimator, grid, cv=CV, return_train_score=True).fit(rows, labels)
    assert mine.cv_results_["params"] == theirs.cv_results_["params"]
    for name in ("mean_test_score", "std_test_score", "rank_test_score", "mean_train_score"):
        np.testing.assert_array_equal(mine.cv_results_[name], theirs.cv_results_[name])
    assert mine.best_params_ == theirs.best_params_
    np.testing.assert_array_equal(mine.predict(rows), theirs.predict(rows))


@pytest.mark.parametrize(("rows", "labels"), [(X, y), (X3, y3), (sparse.csr_array(X), y)], ids=["two", "three", "csr"])
def test_svc_scores_as_scikit_learns(rows, labels):
    C, gamma = [0.1, 1, 10, 100], [0.1, 1, 5]
    mine = KernelSearchCV(SVC("gaussian"), {"C": C, "kernel__gamma": gamma}, cv=CV).fit(rows, labels)
    theirs = GridSearchCV(ScikitSVC(break_ties=True), {"C": C, "gamma": gamma}, cv=CV).fit(rows, labels)
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=2e-3)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KernelClassifier("gaussian"), {"lam": [1e-3, 1e-1], "kernel__gamma": [0.5, 2.0]}),
        (KernelClassifier(None, loss="squared_hinge"), {"lam": [1e-3, 1e-1, 1.0]}),
        (KernelClassifier("gaussian", loss="squared"), {"lam": [1e-3, 1e-1], "kernel__gamma": [0.5, 2.0]}),
        (KernelClassifier(None, loss="squared", fit_intercept=False), {"lam": [1e-3, 1e-1]}),
        (SVC(None), {"C": [0.1, 10]}),
        (SVC("gaussian", strategy="ovr"), {"C": [0.1, 10]}),
        (SVC(Gaussian() + Linear()), {"C": [1, 10], "kernel__left__gamma": [0.5, 2]}),
        (SVC("gaussian", class_weight="balanced"), {"C": [0.5, 5]}),
    ],
    ids=str,
)
def test_decision_values_are_those_of_plain_fits(estimator, grid):
    scoring = {"accuracy": "accuracy", "auc": "roc_auc"}
    mine = KernelSearchCV(estimator, grid, cv=CV, scoring=scoring, refit="auc").fit(X, y)
    theirs = GridSearchCV(estimator, grid, cv=CV, scoring=scoring, refit="auc").fit(X, y)
    np.testing.assert_allclose(mine.cv_results_["mean_test_auc"], theirs.cv_results_["mean_test_auc"], atol=1e-3)
    np.testing.assert_allclose(
        mine.cv_results_["mean_test_accuracy"], theirs.cv_results_["mean_test_accuracy"], atol=5e-3
    )


def test_probabilities_and_several_classes():
    search = KernelSearchCV(KernelClassifier("gaussian"), {"lam": [1e-2, 1e-1]}, cv=3, scoring="neg_log_loss").fit(
        X3, y3
    )
    plain = GridSearchCV(KernelClassifier("gaussian"), {"lam": [1e-2, 1e-1]}, cv=3, scoring="neg_log_loss").fit(X3, y3)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], rtol=1e-6, atol=1e-6
    )


def test_precomputed_strings_weights_and_other_estimators():
    K = Gaussian(gamma=2.0)(X)
    given = KernelSearchCV(SVC("precomputed"), {"C": [1, 10]}, cv=CV).fit(K, y)
    rows = KernelSearchCV(SVC("gaussian(gamma=2)"), {"C": [1, 10]}, cv=CV).fit(X, y)
    np.testing.assert_allclose(given.cv_results_["mean_test_score"], rows.cv_results_["mean_test_score"], atol=5e-3)
    assert given.predict(K).shape == y.shape

    weight = np.where(y == 1, 3.0, 0.5)
    mine = KernelSearchCV(SVC("gaussian"), {"C": [0.1, 1]}, cv=CV).fit(X, y, sample_weight=weight)
    theirs = GridSearchCV(SVC("gaussian"), {"C": [0.1, 1]}, cv=CV).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(mine.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=5e-3)

    foreign = KernelSearchCV(RidgeClassifier(), {"alpha": [0.1, 1]}, cv=CV).fit(X, y)
    plain = GridSearchCV(RidgeClassifier(), {"alpha": [0.1, 1]}, cv=CV).fit(X, y)
    np.testing.assert_array_equal(foreign.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])

    target = np.sin(3 * X[:, 0])
    regressor = KernelSearchCV(KernelRegressor("gaussian"), {"lam": [1e-4, 1e-2]}, cv=3).fit(X, target)
    reference = GridSearchCV(KernelRegressor("gaussian"), {"lam": [1e-4, 1e-2]}, cv=3).fit(X, target)
    np.testing.assert_allclose(regressor.cv_results_["mean_test_score"], reference.cv_results_["mean_test_score"])


class Recorder(TransformerMixin, BaseEstimator):
    """Remembers which rows it was fitted to."""

    seen: list[frozenset] = []  # noqa: RUF012

    def fit(self, X, y=None):
        Recorder.seen.append(frozenset(map(tuple, X)))
        return self

    def transform(self, X):
        return X


def test_preparation_is_fitted_to_training_rows_alone():
    Recorder.seen.clear()
    pipeline = make_pipeline(Recorder(), StandardScaler(), SVC("gaussian"))
    KernelSearchCV(pipeline, {"svc__C": [1, 10], "svc__kernel__gamma": [0.5, 1]}, cv=CV, refit=False).fit(X, y)
    folds = [frozenset(map(tuple, X[train])) for train, _ in CV.split(X, y)]
    assert Counter(Recorder.seen) == Counter(folds)  # once for each fold, whatever the number of settings


def test_a_leak_would_change_the_score():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    labels = (np.arange(60) % 2).astype(int)
    rows[:, 0] += 3 * labels
    rows[:12, 1] *= 1e4  # one fold is far out: scaled with it, the others are squeezed together
    folds = KFold(5)
    pipeline = make_pipeline(StandardScaler(), SVC("gaussian"))
    mine = KernelSearchCV(pipeline, {"svc__C": [1]}, cv=folds).fit(rows, labels)
    plain = GridSearchCV(pipeline, {"svc__C": [1]}, cv=folds).fit(rows, labels)
    leaking = KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=folds).fit(StandardScaler().fit_transform(rows), labels)
    np.testing.assert_array_equal(mine.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
    assert leaking.best_score_ != mine.best_score_


def same_as_plain(estimator, grid, cv=CV, rows=X, labels=y, **options):
    mine = KernelSearchCV(estimator, grid, cv=cv, **options).fit(rows, labels)
    theirs = GridSearchCV(estimator, grid, cv=cv, **options).fit(rows, labels)
    for name in theirs.cv_results_:
        if name.startswith("mean_test_"):
            np.testing.assert_allclose(mine.cv_results_[name], theirs.cv_results_[name], atol=5e-3)
    return mine


def test_settings_that_print_alike_are_told_apart():
    linear, cubic = (lambda A, B: A @ B.T), (lambda A, B: (A @ B.T + 1) ** 3)
    search = same_as_plain(Perceptron(random_state=0), {"kernel": [linear, cubic]})
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0


def test_folds_with_repeated_rows_or_the_same_training_rows():
    rng = np.random.default_rng(0)
    bootstrap = [(rng.integers(0, 240, 240), rng.permutation(240)[:60]) for _ in range(2)]
    same_as_plain(SVC("gaussian"), {"C": [1, 10]}, cv=bootstrap)
    same_as_plain(Perceptron("gaussian", random_state=0), {"epochs": [1, 5]}, cv=bootstrap)
    train = np.arange(150)
    same_as_plain(SVC("gaussian"), {"C": [1]}, cv=[(train, np.arange(150, 190)), (train, np.arange(190, 240))])
    everything = np.arange(240)
    assert same_as_plain(SVC("gaussian"), {"C": [1]}, cv=[(everything, everything)]).predict(X).shape == y.shape


def test_scorers_written_by_hand_see_rows_and_model():
    scoring = {"sum": lambda model, rows, truth: float(rows.sum()), "accuracy": "accuracy"}
    same_as_plain(SVC("gaussian"), {"C": [1, 10]}, scoring=scoring, refit="accuracy")
    search = same_as_plain(SVC("gaussian"), {"C": [1]}, scoring=lambda model, rows, truth: len(model.support_))
    assert search.score(X, y) == len(search.best_estimator_.support_)
    K = Gaussian(gamma=2.0)(X)
    same_as_plain(SVC("precomputed"), {"C": [1]}, rows=K, scoring=lambda model, rows, truth: float(rows.shape[1]))


def test_what_fit_refuses_has_no_score():
    grid = {"kernel": ["sigmoid(gamma=2, coef0=-1)", "gausian", "gaussian"]}
    with pytest.warns(Warning, match="fits failed"):
        search = KernelSearchCV(SVC(), grid, cv=3).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, True, False]


def test_steps_are_fitted_and_applied_as_a_pipeline_does():
    words = np.array([["a"], ["b"], ["c"]], dtype=object)[np.random.default_rng(0).integers(0, 3, 240)]
    same_as_plain(make_pipeline(TargetEncoder(random_state=0), SVC("gaussian")), {"svc__C": [1]}, rows=words)


def test_a_fitted_search_can_be_copied_and_a_journal_knows_its_weights(tmp_path):
    search = KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3).fit(X, y)
    np.testing.assert_array_equal(copy.deepcopy(search).predict(X), search.predict(X))
    path = tmp_path / "journal"
    KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3, journal=path).fit(X, y)
    with pytest.raises(ValueError, match="belongs to a search on other rows"):
        KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3, journal=path).fit(X, y, sample_weight=np.arange(240) + 1.0)
    with pytest.raises(ValueError, match="there is no folder"):
        KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3, journal=tmp_path / "none" / "journal").fit(X, y)
    with pytest.raises(ValueError, match="empty"):
        KernelSearchCV(SVC("gaussian"), {"C": []}, strategy="path").fit(X, y)


def test_a_search_in_which_nothing_fits_says_why_in_one_sentence():
    with pytest.raises(ValueError, match=r"^no setting of the search could be fitted: SVC: C must be .* got -1\.$"):
        KernelSearchCV(SVC("gaussian"), {"C": [-1, -1]}, cv=CV).fit(X, y)
    with pytest.raises(ValueError, match="no setting of the search could be fitted: SVC: tol must"):
        KernelSearchCV(make_pipeline(StandardScaler(), SVC("gaussian", tol=-1)), {"svc__C": [1, 2]}, cv=CV).fit(X, y)


def test_folds_with_steps_are_the_same_on_any_number_of_threads(monkeypatch):
    pipeline = make_pipeline(StandardScaler(), SVC("gaussian"))
    scores = []
    for threads in ("1", "3"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", threads)
        search = KernelSearchCV(pipeline, {"svc__C": [0.1, 1, 10]}, cv=CV)
        scores.append(search.fit(X, y).cv_results_["mean_test_score"])
    np.testing.assert_array_equal(*scores)


class CountingRows(Gaussian):
    """A Gaussian whose width is for the training items to decide: γ = 1/(variance of all numbers)."""

    def __init__(self, gamma="spread"):
        super().__init__(gamma)

    def check(self):
        assert self.gamma == "spread"

    @property
    def is_resolved(self):
        return False

    def resolved(self, items, weight=None):
        CountingRows.seen.append(len(items))
        return Gaussian(gamma=1 / float(items.var()))

    seen: list[int] = []  # noqa: RUF012


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (SVC(CountingRows()), {"C": [0.1, 10]}),
        (KernelClassifier(CountingRows()), {"lam": [1e-3, 1e-1]}),
        (KernelRegressor(CountingRows()), {"lam": [1e-3, 1e-1]}),
        (Perceptron(CountingRows(), random_state=0), {"epochs": [1, 5]}),
        (make_pipeline(StandardScaler(), SVC(CountingRows())), {"svc__C": [0.1, 10]}),
    ],
    ids=str,
)
def test_parameters_that_the_data_decide_are_decided_by_training_rows(estimator, grid):
    rows = X * np.linspace(0.5, 4, len(X))[:, None]  # folds in the order of the file have widths of their own
    folds = KFold(4)
    mine = KernelSearchCV(estimator, grid, cv=folds).fit(rows, y)
    plain = GridSearchCV(estimator, grid, cv=folds).fit(rows, y)
    for k in range(4):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(mine.cv_results_[name], plain.cv_results_[name], atol=1e-6)
    machine = mine.best_estimator_ if not hasattr(mine.best_estimator_, "steps") else mine.best_estimator_[-1]
    prepared = StandardScaler().fit_transform(rows) if machine is not mine.best_estimator_ else rows
    assert machine.kernel == CountingRows()
    assert machine.kernel_ == Gaussian(gamma=1 / prepared.var())


def test_statistics_are_shared_where_each_fold_has_a_matrix_of_its_own(monkeypatch):
    computed = []
    statistic = Gaussian.statistic
    whole = SharedStatistics.matrix

    def counted(self, kernel, place=0):
        before = set(self._known)
        out = whole(self, kernel, place)
        computed.extend(set(self._known) - before)
        return out

    monkeypatch.setattr(SharedStatistics, "matrix", counted)
    CountingRows.seen.clear()
    KernelSearchCV(SVC(CountingRows()), {"C": [1, 10]}, cv=KFold(4), refit=False).fit(X, y)
    assert computed == [statistic]
    assert CountingRows.seen == [180] * 4


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KernelRegressor("gaussian"), {"lam": [1e-4, 1e-2, 1], "kernel__gamma": [0.5, 2.0]}),
        (KernelRegressor("gaussian", fit_intercept=False), {"lam": [1e-4, 1e-2]}),
        (KernelRegressor(None), {"lam": [1e-4, 1e-2]}),
        (KernelRegressor("gaussian", "huber"), {"lam": [1e-4, 1e-2], "kernel__gamma": [0.5, 2.0]}),
        (KernelRegressor("gaussian", "epsilon_insensitive"), {"lam": [1e-3, 1e-2, 1e-1], "kernel__gamma": [0.5]}),
        (KernelRegressor(None, "epsilon_insensitive"), {"lam": [1e-2, 1e-1]}),
        (make_pipeline(StandardScaler(), KernelRegressor("gaussian")), {"kernelregressor__lam": [1e-3, 1e-1]}),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_regressors_score_as_in_a_plain_grid(estimator, grid, weighted, monkeypatch):
    target = 1e3 + 50 * np.sin(2 * X[:, 0]) + X[:, 1]
    weight = np.random.default_rng(0).uniform(0.2, 2, len(X)) if weighted else None
    name = "kernelregressor__sample_weight" if hasattr(estimator, "steps") else "sample_weight"
    folds = KFold(3, shuffle=True, random_state=0)
    scoring = ["r2", "neg_mean_squared_error", "neg_max_error"]
    options = {"cv": folds, "scoring": scoring, "refit": "neg_mean_squared_error", "return_train_score": True}
    theirs = GridSearchCV(estimator, grid, **options).fit(X, target, **({name: weight} if weighted else {}))
    fits = []
    whole = KernelRegressor.fit
    monkeypatch.setattr(KernelRegressor, "fit", lambda *given, **more: fits.append(1) or whole(*given, **more))
    mine = KernelSearchCV(estimator, grid, **options).fit(X, target, **({name: weight} if weighted else {}))
    assert len(fits) == 1  # the winner; all cells were shared
    for part in ("test", "train"):
        column = f"mean_{part}_r2"
        np.testing.assert_allclose(mine.cv_results_[column], theirs.cv_results_[column], atol=1e-5)
    column = "mean_test_neg_max_error"
    np.testing.assert_allclose(mine.cv_results_[column], theirs.cv_results_[column], rtol=1e-3)
    assert mine.best_params_ == theirs.best_params_
    usual = KernelSearchCV(estimator, grid, cv=options["cv"]).fit(X, target)
    assert usual.best_score_ == pytest.approx(
        GridSearchCV(estimator, grid, cv=options["cv"]).fit(X, target).best_score_
    )


def test_parameters_that_shape_predictions_are_those_of_the_cell():
    """Levels of quantiles, and a loss that decides what costs do, differ from cell to cell of a search."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=60)
    rows = rng.normal(size=(60, 2))
    cases = [
        (KernelQuantiles(quantiles=(0.1, 0.9)), {"quantiles": [(0.1, 0.9), (0.4, 0.6)]}, y),
        (KernelQuantiles(), {"quantiles": [0.5, (0.1, 0.9)]}, y),
        (KernelClassifier(costs=[[0, 1], [5, 0]]), {"loss": ["squared", "logistic"], "lam": [0.1, 1.0]}, y > 0.3),
    ]
    for machine, grid, target in cases:
        ours, theirs = (kind(machine, grid, cv=KFold(3)).fit(rows, target) for kind in (KernelSearchCV, GridSearchCV))
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-4
        )
