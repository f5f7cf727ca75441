"""Which value to try beyond the edge of a grid: one that the parameter can have."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["beyond", "largest_nu"]

#: Parameters that count something, with the least that can be counted.
_COUNTS = {"degree": 1, "epochs": 1, "steps": 1, "batch": 1, "max_iter": 1, "p": 1, "h": 0, "d": 1, "k": 1, "m": 0}
#: Parameters that are shares of the rows, above 0 and at most 1.
_SHARES = ("nu",)
#: Parameters whose values may reach zero or below: the next one is as far away as the last.
_DIFFERENCES = ("coef0", "shift")


def beyond(name: str, edge: float, beside: float, most: float = 1.0) -> float | None:
    """The next value after an edge, in steps like the last one; ``None`` where the parameter ends there.

    Parameters
    ----------
    name : str
        Of the parameter in its machine or kernel.
    edge, beside : float
        The value at the edge, and the one before it.
    most : float, default=1
        The largest share that the rows allow.

    Examples
    --------
    >>> beyond("C", 0.1, 1.0), beyond("degree", 2, 3), beyond("degree", 3, 2), beyond("degree", 1, 2)
    (0.01, 1, 4, None)
    >>> beyond("nu", 0.6, 0.3), beyond("nu", 0.6, 0.3, most=0.7), beyond("nu", 1.0, 0.3), beyond("coef0", 0, 1)
    (1.0, 0.7, None, -1)
    """
    up = edge > beside
    if name in _COUNTS and float(edge).is_integer() and float(beside).is_integer():
        return _next_count(int(edge), int(beside), up, _COUNTS[name])
    if name in _DIFFERENCES:
        return edge + (edge - beside)
    if edge <= 0:
        return None
    further = edge * edge / beside if beside > 0 else 10 * edge
    if name in _SHARES:
        further = min(further, most)
    further = float(f"{further:.6g}")  # digits enough to try it
    return further if (further > edge) == up and further != edge else None


def _next_count(edge: int, beside: int, up: bool, least: int) -> int | None:
    """A whole number at least one away, in the ratio of the last two where that is more."""
    if up:
        return max(edge + 1, edge * edge // max(1, beside))
    further = max(least, min(edge - 1, round(edge * edge / beside)))
    return further if further < edge else None


def largest_nu(y: Any) -> float:
    """The largest nu that classes of these sizes allow: twice the share of the smaller in its pair with the largest.

    Coefficients of both classes of a machine sum to the same, and no class has more of them than rows.

    Examples
    --------
    >>> largest_nu(["a", "a", "a", "b"])
    0.5
    """
    sizes = np.unique(np.asarray(y), return_counts=True)[1]
    return float(np.floor(2000 * sizes.min() / (sizes.min() + sizes.max())) / 1000)
