"""Margins, and what follows from them: distances, widths, mistake bounds and generalisation bounds.

Every function returns a small object that prints itself, converts to ``float`` where it is one number, and keeps the
parts it was made of. ``plot()`` draws it, where matplotlib is installed.

Examples
--------
>>> import numpy as np
>>> from mercer.margins import geometric_margins, width
>>> geometric_margins(np.array([[1.0, 1.0]]), [1], w=[1.0, 1.0], b=-1.0).values.round(4)
array([0.7071])
>>> round(float(width(w=[2.0, 2.0])), 4)
0.7071
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .checks.labels import plain_label
from .estimators.classifier import decision_margins
from .presentation import Markup, axes, table_html
from .runtime.arrays import Array

__all__ = [
    "Bound",
    "Margins",
    "decision_margins",
    "distances",
    "functional_margins",
    "geometric_margins",
    "leave_one_out_bound",
    "margin_bound",
    "mistake_bound",
    "mistake_bound_separable",
    "norm",
    "sides",
    "vc_bound",
    "width",
]

# How far items are from a boundary, and on which side: margins in the units of the score and of the space.


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
        from .displays.scores import MarginHistogram

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


# What margins promise: the mistakes of a Perceptron, and the error on new rows.


@dataclass(frozen=True)
class Bound:
    """A bound, what it bounds, and the quantities that it was computed from; ``relation`` says how sharp it is.

    ``value`` is an array where some of the quantities are, such as numbers of rows; ``np.asarray(bound)`` is it, too.
    """

    name: str
    value: Any
    parts: dict[str, Any]
    relation: str = "≤"

    def __float__(self) -> float:
        return float(self.value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.value, dtype=dtype or np.float64)

    def __str__(self) -> str:
        parts = ", ".join(f"{name} = {_short(value)}" for name, value in self.parts.items())
        return f"{self.name} {self.relation} {_short(self.value)}  ({parts})"

    def _repr_html_(self) -> Markup:
        parts = [[name, _short(value)] for name, value in self.parts.items()]
        return table_html(f"{self.name} {self.relation} {_short(self.value)}", parts)

    def plot(self, ax: Any = None) -> Any:
        """The bound beside its parts, as bars; over the quantity that is an array, as a line."""
        ax = axes(ax)
        given = next((name for name, part in self.parts.items() if np.ndim(part) == 1), None)
        if given is not None:
            ax.plot(self.parts[given], np.broadcast_to(self.value, np.shape(self.parts[given])))
            ax.set(xlabel=given, ylabel=self.name)
            return ax
        names = [*self.parts, self.name]
        ax.barh(names, [*self.parts.values(), self.value])
        return ax


def _short(value: Any) -> str:
    """A number to four digits; of several the first and the last."""
    numbers = np.ravel(value)
    if numbers.size == 1:
        return f"{numbers[0]:.4g}"
    return f"{numbers[0]:.4g} … {numbers[-1]:.4g}" if numbers.size else "nothing"


def width(*, w: Any = None, model: Any = None) -> Bound:
    """2/‖w‖, the distance between the two margins, also in kernel space.

    Examples
    --------
    >>> print(width(w=[2.0, 2.0]))
    width of the margin = 0.7071  (‖w‖ = 2.828)
    """
    size = norm(w=w, model=model)
    return Bound("width of the margin", 2 / size if size else np.inf, {"‖w‖": size}, "=")


def mistake_bound_separable(X: Any, y: Any, w: Any, b: float = 0.0) -> Bound:
    """Mistakes of a Perceptron on rows that w separates: ‖u‖²·max‖x‖², with u = w scaled to margin 1.

    Examples
    --------
    >>> X, y = np.array([[1.0, 1.0], [-1.0, -1.0]]), np.array([1, -1])
    >>> round(float(mistake_bound_separable(X, y, w=[1.0, 1.0])), 6)
    1.0
    """
    least = functional_margins(X, y, w=w, b=b).of_data_set
    if least <= 0:
        raise ValueError(f"w does not separate these rows: the least functional margin is {least:.4g}.")
    extra = 0.0 if b == 0 else 1.0
    radius = float(np.sqrt(_squares(X).max() + extra))
    length = float(np.sqrt(norm(w=w) ** 2 + b * b)) / least
    return Bound("mistakes", (length * radius) ** 2, {"‖u‖": length, "max‖x‖": radius})


def mistake_bound(X: Any, y: Any, u: Any = None, passes: int = 1, *, model: Any = None) -> Bound:
    """Mistakes of a Perceptron on any rows: Σh + (‖u‖X)² + ‖u‖X·√Σh for every u, h the hinge losses of u.

    Parameters
    ----------
    X, y : items and their labels, two classes
    u : array, optional
        The weights of a linear machine without an intercept.
    passes : int, default=1
        Passes over the items: each of them may cost Σh again.
    model : fitted classifier, optional
        A machine with any kernel in the place of u: the bound is for Perceptrons with the same kernel and an intercept,
        which is the weight of a constant feature 1.

    Examples
    --------
    >>> X, y = np.array([[1.0], [-2.0]]), np.array([1, -1])
    >>> float(mistake_bound(X, y, u=[1.0]))
    4.0
    >>> from mercer import SVC
    >>> X, y = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> round(float(mistake_bound(X, y, model=SVC(None, C=float("inf")).fit(X, y))))
    84
    """
    hinge = passes * float(np.maximum(0, 1 - functional_margins(X, y, w=u, model=model).values).sum())
    if model is None:
        reach = norm(w=u) * float(np.sqrt(_squares(X).max()))
    else:
        largest = float(np.max(model.kernel_.diag(model.kernel_.items(X)))) + 1.0
        reach = float(np.sqrt((norm(model=model) ** 2 + float(model.intercept_[0]) ** 2) * largest))
    return Bound("mistakes", hinge + reach**2 + reach * np.sqrt(hinge), {"Σ hinge": hinge, "‖u‖·max‖x‖": reach})


def _squares(X: Any) -> Array:
    return np.asarray(X.multiply(X).sum(axis=1)).ravel() if sparse.issparse(X) else np.square(np.asarray(X)).sum(axis=1)


def vc_bound(training_error: Any, dimension: Any, rows: Any, delta: Any = 0.05) -> Bound:
    """Ê + √((d·(ln(2P/d) + 1) − ln(δ/4))/P): the error on new rows, with probability 1 − δ.

    Any of them may be an array: the bound is then one for each entry.

    Examples
    --------
    >>> round(float(vc_bound(0.0, dimension=11, rows=8000)), 4)
    0.1093
    >>> vc_bound(0.0, dimension=11, rows=[2000, 8000, 32000]).value.round(4)
    array([0.2003, 0.1093, 0.0588])
    """
    error, d, P, delta = _together("vc_bound", training_error, dimension, rows, delta)
    if not ((d >= 1) & (P >= 1) & (delta > 0) & (delta < 1)).all():
        raise ValueError("vc_bound needs dimension ≥ 1, rows ≥ 1 and 0 < delta < 1.")
    confidence = np.sqrt((d * (np.log(2 * P / d) + 1) - np.log(delta / 4)) / P)
    parts = {"training error": error, "VC dimension": d, "rows": P, "confidence": confidence}
    return Bound(f"error (with probability {_short(1 - delta)})", error + confidence, parts)


def margin_bound(radius: Any, margin: Any, rows: Any) -> Bound:
    """(L/γ)²/P: the order of the error of a separator with geometric margin γ on rows within a ball of radius L.

    It does not depend on the number of features. Constants and logarithms are left out. Any of them may be an array.

    Examples
    --------
    >>> float(margin_bound(radius=2.0, margin=0.5, rows=1000))
    0.016
    """
    radius, margin, rows = _together("margin_bound", radius, margin, rows)
    if not ((margin > 0) & (radius > 0) & (rows >= 1)).all():
        raise ValueError("margin_bound needs margin > 0, radius > 0 and rows ≥ 1.")
    return Bound("order of the error", (radius / margin) ** 2 / rows, {"L": radius, "γ": margin, "rows": rows}, "~")


def _together(name: str, *given: Any) -> list[Any]:
    """Quantities as numbers in float64, and as arrays where some of them are."""
    try:
        arrays = [np.asarray(each, dtype=np.float64) for each in given]
        np.broadcast_shapes(*(each.shape for each in arrays))
    except (TypeError, ValueError):
        raise ValueError(f"{name} takes numbers, and arrays of numbers that have one shape.") from None
    return [each[()] for each in arrays]


def leave_one_out_bound(model: Any, rows: int) -> Bound:
    """(support vectors)/(rows): the leave-one-out error of an exact margin machine is at most this.

    Leaving out a row that is no support vector changes nothing, and the machine is right on it.

    Examples
    --------
    >>> from mercer import SVC
    >>> X = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
    >>> model = SVC(kernel="linear", C=float("inf")).fit(X, [1, 1, 1, -1, -1, -1])
    >>> float(leave_one_out_bound(model, rows=6))
    0.5
    """
    support = len(model.support_)
    return Bound("leave-one-out error", support / rows, {"support vectors": support, "rows": rows})
