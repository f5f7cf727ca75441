"""The number among n whose rank makes a new one as likely to be below it as asked for."""

from __future__ import annotations

from math import ceil

import numpy as np

from .._runtime.compile import Array

__all__ = ["least_rows", "upper_rank"]

#: (n + 1)·c that should be a whole number is one, whatever rounding makes of it.
_ROUNDING = 1e-9


def least_rows(coverage: float) -> int:
    """How many numbers it takes: ⌈(n + 1)·c⌉ ≤ n.

    Examples
    --------
    >>> least_rows(0.9), least_rows(0.5), least_rows(0.95)
    (9, 1, 19)
    """
    return ceil(coverage / (1 - coverage) - _ROUNDING)


def upper_rank(values: Array, weights: Array, coverage: float) -> Array:
    """The ⌈(n + 1)·c⌉-th smallest of n values, in each column.

    With weights, scaled to a mean of one, the least value such that those up to it weigh (n + 1)·c or more.

    Examples
    --------
    >>> import numpy as np
    >>> upper_rank(np.arange(1.0, 20.0)[:, None], np.ones(19), 0.9)
    array([18.])
    """
    n = len(values)
    wanted = (n + 1) * coverage - _ROUNDING
    if np.ptp(weights) == 0:
        rank = ceil(wanted) - 1
        return np.partition(values, rank, axis=0)[rank]
    order = np.argsort(values, axis=0, kind="stable")
    weighed = np.cumsum((weights * (n / weights.sum()))[order], axis=0)
    rank = np.minimum((weighed < wanted).sum(axis=0), n - 1)
    return np.take_along_axis(np.take_along_axis(values, order, axis=0), rank[None], axis=0)[0]
