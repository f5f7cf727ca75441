"""From probabilities of pairs of classes, or of each class against the rest, to probabilities of all classes."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .._runtime.compile import Array

__all__ = ["coupled", "normalised"]

#: Numbers of the linear systems that are solved at once.
_NUMBERS = 4_000_000


def coupled(second: Array, classes: int) -> Array:
    """The probabilities of all classes from those of pairs (Wu, Lin and Weng, 2004, their second method).

    Where r_ij is the probability of i in the pair (i, j), r_ij·p_j = r_ji·p_i would hold for all pairs if they agreed.
    They do not, and the p with Σp = 1 that minimise Σ (r_ji·p_i − r_ij·p_j)² come nearest. That is ½·pᵀQp with
    Q_ii = Σ_j r_ji² and Q_ij = −r_ji·r_ij, so that p solves Qp = μ·1, Σp = 1; all p are positive.

    Parameters
    ----------
    second : array of shape (n_rows, n_pairs)
        The probability of the second class of each pair, strictly between 0 and 1; pairs as ``combinations`` has them.
    classes : int

    Returns
    -------
    array of shape (n_rows, classes)

    Examples
    --------
    >>> import numpy as np
    >>> coupled(np.array([[0.5, 0.8, 0.8]]), 3).round(3)
    array([[0.167, 0.167, 0.667]])
    """
    size = max(1, _NUMBERS // classes**2)
    parts = [_coupled(second[begin : begin + size], classes) for begin in range(0, len(second), size)]
    return np.concatenate(parts) if parts else np.empty((0, classes))


def _coupled(second: Array, classes: int) -> Array:
    r = np.zeros((len(second), classes, classes))
    for column, (i, j) in enumerate(combinations(range(classes), 2)):
        r[:, j, i], r[:, i, j] = second[:, column], 1 - second[:, column]
    system = np.zeros((len(second), classes + 1, classes + 1))
    system[:, :classes, :classes] = -r * r.transpose(0, 2, 1)
    every = np.arange(classes)
    system[:, every, every] = (r**2).sum(axis=1)
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    one = np.zeros((classes + 1, 1))
    one[classes] = 1.0
    return normalised(np.linalg.solve(system, np.broadcast_to(one, (len(second), classes + 1, 1)))[:, :classes, 0])


def normalised(values: Array) -> Array:
    """Positive numbers that sum to 1 in each row."""
    values = np.maximum(values, np.finfo(np.float64).eps)
    return values / values.sum(axis=1, keepdims=True)
