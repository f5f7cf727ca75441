"""What margins promise: the mistakes of a Perceptron, and the error on new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._presentation.canvas import axes
from .._presentation.html import Markup, table_html
from .._runtime.compile import Array
from .of_items import functional_margins, norm


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
