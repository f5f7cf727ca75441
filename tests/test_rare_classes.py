"""Classes of a few rows: learned and tested as far as they go, refused with what to do, and no reason to judge others
differently."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, train_test_split

from mercer import SVC, Calibrated, TunedThreshold
from mercer.checks import EvenFolds, drawn_evenly, is_measurement, task_in_words
from mercer.io import Table
from mercer.search import KernelSearchCV, nested_cross_validation, train_validate_test
from mercer.study import compare, is_uneven, sample

RATINGS = np.round(np.clip(7.4 + np.random.default_rng(0).exponential(0.35, 900), 7.4, 9.3), 1)


def rows_of(*sizes, seed=0):
    y = np.repeat(np.arange(len(sizes)), sizes)
    order = np.random.default_rng(seed).permutation(y.size)
    X = np.random.default_rng(seed).normal(size=(y.size, 2)) + 2.0 * np.column_stack([y % 3, y // 3])
    return X[order], y[order]


def table_of(*sizes):
    X, y = rows_of(*sizes)
    return Table("cases", pd.DataFrame(X, columns=["a", "b"]), None, np.array(list("abcdefghij"))[y], "kind")


@pytest.mark.parametrize("sizes", [(30, 20, 1), (30, 3, 3), (9, 4, 2, 1, 1)])
def test_every_split_learns_every_class_and_tests_other_rows_once(sizes):
    X, y = rows_of(*sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        splits = list(EvenFolds(5, shuffle=True, random_state=0).split(X, y))
    assert all(np.unique(y[train]).size == len(sizes) for train, _ in splits)
    assert all(np.intersect1d(train, test).size == 0 for train, test in splits)
    tested = np.sort(np.concatenate([test for _, test in splits]))
    assert tested.tolist() == np.flatnonzero(np.bincount(y)[y] > 1).tolist()


def test_where_no_class_is_rare_rows_are_divided_as_by_scikit_learn():
    X, y = rows_of(30, 20, 7)
    for own, peer in zip(EvenFolds(5).split(X, y), StratifiedKFold(5).split(X, y), strict=True):
        assert [part.tolist() for part in own] == [part.tolist() for part in peer]
    own, peer = (drawn_evenly(y, 3, test_size=0.3), train_test_split(np.arange(57), test_size=0.3, stratify=y,
                                                                     random_state=3))  # fmt: skip
    assert [part.tolist() for part in own] == [part.tolist() for part in peer]


def test_a_sample_of_many_rows_holds_a_few_of_each_class():
    y = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [9000, 2000, 7, 1]))
    kept = sample(y, 1000, seed=0)
    assert len(kept) == np.unique(kept).size == 1000
    assert np.bincount(y[kept])[2:].tolist() == [5, 1]


def test_tools_of_the_library_learn_from_a_class_of_one_row():
    X, y = rows_of(30, 20, 1)
    search = KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [1, 10]}, cv=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isfinite(search.fit(X, y).cv_results_["mean_test_score"]).all()
        assert np.isfinite(nested_cross_validation(search, X, y, cv=3).scores).all()
        assert 2 in train_validate_test(search, X, y).search.classes_
        assert Calibrated(SVC(), cv=5).fit(*rows_of(30, 20, 3)).predict_proba(X).shape == (51, 3)


@pytest.mark.parametrize("tool", [KernelSearchCV(SVC(), {"C": [1, 10]}), Calibrated(SVC()), TunedThreshold(SVC())])
def test_more_folds_than_any_class_has_rows_are_refused_with_what_to_use(tool):
    with pytest.raises(ValueError, match="5 folds are more than any class has rows; use 3 folds or fewer"):
        tool.fit(*rows_of(3, 3))


def test_a_study_of_rare_classes_tests_them_in_every_way():
    for options in ({}, {"nested": True}, {"scoring": "log_loss"}, {"scoring": "roc_auc"}, {"test_size": 0.7}):
        found = compare(table_of(60, 40, 5, 4), learners=["kernel-logistic"], cv=5, repeats=1, trees=False, **options)
        assert found["split"]["folds"] == 5
        assert np.isfinite(found["learners"][0]["tuning"]["candidates"][0]["validation"]["mean"])


def test_a_few_rows_of_one_class_do_not_change_how_all_are_judged():
    assert not is_uneven(np.repeat(["a", "b", "c", "rare"], [1500, 1200, 996, 4]))
    assert is_uneven(np.repeat(["usual", "fraud"], [3696, 4]))
    found = compare(table_of(300, 280, 4), learners=["perceptron"], repeats=1, trees=False)
    assert found["scoring"]["name"] == "accuracy"
    assert "'c' has only 4 of 584 rows" in found["uneven"]


@pytest.mark.parametrize(
    ("y", "measured"),
    [
        (RATINGS, True),
        (np.repeat([0, 4, *range(5, 20)], [38, 1, *[9] * 15]), True),  # grades of which some come once
        (np.repeat([0.5, 1.0, 1.5, 2.0], 20), False),  # doses
        (np.repeat(np.arange(3, 10), [20, 163, 1457, 2198, 880, 175, 5]), False),  # quality: asked about
        (np.repeat(np.arange(16), [5] * 15 + [1]), False),  # codes of classes count up
    ],
)
def test_ordered_numbers_are_numbers(y, measured):
    assert is_measurement(y) is measured
    y = np.random.default_rng(0).permutation(y)
    table = Table("t", pd.DataFrame({"a": np.arange(y.size)}), None, y, "y")
    assert table.take(np.arange(y.size)[y == y[0]]).task == table.task  # a part is learned as the whole


def test_an_order_of_classes_is_said():
    assert "learn numbers" in task_in_words("quality", np.repeat([3, 4, 5], 9), "classify", asked=False)
    assert "low < Medium < high" in task_in_words("risk", ["low", "Medium", "high"] * 9, "classify", asked=False)
    for without in (["low", "high"] * 9, ["setosa", "virginica", "versicolor"] * 9):
        assert task_in_words("kind", without, "classify", asked=False) == ""
