"""A study of learners of numbers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import learning_curve

from ..checks import extreme_in_words
from ..learners import Learner, spread_of
from ..messages import in_digits
from ..runtime import Array
from .base import Run, Study, Tested
from .facts import of_machine
from .learning import Learning
from .measures import (
    NUMBERS,
    all_scores,
    drawn_weights,
    error_of_numbers,
    half_width,
    half_widths,
    interval_of_rmse,
    out_of_fold_residuals,
    scored,
)
from .predictions import Predictions, number, numbers
from .scorings import asked_quantile, measure_named, number_measures
from .tuning import Choice, choose, sample
from .verdicts import by_scores, compare_errors, fit_of_numbers, headline_of_numbers

#: Fewest rows of a study, points of a drawing, bins of a histogram, errors that are listed.
_LEAST, _POINTS, _BINS, _LISTED = 20, 400, 30, 10
#: The share of new values that intervals are to hold.
_COVERAGE = 0.9
#: Fits of the chosen learner that residuals and the learning curve take, about.
_FITS = 10
#: Shares of the rows that a learning curve stops at, its folds, and the most rows it takes.
_SHARES, _CURVE_FOLDS, _CURVE_ROWS = (0.1, 0.2, 0.4, 0.7, 1.0), 3, 2000
#: Seconds of a fit from which on a learning curve is drawn from one fold.
_LONG = 1.0


class NumberStudy(Study):
    """Which number is it?"""

    task = "regress"
    measure = NUMBERS
    #: Which quantile is to be predicted, where somebody asked for the loss of one.
    quantile: float | None = None
    usual_learners = (
        "table-regression",
        "ridge",
        "huber",
        "ridge-2",
        "kernel-ridge",
        "kernel-huber",
        "svr",
        "quantile",
    )
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

    def judge(self, y: Array, scoring: str | None, positive: Any) -> dict[str, Any]:
        """By the RMSE, unless somebody asks for another measure."""
        if positive is not None:
            raise ValueError("a positive class is one of two classes, and numbers are to be learned.")
        self.measure = measure_named(scoring or "rmse", "regress")
        self.quantile = asked_quantile(scoring) if self.measure.scoring == "neg_mean_pinball_loss" else None
        self.measures = number_measures(self.quantile or 0.5)
        why = None if scoring else "It is in the unit of the target, and large errors count most."
        return {
            "scoring": {"name": self.measure.scoring, "title": self.measure.title, "why": why, "asked": bool(scoring)}
        }

    def split_facts(self, y: Array, train: Array, test: Array) -> dict[str, Any]:
        unit = f"Widths of losses were tried in units of the spread of the training targets, {spread_of(y[train]):g}."
        return {"notes": [unit]}

    def for_targets(self, learner: Learner, y: Array) -> Learner:
        return self.for_measure(learner.in_units(spread_of(y)))

    def for_measure(self, learner: Learner) -> Learner:
        if self.quantile is not None and "quantiles" in learner.fixed:
            title = learner.title.replace("median", f"{self.quantile:g}-quantile")
            return replace(learner, title=title, fixed={**learner.fixed, "quantiles": self.quantile})
        return learner

    def on_training_rows(self, model: Any, rows: Any, y: Array, found: Predictions) -> dict[str, Any]:
        facts = {"train": _error(y, found.predicted), **of_machine(model, len(y)), "bounds": []}
        if not self.measure.is_usual:
            facts["train"]["score"] = scored(self.measure, y, found, drawn_weights(len(y), 0))
        return facts

    def on_test_rows(self, found: Predictions, y: Array, run: Run, weights: Array) -> dict[str, Any]:
        return {
            "test": _error(y, found.predicted),
            "predict_microseconds": number(1e6 * found.seconds / len(y), 3),
            "predictions": _drawn(y, found.predicted),
            "scores": all_scores(self.measures.values(), y, found, weights),
        }

    def conclusions(
        self, learners: list[dict[str, Any]], tested: Tested, known: dict[str, Any] | None
    ) -> dict[str, Any]:
        y, test = tested.y, tested.test
        mean = float(y[tested.train].mean())
        baseline = {"title": "The mean", "value": number(mean), **_error(y[test], np.full(len(test), mean))}
        choice = choose(learners, tested.nested)
        residuals = {name: y[test] - found.predicted for name, found in tested.found.items()}
        if self.measure.is_usual:
            judged = _by_residuals(learners, residuals, tested, choice, baseline, y[test] - mean)
        else:
            judged = by_scores(self.measure, learners, tested, choice, self._guess(tested))
        left = residuals[choice.name]
        worst = np.argsort(-np.abs(left), kind="stable")[:_LISTED]
        return {
            **judged,
            "baseline": baseline,
            **_beside_test_rows(known, left),
            "worst": [
                {
                    "row": int(test[k]) + 1,
                    "where": tested.where(int(test[k])),
                    "true": number(y[test[k]]),
                    "predicted": number(y[test[k]] - left[k]),
                    "difference": number(left[k]),
                }
                for k in worst
            ],
        }

    def _guess(self, tested: Tested) -> tuple[str, Predictions]:
        """The constant that does best on the training rows by the measure, on the test rows."""
        learned, rows = tested.y[tested.train], len(tested.test)
        if self.quantile is not None:
            title, constant = f"the {self.quantile:g}-quantile", np.quantile(learned, self.quantile)
        elif self.measure.scoring == "neg_mean_absolute_error":
            title, constant = "the median", np.median(learned)
        else:
            title, constant = "the mean", learned.mean()
        return f"always answering {title} of the training rows", Predictions(np.full(rows, float(constant)))

    def seconds_of_pictures(self, runs: Sequence[Run]) -> float:
        chosen = choose([run.facts for run in runs]).name
        return _FITS * next(run.facts["fit_seconds"] for run in runs if run.learner.name == chosen)

    def from_training_rows(self, runs: Sequence[Run], learning: Learning) -> dict[str, Any]:
        chosen = choose([run.facts for run in runs]).name
        run = next(run for run in runs if run.learner.name == chosen)
        model = run.model
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong with the chosen learner was said when it was fitted
            left = out_of_fold_residuals(
                model, learning.table, learning.y, learning.seed, learning.division, learning.rows
            )
            folds = _CURVE_FOLDS if run.facts["fit_seconds"] < _LONG else 1
            curve = _learning_curve(model, learning, folds)
        edges = np.histogram_bin_edges(left, _BINS)
        return {
            "half_widths": half_widths(left),
            "residuals": {"edges": numbers(edges, 8), "out_of_fold": np.histogram(left, edges)[0].tolist()},
            "learning_curve": curve,
        }


def _by_residuals(
    learners: list[dict[str, Any]],
    residuals: Mapping[str, Array],
    tested: Tested,
    choice: Choice,
    baseline: dict[str, Any],
    constant: Array,
) -> dict[str, Any]:
    """Verdicts, paired tests and the answer by squared errors; ``constant`` is what the mean leaves of each target."""
    best_test = min((one["test"] for one in learners), key=lambda error: error["rmse"])
    for one in learners:
        one["verdict"] = fit_of_numbers(one, residuals[one["name"]], best_test, baseline, constant)
    pairs = compare_errors([one["name"] for one in learners], tested.targets, tested.found, choice.name)
    return {
        "answer": headline_of_numbers(learners, pairs, choice, baseline),
        "learners": sorted(learners, key=lambda one: one["test"]["rmse"]),
        "pairs": pairs,
    }


def _beside_test_rows(known: dict[str, Any] | None, tested: Array) -> dict[str, Any]:
    """Intervals, residuals and the learning curve of the chosen learner, with what the test rows say to them."""
    if known is None:
        return {"intervals": None, "residuals": None, "learning_curve": None}
    edges = np.array(known["residuals"]["edges"])
    inside = np.clip(tested, edges[0], edges[-1])  # the outermost bins hold what lies beyond them
    return {
        "intervals": _intervals(half_width(known["half_widths"], _COVERAGE), tested),
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


def _learning_curve(model: Any, learning: Learning, folds: int) -> dict[str, Any]:
    """The errors of the chosen learner that has seen fewer rows, drawn at random, on these rows and on others."""
    table, y, rows, seed, division = learning.table, learning.y, learning.rows, learning.seed, learning.division
    kept = sample(y, _CURVE_ROWS, seed, even=False)
    if kept is not None:
        table, y, rows = table.take(kept), y[kept], rows[kept]
    splits = division.folds(rows, y, min(_CURVE_FOLDS, max(2, division.most_folds(rows, y))), seed)
    # In the order of time the rows to learn from are few at first: what is drawn ends where the smallest part does.
    most = max(len(train) for train, _ in splits)
    large = sorted((split for split in splits if 2 * len(split[0]) > most), key=lambda split: len(split[0]))[-folds:]
    sizes, train, validation = learning_curve(
        clone(model),
        table.X,
        y,
        train_sizes=_SHARES,
        cv=large,
        scoring=NUMBERS.scoring,
        error_score=np.nan,
        shuffle=True,
        random_state=seed,
    )
    return {
        "rows": sizes.tolist(),
        "train": numbers(-train.mean(axis=1)),
        "validation": numbers(-validation.mean(axis=1)),
        "sd": numbers(validation.std(axis=1)),
    }
