"""The squared loss without each row in turn, from one factor of Cholesky's.

As :mod:`mercer.solvers.ridge` derives it: with weights s of mean 1, d = √s, ρ = λ·(n − s) and
G = (diag(d)·K·diag(d) + ρ)⁻¹, what is predicted of row i by the model of all others misses its target by

    uᵢ / (dᵢ·(Gᵢᵢ − (Gd)ᵢ²/dᵀGd)),      u = G(d∘y) − b·Gd,      b = dᵀG(d∘y)/dᵀGd,

without b and the second term where there is no intercept. G is never formed: its diagonal is the sum of the squares of
the inverse factor's columns, which takes as long again as the factor itself.

ρ is the same for all rows where their weights are. Where they differ, one factor serves the mean weight
(:func:`left_out`), which is what settings are compared by. What rows are told in the end is exact
(:func:`exactly_left_out`): predictions are analytic in ρ, and the ρ of all rows lie within a few thousandths of each
other unless there are few rows, so a polynomial through a few of them has every digit; few rows are decomposed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._runtime.cholesky import factorise, inverse_diagonal, solve_factorised
from .._runtime.compile import Array
from ..solvers.ridge import LARGEST_RIDGE, RidgePath

__all__ = ["LeftOut", "exactly_left_out", "left_out"]

#: Values of ρ that a polynomial goes through, where weights differ.
_NODES = 4


class LeftOut(NamedTuple):
    """What each row is told by the model of all others, a column for each target; and the model of all rows."""

    predictions: Array
    z: Array
    b: Array

    def error(self, y: Array, weights: Array | None = None) -> float:
        """The mean squared error, over rows as they count and over targets."""
        return float(np.average(np.square(y - self.predictions).mean(axis=1), weights=weights))


def left_out(K: Array, y: Array, ridge: float, intercept: bool = True, weights: Array | None = None) -> LeftOut:
    """Predict each row by the model of all others, for one ρ; ``K`` is written over.

    Parameters
    ----------
    K : array of shape (n, n)
    y : array of shape (n, n_targets)
    ridge : float
        ρ, of the models without a row.
    intercept : bool, default=True
    weights : array of shape (n,), optional
        Of mean 1.

    Returns
    -------
    LeftOut

    Examples
    --------
    >>> import numpy as np
    >>> left_out(np.eye(2), np.array([[1.0], [3.0]]), ridge=0.5).predictions.ravel()
    array([3., 1.])
    """
    n = len(K)
    d = np.ones(n) if weights is None else np.sqrt(weights)
    unseen = np.flatnonzero(d == 0)
    rows = K[unseen]
    if weights is not None:
        K *= d
        K *= d[:, None]
    np.einsum("ii->i", K)[:] += ridge
    factorise(K)
    own = inverse_diagonal(K)
    solved = solve_factorised(K, np.column_stack([d[:, None] * y, d]))
    u, of_one = solved[:, :-1], solved[:, -1]
    b = np.zeros(y.shape[1])
    if intercept:
        total = d @ of_one
        b = (d @ u) / total
        u = u - np.outer(of_one, b)
        own = own - np.square(of_one) / total
    z = d[:, None] * u
    errors = np.divide(u, (d * own)[:, None], out=np.zeros_like(y, dtype=np.float64), where=d[:, None] > 0)
    errors[unseen] = y[unseen] - rows @ z - b
    return LeftOut(y - errors, z, b)


def exactly_left_out(
    matrix: Callable[[], Array], y: Array, lam: float, intercept: bool = True, weights: Array | None = None
) -> Array:
    """Predict each row by the model of all others, for one λ; rows of different weight by their own ρ.

    Parameters
    ----------
    matrix : callable
        Makes the kernel matrix, which is written over.
    y : array of shape (n, n_targets)
    lam : float
    intercept : bool, default=True
    weights : array of shape (n,), optional

    Returns
    -------
    array of shape (n, n_targets)
    """
    n = len(y)
    if weights is None or np.ptp(weights) == 0:
        return left_out(matrix(), y, lam * (n - 1), intercept).predictions
    if n <= LARGEST_RIDGE:
        path = RidgePath(matrix(), weights)
        return np.column_stack([path.leave_one_out(column, lam, intercept) for column in y.T])
    weights = weights * (n / weights.sum())
    own = lam * (n - weights)
    middle, half = (own.max() + own.min()) / 2, (own.max() - own.min()) / 2
    nodes = middle + half * np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
    out = np.zeros(y.shape)
    for k, node in enumerate(nodes):
        others = np.delete(nodes, k)
        share = np.prod((own[:, None] - others) / (node - others), axis=1)
        out += share[:, None] * left_out(matrix(), y, node, intercept, weights).predictions
    return out
