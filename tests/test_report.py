"""The facts of a comparison: known answers, and that test rows stay out of every fit."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from mercer.io import DataError, Table, read
from mercer.learners import LEARNERS, Learner
from mercer.study import compare, error_rate, fit_verdict, holm, mcnemar, table_facts

from .reporting import made_facts, made_table


@pytest.fixture(scope="module")
def facts():
    return made_facts(made_table(), outliers="iqr", correlation=0.99)


def test_wilson_interval_of_the_textbook():
    rate = error_rate(wrong=10, rows=100)  # centre (p + z²/2n)/(1 + z²/n), half width z·√(pq/n + z²/4n²)/(1 + z²/n)
    assert (rate["rate"], rate["low"], rate["high"]) == (0.1, 0.0552, 0.1744)


@pytest.mark.parametrize(("won", "lost"), [(5, 0), (10, 3), (7, 7), (0, 0), (1, 30)])
def test_mcnemar_counts_coin_tosses(won, lost):
    tosses = won + lost
    ways = sum(math.comb(tosses, k) for k in range(min(won, lost) + 1))
    assert mcnemar(won, lost) == pytest.approx(min(1.0, 2 * ways / 2**tosses))


def test_holm_keeps_the_order_and_bounds_bonferroni():
    raw = [0.04, 0.001, 0.03, 0.5]
    assert holm(raw) == pytest.approx([0.09, 0.004, 0.09, 0.5])


def test_verdicts():
    def one(train, test):
        return {"train": error_rate(train, 1000), "test": error_rate(test, 1000)}

    best = error_rate(20, 1000)
    kinds = [
        fit_verdict(one(*pair), best, 0.5)["kind"]
        for pair in ((18, 22), (0, 22), (0, 60), (280, 285), (100, 200), (490, 500))
    ]
    assert kinds == ["good", "good", "overfit", "underfit", "both", "useless"]
    for left_out, kind in ((0.05, "overfit"), (0.001, "good")):  # a training error alone proves nothing
        tuning = {"candidates": [{"validation": {"mean": left_out}}], "best": 0}
        assert fit_verdict({**one(0, 60), "tuning": tuning}, best, 0.5)["kind"] == kind


class Recorder(ClassifierMixin, BaseEstimator):
    """A classifier that remembers which rows it was shown; the first column numbers them."""

    events: list = []  # noqa: RUF012

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.events.append(("fit", set(X[:, 0].tolist())))
        return self

    def decision_function(self, X):
        self.events.append(("look", set(X[:, 0].tolist())))
        return X[:, 1] + self.shift

    def predict(self, X):
        return self.classes_[(self.decision_function(X) >= 0).astype(int)]


def test_test_rows_reach_no_fit_and_are_looked_at_after_all_of_them(monkeypatch):
    table = made_table(100)
    table.frame["a"] = np.arange(100.0)
    recorder = Learner("recorder", "Recorder", lambda **_: Recorder(), {"shift": [0.0, 0.5]})
    monkeypatch.setitem(LEARNERS, recorder.name, recorder)
    Recorder.events.clear()
    found = compare(table, learners=["recorder"], standardise=False, seed=3, repeats=1, trees=False)
    fitted = set().union(*(rows for kind, rows in Recorder.events if kind == "fit"))
    held_out = set(range(100)) - fitted
    assert len(held_out) == found["split"]["test"] == 20
    looks = [k for k, (kind, rows) in enumerate(Recorder.events) if rows & held_out]
    last_fit = max(k for k, (kind, _) in enumerate(Recorder.events) if kind == "fit")
    assert looks
    assert looks[0] > last_fit


def test_every_learner_is_measured(facts):
    assert {one["name"] for one in facts["learners"]} == {"perceptron", "pegasos-2", "svc"}
    for one in facts["learners"]:
        confusion = np.array(one["confusion"])
        assert confusion.sum() == facts["split"]["test"] == one["test"]["rows"] == 32
        assert confusion.sum() - np.trace(confusion) == one["test"]["wrong"]
        below = np.array(one["margins"]["edges"])[1:] <= 0
        assert np.array(one["margins"]["test"])[below].sum() == one["test"]["wrong"]
        tuning = one["tuning"]
        best = min(candidate["validation"]["mean"] for candidate in tuning["candidates"])
        assert tuning["candidates"][tuning["best"]]["validation"]["mean"] == best
    by_name = {one["name"]: one for one in facts["learners"]}
    assert by_name["svc"]["certificate"]["relative"] < 1e-3
    assert by_name["svc"]["support"]["number"] > 0
    assert by_name["perceptron"]["weights"]["features"][0] in "abc"
    assert {"a b", "a c", "b c"} >= {pair["feature"] for pair in by_name["pegasos-2"]["weights"]["interactions"]}
    assert [one["test"]["rate"] for one in facts["learners"]] == sorted(
        one["test"]["rate"] for one in facts["learners"]
    )


def test_the_chosen_learner_has_the_least_validation_error(facts):
    errors = {
        one["name"]: one["tuning"]["candidates"][one["tuning"]["best"]]["validation"]["mean"]
        for one in facts["learners"]
    }
    assert errors[facts["answer"]["chosen"]] == min(errors.values())
    assert len(facts["pairs"]) == 2


def test_removed_rows_are_counted_by_class(facts):
    removed = facts["preprocessing"]["rows"]
    assert removed["total"] == sum(one["removed"] for one in removed["classes"])
    assert sum(one["rows"] for one in removed["classes"]) == facts["split"]["train"]


def test_facts_are_plain_and_the_same_again(facts):
    again = made_facts(made_table(), outliers="iqr", correlation=0.99)

    def timeless(value):
        if isinstance(value, dict):
            return {k: timeless(v) for k, v in value.items() if "seconds" not in k}
        return [timeless(one) for one in value] if isinstance(value, list) else value

    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert timeless(again) == timeless(facts)


def test_several_classes_and_words():
    found = made_facts(made_table(120, classes=5, word_column="word"), learners=["perceptron"])
    assert len(found["data"]["classes"]) == 5
    assert found["data"]["category_columns"] == 1
    assert np.array(found["learners"][0]["confusion"]).shape == (5, 5)
    assert found["learners"][-1]["test"]["rate"] < 0.8


def test_description_of_known_columns():
    frame = read("xor:40").frame.copy()
    frame["x1"] = np.arange(40.0)
    frame["x2"] = -2 * np.arange(40.0)
    frame.loc[3, "x2"] = np.nan
    labels = np.array(["no"] * 30 + ["yes"] * 10)
    data = table_facts(Table("t", frame, None, labels, "y"))
    first, second = data["described"]
    assert first["quantiles"] == [0, 9.75, 19.5, 29.25, 39]
    assert (first["mean"], first["missing"], second["missing"], data["missing_cells"]) == (19.5, 0, 1, 1)
    assert sum(map(sum, first["histogram"]["counts"])) == 40
    assert data["correlation"]["matrix"][0][1] == -1
    assert [one["rows"] for one in data["classes"]] == [30, 10]


def test_wide_and_sparse_tables_show_the_most_telling_columns():
    random = np.random.default_rng(0)
    codes = np.arange(60) % 2
    X = random.standard_normal((60, 1000))
    X[:, 700] += 3 * codes
    labels = np.where(codes == 1, "a", "b")
    frame = read("xor:60").frame.iloc[:, :0].join(__import__("pandas").DataFrame(X).add_prefix("x"))
    for table in (Table("wide", frame, None, labels, "y"), Table("sparse", None, sparse.csr_matrix(X), labels, "y")):
        data = table_facts(table)
        assert data["columns_left_out"] == 800
        assert ("x700" if table.rows is None else "x701") in [column["name"] for column in data["described"]]


def test_products_of_too_many_columns_are_left_out():
    table = made_table(60, names=[f"x{k}" for k in range(80)])
    found = made_facts(table, learners=["perceptron", "pegasos-2"])
    assert [one["name"] for one in found["learners"]] == ["perceptron"]
    assert "products" in found["skipped"][0]["why"]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (lambda y: np.arange(len(y)) / 7, {"learners": ["svc"]}, "looks like a measurement; use svr"),
        (lambda y: np.array([f"name {k}" for k in range(len(y))]), {}, "looks like names"),
        (lambda y: np.where(np.arange(len(y)) == 0, "rare", "common"), {}, "has only 1 row;"),
        (lambda y: np.full(len(y), "same"), {}, "only one value"),
        (lambda y: y, {"test_size": 2.0}, "between 0 and 1"),
        (lambda y: y, {"learners": ["nobody"]}, "there is no learner 'nobody'"),
        (lambda y: y, {"time_limit": 1e-9}, "no learner could be compared: the time limit"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(change, options, message):
    from dataclasses import replace

    table = made_table(40)
    with pytest.raises(ValueError, match=message):
        compare(replace(table, y=change(table.y)), **options)


def test_frames_and_names_of_tables_are_read_first():
    frame = pd.DataFrame({"x": np.arange(60.0), "kind": ["low", "high"] * 30, "more": [0, 1, 2] * 20})
    quick = {"learners": ["logistic"], "cv": 2, "repeats": 1, "trees": False}
    assert compare(frame, target="kind", **quick)["data"]["target"] == "kind"
    assert compare("xor:60", **quick)["data"]["name"] == compare(read("xor:60"), **quick)["data"]["name"]
    with pytest.raises(DataError, match="was read with the target 'same'"):
        compare(read("xor:60"), target="x1")
