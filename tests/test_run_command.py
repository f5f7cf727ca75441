"""``mercer run``: predictions on the screen, as CSV and as JSON, with what goes along with them."""

import csv
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mercer import TableClassifier, load, read, save
from mercer.explain import far_values

SRC = str(Path(__file__).parents[1] / "src")


@pytest.fixture
def people():
    """Ages, jobs and names, with numbers of persons that begin with zeros."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "surname": [f"Rossi {k}" for k in range(60)],
            "number": [f"{k:04d}" for k in range(60)],
            "age": random.integers(20, 80, 60),
            "job": random.choice(["cook", "smith", "=clerk"], 60),
        }
    )
    return frame.assign(ill=np.where(frame["age"] > 50, "yes", "no"))


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predictions_are_shown(mercer, people):
    people.to_csv("people.csv", index=False)
    mercer('train svc people.csv --kernel "gaussian(gamma=.01).on(age)" -o m')
    shown = mercer("run m people.csv").stdout
    assert "the first 15 of 60 rows (-o FILE.csv writes all of them)" in shown
    assert "line 2 " in shown
    assert "line 16 " in shown
    assert "line 17 " not in shown
    people.head(3).to_csv("few.csv", index=False)
    shown = mercer("run m few.csv").stdout
    assert "writes all" not in shown
    line = next(line for line in shown.splitlines() if "line 3 " in line)
    score = load("m").decision_function(people[1:2])[0]
    assert line.split()[2:] == ["0001", people["ill"][1], f"{score:.5g}", people["ill"][1], "True"]


def test_json_has_all_predictions(mercer, people):
    people.to_csv("people.csv", index=False)
    mercer('train svc people.csv --kernel "gaussian(gamma=.01).on(age)" -o m')
    told = json.loads(mercer("run m people.csv --json --keep number").stdout)
    model = load("m")
    assert [row["prediction"] for row in told["predictions"]] == model.predict(people).tolist()
    assert [row["score"] for row in told["predictions"]] == model.decision_function(people).tolist()
    assert [row["line"] for row in told["predictions"]] == list(range(2, 62))
    assert [row["number"] for row in told["predictions"]] == people["number"].tolist()
    told = json.loads(mercer("run m people.csv --json -o p.csv").stdout)
    assert told["output"] == "p.csv"
    assert "predictions" not in told


def test_json_has_probabilities_and_intervals(mercer):
    mercer("train kernel-logistic moons:100 -o m")
    rows = json.loads(mercer("run m moons:30 --json --probabilities").stdout)["predictions"]
    table = read("moons:30")
    likely = load("m").predict_proba(table.X)
    assert [[row["probability lower"], row["probability upper"]] for row in rows] == likely.tolist()
    assert "probability" in mercer("run m moons:30 --probabilities").stdout
    mercer("train ridge waves:100 -o m")
    rows = json.loads(mercer("run m waves:30 --json --intervals 0.8").stdout)["predictions"]
    assert all(row["low"] < row["prediction"] < row["high"] for row in rows)
    mercer("train svc digits -o m --kernel linear")
    rows = json.loads(mercer("run m digits --json").stdout)["predictions"]
    assert all(max(range(10), key=lambda k, row=row: row[f"score {k}"]) == row["prediction"] for row in rows[:50])


def test_the_standard_output_holds_the_csv_and_nothing_else(mercer, people):
    people.to_csv("people.csv", index=False)
    mercer("train logistic people.csv --drop surname --drop number -o m")
    done = mercer("run m people.csv -o -")
    mercer("run m people.csv -o p.csv")
    assert done.stdout == Path("p.csv").read_text()
    assert "confusion matrix" in done.stderr
    assert not Path("-").exists()
    for model in ("one-class moons:60", "ridge waves:60"):
        mercer(f"train {model} -o other")
        data = model.split()[1]
        assert len(rows_of(mercer(f"run other {data} -o -").stdout)) == 60
    assert "leave one of them out" in mercer("run m people.csv -o - --json", 2).stderr


def test_columns_are_kept_as_they_are_written(mercer, people):
    people.to_csv("people.csv", index=False)
    mercer('train svc people.csv --kernel "gaussian(gamma=.01).on(age)" -o m')
    rows = rows_of(mercer("run m people.csv --keep number --keep job --keep ill -o -").stdout)
    assert [row["number"] for row in rows] == people["number"].tolist()
    assert [row["job"].removeprefix("'") for row in rows] == people["job"].tolist()
    assert [row["ill"] for row in rows] == people["ill"].tolist()
    every = rows_of(mercer("run m people.csv --keep all -o -").stdout)
    assert set(people.columns) <= set(every[0])
    assert "did you mean 'surname'?" in mercer("run m people.csv --keep sorname", 1).stderr
    people.rename(columns={"job": "prediction", "number": "row"}).to_csv("same.csv", index=False)
    rows = rows_of(mercer("run m same.csv --keep prediction --keep row -o -").stdout)
    assert [row["input row"] for row in rows] == people["number"].tolist()
    assert {row["prediction"] for row in rows} == {"yes", "no"}
    Path("x.svm").write_text("0 1:1 50000:1\n1 2:1\n")
    mercer("train logistic x.svm -o sparse")
    assert "--keep is for columns of a table" in mercer("run sparse x.svm --keep y", 1).stderr


def test_columns_are_kept_from_the_standard_input(mercer, people):
    people.to_csv("people.csv", index=False)
    mercer('train svc people.csv --kernel "gaussian(gamma=.01).on(age)" -o m')
    piped = mercer("run m - --keep all -o -", input=Path("people.csv").read_text()).stdout
    assert piped == mercer("run m people.csv --keep all -o -").stdout


def test_names_of_records_go_along_by_themselves(mercer, people):
    records = "".join(f">seq{k} label={'ab'[k % 2]}\n{'GATTACA' if k % 2 else 'CCGCGGC'}\n" for k in range(30))
    Path("genes.fasta").write_text(records)
    mercer("train svc genes.fasta -o m")
    rows = rows_of(mercer("run m genes.fasta -o -").stdout)
    assert [row["name"] for row in rows] == [f"seq{k}" for k in range(30)]
    assert [int(row["line"]) for row in rows] == list(range(1, 60, 2))
    assert " seq7 " in mercer("run m genes.fasta").stdout
    Path("places.fasta").write_text(records.replace(">seq", ">chr=1, place="))
    rows = rows_of(mercer("run m places.fasta -o -").stdout)
    assert rows[7]["name"] == "chr=1, place=7 label=b"
    people.assign(PatientID=range(5000, 5060)).drop(columns=["surname", "number"]).to_csv("p.csv", index=False)
    mercer("train logistic p.csv --target ill --drop PatientID -o m")
    rows = rows_of(mercer("run m p.csv -o -").stdout)
    assert [row["PatientID"] for row in rows] == [str(number) for number in range(5000, 5060)]
    kept = rows_of(mercer("run m p.csv --keep PatientID -o -").stdout)
    assert [row["PatientID"] for row in kept] == [row["PatientID"] for row in rows]
    assert "name" not in kept[0]
    assert "input PatientID" not in kept[0]


def test_columns_that_a_model_does_not_use_may_be_missing(mercer, people):
    people.to_csv("people.csv", index=False)
    mercer('train svc people.csv --kernel "gaussian(gamma=.01).on(age)+equal.on(job)" -o m')
    people[["job", "age"]].to_csv("new.csv", index=False)
    whole, part = (rows_of(mercer(f"run m {file} -o -").stdout) for file in ("people.csv", "new.csv"))
    assert [row["score"] for row in whole] == [row["score"] for row in part]
    people[["age"]].to_csv("less.csv", index=False)
    assert "lacks columns that the model was trained on: 'job'" in mercer("run m less.csv", 1).stderr
    people.assign(empty="", ill=people["ill"]).drop(columns=["surname", "number"]).to_csv("gap.csv", index=False)
    mercer("train logistic gap.csv -t ill -o m")
    people[["age", "job"]].to_csv("new.csv", index=False)
    assert len(rows_of(mercer("run m new.csv -o -").stdout)) == 60


def test_a_file_is_read_as_in_training(mercer):
    lines = "".join(f"{k % 9}|{k % 7}|{'pq'[k % 9 > 4]}\n" for k in range(60))
    Path("train.txt").write_text(lines)
    mercer("train logistic train.txt --delimiter '|' --no-header -o m")
    Path("one.txt").write_text("3|2|p\n")
    told = json.loads(mercer("run m one.txt --json").stdout)
    assert (told["rows"], told["labelled"]) == (1, 1)
    words = "colour,size,kind\n" + "red,big,p\nblue,small,q\n" * 20
    Path("words.csv").write_text(words)
    mercer("train logistic words.csv -o m")
    Path("one.csv").write_text("colour,size,kind\nred,big,p\n")
    assert json.loads(mercer("run m one.csv --json").stdout)["rows"] == 1
    Path("comma.csv").write_text("a;b;y\n" + "".join(f"{k % 9},5;{k % 7};{'pq'[k % 9 > 4]}\n" for k in range(60)))
    mercer("train logistic comma.csv --decimal , -o m")
    Path("new.csv").write_text("a;b;y\n3,5;2;p\n")
    assert json.loads(mercer("run m new.csv --json").stdout)["error"] == 0
    Path("point.csv").write_text("a;b;y\n3.5;2;p\n")
    assert json.loads(mercer("run m point.csv --decimal . --json").stdout)["error"] == 0


def test_a_model_of_strings_refuses_a_table_in_one_sentence(mercer, people):
    Path("genes.fasta").write_text("".join(f">s{k} label={'ab'[k % 2]}\n{'AC'[k % 2] * 9}\n" for k in range(20)))
    mercer("train svc genes.fasta -o m")
    people.to_csv("people.csv", index=False)
    assert "the model was trained on strings, but people holds rows" in mercer("run m people.csv", 1).stderr


def test_a_closed_pipe_ends_a_command_quietly(tmp_path, mercer):
    mercer("train logistic moons:60 -o m")
    program = f"{shlex.quote(sys.executable)} -m mercer run m moons:50000 -o - -q 2>err | head -n 1"
    environment = {**os.environ, "PYTHONPATH": SRC}
    done = subprocess.run(["bash", "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.startswith("row,prediction,score")
    assert "Traceback" not in (tmp_path / "err").read_text()
    assert "BrokenPipe" not in (tmp_path / "err").read_text()


def test_gaps_that_training_did_not_have_are_filled(mercer, people):
    people[["age", "job", "ill"]].to_csv("whole.csv", index=False)
    for learner in ("logistic", "svc"):
        mercer(f"train {learner} whole.csv -o m")
        Path("gaps.csv").write_text("age,job\n,cook\n30,\n70,smith\n")
        assert len(rows_of(mercer("run m gaps.csv -o -").stdout)) == 3
    people[["age", "ill"]].to_csv("whole.csv", index=False)
    mercer("train svc whole.csv -o m")
    assert len(rows_of(mercer("run m gaps.csv -o -").stdout)) == 3


def test_rows_and_predictions_far_outside_of_training_are_named(mercer, people):
    people = people.drop(columns="ill")
    people = people.assign(
        years=people["age"].to_numpy()[::-1], wage=people["age"] + people["age"].to_numpy()[::-1] / 2
    )
    people.to_csv("people.csv", index=False)
    mercer("train ridge people.csv --target wage -o m")
    low, high = people["age"].min(), people["age"].max()
    new = people.assign(age=people["age"].where(people.index != 4, 4000.0))
    new = new.assign(years=new["years"].where(people.index != 4, people["years"].max()))
    new.to_csv("new.csv", index=False)
    shown = mercer("run m new.csv").stdout
    assert "1 row holds a value far outside the training range" in shown
    assert f"line 6: age = 4000 (in training {low}.00 to {high}.00)" in shown
    assert "1 prediction leaves the range of the training targets" in shown
    told = json.loads(mercer("run m new.csv --json").stdout)
    assert told["far_rows"] == {
        "rows": 1,
        "values": [{"where": "line 6", "row": 5, "column": "age", "value": 4000, "low": low, "high": high}],
    }
    assert told["far_predictions"]["rows"] == 1
    assert told["far_predictions"]["predictions"][0]["row"] == 5
    model = load("m")
    assert far_values(model, new) == [(4, "age", 4000, low, high)]
    assert "far outside" not in mercer("run m people.csv").stdout
    pd.concat([people, *[new] * 40]).to_csv("long.csv", index=False)
    shown = mercer("run m long.csv --max-bytes 20kB -o out.csv").stdout
    assert "40 rows hold values far outside" in shown
    assert "row 65: age = 4000" in shown
    assert "row 125: age = 4000" in shown


def test_a_kernel_with_a_weight_for_each_of_a_thousand_columns_is_used_like_any_other(mercer):
    rng = np.random.default_rng(0)
    genes = pd.DataFrame(rng.normal(size=(40, 2000))).add_prefix("g").assign(sick=rng.permutation(["y", "n"] * 20))
    genes["g7"] += 3 * (genes["sick"] == "y")
    genes.to_csv("genes.csv", index=False)
    mercer("train table genes.csv --target sick -o m")
    assert "of 40 training rows" in mercer("run m genes.csv").stdout
    assert "…, on 40 rows" in mercer("explain m genes.csv").stdout


def test_models_saved_by_python_are_run_inspected_explained_and_exported(mercer, people):
    people.to_csv("people.csv", index=False)
    save(TableClassifier().fit(people[["surname", "age", "job"]], people["ill"]), "m")
    told = json.loads(mercer("run m people.csv --target ill --json").stdout)
    assert told["error"] < 0.1
    assert "inside Pipeline and TableClassifier" in mercer("inspect m").stdout
    explained = mercer("explain m people.csv --target ill --row 3").stdout
    assert f"age = {people['age'][1]}" in explained
    assert "labels differ in 0 of these rows" in mercer("export m --to python --check people.csv").stdout
