"""Outliers, correlated columns and the preparation of tables."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, Pegasos
from mercer.io import DataError, read
from mercer.preprocess import (
    Constant,
    CorrelationFilter,
    OutlierFilter,
    WithoutOutliers,
    correlated_groups,
    pipeline,
    prepare,
)


@parametrize_with_checks(
    [
        OutlierFilter(),
        OutlierFilter("zscore"),
        CorrelationFilter(),
        Constant(),
        WithoutOutliers(Pegasos(steps=3000, random_state=0), OutlierFilter(factor=5.0)),
    ]
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


rng = partial(np.random.default_rng, 0)


def test_iqr_bounds_are_tukeys_fences():
    X = np.column_stack([np.arange(9.0), [0, 0, 0, 0, 0, 0, 0, 0, 7]])
    found = OutlierFilter().fit(np.vstack([X, [100.0, 0]]))
    # Quartiles of 0..8 and 100 lie at 2.25 and 6.75; the second column is mostly one value and judges nobody.
    assert (found.low_[0], found.high_[0]) == (2.25 - 6.75, 6.75 + 6.75)
    assert found.keep(X).all()
    assert found.keep([[13.5, 0], [13.6, 0], [-4.6, 0]]).tolist() == [True, False, False]
    assert found.report_.by_column == {0: 1}


def test_three_standard_deviations_are_already_outside():
    X = np.array([[-1.0], [1.0]] * 5)  # mean 0, standard deviation 1
    found = OutlierFilter("zscore").fit(X)
    assert found.keep([[3.0], [2.9999], [-3.0]]).tolist() == [False, True, False]


def test_words_and_holes_are_not_outliers():
    frame = pd.DataFrame({"a": [1.0, 2, np.nan, 3, 90], "w": pd.Categorical(list("xyxyz"))})
    found = OutlierFilter().fit(frame, ["p", "p", "q", "q", "q"])
    assert found.keep(frame).tolist() == [True, True, True, True, False]
    assert found.report_.by_class == {"p": (0, 2), "q": (1, 3)}
    assert str(found.report_) == "1 of 5 rows is an outlier: 0 of 2 rows of class p and 1 of 3 rows of class q."


def test_a_fit_without_outliers_is_a_fit_on_the_others():
    X = rng().standard_normal((80, 2))
    y = np.where(X[:, 0] + X[:, 1] > 0, "p", "q")
    X[:3] *= 50
    weight = np.arange(80) % 3 + 1.0
    model = WithoutOutliers(SVC("linear")).fit(X, y, weight)
    kept = OutlierFilter().fit(X).keep(X)
    assert model.report_.dropped == (~kept).sum() >= 3
    alone = SVC("linear").fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(model.decision_function(X), alone.decision_function(X))
    assert model.score(X, y) == np.mean(model.predict(X) == y)
    assert model.classes_.tolist() == ["p", "q"]
    assert not hasattr(model, "predict_proba")
    assert clone(model).set_params(estimator__C=3.0, filter=OutlierFilter(factor=9)).get_params()["filter__factor"] == 9


def test_a_class_of_outliers_is_refused():
    X = np.r_[np.arange(20.0), 1000.0][:, None]
    with pytest.raises(ValueError, match="all 1 rows of class 1 are outliers"):
        WithoutOutliers(SVC("linear")).fit(X, np.r_[np.zeros(20, int), 1])


def test_correlated_columns_against_the_textbook_coefficient():
    X = rng().standard_normal((60, 1100))
    X[:, 700] = -3 * X[:, 5] + 0.01 * X[:, 700]
    X[:, 1099] = X[:, 700] + 0.01 * X[:, 1099]
    X[:, 3] = 7.3
    naive: dict[int, list[int]] = {}
    gone: set[int] = set()
    with np.errstate(invalid="ignore"):
        rho = np.abs(np.corrcoef(X, rowvar=False))
    for column in range(X.shape[1]):
        for first in range(column):
            if first not in gone and rho[first, column] > 0.95:
                naive.setdefault(first, []).append(column)
                gone.add(column)
                break
    assert correlated_groups(X, 0.95) == naive == {5: [700, 1099]}


def test_names_of_groups_and_columns():
    x = np.arange(6.0)
    frame = pd.DataFrame({"a": x, "b": x % 2, "c": -x})
    found = CorrelationFilter().fit(frame)
    assert found.groups_ == {"a": ["c"]}
    assert found.get_feature_names_out().tolist() == ["a", "b"]
    assert Constant().fit(frame).get_feature_names_out().tolist() == ["a", "b", "c", "constant"]


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("a,w,empty,y\n1,red,,p\n3,?,,q\n,blue,,p\n5,red,,q\n")
    return read(path)


def test_mixed_columns_are_imputed_scaled_and_one_hot(mixed):
    with pytest.raises(DataError, match=r"missing in 'a' \(1\) and 'w' \(1\), and impute='none'"):
        prepare(mixed, impute="none")
    steps = prepare(mixed, impute="median", standardise="minmax").fit(mixed.X)
    assert steps.get_feature_names_out().tolist() == ["a", "w_blue", "w_red", "w_nan"]
    np.testing.assert_allclose(steps.transform(mixed.X), [[0, 0, 1, 0], [0.5, 0, 0, 1], [0.5, 1, 0, 0], [1, 0, 1, 0]])
    new = mixed.frame.assign(w=["green"] * 4)
    assert steps.transform(new)[:, 1:].sum() == 0


def test_preparation_is_fitted_inside_folds():
    table = read("margins:400")
    model = pipeline(table, SVC("gaussian(gamma=0.1)", C=10), outliers="iqr", correlation=0.95, degree=2, constant=True)
    assert cross_val_score(model, table.X, table.y, cv=3).mean() > 0.7
    model.fit(table.X, table.y)
    scaler = model.estimator_["prepare"]["scale"]
    np.testing.assert_allclose(scaler.mean_, table.X[model.filter_.keep(table.X)].mean())
    assert model.estimator_["prepare"].transform(table.X).shape[1] == 8 + 8 * 9 // 2 + 1


def test_columns_of_numbers_are_found_by_name_in_any_order():
    table = read("xor:40")
    steps = prepare(table).fit(table.X)
    shuffled = table.X[["x2", "x1"]].assign(more="word")
    np.testing.assert_array_equal(steps.transform(shuffled), steps.transform(table.X))
    np.testing.assert_array_equal(steps.transform(table.X.to_numpy()), steps.transform(table.X))
    with pytest.raises(ValueError, match="lack the columns 'x2'"):
        steps.transform(table.X[["x1"]])
    with pytest.raises(ValueError, match="have 1 columns, 2 were expected"):
        steps.transform(table.X.to_numpy()[:, :1])


def test_sparse_rows_stay_sparse(tmp_path):
    path = tmp_path / "t.svm"
    path.write_text("".join(f"{k % 2} {k % 50 + 1}:{k + 1}\n" for k in range(100)))
    table = read(path)
    assert prepare(table).fit_transform(table.X) is table.X
    scaled = prepare(table, standardise="minmax", constant=True).fit_transform(table.X)
    assert scaled.shape == (100, 51)
    assert scaled.max() == 1
    with pytest.raises(DataError, match="needs dense rows"):
        prepare(table, correlation=0.9)
    with pytest.raises(DataError, match="needs dense rows"):
        pipeline(table, SVC(), outliers="iqr")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"standardise": "robust"}, "standardise must be"),
        ({"impute": "zero"}, "impute must be one of"),
        ({"degree": 0}, "degree must be a whole number"),
        ({"correlation": 2.0}, "threshold must be between 0 and 1"),
        ({"outliers": "magic"}, "rule must be 'iqr' or 'zscore'"),
        ({"outliers": "iqr", "outlier_factor": -1}, "factor must be a number greater than 0"),
    ],
)
def test_mistakes_are_named(options, message):
    table = read("xor:40")
    with pytest.raises(ValueError, match=message):
        pipeline(table, SVC(), **options).fit(table.X, table.y)


MIXED = pd.DataFrame(
    {
        "age": [20.0, np.nan, 40, 50] * 5,
        "job": ["cook", "smith", "cook", "tailor"] * 5,
        "since": ["2020-01-01", "2021-02-01", "2022-03-01", "2023-04-01"] * 5,
        "paid": ["no", "no", "yes", "yes"] * 5,
    }
)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("options", [{}, {"degree": 2}, {"constant": True, "correlation": 0.9}], ids=str)
def test_prepared_rows_come_as_frames_where_asked(library, options):
    pytest.importorskip(library)
    table = read(MIXED)
    steps = prepare(table, **options)
    rows = steps.fit_transform(table.X)
    frame = prepare(table, **options).set_output(transform=library).fit_transform(table.X)
    assert list(frame.columns) == steps.get_feature_names_out().tolist()
    np.testing.assert_allclose(frame.to_numpy(), rows, atol=1e-12)


def test_a_whole_pipeline_passes_frames_on():
    table = read(MIXED)
    model = pipeline(table, SVC()).set_output(transform="pandas").fit(table.X, table.y)
    assert model.predict(table.X).tolist() == table.y.tolist()
    assert "job_cook" in model[-1].feature_names_in_


def test_features_of_texts_are_not_put_into_frames():
    frame = pd.DataFrame({"letter": [f"call me at {k} or wait" for k in range(9)], "y": [0, 1, 1] * 3})
    table = read(frame, kinds={"letter": "text"})
    with pytest.raises(ValueError, match="stay a sparse array and are not put into a frame of pandas"):
        prepare(table).set_output(transform="pandas")
    assert prepare(table).set_output(transform="default").fit_transform(table.X).shape[0] == 9
