"""Columns as they are but for their gaps, for kernels that compare each column in its own way."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._runtime.compile import Array
from .._validation.objects import is_missing
from .._validation.wording import enumeration
from .date_parts import days_of

__all__ = ["Filled"]

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
        import pandas as pd

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
