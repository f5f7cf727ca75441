"""Everything there is to know about one fitted learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix

from .. import margins as bounds_of
from .._runtime.compile import Array
from .._validation.unwrapped import machine_of, rows_at_machine
from ..displays import MarginHistogram, WeightTable
from ..estimators import SVC
from ..margins import decision_margins
from .plain import number, numbers, text
from .predictions import Predictions
from .significance import error_rate

#: Weights that are kept, and products of columns among them.
_WEIGHTS, _PRODUCTS = 40, 15


def on_training_rows(model: Any, frame: Any, y: Array, found: Predictions) -> dict[str, Any]:
    """What a fitted model shows without any test row."""
    wrong = int(np.sum(found.predicted != y))
    learner, rows = machine_of(model), rows_at_machine(model, frame)
    return {
        "train": error_rate(wrong, len(y)),
        **of_machine(model, len(y)),
        "bounds": _bounds(learner, rows, y, wrong),
    }


def of_machine(model: Any, rows: int) -> dict[str, Any]:
    """What a fitted machine says of itself, whatever it learned."""
    learner = machine_of(model)
    support = getattr(learner, "support_", None)
    return {
        "support": None if support is None else {"number": len(support), "share": number(len(support) / rows)},
        "status": str(getattr(learner, "status_", "")),
        "weights": _weights(model),
        "certificate": _certificate(learner),
    }


def on_test_rows(found: Predictions, y: Array, trained: Predictions, train_y: Array) -> dict[str, Any]:
    """Mistakes on the test rows, and how clearly they were decided beside those that were learned from."""
    classes: Any = found.classes
    scores: Any = found.scores
    histogram = MarginHistogram.from_predictions(
        decision_margins(np.asarray(trained.scores), np.searchsorted(classes, train_y)),
        decision_margins(scores, np.searchsorted(classes, y)),
    )
    return {
        "test": error_rate(int(np.sum(found.predicted != y)), len(y)),
        "predict_microseconds": number(1e6 * found.seconds / len(y), 3),
        "confusion": confusion_matrix(y, found.predicted, labels=classes).tolist(),
        "margins": {
            "edges": numbers(histogram.edges, 5),
            "train": histogram.train_counts.tolist(),
            "test": None if histogram.test_counts is None else histogram.test_counts.tolist(),
        },
    }


def _weights(model: Any) -> dict[str, Any] | None:
    """The heaviest features of a linear model and, where columns were multiplied, the heaviest products."""
    if not hasattr(machine_of(model), "coef_"):
        return None
    table = WeightTable.from_estimator(model)
    shown, products = table.top(_WEIGHTS), table.interactions().top(_PRODUCTS)
    return {
        "features": [text(name) for name in shown.features],
        "values": numbers(shown.weights[:, 0], 4),
        "left_out": len(table.features) - len(shown.features),
        "signed": len(machine_of(model).coef_) == 1,
        "interactions": [
            {"feature": text(name), "value": number(value, 4)}
            for name, value in zip(products.features, products.weights[:, 0], strict=True)
        ],
    }


def _certificate(learner: Any) -> dict[str, Any] | None:
    """How far at most the model is from the best one of its kind."""
    if not hasattr(learner, "duality_gap_"):
        return None
    gap, objective = np.atleast_1d(learner.duality_gap_), np.atleast_1d(learner.objective_)
    if not np.isfinite(gap).all():
        return None
    worst = int(np.argmax(gap / np.maximum(objective, 1e-300)))
    share = float(gap[worst] / max(objective[worst], 1e-300))
    words = (
        f"Certified: its objective is within {_percent(share)} of the best possible one."
        if share < 0.5
        else "Its certificate is loose: the objective may still be far from the best possible one."
    )
    return {
        "gap": number(gap[worst]),
        "objective": number(objective[worst]),
        "relative": number(share, 3),
        "problems": int(gap.size),
        "words": words,
    }


def _bounds(learner: Any, rows: Any, y: Array, wrong: int) -> list[dict[str, Any]]:
    """What theory promises about new rows from the training rows alone."""
    found = []
    n, two = len(y), len(learner.classes_) == 2
    if hasattr(learner, "coef_") and two and rows.shape[1] < n:
        bound = bounds_of.vc_bound(wrong / n, dimension=rows.shape[1] + 1, rows=n)
        promise = f"with probability 95\u00a0% the error on new rows is below {_percent(float(bound))}"
        found.append(_worded("VC bound", bound, f"From the {rows.shape[1] + 1} weights alone: {promise}"))
    if isinstance(learner, SVC) and two:
        bound = bounds_of.leave_one_out_bound(learner, n)
        promise = (
            f"leaving out one training row at a time, at most {_percent(float(bound))} of them are decided wrongly"
        )
        found.append(_worded("leave-one-out bound", bound, f"From the support vectors: {promise}"))
    if hasattr(learner, "kernel_") and two and wrong == 0:
        radius = float(np.sqrt(np.max(learner.kernel_.diag(learner.kernel_.items(rows)))))
        least = bounds_of.geometric_margins(rows, y, model=learner).of_data_set
        if least > 0:
            bound = bounds_of.margin_bound(radius, least, n)
            promise = f"the error on new rows is of the order of {_percent(float(bound))}, up to constants"
            found.append(
                _worded("margin bound", bound, f"From the margin {least:.3g} in a ball of {radius:.3g}: {promise}")
            )
    return found


def _worded(name: str, bound: Any, words: str) -> dict[str, Any]:
    says_nothing = float(bound) >= 1
    return {
        "name": name,
        "value": number(bound),
        "words": words + (", which says nothing here." if says_nothing else "."),
    }


def _percent(share: float) -> str:
    r"""A share in percent with two digits that matter.

    Examples
    --------
    >>> _percent(0.0231), _percent(1e-7), _percent(3.2)
    ('2.3\xa0%', 'a millionth', '320\xa0%')
    """
    if share < 2e-6:
        return "a millionth"
    return f"{float(f'{100 * share:.2g}'):g}\u00a0%"
