"""The rest of the family on the command line: outlier detection, probabilities, costs, quantiles, mixtures."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from mercer import SVDD, Calibrated, KernelSearchCV, NuSVR, OneClassSVM, load, read
from mercer.model_files import open_model


def written(path):
    return list(csv.DictReader(Path(path).read_text(encoding="utf-8").splitlines()))


def visits(rows=200):
    """A table without any label, with one outlier."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "time": [f"{chr(97 + k % 26)}{chr(97 + k // 26)} day" for k in range(rows)],
            "country": random.choice(["fr", "de"], rows),
            "pages": random.integers(1, 20, rows),
            "seconds": random.normal(100, 20, rows).round(1),
        }
    )
    frame.loc[7, "seconds"] = 900.0
    frame.to_csv("visits.csv", index=False)
    return frame


def people(rows=200):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"age": random.integers(18, 80, rows), "job": random.choice(["cook", "clerk"], rows)})
    frame["buys"] = np.where((frame["job"] == "cook") != (random.random(rows) < 0.1), "yes", "no")
    frame.to_csv("people.csv", index=False)
    return frame


# -- outliers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "made"), [("one-class", OneClassSVM), ("svdd", SVDD)])
def test_what_is_usual_needs_no_target(mercer, name, made):
    frame = visits()
    done = mercer(f"train {name} visits.csv --drop time --set nu=0.1 -o m --json")
    told, model = json.loads(done.stdout), load("m")
    assert isinstance(model.named_steps["learner"], made)
    assert "All 3 columns are learned from" in done.stderr
    outside = model.predict(frame.drop(columns="time").astype({"country": "category"})) < 0
    assert outside[7]
    assert told["outside"]["train"] == {"rows": 200, "outside": outside.sum(), "share": outside.mean()}
    assert outside.mean() <= 0.1
    shown = mercer("run m visits.csv -o p.csv").stdout
    assert f"{outside.sum()} of 200 training rows" in shown
    assert shown.index("line 9 ") < shown.index("200 rows, 1 for inliers")  # row 7 of the frame, the farthest outside
    rows = written("p.csv")
    assert list(rows[0]) == ["row", "line", "prediction", "score", "trained on"]
    assert [int(row["prediction"]) for row in rows] == np.where(outside, -1, 1).tolist()
    assert all((float(row["score"]) < 0) == (row["prediction"] == "-1") for row in rows)


def test_labels_are_left_out_and_said_and_counted_by(mercer):
    done = mercer("train one-class moons:200 -o m")
    assert "The target 'moon' is left out" in done.stderr
    assert load("m").predict(read("moons:200").X).shape == (200,)
    people()
    mercer("train one-class people.csv --target buys -o m")
    told = json.loads(mercer("run m people.csv -o p.csv --json").stdout)
    assert sum(one["outliers"] for one in told["by_label"].values()) == told["outliers"]
    assert {row["label"] for row in written("p.csv")} == {"yes", "no"}
    shown = mercer("inspect m").stdout
    assert "none: it detects outliers ('buys' was left out)" in shown
    assert "outside" in shown


def test_columns_of_names_are_pointed_out(mercer):
    visits()
    assert "'time' holds names or other words that rarely repeat" in mercer("train one-class visits.csv -o m").stderr
    chosen = mercer("train one-class visits.csv --kernel 'gaussian.on(pages)*gaussian.on(seconds)' -o m").stderr
    assert "learned from" not in chosen


def test_what_is_usual_among_strings_sparse_rows_and_held_out_ones(mercer):
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("AC"), 12)) for _ in range(40)] + ["GTGTGTGTGTGT"]
    Path("t.fasta").write_text("".join(f">{k}\n{word}\n" for k, word in enumerate(words)))
    mercer("train one-class t.fasta --kernel 'spectrum(p=2)' --set nu=0.2 -o m")
    mercer("run m t.fasta -o p.csv")
    scores = [float(row["score"]) for row in written("p.csv")]
    assert np.argmin(scores) == 40
    lines = [f"1 1:{x:.3f} {k + 2}:1" for k, x in enumerate(random.normal(size=30))]
    Path("t.svm").write_text("\n".join(lines))
    told = json.loads(mercer("train one-class t.svm --holdout 0.2 -o m --json").stdout)
    assert told["outside"]["holdout"]["rows"] == 6
    Path("t.basket").write_text("milk,egg\n" * 20 + "nail,saw\n")
    done = mercer("train one-class t.basket -o m")
    assert "leave a label out with --target first" in done.stderr


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("tune one-class moons", 1, "one-class detects outliers in rows without labels, so there are no errors"),
        ("compare moons --learners svc,svdd", 2, "svdd detects outliers"),
        ("train one-class moons --task regress -o m", 1, "one-class needs no target, so there is no task"),
        ("train one-class moons --outliers iqr -o m", 1, "finds outliers itself"),
        ("train one-class moons --target mon -o m", 1, "did you mean 'moon'?"),
        ("train one-class moons --calibrate sigmoid -o m", 1, "--calibrate is for classes"),
        ("train svr waves --cost a,b=2 -o m", 1, "--cost is for classes, which svr does not learn"),
        ("train one-class moons --set nu=2 -o m", 1, "nu"),
        ("train svc moons:60 --cost upper,lowr=2 -o m", 1, "should look like TRUE,ANSWERED=5 with two of the classes"),
        ("train svc moons:60 --cost upper,lower=much -o m", 1, "should look like TRUE,ANSWERED=5"),
        ("train svc waves:60 --task classify -o m", 1, "has another class in each of 60 rows"),
        ("train pegasos moons:60 --cost upper,lower=2 -o m", 1, "add --calibrate sigmoid, or use svc"),
    ],
)
def test_mistakes_get_one_sentence(mercer, line, code, message):
    assert message in " ".join(mercer(line, code).stderr.split())
    assert not Path("m").exists()


# -- probabilities and costs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sigmoid", "isotonic", "venn_abers"])
def test_the_prediction_is_the_most_probable_class(mercer, method):
    mercer(f"train svc moons:200 --calibrate {method} -o m")
    assert isinstance(load("m"), Calibrated)
    done = mercer("run m moons:200 --probabilities -o p.csv --json")
    rows, table = written("p.csv"), read("moons:200")
    found = np.array([[float(row["probability lower"]), float(row["probability upper"])] for row in rows])
    assert np.array_equal(found, load("m").predict_proba(table.X))
    assert json.loads(done.stdout)["log_loss"] == pytest.approx(log_loss(table.y, found))
    for row, (lower, upper) in zip(rows, found, strict=True):
        assert row["prediction"] == ("upper" if upper > lower else "lower")
        assert (float(row["score"]) > 0) == (upper > lower)
        assert (float(row["margin"]) > 0) == (row["prediction"] == row["label"])
    if method == "venn_abers":
        assert all(
            float(row["low upper"]) <= float(row["probability upper"]) <= float(row["high upper"]) for row in rows
        )
    assert f"calibrated by {method}" in mercer("inspect m").stdout


def test_probabilities_of_several_classes_and_of_few_rows(mercer):
    random = np.random.default_rng(0)
    X, codes = random.normal(size=(63, 2)), np.repeat(["a", "b", "c"], [30, 30, 3])
    pd.DataFrame({"x": X[:, 0] + 3 * (codes == "b"), "y": X[:, 1] + 4 * (codes == "c"), "k": codes}).to_csv(
        "t.csv", index=False
    )
    done = mercer("train svc t.csv --calibrate sigmoid -o m")
    assert "folds" not in done.stderr  # rows of a rare class are spread over as many as there are
    mercer("run m t.csv --probabilities -o p.csv")
    for row in written("p.csv"):
        found = {label: float(row[f"probability {label}"]) for label in "abc"}
        assert sum(found.values()) == pytest.approx(1)
        assert row["prediction"] == max(found, key=found.get)


def test_probabilities_of_a_logistic_machine_and_of_none(mercer):
    mercer("train kernel-logistic moons:100 -o m")
    mercer("run m moons:100 --probabilities -o p.csv")
    assert "probability upper" in written("p.csv")[0]
    mercer("train svc moons:100 -o m")
    assert "train it with --calibrate sigmoid" in mercer("run m moons:100 --probabilities", 1).stderr
    mercer("train ridge waves:60 -o m")
    assert "--probabilities is for classifiers" in mercer("run m waves:60 --probabilities", 1).stderr


@pytest.mark.parametrize("more", ["", "--calibrate sigmoid"])
def test_a_dear_mistake_is_made_less_often(mercer, more):
    def missed(options):
        mercer(f"train svc breast_cancer {options} -o m")
        told = json.loads(mercer("run m breast_cancer -o p.csv --json").stdout)
        assert all((float(row["margin"]) > 0) == (row["prediction"] == row["label"]) for row in written("p.csv"))
        return told["confusion_matrix"][1][0]

    assert missed(f"{more} --cost malignant,benign=30") < missed(more)


# -- quantiles, nu machines, mixtures -----------------------------------------------------------------------------


def test_a_quantile_has_its_share_of_rows_below(mercer):
    mercer("train quantile waves:400 --set quantiles=0.8 -o m")
    table = read("waves:400")
    assert 0.72 < np.mean(table.y < load("m").predict(table.X)) < 0.88
    mercer("train linear-quantile waves:400 -o m")
    assert 0.45 < np.mean(table.y < load("m").predict(table.X)) < 0.55
    assert "largest weights" in mercer("inspect m").stdout


def test_nu_machines_by_name(mercer):
    mercer("train nu-svc moons:100 --set nu=0.2 -o m")
    assert len(load("m").named_steps["learner"].support_) >= 20
    line = mercer("tune nu-svr waves:60 --folds 2").stdout.splitlines()[-1]
    assert line.startswith("mercer train nu-svr waves:60 --kernel")
    mercer(line.removeprefix("mercer ").replace("MODEL", "m"))
    assert "use nu-svr" in mercer("train nu-svc waves:60 -o m", 1).stderr


def test_advice_on_a_share_stays_a_share():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 2))
    for largest in (0.6, 1.0):
        search = KernelSearchCV(NuSVR("linear"), {"nu": [0.3, largest]}, cv=2).fit(X, X[:, 0] + random.normal(size=60))
        said = " ".join(fact.message for fact in search.advice_)
        assert search.best_params_["nu"] == largest
        assert ("such as 1 " in said) == (largest < 1)


def test_a_mixture_says_which_kernels_matter(mercer):
    people()
    done = mercer('train svc people.csv --kernel "mixture(gaussian.on(age), equal.on(job))" -o m')
    weights = load("m").named_steps["learner"].kernel_.weights_
    assert weights[1] > weights[0]
    shown = mercer("inspect m").stdout
    for text in (done.stdout, shown):
        assert text.index("learned weights") < text.index("equal.on(job)", text.index("learned weights"))
        assert f"{weights[1]:.4f}" in text
    assert list(json.loads(mercer("inspect m --json").stdout)["mixture"].values()) == pytest.approx(weights)


# -- numbers, as asked for ----------------------------------------------------------------------------------------


def test_kernels_are_ranked_for_the_task_that_was_asked_for(mercer):
    told = json.loads(mercer("kernel digits --task regress --sample 100 --json").stdout)
    assert told["within"] is None
    assert told["alignment"] is not None
    assert json.loads(mercer("kernel digits --sample 100 --json").stdout)["within"] is not None
    mercer("kernel digits --task regress --sample 50 --kernel linear --kernel gaussian")


@pytest.mark.parametrize("line", ["train ridge waves:60 -o m", "tune ridge waves:60 --folds 2 -o m"])
def test_a_model_is_stored_though_its_intervals_were_interrupted(mercer, monkeypatch, line):
    def interrupted(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("mercer.study.half_widths", interrupted)
    done = mercer(line, 130)
    assert "the model in m is whole" in done.stderr
    assert np.isfinite(load("m").predict(read("waves:60").X)).all()
    assert "does not know how far its errors reach" in mercer("run m waves:60 --intervals 0.9", 1).stderr


def test_training_ends_with_an_error_on_rows_left_out_and_what_became_of_a_rare_class(mercer):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    y = np.where(X.sum(axis=1) + random.normal(size=400) > 2.6, "ill", "well")
    pd.DataFrame(X, columns=["a", "b"]).assign(y=y).to_csv("t.csv", index=False)
    shown = mercer("train svc t.csv -o m").stdout
    about = open_model("m").about["training"]
    left_out = about["cross_validation"]
    assert (left_out["rows"], left_out["folds"]) == (400, 5)
    assert left_out["rarest"]["rows"] == (y == "ill").sum()
    assert f"Cross-validation finds {left_out['rarest']['found']} of {(y == 'ill').sum()} rows of 'ill'" in shown
    assert "--class-weight balanced, or --threshold balanced_accuracy, finds more" in shown
    said = f"{100 * about['errors']['cross-validated']:.2f} %"
    assert f"cross-validated error   {said:>7}  (400 rows, 5 folds)" in shown
    for line in ("run m", "inspect m"):
        assert f"{said} on 400 rows, 5 folds" in mercer(line).stdout
    weighted = mercer("train svc t.csv --class-weight balanced -o m").stdout
    assert "finds more" not in weighted
    assert open_model("m").about["training"]["cross_validation"]["rarest"]["found"] > left_out["rarest"]["found"]
    assert "cross-validated" not in mercer("train svc t.csv --holdout 0.2 -o m").stdout
    assert "add --threshold f1" in mercer("train svc t.csv --positive ill -o m", 1).stderr
