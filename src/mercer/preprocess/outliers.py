"""Outliers: training rows far from the others are left out of a fit, and it is said how many of each class went."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, _safe_indexing, column_or_1d, get_tags, indexable
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted, validate_data

from .._runtime.compile import Array
from .._validation.offered import offered_as
from .._validation.target_kind import task_of
from .._validation.wording import counted, enumeration

__all__ = ["OutlierFilter", "OutlierReport", "WithoutOutliers"]

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

    Columns of words are not looked at, nor are missing values, nor columns of which more than half (IQR) or all
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
