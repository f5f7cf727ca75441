"""Machines for pairs of classes: what they decide together, and how scikit-learn lays their coefficients out."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .._runtime.compile import Array, jit

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
    _count(np.ascontiguousarray(scores), won)
    return won


@jit
def _count(scores: Array, won: Array) -> None:
    confidence = np.empty(won.shape[1])
    for i in range(won.shape[0]):
        confidence[:] = 0
        column = 0
        for first in range(won.shape[1]):
            for second in range(first + 1, won.shape[1]):
                score = scores[i, column]
                won[i, second if score >= 0 else first] += 1
                confidence[second] += score
                confidence[first] -= score
                column += 1
        for k in range(won.shape[1]):
            won[i, k] += confidence[k] / (3 * (abs(confidence[k]) + 1))


def laid_out(coef: Array, codes: Array, classes: int) -> Array:
    """Coefficients, a row for each pair, as scikit-learn has them: those of an item against each other class."""
    out = np.zeros((classes - 1, coef.shape[1]))
    members = [np.flatnonzero(codes == k) for k in range(classes)]
    for machine, (first, second) in enumerate(combinations(range(classes), 2)):
        mine, others = members[first], members[second]
        out[second - 1, mine] = 0.0 - coef[machine, mine]  # and not −0
        out[first, others] = 0.0 - coef[machine, others]
    return out
