"""What is in a table, before anything is learned from it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from ..describe import ColumnFacts, describe
from ..describe.measurements import measurements
from .plain import number, numbers, text
from .word_facts import commonest_words, telling_words

#: Columns that are described one by one, and those that are drawn and correlated; the most telling ones come first.
DESCRIBED, DRAWN = 200, 24
#: Bins of a histogram.
_BINS = 24
#: Classes that histograms tell apart.
_TOLD_APART = 6


def table_facts(table: Any) -> dict[str, Any]:
    """Shape, classes or numbers, missing values, and a description of the most telling columns."""
    classes, codes = _groups(table)
    if table.kind == "rows":
        frame = _most_telling(table, codes)
        found = describe(replace(table, frame=frame, rows=None))
    else:
        frame = measurements(table)
        found = describe(table)
    left_out = max(0, table.n_columns - frame.shape[1])
    told_apart = 1 if table.measured else classes.size
    described = [_column(column, frame[column.name], codes, told_apart) for column in found.columns]
    drawn = [column.name for column in found.columns if column.kind == "numbers" and column.distinct > 1][:DRAWN]
    return {
        "name": text(table.name),
        "source": text(table.source),
        "digest": text(table.digest),
        "target": text(table.target),
        "notes": [text(note) for note in found.notes],
        "telling": [text(each) for each in found.telling],
        "warnings": [] if left_out else [text(warning) for warning in found.warnings],
        "kind": table.kind,
        "extent": table.extent,
        "rows": table.n_rows,
        "columns": table.n_columns,
        "numeric_columns": len(table.numeric_columns),
        "category_columns": len(table.category_columns),
        "date_columns": len(table.date_columns),
        "text_columns": len(table.text_columns),
        "columns_read": [
            {"name": text(name), "kind": kind, "why": text(_why(table, name))} for name, kind in table.kinds.items()
        ]
        if table.frame is not None and table.n_columns <= DESCRIBED
        else [],
        "left_out": [{"name": text(name), "why": text(why)} for name, why in table.left_out.items()],
        "missing_cells": sum(table.missing.values()),
        "duplicate_rows": None if left_out else found.duplicates,
        "contradictory_rows": None if left_out else found.contradictions,
        "task": table.task,
        "values": _column(found.values, table.y, codes, 1) if found.values is not None else None,
        "classes": []
        if table.measured
        else [
            {"label": text(label), "rows": int(size), "share": number(size / len(codes))}
            for label, size in zip(classes.tolist(), np.bincount(codes))
        ],
        "described": described,
        "columns_left_out": left_out,
        "correlation": {
            "columns": [text(name) for name in drawn],
            "matrix": _correlations(frame[drawn]),
            "left_out": max(0, len(table.numeric_columns) - len(drawn)),
        },
    }


def _why(table: Any, name: str) -> str:
    """What was said about a column when it was read; nothing where its kind is plain."""
    if table.kinds[name] in ("number", "category"):
        return next((note for note in table.notes if note.startswith("Read as numbers") and repr(name) in note), "")
    return next((note for note in table.notes if repr(name) in note and not note.startswith("Left out")), "")


def _groups(table: Any) -> tuple[Array, Array]:
    """The classes, and of which one each row is; of numbers, fifths of the rows from the smallest to the largest."""
    y = np.asarray(table.y)
    if table.measured:
        y = np.digitize(y.astype(np.float64), np.quantile(y.astype(np.float64), [0.2, 0.4, 0.6, 0.8]))
    return np.unique(y, return_inverse=True)


def _most_telling(table: Any, codes: Array) -> Any:
    """All columns where they are few; else those in which the classes lie farthest apart, then columns of words."""
    if table.frame is not None and table.n_columns <= DESCRIBED:
        return table.frame
    of_numbers = set(table.numeric_columns)
    numeric = np.flatnonzero([name in of_numbers for name in table.columns])
    rows = table.rows.tocsc()[:, numeric] if table.frame is None else table.frame.iloc[:, numeric].to_numpy()
    spread = _spread_of_classes(rows, codes)
    best = np.sort(np.argsort(-spread, kind="stable")[:DESCRIBED])
    if table.frame is None:
        import pandas as pd

        return pd.DataFrame(rows[:, best].toarray(), columns=[table.columns[k] for k in best])
    others = [place for place, name in enumerate(table.columns) if name not in of_numbers]
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


def _column(facts: ColumnFacts, column: Any, codes: Array, classes: int) -> dict[str, Any]:
    common = {"name": text(facts.name), "kind": facts.kind, "missing": facts.missing, "distinct": facts.distinct}
    if facts.kind == "dates":
        return {**common, "first": facts.first, "last": facts.last}
    if facts.kind == "words":
        return {**common, "top": commonest_words(column, codes, classes if classes <= _TOLD_APART else 1)}
    if facts.kind == "texts":
        return {**common, "top": telling_words(column, codes, classes if classes <= _TOLD_APART else 1)}
    values = np.asarray(column, dtype=np.float64)
    seen = np.isfinite(values)
    if not seen.any():
        return common
    numeric = {name: number(getattr(facts, name)) for name in ("mean", "std", "skew")}
    return {**common, **numeric, "outliers": facts.outliers, **_spread(values[seen], codes[seen], classes)}


def _spread(values: Array, codes: Array, classes: int) -> dict[str, Any]:
    """What a boxplot and a histogram by class need."""
    quantiles = np.percentile(values, [0, 25, 50, 75, 100])
    reach = 1.5 * (quantiles[3] - quantiles[1])
    inside = values[(values >= quantiles[1] - reach) & (values <= quantiles[3] + reach)]
    edges = np.histogram_bin_edges(values, _BINS)
    apart = 1 < classes <= _TOLD_APART
    groups = [codes == code for code in range(classes)] if apart else [np.ones(codes.size, bool)]
    return {
        "quantiles": numbers(quantiles),
        "whiskers": numbers([inside.min(), inside.max()]),
        "histogram": {
            "edges": numbers(edges, 8),
            "counts": [np.histogram(values[group], edges)[0].tolist() for group in groups],
        },
    }


def _correlations(frame: Any) -> list[list[float | None]]:
    return [numbers(row, 3) for row in frame.astype(np.float64).corr().to_numpy()]
