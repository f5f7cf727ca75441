"""A fitted model opened up: the machine inside, the rows as they reach it, and what its scores speak for.

A pipeline, a search, a calibration or a tuned threshold around a machine leaves its scores as they are: what is said
about them is said about the whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted

from .._runtime.compile import Array
from .._validation.labels import plain_label
from .._validation.unwrapped import layers, machine_of, parts_of, rows_at_machine, steps_before
from ..estimators import SVDD
from ..estimators.base import KernelMachine
from ..kernels.on_columns import OnColumns
from ..preprocess.standardised import Standardised
from .feature_words import feature_words

__all__ = ["Direction", "OpenedModel"]

#: What a number counts in once a scaler has seen it.
_UNITS = {
    StandardScaler: "in standard deviations from the mean of its column",
    Standardised: "in standard deviations from the mean of its column",
    MinMaxScaler: "from 0, the smallest of its column, to 1, the largest",
    MaxAbsScaler: "as a share of the largest of its column",
}


class Direction(NamedTuple):
    """A class, how much each score of a machine counts for it, and what is added to their sum.

    ``label`` is ``None`` where numbers are predicted, or what is usual.
    """

    label: Any
    signs: Array
    intercept: float


class OpenedModel:
    """A fitted model and the machine in it.

    Parameters
    ----------
    model : fitted estimator
        A machine of mercer, or a pipeline, search, calibration, threshold or filter around one.
    names : sequence of str, optional
        What the columns that reach the machine are called, where rows do not tell.

    Attributes
    ----------
    machine : KernelMachine

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC
    >>> model = make_pipeline(StandardScaler(), SVC("linear")).fit([[0.0], [1.0]], ["no", "yes"])
    >>> OpenedModel(model).units
    'Each number counts in standard deviations from the mean of its column.'
    """

    def __init__(self, model: Any, names: Sequence[str] | None = None) -> None:
        if hasattr(model, "fit"):
            check_is_fitted(model)
        machine = machine_of(model)
        if not isinstance(machine, KernelMachine):
            raise TypeError(
                f"explain takes a fitted machine of mercer, or a pipeline or search around one; got "
                f"{type(machine).__name__}."
            )
        check_is_fitted(machine, "_model")
        if getattr(machine, "variant", "") == "voted":
            raise ValueError("a vote of many models has no single score to explain; fit with variant='averaged'.")
        scores = machine._model.intercept.size
        if scores > 1 and not hasattr(machine, "classes_"):
            raise ValueError(
                f"explain takes one prediction apart, and this model makes {scores} for a row; fit one alone."
            )
        if getattr(machine, "multilabel_", False):
            raise ValueError("explain takes one label of a row apart, and this model gives it many; fit one alone.")
        self.model, self.machine, self.names = model, machine, names

    @property
    def takes_columns(self) -> bool:
        """Whether a row is given as values of columns, rather than as a string, a set or a graph."""
        kernel = self.machine.kernel_
        return bool(steps_before(self.model)) or (kernel.on_rows and not kernel.precomputed) or _binds_columns(kernel)

    @property
    def prepares_rows(self) -> bool:
        """Whether steps before the machine have made the numbers that it sees."""
        return bool(steps_before(self.model)) and self.machine.kernel_.on_rows

    def alone(self, item: Any) -> Any:
        """A collection of this item only."""
        if self.takes_columns and isinstance(item, Mapping):
            import pandas as pd

            return pd.DataFrame([dict(item)])
        if self.takes_columns and hasattr(item, "to_frame") and not hasattr(item, "columns"):
            return item.to_frame().T.infer_objects()  # a row of a frame
        if hasattr(item, "columns") or sparse.issparse(item):
            if item.shape[0] != 1:
                raise ValueError(f"explain takes one item; this table has {item.shape[0]} rows.")
            return item
        if self.takes_columns or self.machine.kernel_.on_rows:
            words = any(isinstance(value, str) for value in np.ravel(np.asarray(item, dtype=object)))
            rows = np.atleast_2d(np.asarray(item, dtype=object if words else None))
            if rows.shape[0] != 1:
                raise ValueError(f"explain takes one item; this array has {rows.shape[0]} rows.")
            return rows
        return [item]

    def items(self, X: Any) -> Any:
        """The user's rows as the kernel takes them."""
        return self.machine.read_items(rows_at_machine(self.model, X), self.machine.kernel_)

    def column_names(self, count: int) -> list[str]:
        """The names of the columns that reach the machine; x0, x1, … where nobody has given them any."""
        if self.names is not None and len(self.names) == count:
            return list(self.names)
        known = feature_words(self.model)
        if not known and not steps_before(self.model):
            known = [str(name) for name in getattr(self.machine, "feature_names_in_", [])]
        return known if len(known) == count else [f"x{k}" for k in range(count)]

    @property
    def units(self) -> str:
        """In what a number counts that a scaler has seen, as a sentence; empty where it counts as it is."""
        scalers = (part for step in steps_before(self.model) for part in parts_of(step))
        found = next((words for part in scalers for kind, words in _UNITS.items() if isinstance(part, kind)), None)
        return "" if found is None else f"Each number counts {found}."

    @property
    def logarithms(self) -> str:
        """That scores are logarithms of predictions, as a sentence; empty where they are not."""
        if not any(isinstance(layer, TransformedTargetRegressor) for layer in layers(self.model)):
            return ""
        return "The score is the logarithm of the prediction: what is added to one multiplies the other."

    @property
    def threshold(self) -> str:
        """At which score another class is answered, as a sentence; empty where that is zero."""
        for layer in layers(self.model):
            if hasattr(layer, "best_threshold_"):
                second = plain_label(self.machine.classes_[1])
                return f"{second!r} is answered from a score of {layer.best_threshold_:.4g} for it, not from 0."
        return ""

    @property
    def pairs(self) -> str:
        """That a score sums those of pairs of classes, as a sentence; empty where it does not."""
        classes, scores = getattr(self.machine, "classes_", ()), self.machine._model.intercept.size
        if len(classes) <= 2 or getattr(self.machine, "strategy", "ovr") == "ovr":
            return ""
        return f"The score of a class sums those of {len(classes) - 1} of {scores} machines for pairs of classes."

    def predicted(self, one: Any) -> Any:
        """The prediction for one item, as a value of Python's own."""
        return plain_label(self.model.predict(one)[0])

    def direction(self, label: Any) -> Direction:
        """How each score of the machine counts for a class: for it (+1), against it (−1) or not at all (0)."""
        machine, intercepts = self.machine, self.machine._model.intercept
        if not hasattr(machine, "classes_"):
            if isinstance(machine, SVDD):  # R² − ‖φ(x) − c‖² = 2·⟨c, φ(x)⟩ − k(x, x) + R² − ‖c‖²
                return Direction(None, np.array([2.0]), -machine.offset_ - machine.centre_square_)
            return Direction(None, np.ones(1), float(intercepts[0]))
        classes = machine.classes_.tolist()
        if label not in classes:
            raise ValueError(f"the model knows no class {label!r}; its classes are {', '.join(map(repr, classes))}.")
        position, scores = classes.index(label), intercepts.size
        if len(classes) == 2:
            signs = np.array([1.0 if position else -1.0])
        elif not self.pairs:
            signs = np.eye(scores)[position]
        else:
            pairs = combinations(range(len(classes)), 2)
            signs = np.array([(second == position) - (first == position) for first, second in pairs], dtype=np.float64)
        return Direction(label, signs, float(signs @ intercepts))

    def scores(self, X: Any, direction: Direction) -> Array:
        """The score of each of the user's rows for a class, or what a regressor or a detector says of it."""
        machine = self.machine
        if isinstance(machine, SVDD):
            return machine.decision_function(rows_at_machine(self.model, X))
        return machine._model.scores(self.items(X), machine.memory) @ direction.signs


def _binds_columns(kernel: Any) -> bool:
    return isinstance(kernel, OnColumns) or any(_binds_columns(part) for part in kernel.parts())
