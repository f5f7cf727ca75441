"""What commands say of unusual tables: the same of one target, on one screen, with the right grammar."""

import io
import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes

from mercer.cli.printing import Printer


@pytest.fixture
def diabetes(tmp_path):
    load_diabetes(as_frame=True, scaled=False).frame.to_csv(tmp_path / "diabetes.csv", index=False)
    return "diabetes.csv"


SAID = "the target 'target' has 214 different values in 442 rows, so it looks like a measurement"


def test_all_commands_say_the_same_of_a_target_of_numbers(mercer, diabetes, tmp_path):
    for line in (f"train svc {diabetes} -o m", f"tune svc {diabetes}", f"compare {diabetes} --learners svc"):
        done = mercer(line, 1)
        assert f"svc is a classifier, and {SAID}; use svr, or say --task classify." in done.stderr
    assert not (tmp_path / "m").exists()
    for line in (f"check {diabetes}", f"kernel {diabetes}"):
        done = mercer(line)
        assert f"Numbers: {SAID} (--task classify: classes)." in done.stdout + done.stderr
        assert max(map(len, done.output.splitlines())) < 300
    facts = json.loads(mercer(f"kernel {diabetes} --json").stdout)
    assert facts["within"] is None  # no classes are looked for
    assert facts["alignment"] > 0


@given(
    st.lists(
        st.tuples(st.text("abcd ", max_size=40), st.integers(0, 10**12), st.floats(-1e9, 1e9), st.integers(0, 9)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([60, 80, 120]),
)
@settings(max_examples=25, deadline=None)
def test_tables_break_no_number_and_no_word(rows, width):
    heads = ["<name of a thing", "number of rows", "95 % interval", "balanced accuracy"]
    with pytest.MonkeyPatch.context() as changed, io.StringIO() as terminal:
        changed.setenv("COLUMNS", str(width))
        terminal.isatty = lambda: True
        changed.setattr(sys, "stdout", terminal)
        Printer().table(heads, [[*map(str, row)] for row in rows])
        lines = re.sub(r"\x1b\[\d*m", "", terminal.getvalue()).splitlines()
    assert max(map(len, lines)) <= width
    shown = {word for line in lines for word in line.split()}
    words = {word for row in rows for cell in row for word in str(cell).split() if len(word) <= 30}
    assert words <= shown
    assert {word for head in heads for word in head.removeprefix("<").split()} <= shown


def test_sentences_are_broken_between_words_and_commands_are_not(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    sentence = "* On new rows of the same kind expect errors on 4.0 % to 23.1 %: it errs on 10.00 % of the test rows."
    command = "  mercer train svc moons:200 --kernel 'gaussian(gamma=4.0)' --set C=0.5 -o moons.safetensors"
    Printer().line(f"{sentence}\n{command}")
    *lines, last = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    assert " ".join(line.strip() for line in lines) == sentence
    assert last == command


@pytest.mark.thorough
def test_many_classes_and_columns_fit_a_screen(mercer, tmp_path):
    random = np.random.default_rng(0)
    many = pd.DataFrame(random.normal(size=(900, 3)), columns=list("abc"))
    many["label"] = [f"name {k % 300}" for k in range(900)]
    many.to_csv(tmp_path / "many.csv", index=False)
    values = random.normal(size=(60, 250))
    wide = pd.DataFrame(np.c_[values, values[:, :100]])  # a hundred columns twice
    wide = wide.assign(y=np.arange(60) % 2)
    wide.to_csv(tmp_path / "wide.csv", index=False)
    for line in ("check many.csv", "check wide.csv", "kernel many.csv", "kernel wide.csv"):
        shown = mercer(line).output.splitlines()
        assert len(shown) <= 60
        assert max(map(len, shown)) < 500
    assert len(json.loads(mercer("check many.csv --json").stdout)["classes"]) == 300
    assert "more groups; --json has all." in mercer("check wide.csv").stdout


def test_one_is_not_many(mercer, tmp_path):
    rows = [f"{k},{k % 7},{'ab'[k % 2]}" for k in range(60)]
    (tmp_path / "one.csv").write_text("\n".join(["x,z,y", *rows, rows[5], "9,3,", "11,9,a"]))
    said = " ".join(mercer("check one.csv").stdout.split())
    assert "1 row repeats an earlier one" in said
    assert "1 row has no label" in said
    (tmp_path / "single.csv").write_text("x,y\n" + "\n".join(f"{k},{'ab'[k % 2]}" for k in range(60)))
    assert "60 rows, 1 column (1 numeric" in mercer("check single.csv").stdout
