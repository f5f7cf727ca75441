"""Tuning: cross-validation inside the training rows, and what it says."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from .._runtime.compile import Array
from .._validation.parameters import is_number
from .._validation.rare_classes import drawn_evenly
from ..search import KernelSearchCV
from .error_measure import ErrorMeasure
from .plain import number, setting, text

#: Parameters that a contest tunes finely, and how often a search goes beyond an edge of its grid.
_FINELY = ("gamma", "C", "lam")
_BEYOND = 3


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


def settings_around(grid: Mapping[str, list[Any]], params: Mapping[str, Any]) -> dict[str, list[Any]]:
    """A finer grid around a setting: each number that has steps, with half a step on either side.

    The setting itself is tried first, so that it is there if the time is short. What counts something, and what is no
    number, stays as it is.

    Examples
    --------
    >>> settings_around({"C": [1.0, 100.0], "epochs": [5, 20]}, {"C": 100.0, "epochs": 5})
    {'C': [100.0, 10.0, 1000.0], 'epochs': [5]}
    """
    found = {}
    for name, values in grid.items():
        best = params[name]
        found[name] = [best]
        if len(values) > 1 and all(isinstance(value, float) and value > 0 for value in values) and _has_steps(name):
            step = float((max(values) / min(values)) ** (0.5 / (len(values) - 1)))
            found[name] += [float(f"{best * factor:.3g}") for factor in (1 / step, step)]
    return found


def _has_steps(name: str) -> bool:
    """Whether a parameter is finely tuned: those that decide most."""
    return name.rpartition("__")[2] in _FINELY


def tune(
    estimator: Any,
    grid: Mapping[str, list[Any]],
    frame: Any,
    y: Array,
    splits: Sequence[tuple[Array, Array]],
    measure: ErrorMeasure,
    time_limit: float | None = None,
) -> tuple[Any, dict]:
    """The best parameters, and the table of all that was tried; of what there was time for, where it is limited.

    Where the best value of a parameter lies on the edge of the grid, values beyond it are tried as long as they are
    better.

    Returns
    -------
    params : dict
        For ``set_params`` of the estimator.
    facts : dict
    """
    start = time.perf_counter()

    def left() -> float | None:
        return None if time_limit is None else time_limit - (time.perf_counter() - start)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of candidates that lose; the final fit says what is wrong with the winner
        scoring = measure.scorer or measure.scoring
        searches = [search(estimator, grid, splits, scoring, time_limit).fit(frame, y)]
        best = searches[0]
        for _ in range(_BEYOND):
            further = beyond_edges(best, grid)
            time_left = left()
            if not further or searches[-1].stopped_ or (time_left is not None and time_left <= 0):
                break
            try:
                searches.append(search(estimator, further, splits, scoring, time_left).fit(frame, y))
            except ValueError:  # no setting there could be fitted, or in time
                break
            if not searches[-1].best_score_ > best.best_score_:
                break
            best = searches[-1]
    candidates = [one for found in searches for one in _candidates(found, measure)]
    scores = [one["validation"]["mean"] for one in candidates]
    chosen = int(np.argmin([np.inf if score is None else score for score in scores]))
    order = sorted(range(len(candidates)), key=lambda k: np.inf if scores[k] is None else scores[k])
    for rank, k in enumerate(order):
        candidates[k]["rank"] = rank + 1
    facts = {
        "rows": len(y),
        "folds": len(splits),
        "candidates": candidates,
        "best": chosen,
        "advice": [
            {"kind": str(fact.kind), "message": _with_short_names(text(fact.message), grid)}
            for fact in getattr(best, "advice_", [])
            if best is searches[-1] or fact.kind != "edge"  # beyond that edge nothing is better
        ],
        "seconds": number(time.perf_counter() - start, 4),
        "stopped": next((found.stopped_ for found in searches if found.stopped_), None),
    }
    return best.best_params_, facts


def beyond_edges(found: Any, grid: Mapping[str, list[Any]]) -> dict[str, list[Any]] | None:
    """Settings beside the best one of a search, beyond the edge of what it tried; ``None`` without an edge."""
    further = {
        fact.facts["parameter"]: fact.facts["next"] for fact in getattr(found, "advice_", []) if fact.kind == "edge"
    }
    if not further:
        return None
    tried = found.cv_results_["params"]
    around = {}
    for name, best in found.best_params_.items():
        values = sorted({params[name] for params in tried}) if is_number(best) else [best]
        place = values.index(best)
        around[name] = [further[name]] if name in further else values[max(0, place - 1) : place + 2]
    return around


def _candidates(found: Any, measure: ErrorMeasure) -> list[dict[str, Any]]:
    """The settings of a search, with their errors."""
    table = found.cv_results_
    return [
        {
            "params": short_params(params),
            "train": _error(table, "train", k, measure),
            "validation": _error(table, "test", k, measure),
            "fit_seconds": number(table["mean_fit_time"][k], 3),
        }
        for k, params in enumerate(table["params"])
    ]


def folds_in_words(tuning: Mapping[str, Any]) -> str:
    """How rows were held out: in all folds by turns, or in some of them where rows are many.

    Examples
    --------
    >>> folds_in_words({"folds": 5, "of_folds": 5}), folds_in_words({"folds": 1, "of_folds": 5})
    ('5-fold cross-validation', 'cross-validation with 1 of 5 folds held out')
    """
    folds, whole = tuning["folds"], tuning.get("of_folds", tuning["folds"])
    if folds == whole:
        return f"{whole}-fold cross-validation"
    return f"cross-validation with {folds} of {whole} folds held out"


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
