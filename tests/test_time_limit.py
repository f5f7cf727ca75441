"""A study that ends in time: its rounds, and what is said of what was cut."""

from types import SimpleNamespace

import numpy as np
import pytest

from mercer.estimators import NotInTimeError
from mercer.learners import LEARNERS
from mercer.study import SHARE, Budget, Tuned, compare, compared

from .reporting import made_table


class Clock:
    """A clock that goes on by what work costs."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Work:
    """Stands for what learners do: so many seconds for a thousand rows, and no more than they are given."""

    repeats = 1
    study = SimpleNamespace(measure=SHARE)

    def __init__(self, clock, rows, cost, error):
        self.clock, self.y, self.cost, self.error, self.log = clock, np.zeros(rows), cost, error, []

    def folds_of(self, rows):
        return 5

    def tuned(self, learner, rows, seconds, around=None):
        wanted = self.cost[learner.name] * rows / 1000
        self.clock.now += min(wanted, seconds)
        self.log.append(("screen" if around is None else "contend", learner.name, rows))
        if seconds < wanted / 10:
            raise ValueError("KernelSearchCV stopped (time_limit) before any setting was tried on all folds; …")
        candidate = {
            "validation": {"mean": self.error.get(learner.name, 0.3), "sd": 0.01},
            "fit_seconds": wanted / 100,
        }
        facts = {"rows": rows, "seconds": min(wanted, seconds), "stopped": None if wanted <= seconds else "time_limit",
                 "folds": 5, "of_folds": 5, "repeats": 1, "candidates": [candidate], "best": 0,
                 "final": around is not None or rows == len(self.y)}  # fmt: skip
        return Tuned(learner, None, {}, facts, ())

    def fitted(self, tuned, most, seconds):
        self.clock.now += min(self.cost[tuned.learner.name] * most / 1e5, seconds)
        self.log.append(("fit", tuned.learner.name, most))
        return tuned.learner.name


NAMES = ["perceptron", "pegasos", "logistic", "kernel-logistic", "svc"]


def worked(limit, rows=20_000, cost=None, error=None):
    clock = Clock()
    work = Work(clock, rows, dict.fromkeys(NAMES, 1.0) | (cost or {}), error or {"svc": 0.1, "kernel-logistic": 0.11})
    learners = [LEARNERS[name] for name in NAMES]
    runs, skipped, stopped = compared(work, learners, lambda *_: None, Budget(limit, 0.0, clock))
    return work, runs, skipped, stopped


def of(work, what):
    return [(name, rows) for did, name, rows in work.log if did == what]


def test_likely_winners_come_early_and_results_keep_their_order():
    work, runs, skipped, _ = worked(100)
    assert [name for name, _ in of(work, "screen")][:3] == ["svc", "kernel-logistic", "logistic"]
    assert runs == NAMES
    assert skipped == []


def test_it_ends_in_time():
    for limit in (0.5, 5, 50, 500):
        work, *_ = worked(limit, cost={"svc": 50.0, "kernel-logistic": 80.0})
        assert work.clock.now <= limit


def test_those_that_can_win_contend_on_all_rows_and_become_fewer_before_their_rows_do():
    plenty, less, little = (of(worked(limit)[0], "contend") for limit in (3000, 900, 30))
    assert plenty == [("svc", 20_000), ("kernel-logistic", 20_000)]
    assert less == [("svc", 20_000)]
    assert [name for name, _ in little] == ["svc"]
    assert 1000 < little[0][1] < 20_000


def test_steps_of_textbooks_contend_only_among_themselves():
    work, *_ = worked(1e5, error={"perceptron": 0.01, "pegasos": 0.02, "svc": 0.1, "logistic": 0.1})
    assert {name for name, _ in of(work, "contend")} == {"svc", "logistic"}


def test_a_learner_that_takes_too_long_is_left_out_and_the_others_are_not():
    _, runs, skipped, stopped = worked(5, cost={"svc": 1e6})
    assert [one["name"] for one in skipped] == ["svc"]
    assert "its share of the time limit" in skipped[0]["why"]
    assert "svc" not in runs
    assert len(runs) == 4
    assert stopped == "time_limit"


def test_a_fit_that_takes_longer_than_expected_goes_on_with_fewer_rows():
    class Slow(Work):
        def fitted(self, tuned, most, seconds=None):
            self.log.append(("fit", tuned.learner.name, most))
            if most > 4000:
                raise NotInTimeError("over")
            return tuned.learner.name

    work = Slow(Clock(), 20_000, {"svc": 1.0}, {"svc": 0.1})
    runs, skipped, _ = compared(work, [LEARNERS["svc"]], lambda *_: None, Budget(1000, 0.0, work.clock))
    assert of(work, "fit") == [("svc", 20_000), ("svc", 5000), ("svc", 1250)]
    assert (runs, skipped) == (["svc"], [])


def test_a_real_study_says_what_was_cut():
    table = made_table(2000)
    facts = compare(table, learners=["perceptron", "logistic", "svc"], cv=2, time_limit=60, trees=False)
    assert {one["name"] for one in facts["learners"]} <= {"perceptron", "logistic", "svc"}
    for one in facts["learners"]:
        assert one["tuned_rows"] == (1600 if one["tuning"]["final"] else 1000)
        if one["tuned_rows"] < 1600:
            assert any(note.startswith("Tuned on") for note in one["notes"])
    chosen = next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])
    assert chosen["tuning"]["final"]
    assert len(facts["learners"]) + len(facts["skipped"]) == 3


def test_without_a_limit_nothing_is_cut():
    facts = compare(made_table(700), learners=["logistic"], cv=2, repeats=1, trees=False)
    assert facts["stopped"] is None
    assert facts["learners"][0]["tuned_rows"] == facts["learners"][0]["fitted_rows"] == 560


def test_no_time_at_all():
    with pytest.raises(ValueError, match="the time limit of 1e-09 s was over before it began"):
        compare(made_table(40), time_limit=1e-9)
