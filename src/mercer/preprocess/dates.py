"""Dates as numbers: how late, in which season, on which day of the week, at which hour."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names, _check_feature_names_in, _check_n_features, check_is_fitted

from ..runtime.arrays import Array

_DAY, _WEEK, _YEAR = 1.0, 7.0, 365.2425
#: Days from the beginning of time as computers count it, a Thursday, to the Monday before.
_MONDAY = 3.0
#: The share of a year that dates span before its seasons are looked at: one that nobody has seen is no place to judge.
_ROUND = 0.9
#: Parts that come round again, and after how many days.
_ROUNDS = {"season": _YEAR, "weekday": _WEEK, "hour": _DAY}


class DateParts(TransformerMixin, BaseEstimator):
    """Turn columns of dates into columns of numbers.

    A date is t days after the first one in training; one before that counts as the first, and one after the last as
    the last, as nobody knows how a trend goes on. What comes round again after P days is a place on a circle, so
    that December is near January and Sunday near Monday: the columns sin(2πt/P) and cos(2πt/P), whose distance is
    the chord between two places. Seasons (P a year) are looked at where dates span about a year, weekdays
    where there are several, hours where times differ. A date that is missing counts as the middle one of the training
    rows, on no place of its circles; where some were missing in training a column says which.

    Attributes
    ----------
    first_, middle_, last_ : arrays
        The first, the median and the last date of each column, in days since 1970.
    parts_ : list of list of str
        The parts of each column.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.preprocess import DateParts
    >>> dates = pd.DataFrame({"day": pd.to_datetime(["2024-01-01", "2024-01-08", "2024-01-22"])})
    >>> DateParts().fit_transform(dates).tolist()
    [[0.0], [7.0], [21.0]]
    >>> DateParts().fit(dates).get_feature_names_out().tolist()
    ['day']
    """

    def fit(self, X: Any, y: Any = None) -> DateParts:
        """See which parts vary.

        Parameters
        ----------
        X : frame or array of ``datetime64``
        y : ignored

        Returns
        -------
        self
        """
        _check_feature_names(self, X, reset=True)
        _check_n_features(self, X, reset=True)
        days = days_of(X)
        known = [column[~np.isnan(column)] for column in days.T]
        self.first_ = np.array([column.min() if column.size else 0.0 for column in known])
        self.middle_ = np.array([np.median(column) if column.size else 0.0 for column in known])
        self.last_ = np.array([column.max() if column.size else 0.0 for column in known])
        self.parts_ = [_varying(column, gaps=column.size < len(days)) for column in known]
        return self

    def transform(self, X: Any) -> Array:
        """The dates as numbers.

        Parameters
        ----------
        X : frame or array of ``datetime64``

        Returns
        -------
        array
        """
        check_is_fitted(self, "parts_")
        _check_feature_names(self, X, reset=False)
        _check_n_features(self, X, reset=False)
        columns = []
        for k, days in enumerate(days_of(X).T):
            missing = np.isnan(days)
            trend = np.where(missing, self.middle_[k], days)
            if hasattr(self, "last_"):  # models in older files go on for ever
                trend = np.clip(trend, self.first_[k], self.last_[k])
            columns.append(trend - self.first_[k])
            for part in self.parts_[k]:
                if part == "missing":
                    columns.append(missing.astype(np.float64))
                else:
                    turn = 2 * np.pi * (days + _MONDAY) / _ROUNDS[part]
                    columns += [np.where(missing, 0.0, wave(turn)) for wave in (np.sin, np.cos)]
        return np.column_stack(columns)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns: "day", "day season sin", …"""
        check_is_fitted(self, "parts_")
        names = []
        for name, parts in zip(_check_feature_names_in(self, input_features), self.parts_, strict=True):
            names.append(str(name))
            for part in parts:
                names += [f"{name} missing"] if part == "missing" else [f"{name} {part} sin", f"{name} {part} cos"]
        return np.array(names, dtype=object)


def days_of(X: Any) -> Array:
    """Dates as days since 1970, with their fractions; NaN where missing."""
    values = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X)
    values = values.astype("datetime64[ns]")
    whole = values.astype("datetime64[D]")
    days = whole.astype(np.int64) + (values - whole) / np.timedelta64(1, "D")
    return np.where(np.isnat(values), np.nan, days)


def _varying(days: Array, gaps: bool) -> list[str]:
    """The parts in which dates differ."""
    parts = []
    if days.size:
        if np.ptp(days) > _ROUND * _YEAR:
            parts.append("season")
        if np.unique(np.floor(days) % _WEEK).size > 1:
            parts.append("weekday")
        if np.unique(np.round(days % _DAY, 6)).size > 1:
            parts.append("hour")
    return [*parts, "missing"] if gaps else parts
