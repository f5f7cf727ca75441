"""Learning from rows that come in pieces, for linear models."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.labels import combine_weights, plain_label
from ..grams import is_linear
from .classifier import Classifier
from .model import LinearModel
from .training import Training, training_of


def offers_partial_fit(machine: Classifier) -> bool:
    """Whether ``partial_fit`` is offered: a kernel model would have to keep every row it ever saw."""
    with suppress(TypeError, ValueError):  # fit says what is wrong with a kernel
        if is_linear(machine.read_kernel()):
            return True
    raise AttributeError(
        f"{type(machine).__name__}.partial_fit is for linear models; with a kernel, call fit on all rows."
    )


def more_rows(machine: Classifier, X: Any, y: Any, classes: Any, sample_weight: Any) -> tuple[Training, bool]:
    """Check a piece of the data; also whether it is the first piece, in which case the model is set to zero."""
    first = not hasattr(machine, "coef_")
    if first:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit: all labels that will ever come.")
        if np.unique(classes).size < 2:
            raise ValueError("partial_fit needs two classes or more in classes.")
    elif classes is not None and not np.array_equal(np.unique(classes), machine.classes_):
        raise ValueError(f"classes={list(classes)} differ from those of the first call, {machine.classes_.tolist()}.")
    known = np.unique(classes) if first else machine.classes_

    def encode(labels: Any, sample_weight: Any, rows: Any) -> tuple[Array, Array | None]:
        codes = _codes_of(labels, known)
        if machine.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all rows at once; give partial_fit a dict of weights.")
        return codes, combine_weights(sample_weight, machine.class_weight, rows, labels, whole=False)

    data = training_of(machine, X, y, sample_weight, first, encode)
    if first:
        machine.classes_ = known
        scores = len(machine._positions())
        machine._publish(LinearModel(np.zeros((scores, data.items.shape[1])), np.zeros(scores)))
        machine._stage_models = []
    return data, first


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
