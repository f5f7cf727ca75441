"""Scores of learners on test rows, with intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .error_measure import ErrorMeasure
from .plain import number
from .predictions import Predictions
from .significance import CONFIDENCE, wilson
from .weighted_scores import on_all_rows, over_draws


def draws_of(measure: ErrorMeasure, y: Array, found: Predictions, weights: Array) -> Array:
    """scikit-learn's score in each draw of rows; scores of many classes, which cost a curve each, in fewer draws."""
    if measure.needs == "scores" and found.classes is not None and len(found.classes) > 2:
        weights = weights[: max(100, len(weights) // len(found.classes))]
    return measure.score(over_draws(measure.weighted, y, found, weights))


def scored(measure: ErrorMeasure, y: Array, found: Predictions, weights: Array) -> dict[str, Any]:
    """A score with its interval: Wilson's for the accuracy, of which there is a formula, else by drawing rows again."""
    value = measure.score(on_all_rows(measure.weighted, y, found))
    if measure.scoring == "accuracy":
        low, high = wilson(int(np.sum(found.predicted == y)), len(y))
    else:
        tail = (1 - CONFIDENCE) / 2
        drawn = draws_of(measure, y, found, weights)
        drawn = drawn[np.isfinite(drawn)]
        low, high = np.quantile(drawn, [tail, 1 - tail]) if drawn.size else (np.nan, np.nan)
    return {
        "value": number(value),
        "low": number(low),
        "high": number(high),
        "title": measure.title,
        "words": measure.in_words(number(value)),
    }


def all_scores(measures: Iterable[ErrorMeasure], y: Array, found: Predictions, weights: Array) -> dict[str, Any]:
    """Every score that a learner can have, by its name in scikit-learn."""
    return {
        measure.scoring: scored(measure, y, found, weights)
        for measure in measures
        if measure.needs != "probabilities" or found.probabilities is not None
    }
