"""Transformers of columns: take those of numbers, leave out what another one says, add one that is always the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.utils import Tags
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from ..io.table import DataError
from ..messages import enumeration
from ..runtime.arrays import Array

#: Columns whose correlations with all earlier ones are computed at a time.
_BLOCK = 512


def correlated_groups(X: Array, threshold: float) -> dict[int, list[int]]:
    """For each column that stays, the later columns that are correlated with it more than the threshold allows.

    Going through the columns in their order, one stays if it is not correlated with any that stayed before. A column
    that is constant is correlated with none.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.arange(5.0)
    >>> correlated_groups(np.column_stack([x, x**0.5, -2 * x, np.ones(5)]), 0.99)
    {0: [2]}
    """
    centred = X - X.mean(axis=0)
    length = np.sqrt((centred * centred).sum(axis=0))
    # What is left of a constant column after centring is rounding, not variation.
    varies = length > 1e-10 * np.sqrt(len(X)) * np.abs(X).max(axis=0, initial=0.0)
    unit = np.divide(centred, length, out=np.zeros_like(centred), where=varies)
    groups: dict[int, list[int]] = {}
    gone = np.zeros(X.shape[1], dtype=bool)
    for begin in range(0, X.shape[1], _BLOCK):
        end = min(begin + _BLOCK, X.shape[1])
        close = np.abs(unit[:, :end].T @ unit[:, begin:end]) > threshold
        for column in range(begin, end):
            earlier = np.flatnonzero(close[:column, column - begin] & ~gone[:column])
            if earlier.size:
                gone[column] = True
                groups.setdefault(int(earlier[0]), []).append(column)
    return groups


class Numbers(TransformerMixin, BaseEstimator):
    """Take the columns of a table of numbers out of it, all at once: their number hardly matters.

    Columns are found by name in a frame, whatever their order and whatever others there are; an array must have just
    these. Missing values stay missing.

    Parameters
    ----------
    without : tuple of str
        Columns to leave out.

    Attributes
    ----------
    columns_ : array
        The names of the columns; numbers from 0 where they have no names.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.preprocess import Numbers
    >>> steps = Numbers(without=("c",)).fit(pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]}))
    >>> steps.transform(pd.DataFrame({"b": [3.5], "more": [0], "a": [1.5]}))
    array([[1.5, 3.5]])
    """

    def __init__(self, without: tuple[str, ...] = ()) -> None:
        self.without = without

    def fit(self, X: Any, y: Any = None) -> Numbers:
        """See which columns there are."""
        named, left_out = hasattr(X, "columns"), set(self.without)
        names = X.columns if named else range(X.shape[1])
        self.columns_ = np.array([name for name in names if name not in left_out], dtype=object if named else np.int64)
        return self

    def transform(self, X: Any) -> Array:
        """The columns as an array."""
        check_is_fitted(self)
        if hasattr(X, "columns"):
            wanted = self.columns_.tolist()
            if X.columns.tolist() != wanted:
                known = set(X.columns)
                absent = [name for name in wanted if name not in known]
                if absent:
                    lacking = enumeration(map(repr, absent), 6)
                    raise ValueError(f"the rows lack the columns {lacking}; name them alike.")
                X = X[wanted]
        elif X.shape[1] != self.columns_.size:
            raise ValueError(f"the rows have {X.shape[1]} columns, {self.columns_.size} were expected.")
        return np.array(X, dtype=np.float64, order="C")

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns."""
        check_is_fitted(self)
        return np.array(
            [f"x{name}" if isinstance(name, int) else name for name in self.columns_.tolist()], dtype=object
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class CorrelationFilter(TransformerMixin, BaseEstimator):
    """Keep the first of each group of correlated columns.

    Parameters
    ----------
    threshold : float, default=0.98
        Columns whose correlation is larger, with either sign, count as the same.

    Attributes
    ----------
    kept_ : array
        The numbers of the columns that stay.
    groups_ : dict
        For each column that stays for others, the columns it stands for; by name where the rows had names.

    Examples
    --------
    >>> from mercer.datasets import make_margins
    >>> from mercer.preprocess import CorrelationFilter
    >>> X, y = make_margins(500, random_state=0)
    >>> CorrelationFilter(0.95).fit(X).groups_
    {2: [5, 9]}
    """

    def __init__(self, threshold: float = 0.98) -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any = None) -> CorrelationFilter:
        """Find the groups."""
        if not 0 < self.threshold <= 1:
            raise ValueError(f"CorrelationFilter: threshold must be between 0 and 1, got {self.threshold!r}.")
        X = validate_data(self, X, dtype=np.float64)
        groups = correlated_groups(X, self.threshold)
        dropped = [column for others in groups.values() for column in others]
        self.kept_ = np.setdiff1d(np.arange(X.shape[1]), dropped)
        names = getattr(self, "feature_names_in_", None)
        self.groups_ = (
            groups if names is None else {names[one]: [names[k] for k in others] for one, others in groups.items()}
        )
        return self

    def transform(self, X: Any) -> Array:
        """The columns that stay."""
        check_is_fitted(self)
        return validate_data(self, X, dtype=(np.float64, np.float32), reset=False)[:, self.kept_]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns that stay."""
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)[self.kept_]


class Constant(TransformerMixin, BaseEstimator):
    """Add a column of ones, so that a machine without an intercept can learn one.

    Examples
    --------
    >>> from mercer.preprocess import Constant
    >>> Constant().fit_transform([[2.0], [3.0]])
    array([[2., 1.],
           [3., 1.]])
    """

    def fit(self, X: Any, y: Any = None) -> Constant:
        """Remember how many columns there are."""
        validate_data(self, X, accept_sparse=True)
        return self

    def transform(self, X: Any) -> Any:
        """The rows with one more column."""
        check_is_fitted(self, "n_features_in_")
        X = validate_data(self, X, accept_sparse="csr", dtype=(np.float64, np.float32), reset=False)
        ones = np.ones((X.shape[0], 1), dtype=X.dtype)
        return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns, then "constant"."""
        check_is_fitted(self, "n_features_in_")
        return np.append(_check_feature_names_in(self, input_features), np.array(["constant"], dtype=object))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


# Targets learned as logarithms: scikit-learn's TransformedTargetRegressor.


#: By name: the logarithm, and the way back. Where a target is zero, logarithms are of 1 + it.
TARGET_TRANSFORMS: dict[str, tuple[Any, Any]] = {"log": (np.log, np.exp), "log1p": (np.log1p, np.expm1)}


def _named(name: str | None, y: Any) -> str | None:
    """The entry of :data:`TARGET_TRANSFORMS` for these targets; ``None`` where they stay as they are."""
    if name in (None, "none"):
        return None
    if name != "log":
        known = enumeration(map(repr, ("log", "none")), last="or")
        raise ValueError(f"pipeline: target_transform must be {known}, got {name!r}.")
    smallest = float(np.min(y))
    if smallest < 0:
        raise DataError(
            f"the target has negative values, such as {smallest:g}, and these have no logarithm; leave "
            "--target-transform log out."
        )
    return "log" if smallest > 0 else "log1p"


def with_transformed_target(estimator: Any, name: str | None, y: Any) -> Any:
    """An estimator that learns the logarithms of targets, and predicts in their unit.

    Parameters
    ----------
    estimator : regressor
    name : {"log", "none"}, optional
    y : array
        All targets there are: where some are zero, logarithms are of 1 + y.

    Returns
    -------
    TransformedTargetRegressor, or the estimator as it is

    Examples
    --------
    >>> from mercer import KernelRegressor
    >>> with_transformed_target(KernelRegressor(), "log", [1.0, 10.0]).func is np.log
    True
    """
    found = _named(name, y)
    if found is None:
        return estimator
    there, back = TARGET_TRANSFORMS[found]
    return TransformedTargetRegressor(estimator, func=there, inverse_func=back, check_inverse=False)


def transformed_target(name: str | None, y: Array) -> Array:
    """Targets as they are learned."""
    found = _named(name, y)
    return y if found is None else TARGET_TRANSFORMS[found][0](np.asarray(y, dtype=np.float64))
