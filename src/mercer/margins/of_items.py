"""How far items are from a boundary, and on which side: margins in the units of the score and of the space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._presentation.html import Markup, table_html
from .._runtime.compile import Array
from .._validation.labels import plain_label
from ..estimators.decision_margins import decision_margins


@dataclass(frozen=True)
class Margins:
    """A margin for each row; the margin of the data set is the least of them."""

    kind: str
    values: Array

    @property
    def of_data_set(self) -> float:
        return float(self.values.min())

    def __float__(self) -> float:
        return self.of_data_set

    @property
    def wrong(self) -> int:
        """How many rows are on the wrong side, or on the boundary."""
        return int((self.values <= 0).sum())

    def __str__(self) -> str:
        return (
            f"{self.kind} margins of {self.values.size} rows: least {self.of_data_set:.4g}, "
            f"median {np.median(self.values):.4g}, {self.wrong} on the wrong side"
        )

    def _repr_html_(self) -> Markup:
        numbers = {"least": f"{self.of_data_set:.4g}", "median": f"{np.median(self.values):.4g}"}
        rows = [*numbers.items(), ("on the wrong side", self.wrong)]
        return table_html(f"{self.kind} margins of {self.values.size} rows", rows)

    def plot(self, ax: Any = None) -> Any:
        """A histogram of the margins, with the boundary at 0."""
        from ..displays.margin_histogram import MarginHistogram

        return MarginHistogram.from_predictions(self.values).plot(ax).ax_


def _one_given(w: Any, model: Any) -> None:
    if (w is None) == (model is None):
        raise ValueError("give either the weights w (and b) of a linear model, or a fitted model.")


def _scores(X: Any, w: Any, b: float, model: Any) -> Array:
    """The decision values of a linear model or of a fitted one, which has two classes."""
    _one_given(w, model)
    if model is None:
        return np.asarray(X @ np.asarray(w, dtype=np.float64), dtype=np.float64) + b
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if scores.ndim != 1:
        raise ValueError(
            f"this model has {len(model.classes_)} classes, and so no single boundary to be at a distance from; "
            "functional_margins takes it."
        )
    return scores


def _codes(y: Any, model: Any) -> Array:
    """The number of each row's class: 0 or 1 for two classes."""
    y = np.asarray(y)
    classes = np.unique(y) if model is None else model.classes_
    if classes.size == 1 and model is None and abs(float(classes[0])) == 1.0:
        return (y > 0).astype(np.int64)
    if classes.size != 2 and model is None:
        raise ValueError(f"the margins of weights w need two classes, found {classes.size}.")
    unknown = ~np.isin(y, classes)
    if unknown.any():
        raise ValueError(f"the model knows no class {plain_label(y[unknown][0])!r}; leave such rows out.")
    return np.searchsorted(classes, y)


def norm(*, w: Any = None, model: Any = None) -> float:
    """‖w‖, in kernel space through √(zᵀKz).

    Examples
    --------
    >>> norm(w=[3.0, 4.0])
    5.0
    """
    if w is not None:
        return float(np.linalg.norm(np.asarray(w, dtype=np.float64)))
    if np.size(model.intercept_) > 1:
        raise ValueError("a model of several classes has a w for each of its scores; fit one pair of classes.")
    if hasattr(model, "coef_"):
        return float(np.linalg.norm(model.coef_[0]))
    z = np.asarray(model.dual_coef_[0], dtype=np.float64)
    if not hasattr(model, "support_vectors_"):
        raise ValueError("a model with a precomputed kernel keeps no rows; compute z @ K @ z yourself.")
    items = model.kernel_.items(model.support_vectors_)
    return float(np.sqrt(max(0.0, z @ model.kernel_.product(items, items, z))))


def functional_margins(X: Any, y: Any, *, w: Any = None, b: float = 0.0, model: Any = None) -> Margins:
    """y·(w·x + b), row by row: positive on the right side, in the units of the score.

    For three classes or more, the score of a row's own class less the best score of another one.

    Parameters
    ----------
    X : array of shape (n_rows, n_features)
    y : array of labels
    w, b : weights and intercept of a linear model; or
    model : a fitted classifier

    Examples
    --------
    >>> float(functional_margins(np.array([[1.0, 1.0]]), [1], w=[1.0, 1.0], b=-1.0))
    1.0
    """
    _one_given(w, model)
    scores = _scores(X, w, b, model) if model is None else model.decision_function(X)
    return Margins("functional", decision_margins(scores, _codes(y, model)))


def geometric_margins(X: Any, y: Any, *, w: Any = None, b: float = 0.0, model: Any = None) -> Margins:
    """y·(w·x + b)/‖w‖: the distance of each row from the boundary, negative on the wrong side.

    Examples
    --------
    >>> round(float(geometric_margins(np.array([[1.0, 1.0]]), [1], w=[1.0, 1.0], b=-1.0)), 4)
    0.7071
    """
    values = decision_margins(_scores(X, w, b, model), _codes(y, model))
    return Margins("geometric", values / norm(w=w, model=model))


def distances(X: Any, *, w: Any = None, b: float = 0.0, model: Any = None) -> Array:
    """How far each row is from the boundary, ``|w·x + b|/‖w‖``.

    Examples
    --------
    >>> distances(np.array([[1.0, 1.0]]), w=[1.0, 2.0]).round(2)
    array([1.34])
    """
    return np.abs(_scores(X, w, b, model)) / norm(w=w, model=model)


def sides(X: Any, *, w: Any = None, b: float = 0.0, model: Any = None) -> Array:
    """+1 or −1 for the side of the boundary that each row is on; the boundary itself counts as +1.

    Examples
    --------
    >>> sides(np.array([[1.0], [-1.0], [0.0]]), w=[2.0])
    array([ 1, -1,  1])
    """
    return np.where(_scores(X, w, b, model) >= 0, 1, -1)
