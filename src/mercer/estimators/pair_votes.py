"""Machines for pairs of classes: what they decide together, and how scikit-learn lays their coefficients out."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .._runtime.compile import Array

__all__ = ["laid_out", "votes"]


def votes(scores: Array, classes: int) -> Array:
    """For each class the pairs that it wins, and a fraction below ½ that says by how much.

    Examples
    --------
    >>> import numpy as np
    >>> votes(np.array([[1.0, 1.0, -3.0]]), 3).round(2)
    array([[-0.22,  2.27,  0.78]])
    """
    won = np.zeros((scores.shape[0], classes))
    confidence = np.zeros_like(won)
    for column, (first, second) in enumerate(combinations(range(classes), 2)):
        wins = scores[:, column] >= 0
        won[:, second] += wins
        won[:, first] += ~wins
        confidence[:, second] += scores[:, column]
        confidence[:, first] -= scores[:, column]
    return won + confidence / (3 * (np.abs(confidence) + 1))


def laid_out(coef: Array, codes: Array, classes: int) -> Array:
    """Coefficients, a row for each pair, as scikit-learn has them: those of an item against each other class."""
    out = np.zeros((classes - 1, coef.shape[1]))
    members = [np.flatnonzero(codes == k) for k in range(classes)]
    for machine, (first, second) in enumerate(combinations(range(classes), 2)):
        mine, others = members[first], members[second]
        out[second - 1, mine] = 0.0 - coef[machine, mine]  # and not −0
        out[first, others] = 0.0 - coef[machine, others]
    return out
