"""A study of learners of numbers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold, learning_curve

from .._runtime.compile import Array
from .._validation.target_kind import extreme_in_words
from ..learners import spread_of
from ..learners.learner import Learner
from .error_measure import NUMBERS
from .learner_facts import of_machine
from .number_errors import (
    error_of_numbers,
    half_width,
    half_widths,
    in_digits,
    interval_of_rmse,
    out_of_fold_residuals,
)
from .number_verdicts import compare_errors, fit_of_numbers, headline_of_numbers
from .plain import number, numbers
from .study import Run, Study, chosen_of
from .tuning import sample

#: Fewest rows of a study, points of a drawing, bins of a histogram, errors that are listed.
_LEAST, _POINTS, _BINS, _LISTED = 20, 400, 30, 10
#: The share of new values that intervals are to hold.
_COVERAGE = 0.9
#: Shares of the rows that a learning curve stops at, its folds, and the most rows it takes.
_SHARES, _CURVE_FOLDS, _CURVE_ROWS = (0.1, 0.2, 0.4, 0.7, 1.0), 3, 2000


class NumberStudy(Study):
    """Which number is it?"""

    measure = NUMBERS
    usual_learners = ("ridge", "huber", "ridge-2", "kernel-ridge", "kernel-huber", "svr", "quantile")
    structured_learners = ("kernel-ridge", "kernel-huber", "svr", "quantile")

    def checked(self, table: Any) -> Array:
        y = np.asarray(table.y, dtype=np.float64)
        if np.ptp(y) == 0:
            raise ValueError(f"the target {table.target!r} has only one value, {y[0]:g}; there is nothing to learn.")
        if extreme := extreme_in_words(table.target, y):
            raise ValueError(extreme)
        if y.size < _LEAST:
            raise ValueError(
                f"{table.name} has only {y.size} rows; a comparison needs {_LEAST}, for training, validation and test."
            )
        return y

    def strata(self, y: Array) -> Array | None:
        return None

    def folds(self, y: Array, cv: int) -> int:
        return min(cv, len(y) // 2)

    def splitter(self, folds: int, seed: int) -> Any:
        return KFold(folds, shuffle=True, random_state=seed)

    def split_facts(self, y: Array, train: Array, test: Array, cv: int, folds: int) -> dict[str, Any]:
        notes = [] if folds == cv else [f"{folds} folds instead of {cv}: there are no more training rows."]
        unit = f"Widths of losses were tried in units of the spread of the training targets, {spread_of(y[train]):g}."
        return {"notes": [*notes, unit]}

    def for_targets(self, learner: Learner, y: Array) -> Learner:
        return learner.in_units(spread_of(y))

    def on_training_rows(self, model: Any, rows: Any, y: Array) -> dict[str, Any]:
        return {"train": _error(y, model.predict(rows)), **of_machine(model, len(y)), "bounds": []}

    def on_test_rows(self, model: Any, rows: Any, y: Array, run: Run) -> tuple[dict[str, Any], Array]:
        start = time.perf_counter()
        predicted = model.predict(rows)
        seconds = time.perf_counter() - start
        facts = {
            "test": _error(y, predicted),
            "predict_microseconds": number(1e6 * seconds / len(y), 3),
            "predictions": _drawn(y, predicted),
        }
        return facts, y - predicted

    def conclusions(
        self,
        learners: list[dict[str, Any]],
        outcomes: Mapping[str, Array],
        y: Array,
        train: Array,
        test: Array,
        known: dict[str, Any] | None,
        where: Callable[[int], str],
    ) -> dict[str, Any]:
        mean = float(y[train].mean())
        constant = y[test] - mean
        baseline = {"title": "The mean", "value": number(mean), **_error(y[test], np.full(len(test), mean))}
        chosen = chosen_of(learners)
        best_test = min((one["test"] for one in learners), key=lambda error: error["rmse"])
        for one in learners:
            one["verdict"] = fit_of_numbers(one, outcomes[one["name"]], best_test, baseline, constant)
        pairs = compare_errors([one["name"] for one in learners], outcomes, chosen)
        worst = np.argsort(-np.abs(outcomes[chosen]), kind="stable")[:_LISTED]
        return {
            "answer": headline_of_numbers(learners, pairs, chosen, baseline),
            "baseline": baseline,
            "learners": sorted(learners, key=lambda one: one["test"]["rmse"]),
            "pairs": pairs,
            **_beside_test_rows(known, outcomes[chosen]),
            "worst": [
                {
                    "row": int(test[k]) + 1,
                    "where": where(int(test[k])),
                    "true": number(y[test[k]]),
                    "predicted": number(y[test[k]] - outcomes[chosen][k]),
                    "difference": number(outcomes[chosen][k]),
                }
                for k in worst
            ],
        }

    def from_training_rows(self, runs: Sequence[Run], learn: Any, y: Array, seed: int) -> dict[str, Any]:
        chosen = chosen_of([run.facts for run in runs])
        model = next(run.model for run in runs if run.learner.name == chosen)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong with the chosen learner was said when it was fitted
            left = out_of_fold_residuals(model, learn, y, seed)
            curve = _learning_curve(model, learn, y, seed)
        edges = np.histogram_bin_edges(left, _BINS)
        return {
            "half_width": half_width(half_widths(left), _COVERAGE),
            "residuals": {"edges": numbers(edges, 8), "out_of_fold": np.histogram(left, edges)[0].tolist()},
            "learning_curve": curve,
        }


def _beside_test_rows(known: dict[str, Any] | None, tested: Array) -> dict[str, Any]:
    """Intervals, residuals and the learning curve of the chosen learner, with what the test rows say to them."""
    if known is None:
        return {"intervals": None, "residuals": None, "learning_curve": None}
    edges = np.array(known["residuals"]["edges"])
    inside = np.clip(tested, edges[0], edges[-1])  # the outermost bins hold what lies beyond them
    return {
        "intervals": _intervals(known["half_width"], tested),
        "residuals": {**known["residuals"], "test": np.histogram(inside, edges)[0].tolist()},
        "learning_curve": known["learning_curve"],
    }


def _intervals(reach: float | None, tested: Array) -> dict[str, Any] | None:
    """How far errors reach, as rows show that were left out in cross-validation, and whether the test rows agree."""
    if reach is None:
        return None
    inside = float(np.mean(np.abs(tested) <= reach))
    words = (
        f"{100 * _COVERAGE:.0f} % of new values are expected within ± {in_digits(reach)} of the prediction, as rows "
        f"left out in cross-validation show; {100 * inside:.1f} % of the test rows are."
    )
    return {"coverage": _COVERAGE, "half_width": number(reach), "inside": number(inside, 4), "words": words}


def _error(y: Array, predicted: Array) -> dict[str, Any]:
    """The error on some rows, with the interval of its RMSE."""
    found = error_of_numbers(y, predicted)
    low, high = interval_of_rmse(y - predicted)
    rounded = {name: number(found[name]) for name in ("rmse", "mae", "r2")}
    return {**rounded, "rows": found["rows"], "low": number(low), "high": number(high)}


def _drawn(y: Array, predicted: Array) -> dict[str, Any]:
    """True and predicted values of some rows, as they are drawn."""
    shown = sample(y, _POINTS, 0, even=False)
    shown = np.arange(len(y)) if shown is None else shown
    return {"true": numbers(y[shown], 5), "predicted": numbers(predicted[shown], 5)}


def _learning_curve(model: Any, learn: Any, y: Array, seed: int) -> dict[str, Any]:
    """The errors of the chosen learner that has seen fewer rows, on these rows and on others."""
    kept = sample(y, _CURVE_ROWS, seed, even=False)
    if kept is not None:
        learn, y = learn.take(kept), y[kept]
    cv = KFold(_CURVE_FOLDS, shuffle=True, random_state=seed)
    sizes, train, validation = learning_curve(
        clone(model), learn.X, y, train_sizes=_SHARES, cv=cv, scoring=NUMBERS.scoring, error_score=np.nan
    )
    return {
        "rows": sizes.tolist(),
        "train": numbers(-train.mean(axis=1)),
        "validation": numbers(-validation.mean(axis=1)),
        "sd": numbers(validation.std(axis=1)),
    }
