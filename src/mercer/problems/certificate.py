"""The certificate of a soft margin or a tube: how good a machine is, computed from the machine alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._runtime.compile import Array
from ..grams.base import Gram
from .problem import Problem, Solution

__all__ = ["MarginCertificate", "balanced", "best_intercept", "certify_margin", "slack"]

#: Items that a solver in float32 puts this far on the right side of their margin, or farther, need no look …
_CLEAR = 0.05
#: … as long as no score that was looked at is wrong by more than this part of it. So many of the others are tried.
_TRUSTED, _SAMPLE = 0.02, 256
#: With so few items all scores are computed anew.
_FEW = 2000
_EPSILON = 2.3e-16
#: A sum is zero that is smaller than this part of its terms.
_ROUNDED = 1e-14


class MarginCertificate(NamedTuple):
    """The intercept, the primal objective, its duality gap, and the worst violation of an optimality condition.

    ``scores`` are those of all items, without the intercept; exact where they matter.
    """

    intercept: float
    objective: float
    gap: float
    violation: float
    scores: Array


def certify_margin(problem: Problem, exact: Gram, solution: Solution, known: bool = False) -> MarginCertificate:
    """The certificate of a solution of the dual, in float64; the coefficients are within their bounds, Σz = 0.

    With F = t − Kz, how much the score of each item falls short of its target, and boxes Cᵢ = highᵢ − lowᵢ,

        primal(b) = ½·zᵀKz + Σ Cᵢ·max(0, ±(Fᵢ − b)),      dual = tᵀz − ½·zᵀKz,      dual ≤ optimum ≤ primal,

    with + for items whose coefficients are positive and − for the others (a soft margin has t = y). The intercept is
    the b for which the primal is least. An item with zᵢ = 0 and a score clearly beyond its target adds nothing to
    either and violates nothing, whatever the last digits of its score; the scores of all others are computed anew from
    ``exact``, the kernel matrix without rounding to float32, and so are those of the clear ones where rounding turns
    out to be more than a small part of "clearly".

    ``known``: the scores of the solution are exact already, as far as they matter. A linear model that is known by its
    weights is judged by them: ½‖w‖² takes the place of ½·zᵀKz in the primal.
    """
    z, targets = solution.z, problem.targets()
    low, high = problem.bounds()
    scores = np.array(solution.scores, dtype=np.float64)
    used = np.flatnonzero(z)
    weights = z[used]

    def look(items: Array) -> float:
        """Put exact scores in; the largest error that there was."""
        if not items.size:
            return 0.0
        anew = exact.scores(items, used, weights) if used.size else np.zeros(items.size)
        error = float(np.abs(scores[items] - anew).max())
        scores[items] = anew
        return error

    left = np.arange(z.size)
    if solution.w is not None:
        scores, square = exact.scores_and_square(z, solution.w)
        left = left[:0]
    elif known:
        left = left[:0]
    elif z.size > _FEW:
        distance = targets - scores - solution.b
        clear = (z == 0) & np.where(high > 0, distance < -_CLEAR, True) & np.where(low < 0, distance > _CLEAR, True)
        error = look(np.flatnonzero(~clear))
        left = np.flatnonzero(clear)
        sample = left[np.random.default_rng(0).permutation(left.size)[:_SAMPLE]]
        error = max(error, look(np.sort(sample)))
        left = np.setdiff1d(left, sample, assume_unique=True) if not error <= _TRUSTED * _CLEAR else left[:0]
    look(left)
    F = targets - scores
    grow = float(F[z < high].max(initial=-np.inf))
    shrink = float(F[z > low].min(initial=np.inf))
    b = best_intercept(F, low, high) if np.isfinite(high - low).all() else 0.5 * (grow + shrink)
    norm = float(weights @ scores[used])
    reward = float(targets[used] @ weights)
    if solution.w is None:
        square = norm
    else:
        norm = exact.scores_and_square(z)[1]
    primal, dual = 0.5 * square + float(slack(F - b, low, high).sum()), reward - 0.5 * norm
    if not (np.isfinite(primal) and np.isfinite(dual) and np.isfinite(grow - shrink)):
        raise ValueError(
            "the kernel matrix has values too large for a machine to be computed from; scale the columns first, for "
            "example with sklearn.preprocessing.StandardScaler, or use a normalised kernel."
        )
    # Rounding: a score is a sum of terms zⱼ·k(xⱼ, x), each as large as √(k(x, x)·k(xⱼ, xⱼ)), or ⟨w, φ(x)⟩.
    lengths = exact.lengths()
    paid = np.where(F - b > 0, np.where(np.isfinite(high), high, 0.0), np.where(np.isfinite(low), -low, 0.0))
    parts = float(lengths[used] @ np.abs(weights)) if solution.w is None else float(np.sqrt(square))
    rounding = _EPSILON * parts * float(lengths @ paid)
    return MarginCertificate(b, primal, max(rounding, primal - dual), max(0.0, grow - shrink), scores)


def slack(distance: Array, low: Array, high: Array) -> Array:
    """What each item pays for the distance F − b: its box for every unit on the wrong side.

    The box of a hard margin is infinite; nobody pays there.
    """
    upper, lower = np.where(np.isfinite(high), high, 0.0), np.where(np.isfinite(low), low, 0.0)
    return upper * np.maximum(0.0, distance) + lower * np.minimum(0.0, distance)


def best_intercept(F: Array, low: Array, high: Array) -> float:
    """The b for which Σ highᵢ·max(0, Fᵢ − b) − lowᵢ·max(0, b − Fᵢ) is least; the middle, where many are.

    The sum is convex and made of straight pieces that meet at the F. Right of all of them its slope is −Σ lowᵢ; every
    F that is passed on the way down takes highᵢ − lowᵢ off the slope, and where it turns negative is the minimum.

    Examples
    --------
    >>> import numpy as np
    >>> best_intercept(np.array([1.0, -1.0]), np.array([0.0, -2.0]), np.array([2.0, 0.0]))
    0.0
    """
    order = np.argsort(-F)
    slopes = -low.sum() - np.cumsum((high - low)[order])
    level = 1e-12 * float((high - low).sum())
    first = min(int(np.searchsorted(-slopes, -level)), F.size - 1)  # where the slope is zero, or falls below it
    last = min(int(np.searchsorted(-slopes, level, side="right")), F.size - 1)
    return float(0.5 * (F[order[first]] + F[order[last]]))


def balanced(z: Array, low: Array, high: Array) -> Array:
    """Coefficients within their bounds whose sum is zero to rounding.

    What is too much is taken from those that are free, in proportion to the room they have; from all others only where
    those have too little, and rounding is no reason to take a coefficient off its bound.

    Examples
    --------
    >>> import numpy as np
    >>> balanced(np.array([2.0, 0.7, -2.0]), np.array([0.0, 0.0, -2.0]), np.array([2.0, 2.0, 0.0]))
    array([ 2.,  0., -2.])
    """
    z = np.clip(z, low, high)
    free = (z > low) & (z < high)
    for _ in range(3):
        excess = float(z.sum())
        room = np.where(free, z - low if excess > 0 else high - z, 0.0)
        room = np.where(np.isfinite(room), room, np.abs(z))
        z = _given_up(z, room, excess, _EPSILON, low, high)
    for _ in range(2):
        excess = float(z.sum())
        room = np.where(z > 0 if excess > 0 else z < 0, np.abs(z), 0.0)
        z = _given_up(z, room, excess, _ROUNDED, low, high)
    return z


def _given_up(z: Array, room: Array, excess: float, slight: float, low: Array, high: Array) -> Array:
    """z with the excess taken off in proportion to the room, or as much of it as there is room for."""
    total = float(room.sum())
    if abs(excess) <= slight * float(np.abs(z).sum()) or total == 0:
        return z
    return np.clip(z - np.sign(excess) * room * min(1.0, abs(excess) / total), low, high)
