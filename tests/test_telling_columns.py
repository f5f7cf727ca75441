"""Columns that give the target away are named before anything is learned; columns that only help are not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine

from mercer.describe import telling_columns
from mercer.io import Table
from mercer.study import closing_words, compare

RNG = np.random.default_rng(0)
N = 400


def people(**more):
    frame = pd.DataFrame({"age": RNG.normal(40, 9, N).round(), "fare": RNG.exponential(30, N).round(2), **more})
    return frame.assign(sex=pd.Categorical(RNG.choice(["m", "f"], N)))


def said(frame, y, task):
    return telling_columns(Table("t", frame, None, np.asarray(y), "y", asked=task))


SURVIVED = RNG.integers(0, 2, N)
CASUAL, REGISTERED, PRICE = RNG.integers(1, 90, N), RNG.integers(5, 400, N), RNG.uniform(1, 9, N).round(2)


@pytest.mark.parametrize(
    ("more", "y", "task", "named"),
    [
        ({"alive": pd.Categorical(np.where(SURVIVED, "yes", "no"))}, SURVIVED, "classify", ["alive"]),
        ({"score": SURVIVED * 5 + RNG.uniform(0, 4, N)}, SURVIVED, "classify", ["score"]),
        ({"casual": CASUAL, "registered": REGISTERED}, CASUAL + REGISTERED, "regress", ["casual", "registered"]),
        ({"end": CASUAL + REGISTERED, "start": CASUAL}, REGISTERED, "regress", ["end", "start"]),
        ({"amount": CASUAL, "price": PRICE}, CASUAL * PRICE, "regress", ["amount", "price"]),
        ({"pounds": 2.2 * PRICE}, PRICE, "regress", ["pounds"]),
        ({"band": pd.Categorical((CASUAL // 10).astype(str))}, CASUAL // 10 * 7.5, "regress", ["band"]),
    ],
)
def test_columns_that_give_the_target_away_are_named(more, y, task, named):
    found = said(people(**more), y, task)
    assert len(found) == 1
    names = [*people(), *more]
    assert [name for name in names if repr(name) in found[0]] == named
    shuffled = RNG.permutation(N)
    assert said(people(**more), np.asarray(y)[shuffled], task) == []


def test_columns_that_only_help_are_not_named():
    for load, task in ((load_iris, "classify"), (load_wine, "classify"), (load_diabetes, "regress")):
        data = load(as_frame=True)
        assert said(data.data, data.target.to_numpy(), task) == []
    assert said(people(id=np.arange(N), name=pd.Categorical([f"n{k}" for k in range(N)])), SURVIVED, "classify") == []
    rare = np.arange(N) < 2  # two rows of a class are told by much
    assert said(people(), rare, "classify") == []


def test_a_study_of_a_sum_doubts_itself_first():
    frame = people(casual=CASUAL, registered=REGISTERED)
    table = Table("bikes", frame, None, (CASUAL + REGISTERED).astype(float), "cnt", asked="regress")
    facts = compare(table, learners=["ridge"], cv=2, repeats=1, trees=False)
    words = " ".join(closing_words(facts)[:4])
    assert "doubtful" in words
    assert "'casual' and 'registered'" in words


@pytest.mark.parametrize(("test", "doubted"), [({"wrong": 0}, True), ({"wrong": 1}, False), ({"r2": 0.9995}, True),
                                               ({"r2": 0.9}, False), ({"r2": None}, False)])  # fmt: skip
def test_hardly_an_error_is_doubted_mildly(test, doubted):
    answer = {"chosen": "svc", "title": "SVM", "words": ["Expect little."], "expected": "Expect little."}
    facts = {"answer": answer, "learners": [{"name": "svc", "test": test}], "data": {"telling": []}}
    assert any("is rare" in words for words in closing_words(facts)) is doubted


def test_a_total_without_its_smallest_parts_is_named_all_the_same():
    rng = np.random.default_rng(0)
    fare, tip, tolls = rng.gamma(2, 6, 400), rng.gamma(1, 2, 400), rng.choice([0.0, 5.8], 400, p=[0.9, 0.1])
    total = fare + tip + tolls + rng.choice([0.8, 1.3], 400)
    frame = pd.DataFrame({"tip": tip, "total": total, "tolls": tolls, "passengers": rng.integers(1, 5, 400)})
    (named,) = said(frame, fare, "regress")
    assert named.startswith("'total', 'tip' and 'tolls' together give the target as a sum or difference, but for ")
    miles = fare / 3 + rng.normal(size=400)
    assert said(pd.DataFrame({"miles": miles, "tip": tip}), fare, "regress") == []
