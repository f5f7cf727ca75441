"""Rows in the order of time: the time is learned from, without running off beyond the training rows."""

import numpy as np
import pandas as pd
import pytest

import mercer
from mercer import KernelRegressor
from mercer.preprocess import DateParts, pipeline
from mercer.study import division_of

rng = np.random.default_rng(0)
HOURS = pd.date_range("2023-01-01", periods=1500, freq="5h")
RIDES = pd.DataFrame({
    "when": HOURS,
    "warmth": rng.normal(size=HOURS.size).round(2),
    "rides": (20 + 10 * np.sin(2 * np.pi * HOURS.hour / 24) + rng.normal(size=HOURS.size)).round(2),
})  # fmt: skip


@pytest.fixture
def file(tmp_path):
    RIDES.to_csv(tmp_path / "rides.csv", index=False)
    return tmp_path / "rides.csv"


def test_the_hour_is_learned_from_and_later_rows_are_tested(file):
    table, division = division_of(mercer.read(file), time="when")
    train, test = division.test_rows(table.y, 0.2, 0)
    assert table.frame.when.to_numpy()[train].max() < table.frame.when.to_numpy()[test].min()
    model = pipeline(table, KernelRegressor("gaussian(gamma=0.5)", lam=1e-3))
    model.fit(table.take(train).X, table.y[train])
    assert model.score(table.take(test).X, table.y[test]) > 0.9


def test_a_study_and_the_line_that_repeats_it_keep_the_time(mercer_command, file):
    done = mercer_command(f"compare {file} --time when --learners ridge --no-trees -o report")
    line = next(line for line in done.output.splitlines() if line.strip().startswith("mercer train"))
    assert "--time when" in line
    assert "--drop" not in line
    trained = mercer_command(line.strip().removeprefix("mercer ").replace(" -o ", " --holdout 0.2 -o "))
    assert "R² 0.9" in trained.output


@pytest.fixture
def mercer_command(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from mercer.cli import main

    monkeypatch.chdir(tmp_path)

    def run(line):
        done = CliRunner().invoke(main, line.split(), catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done

    return run


@pytest.mark.parametrize("name", ["when", "year"])
def test_a_trend_ends_where_the_training_rows_end(name):
    """A linear machine would go on for ever, and a Gaussian one forget all it knows."""
    years = RIDES.assign(year=2000.0 + np.arange(len(RIDES)) // 50, rides=np.arange(len(RIDES)) * 1.0)
    table, _ = division_of(mercer.read(years[[name, "warmth", "rides"]]), time=name)
    for kernel in ("linear", "gaussian(gamma=1)"):
        model = pipeline(table, KernelRegressor(kernel, lam=1e-4)).fit(table.X, table.y)
        last = table.X.iloc[[-1]]
        later = last.assign(**{name: last[name] + (100 if name == "year" else pd.Timedelta(days=7 * 522))})
        near = abs(float(model.predict(later)[0] - model.predict(last)[0]))
        assert near < 0.1 * np.ptp(table.y)


def test_dates_beyond_the_training_rows_count_as_the_ends():
    parts = DateParts().fit(pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-08", "2024-01-22"])}))
    beyond = pd.DataFrame({"day": pd.to_datetime(["2020-01-06", "2031-01-06"])})
    assert parts.transform(beyond).tolist() == [[0.0], [21.0]]


@pytest.mark.parametrize(
    ("rows", "said"), [(RIDES, True), (RIDES[::-1], True), (RIDES.sample(frac=1, random_state=0), False)]
)
def test_rows_that_are_sorted_by_a_date_are_pointed_out(rows, said):
    rows = rows.reset_index(drop=True)
    assert any("--time when" in note for note in mercer.read(rows).notes) == said
    assert not any("--time when" in note for note in mercer.read(rows, kinds={"when": "keep"}).notes)


def test_a_time_in_words_orders_rows_and_is_no_feature():
    words = RIDES.assign(when=[f"{'day' if 6 < time.hour < 20 else 'night'} {time:%j}" for time in HOURS])
    table = mercer.read(words, kinds={"when": "category"})
    with pytest.raises(ValueError, match="neither numbers nor dates"):
        division_of(table, time="when")
    iso = mercer.read(RIDES.assign(when=RIDES.when.astype(str)), kinds={"when": "category"})
    assert division_of(iso, time="when")[0].columns == ["warmth"]
