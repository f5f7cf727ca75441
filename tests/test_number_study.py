"""The study of numbers: honest, in the target's unit, and shown whole."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from mercer import KernelRegressor, KernelSearchCV
from mercer.describe import describe
from mercer.displays import SearchCurve
from mercer.io import Table
from mercer.learners import LEARNERS, Learner
from mercer.messages import in_digits
from mercer.report import page
from mercer.study import (
    COVERAGES,
    compare,
    fit_of_numbers,
    half_width,
    half_widths,
    interval_of_rmse,
    sign_flips,
)

from .test_page import Checker

HOSTILE = '<script>alert("x")</script>'


def sea(rows=160, unit=1.0, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-2, 2, (rows, 3))
    y = unit * (np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * random.standard_normal(rows))
    frame = pd.DataFrame(X, columns=[HOSTILE, "$b$", "c"])
    return Table("sea <&>", frame, None, y, "height <b>", ("said <i>",), "sea.csv", "0" * 64)


QUICK = {"cv": 3, "repeats": 1, "trees": False}


@pytest.fixture(scope="module")
def facts():
    return compare(sea(), learners=["ridge", "ridge-2", "kernel-ridge"], command="mercer compare sea.csv", **QUICK)


def test_errors_are_recomputed_from_the_drawn_predictions(facts):
    assert facts["task"] == "regress"
    for one in facts["learners"]:
        true, predicted = one["predictions"]["true"], one["predictions"]["predicted"]
        assert len(true) == facts["split"]["test"] == one["test"]["rows"] == 32
        assert one["test"]["rmse"] == pytest.approx(root_mean_squared_error(true, predicted), rel=1e-3)
        assert one["test"]["mae"] == pytest.approx(mean_absolute_error(true, predicted), rel=1e-3)
        assert one["test"]["r2"] == pytest.approx(r2_score(true, predicted), rel=1e-3)
        assert one["test"]["low"] <= one["test"]["rmse"] <= one["test"]["high"]


def test_the_kernel_wins_and_lines_do_not_follow_waves(facts):
    answer, by_name = facts["answer"], {one["name"]: one for one in facts["learners"]}
    assert answer["chosen"] == "kernel-ridge"
    assert by_name["kernel-ridge"]["test"]["rmse"] < 0.3 < by_name["ridge"]["test"]["rmse"] < facts["baseline"]["rmse"]
    assert by_name["ridge"]["verdict"]["kind"] == "underfit"
    assert {pair["verdict"] for pair in facts["pairs"]} == {"better"}
    errors = [one["test"]["rmse"] for one in facts["learners"]]
    assert errors == sorted(errors)
    worst = [abs(one["difference"]) for one in facts["worst"]]
    assert worst == sorted(worst, reverse=True)
    curve = facts["learning_curve"]["validation"]
    assert curve[-1] < curve[0]


@pytest.mark.thorough
def test_everything_scales_with_the_unit():
    learners = ["huber", "svr"]
    small, large = (compare(sea(120, unit), learners=learners, **QUICK | {"cv": 2}) for unit in (1e-3, 1e6))
    assert small["answer"]["chosen"] == large["answer"]["chosen"]
    for one, other in zip(small["learners"], large["learners"], strict=True):
        assert one["name"] == other["name"]
        assert one["test"]["rmse"] * 1e9 == pytest.approx(other["test"]["rmse"], rel=0.02)
        assert one["test"]["r2"] == pytest.approx(other["test"]["r2"], rel=0.02)


def test_facts_are_plain_and_the_same_again(facts):
    again = compare(sea(), learners=["ridge", "ridge-2", "kernel-ridge"], command="mercer compare sea.csv", **QUICK)
    timed = re.compile(r'"(?:[a-z_]*seconds|predict_microseconds)": [^,}]+')
    first, second = (timed.sub("", json.dumps(each, allow_nan=False)) for each in (facts, again))
    assert first == second


def test_page_is_well_formed_and_every_name_is_text(facts):
    html = page(facts)
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    assert len(checker.ids) == len(set(checker.ids))
    for target in re.findall(r'href="#([^"]+)"', html):
        assert target in checker.ids
    words = " ".join(checker.words)
    assert "height <b>" in words
    assert HOSTILE in words
    assert "<script>alert" not in html
    order = re.findall(r'<section id="([^"]+)"', html)
    wanted = [
        "results",
        "real",
        "columns",
        "wrong",
        "residuals",
        "weights",
        "cost",
        "learners",
        "data",
        "preprocessing",
    ]
    assert order == [*wanted, "repeat"]
    for said in ("nan", "None"):
        assert said not in " ".join(checker.words)


class Recorder(RegressorMixin, BaseEstimator):
    """A regressor that remembers which rows it was shown; the first column numbers them."""

    events: list = []  # noqa: RUF012

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X, y):
        self.fitted_ = True
        self.events.append(("fit", set(X[:, 0].tolist())))
        return self

    def predict(self, X):
        self.events.append(("look", set(X[:, 0].tolist())))
        return X[:, 1] + self.shift


def test_test_rows_reach_no_fit_and_are_looked_at_after_all_of_them(monkeypatch):
    table = sea(100)
    table.frame[HOSTILE] = np.arange(100.0)
    recorder = Learner("recorder", "Recorder", lambda **_: Recorder(), {"shift": [0.0, 0.5]}, task="regress")
    monkeypatch.setitem(LEARNERS, recorder.name, recorder)
    Recorder.events.clear()
    found = compare(table, learners=["recorder"], standardise=False, seed=3, **QUICK)
    fitted = set().union(*(rows for kind, rows in Recorder.events if kind == "fit"))
    held_out = set(range(100)) - fitted
    assert len(held_out) == found["split"]["test"] == 20
    looks = [k for k, (kind, rows) in enumerate(Recorder.events) if rows & held_out]
    last_fit = max(k for k, (kind, _) in enumerate(Recorder.events) if kind == "fit")
    assert looks
    assert looks[0] > last_fit


def test_a_learner_of_noise_is_no_better_than_the_mean():
    random = np.random.default_rng(1)
    table = Table(
        "noise", pd.DataFrame(random.normal(size=(100, 2)), columns=["a", "b"]), None, random.normal(size=100), "y"
    )
    found = compare(table, learners=["ridge", "kernel-ridge"], **QUICK)
    assert {one["verdict"]["kind"] for one in found["learners"]} <= {"useless", "unproven"}


def test_fit_is_told_from_training_and_test_errors():
    def kind(train, test, best):
        def error(size):
            return {"rmse": size, "low": 0.9 * size, "high": 1.1 * size}

        random = np.random.default_rng(0)
        left, constant = test * random.normal(size=400), 10 * random.normal(size=400)
        found = {"train": error(train), "test": error(test)}
        return fit_of_numbers(found, left, error(best), {"rmse": 10.0}, constant)["kind"]

    cases = [(1.0, 1.1, 1.1), (0.5, 2.0, 2.0), (0.5, 2.0, 1.5), (4.0, 4.0, 1.0), (2.0, 4.0, 1.0), (9.0, 10.0, 9.9)]
    assert [kind(*case) for case in cases] == ["good", "good", "overfit", "underfit", "both", "unproven"]


def test_signs_are_flipped_as_the_exact_test_does():
    """Of eight differences all sign patterns can be listed."""
    differences = np.array([0.3, 1.1, -0.2, 0.7, 0.9, 0.4, -0.1, 0.8])
    signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
    exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-12)
    assert sign_flips(differences) == pytest.approx(exact, abs=0.01)
    assert sign_flips(np.zeros(5)) == 1.0


@pytest.mark.thorough
def test_intervals_of_the_error_hold_it_about_nineteen_times_of_twenty():
    random = np.random.default_rng(0)
    held = 0
    for _ in range(100):
        low, high = interval_of_rmse(random.normal(0, 2, 300))
        held += low <= 2 <= high
    assert held >= 88


def test_half_widths_are_order_statistics():
    widths = half_widths(np.arange(-99, 100, 2) * 1.0)  # sizes 1, 1, 3, 3, …, 99, 99
    assert half_width(widths, 0.9) == 91.0  # the 91st of 100: ⌈0.9·101⌉
    assert half_width(widths, 0.895) == half_width(widths, 0.9)
    assert half_widths(np.ones(5))[COVERAGES.index(0.9)] is None
    assert [width for width in widths if width is not None] == sorted(width for width in widths if width is not None)


def test_digits_that_matter():
    assert [in_digits(value) for value in (-53.219, 1234567.8, 1e12, 9.9996, 0.05)] == [
        "-53.22", "1234568", "1e+12", "10.000", "0.05000",
    ]  # fmt: skip


N = 60


@pytest.mark.parametrize(
    ("y", "warning"),
    [
        (np.exp(np.random.default_rng(0).normal(0, 2, N)), "positive and skewed"),
        (np.append(np.random.default_rng(0).normal(0, 1, N - 1), -1e4), "widths of its middle half away from"),
        (np.linspace(0, 1, N) ** 2 - 3, "goes up or down with the row numbers"),
        (np.arange(N) + 5, "numbers the rows: is it an identifier?"),
        (np.where(np.arange(N) % 2 == 0, 0.0, np.random.default_rng(0).normal(size=N)), "is 0 in 50 % of the rows"),
        (3 * np.random.default_rng(7).normal(size=N) - 1, "Column 'a' alone tells the target"),
    ],
)  # fmt: skip
def test_caveats_of_a_target(y, warning):
    frame = pd.DataFrame({"a": np.random.default_rng(7).normal(size=N), "b": np.arange(N) % 7 * 1.0})
    found = describe(Table("t", frame, None, np.asarray(y), "y"))
    assert warning in " ".join(found.warnings)
    assert found.values.distinct == np.unique(y).size


def test_an_ordinary_target_needs_no_warning():
    random = np.random.default_rng(7)
    frame = pd.DataFrame({"a": random.normal(size=N), "b": random.normal(size=N)})
    assert describe(Table("t", frame, None, random.normal(size=N), "y")).warnings == []


def test_a_search_says_where_errors_of_numbers_are_memorised():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(80, 3)), 1000 * random.normal(size=80)
    grid = {"lam": [1e-9]}
    options = {"scoring": "neg_root_mean_squared_error", "return_train_score": True, "cv": 3}
    search = KernelSearchCV(KernelRegressor("gaussian(gamma=10)"), grid, **options).fit(X, y)
    assert "errs by" in next(one.message for one in search.advice_ if one.kind == "overfitting")
    search = KernelSearchCV(KernelRegressor("gaussian(gamma=10)"), {"lam": [1e-9, 1e-8]}, **options).fit(X, y)
    curve = SearchCurve.from_search(search, "lam").as_losses("RMSE")
    assert curve.measure == "RMSE"
    assert np.array_equal(curve.validation, -search.cv_results_["mean_test_score"])
