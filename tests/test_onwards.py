"""From a comparison to a model: what it chose is said, can be repeated by one line, and can be stored."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mercer import load, read
from mercer.cli.command_lines import given_command, said_besides
from mercer.cli.printing import Printer, show_comparison
from mercer.cli.tune import tune
from mercer.learners import LEARNERS
from mercer.model_files import open_model


def people(path, rows=120):
    """A table with an id, words, numbers and a class; the target is not the last column."""
    random = np.random.default_rng(0)
    age, hours = random.integers(20, 80, rows), random.normal(35, 8, rows).round(1)
    job = random.choice(["cook", "smith", "clerk"], rows)
    ill = np.where(age + 5 * (job == "smith") + random.normal(0, 4, rows) > 52, "yes", "no")
    code = [f"p{number:03d}" for number in range(rows)]
    frame = pd.DataFrame({"person_id": code, "age": age, "is ill": ill, "job": job, "hours": hours})
    frame.to_csv(path, index=False)
    return frame


FASTA = "".join(
    f">s{k} label={'ab'[k % 2]}\n{('GATTACA' if k % 2 else 'CCGCGGC') + 'ACGT'[k % 4] * (k % 5)}\n" for k in range(40)
)


@pytest.mark.parametrize(
    ("data", "options"),
    [
        ("moons:120", "--learners svc --cv 2"),
        pytest.param("moons:120", "--learners kernel-perceptron --cv 2 --seed 7 --min-max", marks=pytest.mark.thorough),
        ("'my people.csv'", "--learners svc --cv 2 --target 'is ill' --drop person_id --outliers zscore"),
        pytest.param(
            "'my people.csv'",
            "--learners logistic --cv 2 -t 2 --drop person_id --category age",
            marks=pytest.mark.thorough,
        ),
        ("'my people.csv'", "--cv 2 -t 'is ill' --kernel \"gaussian(gamma=.01).on(age)+equal.on(job)\" --learners svc"),
        pytest.param("waves:120", "--learners kernel-huber --cv 2", marks=pytest.mark.thorough),
        ("waves:120", "--learners ridge --cv 2 --drop x4"),
        ("genes.fasta", "--learners svc --cv 2"),
    ],
)
def test_the_line_that_is_printed_makes_the_model_that_is_stored(mercer, data, options):
    people("my people.csv")
    Path("genes.fasta").write_text(FASTA)
    done = mercer(f"compare {data} {options} --repeats 1 --no-trees --model best -o out")
    facts = json.loads(Path("out/report.json").read_text())
    line = facts["answer"]["train_command"]
    assert f"  {line}\n" in done.stdout
    assert facts["answer"]["setting"] in done.stdout
    assert open_model("best").about["command"] == line
    mercer(shlex.split(line.replace("-o best", "-o again"))[1:])
    first, again = open_model("best"), open_model("again")
    target = first.about["target"]
    rows = read(shlex.split(data)[0], target=target if first.about["kind"] == "rows" else None)
    X = rows.X if rows.frame is None else rows.X[first.about["columns"]]
    if "--category age" in options:
        X = X.assign(age=X["age"].astype(int).astype(str).astype("category"))
    assert np.array_equal(first.estimator.predict(X), again.estimator.predict(X))
    one, other = (model.estimator for model in (first, again))
    if first.about["task"] == "classify":
        assert np.array_equal(one.decision_function(X), other.decision_function(X))
    assert first.about["training"]["rows"] == rows.n_rows or "outliers" in options
    assert f"Model of all {rows.n_rows} {rows.kind}" in done.stdout


def test_a_target_by_position_is_named_in_the_line(mercer):
    people("people.csv")
    done = mercer(
        "compare people.csv -t 2 --drop job --learners logistic --category person_id "
        "--cv 2 --repeats 1 --no-trees -o out --json"
    )
    line = json.loads(done.stdout)["answer"]["train_command"]
    assert f"--target {shlex.quote(json.loads(done.stdout)['data']['target'])} " in line


def test_no_model_is_written_unless_asked_for_and_the_line_names_one(mercer):
    done = mercer("compare moons:80 --learners logistic --cv 2 --repeats 1 --no-trees -o out")
    assert [path.name for path in Path().iterdir()] == ["out"]
    assert "Logistic regression with lam = " in done.stdout
    assert "-o moons.safetensors\n" in done.stdout


def test_kernel_and_parameters_stand_in_one_line(mercer):
    done = mercer("compare moons:120 --learners svc --cv 2 --repeats 1 --no-trees -o out --model m")
    machine = load("m").named_steps["learner"]
    assert f"Gaussian SVM with {machine.kernel_}, C = {machine.C:g}:\n" in done.stdout


def test_the_test_error_stays_with_the_model(mercer):
    mercer("compare moons:200 --learners logistic --cv 2 --repeats 1 --no-trees -o out --model m")
    facts = json.loads(Path("out/report.json").read_text())
    assert open_model("m").about["comparison"]["test"] == facts["learners"][0]["test"]
    shown = mercer("inspect m").stdout
    assert f"{100 * facts['learners'][0]['test']['rate']:.2f}\u00a0%" in shown
    assert "on 40 rows kept out" in shown
    assert "learned from 160 other rows; this model has learned from 200 of all 200" in shown
    assert "Made by: mercer train logistic moons:200 --set lam=" in shown
    mercer("compare waves:100 --learners ridge --cv 2 --repeats 1 --no-trees -o out --model m")
    facts = json.loads(Path("out/report.json").read_text())
    assert re.search("test error +RMSE", mercer("inspect m").stdout)
    assert mercer("run m waves:50 --intervals 0.8").stdout.count("row ") >= 15


def test_a_model_that_cannot_be_written_is_refused_before_any_work(mercer):
    for name, why in (("none/m", "there is no folder 'none'"), ("-", "stands for the standard output")):
        done = mercer(["compare", "moons:200", "--model", name], 1)
        assert why in done.stderr
        assert not list(Path().iterdir())


def test_an_interrupted_comparison_writes_no_model(mercer, monkeypatch):
    from mercer.study import Learning

    fitted, calls = Learning.fitted, []

    def second_time(*given):
        calls.append(given)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return fitted(*given)

    monkeypatch.setattr(Learning, "fitted", second_time)
    done = mercer("compare moons:80 --learners logistic,perceptron --cv 2 --repeats 1 --no-trees -o out --model m", 130)
    assert "no model was written to m" in done.stderr
    assert not Path("m").exists()
    assert Path("out/report.html").exists()


def test_a_model_of_numbers_is_stored_though_its_intervals_were_interrupted(mercer, monkeypatch):
    def interrupted(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.study.half_widths", interrupted)
    done = mercer("train ridge waves:60 -o m", 130)
    assert "the model in m is whole, but for --intervals" in done.stderr
    assert "train it with 'mercer train'" in mercer("run m waves:60 --intervals 0.9", 1).stderr


def test_a_large_table_is_learned_from_as_many_rows_as_in_the_comparison(mercer, monkeypatch):
    few = {**LEARNERS, "svc": replace(LEARNERS["svc"], most_rows=60)}
    monkeypatch.setattr("mercer.learners.catalogue.LEARNERS", few)
    done = mercer("compare moons:100 --learners svc --cv 2 --repeats 1 --no-trees -o out --model m --json")
    line = json.loads(done.stdout)["answer"]["train_command"]
    assert "--max-rows 60" in line
    assert "Learning from 60 of 100 rows, drawn at random within each class" in done.stderr
    mercer(shlex.split(line.replace("-o m", "-o again"))[1:])
    X = read("moons:100").X
    assert np.array_equal(load("m").decision_function(X), load("again").decision_function(X))
    assert open_model("again").about["training"]["rows"] == 60


def test_options_of_a_configuration_file_are_in_the_line(mercer):
    people("people.csv")
    Path("c.toml").write_text('target = "is ill"\nseed = 3\n[compare]\ndrop = ["person_id"]\n')
    done = mercer("compare people.csv --config c.toml --learners logistic --cv 2 --repeats 1 --no-trees -o out --json")
    line = json.loads(done.stdout)["answer"]["train_command"]
    assert "--target 'is ill' --drop person_id" in line
    assert "--seed 3" in line
    assert "--config" not in line
    assert json.loads(done.stdout)["repeat"]["command"].startswith("mercer compare people.csv --learners logistic")


def test_a_password_is_in_no_command():
    import click

    @click.command()
    @click.argument("data")
    def look(data):
        click.echo(given_command())

    said = CliRunner().invoke(look, ["postgresql://me:secret@host/db?table=t"]).stdout
    assert "secret" not in said
    assert "postgresql://me:***@host/db" in said


# -- what the table says besides ----------------------------------------------------------------------------------


def facts_with(**more):
    def one(name, **besides):
        tuning = {"candidates": [{"validation": {"mean": 0.1, "sd": 0.01}}], "best": 0, "seconds": 1.0}
        rate = {"rate": 0.1, "low": 0.05, "high": 0.2}
        base = {"name": name, "title": name.title(), "tuning": tuning, "test": rate, "train": rate, "fit_seconds": 1.0}
        return {**base, **besides}

    by_class = [
        {"label": "ham", "rows": 90, "answered": 95, "precision": 0.9, "recall": 0.95, "f1": 0.92},
        {"label": "spam", "rows": 10, "answered": 5, "precision": None, "recall": 0.25, "f1": 0.4},
    ]
    scores = {"balanced_accuracy": {"value": 0.6, "low": 0.5, "high": 0.7}}
    learners = [
        one("svc", by_class=by_class, tuned_rows=4000, fitted_rows=10000, converged=True, scores=scores),
        one("perceptron", converged=False, tuned_rows=20000, fitted_rows=20000),
    ]
    return {
        "task": "classify",
        "data": {"name": "mail", "extent": "25000 rows, 2 columns", "target": "kind"},
        "split": {"train": 20000},
        "learners": learners,
        "skipped": [],
        "answer": {"chosen": "svc", "words": ["Svc was chosen."]},
        **more,
    }


def test_the_console_marks_what_is_not_done_or_not_of_all_rows(capsys):
    show_comparison(facts_with(), Printer())
    shown = capsys.readouterr().out
    lines = {line.split()[0]: line for line in shown.splitlines() if line.strip()}
    assert "†" in lines["Perceptron"]
    assert "†" not in lines["Svc"]
    assert "0.1" not in lines["spam"]
    assert "‡" in lines["Svc"]
    assert "‡" not in lines["Perceptron"]
    assert "‡ cross-validated on 4,000 of 20,000 training rows" in shown
    assert "fitted on 10,000 of 20,000 training rows" in shown


def test_the_console_tells_classes_apart_and_says_what_was_asked(capsys):
    scoring = {"name": "balanced_accuracy", "title": "balanced accuracy", "why": "", "asked": False}
    more = {"uneven": "Only 10 % are spam.", "scoring": scoring}
    trees = {"title": "Trees", "error": 0.1, "low": None, "score": 0.9, "better": True, "words": "Trees err less."}
    show_comparison(facts_with(**more, yardstick=trees), Printer())
    shown = capsys.readouterr().out
    spam = next(line for line in shown.splitlines() if line.strip().startswith("spam"))
    assert spam.split() == ["spam", "10", "5", "25.0", "%", "—", "40.0", "%"]
    assert "Only 10 % are spam." in shown
    assert "Trees err less." in shown
    assert "balanced accuracy" in shown
    assert "0.600" in shown
    assert "0.900 ± 0.010" in shown


def test_many_classes_are_not_told_one_by_one(capsys):
    facts = facts_with()
    facts["learners"][0]["by_class"] *= 7
    show_comparison(facts, Printer())
    assert "class by class" not in capsys.readouterr().out


# -- train --------------------------------------------------------------------------------------------------------


def uneven(path):
    random = np.random.default_rng(1)
    rare = np.arange(300) < 30
    frame = pd.DataFrame({"a": random.normal(1.2 * rare, 1), "b": random.normal(0, 1, 300)})
    frame.assign(y=np.where(rare, "rare", "usual")).to_csv(path, index=False)


def recall_of_rare(mercer, model):
    told = json.loads(mercer(f"run {model} t.csv --json").stdout)
    matrix = np.array(told["confusion_matrix"])[told["classes"].index("rare")]
    return matrix[told["classes"].index("rare")] / matrix.sum()


def test_a_rare_class_is_found_more_often_with_weights_or_a_threshold(mercer):
    uneven("t.csv")
    mercer("train logistic t.csv -o plain")
    mercer("train logistic t.csv --class-weight balanced -o weighted")
    assert load("weighted").named_steps["learner"].class_weight == "balanced"
    mercer("train logistic t.csv --threshold balanced_accuracy -o chosen")
    assert recall_of_rare(mercer, "weighted") > recall_of_rare(mercer, "plain")
    assert recall_of_rare(mercer, "chosen") > recall_of_rare(mercer, "plain")
    assert "chosen by balanced_accuracy" in mercer("inspect chosen").stdout


@pytest.mark.thorough
def test_scores_beyond_a_threshold_have_the_sign_of_the_answer(mercer):
    uneven("t.csv")
    Path("t.csv").write_text(Path("t.csv").read_text().replace("rare", "1").replace("usual", "0"))
    for learner in ("logistic", "svc"):
        mercer(f"train {learner} t.csv --threshold f1 -o m")
        rows = json.loads(mercer("run m t.csv --json").stdout)["predictions"]
        assert {row["prediction"] for row in rows} == {0, 1}
        assert all((row["score"] >= 0) == (row["prediction"] == 1) for row in rows)
        assert all((row["margin"] < 0) == (row["prediction"] != row["label"]) for row in rows)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train ridge waves:60 --class-weight balanced -o m", "--class-weight is for classes, which ridge does not"),
        ("train one-class moons:60 --threshold f1 -o m", "--threshold is for classes, which one-class does not learn"),
        ("train svc digits --threshold f1 -o m", "--threshold is for two classes, and 'digit' has 10"),
        ("train svc moons:60 --threshold f1_makro -o m", "there is no measure 'f1_makro'; did you mean 'f1'?"),
        ("train svc moons:60 --threshold auc -o m", "AUC is the same for every threshold; use balanced_accuracy"),
        ("train svc moons:60 --threshold f1 --positive up -o m", "no row is of class 'up'; the classes are 'lower'"),
        ("train svc moons:60 --threshold f1 --calibrate sigmoid -o m", "--threshold and --calibrate both say"),
        ("train nu-svc moons:60 --cost lower,upper=3 -o m", "does not weigh mistakes by itself"),
        ("train one-class moons:60 --max-rows 20 -o m", "one-class knows none; leave it out"),
        ("train svc moons:60 -o -", "'-' stands for the standard output"),
    ],
)
def test_mistakes_get_one_sentence(mercer, line, message):
    said = mercer(line, 1).stderr
    assert message in said
    assert len([text for text in said.splitlines() if text.startswith("mercer: ")]) == 1
    assert not list(Path().iterdir())


def test_train_says_how_to_go_on(mercer):
    assert "Go on with: mercer run 'my m' NEW-DATA" in mercer("train logistic moons:60 -o 'my m'").stdout
    assert json.loads(mercer("train svdd moons:60 -o m --json").stdout)["run"] == "mercer run m NEW-DATA"


@pytest.mark.parametrize("command", ["train logistic", "tune logistic", "compare", "check", "run m"])
def test_several_files_reach_the_reader_as_a_list(mercer, monkeypatch, command):
    mercer("train logistic moons:60 -o m")
    asked = []

    def reader(source, *args, **options):
        asked.append(source)
        raise ValueError("stop here")

    for module in ("recipe", "compare", "check", "new_rows"):
        monkeypatch.setattr(f"mercer.cli.{module}.read", reader)
    output = " -o x" if command.startswith("train") else ""
    mercer(f"{command} one.csv two.csv{output}", 1)
    mercer(f"{command} one.csv{output}", 1)
    assert asked == [["one.csv", "two.csv"], "one.csv"]


@pytest.mark.thorough
def test_tune_prints_a_line_for_several_files_and_kinds(mercer):
    random = np.random.default_rng(0)
    for name in ("a.csv", "b.csv"):
        codes, sizes = random.choice([101, 202, 303], 60), random.normal(size=60)
        frame = pd.DataFrame(
            {"size": sizes, "zip": codes, "cheap": np.where((codes == 202) ^ (sizes > 0), "no", "yes")}
        )
        frame.to_csv(name, index=False)
    shown = mercer("tune svc a.csv b.csv --as zip=category --threshold f1 --folds 2 -o best").stdout
    line = shown.splitlines()[-1]
    assert line.startswith("mercer train svc a.csv b.csv --kernel 'gaussian(gamma=")
    assert line.endswith("--threshold f1 --as zip=category -o best")
    rows = read(["a.csv", "b.csv"], kinds={"zip": "category"}).X
    tuned = load("best").decision_function(rows)
    mercer(line.removeprefix("mercer "))
    assert np.array_equal(tuned, load("best").decision_function(rows))


def test_the_cluster_of_a_search_is_no_matter_of_training():
    given = ["svc", "moons:60", "--cluster", "local:2", "--min-max"]
    with tune.make_context("tune", given):
        assert said_besides() == ["--min-max"]
        assert given_command() == "mercer tune svc moons:60 --min-max --cluster local:2"
