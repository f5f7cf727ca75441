"""A search is what GridSearchCV is: its scorers, splits, labels, parameters, callbacks, words, and errors."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.decomposition import PCA
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.neighbors import KernelDensity
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import KernelCenterer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mercer import SVC, KernelClassifier, KernelRegressor, Perceptron
from mercer.kernels import Gaussian, Linear
from mercer.preprocess import OutlierFilter, WithoutOutliers
from mercer.search import KernelSearchCV, SharedCells, nested_cross_validation
from reproductions.draws import Edges, draw
from reproductions.drop_in import difference, fitted

X, y = make_moons(120, noise=0.25, random_state=3)


def both(estimator, grid, rows=X, labels=y, params=None, **options):
    """The two searches, once their results are the same."""
    mine = KernelSearchCV(estimator, grid, **options).fit(rows, labels, **(params or {}))
    theirs = GridSearchCV(estimator, grid, **options).fit(rows, labels, **(params or {}))
    assert list(mine.cv_results_) == list(theirs.cv_results_)
    for name in theirs.cv_results_:
        if "_test_" in name or "_train_" in name:
            np.testing.assert_allclose(mine.cv_results_[name], theirs.cv_results_[name], atol=1e-9, err_msg=name)
    assert type(mine.scorer_) is type(theirs.scorer_)
    return mine, theirs


@pytest.mark.parametrize("seed", range(40))
def test_random_searches_end_as_grid_searches_do(seed):
    case = draw(seed)
    what, _ = difference(case, fitted(KernelSearchCV, case), fitted(GridSearchCV, draw(seed)))
    assert what is None, str(case)


class Counting(SVC):
    def score(self, X, y=None):
        return float(len(self.support_))


class Silent(SVC):
    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


def test_the_estimators_own_score_counts():
    both(KernelDensity(), {"bandwidth": [0.1, 1.0]}, labels=None)
    both(PCA(), {"n_components": [1, 2]}, labels=None)
    both(KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, labels=None)
    both(KMeans(n_init=1, random_state=0), {"n_clusters": [2, 3]}, labels=None, scoring=lambda m, rows: -m.score(rows))
    mine, _ = both(Counting("gaussian"), {"C": [0.1, 10]})
    assert mine.best_score_ > 1
    assert both(make_pipeline(StandardScaler(), Counting()), {"counting__C": [0.1, 10]})[0].best_score_ > 1


def test_what_cannot_be_scored_is_refused_before_anything_else():
    class Unscored(SVC):
        @property
        def score(self):
            raise AttributeError

    for kind in (KernelSearchCV, GridSearchCV):
        with pytest.raises(TypeError, match="no scoring"):
            kind(Unscored(), {"C": [1]}).fit([[1]])


def test_a_step_with_its_own_score_among_machines():
    mine, _ = both(Pipeline([("last", SVC())]), {"last": [SVC("gaussian"), Counting("gaussian")]})
    assert mine.best_score_ > 1


def test_labels_in_a_column():
    both(SVC("gaussian"), {"C": [1, 10]}, labels=y[:, None])
    frame = pd.DataFrame({"label": y}, index=np.arange(120)[::-1])
    both(SVC("gaussian"), {"C": [1, 10]}, labels=frame, scoring=["accuracy", "roc_auc"], refit="roc_auc")
    both(make_pipeline(StandardScaler(), Perceptron(random_state=0)), {"perceptron__epochs": [1, 3]}, labels=frame)
    both(WithoutOutliers(SVC("gaussian"), OutlierFilter()), {"estimator__C": [1, 10]}, labels=y[:, None])


def test_splitters_see_the_rows_of_the_user():
    mine, _ = both(SVC("gaussian"), {"C": [1, 10]}, cv=Edges())
    assert mine.n_splits_ == 2
    both(SVC("gaussian"), {"C": [1, 10]}, rows=pd.DataFrame(X, columns=["a", "b"]), cv=Edges())
    groups = np.repeat(np.arange(12), 10)
    both(SVC("gaussian"), {"C": [1, 10]}, cv=GroupKFold(3), params={"groups": groups})
    masks = [(X[:, 0] < 1, X[:, 0] >= 1), (X[:, 1] < 0.5, np.arange(-20, 0))]
    both(SVC("gaussian"), {"C": [1, 10]}, cv=masks)

    class Twice(KFold):
        def get_n_splits(self, X=None, y=None, groups=None):
            return 2

    with pytest.raises(ValueError, match="inconsistent results"):
        KernelSearchCV(SVC(), {"C": [1]}, cv=Twice(3)).fit(X, y)


def test_kernels_of_the_grid_stay_as_they_are():
    kernels = [Gaussian(gamma=3.0), Gaussian(gamma=5.0)]
    both(SVC(), {"kernel": kernels, "kernel__gamma": [0.1, 1.0]})
    both(KernelClassifier(), {"kernel": kernels, "kernel__gamma": [0.1, 1.0]})
    assert [kernel.gamma for kernel in kernels] == [3.0, 5.0]
    assert KernelSearchCV(SVC(kernels[0]), {"kernel__gamma": [1.0]}).fit(X, y).best_estimator_.kernel_.gamma == 1.0
    assert kernels[0].gamma == 3.0


def test_a_search_can_be_fitted_again_with_other_settings():
    search = KernelSearchCV(SVC("gaussian"), {"C": [1, 10]}, cv=3).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert search.feature_names_in_.tolist() == ["a", "b"]
    search.set_params(refit=False).fit(X, y)
    assert not hasattr(search, "best_estimator_")
    assert not hasattr(search, "feature_names_in_")
    assert search.set_params(refit=True, scoring=["accuracy", "f1"]).set_params(refit="f1").fit(X, y).multimetric_
    assert list(search.scorer_) == ["accuracy", "f1"]
    assert search.score(X, y) > 0.8


def test_fit_need_not_return_anything():
    both(Silent("gaussian"), {"C": [1, 10]})
    both(Pipeline([("last", SVC())]), {"last": [SVC("gaussian"), Silent("gaussian")]})


def test_several_metrics():
    scoring = {"a": "accuracy", "b": "roc_auc"}
    mine, theirs = both(SVC("gaussian"), {"C": [1, 10]}, scoring=scoring, refit="b")
    assert sorted(mine.scorer_) == sorted(theirs.scorer_)
    assert mine.score(X, y) == pytest.approx(theirs.score(X, y))
    both(SVC("gaussian"), {"C": [1, 10]}, scoring=scoring, refit=lambda results: 1)
    both(SVC("gaussian"), {"C": [1, 10]}, scoring=lambda model, rows, truth: {"one": 1.0, "two": 2.0}, refit="two")
    with pytest.raises(ValueError, match="refit must be set to a scorer key"):
        KernelSearchCV(SVC(), {"C": [1]}, scoring=scoring).fit(X, y)


def test_words_about_progress(capsys):
    both(SVC("gaussian(gamma=1)"), {"C": [1, 10]}, cv=3, verbose=3)
    out, err = capsys.readouterr()
    lines = re.sub(r"time= *\S+", "time=", out).splitlines()
    assert lines[0] == "Fitting 3 folds for each of 2 candidates, totalling 6 fits"
    assert lines[: len(lines) // 2] == lines[len(lines) // 2 :]
    assert "6 of 6 fits" in err
    KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": np.logspace(-2, 2, 20)}, cv=5, verbose=1).fit(X, y)
    out, err = capsys.readouterr()
    assert out.count("\n") == 1
    assert 1 < err.count("\n") <= 10
    KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3).fit(X, y)
    assert capsys.readouterr() == ("", "")


class Watch:
    """A callback that counts."""

    def __init__(self):
        self.begun, self.ended, self.names = 0, 0, []

    def setup(self, estimator, context):
        self.names.append(type(estimator).__name__)

    def on_fit_task_begin(self, estimator, context, **_):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, **_):
        self.ended += 1

    def teardown(self, estimator, context):
        self.names.append("over")


@pytest.mark.skipif(not hasattr(GridSearchCV, "set_callbacks"), reason="this scikit-learn has no callbacks")
@pytest.mark.filterwarnings("ignore:The estimator")
def test_callbacks_are_called_as_often_as_in_a_grid_search():
    counts = []
    for kind in (KernelSearchCV, GridSearchCV):
        watch = Watch()
        kind(SVC("gaussian"), {"C": [1, 10]}, cv=3).set_callbacks(watch).fit(X, y)
        counts.append((watch.begun, watch.ended))
        assert watch.names == [kind.__name__, "over"]
    assert counts[0] == counts[1]
    for strategy in ("halving", "path", "random"):
        watch = Watch()
        KernelSearchCV(SVC("gaussian"), {"C": [1, 10]}, cv=3, strategy=strategy).set_callbacks(watch).fit(X, y)
        assert watch.begun == watch.ended > 6


def test_weights_reach_the_scorer_as_in_a_grid_search():
    weight = np.where(y == 1, 5.0, 0.2)
    both(SVC("gaussian"), {"C": [0.1, 1]}, params={"sample_weight": weight})
    both(SVC("gaussian"), {"C": [0.1, 1]}, params={"sample_weight": weight.tolist()}, scoring="accuracy")
    both(SVC("gaussian"), {"C": [0.1, 1]}, params={"sample_weight": 2.0})
    pipeline = make_pipeline(StandardScaler(), SVC("gaussian"))
    both(pipeline, {"svc__C": [0.1, 1]}, params={"svc__sample_weight": weight})


def test_routed_metadata():
    weight, groups = np.arange(120) + 1.0, np.arange(120) % 6
    with config_context(enable_metadata_routing=True):
        machine = SVC("gaussian").set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        params = {"sample_weight": weight, "groups": groups}
        both(machine, {"C": [0.1, 1]}, params=params, cv=GroupKFold(3))
        machine = SVC("gaussian").set_fit_request(sample_weight=False).set_score_request(sample_weight=True)
        both(machine, {"C": [0.1, 1]}, params=params, cv=GroupKFold(3))
        mine, _ = both(SVC("gaussian"), {"C": [0.1, 1]})
        with pytest.raises(TypeError, match="got unexpected argument"):
            mine.score(X, y, nonsense=1)


def test_arguments_of_a_grid_search():
    both(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, n_jobs=2, pre_dispatch=2)
    with pytest.raises(ValueError, match="'error_score' parameter"):
        KernelSearchCV(SVC(), {"C": [1]}, error_score="rise").fit(X, y)
    with pytest.raises(ValueError, match="'param_grid' parameter"):
        KernelSearchCV(SVC(), "C").fit(X, y)


class Broken(Linear):
    """A kernel that is no number between rows that are far out."""

    def apply(self, values):
        return np.where(np.abs(values) > 1.5, np.nan, values)

    def diag(self, A):
        return np.ones(len(A))


@pytest.mark.parametrize("labels", [y, np.arange(120) % 3], ids=["two", "three"])
@pytest.mark.parametrize("estimator", [SVC(), SVC(strategy="ovr"), KernelClassifier(loss="squared"), Perceptron()])
def test_scores_that_are_no_numbers_are_no_scores(estimator, labels):
    search = KernelSearchCV(estimator, {"kernel": [Broken(), "gaussian"]}, cv=3)
    with pytest.warns(Warning, match="failed"):
        search.fit(X, labels)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
    with pytest.raises((ValueError, ArithmeticError)):
        search.set_params(error_score="raise").fit(X, labels)


class Nervous(TransformerMixin, BaseEstimator):
    """Cannot bear what it finds in some rows."""

    def __init__(self, calm=True):
        self.calm = calm

    def fit(self, X, y=None):
        if not self.calm:
            raise RuntimeError("not these rows")
        return self

    def transform(self, X):
        return X


def test_errors_of_any_kind_are_failed_fits():
    pipeline = Pipeline([("nervous", Nervous()), ("svc", SVC("gaussian"))])
    with pytest.warns(Warning, match="fits failed"):
        search = KernelSearchCV(pipeline, {"nervous__calm": [False, True]}).fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False]
    with pytest.raises(RuntimeError, match="not these rows"):
        KernelSearchCV(pipeline, {"nervous__calm": [False, True]}, error_score="raise").fit(X, y)

    def odd(A, B):
        raise ZeroDivisionError("no kernel")

    with pytest.raises(ZeroDivisionError, match="no kernel"):
        KernelSearchCV(SVC(), {"kernel": [odd]}, error_score="raise").fit(X, y)


def test_rows_outside_all_folds_do_no_harm():
    rows = X.copy()
    rows[7] = np.nan
    others = np.delete(np.arange(120), 7)
    splits = [(others[::2], others[1::2]), (others[1::2], others[::2])]
    both(SVC("gaussian"), {"C": [1, 10]}, rows=rows, cv=splits, refit=False)
    both(make_pipeline(StandardScaler(), SVC("gaussian")), {"svc__C": [1]}, rows=rows, cv=splits, refit=False)


def test_square_matrices():
    K = Gaussian(gamma=2.0)(X)
    both(make_pipeline(KernelCenterer(), SVC("precomputed")), {"svc__C": [1, 10]}, rows=K)
    both(SVC(), {"kernel": ["precomputed", "linear"]}, rows=K)

    class Similarities(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.rows_ = X
            return self

        def transform(self, X):
            return Gaussian(gamma=2.0)(X, self.rows_)

    both(make_pipeline(Similarities(), SVC("precomputed")), {"svc__C": [1, 10]})


def test_outliers_that_take_a_class_away_are_refused():
    rows, labels = (
        np.r_[np.zeros((60, 1)), np.linspace(0, 1, 57)[:, None], [[99.0]] * 3],
        np.repeat([0, 1, 2], [60, 57, 3]),
    )
    estimator = WithoutOutliers(SVC("gaussian"), OutlierFilter())
    for kind in (KernelSearchCV, GridSearchCV):
        with pytest.raises(ValueError, match="rows of class 2 are outliers"):
            kind(estimator, {"estimator__C": [1]}, cv=3).fit(rows, labels)


def test_missing_labels_are_refused_for_what_they_are():
    labels = np.array(["a", "b", None], dtype=object)[np.arange(120) % 3]
    with pytest.raises(ValueError, match="missing label"):
        KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=KFold(3), error_score="raise").fit(X, labels)


def test_the_winner_is_fitted_for_real_even_if_a_fold_held_all_rows():
    everything = np.arange(120)
    search = KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=[(everything, everything)]).fit(X, y)
    assert search.refit_time_ > 0
    np.testing.assert_array_equal(search.predict(X), SVC("gaussian", C=1).fit(X, y).predict(X))


@pytest.mark.parametrize("estimator", [Ridge(), make_pipeline(StandardScaler(), Ridge()), KernelRegressor()])
@pytest.mark.parametrize("strategy", ["grid", "path", "halving", "random"])
def test_strategies_with_and_without_sharing(estimator, strategy):
    name = next(name for name in estimator.get_params() if name.endswith(("alpha", "lam")))
    search = KernelSearchCV(estimator, {name: [1e-4, 1e-2, 1e6]}, cv=3, strategy=strategy, n_iter=2, random_state=0)
    assert search.fit(X, np.sin(X[:, 0])).best_params_[name] < 1


def test_time_runs_out_for_plain_fits_as_well(monkeypatch):
    now = iter([0.0, 0.0, np.inf])
    monkeypatch.setattr("mercer.search.loop.time", SimpleNamespace(monotonic=lambda: next(now)))
    search = KernelSearchCV(Ridge(), {"alpha": [-1, 1e-3, 1e-2, 1e-1]}, cv=3, time_limit=1e6)
    with pytest.warns(Warning, match="stopped early"):
        search.fit(X, X[:, 0])
    assert np.isnan(search.cv_results_["mean_test_score"]).tolist() == [True, False, True, True]
    assert search.stopped_ == "time_limit"
    assert search.best_params_ == {"alpha": 1e-3}


def test_a_derived_search_may_ask_by_itself(monkeypatch):
    class Own(KernelSearchCV):
        def _run_search(self, evaluate_candidates):
            evaluate_candidates([{"C": 1}])
            evaluate_candidates([{"C": 10}])

    monkeypatch.setattr(SharedCells, "run", None)  # nothing is to be shared
    assert Own(SVC("gaussian"), {}, cv=3).fit(X, y).cv_results_["params"] == [{"C": 1}, {"C": 10}]


def test_a_journal_that_would_stay_empty_is_no_promise(tmp_path):
    with pytest.warns(UserWarning, match="cannot be resumed"):
        KernelSearchCV(Ridge(), {"alpha": [1e-2]}, cv=3, journal=tmp_path / "journal").fit(X, X[:, 0])
    assert not (tmp_path / "journal").exists()


def test_outer_folds_see_the_rows_of_the_user():
    search = KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3)
    expected = [clone(search).fit(X[train], y[train]).score(X[test], y[test]) for train, test in Edges().split(X)]
    np.testing.assert_array_equal(nested_cross_validation(search, X, y, cv=Edges()).scores, expected)


def test_a_kernel_too_slight_for_its_penalty():
    slight = KernelClassifier(Gaussian(gamma=1.0) * 1e-20, "squared", lam=1.0, fit_intercept=False)
    assert slight.fit(X, y).decision_function(X) == pytest.approx(0, abs=1e-15)
