"""``mercer compare`` as a user calls it."""

import json

import pytest
from click.testing import CliRunner

from mercer.cli import main

SMALL = ["--learners", "perceptron,logistic", "--cv", "2"]


def called(*words):
    return CliRunner().invoke(main, ["compare", *map(str, words)])


def test_table_report_and_time(tmp_path):
    result = called("moons:80", *SMALL, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "Logistic regression" in result.stdout
    assert "report.html" in result.stdout.splitlines()[-1]
    facts = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))
    assert facts["data"]["name"] == "moons"
    errors = [one["test"]["rate"] for one in facts["learners"]]
    places = [result.stdout.index(one["title"]) for one in facts["learners"]]
    assert errors == sorted(errors)
    assert places == sorted(places)


def test_json_is_the_facts(tmp_path):
    result = called("moons:80", *SMALL, "-o", tmp_path, "--json", "--quiet", "--seed", 7)
    assert json.loads(result.stdout) == json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert json.loads(result.stdout)["split"]["seed"] == 7


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["no-such-file.csv"], 1, "no-such-file.csv"),
        (["moons:3"], 1, "needs 4 of each of two classes"),
        (["moons:80", "--learners", "svm"], 2, "did you mean 'svc'"),
        (["moons:80", "--learners", " , "], 2, "names no learner"),
        (["moons:80", "--test-size", "2"], 2, "test-size"),
    ],
)
def test_mistakes_are_one_line_and_a_status(tmp_path, words, code, message):
    result = called(*words, "-o", tmp_path)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_hostile_names_pass_through(tmp_path):
    path = tmp_path / "hostile.csv"
    rows = "\n".join(f"{k % 7},{k % 5},{'=1+1' if k % 2 else '<b>no</b>'}" for k in range(60))
    path.write_text(f"<script>alert(1)</script>,$x$,y\n{rows}\n", encoding="utf-8")
    result = called(path, "--learners", "perceptron", "--cv", 2, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    html = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<b>no" not in html
