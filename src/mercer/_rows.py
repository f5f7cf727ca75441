"""Rows of numbers, checked: what every vector kernel and linear learner starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

#: Squares of larger values overflow; squares of values below the inverse vanish.
LARGEST = 1e150


def refuse_foreign(X: Any, name: str = "X") -> None:
    """Refuse inputs that would be converted to numbers silently and wrongly."""
    if isinstance(X, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array, whose mask would be ignored; fill it first (X.filled(...)).")
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} has complex numbers; pass real and imaginary columns.")
    if kind in ("M", "m"):
        raise ValueError(f"{name} holds dates or durations; turn them into numbers with a unit first.")
    if type(X).__name__ == "LazyFrame":
        raise TypeError(f"{name} is a LazyFrame, which holds no rows yet; call .collect() first.")
    for column, dtype in _column_types(X):
        text = str(dtype).lower()
        if text.startswith(("datetime", "date", "timedelta", "duration", "category", "categorical", "enum")):
            raise ValueError(
                f"column {column!r} of {name} is of type {dtype}; encode it as numbers first, for example with "
                "sklearn.preprocessing.OneHotEncoder."
            )


def _column_types(X: Any) -> list[tuple[Any, Any]]:
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return list(zip(list(X.columns), list(X.dtypes), strict=False))
    return []


def refuse_extreme(X: Any, name: str = "X", columns: Any = None, tiny: bool = True) -> None:
    """Name the first value that is NaN or infinite, and values whose squares leave the range of numbers.

    ``tiny``: rows that are all zero but for rounding are refused too, as training rows should be.
    """
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return
    smallest, largest = float(values.min()), float(values.max())  # NaN, if there is one, survives min and max
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        row, column = _first_bad(X)
        bad = X[row, column]
        what = "NaN" if np.isnan(bad) else "infinity (inf)"
        label = f" ({columns[column]!r})" if columns is not None else ""
        raise ValueError(
            f"Input {name} contains {what} in row {row}, column {column}{label}; remove the row or impute the value "
            "first, for example with sklearn.impute.SimpleImputer."
        )
    size = max(-smallest, largest)
    if size > (LARGEST if X.dtype == np.float64 else 1e18):
        raise ValueError(
            f"{name} has values up to {size:.3g}, whose squares overflow; scale the columns first, for example with "
            "sklearn.preprocessing.StandardScaler."
        )
    if tiny and 0 < size < (1 / LARGEST if X.dtype == np.float64 else 1e-18):
        raise ValueError(
            f"{name} has no value larger than {size:.3g}, whose squares vanish; scale the columns first, for example "
            "with sklearn.preprocessing.StandardScaler."
        )


def _first_bad(X: Any) -> tuple[int, int]:
    if sparse.issparse(X):
        position = int(np.flatnonzero(~np.isfinite(X.data))[0])
        return int(np.searchsorted(X.indptr, position, side="right") - 1), int(X.indices[position])
    row = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
    return row, int(np.flatnonzero(~np.isfinite(X[row]))[0])


def tidy_sparse(X: Any, name: str = "X") -> Any:
    """A CSR matrix whose indices are proven to lie inside its shape, sorted and without duplicates."""
    if X.indices.size and (X.indices.min() < 0 or X.indices.max() >= X.shape[1]):
        raise ValueError(f"sparse {name} has a column index outside 0..{X.shape[1] - 1}; the matrix is damaged.")
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def as_rows(X: Any, name: str = "X", allow_empty: bool = True) -> Any:
    """Rows as a C-ordered float32/float64 array or a CSR matrix, every value finite.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    refuse_foreign(X, name)
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=(np.float64, np.float32),
        order="C",
        ensure_all_finite=False,
        ensure_min_samples=0 if allow_empty else 1,
        input_name=name,
    )
    if sparse.issparse(X):
        X = tidy_sparse(X, name)
    refuse_extreme(X, name)
    return X
