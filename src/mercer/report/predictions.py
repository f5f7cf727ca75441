"""What a fitted model says of some rows: answers, scores and probabilities, asked for once."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.unwrapped import learner_of
from ..tables import TableMachine


@dataclass(frozen=True)
class Predictions:
    """What a model says of rows, in their order.

    Attributes
    ----------
    predicted : array
        Labels or numbers.
    scores : array, optional
        Decision values: one for each row, or a column for each class.
    probabilities : array, optional
        A column for each class, where the model has any.
    classes : array, optional
    seconds : float
        How long it took.
    """

    predicted: Array
    scores: Array | None = None
    probabilities: Array | None = None
    classes: Array | None = None
    seconds: float = 0.0

    def score_for(self, label: Any) -> Array:
        """How much each row looks like one class, larger for more."""
        assert self.scores is not None
        assert self.classes is not None
        if self.scores.ndim == 1:
            return self.scores if label == self.classes[1] else -self.scores
        return self.scores[:, int(np.searchsorted(self.classes, label))]

    def probability_of(self, label: Any) -> Array | None:
        """The probability of one class for each row."""
        if self.probabilities is None or self.classes is None:
            return None
        return self.probabilities[:, int(np.searchsorted(self.classes, label))]


def predictions_of(model: Any, rows: Any) -> Predictions:
    """All that a fitted model says of rows; a classifier is asked for its decision values alone, and once."""
    start = time.perf_counter()
    if not hasattr(model, "classes_"):
        predicted = np.asarray(model.predict(rows), dtype=np.float64)
        return Predictions(predicted, seconds=time.perf_counter() - start)
    scores = model.decision_function(rows)
    seconds = time.perf_counter() - start
    learner = learner_of(model)
    probabilities = learner.probabilities_of(scores) if hasattr(model, "predict_proba") else None
    return Predictions(labels_of(learner, scores), scores, probabilities, model.classes_, seconds)


def labels_of(learner: Any, scores: Array) -> Array:
    """The labels that belong to decision values: estimators of tables answer by probabilities."""
    if isinstance(learner, TableMachine):
        codes = learner.probabilities_of(scores).argmax(axis=1)
    else:
        codes = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return learner.classes_[codes]


def put_together(parts: Sequence[tuple[Array, Predictions]]) -> Predictions:
    """The predictions of parts of the rows, each with the numbers of its rows, in the order of the rows."""
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))

    def joined(name: str) -> Any:
        values = [getattr(part, name) for _, part in parts]
        return None if any(value is None for value in values) else np.concatenate(values)[order]

    seconds = sum(part.seconds for _, part in parts)
    return Predictions(joined("predicted"), joined("scores"), joined("probabilities"), parts[0][1].classes, seconds)
