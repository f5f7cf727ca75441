"""Columns with mean 0 and standard deviation 1, which no single wild value decides."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._runtime.compile import Array
from .._validation.parameters import is_number

__all__ = ["Standardised"]

#: The share of a column's values that may be called wild; more of them belong to it.
_WILD = 0.005


class Standardised(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Bring columns to mean 0 and standard deviation 1, and draw wild values in.

    A value more than ``limit`` standard deviations from the mean is wild, unless more than one in two hundred are: it
    counts neither for the mean nor for the deviation, and as ``limit`` deviations in the end. Of a column with more
    values so far away all count, and new values count as far away as the farthest of them at most.

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
        self.reach_ = np.full(X.shape[1], float(self.limit))
        ends = np.stack([np.fmin.reduce(X, axis=0), np.fmax.reduce(X, axis=0)])
        farthest = np.abs((ends - self.mean_) / self.scale_).max(axis=0)
        for column in np.flatnonzero(farthest > self.limit).tolist():
            found = self._without_wild(X[:, column][~np.isnan(X[:, column])], column)
            if found is None:
                self.reach_[column] = farthest[column]
            else:
                self.mean_[column], self.scale_[column] = found
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
