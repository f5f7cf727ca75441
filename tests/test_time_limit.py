"""A study that ends in time: shares, turns, and what is said of what was cut."""

import numpy as np
import pytest

from mercer.learners import LEARNERS
from mercer.report import compare, time_shares
from mercer.report.time_shares import Budget, in_shares

from .reporting import made_table


class Clock:
    """A clock that goes on by what work costs."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Work:
    """Stands for what learners do: so many seconds for a thousand rows, and no more than they are given."""

    def __init__(self, clock, rows, cost):
        self.clock, self.y, self.cost, self.log = clock, np.zeros(rows), cost, []

    def tuned(self, learner, rows, seconds):
        wanted = self.cost[learner.name] * rows / 1000
        self.clock.now += min(wanted, seconds)
        self.log.append(("tune", learner.name, rows))
        if seconds < wanted / 10:
            raise ValueError("KernelSearchCV stopped (time_limit) before any setting was tried on all folds; …")
        done = wanted <= seconds
        candidate = {"validation": {"mean": 0.1, "sd": 0.0}, "fit_seconds": wanted / 100}
        facts = {"rows": rows, "seconds": min(wanted, seconds), "stopped": None if done else "time_limit", "folds": 5,
                 "candidates": [candidate], "best": 0}  # fmt: skip
        return time_shares.Tuned(learner, None, {}, facts, ())

    def fitted(self, tuned, most, seconds):
        self.clock.now += min(self.cost[tuned.learner.name] * most / 1e5, seconds)
        self.log.append(("fit", tuned.learner.name, most))
        return tuned.learner.name


NAMES = ["perceptron", "pegasos", "logistic", "kernel-logistic", "svc"]


def worked(limit, rows=20_000, cost=None):
    clock = Clock()
    work = Work(clock, rows, dict.fromkeys(NAMES, 1.0) | (cost or {}))
    learners = [LEARNERS[name] for name in NAMES]
    runs, skipped, stopped = in_shares(work, learners, lambda *_: None, Budget(limit, 0.0, clock))
    return work, runs, skipped, stopped


def test_kernel_machines_come_early_and_results_keep_their_order():
    work, runs, skipped, _ = worked(100)
    assert [name for what, name, _ in work.log if what == "tune"][:3] == ["logistic", "svc", "kernel-logistic"]
    assert runs == NAMES
    assert skipped == []


def test_it_ends_in_time():
    for limit in (0.5, 5, 50, 500):
        work, *_ = worked(limit, cost={"svc": 50.0, "kernel-logistic": 80.0})
        assert work.clock.now <= limit


def test_rows_become_fewer_before_learners_are_left_out():
    rows = {limit: [rows for what, _, rows in worked(limit)[0].log if what == "tune"] for limit in (10, 20, 1000)}
    assert max(rows[10]) == 500
    assert 500 < max(rows[20]) < 4000
    assert max(rows[1000]) == 4000
    assert len(set(rows[20][-len(NAMES) :])) == 1  # the same for all: errors from fewer rows are larger
    assert all(not worked(limit)[2] for limit in (10, 20, 1000))


def test_a_learner_that_takes_too_long_is_left_out_and_the_others_are_not():
    _, runs, skipped, stopped = worked(5, cost={"svc": 1e6})
    assert [one["name"] for one in skipped] == ["svc"]
    assert "its share of the time limit" in skipped[0]["why"]
    assert "svc" not in runs
    assert len(runs) == 4
    assert stopped == "time_limit"


def test_a_real_study_says_what_was_cut():
    table = made_table(900)
    facts = compare(table, learners=["perceptron", "logistic", "svc"], cv=2, time_limit=60, trees=False)
    assert {one["name"] for one in facts["learners"]} <= {"perceptron", "logistic", "svc"}
    for one in facts["learners"]:
        assert one["tuned_rows"] <= 720
        if one["tuned_rows"] < 720:
            assert any(note.startswith("Tuned on") for note in one["notes"])
    assert len(facts["learners"]) + len(facts["skipped"]) == 3


def test_without_a_limit_nothing_is_cut():
    facts = compare(made_table(700), learners=["logistic"], cv=2, repeats=1, trees=False)
    assert facts["stopped"] is None
    assert facts["learners"][0]["tuned_rows"] == facts["learners"][0]["fitted_rows"] == 560


def test_no_time_at_all():
    with pytest.raises(ValueError, match="the time limit of 1e-09 s was over before it began"):
        compare(made_table(40), time_limit=1e-9)
