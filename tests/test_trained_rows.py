"""Rows that a model was trained on are known again, and their errors stand apart from those on others."""

import base64
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer import load, read, save
from mercer.model_files import open_model

rng = np.random.default_rng(0)
N = 120


def people():
    """Numbers with gaps, words and dates, and two targets."""
    age, pay = rng.normal(50, 15, N).round(1), rng.normal(3000, 700, N).round(2)
    day = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, N), unit="D")
    job = rng.choice(["cook", "smith", "poet"], N)
    noise = rng.normal(size=N)
    return pd.DataFrame(
        {
            "age": np.where(rng.random(N) < 0.1, np.nan, age),
            "pay": pay,
            "job": job,
            "day": day.strftime("%Y-%m-%d"),
            "ill": np.where(age / 20 + 2 * noise + (job == "poet") > 3, "yes", "no"),
        }
    )


def fingerprints(model):
    """What a model file remembers of its training rows: six bytes of each."""
    text = base64.b64decode(open_model(model).about["trained_rows"]["fingerprints"])
    return {text[begin : begin + 6] for begin in range(0, len(text), 6)}


def told_by(mercer, line):
    return json.loads(mercer(f"{line} --json").stdout)


@pytest.fixture
def trained(mercer):
    """A model of three quarters of the rows, the whole table, and the rows that were kept out."""
    frame = people()
    frame.to_csv("all.csv", index=False)
    told = told_by(mercer, "train svc all.csv --holdout 0.25 --set C=5 -o m")
    rows = told_by(mercer, "run m all.csv")["predictions"]
    return frame, told, np.array([row["trained on"] for row in rows])


def test_the_whole_file_gives_both_errors_of_the_training(mercer, trained):
    _, told, _ = trained
    found = told_by(mercer, "run m all.csv")
    assert (found["trained_on"]["rows"], found["others"]["rows"]) == (90, 30)
    assert found["trained_on"]["error"] == pytest.approx(told["errors"]["train"])
    assert found["others"]["error"] == pytest.approx(told["errors"]["holdout"])
    assert found["trained_on"]["wrong"] + found["others"]["wrong"] == found["wrong"]
    shown = mercer("run m all.csv").stdout
    assert "The model was trained on 90 of these 120 rows." in shown
    assert f"{found['others']['wrong']} of 30 other rows are wrong" in shown
    assert "confusion matrix of other rows" in shown


CHANGES = {
    "other order": lambda frame: frame.sample(frac=1, random_state=1),
    "other columns first": lambda frame: frame[["ill", "job", "pay", "day", "age"]],
    "a column more": lambda frame: frame.assign(number=range(N)),
    "other ways to write numbers": lambda frame: frame.assign(
        pay=[f"{value:.6e}" for value in frame["pay"]], age=[f"{value:.3f}" for value in frame["age"]]
    ),
    "fifteen digits": lambda frame: frame.assign(pay=frame["pay"] * (1 + 1e-15)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_rows_are_known_however_they_are_written(mercer, trained, change):
    frame, told, kept = trained
    CHANGES[change](frame).to_csv("other.csv", index=False)
    found = told_by(mercer, "run m other.csv --target ill")
    assert found["trained_on"]["rows"] == 90
    assert found["others"]["error"] == pytest.approx(told["errors"]["holdout"])
    CHANGES[change](frame)[:70].to_csv("part.csv", index=False)
    own = kept[CHANGES[change](frame).index[:70]]
    rows = told_by(mercer, "run m part.csv --target ill")["predictions"]
    assert [row["trained on"] for row in rows] == own.tolist()


def test_nothing_is_said_of_rows_that_are_all_new_and_all_is_said_of_rows_that_are_not(mercer, trained):
    frame, told, kept = trained
    frame[~kept].to_csv("new.csv", index=False)
    shown = mercer("run m new.csv").stdout
    assert "trained on" not in shown
    assert "training" not in shown
    told_of_new = told_by(mercer, "run m new.csv")
    assert told_of_new["trained_on"]["rows"] == 0
    assert "trained on" not in told_of_new["predictions"][0]
    assert "trained on" not in mercer("explain m new.csv").output
    frame[kept].to_csv("old.csv", index=False)
    shown = mercer("run m old.csv").stdout
    assert "trained on all of these rows" in shown
    assert f"holdout error, as the model file says: {100 * told['errors']['holdout']:.2f} % on 30 rows" in shown
    frame[kept].drop(columns="ill").to_csv("blind.csv", index=False)
    assert "trained on all of these rows" in mercer("run m blind.csv").stdout
    assert "trained on all of these rows" in mercer("run m old.csv --ignore-labels").stdout
    frame[kept].assign(ill="no").to_csv("others.csv", index=False)
    assert told_by(mercer, "run m others.csv")["trained_on"]["rows"] < 90


def test_explanations_say_it_too(mercer, trained):
    _, _, kept = trained
    assert told_by(mercer, "explain m all.csv")["trained_on"] == 90
    assert "Other rows than those of its training tell better" in mercer("explain m all.csv").stdout
    first, other = int(np.argmax(kept)), int(np.argmin(kept))
    assert "trained on this row" in mercer(f"explain m all.csv --row {first + 2}").stdout
    assert "trained on" not in mercer(f"explain m all.csv --row {other + 2}").stdout


def test_a_model_alone_tells_its_errors(mercer, trained):
    _, told, _ = trained
    for shown in (mercer("run m").stdout, mercer("inspect m").stdout):
        assert f"{100 * told['errors']['train']:.2f} % on 90 rows" in shown
        assert f"{100 * told['errors']['holdout']:.2f} % on 30 rows" in shown
    assert told_by(mercer, "run m")["training"]["errors"] == told["errors"]
    assert "no DATA is named" in mercer("run m -o p.csv", 2).output
    assert "fingerprints" not in mercer("inspect m --json").stdout


def test_equal_rows_count_as_often_as_they_were_trained_on(mercer):
    frame = people()
    frame = pd.concat([frame, frame[:40], frame[:10]], ignore_index=True)
    frame.to_csv("twice.csv", index=False)
    done = mercer("train svc twice.csv --holdout 0.3 -o m --json")
    told = json.loads(done.stdout)
    assert 0 < told["holdout_repeated"] <= 51
    assert f"Of the 51 rows held out {told['holdout_repeated']} equal" in done.stderr
    found = told_by(mercer, "run m twice.csv")
    assert found["trained_on"]["rows"] == told["rows"]
    assert found["trained_on"]["error"] == pytest.approx(told["errors"]["train"])
    assert found["others"]["error"] == pytest.approx(told["errors"]["holdout"])
    assert found["others"]["equal_to_training_rows"] == told["holdout_repeated"]
    assert "alike by chance" in mercer("run m twice.csv").stdout


def test_numbers_and_detectors(mercer):
    frame = people().drop(columns="ill")
    frame.to_csv("pay.csv", index=False)
    told = told_by(mercer, "train kernel-ridge pay.csv --target pay --holdout 0.25 -o m")
    found = told_by(mercer, "run m pay.csv")
    for ours, theirs in (("trained_on", "train"), ("others", "holdout")):
        assert found[ours]["rmse"] == pytest.approx(told["errors"][theirs]["rmse"])
        assert found[ours]["labelled"] == told["errors"][theirs]["rows"]
    assert "(30 other rows)" in mercer("run m pay.csv --intervals 0.9").stdout
    told = told_by(mercer, "train one-class pay.csv --set nu=0.2 --holdout 0.25 -o m")["outside"]
    found = told_by(mercer, "run m pay.csv")
    assert found["trained_on"] == {"rows": 90, "outliers": told["train"]["outside"]}
    assert found["others"]["outliers"] == told["holdout"]["outside"]
    assert "30 other rows" in mercer("run m pay.csv").stdout


def test_sparse_rows_and_strings(mercer):
    from sklearn.datasets import dump_svmlight_file

    X = sparse.random(60, 20, 0.3, format="csr", random_state=0)
    dump_svmlight_file(X, np.arange(60) % 2, "t.svm")
    told = told_by(mercer, "train linear-svc t.svm --holdout 0.5 -o m")
    found = told_by(mercer, "run m t.svm")
    assert found["others"]["error"] == pytest.approx(told["errors"]["holdout"])
    words = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(60)]
    lines = [f">s{k} label={k % 2}\n{word}\n" for k, word in enumerate(words)]
    Path("t.fasta").write_text("".join(lines))
    told = told_by(mercer, 'train svc t.fasta --kernel "spectrum(p=2)" --holdout 0.5 -o m')
    Path("t.fasta").write_text("".join(lines[::-1]))
    found = told_by(mercer, "run m t.fasta")
    assert found["trained_on"]["error"] == pytest.approx(told["errors"]["train"])
    assert found["others"]["error"] == pytest.approx(told["errors"]["holdout"])


def test_files_larger_than_memory(mercer):
    X = rng.normal(size=(600, 12))
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(12)]).assign(kind=np.where(X[:, 0] > 0, "same", "apart"))
    frame[:400].to_csv("t.csv", index=False)
    frame.to_csv("more.csv", index=False)
    done = mercer("train kernel-logistic t.csv --rank 20 --memory 30kB -o m --json")
    assert "is read in chunks" in done.stderr
    told = json.loads(done.stdout)
    together = told_by(mercer, "run m more.csv")
    streamed = told_by(mercer, "run m more.csv --max-bytes 20kB -o p.csv")
    assert streamed["trained_on"]["rows"] == together["trained_on"]["rows"] == 400
    assert streamed["trained_on"]["error"] == pytest.approx(told["errors"]["train"])
    for group in ("trained_on", "others"):
        assert streamed[group] == together[group]
    assert pd.read_csv("p.csv")["trained on"].tolist() == [True] * 400 + [False] * 200
    shown = mercer("run m more.csv --max-bytes 20kB -o p.csv").stdout
    assert "trained on 400 of these 600 rows" in shown


def test_of_many_rows_some_are_remembered(mercer, monkeypatch):
    people().to_csv("all.csv", index=False)
    monkeypatch.setattr("mercer.cli.new_rows._KEPT", 40)
    mercer("train svc all.csv --holdout 0.25 -o m")
    kept = len(fingerprints("m"))
    assert 15 < kept < 65
    found = told_by(mercer, "run m all.csv")
    known = [row["trained on"] for row in found["predictions"]]
    assert known.count(True) == found["trained_on"]["rows"] == kept
    assert known.count(None) > 20
    assert "trained on about" in mercer("run m all.csv").stdout


def test_models_of_searches_and_comparisons(mercer):
    people().to_csv("all.csv", index=False)
    mercer("tune logistic all.csv --folds 3 -o m")
    assert "trained on all of these rows" in mercer("run m all.csv").stdout
    assert "cross-validated error, as the model file says" in mercer("run m all.csv").stdout
    assert "training error" in mercer("run m").stdout
    mercer("compare all.csv --learners logistic --no-trees --model m")
    found = told_by(mercer, "run m all.csv")
    assert (found["trained_on"]["rows"], found["others"]["rows"]) == (N, 0)
    assert "test error, as the model file says" in mercer("run m all.csv").stdout


def test_older_files_and_forged_ones(mercer, trained):
    loaded = open_model("m")
    about = {name: value for name, value in loaded.about.items() if name not in ("trained_rows", "mercer")}
    save(loaded.estimator, "old", about)
    assert "trained on rows of this file; which of them it does not remember" in mercer("run old all.csv").stdout
    assert "trained on" not in told_by(mercer, "run old all.csv")["predictions"][0]
    for strange in ({"fingerprints": "?"}, {}, {**loaded.about["trained_rows"], "salt": 3}):
        save(loaded.estimator, "strange", {**about, "trained_rows": strange})
        assert "says about its training rows makes no sense" in mercer("run strange all.csv", 1).output
    save(load("m"), "plain")
    assert "trained_rows" not in open_model("plain").about


def test_fingerprints_of_the_same_rows_differ_between_files(mercer):
    frame = read("moons:50").frame.assign(y=np.arange(50) % 2)
    for name, rows in (("one", frame), ("other", frame[::-1])):
        rows.to_csv(f"{name}.csv", index=False)
        mercer(f"train svc {name}.csv -o {name}")
    marks = [fingerprints(name) for name in ("one", "other")]
    assert [len(each) for each in marks] == [50, 50]
    assert not marks[0] & marks[1]
