"""Commands whose work was cut short: what they say, what they write, and the status they end with."""

import json
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from mercer import solvers
from mercer.cli import main


def called(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")


@pytest.fixture
def interrupted(monkeypatch):
    """Ctrl-C in the n-th call of the solver of smooth losses."""

    def arrange(nth):
        real, calls = solvers.Newton.solve, []

        def solve(self, *arguments, **named):
            calls.append(1)
            if len(calls) == nth:
                raise KeyboardInterrupt
            return real(self, *arguments, **named)

        monkeypatch.setattr(solvers.Newton, "solve", solve)

    return arrange


@pytest.fixture
def out_of_time(monkeypatch):
    """A time limit that is reached when the clock is looked at for the n-th time."""

    def arrange(nth):
        calls = []
        monkeypatch.setattr(time, "monotonic", lambda: calls.append(1) or (0 if len(calls) < nth else 1e9))

    return arrange


TUNE = ["tune", "logistic", "moons:60", "--folds", 3, "-o", "m"]


def test_tuning_that_tried_nothing_gives_nothing(out_of_time, interrupted):
    out_of_time(3)
    done = called(*TUNE, "--time-limit", 100)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "before any setting was tried on all folds" in done.stderr.splitlines()[-1]
    interrupted(1)
    done = called(*TUNE)
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr.splitlines()[-1] == "mercer: interrupted."
    assert not list(Path().iterdir())


def test_tuning_that_was_interrupted_reports_what_it_has(interrupted):
    tune = ["tune", "kernel-logistic", "moons:60", "--folds", 2, "--repeats", 1, "-o", "m", "--json"]
    whole = {str(cell["parameters"]): cell["error"] for cell in json.loads(called(*tune).stdout)["cells"]}
    Path("m").unlink()
    interrupted(2 * len(whole))  # in the last cell of the last fold
    done = called(*tune)
    facts = json.loads(done.stdout)
    cells = {str(cell["parameters"]): cell["error"] for cell in facts["cells"]}
    assert done.exit_code == 130
    assert facts["stopped"] == "interrupted"
    assert 0 < len(cells) < len(whole)
    assert cells.items() <= whole.items()
    said = f"mercer: interrupted: the search is partial, {len(cells)} of {len(whole)} settings were tried."
    assert done.stderr.splitlines()[-1] == said
    assert Path("m").exists()


def test_a_comparison_that_was_cut_short(interrupted):
    learners = ["compare", "moons:60", "--learners", "svc,logistic", "--cv", 2, "--repeats", 1, "-o", "out"]
    interrupted(1)
    done = called(*learners)
    assert done.exit_code == 130
    assert (
        done.stderr.splitlines()[-1] == "mercer: interrupted: the comparison is partial, without Logistic regression."
    )
    facts = json.loads(Path("out/report.json").read_text(encoding="utf-8"))
    assert facts["stopped"] == "interrupted"
    assert [one["name"] for one in facts["learners"]] == ["svc"]


def test_a_comparison_without_a_learner_is_none():
    done = called("compare", "moons:60", "--time-limit", 1e-9, "-o", "out")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "no learner could be compared: the time limit" in done.stderr
    assert not Path("out").exists()


def test_training_that_was_interrupted_stores_nothing(interrupted):
    interrupted(1)
    done = called("train", "logistic", "moons:60", "-o", "m")
    assert (done.exit_code, done.stdout) == (130, "")
    assert not Path("m").exists()


def test_training_that_ran_out_of_time_says_so():
    hard = ["--kernel", "gaussian(gamma=1)", "--set", "C=1e9", "--set", "tol=1e-13", "--set", "time_limit=1e-6"]
    done = called("train", "svc", "moons:2000", *hard, "-o", "m")
    assert done.exit_code == 124, done.output
    assert done.stderr.splitlines()[-1] == "mercer: the time limit was reached: the model in m is the best so far."
