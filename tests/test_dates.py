"""Dates as numbers."""

import numpy as np
import pandas as pd
import pytest

from mercer.columns import dates
from mercer.preprocess import DateParts, Filled


def frame(texts, form=None):
    return pd.DataFrame({"d": pd.to_datetime(pd.Series(texts), format=form)})


def test_days_season_weekday_and_hour():
    days = frame(["2023-01-01 00:00", "2023-01-01 06:00", "2023-07-03 12:00", "2024-01-01 00:00"])
    fitted = DateParts().fit(days)
    rows = pd.DataFrame(fitted.transform(days), columns=fitted.get_feature_names_out())
    np.testing.assert_allclose(rows["d"], [0, 0.25, 183.5, 365])
    circle = rows[["d season sin", "d season cos"]].to_numpy()
    assert np.linalg.norm(circle[0] - circle[3]) < 0.01  # a year later is the same season
    assert np.linalg.norm(circle[0] - circle[2]) > 1.9  # half a year later the opposite one
    np.testing.assert_allclose(rows[["d hour sin", "d hour cos"]].to_numpy()[1], [1, 0], atol=1e-9)


def test_sunday_is_as_near_to_monday_as_to_saturday():
    week = frame([f"2024-01-{day:02d}" for day in range(1, 15)])
    fitted = DateParts().fit(week)
    circle = fitted.transform(week)[:, 1:3]
    assert fitted.get_feature_names_out().tolist() == ["d", "d weekday sin", "d weekday cos"]
    steps = np.linalg.norm(np.diff(circle, axis=0), axis=1)
    np.testing.assert_allclose(steps, steps[0])
    np.testing.assert_allclose(circle[:7], circle[7:], atol=1e-9)


def test_a_missing_date_is_the_middle_one_and_on_no_circle():
    some = frame(["2024-01-01", None, "2024-01-03", "2024-01-10"])
    fitted = DateParts().fit(some)
    rows = pd.DataFrame(fitted.transform(some), columns=fitted.get_feature_names_out())
    assert rows["d missing"].tolist() == [0, 1, 0, 0]
    assert rows.loc[1].tolist() == [2, 0, 0, 1]
    whole = DateParts().fit(some.dropna())
    assert np.isfinite(whole.transform(frame([None]))).all()


def test_far_and_early_dates():
    old = frame(["1700-01-01", "1969-12-31 12:00", "2200-01-01"], "ISO8601")
    np.testing.assert_allclose(np.diff(DateParts().fit_transform(old)[:, 0]), [98614.5, 84006.5])


def test_kernels_on_columns_see_days():
    filled = Filled().fit_transform(frame(["1970-01-02", None, "1970-01-04"]))
    assert filled["d"].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "words",
    [["1.2.3", "1.2.4"], ["12", "13"], ["2024", "2023"], ["0171-555-1234", "0172-555-1234"], ["32.13.2024"], ["soon"],
     ["2024-13-01", "2024-14-02"], ["192.168.0.1"], ["May", "June"]],
)  # fmt: skip
def test_what_is_no_date(words):
    assert dates(words, np.ones(len(words))) is None
