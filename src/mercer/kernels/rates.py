"""How fast similarity falls with distance, where the data are to decide: rates such as ``gamma="scale"``.

A rate multiplies a statistic, so that a typical value of the statistic should become a number of order one:

==========  ===========================================================================================================
"auto"      1/d for rows of d numbers, which are taken to have been scaled
"scale"     1/(d·v), v the variance of all numbers, as in scikit-learn: half the mean squared distance of two rows of
            independent columns with one mean. A distance that is not squared has the unit of the numbers, not of their
            squares: there it is 1/(d·√v) for sums of differences, and 1/√(d·v) for straight lines
"median"    1/(the median of the statistic between rows that differ), by at most a thousand rows
==========  ===========================================================================================================

Where all rows are the same, no rate is better than another, and it is one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._validation.parameters import number, shown
from .._validation.wording import enumeration
from .engine.statistics import DISTANCE, MANHATTAN, SQUARED_DISTANCE, Statistic

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
        words = enumeration(map(repr, RULES), last="or")
        raise ValueError(
            f"{type(owner).__name__}: {name} must be a number greater than 0, {words}; got {shown(value)}."
        )


def rate(rule: str, rows: Any, statistic: Statistic, weight: Array | None = None) -> float:
    """The rate for a statistic of rows, by one of the :data:`RULES`; a row of weight two counts as two rows.

    Examples
    --------
    >>> from mercer.kernels.engine.statistics import SQUARED_DISTANCE
    >>> rate("scale", np.array([[1.0, 3.0], [3.0, 5.0]]), SQUARED_DISTANCE)  # a variance of two
    0.25
    >>> rate("median", np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 2.0]]), SQUARED_DISTANCE)
    0.25
    """
    if statistic is DISTANCE:
        return float(np.sqrt(rate(rule, rows, SQUARED_DISTANCE, weight)))
    weight = np.ones(rows.shape[0]) if weight is None else weight
    rows, weight = (rows, weight) if weight.all() else (rows[weight > 0], weight[weight > 0])
    typical = _median(rows, weight, statistic) if rule == "median" else float(rows.shape[1])
    if rule == "scale":
        variance = _variance(rows, weight)
        typical *= np.sqrt(variance) if statistic is MANHATTAN else variance
    return min(max(1.0 / typical, 1 / _FASTEST), _FASTEST) if typical > 0 else 1.0


def _variance(rows: Any, weight: Array) -> float:
    """The variance of all numbers, zeros of sparse rows included."""
    if not min(rows.shape) or rows.min() == rows.max():  # exactly nothing, which rounding would make a little
        return 0.0
    width = rows.shape[1]
    mean = float(np.average(_row_sums(rows), weights=weight)) / width
    if sparse.issparse(rows):
        squares = sparse.csr_array((np.square(rows.data - mean), rows.indices, rows.indptr), shape=rows.shape)
        apart = _row_sums(squares) + (width - np.diff(rows.indptr)) * mean**2
    else:
        apart = np.square(rows - mean, dtype=np.float64).sum(axis=1)
    return float(np.average(apart, weights=weight)) / width


def _row_sums(rows: Any) -> Array:
    return np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()


def _median(rows: Any, weight: Array, statistic: Statistic) -> float:
    """The median of the statistic over pairs of rows that differ."""
    if rows.shape[0] > _SAMPLE:
        some = np.sort(np.random.default_rng(0).choice(rows.shape[0], _SAMPLE, replace=False))
        rows, weight = rows[some], weight[some]
    every = slice(0, rows.shape[0])
    distance = MANHATTAN if statistic is MANHATTAN else DISTANCE
    left, right = distance.prepare(rows, rows)
    values = distance.tile(left, right, every, every)
    i, j = np.triu_indices(rows.shape[0], 1)
    i, j = i[values[i, j] > 0], j[values[i, j] > 0]
    if not i.size:
        return 0.0
    apart = values[i, j].astype(np.float64)
    order = np.argsort(apart, kind="stable")
    # The value with half of the weight on either side, or the mean of the two beside that half.
    sums = np.cumsum((weight[i] * weight[j])[order])
    beside = [np.searchsorted(sums, sums[-1] / 2, side=side) for side in ("left", "right")]
    middle = apart[order[beside]]
    return float((middle if distance is MANHATTAN else np.square(middle)).mean())
