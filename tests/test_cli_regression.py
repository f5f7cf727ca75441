"""Targets of numbers on the command line, as a user calls it."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from mercer import load, read
from mercer.composition import machine_of


def houses(rows=120, path="houses.csv"):
    """Prices that are skewed, with a column of words, missing values and an unlabelled row where asked for."""
    random = np.random.default_rng(0)
    area, quarter = random.gamma(9, 12, rows).round(1), random.choice(["north", "south"], rows)
    built = np.where(random.random(rows) < 0.1, np.nan, random.integers(1900, 2020, rows))
    price = (1000 * area * np.where(quarter == "south", 2, 1) + random.normal(0, 5000, rows)).round(2)
    frame = pd.DataFrame({"area": area, "built": built, "quarter": quarter, "price": price})
    frame.to_csv(path, index=False)
    return frame


def written(path):
    return list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))


def test_what_is_learned_is_said_in_one_line_and_can_be_overridden(mercer):
    guess = "Numbers: the target 'progression' has 214 different values in 442 rows, so it looks like a measurement"
    assert guess in mercer("train ridge diabetes -o m").stderr
    assert guess in mercer("check diabetes").stdout
    assert guess in mercer("kernel diabetes --sample 50").stderr
    assert guess not in mercer("train ridge diabetes -o m -q").stderr
    assert "Classes: the target 'digit' has 10 different values" in mercer("train perceptron digits -o m").stderr
    asked = mercer("train ridge digits --task regress -o m").stderr
    assert "Numbers are learned of the target 'digit', as --task says." in asked
    assert "the target" not in mercer("train perceptron moons:60 -o m").stderr  # words are classes, whatever else


def test_a_regressor_of_digits_and_a_classifier_of_doses(mercer):
    told = json.loads(mercer("train kernel-ridge digits --task regress -o m --json -q").stdout)
    table = read("digits")
    assert told["errors"]["train"]["rmse"] == pytest.approx(
        root_mean_squared_error(table.y, load("m").predict(table.X))
    )
    rows = "\n".join(f"{k % 7},{0.5 + k % 3}" for k in range(60))
    Path("doses.csv").write_text(f"a,dose\n{rows}\n")
    mercer("train svc doses.csv -o m")
    assert load("m").classes_.tolist() == ["0.5", "1.5", "2.5"]
    mercer("train ridge doses.csv --task regress -o m")
    assert load("m").predict(read("doses.csv").X).dtype.kind == "f"


def test_training_errors_are_those_of_scikit_learn_in_the_targets_unit(mercer):
    frame = houses()
    done = mercer("train kernel-ridge houses.csv --impute median --holdout 0.25 -o m --json")
    told, model = json.loads(done.stdout), load("m")
    assert told["rows"] == 90
    assert told["errors"]["holdout"]["rows"] == 30
    shown = mercer("train kernel-ridge houses.csv --impute median -o m").stdout
    truth, predicted = frame["price"], load("m").predict(read("houses.csv").X)
    assert f"RMSE {root_mean_squared_error(truth, predicted):.4g}"[:9] in shown
    assert f"R² {r2_score(truth, predicted):.3f}" in shown
    assert model.predict(read("houses.csv").X).shape == (120,)


def test_run_writes_numbers_intervals_and_errors(mercer):
    frame = houses()
    mercer("train kernel-ridge houses.csv --impute median -o m")
    done = mercer("run m houses.csv --intervals 0.8 -o p.csv --json")
    told = json.loads(done.stdout)
    rows = written("p.csv")
    assert list(rows[0]) == ["row", "line", "prediction", "low", "high", "target", "residual", "trained on"]
    predicted = np.array([float(row["prediction"]) for row in rows])
    assert np.array_equal(predicted, load("m").predict(read("houses.csv").X))
    assert told["mae"] == pytest.approx(mean_absolute_error(frame["price"], predicted))
    width = told["intervals"]["half_width"]
    assert all(float(row["high"]) - float(row["low"]) == pytest.approx(2 * width) for row in rows)
    inside = [float(row["low"]) <= float(row["target"]) <= float(row["high"]) for row in rows]
    assert told["inside"] == pytest.approx(np.mean(inside))
    assert np.mean(inside) >= 0.8  # rows it has seen: nearer than those that the width is from


def test_run_without_targets_or_with_some(mercer):
    frame = houses()
    mercer("train ridge houses.csv --impute median -o m")
    frame.drop(columns="price").to_csv("new.csv", index=False)
    assert "no values of the target" in mercer("run m new.csv -o p.csv").stdout
    assert written("p.csv")[0].keys() == {"row", "line", "prediction", "trained on"}
    frame.loc[:9, "price"] = np.nan
    frame.to_csv("some.csv", index=False)
    told = json.loads(mercer("run m some.csv -o p.csv --json").stdout)
    assert told["labelled"] == 110
    assert [row["target"] for row in written("p.csv")][:10] == [""] * 10
    assert "The table has no values of the target" in mercer("run m some.csv --ignore-labels").stdout


def test_coverage_of_intervals_on_rows_that_nobody_has_seen(mercer):
    """About nine of ten, in both directions; the width is from rows left out of a fit."""
    mercer("train kernel-ridge waves:400 -o m")
    X, y = (lambda table: (table.X, table.y))(read("waves:2400"))
    told = json.loads(mercer("run m waves:2400 --intervals 0.9 --json").stdout)
    residuals = y[400:] - load("m").predict(X.iloc[400:])
    assert 0.86 < np.mean(np.abs(residuals) <= told["intervals"]["half_width"]) < 0.95


@pytest.mark.thorough
def test_tune_prints_the_line_that_trains_the_best(mercer):
    houses()
    done = mercer("tune svr houses.csv --folds 2 --impute median --drop built -o best --json")
    told = json.loads(done.stdout)
    shown = mercer("tune svr houses.csv --folds 2 --impute median --drop built").stdout
    line = shown.splitlines()[-1]
    assert line.startswith("mercer train svr houses.csv --kernel 'gaussian(gamma=")
    assert "--drop built --impute median" in line
    mercer(line.removeprefix("mercer ").replace("MODEL", "again"))
    rows = read("houses.csv", drop=["built"]).X
    assert np.array_equal(load("best").predict(rows), load("again").predict(rows))
    assert told["error"] == min(cell["error"] for cell in told["cells"])
    mercer("run best houses.csv --intervals 0.5")
    assert "cross-validated error" in mercer("inspect best").stdout


def test_a_loss_that_tune_prints_is_one_that_train_takes(mercer):
    houses()
    line = mercer("tune huber houses.csv --folds 2 --impute median").stdout.splitlines()[-1]
    assert "loss=Huber(delta=" in line
    mercer(line.removeprefix("mercer ").replace("MODEL", "m"))
    assert machine_of(load("m")).loss.name == "huber"


def test_inspect_and_check_speak_of_numbers(mercer):
    frame = houses()
    mercer("train ridge houses.csv --impute median --holdout 0.2 -o m")
    shown = mercer("inspect m").stdout
    assert "'price', numbers" in shown
    assert "holdout error" in shown
    assert "largest weights" in shown
    facts = json.loads(mercer("check houses.csv --json").stdout)
    assert facts["task"] == "regress"
    assert facts["values"]["max"] == frame["price"].max()
    assert facts["classes"] == []
    long = mercer("check houses.csv").stdout
    assert max(map(len, long.splitlines())) < 200


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("train svc diabetes -o m", 1, "svc is a classifier, and the target 'progression' has 214 different"),
        ("train logistic-2 diabetes -o m", 1, "use ridge-2, or say --task classify"),
        ("train svr moons -o m", 1, "svr is a regressor, and the target 'moon' has 2 different words"),
        ("train svr moons -o m", 1, "so it looks like classes; use svc."),
        ("train svr digits -o m", 1, "use svc, or say --task regress"),
        ("train svr moons --task regress -o m", 1, "numbers are to be learned, and the target 'moon' holds"),
        ("compare diabetes --learners svc,svr", 1, "use svr, or say --task classify"),
        ("compare waves:12", 1, "has only 12 rows; a comparison needs 20"),
        ("tune ridge waves:3", 1, "only 3 rows, too few for 5 folds"),
        ("train ridge constant.csv -o m", 1, "all rows have the same"),
        ("train ridge constant.csv --task regress -o m", 1, "all rows have the same target, 7.0"),
        ("compare constant.csv --task regress", 1, "only one value, 7"),
        ("train svc names.csv -o m", 1, "has 40 different words in 40 rows, so it looks like names"),
        ("train ridge broken.csv --task regress -o m", 1, "holds 'oops' (line 5)"),
        ("train ridge huge.csv -o m", 1, "values up to 3.9e+201, whose squares no number holds"),
        ("compare huge.csv", 1, "write it in other units"),
        ("train ridge again.csv -o m", 1, "in 40 rows, so it looks like classes; use logistic, or say --task regress"),
        ("train huber diabetes --set loss=Huber(delta=-1) -o m", 1, "delta must be"),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence(mercer, line, code, message):
    Path("constant.csv").write_text("a,y\n" + "".join(f"{k},7\n" for k in range(30)))
    Path("names.csv").write_text("a,y\n" + "".join(f"{k},name {k}\n" for k in range(40)))
    Path("broken.csv").write_text("a,y\n" + "".join(f"{k},{'oops' if k == 3 else k / 7}\n" for k in range(40)))
    Path("huge.csv").write_text("a,y\n" + "".join(f"{k},{k}e200\n" for k in range(40)))
    Path("again.csv").write_text("a,y\n" + "".join(f"{k},{k % 10 / 8}\n" for k in range(40)))
    done = mercer(line, code)
    assert message in done.stderr
    assert len([text for text in done.stderr.splitlines() if text.startswith("mercer: ")]) == 1
    assert not Path("m").exists()


def test_models_of_one_task_refuse_what_the_other_is_asked_for(mercer):
    mercer("train svc moons:60 -o c")
    mercer("train ridge waves:60 -o r")
    assert "--intervals is for regressors" in mercer("run c moons:60 --intervals 0.9", 1).stderr
    assert "leave out --task classify" in mercer("run r waves:60 --task classify", 1).stderr
    assert "too few rows for intervals that hold 99 %" in mercer("run r waves:60 --intervals 0.99", 1).stderr


def test_a_decimal_comma_in_the_target(mercer):
    rows = "\n".join(f"{k};{k},5;{k * k / 8:.3f}".replace(".", ",") for k in range(40))
    Path("comma.csv").write_text(f"a;b;y\n{rows}\n")
    table = read("comma.csv", decimal=",")
    assert table.task == "regress"
    assert table.y[3] == 1.125


def test_sparse_rows_and_strings_with_numbers(mercer):
    random = np.random.default_rng(0)
    lines = [f"{x[0] * 3.5:.4f} 1:{x[0]:.4f} {100 + k}:1" for k, x in enumerate(random.normal(size=(40, 1)))]
    Path("t.svm").write_text("\n".join(lines))
    mercer("train ridge t.svm -o m")
    assert "RMSE" in mercer("run m t.svm").stdout
    words = ["".join(random.choice(list("ACGT"), 12)) for _ in range(40)]
    Path("t.fasta").write_text(
        "".join(f">{k} label={w.count('G') + 0.25 * w.count('A')}\n{w}\n" for k, w in enumerate(words))
    )
    assert read("t.fasta", task="regress").task == "regress"
    mercer('train kernel-ridge t.fasta --task regress --kernel "spectrum(p=1)" -o m')
    assert r2_score(read("t.fasta", task="regress").y, load("m").predict(words)) > 0.95
    assert "use kernel-ridge" in mercer("train ridge t.fasta --task regress -o m", 1).stderr


def test_outliers_are_counted_together(mercer):
    houses()
    done = mercer("train ridge houses.csv --impute median --outliers iqr -o m")
    assert "rows is an outlier." in done.stderr
    assert math.isfinite(load("m").predict(read("houses.csv").X).sum())


def test_help_lists_learners_of_both_tasks(mercer):
    shown = mercer("train --help").stdout
    assert shown.index("Classifiers") < shown.index("perceptron") < shown.index("Regressors")
    assert "ridge, huber, linear-svr" in shown


def test_compare_shows_errors_in_units_beside_the_mean(mercer):
    done = mercer("compare waves:120 --learners ridge,kernel-ridge --cv 2 --repeats 1 --no-trees -o out")
    facts = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    assert facts["task"] == "regress"
    shown = done.stdout
    assert shown.index("test RMSE") < shown.index("Kernel ridge") < shown.index("The mean")
    assert facts["intervals"]["words"] in shown
    table = read("waves:120")
    for one in facts["worst"]:
        assert table.y[one["row"] - 1] == pytest.approx(one["true"], rel=1e-5)
    constant = table.y.mean()
    assert facts["baseline"]["value"] == pytest.approx(constant, abs=0.2)


@pytest.mark.thorough
def test_compare_of_strings_with_numbers(mercer):
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("ACGT"), 12)) for _ in range(60)]
    lines = (f">{k} label={word.count('G') + k / 100}\n{word}\n" for k, word in enumerate(words))
    Path("t.fasta").write_text("".join(lines))
    mercer('compare t.fasta --kernel "spectrum(p=1)" --cv 2 --repeats 1 --no-trees -o out')
    facts = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    assert {one["name"] for one in facts["learners"]} == {"kernel-ridge", "kernel-huber", "svr", "quantile"}
    assert facts["learners"][0]["test"]["r2"] > 0.8


def test_a_study_that_is_interrupted_after_its_learners_keeps_them(mercer, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.study.number_study.out_of_fold_residuals", interrupted)
    done = mercer("compare waves:60 --learners ridge --cv 2 --repeats 1 --no-trees -o out", 130)
    assert "the comparison is partial, without what only the last pictures show" in done.stderr
    facts = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    assert facts["stopped"] == "interrupted"
    assert facts["intervals"] is None
    assert facts["learners"][0]["test"]["rows"] == 12
