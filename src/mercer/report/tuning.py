"""Tuning: cross-validation inside the training rows, and what it says."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from .._runtime.compile import Array
from .._validation.rare_classes import drawn_evenly
from ..search import KernelSearchCV
from .error_measure import ErrorMeasure
from .plain import number, setting, text


def search(
    estimator: Any, grid: Mapping[str, list[Any]], cv: Any, scoring: Any, time_limit: float | None = None
) -> Any:
    """The search that every learner is tuned by. It does not refit: the final fit may have more rows."""
    options: dict[str, Any] = {"refit": False, "return_train_score": True, "time_limit": time_limit}
    return KernelSearchCV(estimator, dict(grid), cv=cv, scoring=scoring, **options)


def sample(y: Array, limit: int | None, seed: int, even: bool = True) -> Array | None:
    """Numbers of ``limit`` rows, each class with its share; ``None`` where there are no more rows than that.

    Rows with numbers for targets are drawn without looking at them (``even=False``).
    """
    if limit is None or len(y) <= limit:
        return None
    if even:
        kept, _ = drawn_evenly(y, seed, train_size=limit)
    else:
        kept, _ = train_test_split(np.arange(len(y)), train_size=limit, random_state=seed)
    return np.sort(kept)


def tune(
    estimator: Any,
    grid: Mapping[str, list[Any]],
    frame: Any,
    y: Array,
    splits: Sequence[tuple[Array, Array]],
    measure: ErrorMeasure,
    time_limit: float | None = None,
) -> tuple[Any, dict]:
    """The best parameters, and the table of all of them; of those that there was time for, where it is limited.

    Returns
    -------
    params : dict
        For ``set_params`` of the estimator.
    facts : dict
    """
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of candidates that lose; the final fit says what is wrong with the winner
        found = search(estimator, grid, splits, measure.scorer or measure.scoring, time_limit).fit(frame, y)
    table = found.cv_results_
    candidates = [
        {
            "params": short_params(params),
            "train": _error(table, "train", k, measure),
            "validation": _error(table, "test", k, measure),
            "rank": int(table["rank_test_score"][k]),
            "fit_seconds": number(table["mean_fit_time"][k], 3),
        }
        for k, params in enumerate(table["params"])
    ]
    facts = {
        "rows": len(y),
        "folds": len(splits),
        "candidates": candidates,
        "best": int(found.best_index_),
        "advice": [
            {"kind": str(fact.kind), "message": _with_short_names(text(fact.message), grid)}
            for fact in getattr(found, "advice_", [])
        ],
        "seconds": number(time.perf_counter() - start, 4),
        "stopped": found.stopped_,
    }
    return found.best_params_, facts


def chosen_setting(tuning: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the table of settings that was chosen."""
    return tuning["candidates"][tuning["best"]]


def short_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters under the names they have in the learner: ``learner__model__lam`` is ``lam``.

    Examples
    --------
    >>> short_params({"learner__model__lam": 0.1, "learner__kernel__gamma": 2.0})
    {'lam': 0.1, 'gamma': 2.0}
    """
    return {name.rpartition("__")[2]: setting(value) for name, value in params.items()}


def _with_short_names(message: str, grid: Mapping[str, list[Any]]) -> str:
    """A sentence with the parameters under their own names."""
    for name in grid:
        message = message.replace(name, name.rpartition("__")[2])
    return message


def _error(table: Mapping[str, Any], rows: str, candidate: int, measure: ErrorMeasure) -> dict[str, float | None]:
    """Mean and standard deviation over the folds of the error on one kind of rows."""
    return {
        "mean": number(measure.perfect - table[f"mean_{rows}_score"][candidate]),
        "sd": number(table[f"std_{rows}_score"][candidate]),
    }
