"""Classes of which one is rare: said, judged fairly, and not left unanswered."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score

from mercer import load
from mercer.io import Table
from mercer.learners import LEARNERS
from mercer.report import page
from mercer.study import SHARE, about_rarest, about_uneven, compare, is_uneven, with_class_weights

from .reporting import made_table


def rare(rows=400, share=0.08, seed=0):
    """Two overlapping classes of which one is so rare that the most accurate answer is nearly always the other."""
    random = np.random.default_rng(seed)
    ill = np.arange(rows) < share * rows
    X = random.normal(size=(rows, 3)) + 1.2 * ill[:, None]
    order = random.permutation(rows)
    frame = pd.DataFrame(X[order], columns=["a", "b", "c"])
    return Table("visits", frame, None, np.where(ill, "ill", "well")[order], "state")


@pytest.fixture(scope="module")
def facts():
    return compare(rare(), learners=["logistic", "svc"], cv=3, repeats=1, trees=False)


def test_uneven_is_told_from_even():
    def of(*counts):
        return is_uneven(np.repeat(np.arange(len(counts)), counts))

    assert [of(50, 50), of(79, 21), of(81, 19), of(40, 30, 30), of(90, 7, 3)] == [False, False, True, False, True]
    assert not of(10, 53, 681, 638, 199, 18)  # grades of wines, of which the worst and the best are rare


@pytest.mark.thorough
def test_the_study_says_so_and_judges_by_classes(facts):
    assert facts["uneven"].startswith("The classes are uneven: 'ill' has only 32 of 400 rows (8.0\xa0%)")
    assert facts["scoring"]["name"] == "balanced_accuracy"
    assert not facts["scoring"]["asked"]


def test_the_chosen_learner_answers_the_rare_class(facts):
    chosen = next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])
    told = {one["label"]: one for one in chosen["by_class"]}
    assert told["ill"]["recall"] > 0.5
    assert chosen["params"]["class_weight"] == "balanced"
    assert any("test rows of 'ill'" in words for words in facts["answer"]["words"])
    assert "balanced accuracy" in page(facts)


def test_accuracy_when_asked_for_says_what_it_leaves_out():
    facts = compare(rare(), learners=["logistic"], cv=3, repeats=1, trees=False, scoring="accuracy")
    assert "class_weight" not in facts["learners"][0]["params"]
    assert "judged by" not in facts["uneven"]
    assert any("ill" in words for words in facts["answer"]["words"])


def test_a_class_that_is_never_answered_is_said():
    told = [{"label": "ill", "rows": 9, "answered": 0, "recall": 0.0, "precision": None},
            {"label": "well", "rows": 91, "answered": 100, "recall": 1.0, "precision": 0.91}]  # fmt: skip
    assert about_rarest({"by_class": told}) == ["It never answers 'ill', though 9 of the test rows are of that class."]


def test_even_classes_need_no_word():
    assert about_uneven(np.repeat([0, 1], 50), SHARE, asked=False) is None


def test_weights_of_classes_are_tried_where_a_learner_takes_them():
    for learner in LEARNERS.values():
        if learner.task == "classify":
            assert with_class_weights(learner, always=False).grid["class_weight"] == [None, "balanced"]
    assert "class_weight" not in with_class_weights(LEARNERS["ridge"], always=True).grid


def test_classes_too_small_to_be_tested_are_left_out_aloud():
    table = made_table(60)
    labels = np.array(["rare", "rarer", "rarer", *table.y[3:].astype(str)])
    found = compare(replace(table, y=labels), learners=["perceptron"], repeats=1, trees=False)
    said = "3 rows were left out, as classes of fewer than 4 rows cannot be both learned and tested: "
    assert (
        f"{said}'rare' (1) and 'rarer' (2). A model of all rows learns them too, untested." in found["answer"]["words"]
    )
    assert {one["label"] for one in found["split"]["classes"]} == set(labels[3:])


def test_of_several_classes_f1_decides_where_nearly_all_rows_are_of_one():
    rng = np.random.default_rng(0)
    labels = rng.choice(["a", "b", "c", "d"], 400, p=[0.85, 0.06, 0.06, 0.03])
    found = compare(replace(made_table(400), y=labels), learners=["perceptron"], repeats=1, trees=False)
    assert found["scoring"]["name"] == "f1_macro"
    assert "judged by macro-averaged F1, in which every class counts the same" in found["uneven"]


def test_answers_stay_balanced_with_honest_probabilities(mercer):
    """Probabilities know that a class is rare; answers let it count as much as the other, as without them."""
    table = rare()
    table.frame.assign(state=table.y).to_csv("visits.csv", index=False)
    mercer("train logistic visits.csv --class-weight balanced -o plain")
    done = mercer("train logistic visits.csv --class-weight balanced --calibrate sigmoid -o honest")
    assert "the answer need not be the most probable class" in done.stderr
    found = {name: balanced_accuracy_score(table.y, load(name).predict(table.X)) for name in ("plain", "honest")}
    assert found["honest"] == pytest.approx(found["plain"], abs=0.03)
    ill = load("honest").predict_proba(table.X)[:, 0]
    assert ill.mean() == pytest.approx(np.mean(table.y == "ill"), abs=0.02)
    priced = "train logistic visits.csv --class-weight balanced --calibrate sigmoid --cost ill,well=1000 -o dear"
    mercer(priced)
    assert np.mean(load("dear").predict(table.X) == "ill") > 0.8
