"""Columns with mean 0 and standard deviation 1, which no single wild value decides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, _safe_indexing, column_or_1d, get_tags, indexable
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted, validate_data

from ..checks.labels import task_of
from ..checks.parameters import is_number, offered_as
from ..checks.tables import is_missing
from ..messages import counted, enumeration
from ..runtime.arrays import Array
from .dates import days_of

#: The share of a column's values that may be called wild; more of them belong to it.
_WILD = 0.005


class Standardised(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Bring columns to mean 0 and standard deviation 1, and draw wild values in.

    A value more than ``limit`` standard deviations from the mean is wild, unless more than one in two hundred are: it
    counts neither for the mean nor for the deviation, and as ``limit`` deviations in the end. Of other columns all
    values count, and new ones are as far away as the farthest of them at most, on either side: far from all rows that a
    machine has learned from, what it says is a guess.

    Parameters
    ----------
    limit : float, default=8

    Attributes
    ----------
    mean_, scale_ : array
        The mean and the standard deviation of each column, without wild values; a deviation of 0 counts as 1.
    reach_ : array
        How many deviations from the mean a value of each column counts at most.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocess import Standardised
    >>> heights = np.append(np.tile([1.6, 1.8], 50), 175.0)[:, None]
    >>> Standardised().fit_transform(heights)[-3:].ravel().round(3).tolist()
    [-1.0, 1.0, 8.0]
    """

    def __init__(self, limit: float = 8.0) -> None:
        self.limit = limit

    def fit(self, X: Any, y: Any = None) -> Standardised:
        """Find the means and deviations.

        Parameters
        ----------
        X : array or frame of numbers
            Missing values are left out.
        y : ignored

        Returns
        -------
        Standardised
        """
        if not (is_number(self.limit) and self.limit > 1):
            raise ValueError(f"Standardised: limit must be a number above 1, got {self.limit!r}.")
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
        plain = StandardScaler().fit(X)
        self.mean_, self.scale_ = plain.mean_, plain.scale_
        ends = np.stack([np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)])
        farthest = np.abs((ends - self.mean_) / self.scale_).max(axis=0)
        self.reach_ = np.where(np.ptp(ends, axis=0) > 0, np.maximum(farthest, 1.0), float(self.limit))
        for column in np.flatnonzero(farthest > self.limit).tolist():
            found = self._without_wild(X[:, column][~np.isnan(X[:, column])], column)
            if found is not None:
                self.mean_[column], self.scale_[column] = found
                self.reach_[column] = self.limit
        return self

    def _without_wild(self, values: Array, column: int) -> tuple[float, float] | None:
        """The mean and the deviation of a column without wild values; ``None`` where there are too many for that."""
        mean, scale = self.mean_[column], self.scale_[column]
        kept = np.ones(values.size, dtype=bool)
        while True:
            near = kept & (np.abs(values - mean) <= self.limit * scale)
            if np.sum(~near) > max(1.0, _WILD * values.size) or np.ptp(values[near]) == 0:
                return None
            if near.sum() == kept.sum():
                return float(mean), float(scale)
            kept, mean, scale = near, values[near].mean(), values[near].std()

    def transform(self, X: Any) -> Array:
        """The columns in standard deviations from their means."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan", reset=False)
        return np.clip((X - self.mean_) / self.scale_, -self.reach_, self.reach_).astype(X.dtype, copy=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


# A limit to how far a value may lie from the others.


class Clipped(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Standardised numbers, none further from zero than a limit: one wild value does not make all others alike.

    Parameters
    ----------
    limit : float, default=8.0

    Examples
    --------
    >>> from mercer.preprocess import Clipped
    >>> Clipped(limit=3.0).fit_transform([[-10.0, 0.5]])
    array([[-3. ,  0.5]])
    """

    def __init__(self, limit: float = 8.0) -> None:
        self.limit = limit

    def fit(self, X: Any, y: Any = None) -> Clipped:
        """See how many columns there are."""
        validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        return self

    def transform(self, X: Any) -> Any:
        """The numbers within the limit."""
        check_is_fitted(self, "n_features_in_")
        rows = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        if sparse.issparse(rows):
            rows = rows.copy()
            np.clip(rows.data, -self.limit, self.limit, out=rows.data)
            return rows
        return np.clip(rows, -self.limit, self.limit)


# Columns as they are but for their gaps, for kernels that compare each column in its own way.


#: What stands where a word is missing.
_MISSING = "missing"


class Filled(TransformerMixin, BaseEstimator):
    """Fill the gaps of a table: numbers by their median, words by the word "missing", texts by none.

    Dates become days since 1970, so that kernels on numbers compare them. The table stays a frame of named columns.

    Parameters
    ----------
    columns : tuple of str, optional
        The only columns to keep; by default all.

    Attributes
    ----------
    columns_, kinds_ : list of str
        The columns, and whether each holds "numbers", "dates", "words" or "texts".
    medians_ : array
        The median of each column of numbers or dates, NaN of others.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.preprocess import Filled
    >>> people = pd.DataFrame({"age": [30.0, np.nan, 50], "job": pd.Categorical(["cook", None, "smith"])})
    >>> Filled().fit_transform(people).to_numpy().tolist()
    [[30.0, 'cook'], [40.0, 'missing'], [50.0, 'smith']]
    """

    def __init__(self, columns: tuple[str, ...] | None = None) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any = None) -> Filled:
        """Find the medians.

        Parameters
        ----------
        X : frame
        y : ignored

        Returns
        -------
        self
        """
        if not hasattr(X, "columns"):
            raise ValueError("Filled: a frame of named columns is needed.")
        self.columns_ = [str(name) for name in (X.columns if self.columns is None else self.columns)]
        self.kinds_ = [_kind_of(X[name]) for name in self.columns_]
        values = [_numbers(X[name], kind) for name, kind in zip(self.columns_, self.kinds_, strict=True)]
        known = [None if each is None else each[~np.isnan(each)] for each in values]
        self.medians_ = np.array(
            [np.nan if each is None else float(np.median(each)) if each.size else 0.0 for each in known]
        )
        return self

    def transform(self, X: Any) -> Any:
        """The frame without gaps.

        Parameters
        ----------
        X : frame

        Returns
        -------
        frame
        """
        check_is_fitted(self, "columns_")
        if not hasattr(X, "columns"):
            raise ValueError("Filled: a frame of named columns is needed.")
        absent = [name for name in self.columns_ if name not in X.columns]
        if absent:
            raise ValueError(f"the rows lack the columns {enumeration(map(repr, absent), 6)}; name them alike.")
        filled = {}
        for name, kind, median in zip(self.columns_, self.kinds_, self.medians_.tolist(), strict=True):
            numbers = _numbers(X[name], kind)
            if numbers is not None:
                filled[name] = np.where(np.isnan(numbers), median, numbers)
            else:
                instead = _MISSING if kind == "words" else ""
                values = [instead if is_missing(value) else value for value in X[name].to_numpy(dtype=object)]
                filled[name] = np.array([*values, None], dtype=object)[:-1]
        return pd.DataFrame(filled)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns."""
        check_is_fitted(self, "columns_")
        return np.array(self.columns_, dtype=object)


def _kind_of(column: Any) -> str:
    if str(column.dtype) == "category":
        return "words"
    return {"M": "dates", "O": "texts"}.get(column.dtype.kind, "numbers")


def _numbers(column: Any, kind: str) -> Array | None:
    if kind == "dates":
        return days_of(column)
    return column.to_numpy(dtype=np.float64) if kind == "numbers" else None


# Outliers: training rows far from the others are left out of a fit, and it is said how many of each class went.


#: Classes that a report names.
_NAMED = 6


@dataclass(frozen=True)
class OutlierReport:
    """How many of ``rows`` training rows went, in all, of each class (of how many), and by which columns."""

    rows: int
    dropped: int
    by_class: dict[Any, tuple[int, int]] = field(default_factory=dict)
    by_column: dict[Any, int] = field(default_factory=dict)

    def __str__(self) -> str:
        classes = list(self.by_class.items())
        if len(classes) > _NAMED + 1:
            classes.sort(key=lambda item: -item[1][0])
        each = (f"{gone} of {counted(count, 'row')} of class {label}" for label, (gone, count) in classes)
        parts = enumeration(each, _NAMED)
        found = "is an outlier" if self.dropped == 1 else "are outliers"
        return f"{self.dropped} of {counted(self.rows, 'row')} {found}" + (f": {parts}." if parts else ".")


class OutlierFilter(BaseEstimator):
    """Which rows lie far outside, column by column.

    Categorical columns are not looked at, nor are missing values, nor columns of which more than half (IQR) or all
    (z-score) values are the same: every other value would be far from them.

    Parameters
    ----------
    rule : {"iqr", "zscore"}, default="iqr"
        "iqr": below Q1 − factor·(Q3 − Q1) or above Q3 + factor·(Q3 − Q1). "zscore": factor standard deviations or
        more from the mean.
    factor : float, optional
        By default 1.5 for "iqr" and 3 for "zscore".

    Attributes
    ----------
    low_, high_ : arrays
        The bounds of each column that is looked at.
    columns_ : list
        Those columns, by name or number.
    report_ : OutlierReport

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.preprocess import OutlierFilter
    >>> X = np.array([[1.0], [2], [3], [4], [50]])
    >>> found = OutlierFilter().fit(X, ["a", "a", "b", "b", "b"])
    >>> found.keep(X).tolist()
    [True, True, True, True, False]
    >>> print(found.report_)
    1 of 5 rows is an outlier: 0 of 2 rows of class a and 1 of 3 rows of class b.
    """

    def __init__(self, rule: str = "iqr", factor: float | None = None) -> None:
        self.rule = rule
        self.factor = factor

    def _factor(self) -> float:
        if self.rule not in ("iqr", "zscore"):
            raise ValueError(f"OutlierFilter: rule must be 'iqr' or 'zscore', got {self.rule!r}.")
        factor = {"iqr": 1.5, "zscore": 3.0}[self.rule] if self.factor is None else self.factor
        if not 0 < factor < np.inf:
            raise ValueError(f"OutlierFilter: factor must be a number greater than 0, got {self.factor!r}.")
        return float(factor)

    def fit(self, X: Any, y: Any = None) -> OutlierFilter:
        """Find the bounds, and count.

        Parameters
        ----------
        X : array or frame
        y : array, optional
            Labels, to count by class.

        Returns
        -------
        self
        """
        factor = self._factor()
        values, self.columns_ = self._numbers(X, reset=True)
        values = np.where(np.isnan(values).all(axis=0), 0.0, values)  # an empty column has no outliers
        if self.rule == "iqr":
            first, third = np.nanquantile(values, [0.25, 0.75], axis=0) if values.size else np.zeros((2, 0))
            reach = factor * (third - first)
            self.low_, self.high_ = first - reach, third + reach
        else:
            centre, reach = np.nanmean(values, axis=0), factor * np.nanstd(values, axis=0)
            # The bounds themselves are outside: the nearest numbers within are the first allowed ones.
            self.low_, self.high_ = np.nextafter(centre - reach, centre), np.nextafter(centre + reach, centre)
        still = ~(reach > 0)
        self.low_[still], self.high_[still] = -np.inf, np.inf
        self.report_ = self._count(values, y)
        return self

    def _outside(self, values: Array) -> Array:
        return (values < self.low_) | (values > self.high_)  # a missing value is neither

    def keep(self, X: Any) -> Array:
        """For each row, whether it lies within all bounds.

        Parameters
        ----------
        X : array or frame

        Returns
        -------
        array of bool
        """
        check_is_fitted(self, "low_")
        return np.asarray(~self._outside(self._numbers(X, reset=False)[0]).any(axis=1))

    def _count(self, values: Array, y: Any) -> OutlierReport:
        outside = self._outside(values)
        gone = outside.any(axis=1)
        by_column = {name: int(count) for name, count in zip(self.columns_, outside.sum(axis=0)) if count}
        by_class = {}
        if y is not None:
            labels = column_or_1d(y)
            by_class = {
                label: (int((gone & (labels == label)).sum()), int((labels == label).sum()))
                for label in np.unique(labels).tolist()
            }
        return OutlierReport(len(values), int(gone.sum()), by_class, by_column)

    def _numbers(self, X: Any, reset: bool) -> tuple[Array, list[Any]]:
        if sparse.issparse(X):
            raise ValueError(
                "OutlierFilter: sparse rows have no outliers worth the name, as most of their values are zero."
            )
        if hasattr(X, "select_dtypes"):
            _check_feature_names(self, X, reset=reset)
            _check_n_features(self, X, reset=reset)
            numbers = X.select_dtypes("number")
            return numbers.to_numpy(dtype=np.float64), list(numbers.columns)
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return values, list(range(values.shape[1])) if names is None else list(names)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def without(outliers: Any, X: Any, y: Any) -> tuple[Any, Array]:
    """A filter of outliers fitted to training rows, and the numbers of the rows that stay: some of each class."""
    fitted = clone(outliers).fit(X, None if task_of(y) == "regress" else y)
    for label, (gone, count) in fitted.report_.by_class.items():
        if gone == count:
            raise ValueError(f"all {count} rows of class {label!r} are outliers; use a larger factor, or no filter.")
    return fitted, np.flatnonzero(fitted.keep(X))


def _inner(wrapper: WithoutOutliers) -> Any:
    return getattr(wrapper, "estimator_", wrapper.estimator)


class WithoutOutliers(MetaEstimatorMixin, BaseEstimator):
    """A machine that is fitted without the outliers among its training rows. It predicts every row.

    Parameters
    ----------
    estimator : classifier
    filter : OutlierFilter, optional

    Attributes
    ----------
    estimator_ : classifier
        Fitted on the rows that stayed.
    filter_ : OutlierFilter
    report_ : OutlierReport
    classes_ : array

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.preprocess import OutlierFilter, WithoutOutliers
    >>> X = np.array([[1.0], [2], [3], [4], [50]])
    >>> model = WithoutOutliers(SVC("linear"), OutlierFilter()).fit(X, [0, 0, 1, 1, 0])
    >>> model.report_.dropped, model.predict([[50.0]]).tolist()
    (1, [1])
    """

    def __init__(self, estimator: Any, filter: Any = None) -> None:
        self.estimator = estimator
        self.filter = filter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> WithoutOutliers:
        """Drop outliers, fit the machine.

        Parameters
        ----------
        X : array or frame
        y : array
        sample_weight : array, optional

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("WithoutOutliers requires y to be passed, but the target y is None.")
        X, y, sample_weight = indexable(X, y, sample_weight)
        self.filter_, kept = without(OutlierFilter() if self.filter is None else self.filter, X, y)
        self.report_ = self.filter_.report_
        weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)[kept]}
        self.estimator_ = clone(self.estimator).fit(_safe_indexing(X, kept), _safe_indexing(y, kept), **weights)
        return self

    @property
    def classes_(self) -> Array:
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        check_is_fitted(self, "estimator_")
        return self.filter_.n_features_in_

    @property
    def feature_names_in_(self) -> Array:
        return self.filter_.feature_names_in_

    @offered_as(_inner)
    def predict(self, X: Any) -> Array:
        """The label of each row."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @offered_as(_inner)
    def decision_function(self, X: Any) -> Array:
        """The score of each row."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @offered_as(_inner)
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @offered_as(_inner)
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of each probability."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_log_proba(X)

    @offered_as(_inner)
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows whose label is right, outliers included."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.score(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.target_tags = inner.target_tags
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags
