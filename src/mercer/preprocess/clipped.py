"""A limit to how far a value may lie from the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = ["Clipped"]


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
