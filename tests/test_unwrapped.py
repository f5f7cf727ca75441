"""One way into pipelines, searches and filters; one rule for measurements; one progress for all long work."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from mercer import SVC, KernelSearchCV, Pegasos, read
from mercer.checks import is_measurement
from mercer.composition import feature_names, layers, machine_of, parameter_prefix, rows_at_machine, steps_before
from mercer.preprocess import WithoutOutliers, pipeline
from mercer.runtime import progress

table = read("xor:60")
X, y = table.frame.to_numpy(), table.y
inside = make_pipeline(PolynomialFeatures(2), SVC("linear"))
NESTED = [
    SVC("linear"),
    make_pipeline(StandardScaler(), "passthrough", SVC("linear")),
    make_pipeline(StandardScaler(), inside),
    WithoutOutliers(make_pipeline(StandardScaler(), SVC("linear"))),
    KernelSearchCV(WithoutOutliers(make_pipeline(StandardScaler(), SVC("linear"))), {}, cv=2),
]


@pytest.mark.parametrize("estimator", NESTED)
def test_the_machine_sees_what_the_steps_made_of_the_rows(estimator):
    fitted = clone(estimator).fit(X, y)
    machine = machine_of(fitted)
    assert isinstance(machine, SVC)
    assert next(layers(fitted)) is fitted
    np.testing.assert_array_equal(machine.decision_function(rows_at_machine(fitted, X)), fitted.decision_function(X))


@pytest.mark.parametrize("estimator", NESTED)
def test_the_prefix_sets_parameters_of_the_machine(estimator):
    changed = clone(estimator).set_params(**{f"{parameter_prefix(estimator)}C": 7.0})
    while not isinstance(changed, SVC):
        changed = changed.steps[-1][1] if isinstance(changed, Pipeline) else changed.estimator
    assert changed.C == 7.0


def test_columns_keep_their_names_on_the_way():
    model = pipeline(table, Pegasos(random_state=0), degree=2, constant=True).fit(table.X, y)
    assert feature_names(model) == ["x1", "x2", "x1^2", "x1 x2", "x2^2", "constant"]
    assert feature_names(SVC("linear").fit(X, y)) == []


def test_what_is_no_wrapper_of_one_machine_is_left_alone():
    calibrated = CalibratedClassifierCV(SVC("linear"), cv=2).fit(X, y)
    assert machine_of(calibrated) is calibrated
    assert steps_before(calibrated) == []


@pytest.mark.parametrize(
    ("y", "measured"),
    [
        (["a", "b"] * 5, False),
        (list(range(10)), False),
        (list(range(30)), True),
        (list(range(30)) * 2, False),
        ([str(k) for k in range(30)], True),
        ([0.5, 1.5, 2.5] * 4, False),
        ([0.5, 1.5, 2.5], True),
        ((np.arange(30) / 7).tolist() * 5, True),
        ([1.0, 2.0, 3.0], False),
        (np.array(["p", 3] * 4, dtype=object), False),
        (list(range(1, 31)) * 2, False),  # codes of classes: they count up from 1
        (list(range(18, 70)) * 3, True),  # ages
        ([k * k for k in range(25)] * 3, True),
        ([7, 19, 23] * 9, False),
        (np.array([k / 3 for k in range(30)], dtype=object), True),
    ],
)
def test_labels_come_again_and_measurements_do_not(y, measured):
    assert is_measurement(y) is measured


def test_progress_writes_ten_lines_with_the_time_left(capsys, monkeypatch):
    now = iter(range(1000))
    monkeypatch.setattr("mercer.runtime.interrupts.time.monotonic", lambda: float(next(now)))
    with progress("searching", 40, unit="fits") as watched:
        for _ in range(40):
            watched.advance()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 10
    assert lines[0] == "4 of 40 fits, 1 s, about 9 s left"
    assert lines[-1] == "40 of 40 fits, 10 s, about 0 s left"


def test_progress_may_be_a_share_or_nothing(capsys):
    with progress("comparing", 1.0) as watched:
        watched.reach(0.5, "testing")
    assert capsys.readouterr().err.startswith("50 %, ")
    for hidden in ({"shown": False}, {"lines": False}, {"total": None}):
        with progress("comparing", **{"total": 1.0, **hidden}) as watched:
            watched.reach(0.5, "testing")
            assert watched.done == 0.5
    assert capsys.readouterr().err == ""


def test_a_bar_on_a_terminal_is_taken_away_again_and_cannot_be_steered(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    for total in (3, None):
        with progress("a\x1b]0;title\x07", total, unit="fits") as watched:
            watched.advance(2, "b\x07")
        assert "\x07" not in capsys.readouterr().err
