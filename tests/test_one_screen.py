"""What commands say of unusual tables: the same of one target, on one screen, with the right grammar."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes


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
