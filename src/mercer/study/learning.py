"""One learner on its way through a study: tuned by cross-validation inside the training rows, then fitted on them."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..composition import machine_of, parameter_prefix
from ..io import DataError
from ..learners import Learner
from ..runtime import Array
from .base import Run, Study
from .predictions import Predictions, number, predictions_of, put_together, text
from .preparation import Preparation, fitted_rows
from .splits import Division
from .tuning import sample, settings_around, short_params, tune

#: Rows that are held out in cross-validation altogether, about: of more rows fewer folds are held out.
_HELD_OUT = 13_000
#: The part of a fold's time that fitting may take; the rest is for predictions.
_FITTING = 0.8
#: Cells of a table of products beyond which fewer rows are fitted.
_CELLS = 30_000_000


@dataclass(frozen=True)
class Tuned:
    """A learner with its best parameters."""

    learner: Learner
    estimator: Any
    params: dict[str, Any]
    facts: dict[str, Any]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Learning:
    """Training rows, and how learners learn from them.

    ``rows`` are the places of the training rows in the whole table, ``y`` their targets, ``width`` the number of
    columns after preparation. With ``screens``, learners are tuned on few rows first, and those that can win on all.
    """

    study: Study
    preparation: Preparation
    table: Any
    y: Array
    rows: Array
    division: Division
    folds: int
    repeats: int
    seed: int
    width: int = 1
    screens: bool = True

    def learned(self, learner: Learner) -> Run:
        """Tune a learner on all rows and fit it, whatever time it takes."""
        return self.fitted(self.tuned(learner, len(self.y)))

    def folds_of(self, rows: int) -> int:
        """How many folds of so many rows are held out in turn."""
        return max(1, min(self.folds, _HELD_OUT // max(1, rows)))

    def tuned(self, learner: Learner, most: int, seconds: float | None = None, around: Tuned | None = None) -> Tuned:
        """The best setting of a learner, by cross-validation of at most ``most`` rows; fewer, where fits take minutes.

        ``around`` is what was found on fewer rows: settings near it are tried.
        """
        most = most if learner.most_rows is None else min(most, learner.most_rows)
        chosen = sample(self.y, most, self.seed, self._even)
        part = self.table if chosen is None else self.table.take(chosen)
        places = np.arange(len(self.y)) if chosen is None else chosen
        # Of few rows all repeats are for those that contend.
        final = around is not None or (chosen is None and (self.repeats == 1 or not self.screens))
        repeats = self.repeats if final else 1
        estimator = self.preparation.pipeline_to(learner.build(random_state=self.seed))
        folds = min(self.folds, self.division.most_folds(self.rows[places], self.y[places]))
        splits = self.division.folds(self.rows[places], self.y[places], folds, self.seed, repeats)
        splits = splits if repeats > 1 else splits[-self.folds_of(len(places)) :]
        grid = learner.search_grid(estimator)
        if around is not None:
            grid = settings_around(grid, around.params)
        searched = estimator
        if learner.prepares and seconds is not None:  # what it chooses by itself, it chooses in its share of the time
            limit = f"{parameter_prefix(estimator)}time_limit"
            searched = clone(estimator).set_params(**{limit: _FITTING * seconds / len(splits)})
        params, facts = tune(searched, grid, part.X, self.y[places], splits, self.study.measure, seconds)
        facts.update(folds=len(splits) // repeats, of_folds=folds, repeats=repeats, final=final)
        notes = () if chosen is None else (self._about("Tuned", len(places)),)
        if facts["stopped"]:
            notes = (*notes, f"Its time was over after {_tried(facts)} of {len(facts['candidates'])} settings.")
        return Tuned(learner, estimator, params, facts, notes)

    def fitted(self, tuned: Tuned, most: int | None = None, seconds: float | None = None) -> Run:
        """The tuned learner, fitted on the training rows, or on so many of them, in about so much time."""
        chosen = sample(self.y, self._most_fitted(tuned.learner, most), self.seed, self._even)
        part = self.table if chosen is None else self.table.take(chosen)
        labels = self.y if chosen is None else self.y[chosen]
        model = clone(tuned.estimator).set_params(**tuned.params)
        limit = f"{parameter_prefix(model)}time_limit"
        if seconds is not None and limit in model.get_params():
            model.set_params(**{limit: seconds})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            begin = time.perf_counter()
            model.fit(part.X, labels)
            spent = time.perf_counter() - begin
        places = self.rows if chosen is None else self.rows[chosen]
        if (outliers := getattr(model, "filter_", None)) is not None:
            places = places[np.flatnonzero(outliers.keep(part.X))]
        rows, labels = fitted_rows(model, part, labels)
        learner, machine, found = tuned.learner, machine_of(model), predictions_of(model, rows)
        fitted_on = () if chosen is None else (self._about("Fitted", len(chosen)),)
        facts = {
            "name": learner.name,
            "title": learner.title,
            "short_title": learner.short_title or learner.title,
            "family": learner.family,
            "fixed": short_params(learner.fixed),
            "params": short_params(tuned.params),
            "kernel": str(machine.kernel_) if learner.takes_kernel and hasattr(machine, "kernel_") else None,
            "converged": str(getattr(machine, "status_", "converged")) == "converged",
            "tuned_rows": tuned.facts["rows"],
            "fitted_rows": len(labels),
            "tuning": tuned.facts,
            "fit_seconds": number(spent, 4),
            "warnings": sorted({text(warning.message) for warning in caught}),
            "notes": [*tuned.notes, *fitted_on],
            **self.study.on_training_rows(model, rows, labels, found),
        }
        return Run(learner, facts, model, rows, labels, found, places)

    def _most_fitted(self, learner: Learner, most: int | None) -> int:
        """The rows that a learner is fitted on at most."""
        rows = min(len(self.y), len(self.y) if most is None else most, learner.most_rows or len(self.y))
        if learner.degree > 1:
            rows = min(rows, max(1, _CELLS // max(1, self.width**learner.degree // 2)))
        return rows

    @property
    def _even(self) -> bool:
        return self.study.strata(self.y) is not None

    def _about(self, done: str, rows: int) -> str:
        drawn = "drawn at random within each class" if self._even else "drawn at random"
        return f"{done} on {rows:,} of {len(self.y):,} training rows, {drawn}."


def _tried(facts: dict[str, Any]) -> int:
    """Settings that have a score."""
    return sum(one["validation"]["mean"] is not None for one in facts["candidates"])


# Nested cross-validation: every row is tested once, by a learner that was tuned and fitted without its fold.


def nested_predictions(learning: Learning, learner: Learner) -> Predictions:
    """What a learner says of each row that it has neither been tuned nor fitted with."""
    rows = np.arange(len(learning.y))
    outer = learning.division.folds(learning.rows, learning.y, learning.folds, learning.seed)
    if sum(len(test) for _, test in outer) < len(rows):
        raise DataError(
            "some class is in too few groups for nested cross-validation, in which each group is left out in turn; "
            "leave out nested, or the class."
        )
    parts = []
    for train, test in outer:
        inside = replace(
            learning,
            table=learning.table.take(train),
            y=learning.y[train],
            rows=learning.rows[train],
            folds=min(learning.folds, learning.division.most_folds(learning.rows[train], learning.y[train])),
        )
        model = inside.learned(learner).model
        parts.append((test, predictions_of(model, learning.table.take(test).X)))
    return put_together(parts)
