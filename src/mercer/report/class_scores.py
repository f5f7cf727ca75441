"""How well a learner does on the test rows of each class, and at each threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import precision_recall_curve, precision_recall_fscore_support, roc_curve

from .._runtime.compile import Array
from .plain import number, text
from .predictions import Predictions

#: Points of a curve at most, and bins of probabilities with the rows that each holds at least.
_POINTS, _BINS, _ROWS_IN_BIN = 200, 10, 5


def by_class(y: Array, found: Predictions) -> list[dict[str, Any]]:
    """How many rows of each class there are, how many were answered so, and how right that was.

    A class that is never answered has no precision.
    """
    precision, recall, f1, rows = precision_recall_fscore_support(
        y, found.predicted, labels=found.classes, zero_division=np.nan
    )
    assert found.classes is not None
    return [
        {
            "label": text(label),
            "rows": int(rows[k]),
            "answered": int(np.sum(found.predicted == label)),
            "precision": number(precision[k]),
            "recall": number(recall[k]),
            "f1": number(f1[k]),
        }
        for k, label in enumerate(found.classes)
    ]


def curves(y: Array, found: Predictions, positive: Any) -> dict[str, Any] | None:
    """ROC, precision over recall, and calibration for one of two classes; ``None`` where the rows hold one class."""
    of_class = y == positive
    if of_class.all() or not of_class.any():
        return None
    scores = found.score_for(positive)
    wrongly, rightly, _ = roc_curve(of_class, scores)
    precision, recall, _ = precision_recall_curve(of_class, scores)
    return {
        "positive": text(positive),
        "roc": _thinned(wrongly, rightly),
        "pr": _thinned(recall[::-1], precision[::-1]),
        "calibration": _calibration(of_class, found.probability_of(positive)),
    }


def _calibration(of_class: Array, probability: Array | None) -> list[list[Any]] | None:
    """For bins of about as many rows each: mean probability, share of the class, and rows."""
    if probability is None:
        return None
    bins = max(1, min(_BINS, len(of_class) // _ROWS_IN_BIN))
    share, mean = calibration_curve(of_class, probability, n_bins=bins, strategy="quantile")
    edges = np.quantile(probability, np.linspace(0, 1, bins + 1))
    rows = np.bincount(np.searchsorted(edges[1:-1], probability), minlength=bins)
    return [
        [number(one), number(other), int(held)] for one, other, held in zip(mean, share, rows[rows > 0], strict=True)
    ]


def _thinned(across: Array, upwards: Array) -> list[list[float | None]]:
    """Points of a curve, its ends among them, no more than can be drawn."""
    places = np.arange(len(across))
    if len(across) > _POINTS:
        places = np.unique(np.linspace(0, len(across) - 1, _POINTS).round().astype(int))
    return [[number(across[k], 5), number(upwards[k], 5)] for k in places]
