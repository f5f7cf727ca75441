"""How rows are divided: groups stay together, time goes forward, few rows are used again and again."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.base import BaseEstimator, RegressorMixin

from mercer.cli import main
from mercer.io import DataError, Table
from mercer.learners import LEARNERS, Learner
from mercer.report import page
from mercer.study import Division, Grouped, Ordered, compare, division_of, usual_repeats

from .reporting import made_table


def people(rows=120, seed=0):
    """Rows of persons who are known by a column of their own, and whose label follows the person."""
    random = np.random.default_rng(seed)
    person = np.arange(rows) // (rows // 12)
    label = np.where(person % 2 == 0, "left", "right")
    mark = random.normal(size=person.max() + 1)[person]  # tells the person, and nothing else
    frame = pd.DataFrame({"mark": mark, "noise": random.normal(size=rows), "person": [f"p{k}" for k in person]})
    frame["day"] = pd.date_range("2024-01-01", periods=rows).strftime("%Y-%m-%d")[random.permutation(rows)]
    frame = frame.astype({"person": "category", "day": "category"})
    return Table("people", frame, None, label, "hand")


@pytest.mark.parametrize("classes", [True, False])
def test_groups_stay_on_one_side(classes):
    table = people()
    y = table.y if classes else np.arange(120.0)
    groups = table.frame["person"].to_numpy()
    division = Grouped(classes, "person", groups)
    train, test = division.test_rows(y, 0.2, 0)
    assert not set(groups[train]) & set(groups[test])
    assert 12 <= len(test) <= 36
    for learn, held in division.folds(train, y[train], 3, 0):
        assert not set(groups[train][learn]) & set(groups[train][held])


def test_a_study_of_groups_does_not_know_the_person_again():
    """A mark of the person tells the label only of persons that were seen: groups show that it is worth nothing."""
    table = people(240)
    options = {"learners": ["svc"], "cv": 3, "repeats": 1, "trees": False}
    fair = compare(table, group="person", **options)
    assert fair["data"]["columns"] == 3
    assert fair["learners"][0]["test"]["rate"] > 0.25
    assert any("stay together" in note for note in fair["split"]["notes"])
    page(fair)
    unfair = compare(replace(table, frame=table.frame[["mark", "noise"]]), **options)
    assert unfair["learners"][0]["test"]["rate"] < 0.7 * fair["learners"][0]["test"]["rate"]


def test_time_goes_forward():
    table = people()
    without, division = division_of(table, time="day")
    assert isinstance(division, Ordered)
    assert "day" not in without.frame
    days = pd.to_datetime(table.frame["day"].astype(str)).to_numpy()
    train, test = division.test_rows(table.y, 0.25, 0)
    assert len(test) == 30
    assert days[train].max() < days[test].min()
    for learn, held in division.folds(train, table.y[train], 4, 0):
        assert days[train][learn].max() < days[train][held].min()
    facts = compare(table, time="day", learners=["logistic"], cv=3, trees=False)
    assert "each part is predicted from those before it" in " ".join(facts["split"]["notes"])


def test_the_order_of_the_file():
    _, division = division_of(people(), ordered=True)
    train, test = division.test_rows(np.tile(["a", "b"], 60), 0.1, 0)
    assert train.tolist() + test.tolist() == list(range(120))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group": "nobody"}, "there is no column 'nobody' for the groups: the columns are 'mark', 'noise'"),
        ({"group": "hand"}, "it is the target"),
        ({"time": "person"}, "neither numbers nor dates"),
        ({"group": "person", "time": "day"}, "choose one of these"),
        ({"time": "day", "nested": True}, "does not go with an order in time"),
        ({"nested": True, "time_limit": 5}, "has no time limit"),
    ],
)
def test_what_cannot_be_divided_is_said_in_one_sentence(options, message):
    with pytest.raises(DataError, match=message):
        compare(people(), learners=["logistic"], **options)


def test_too_few_groups_and_classes_that_are_missing():
    with pytest.raises(DataError, match="has 2 groups; training, validation and test rows need one each"):
        Grouped(True, "half", np.arange(40) % 2)
    sorted_labels = np.repeat(["early", "late"], 50)
    with pytest.raises(DataError, match="leaves no training row of class 'late'"):
        Ordered(True, "'day'", np.arange(100)).test_rows(sorted_labels, 0.5, 0)
    table = people()
    table.frame["person"] = table.frame["person"].astype(object)
    table.frame.loc[3, "person"] = None
    with pytest.raises(DataError, match="row 4 has no 'person'"):
        division_of(table, group="person")


def test_folds_of_few_rows_are_drawn_several_times():
    division, y = Division(True), np.tile(["a", "b"], 30)
    once, often = (division.folds(np.arange(60), y, 5, 0, repeats) for repeats in (1, 3))
    assert (len(once), len(often)) == (5, 15)
    assert [usual_repeats(rows) for rows in (100, 499, 500)] == [3, 3, 1]
    facts = compare(made_table(80), learners=["perceptron"], cv=2, trees=False)
    tuning = facts["learners"][0]["tuning"]
    assert (tuning["folds"], tuning["repeats"], facts["split"]["repeats"]) == (2, 3, 3)
    assert any("drawn 3 times" in note for note in facts["split"]["notes"])


@pytest.mark.thorough
def test_nested_cross_validation_tests_every_row_once():
    table = made_table(90)
    facts = compare(table, learners=["logistic", "svc"], cv=3, repeats=1, nested=True)
    assert facts["split"]["nested"]
    for one in facts["learners"]:
        assert one["test"]["rows"] == np.sum(one["confusion"]) == 90
    assert any("each of 90 rows was tested once" in note for note in facts["split"]["notes"])
    page(facts)


@pytest.mark.thorough
def test_nested_cross_validation_is_as_honest_as_a_loop_by_hand():
    """Labels without any meaning: rows that a model has seen would look well."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(100, 6)), columns=list("abcdef"))
    table = Table("noise", frame, None, random.permutation(np.repeat(["a", "b"], 50)), "y")
    facts = compare(table, learners=["svc"], cv=4, repeats=1, nested=True)
    assert facts["learners"][0]["test"]["rate"] > 0.35
    assert facts["learners"][0]["verdict"]["kind"] in ("useless", "unproven")


def test_groups_on_the_command_line(tmp_path):
    path = tmp_path / "people.csv"
    table = people()
    table.frame.assign(hand=table.y).to_csv(path, index=False)
    words = ["compare", path, "--learners", "logistic", "--cv", 2, "--group", "person", "--drop", "day", "--quiet"]
    words += ["--no-trees"]
    words += ["--repeats", 1, "--no-trees"]
    result = CliRunner().invoke(main, [*map(str, words), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    words = ["tune", "logistic", path, "--folds", 3, "--time", "day", "--quiet"]
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("by", [{"group": "person"}, {"time": "day"}])
def test_intervals_and_learning_curves_divide_rows_as_the_study_does(monkeypatch, by):
    """No model that is tuned, or tells how far errors reach, was shown rows of the persons, or of later days, that it
    predicts."""
    table = people()
    numbered = table.frame.assign(number=np.arange(120.0))
    table = replace(table, frame=numbered, y=table.frame["mark"].to_numpy() + np.arange(120) / 50, asked="regress")
    known = table.frame.assign(day=pd.to_datetime(table.frame["day"].astype(str)))
    pairs = []

    class Recorder(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.seen_ = X[:, 2].astype(int)
            return self

        def predict(self, X):
            pairs.append((self.seen_, X[:, 2].astype(int)))
            return np.zeros(len(X))

    recorder = Learner("recorder", "Recorder", lambda **_: Recorder(), {}, task="regress")
    monkeypatch.setitem(LEARNERS, recorder.name, recorder)
    facts = compare(table, learners=["recorder"], standardise=False, cv=2, repeats=1, trees=False, **by)
    assert facts["learning_curve"]
    tests = [(known.iloc[seen], known.iloc[new]) for seen, new in pairs if not set(new) <= set(seen)]
    assert len(tests) >= 10
    for seen, new in tests:
        if "group" in by:
            assert not set(seen["person"]) & set(new["person"])
        else:
            assert seen["day"].max() < new["day"].min()
