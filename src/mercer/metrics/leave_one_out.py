"""Predictions of rows by models without them, from one fit: exact for the squared loss, by a Newton step for others.

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
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..problems import Iterate, Problem, Solution
from ..runtime.compile import Array
from ..runtime.numerics import factorise, inverse, inverse_diagonal, product, solve_factorised, weighted_squares
from ..solvers.ridge import LARGEST_RIDGE, RidgePath

__all__ = [
    "Hat",
    "LeftOut",
    "Unseen",
    "approximately_left_out",
    "decisive",
    "error_and_slopes",
    "exactly_left_out",
    "groups_left_out",
    "hat",
    "left_out",
    "refitted",
]

#: Values of ρ that a polynomial goes through, where weights differ: so many, and at most.
_NODES, _MOST_NODES = 4, 16


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


class Hat(NamedTuple):
    """The matrix P that takes targets to coefficients, z = P·y, for one ρ: those of the model of all rows."""

    P: Array
    z: Array
    b: Array
    #: How much a target moves the intercept.
    of_target: Array


def hat(K: Array, y: Array, ridge: float, intercept: bool = True, weights: Array | None = None) -> Hat:
    """Everything about models of a squared loss for one ρ, in three times the time of :func:`left_out`.

    In its terms P = diag(d)·(G − (Gd)(Gd)ᵀ/dᵀGd)·diag(d); ``K`` is written over.

    Examples
    --------
    >>> import numpy as np
    >>> hat(np.eye(2), np.array([[1.0], [3.0]]), ridge=0.5).z.ravel().round(3)
    array([-0.667,  0.667])
    """
    d = np.ones(len(K)) if weights is None else np.sqrt(weights)
    if weights is not None:
        K *= d
        K *= d[:, None]
    np.einsum("ii->i", K)[:] += ridge
    factorise(K)
    P = inverse(K)
    of_target = np.zeros(len(K))
    if intercept:
        of_one = product(P, d)
        total = d @ of_one
        P -= np.outer(of_one, of_one / total)
        of_target = d * of_one / total
    if weights is not None:
        P *= d
        P *= d[:, None]
    return Hat(P, product(P, y), of_target @ y, of_target)


def groups_left_out(
    K: Array, y: Array, ridge: float, groups: Array, intercept: bool = True, weights: Array | None = None
) -> LeftOut:
    """Predict the rows of each group by the model of all other groups, for one ρ, which is that of all these models.

    Leaving a group S out is to move its targets by its errors e, to where the others have them: P_SS·e = z_S. ``K`` is
    written over.

    Parameters
    ----------
    K, y, ridge, intercept, weights
        As in :func:`left_out`.
    groups : array of shape (n,)
        The group of each row.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[1.0], [3.0], [8.0]])
    >>> groups_left_out(np.eye(3), y, ridge=0.5, groups=np.array([0, 0, 1])).predictions.ravel()
    array([8., 8., 2.])
    """
    counted = np.ones(len(K), dtype=bool) if weights is None else weights > 0
    if np.ptp(groups[counted]) == 0:
        raise ValueError("The rows that are tried are all of one group; give groups that are more even, or none.")
    unseen = np.flatnonzero(~counted)
    rows = K[unseen]
    P, z, b, of_target = hat(K, y, ridge, intercept, weights)
    errors = np.zeros(y.shape)
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        own = members[counted[members]]
        errors[own] = linalg.solve(P[np.ix_(own, own)], z[own], assume_a="pos")
        for place in np.flatnonzero(np.isin(unseen, members)):
            told = rows[place] @ z + b - (rows[place] @ P[:, own] + of_target[own]) @ errors[own]
            errors[unseen[place]] = y[unseen[place]] - told
    return LeftOut(y - errors, z, b)


def error_and_slopes(
    K: Array, y: Array, ridge: float, intercept: bool = True, weights: Array | None = None
) -> tuple[float, Array, float]:
    """The leave-one-out error, and how it changes with the entries of the matrix and with ρ.

    With z = P·y and pᵢ = Pᵢᵢ the row i misses its target by zᵢ/pᵢ, and dP = −P·(dK + dρ·S⁻¹)·P. So the error
    J = Σᵢ sᵢ·(zᵢ/pᵢ)²/n changes by Σ W∘(dK + dρ·S⁻¹) with

        W = 2/n·(P·diag(c)·P − P·a·zᵀ),      aᵢ = sᵢ·zᵢ/pᵢ²,      cᵢ = aᵢ·zᵢ/pᵢ.

    Parameters
    ----------
    K : array of shape (n, n)
        Is written over.
    y : array of shape (n, n_targets)
    ridge : float
    intercept : bool, default=True
    weights : array of shape (n,), optional
        Of mean 1.

    Returns
    -------
    error : float
    W : array of shape (n, n)
        Symmetric.
    by_ridge : float
    """
    n, targets = y.shape
    P, z, _, _ = hat(K, y, ridge, intercept, weights)
    s = np.ones(n) if weights is None else weights
    own = np.where(s > 0, np.einsum("ii->i", P), 1.0)[:, None]
    missed = z / own
    a = s[:, None] * missed / own
    c = (a * missed).sum(axis=1)
    W = weighted_squares(P, c)
    turned = product(P, a) @ z.T
    W -= 0.5 * (turned + turned.T)
    W *= 2 / (n * targets)
    by_ridge = float(np.sum(np.einsum("ii->i", W)[s > 0] / s[s > 0]))
    return float((s @ np.square(missed)).sum() / (n * targets)), W, by_ridge


def exactly_left_out(
    matrix: Callable[[], Array],
    y: Array,
    lam: float,
    intercept: bool = True,
    weights: Array | None = None,
    groups: Array | None = None,
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
    groups : array of shape (n,), optional
        The number of each row's group; rows of a group are left out together.

    Returns
    -------
    array of shape (n, n_targets)
    """
    n = len(y)
    weights = None if weights is None or np.ptp(weights) == 0 else weights * (n / weights.sum())
    counted = np.ones(n) if weights is None else weights
    together = counted if groups is None else np.bincount(groups, counted)[groups]

    def without(ridge: float) -> Array:
        if groups is None:
            return left_out(matrix(), y, ridge, intercept, weights).predictions
        return groups_left_out(matrix(), y, ridge, groups, intercept, weights).predictions

    if np.ptp(together) == 0:
        return without(lam * (n - together[0]))
    if n <= LARGEST_RIDGE:
        path = RidgePath(matrix(), weights)
        if groups is None:
            return np.column_stack([path.leave_one_out(column, lam, intercept) for column in y.T])
        return np.column_stack([path.groups_left_out(column, lam, groups, intercept) for column in y.T])
    own = lam * (n - together)
    middle, half = (own.max() + own.min()) / 2, (own.max() - own.min()) / 2
    # Of something analytic in ρ > 0, the error of a polynomial falls with its degree by this.
    falls = (1 + np.sqrt(own.min() / own.max())) / (1 - np.sqrt(own.min() / own.max()))
    count = int(np.clip(np.ceil(np.log(1e10) / np.log(falls)), _NODES, _MOST_NODES))
    nodes = np.unique(own)
    if nodes.size > count:
        nodes = middle + half * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    out = np.zeros(y.shape)
    for k, node in enumerate(nodes):
        others = np.delete(nodes, k)
        share = np.prod((own[:, None] - others) / (node - others), axis=1)
        out += share[:, None] * without(node)
    return out


# Other losses. Near its solution a machine of any loss is one of the squared loss. With curvatures v = s·g″, slopes
# s·g′ = −ρ·z and ρ = λn, a step of Newton's method from the model f solves
#
#     (K + ρ·V⁻¹)·z + b = t,      t = f + ρ·z/v,
#
# kernel ridge with weights v and targets t, which the model itself solves. So what the machine without row i would say
# of it is, but for the curvature that changes on the way,
#
#     fᵢ⁻ = fᵢ − cᵢ·zᵢ,      cᵢ = 1/Pᵢᵢ − ρ/vᵢ,
#
# by :func:`left_out`; groups of rows alike. (Opper and Winther 2000; Cawley and Talbot 2008.) A loss of straight lines
# has no curvature between its kinks, and rows with a coefficient between its bounds are held on a kink as if it was
# infinite: that is the span of support vectors (Vapnik and Chapelle 2000). Where rows do not change sides when one is
# left out this is exact, and rows without a coefficient change nothing at all.


#: Curvatures of nothing and of a kink, over ρ/(mean self-similarity): weights of 0 and ∞ but for rounding.
_FLAT, _KINK = 1e-6, 1e8
#: A coefficient that is this part of its range away from a bound lies between its bounds.
_INSIDE = 1e-8


@dataclass(frozen=True)
class Unseen:
    """What rows are told by machines without them, and of which rows that is exact."""

    scores: Array
    exact: Array


def approximately_left_out(problem: Problem, found: Iterate, K: Array, groups: Array | None = None) -> Unseen:
    """Scores of each row by the model of all others, or of all other groups, for a λn that stays as it is.

    Parameters
    ----------
    problem : Problem
    found : Iterate
        Its solution.
    K : array of shape (n, n)
    groups : array of shape (n,), optional

    Returns
    -------
    Unseen
    """
    n = len(K)
    rho = problem.lam * n
    unit = rho / (float(np.mean(np.einsum("ii->i", K))) or 1.0)
    z, several = found.z, problem.loss.several_scores
    f = K @ z + found.b
    weights = problem.weights[:, None] if several else problem.weights
    kinked = not problem.loss.smooth
    bent = _on_kinks(problem, z, rho) * _KINK * unit if kinked else n * problem.loss.hessian_diagonal(
        problem.curvatures(f)
    )  # fmt: skip
    # Where nothing is bent, the intercept lies anywhere between two rows: it stays where it is.
    free = problem.is_free and bool(bent.any())
    v = np.where(weights > 0, np.maximum(bent, _FLAT * unit), 0.0)
    targets = f - (0.0 if free else found.b) + np.divide(rho * z, v, out=np.zeros_like(z), where=v > 0)
    scores = np.empty(f.shape)
    columns = zip(*(each.reshape(n, -1).T for each in (v, targets)), range(f.size // n), strict=True)
    for own, target, place in columns:
        mean = own.mean()
        given = K.copy(), target[:, None], rho / mean
        without = (
            left_out(*given, free, own / mean) if groups is None else groups_left_out(*given, groups, free, own / mean)
        )
        scores.reshape(n, -1)[:, place] = without.predictions[:, 0]
    scores += 0.0 if free else found.b
    if not kinked:
        return Unseen(scores, problem.weights == 0)
    # Rows without a coefficient change nothing, unless it takes them to say where between two rows the intercept lies.
    idle = (np.abs(z) <= _INSIDE * np.abs(z).max(initial=0.0)) & (free or not problem.is_free)
    if groups is not None:
        idle = ~np.isin(groups, groups[~idle])
    scores[idle] = f[idle]
    return Unseen(scores, idle)


def _on_kinks(problem: Problem, z: Array, rho: float) -> Array:
    """Which rows have a slope that lies between those of two straight parts of the loss."""
    low, high = problem.loss.slope_range(problem.y)
    weights = problem.weights
    slope = np.divide(-rho * z, weights, out=np.zeros_like(z), where=weights > 0)
    ends = np.stack([low, np.zeros_like(low), high])
    return (np.abs(slope - ends) > _INSIDE * (high - low)).all(axis=0).astype(np.float64)


def refitted(
    problem: Problem, found: Iterate, rest: Array, lam: float, solve: Callable[[Problem, Iterate], Solution]
) -> Solution:
    """The machine that is fitted to some of the rows, with a λ of its own."""
    return solve(replace(problem.of_items(rest), lam=lam), Iterate(found.z[rest], found.b))


def decisive(margins: Array, known: Array, units: Array, most: int) -> list[Array]:
    """The rows of the units that decide: those with the least margins, of what is not known exactly; at most so many.

    Examples
    --------
    >>> decisive(np.array([3.0, -0.1, 0.2]), np.array([False, True, False]), np.arange(3), 1)
    [array([2])]
    """
    order = np.argsort(np.where(known, np.inf, np.abs(margins)), kind="stable")
    wanted: list[Any] = []
    for unit in units[order[: np.count_nonzero(~known)]].tolist():
        if unit not in wanted:
            wanted.append(unit)
        if len(wanted) == most:
            break
    return [np.flatnonzero(units == unit) for unit in wanted]
