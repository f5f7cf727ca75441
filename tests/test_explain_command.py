"""``mercer explain``: what a model looks at, for a person who has a model file and a table."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer.model_files import open_model


def facts_of(done):
    return json.loads(done.stdout)


@pytest.fixture
def people(mercer):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 80, 160),
            "job": random.choice(["cook", "clerk", "smith"], 160),
            "shoes": random.integers(36, 47, 160),
        }
    )
    frame["buys"] = np.where((frame["job"] == "cook") | (frame["age"] > 65), "yes", "no")
    frame.to_csv("people.csv", index=False)
    mercer("train svc people.csv --set C=10 --holdout 0.2 -o m.safetensors -q")
    return frame


def test_the_columns_that_matter_come_first(mercer, people):
    found = facts_of(mercer("explain m.safetensors people.csv --json"))
    assert [each["column"] for each in found["importances"]][2] == "shoes"
    assert {each["column"] for each in found["importances"]} == {"age", "job", "shoes"}
    assert found["scoring"] == "accuracy"
    again = facts_of(mercer("explain m.safetensors people.csv --json"))
    assert again == found
    shown = mercer("explain m.safetensors people.csv").stdout
    assert "accuracy falls by" in shown
    assert shown.index("job") < shown.index("shoes")


def test_support_rows_are_named_by_their_lines(mercer, people):
    about, model = (getattr(open_model("m.safetensors"), name) for name in ("about", "estimator"))
    assert len(about["support_lines"]) == len(model[-1].support_)
    found = facts_of(mercer("explain m.safetensors people.csv --row 5 --json --top 200"))
    itself = [each for each in found["similar"] if each["similarity"] > 1 - 1e-9]
    same = people.index[(people == people.iloc[3]).all(axis=1)] + 2
    assert all(int(each["where"].removeprefix("line ")) in same for each in itself)
    for each in found["deciding"]:
        line = int(each["where"].removeprefix("line "))
        assert people["buys"].iloc[line - 2] == each["label"]


def test_lines_are_right_without_outliers(mercer, people):
    mercer("train svc people.csv --outliers zscore --outlier-factor 1.5 -o w.safetensors -q")
    found = facts_of(mercer("explain w.safetensors people.csv --row 5 --json"))
    for each in found["deciding"]:
        assert people["buys"].iloc[int(each["where"].removeprefix("line ")) - 2] == each["label"]


def test_one_row_is_taken_apart(mercer, people):
    found = facts_of(mercer("explain m.safetensors people.csv --row 5 --json"))
    assert found["row"] == "line 5"
    assert found["true"] == people["buys"].iloc[3]
    assert {each["name"] for each in found["columns"]} == {"age", "job", "shoes"}
    assert found["cells"]["age"] == people["age"].iloc[3]
    shown = mercer("explain m.safetensors people.csv --row 5 --label yes").stdout
    assert "line 5: predicted" in shown
    assert "for yes" in shown
    assert f"job = {people['job'].iloc[3]}" in shown


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--row 1", "no row that begins in line 1; its rows begin in lines 2 to 161"),
        ("--row 999", "no row that begins in line 999"),
        ("--row Anna", "no row 'Anna'"),
        ("--row 5 --label perhaps", "knows no class 'perhaps'; its classes are 'no' and 'yes'"),
        ("--label yes", "name the row with --row"),
        ("--row 5 --scoring f1", "leave it out, or leave out --row"),
        ("--scoring accurate", "there is no measure 'accurate'"),
    ],
)
def test_what_cannot_be_answered_gets_a_sentence(mercer, people, line, sentence):
    done = mercer(f"explain m.safetensors people.csv {line}", code=1)
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_table_without_labels(mercer, people):
    people.drop(columns="buys").to_csv("new.csv", index=False)
    shown = mercer("explain m.safetensors new.csv").stdout
    assert "columns is unknown: the table has no labels" in shown
    assert "line 5: predicted" in mercer("explain m.safetensors new.csv --row 5").stdout


def test_texts_and_mixtures(mercer):
    texts = ["win cash now", "call to win", "see you soon", "home for lunch", "cash prize call", "lunch at home"] * 5
    labels = ["spam", "spam", "ham", "ham", "spam", "ham"] * 5
    pd.DataFrame({"text": texts, "size": range(30), "label": labels}).to_csv("sms.csv", index=False)
    mercer("train svc sms.csv --kernel \"spectrum(p=1, tokens='words').on(text)\" -o s.safetensors -q")
    found = facts_of(mercer("explain s.safetensors sms.csv --json"))
    speaks = {each["name"]: each["label"] for each in found["features"]}
    assert speaks["'win' in text"] == "spam"
    assert speaks["'lunch' in text"] == "ham"
    row = facts_of(mercer("explain s.safetensors sms.csv --row 2 --json"))
    assert row["predicted"] == "spam"
    assert row["features"][0]["value"] > 0
    assert row["similar"][0]["item"]["text"] == "win cash now"
    shown = mercer("explain s.safetensors sms.csv").stdout
    assert "size" not in shown  # which the kernel does not look at
    mercer('train svc sms.csv --kernel "mixture(spectrum(p=2).on(text), gaussian.on(size))" -o x.safetensors -q')
    found = facts_of(mercer("explain x.safetensors sms.csv --json"))
    assert sum(each["share"] for each in found["kernels"]) == pytest.approx(1)


def test_numbers(mercer):
    mercer("train svr waves:120 -o w.safetensors -q")
    found = facts_of(mercer("explain w.safetensors waves:120 --json"))
    assert found["scoring"] == "neg_root_mean_squared_error"
    assert found["importances"][0]["drop"] > 0
    shown = mercer("explain w.safetensors waves:120 --row 3").stdout
    assert "row 3: predicted" in shown
    assert "the true value is" in shown


def test_what_is_usual(mercer, people):
    people.drop(columns="buys").to_csv("visits.csv", index=False)
    mercer("train one-class visits.csv -o o.safetensors -q")
    assert "scores move by" in mercer("explain o.safetensors visits.csv").stdout
    assert "negative for outliers" in mercer("explain o.safetensors visits.csv --row 4").stdout


def test_strings_sets_and_sparse_rows(mercer, tmp_path):
    words = ["GATTACA", "GATTAGA", "CATCATT", "CATTCAT"] * 5
    names = ["g", "g", "c", "c"] * 5
    (tmp_path / "genes.fasta").write_text(
        "".join(f">r{k} label={label}\n{word}\n" for k, (word, label) in enumerate(zip(words, names, strict=True)))
    )
    mercer('train svc genes.fasta --kernel "spectrum(p=2)" -o g.safetensors -q')
    found = facts_of(mercer("explain g.safetensors genes.fasta --json"))
    assert {each["label"] for each in found["features"]} == {"g", "c"}
    assert found["importances"] == []
    row = facts_of(mercer("explain g.safetensors genes.fasta --row 3 --json"))
    assert row["predicted"] == "g"
    assert row["similar"][0]["item"].startswith("GATTA")
    (tmp_path / "b.basket").write_text(
        "".join(f"{a},{b},{c}\n" for a, b, c in [("y", "egg", "ham"), ("n", "fig", "nut")] * 9)
    )
    mercer("train svc b.basket --kernel intersection -o b.safetensors -q")
    assert "egg" in mercer("explain b.safetensors b.basket --row 1").stdout
    (tmp_path / "s.svm").write_text("1 1:1 7:2\n-1 2:1 7:1\n" * 20)
    mercer("train pegasos s.svm -o s.safetensors -q")
    found = facts_of(mercer("explain s.safetensors s.svm --json"))
    assert {each["name"] for each in found["features"]} == {"x1", "x2", "x7"}
    assert found["importances"][0]["column"] in ("x1", "x2", "x7")


def test_probabilities_and_pairs_of_classes(mercer):
    from sklearn.datasets import load_iris

    load_iris(as_frame=True).frame.to_csv("iris.csv", index=False)
    mercer("train svc iris.csv --calibrate sigmoid -o i.safetensors -q")
    shown = mercer("explain i.safetensors iris.csv --row 60")
    assert "probability" in shown.stdout
    assert "The score of a class sums those of 2 of 3 machines" in shown.stdout
    assert sum(facts_of(mercer("explain i.safetensors iris.csv --row 60 --json"))["probabilities"].values()) == (
        pytest.approx(1)
    )


def test_a_row_is_its_line_though_another_is_called_so(mercer):
    lines = ["id,x,y"] + [f"{k + 1},{(k * 37) % 17},{'a' if (k * 37) % 17 > 8 else 'b'}" for k in range(40)]
    Path("ids.csv").write_text("\n".join(lines) + "\n")
    mercer("train svc ids.csv -o i.safetensors -q")
    assert "line 3: predicted" in mercer("explain i.safetensors ids.csv --row 3").stdout


@pytest.mark.parametrize("scoring", ["auc", "f1", "mcc", "balanced_accuracy"])
def test_measures_are_those_of_comparisons(mercer, people, scoring):
    people.to_csv("people.csv", index=False)
    mercer("train logistic people.csv -t buys -o p.safetensors -q")
    assert facts_of(mercer(f"explain p.safetensors people.csv --scoring {scoring} --json"))["importances"]
    assert "there is no measure 'aux'" in mercer("explain p.safetensors people.csv --scoring aux", 1).stderr


def test_features_are_called_by_the_words_of_the_table(mercer):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"age": random.integers(20, 80, 60) * 1.0, "job": random.choice(["cook", "smith"], 60)})
    frame.loc[::7, "age"] = np.nan
    frame.assign(ill=np.where(frame["job"] == "cook", "yes", "no")).to_csv("people.csv", index=False)
    mercer("train linear-svc people.csv --target ill -o m")
    shown = mercer("explain m people.csv --row 4").stdout
    assert f"job = {frame['job'][2]}" in shown
    assert f"age = {frame['age'][2]:.6g}" in shown
    assert "age is missing" in mercer("inspect m").stdout
