"""How fast similarity falls with distance, where the data are to decide: rates such as ``gamma="scale"``.

A rate multiplies a statistic, so that a typical value of the statistic should become a number of order one:

==========  ===========================================================================================================
"auto"      1/d for rows of d numbers, which are taken to have been scaled
"scale"     1/(d·v), v the variance of all numbers, as in scikit-learn: half the mean squared distance of two rows of
            independent columns with one mean. A distance that is not squared has the unit of the numbers, not of their
            squares: there it is 1/(d·√v)
"median"    1/(the median of the statistic between rows that differ), by at most a thousand rows
==========  ===========================================================================================================

Where all rows are the same, no rate is better than another, and it is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._validation.parameters import number, shown
from .engine.statistics import DISTANCE, MANHATTAN, Statistic

#: Rules by which data decide a rate.
RULES = ("scale", "auto", "median")
#: Rows that are compared for a median.
_SAMPLE = 1000
#: A rate beyond this is no number for the products that it is for.
_FASTEST = 1e290


def check_rate(owner: Any, name: str) -> None:
    """Check that a parameter is a number greater than 0, or a rule."""
    value = getattr(owner, name)
    if not isinstance(value, str):
        number(owner, name)
    elif value not in RULES:
        words = " or ".join(", ".join(map(repr, RULES)).rsplit(", ", 1))
        raise ValueError(
            f"{type(owner).__name__}: {name} must be a number greater than 0, {words}; got {shown(value)}."
        )


def rate(rule: str, rows: Any, statistic: Statistic) -> float:
    """The rate for a statistic of rows, by one of the :data:`RULES`.

    Examples
    --------
    >>> from mercer.kernels.engine.statistics import SQUARED_DISTANCE
    >>> rate("scale", np.array([[1.0, 3.0], [3.0, 5.0]]), SQUARED_DISTANCE)  # a variance of two
    0.25
    >>> rate("median", np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 2.0]]), SQUARED_DISTANCE)
    0.25
    """
    typical = _median(rows, statistic) if rule == "median" else float(rows.shape[1])
    if rule == "scale":
        variance = _variance(rows)
        typical *= np.sqrt(variance) if statistic is MANHATTAN else variance
    return min(max(1.0 / typical, 1 / _FASTEST), _FASTEST) if typical > 0 else 1.0


def _variance(rows: Any) -> float:
    """The variance of all numbers, zeros of sparse rows included."""
    numbers = rows.data if sparse.issparse(rows) else rows
    size = rows.shape[0] * rows.shape[1]
    if not size or rows.min() == rows.max():  # exactly nothing, which rounding would make a little
        return 0.0
    mean = float(numbers.sum(dtype=np.float64)) / size
    squares = float(np.square(numbers - mean, dtype=np.float64).sum()) + (size - numbers.size) * mean**2
    return squares / size


def _median(rows: Any, statistic: Statistic) -> float:
    n = rows.shape[0]
    some = rows if n <= _SAMPLE else rows[np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))]
    size = some.shape[0]
    distance = MANHATTAN if statistic is MANHATTAN else DISTANCE
    left, right = distance.prepare(some, some)
    values = distance.tile(left, right, slice(0, size), slice(0, size))
    apart = values[np.triu_indices(size, 1)].astype(np.float64)
    apart = apart[apart > 0]
    if not apart.size:
        return 0.0
    return float(np.median(apart if distance is MANHATTAN else np.square(apart)))
