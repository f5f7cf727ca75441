"""Boosted trees as a yardstick: where they are clearly better, kernels may not suit the table.

They are scikit-learn's, as they come, on the same training and test rows. They are neither tuned nor chosen from.
"""

from __future__ import annotations

import time
from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from threadpoolctl import threadpool_limits

from ..runtime import Array
from .base import Tested
from .measures import ErrorMeasure, draws_of, scored
from .predictions import ALPHA, Predictions, drawn_differences, number

#: Rounds of boosting, after how many of them the clock is looked at, and most cells, for each class.
_ROUNDS, _AT_ONCE, _CELLS = 100, 20, 20_000_000
#: Cells of a table below which threads wait for each other longer than they work.
_ALONE = 1_000_000
#: Categories that trees tell apart, and from which on they are many; how skewed a column is that has a long tail.
_TOLD_APART, _MANY, _SKEWED = 255, 12, 5.0


def yardstick(
    table: Any, tested: Tested, measure: ErrorMeasure, chosen: str, title: str, seed: int, seconds: float = np.inf
) -> dict[str, Any] | None:
    """What boosted trees reach on the test rows, with a sentence where that is clearly better than the winner.

    ``chosen`` and ``title`` are the name and the title of the winner. ``None`` where there are no columns, or no time.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    y, train, test, weights, winner = tested.y, tested.train, tested.test, tested.weights, tested.found[chosen]
    columns = _columns(table)
    scores = 1 if winner.classes is None or len(winner.classes) == 2 else len(winner.classes)
    if columns is None or scores * columns.size > _CELLS:
        return None
    made: dict[str, Any] = {"random_state": seed}
    if measure.scoring == "balanced_accuracy":
        made["class_weight"] = "balanced"  # which is what that measure counts by
    make = HistGradientBoostingRegressor if winner.classes is None else HistGradientBoostingClassifier
    found = _boosted(make(**made), columns, y, train, test, seconds)
    if found is None:
        return None
    score = scored(measure, y[test], found, weights)
    if score["value"] is None:
        return None
    gained = draws_of(measure, y[test], found, weights) - draws_of(measure, y[test], winner, weights)
    apart, mean = drawn_differences(gained) < ALPHA, np.nanmean(gained)
    better, worse = apart and mean > 0, apart and mean < 0
    error, low, high = _as_error(measure, score)
    words = _words(table, measure, score, scored(measure, y[test], winner, weights), title) if better else None
    return {"title": "Boosted trees", "error": error, "low": low, "high": high, "score": score["value"],
            "better": bool(better), "worse": bool(worse), "words": words}  # fmt: skip


def _as_error(measure: ErrorMeasure, score: dict[str, Any]) -> tuple[float | None, float | None, float | None]:
    """A score as the error that it leaves, with its interval from low to high."""
    error = number(measure.perfect - score["value"])
    if score["low"] is None or score["high"] is None:
        return error, None, None
    return error, number(measure.perfect - score["high"]), number(measure.perfect - score["low"])


def _columns(table: Any) -> Any:
    """The columns as trees take them: words as categories, dates as numbers, no texts; ``None`` if none is left."""
    if table.kind != "rows" or table.n_rows * table.n_columns > _CELLS:  # before rows that are sparse are filled up
        return None
    if table.frame is None:
        rows = table.rows
        return pd.DataFrame(rows.toarray() if sparse.issparse(rows) else rows)
    kept = {}
    for name, column in table.frame.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            kept[name] = column if len(column.cat.categories) <= _TOLD_APART else column.cat.codes.astype(float)
        elif pd.api.types.is_datetime64_any_dtype(column.dtype):
            kept[name] = column.astype("int64").where(column.notna(), np.nan).astype(float)
        elif pd.api.types.is_numeric_dtype(column.dtype):
            kept[name] = column
    return pd.DataFrame(kept) if kept else None


def _boosted(model: Any, columns: Any, y: Array, train: Array, test: Array, seconds: float) -> Predictions | None:
    """What trees say of the test rows; ``None`` where they take longer than so many seconds."""
    model.set_params(warm_start=True, categorical_features="from_dtype")
    rows, new = columns.iloc[train], columns.iloc[test]
    begin = time.perf_counter()
    with threadpool_limits(1, user_api="openmp") if rows.size < _ALONE else nullcontext():
        for rounds in range(_AT_ONCE, _ROUNDS + 1, _AT_ONCE):
            if time.perf_counter() - begin > seconds:
                return None
            model.set_params(max_iter=rounds).fit(rows, y[train])
        if not hasattr(model, "classes_"):
            return Predictions(np.asarray(model.predict(new), dtype=np.float64))
        scores = model.decision_function(new)
        return Predictions(model.predict(new), scores, model.predict_proba(new), model.classes_)


def _words(table: Any, measure: ErrorMeasure, score: dict[str, Any], own: dict[str, Any], title: str) -> str:
    if measure.scoring == "accuracy":
        reached = f"err on {100 * (1 - score['value']):.1f} % of the same test rows"
        against = f"{100 * (1 - own['value']):.1f} %"
    else:
        reached, against = f"reach {measure.title} {score['words']} on the same test rows", own["words"]
    return (
        f"Boosted trees, not tuned, {reached}, clearly better than {title} with {against}: kernels may not suit this "
        f"table. {_why(table)}"
    )


def _why(table: Any) -> str:
    """What trees take as it is and kernels do not, as far as the columns show it."""
    why = "Trees ask each column by itself whether it is above a threshold, where kernels compare whole rows"
    if table.frame is None:
        return f"{why}."
    many = [name for name in table.category_columns if len(table.frame[name].cat.categories) >= _MANY]
    tailed = [name for name in table.numeric_columns if _is_skewed(table.frame[name])]
    found = [f"{name!r} has {len(table.frame[name].cat.categories)} categories" for name in many[:2]]
    found += [f"{name!r} has a long tail" for name in tailed[:2]]
    return f"{why}; here {' and '.join(found[:3])}." if found else f"{why}."


def _is_skewed(column: Any) -> bool:
    return pd.api.types.is_numeric_dtype(column.dtype) and abs(float(np.nan_to_num(column.skew()))) > _SKEWED
