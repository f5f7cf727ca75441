"""What is in a table, before anything is learned from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._compile import Array
from .plain import number, numbers, text

#: Columns that are described one by one, and those that are drawn and correlated; the most telling ones come first.
DESCRIBED, DRAWN = 200, 24
#: Bins of a histogram, and values of a category that are counted.
_BINS, _VALUES = 24, 8
#: Classes that histograms tell apart.
_TOLD_APART = 6


def describe(table: Any) -> dict[str, Any]:
    """Shape, classes, missing values, and a description of the most telling columns."""
    classes, codes = np.unique(np.asarray(table.y), return_inverse=True)
    sizes = np.bincount(codes)
    frame = _most_telling(table, codes)
    words = set(table.category_columns)
    described = [_column(frame[name], codes, classes.size, name not in words) for name in frame.columns]
    drawn = [name for name in frame.columns if name not in words][:DRAWN]
    return {
        "name": text(table.name),
        "source": text(table.source),
        "digest": text(table.digest),
        "target": text(table.target),
        "notes": [text(note) for note in table.notes],
        "rows": table.n_rows,
        "columns": table.n_columns,
        "numeric_columns": table.n_columns - len(words),
        "category_columns": len(words),
        "missing_cells": sum(table.missing.values()),
        "duplicate_rows": _duplicates(table, codes),
        "classes": [
            {"label": text(label), "rows": int(size), "share": number(size / len(codes))}
            for label, size in zip(classes.tolist(), sizes)
        ],
        "described": described,
        "columns_left_out": table.n_columns - len(described),
        "correlation": {
            "columns": [text(name) for name in drawn],
            "matrix": _correlations(frame[drawn]),
            "left_out": table.n_columns - len(words) - len(drawn),
        },
    }


def _duplicates(table: Any, codes: Array) -> int | None:
    """Rows that occur before, with the same label; not counted where rows are sparse."""
    if table.frame is None:
        return None
    from pandas.util import hash_pandas_object

    rows = hash_pandas_object(table.frame, index=False).to_numpy()
    return int(len(codes) - len(np.unique(np.column_stack([rows, codes.astype(rows.dtype)]), axis=0)))


def _most_telling(table: Any, codes: Array) -> Any:
    """All columns where they are few; else those in which the classes lie farthest apart, then columns of words."""
    if table.frame is not None and table.n_columns <= DESCRIBED:
        return table.frame
    numeric = np.flatnonzero([name not in set(table.category_columns) for name in table.columns])
    rows = table.rows.tocsc()[:, numeric] if table.frame is None else table.frame.iloc[:, numeric].to_numpy()
    spread = _spread_of_classes(rows, codes)
    best = np.sort(np.argsort(-spread, kind="stable")[:DESCRIBED])
    if table.frame is None:
        import pandas as pd

        return pd.DataFrame(rows[:, best].toarray(), columns=[table.columns[k] for k in best])
    others = [table.columns.index(name) for name in table.category_columns]
    return table.frame.iloc[:, [*numeric[best], *others][:DESCRIBED]]


def _spread_of_classes(rows: Any, codes: Array) -> Array:
    """For each column, the share of its variance that lies between the classes; missing values count as the mean."""
    if not sparse.issparse(rows):
        means = np.nanmean(np.where(np.isfinite(rows), rows, np.nan), axis=0)
        rows = np.where(np.isfinite(rows), rows, np.nan_to_num(means))
    sizes = np.bincount(codes)
    member = sparse.csr_array((1 / sizes[codes], (codes, np.arange(codes.size))))
    by_class = member @ rows
    by_class = by_class.toarray() if sparse.issparse(by_class) else np.asarray(by_class)
    shares = sizes / codes.size
    squares = rows.multiply(rows) if sparse.issparse(rows) else rows * rows
    mean = shares @ by_class
    variance = np.asarray(squares.mean(axis=0)).ravel() - mean**2
    between = shares @ (by_class - mean) ** 2
    return np.divide(between, variance, out=np.zeros_like(between), where=variance > 1e-12 * (1 + mean**2))


def _column(column: Any, codes: Array, classes: int, is_number: bool) -> dict[str, Any]:
    common = {"name": text(column.name), "missing": int(column.isna().sum()), "distinct": int(column.nunique())}
    if is_number:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return {"kind": "number", **common, **_numeric(values, codes, classes)}
    counts = column.value_counts()
    top = [{"value": text(value), "rows": int(rows)} for value, rows in counts.head(_VALUES).items()]
    return {"kind": "category", **common, "top": top, "values_left_out": max(0, len(counts) - _VALUES)}


def _numeric(values: Array, codes: Array, classes: int) -> dict[str, Any]:
    seen = np.isfinite(values)
    codes, values = codes[seen], values[seen]
    if values.size == 0:
        return {}
    minimum, lower, median, upper, maximum = np.percentile(values, [0, 25, 50, 75, 100])
    reach = 1.5 * (upper - lower)
    inside = values[(values >= lower - reach) & (values <= upper + reach)]
    deviation = values.std(ddof=1) if values.size > 1 else 0.0
    skew = float(np.mean(((values - values.mean()) / values.std()) ** 3)) if values.std() > 0 else 0.0
    edges = np.histogram_bin_edges(values, _BINS)
    groups = [codes == code for code in range(classes)] if classes <= _TOLD_APART else [np.ones(codes.size, bool)]
    return {
        "mean": number(values.mean()),
        "std": number(deviation),
        "skew": number(skew),
        "quantiles": numbers([minimum, lower, median, upper, maximum]),
        "whiskers": numbers([inside.min(), inside.max()]),
        "outliers": int(values.size - inside.size),
        "histogram": {"edges": numbers(edges), "counts": [np.histogram(values[g], edges)[0].tolist() for g in groups]},
    }


def _correlations(frame: Any) -> list[list[float | None]]:
    return [numbers(row, 3) for row in frame.astype(np.float64).corr().to_numpy()]
