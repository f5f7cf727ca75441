"""The command line: what it prints, what it writes, and with what it ends."""

import csv
import importlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pytest

from mercer import load
from mercer.cli import COMMANDS, main
from mercer.io import read
from mercer.model_files import file_of

SRC = str(Path(__file__).parents[1] / "src")


@pytest.mark.parametrize("name", list(COMMANDS))
def test_help_teaches_with_an_example_that_runs(mercer, name):
    done = mercer([name, "--help"])
    example = re.search(r"Example:\n\s+mercer (.+)", done.output)
    assert example is not None
    if name == "sign":
        key = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519").Ed25519PrivateKey.generate()
        pem = (serialization := importlib.import_module("cryptography.hazmat.primitives.serialization")).Encoding.PEM
        how = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        Path("mercer.key").write_bytes(key.private_bytes(pem, *how))
    if name in ("run", "inspect", "export", "import", "sign"):
        mercer('train svc moons:200 --kernel "gaussian(gamma=2)" --set C=10 -o moons.safetensors')
    if name == "import":
        mercer("export moons.safetensors --to libsvm -o rows.model")
    if name not in ("compare", "play", "warmup"):  # they have tests of their own
        assert mercer(example[1]).stdout.strip()


def test_the_front_page(mercer):
    page = mercer("--help").output
    assert all(name in page for name in COMMANDS)
    assert "0.1.0" in mercer("--version").output


def test_help_imports_nothing_heavy():
    program = (
        "import sys; from mercer.cli import main; main(['--help'], standalone_mode=False); "
        "heavy = {'numpy', 'sklearn', 'pandas', 'numba', 'rich', 'matplotlib'} & set(sys.modules); sys.exit(len(heavy))"
    )
    environment = {**os.environ, "PYTHONPATH": SRC}
    assert subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True).returncode == 0


def test_the_module_is_the_command_and_reads_the_standard_input():
    environment = {**os.environ, "PYTHONPATH": SRC}
    lines = "a,b,y\n" + "".join(f"{k},{k * k % 7},{'pq'[k % 2]}\n" for k in range(40))
    command = [sys.executable, "-m", "mercer", "check", "-", "--json"]
    done = subprocess.run(command, env=environment, input=lines, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["rows"] == 40


def test_interrupting_a_command_ends_it_with_130_and_leaves_no_file(tmp_path):
    program = (
        "import os, signal, threading, mercer.cli.training as b\n"
        "from mercer.cli import main\n"
        "def slow(*args): os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(30)\n"
        "b.fit = slow\n"
        "main(['train', 'pegasos', 'moons:50', '-o', 'm'])"
    )
    environment = {**os.environ, "PYTHONPATH": SRC}
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (130, "mercer: interrupted.\n")
    assert time.monotonic() - begin < 25
    assert not list(tmp_path.iterdir())


# -- train, run, inspect ------------------------------------------------------------------------------------------


def test_train_and_run_agree_with_the_library(mercer):
    done = mercer("train linear-svc breast_cancer --holdout 0.25 --seed 3 -o m --json")
    facts = json.loads(done.stdout)
    model, table = load("m"), read("breast_cancer")
    result = json.loads(mercer("run m breast_cancer --json -o out.csv").stdout)
    assert result["error"] == pytest.approx(np.mean(model.predict(table.X) != table.y))
    assert np.sum(result["confusion_matrix"]) == 569
    assert result["wrong"] == 569 - np.trace(result["confusion_matrix"])
    assert facts["errors"]["holdout"] * 142 + facts["errors"]["train"] * 427 == pytest.approx(
        569 * result["error"], 0.01
    )
    with open("out.csv") as file:
        lines = list(csv.DictReader(file))
    scores = model.decision_function(table.X)
    assert [float(line["score"]) for line in lines] == scores.tolist()
    assert [line["prediction"] for line in lines] == model.predict(table.X).tolist()
    signs = np.where(table.y == model.classes_[1], 1, -1)
    np.testing.assert_allclose([float(line["margin"]) for line in lines], signs * scores)


def test_margins_of_many_classes_are_negative_where_the_prediction_is_wrong(mercer):
    mercer("train perceptron digits -o m --set epochs=2")
    mercer("run m digits -o out.csv -q")
    with open("out.csv") as file:
        lines = list(csv.DictReader(file))
    wrong = [line["prediction"] != line["label"] for line in lines]
    assert any(wrong)
    assert [float(line["margin"]) < 0 for line in lines] == wrong
    assert "errors by class" not in mercer("run m digits").stdout


MIXED = "size,colour,kind\n" + "".join(f"{k % 9},{'red' if k % 2 else 'blue'},{'pq'[k % 2]}\n" for k in range(60))


def test_columns_are_matched_by_name(mercer):
    Path("train.csv").write_text(MIXED)
    mercer("train svc train.csv -o m")
    lines = [line.split(",") for line in MIXED.splitlines()]
    Path("other.csv").write_text(
        "\n".join(",".join([b, "7", a]) for a, b, _ in lines).replace("colour,7", "colour,new")
    )
    done = mercer("run m other.csv -o out.csv")
    assert "ignored: 'new'" in done.stderr
    assert "no labels" in done.stdout
    mercer("run m train.csv -o same.csv --ignore-labels")
    assert Path("out.csv").read_text() == Path("same.csv").read_text()
    Path("less.csv").write_text("size,kind\n1,p\n2,q\n")
    assert "lacks columns that the model was trained on: 'colour'" in mercer("run m less.csv", 1).stderr
    Path("strange.csv").write_text(MIXED.replace(",p\n", ",other\n"))
    assert "labels that the model does not know: 'other'" in mercer("run m strange.csv", 1).stderr
    Path("words.csv").write_text(MIXED.replace("\n3,", "\nthree,"))
    assert "line 5, column 'size': 'three' is not a number" in mercer("run m words.csv", 1).stderr
    Path("half.csv").write_text(MIXED.replace(",p\n", ",\n"))
    assert json.loads(mercer("run m half.csv --json").stdout)["labelled"] == 30


def test_sparse_files_with_fewer_features_are_widened(mercer):
    Path("train.svm").write_text("".join(f"{k % 2} {k % 2 + 1}:1 {k % 20 + 30}:1\n" for k in range(80)))
    mercer("train logistic train.svm -o m")
    Path("few.svm").write_text("0 1:1\n1 2:1\n")
    assert json.loads(mercer("run m few.svm --json").stdout)["error"] == 0
    Path("many.svm").write_text("0 1:1\n1 99:1\n")
    assert "has 99 features, the model was trained on 49" in mercer("run m many.svm", 1).stderr


def test_dense_svmlight_files_are_widened_too(mercer):
    Path("train.svm").write_text("".join(f"{k % 2} 1:{k % 2} 2:{k % 5} 3:1\n" for k in range(60)))
    mercer("train logistic train.svm -o m")
    Path("few.svm").write_text("0 1:0 2:1\n1 1:1 2:1\n")
    assert json.loads(mercer("run m few.svm --json").stdout)["error"] == 0


def test_labels_and_missing_words_mean_the_same_as_in_training(mercer):
    text = "a,b,y\n" + "".join(f"{k % 9},{'.' if k == 7 else k},{['01', 'x'][k % 2]}\n" for k in range(60))
    Path("train.csv").write_text(text)
    mercer("train pegasos train.csv --missing . --impute mean -o m")
    Path("new.csv").write_text("a,b,y\n1,.,01\n2,3,01\n")
    assert json.loads(mercer("run m new.csv --json").stdout)["labelled"] == 2


def test_formulas_and_markup_are_harmless(mercer):
    labels = ["=HYPERLINK(1)", "[red]x\x1b[31m"]
    text = "".join(f'{k},"{labels[k % 2]}"\n' for k in range(40))
    Path("bad.csv").write_text("<img onerror=1>,[bold]y\n" + text)
    shown = mercer("check bad.csv").stdout
    assert "[red]x" in shown
    assert "\x1b" not in shown
    mercer("train svc bad.csv -o m -q")
    mercer("run m bad.csv -o out.csv")
    assert Path("out.csv").read_text().splitlines()[1].split(",")[2] == "'=HYPERLINK(1)"
    mercer("inspect m")


def test_inspect_tells_weights_and_warns_of_rows_inside(mercer):
    mercer("train pegasos breast_cancer -o linear --outliers iqr --outlier-factor 4 --correlation 0.95")
    shown = json.loads(mercer("inspect linear --json").stdout)
    assert shown["training_rows_inside"] == 0
    assert "mean perimeter" not in shown["weights"]
    assert next(iter(shown["weights"].values())) == max(shown["weights"].values(), key=abs)
    assert "of 569 rows are outliers" in shown["training"]["outliers"]
    mercer("train kernel-perceptron moons:100 -o kernel")
    assert "of its training rows: share it as you would share the data" in mercer("inspect kernel").stdout


def test_a_config_file_stands_where_nothing_is_given(mercer):
    Path("c.toml").write_text('seed = 5\n[train]\noutput = "m"\nset = ["lam=0.5"]\nmin-max = true\n')
    assert json.loads(mercer("train pegasos moons:100 --config c.toml --json").stdout)["seed"] == 5
    assert load("m").named_steps["learner"].lam == 0.5
    assert json.loads(mercer("train pegasos moons:100 --config c.toml --seed 6 --json").stdout)["seed"] == 6
    Path("c.toml").write_text("[train]\nnonsense = 1\n")
    assert "sets 'nonsense' for train, which has no such option" in mercer("train svc moons --config c.toml", 2).output
    assert "cannot be read" in mercer("check moons --config none.toml", 2).output


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("trian", 2, "Did you mean 'train'"),
        ("train svm moons -o m", 2, "did you mean 'svc'"),
        ("train svc moons", 2, "Missing option '-o'"),
        ("train svc moons -o m --set C", 2, "'C' should look like C=10"),
        ("train svc moons -o m --standardise --min-max", 2, "exclude each other"),
        ("train svc moons -o m --set lam=3", 1, "SVC has no parameter 'lam'"),
        ("train svc moons -o m --set kernel=rbf", 2, "write --kernel 'rbf'"),
        ("train svc moons -o m --kernel wrong", 1, "there is no kernel 'wrong'"),
        ("train svc moons -o none/m", 1, "there is no folder 'none'"),
        ("train svc nofile -o m", 1, "there is no file 'nofile'"),
        ("train pegasos moons:60 -o m --holdout 0.001", 1, "cannot be split"),
        (
            "train svc margins:80 --target x1 -o m",
            1,
            "has 80 different values in 80 rows, so it looks like",
        ),
        ("check nofile", 1, "there is no file 'nofile'"),
        ("run none moons", 1, "there is no file 'none'"),
        ("inspect none", 1, "there is no file 'none'"),
        ("tune svc moons --resume", 2, "--resume needs --journal"),
        ("tune svc moons:60 --folds 2 --set C=0", 1, "could be fitted: SVC: C must be a number greater than 0"),
        ("tune svc moons:60 --folds 40", 1, "class 'lower' has only 30 rows, too few for 40 folds; use --folds 30"),
    ],
)
def test_mistakes_get_one_line_and_the_right_exit_status(mercer, line, code, message):
    done = mercer(line, code)
    assert message in done.stderr
    if code == 1:
        assert len([text for text in done.stderr.splitlines() if text.startswith("mercer: ")]) == 1
    assert not Path("m").exists()


def test_no_command_ever_shows_a_traceback(mercer, monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError("oh\nno")

    monkeypatch.setattr("mercer.cli.check.read", broken)
    done = mercer("check moons", 1)
    assert done.stderr == "mercer: unexpected ZeroDivisionError: oh no (MERCER_DEBUG=1 shows where)\n"


def test_an_old_model_survives_a_failed_training(mercer):
    Path("m").write_bytes(b"precious")
    mercer("train svc moons -o m --kernel wrong", 1)
    assert Path("m").read_bytes() == b"precious"


def test_a_tab_may_be_written_as_in_a_shell(mercer):
    Path("t.txt").write_text(MIXED.replace(",", "\t"))
    assert json.loads(mercer(["check", "t.txt", "--delimiter", "\\t", "--json"]).stdout)["rows"] == 60


def test_quiet_is_quiet(mercer):
    Path("t.csv").write_text(MIXED)
    assert mercer("train svc t.csv -o m").stderr.count("\n") >= 2
    assert mercer("train svc t.csv -o m --quiet").stderr == ""


def test_tune(mercer):
    facts = json.loads(mercer("tune logistic moons:120 --folds 3 -o m --json --outliers zscore").stdout)
    assert list(facts["best"]) == ["lam"]
    assert facts["cells"][0]["error"] == min(cell["error"] for cell in facts["cells"]) == facts["error"]
    assert load("m").classes_.tolist() == ["lower", "upper"]
    mercer("tune logistic moons:120 --folds 3 --journal j")
    assert "add --resume" in mercer("tune logistic moons:120 --folds 3 --journal j", 1).stderr
    assert "no journal" not in mercer("tune logistic moons:120 --folds 3 --journal j --resume").stderr
    assert "no journal 'new' to go on with" in mercer("tune logistic moons:60 --folds 2 --journal new --resume").stderr


def test_a_search_tries_the_values_it_is_given(mercer):
    line = "tune kernel-pegasos moons:60 --folds 2 --json --set lam=0.1,0.01 --set steps=50,100 --set kernel__gamma=1"
    facts = json.loads(mercer(line).stdout)
    tried = {(cell["parameters"]["lam"], cell["parameters"]["steps"]) for cell in facts["cells"]}
    assert tried == {(0.1, 50), (0.1, 100), (0.01, 50), (0.01, 100)}
    assert set(facts["best"]) == {"lam", "steps"}


def test_inspect_tells_the_weights_and_the_bias(mercer):
    mercer("train linear-svc moons:60 -o m")
    told, machine = json.loads(mercer("inspect m --json").stdout), load("m").steps[-1][1]
    assert told["bias"] == machine.intercept_[0]
    assert sorted(told["weights"].values()) == sorted(machine.coef_[0])


def test_rates_are_tuned_in_the_scale_of_the_prepared_columns(mercer):
    cells = json.loads(mercer("tune svc moons:60 --folds 2 --set C=50 --json").stdout)["cells"]
    rates = sorted(cell["parameters"]["kernel__gamma"] for cell in cells)
    assert rates == pytest.approx([2.0**power / 2 for power in (-5, -3, -1, 1, 3, 5)], rel=0.01)
    cells = json.loads(mercer("tune svc moons:60 --folds 2 --set C=50 --json --degree 2").stdout)["cells"]
    assert sorted(cell["parameters"]["kernel__gamma"] for cell in cells)[0] < 0.9 * rates[0]  # five columns of products


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("tune table moons", "table chooses kernel and λ by itself, so there is nothing to search"),
        ("train table moons -o m --degree 2", "--degree multiplies columns of numbers, which table prepares by itself"),
        ("train table moons -o m --no-standardise --constant", "by itself; leave out --constant and --no-standardise"),
    ],
)
def test_a_learner_that_prepares_by_itself_says_what_it_does_not_take(mercer, line, said):
    assert said in mercer(line, 1).stderr


def test_advice_names_parameters_as_the_table_does(mercer):
    places = [k * 7 % 400 for k in range(400)]  # stripes, far narrower than any kernel of the grid
    Path("t.csv").write_text("x,y\n" + "".join(f"{x},{'pq'[x // 20 % 2]}\n" for x in places))
    advice = json.loads(mercer("tune svc t.csv --folds 3 --set C=50 --json").stdout)["advice"]
    assert any("kernel__gamma" in text for text in advice)
    assert not any("learner__" in text for text in advice)


def test_a_class_of_one_row_is_named_with_a_remedy(mercer):
    Path("t.csv").write_text(MIXED + "1,red,rare\n")
    said = mercer("tune logistic t.csv --folds 2").stderr
    assert "Class 'rare' has a single row, which is learned from and never tested" in said


def test_check_names_the_remedy_for_missing_values(mercer):
    Path("t.csv").write_text(MIXED + ",red,p\n")
    said = mercer("check t.csv").stdout
    assert "'size' has missing values: numbers are filled with their median and a column says where" in said


def test_run_refuses_numbers_where_the_model_knows_words(mercer):
    Path("t.csv").write_text(MIXED)
    mercer("train logistic t.csv -o m")
    Path("numbers.csv").write_text(MIXED.replace("red", "1").replace("blue", "2"))
    said = mercer("run m numbers.csv", 1).stderr
    assert "column 'colour' held categories when the model was trained ('blue' and 'red') and holds numbers" in said
    Path("others.csv").write_text(MIXED.replace("red", "rosso").replace("blue", "blu"))
    assert "knows no category of column 'colour'" in mercer("run m others.csv").stderr


def test_every_command_has_the_common_options():
    for name in COMMANDS.keys() - {"help", "completion", "play", "warmup"}:  # which print no results
        command = main.get_command(click.Context(main), name)
        assert {"json", "quiet", "seed", "config"} <= {parameter.name for parameter in command.params}


LONG = "9" * 5001


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("check long.json", 1),
        ("check long.jsonl", 1),
        ("check long.svm", 1),
        (f"check moons:{LONG}", 1),
        (f"check moons --seed {LONG}", 2),
        ("check moons --config long.toml", 2),
        (f"explain m moons --row {LONG}", 1),
        (f'train svc moons --kernel "spectrum(p={LONG})" -o n', 1),
        ("run forged moons", 1),
    ],
)
def test_numbers_of_thousands_of_digits_are_refused_in_few_words(mercer, line, status):
    Path("long.json").write_text(f'[{{"a": 1, "y": "u"}}, {{"a": {LONG}, "y": "v"}}]')
    Path("long.jsonl").write_text(f'{{"a": 1, "y": "u"}}\n{{"a": {LONG}, "y": "v"}}\n')
    Path("long.svm").write_text(f"1 1:{LONG}\n0 1:2\n")
    Path("long.toml").write_text(f"seed = {LONG}\n")
    if line.startswith("explain"):
        mercer("train linear-svc moons:40 -o m")
    if line.startswith("run"):
        text = json.dumps({"format": 1, "mercer": "1", "about": {}, "model": 0}).replace(
            '"model": 0', f'"model": {LONG}'
        )
        Path("forged").write_bytes(file_of(text, {"0": np.zeros(1)}))
    said = mercer(line, status).output
    assert "set_int_max_str_digits" not in said
    assert "Exceeds" not in said
    assert len(said) < 600
