"""What stands between rows and the machine of a search is what scikit-learn makes of it, fold by fold."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, QuantileTransformer, StandardScaler

from mercer import SVC
from mercer.preprocess import OutlierFilter, WithoutOutliers
from mercer.search import peel, prepared, shareable, weight_name

rng = np.random.default_rng(0)
N = 60
X = rng.normal(size=(N, 4))
y = (X[:, 0] > 0).astype(int)
frame = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.array(["red", "blue", "green"])[rng.integers(0, 3, N)])
train = np.sort(rng.permutation(N)[:40])
test = np.setdiff1d(np.arange(N), train)

CASES = {
    "scaled": (make_pipeline(StandardScaler(), SVC()), X),
    "two steps": (make_pipeline(StandardScaler(), PCA(2, random_state=0), SVC()), X),
    "chosen by labels": (make_pipeline(SelectKBest(k=2), SVC()), X),
    "sparse": (make_pipeline(MaxAbsScaler(), SVC()), sparse.csr_array(np.where(X > 0, X, 0))),
    "columns": (
        make_pipeline(make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["colour"])), SVC()),
        frame,
    ),
    "frames": (make_pipeline(StandardScaler(), SVC()).set_output(transform="pandas"), frame[["a", "b"]]),
    "a pipeline in a pipeline": (make_pipeline(StandardScaler(), make_pipeline(PCA(2, random_state=0), SVC())), X),
}


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


@pytest.mark.parametrize("name", CASES)
def test_all_rows_are_what_a_pipeline_fitted_on_the_training_rows_makes_of_them(name):
    """Also in an order of the training rows that is not that of the table."""
    estimator, rows = CASES[name]
    layers, machine = peel(estimator)
    assert isinstance(machine, SVC)
    for some in (train, rng.permutation(train)):
        pick = (lambda places: rows.iloc[places]) if hasattr(rows, "iloc") else (lambda places: rows[places])
        seen, kept = prepared(layers, rows, y, some)
        steps = clone(estimator)
        steps.fit(pick(some), y[some])
        inner = steps
        expected = dense(pick(np.arange(N)))
        while hasattr(inner, "steps"):
            expected, inner = dense(inner[:-1].transform(rows if inner is steps else expected)), inner[-1]
        np.testing.assert_allclose(dense(seen), expected, atol=1e-10)
        np.testing.assert_array_equal(kept, some)


class CrossFitted(TransformerMixin, BaseEstimator):
    """Makes something else of the rows it learns from, as a target encoder does; it keeps nothing."""

    def fit(self, X, y=None):
        return self

    def fit_transform(self, X, y=None):
        return 0 * X

    def transform(self, X):
        return X


def test_training_rows_are_fitted_and_transformed_at_once():
    seen, _ = prepared(peel(make_pipeline(CrossFitted(), SVC()))[0], X, y, train)
    assert not seen[train].any()
    np.testing.assert_array_equal(seen[test], X[test])


def test_rows_that_are_drawn_twice_count_twice():
    drawn = np.array([0, 0, 0, 1, 2, 3])
    seen, kept = prepared(peel(make_pipeline(StandardScaler(), SVC()))[0], X, y, drawn)
    np.testing.assert_allclose(seen[drawn].mean(axis=0), 0, atol=1e-12)
    np.testing.assert_array_equal(kept, drawn)


def test_a_filter_takes_training_rows_out_and_changes_none():
    wild = X.copy()
    wild[[train[3], test[0]], 0] = 1e6
    layers, machine = peel(WithoutOutliers(SVC(C=3.0), OutlierFilter("iqr", 3.0)))
    seen, kept = prepared(layers, wild, y, train)
    assert machine.C == 3.0
    assert seen is wild
    assert train[3] not in kept
    assert set(kept) <= set(train)


def test_what_comes_before_a_filter_is_fitted_on_all_training_rows_and_what_comes_after_on_those_that_stay():
    wild = X.copy()
    wild[train[3], 0] = 1e6
    filtering = WithoutOutliers(make_pipeline(StandardScaler(), SVC()), OutlierFilter("iqr", 3.0))
    seen, kept = prepared(peel(filtering)[0], wild, y, train)
    assert 0 < kept.size < train.size
    np.testing.assert_allclose(seen[kept].mean(axis=0), 0, atol=1e-9)
    before = make_pipeline(StandardScaler(), WithoutOutliers(SVC(), OutlierFilter("iqr", 3.0)))
    seen, _ = prepared(peel(before)[0], wild, y, train)
    np.testing.assert_allclose(seen[train].mean(axis=0), 0, atol=1e-9)


def test_frames_of_polars_stay_frames():
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    steps = make_pipeline(StandardScaler(), SVC()).set_output(transform="polars")
    seen, _ = prepared(peel(steps)[0], table, y, train)
    assert isinstance(seen, polars.DataFrame)
    np.testing.assert_allclose(seen.to_numpy(), StandardScaler().fit(X[train, :2]).transform(X[:, :2]))


def test_who_can_share():
    class Mine(SVC):
        """May do anything in its fit."""

    assert shareable(SVC())
    assert shareable(make_pipeline(QuantileTransformer(n_quantiles=5), SVC()))
    assert not shareable(Mine())
    assert not shareable(make_pipeline(StandardScaler()))
    assert not shareable(make_pipeline(StandardScaler(), SVC("precomputed")))
    assert shareable(SVC("precomputed"))


def test_the_name_under_which_a_machine_takes_weights():
    assert weight_name(SVC()) == "sample_weight"
    assert weight_name(make_pipeline(StandardScaler(), make_pipeline(SVC()))) == "pipeline__svc__sample_weight"
