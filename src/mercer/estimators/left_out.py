"""What machines say of rows that they are not fitted to, from one fit: exactly, or by one step of Newton's method.

Near its solution a machine of any loss is one of the squared loss. With curvatures v = s·g″, slopes s·g′ = −ρ·z and
ρ = λn, a step of Newton's method from the model f solves

    (K + ρ·V⁻¹)·z + b = t,      t = f + ρ·z/v,

kernel ridge with weights v and targets t, which the model itself solves. So what the machine without row i would say
of it is, but for the curvature that changes on the way,

    fᵢ⁻ = fᵢ − cᵢ·zᵢ,      cᵢ = 1/Pᵢᵢ − ρ/vᵢ,

by :func:`mercer.metrics.left_out`; groups of rows alike. (Opper and Winther 2000; Cawley and Talbot 2008.) A loss of
straight lines has no curvature between its kinks, and rows with a coefficient between its bounds are held on a kink as
if it was infinite: that is the span of support vectors (Vapnik and Chapelle 2000). Where rows do not change sides when
one is left out this is exact, and rows without a coefficient change nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..metrics import groups_left_out, left_out
from ..problems import Iterate, Problem, Solution
from ..runtime.compile import Array

__all__ = ["Unseen", "approximately_left_out", "decisive", "refitted"]

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
