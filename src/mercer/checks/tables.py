"""Rows of numbers, checked: what every vector kernel and linear learner starts from."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing, check_array

from ..runtime.arrays import Array
from .parameters import shown

# Items of any kind, as the user gives them: words, sets, graphs, rows of a frame.


def is_missing(value: Any) -> bool:
    """Whether a value stands for nothing: ``None``, NaN, ``pandas.NA`` or a missing date.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing(0)
    (True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, (float, np.floating, np.datetime64, np.timedelta64)):
        return bool(value != value)
    pandas = sys.modules.get("pandas")  # a value of pandas' own exists only where pandas was imported
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def holds_no_rows_yet(X: Any) -> bool:
    """Whether this is a plan of work whose rows come with ``collect``, as the lazy frames of polars are."""
    return hasattr(X, "collect")


def chosen(given: Any, index: Array) -> Any:
    """Some of the items that a user gave, in the kind of collection that they came in."""
    plain = isinstance(given, (list, tuple, np.ndarray)) or hasattr(given, "columns") or hasattr(given, "dtype")
    return _safe_indexing(given, index) if plain else given[index]


#: Squares of larger values overflow when many are added up; squares of values below the inverse vanish.
LARGEST = 1e140
LARGEST_SINGLE = 1e18


def refuse_foreign(X: Any, name: str = "X") -> None:
    """Refuse inputs that would be converted to numbers silently and wrongly, or are damaged."""
    if type(X) is np.ndarray and X.dtype.kind in "biuf":
        return
    refuse_damaged(X, name)
    refuse_no_rows(X, name)
    if isinstance(X, np.ma.MaskedArray):
        raise ValueError(f"{name} is a masked array, whose mask would be ignored; fill it first (X.filled(...)).")
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} has complex numbers; pass real and imaginary columns.")
    if kind in ("M", "m"):
        raise ValueError(f"{name} holds dates or durations; turn them into numbers with a unit first.")
    if holds_no_rows_yet(X):
        raise TypeError(f"{name} is a {type(X).__name__}, which holds no rows yet; call .collect() first.")
    for column, dtype in _column_types(X):
        text = str(dtype).lower()
        if text.startswith(("datetime", "date", "timedelta", "duration", "category", "categorical", "enum")):
            raise ValueError(
                f"column {column!r} of {name} is of type {dtype}; encode it as numbers first, for example with "
                "sklearn.preprocessing.OneHotEncoder; for a table = mercer.read(...), "
                "mercer.preprocess.pipeline(table, machine) does all of that."
            )
    _refuse_words(X, name)


def refuse_no_rows(X: Any, name: str = "X") -> None:
    """Refuse what holds no rows in an order: nothing, a text, a set."""
    if X is None or (isinstance(X, (set, frozenset, dict, str, bytes, Iterator)) and not sparse.issparse(X)):
        what = "None" if X is None else f"a {type(X).__name__}"
        raise TypeError(f"{name} is {what}, not rows in an order; give an array, a list or a frame.")


def _refuse_words(X: Any, name: str) -> None:
    """Name the first text that is no number, where there is a column of texts or nothing else."""
    if isinstance(X, (list, tuple, np.ndarray)) and len(X) and isinstance(X[0], str):
        raise ValueError(
            f"{name} holds texts such as {shown(str(X[0]))}, not rows of numbers; choose a kernel for strings, for "
            "example Spectrum(p=3)."
        )
    if _has_words(X):
        X = np.array(X, dtype=object)
    types = [dtype for _, dtype in _column_types(X)]
    if isinstance(X, np.ndarray) and X.ndim == 2:
        types = [X.dtype] * X.shape[1]
    for place, dtype in enumerate(types):
        if getattr(dtype, "kind", None) != "U" and not str(dtype).lower().startswith(("object", "str")):
            continue
        cells = X.iloc[:, place] if hasattr(X, "iloc") else X[:, place]
        for row, cell in enumerate(cells):
            if isinstance(cell, str) and not _is_numeral(cell):
                label = X.columns[place] if hasattr(X, "columns") else place
                raise ValueError(
                    f"column {label!r} of {name} is not numeric: row {row} holds {shown(str(cell))}; encode it first, "
                    "for example with sklearn.preprocessing.OneHotEncoder, or choose a kernel for it (kernel.on)."
                )


def _has_words(X: Any) -> bool:
    """Whether it is a list of lists, with a text in the first of them."""
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    return isinstance(first, (list, tuple)) and any(isinstance(cell, str) for cell in first)


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@contextmanager
def numbers_only(X: Any, name: str = "X") -> Iterator[None]:
    """Inside this block, cells of X that cannot become floats are refused in one sentence: objects, endless digits."""
    try:
        yield
    except OverflowError:
        raise ValueError(f"{name} holds a whole number too large for a float; scale the columns first.") from None
    except TypeError:
        cells = [] if sparse.issparse(X) else np.asarray(X, dtype=object).ravel().tolist()
        foreign = next(
            (
                cell
                for cell in cells
                if not isinstance(cell, (str, bytes)) and not hasattr(cell, "__float__") and cell is not None
            ),
            None,
        )
        if foreign is None:
            raise
        raise TypeError(
            f"{name} must hold rows of numbers, but it holds a {type(foreign).__name__!r} (a cell as argument must be "
            "a string or a real number); choose a kernel for such items."
        ) from None


def refuse_damaged(X: Any, name: str = "X") -> None:
    """Refuse sparse rows whose arrays contradict each other: compiled loops would read memory that is not theirs."""
    if not sparse.issparse(X) or X.ndim != 2:
        return
    height, width = X.shape
    if X.format == "coo":
        if not X.row.size == X.col.size == X.data.size:
            raise _damage(name, f"it has {X.row.size} row numbers, {X.col.size} column numbers, {X.data.size} values")
        _refuse_outside(X.row, height, "row", name)
        _refuse_outside(X.col, width, "column", name)
    elif X.format in ("csr", "csc", "bsr"):
        block = X.blocksize if X.format == "bsr" else (1, 1)
        major, minor = (width, height) if X.format == "csc" else (height // block[0], width // block[1])
        ends, index, values = X.indptr, X.indices, X.data.shape[0]
        if ends.size != major + 1:
            raise _damage(name, f"indptr has {ends.size} numbers, it needs {major + 1}")
        if index.size != values:
            raise _damage(name, f"it has {index.size} indices for {values} values")
        if ends[0] != 0:
            raise _damage(name, f"indptr begins with {ends[0]}, it must begin with 0")
        if (ends[1:] < ends[:-1]).any():
            raise _damage(name, f"indptr decreases after place {int(np.argmax(ends[1:] < ends[:-1]))}")
        if ends[-1] > values:
            raise _damage(name, f"indptr ends with {ends[-1]}, but there are {values} values")
        _refuse_outside(index, minor, "row" if X.format == "csc" else "column", name)


def _refuse_outside(index: Any, size: int, what: str, name: str) -> None:
    if index.size and (index.min() < 0 or index.max() >= size):
        raise _damage(name, f"it has a {what} index outside 0..{size - 1}")


def _damage(name: str, what: str) -> ValueError:
    return ValueError(f"sparse {name} is damaged: {what}; build the matrix again.")


def _column_types(X: Any) -> list[tuple[Any, Any]]:
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return list(zip(list(X.columns), list(X.dtypes), strict=False))
    return []


def refuse_extreme(X: Any, name: str = "X", columns: Any = None, tiny: bool = True, numbers: Any = None) -> None:
    """Name the first value that is NaN or infinite, and values whose squares leave the range of numbers.

    ``tiny``: rows that are all zero but for rounding are refused too, as training rows should be. ``numbers`` are
    those of the rows, where these are some of many.
    """
    values = X.data if sparse.issparse(X) else X
    if values.size == 0:
        return
    smallest, largest = float(values.min()), float(values.max())  # NaN, if there is one, survives min and max
    if not (np.isfinite(smallest) and np.isfinite(largest)):
        row, column = _first_bad(X)
        bad = X[row, column]
        row = row if numbers is None else int(numbers[row])
        what = "NaN" if np.isnan(bad) else "infinity (inf)"
        label = f" ({columns[column]!r})" if columns is not None else ""
        raise ValueError(
            f"Input {name} contains {what} in row {row}, column {column}{label}; remove the row or impute the value "
            "first, for example with sklearn.impute.SimpleImputer."
        )
    size = max(-smallest, largest)
    limit = LARGEST if X.dtype == np.float64 else LARGEST_SINGLE
    if size > limit:
        raise ValueError(
            f"{name} has values up to {size:.3g}, whose squares overflow; scale the columns first, for example with "
            "sklearn.preprocessing.StandardScaler."
        )
    if tiny and 0 < size < 1 / limit:
        raise ValueError(
            f"{name} has no value larger than {size:.3g}, whose squares vanish; scale the columns first, for example "
            "with sklearn.preprocessing.StandardScaler."
        )


def widened(X: Any) -> Any:
    """Rows of numbers, in float64 where the squares of what they hold leave the range of float32."""
    values = X.data if sparse.issparse(X) else X
    if values.dtype != np.float32 or not values.size:
        return X
    size = max(-float(values.min()), float(values.max()))
    return X if size == 0 or 1 / LARGEST_SINGLE <= size <= LARGEST_SINGLE else X.astype(np.float64)


def _first_bad(X: Any) -> tuple[int, int]:
    if sparse.issparse(X):
        position = int(np.flatnonzero(~np.isfinite(X.data))[0])
        return int(np.searchsorted(X.indptr, position, side="right") - 1), int(X.indices[position])
    row = int(np.flatnonzero(~np.isfinite(X).all(axis=1))[0])
    return row, int(np.flatnonzero(~np.isfinite(X[row]))[0])


def tidy_sparse(X: Any, name: str = "X") -> Any:
    """A CSR matrix whose arrays are proven to fit together, its indices sorted and without duplicates."""
    refuse_damaged(X, name)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def as_rows(X: Any, name: str = "X", allow_empty: bool = True) -> Any:
    """Rows as a C-ordered float64 array or a CSR matrix, every value finite.

    Examples
    --------
    >>> as_rows([[1, 2], [3, 4]])
    array([[1., 2.],
           [3., 4.]])
    """
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.flags.c_contiguous and X.size > 0
    if not plain:
        refuse_foreign(X, name)
        with numbers_only(X, name):
            X = check_array(
                X,
                accept_sparse="csr",
                dtype=np.float64,
                order="C",
                ensure_all_finite=False,
                ensure_min_samples=0 if allow_empty else 1,
                input_name=name,
            )
    if sparse.issparse(X):
        X = tidy_sparse(X, name)
    refuse_extreme(X, name)
    return X
