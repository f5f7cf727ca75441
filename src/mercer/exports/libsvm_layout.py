"""How LIBSVM lays out a model: rows with coefficients, and a sum that each pair of classes reads off them.

For classes i < j in the order of its labels, LIBSVM decides by

    Σ coef[j − 1]·k(x, z) over the rows z of class i  +  Σ coef[i]·k(x, z) over those of class j  −  rho,

positive for i. A machine of a pair is positive for its second class here, so signs are turned round. Where rows do not
belong to classes that way (weights of a linear machine, landmarks), each pair has rows of its own, in its first class:
row z of the pair (i, j) has one coefficient, at j − 1, which no other pair reads.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .._runtime.compile import Array
from ..estimators.pair_votes import laid_out

__all__ = ["Layout", "pair_coefficients", "pairs_layout"]


@dataclass(frozen=True)
class Layout:
    """Which of the rows are written in which order, their coefficients, and how many are of each class."""

    rows: Array
    coef: Array
    counts: Array


def pairs_layout(coef: Array, counts: Array | None) -> Layout:
    """The layout of machines for pairs of classes.

    Parameters
    ----------
    coef : array of shape (pairs, rows)
        As machines have them: positive for the second class of a pair.
    counts : array of int, optional
        How many rows are of each class, one class after the other, where rows belong to classes.

    Examples
    --------
    >>> import numpy as np
    >>> pairs_layout(np.array([[2.0, -1.0]]), np.array([1, 1]))
    Layout(rows=array([0, 1]), coef=array([[-2.,  1.]]), counts=array([1, 1]))
    """
    pairs, rows = coef.shape
    classes = int((1 + np.sqrt(1 + 8 * pairs)) / 2)
    if counts is not None and counts.size == classes and counts.sum() == rows:
        codes = np.repeat(np.arange(classes), counts)
        laid = -coef if classes == 2 else laid_out(coef, codes, classes)
        if np.array_equal(pair_coefficients(laid, counts), coef):
            return Layout(np.arange(rows), laid, counts)
    places, columns, sizes = [], [], np.zeros(classes, np.int64)
    for machine, (first, second) in enumerate(combinations(range(classes), 2)):
        own = np.flatnonzero(coef[machine])
        column = np.zeros((classes - 1, own.size))
        column[second - 1] = -coef[machine, own]
        places.append(own)
        columns.append(column)
        sizes[first] += own.size
    return Layout(np.concatenate(places), np.hstack(columns), sizes)


def pair_coefficients(laid: Array, counts: Array) -> Array:
    """The coefficients of each pair's machine, positive for its second class, from LIBSVM's layout.

    Examples
    --------
    >>> import numpy as np
    >>> pair_coefficients(np.array([[-2.0, 1.0]]), np.array([1, 1]))
    array([[ 2., -1.]])
    """
    ends = np.cumsum([0, *counts])
    pairs = list(combinations(range(len(counts)), 2))
    out = np.zeros((len(pairs), laid.shape[1]))
    for machine, (first, second) in enumerate(pairs):
        one, other = slice(ends[first], ends[first + 1]), slice(ends[second], ends[second + 1])
        out[machine, one] = 0.0 - laid[second - 1, one]
        out[machine, other] = 0.0 - laid[first, other]
    return out
