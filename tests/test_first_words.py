"""What a study says first where nothing was learned, and what its page says of columns, rows and commands."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from mercer import Perceptron
from mercer.displays import WeightTable
from mercer.io import Table
from mercer.report import answer_header, page
from mercer.study import compare, fit_in_a_word, verdict_in_words, whether_learned

from .reporting import made_table, with_everything


def judged(*kinds):
    return [{"title": f"L{k}", "verdict": {"kind": kind}} for k, kind in enumerate(kinds)]


@pytest.mark.parametrize(
    ("kinds", "words"),
    [
        (("good", "useless"), []),
        (("useless", "useless"), ["Nothing here is better than guessing."]),
        (("useless", "unproven"), ["Nothing here is proven to be better than guessing."]),
        (("unproven", "good"), ["L0 is not proven to be better than guessing."]),
        (("useless", "good"), ["L0 is not better than guessing."]),
    ],
)
def test_an_answer_begins_with_whether_anything_was_learned(kinds, words):
    learners = judged(*kinds)
    assert whether_learned(learners, learners[0], "guessing") == words


def test_noise_is_said_to_teach_nothing():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(120, 3)), columns=list("abc"))
    table = Table("noise", frame, None, np.where(random.random(120) < 0.65, "p", "q"), "y", source="genes.fasta.gz")
    facts = compare(table, learners=["logistic"], cv=3, time_limit=60, trees=False)
    words = facts["answer"]["words"]
    assert words[0].startswith("Nothing here is ")
    answered = {one["label"]: one["answered"] for one in facts["learners"][0]["by_class"]}
    assert any("never answers 'q'" in each for each in words) == (answered["q"] == 0)
    assert "Folds were drawn 3 times" in page(facts)
    facts["answer"]["train_command"] = "mercer train logistic genes.fasta -o genes.safetensors"
    assert "mercer run genes.safetensors new.fasta" in answer_header(facts)


def test_every_kind_of_column_is_counted_and_described():
    random = np.random.default_rng(0)
    labels = np.where(np.arange(80) % 2, "good", "poor")
    frame = pd.DataFrame(
        {
            "size": random.normal(size=80),
            "same": np.ones(80),
            "colour": pd.Categorical(random.choice(["red", "blue"], 80)),
            "day": pd.date_range("2024-01-01", periods=80),
            "said": [f"it was {label} in the end, number {k}" for k, label in enumerate(labels)],
        }
    )
    facts = compare(Table("shop", frame, None, labels, "kind"), learners=["logistic"], cv=2, repeats=1, trees=False)
    html = page(facts)
    assert "2 numeric, 1 categorical, 1 of dates, 1 of texts" in html
    assert "texts by the words that tell the classes apart best" in html
    assert "2024-01-01" in html
    assert facts["data"]["correlation"]["columns"] == ["size"]
    features = facts["learners"][0]["weights"]["features"]
    assert not any("…" in name for name in features)


def test_wrong_rows_have_names_and_scores_that_are_explained():
    table = made_table(120)
    table = Table(**{**vars(table), "names": np.array([f"record {k}" for k in range(120)])})
    facts = compare(table, learners=["logistic"], cv=2, repeats=1, trees=False)
    wrong = facts["learners"][0]["wrong_rows"]
    assert wrong
    assert all(one["row"].startswith("record ") for one in wrong)
    assert "Score: that of the true class less that of the answer" in page(with_everything(facts))


def test_what_did_not_converge_does_not_fit_well():
    one = {"verdict": {"kind": "good", "words": "Fits well: as it does."}, "converged": False}
    facts = {"task": "classify"}
    assert fit_in_a_word(one, facts)[0] == "did not converge"
    assert verdict_in_words(one, facts) == "It did not converge: as it does."


def test_products_that_repeat_a_column_are_left_out():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0, 4.0], "job": ["a", "b", "a", "b"]})
    columns = ColumnTransformer(
        [("words", OneHotEncoder(), ["job"]), ("rest", "passthrough", ["age"])], verbose_feature_names_out=False
    )
    model = make_pipeline(columns, PolynomialFeatures(2, include_bias=False), Perceptron(random_state=0))
    table = WeightTable.from_estimator(model.fit(frame, [0, 0, 1, 1]))
    assert table.features == ["job_a", "job_b", "age", "job_a age", "job_b age", "age^2"]
    assert table.interactions().features == ["job_a age", "job_b age"]


def test_a_model_of_noise_is_said_to_be_no_better_than_the_mean(mercer):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 6)), columns=[*"abcde", "y"])
    frame.to_csv("noise.csv", index=False)
    done = mercer("train ridge-2 noise.csv --holdout 0.3 --set lam=1e-6 -o m")
    assert done.stdout.splitlines()[1].startswith("It is no better on these rows than always answering the mean")
    new = pd.DataFrame(random.normal(size=(60, 6)), columns=[*"abcde", "y"])
    new.to_csv("new.csv", index=False)
    assert "The predictions are worse than the mean of these 60 rows would be." in mercer("run m new.csv").stdout
    frame.assign(y=frame["a"] * 3).to_csv("line.csv", index=False)
    done = mercer("train ridge line.csv --holdout 0.3 -o l")
    assert "no better" not in done.stdout
    assert "worse than the mean" not in mercer("run l line.csv").stdout
