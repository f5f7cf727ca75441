"""Learning from rows that come in pieces, for linear models."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation.labels import combine_weights, plain_label, refuse_bad_labels
from ..grams import Features
from .base import KernelMachine, Training
from .model import LinearModel


def is_linear(estimator: Any) -> bool:
    """Whether ``partial_fit`` is offered: a kernel model would have to keep every row it ever saw."""
    if estimator.kernel is not None:
        raise AttributeError(
            f"{type(estimator).__name__}.partial_fit is for linear models; with a kernel, call fit on all rows."
        )
    return True


def more_rows(estimator: KernelMachine, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Training, bool]:
    """Check a piece of the data; also whether it is the first piece, in which case the model is set to zero."""
    refuse_bad_labels(y)
    first = not hasattr(estimator, "coef_")
    if first:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
        if np.unique(classes).size < 2:
            raise ValueError("partial_fit needs two classes or more in classes.")
    elif classes is not None and not np.array_equal(np.unique(classes), estimator.classes_):
        raise ValueError(f"classes={list(classes)} differ from those of the first call, {estimator.classes_.tolist()}.")
    rows, labels = estimator._rows(X, None, y, reset=first)
    known = np.unique(classes) if first else estimator.classes_
    codes = _codes_of(labels, known)
    if estimator.class_weight == "balanced":
        raise ValueError("class_weight='balanced' needs all rows at once; give partial_fit a dict of weights.")
    weight = combine_weights(sample_weight, estimator.class_weight, rows, labels, whole=False)
    if first:
        estimator.classes_ = known
        scores = len(estimator._problems())
        estimator._publish(LinearModel(np.zeros((scores, rows.shape[1])), np.zeros(scores)))
        estimator._stage_models = []
    return Training(None, rows, codes, weight, Features(rows)), first


def _codes_of(labels: Any, classes: Any) -> Any:
    """For each label the number of its class, or an error that names a label not announced."""
    codes = np.minimum(np.searchsorted(classes, labels), classes.size - 1)
    strange = np.flatnonzero(classes[codes] != labels)
    if strange.size:
        first = strange[0]
        raise ValueError(
            f"label {plain_label(labels[first])!r} in row {first} is not among the classes {classes.tolist()}; "
            "name it in classes at the first call."
        )
    return codes
