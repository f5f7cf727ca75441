"""Nested cross-validation: every row is tested once, by a learner that was tuned and fitted without its fold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..io.table import DataError
from ..learners.learner import Learner
from .learning import Learning
from .predictions import Predictions, predictions_of, put_together


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
