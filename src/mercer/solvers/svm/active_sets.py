"""The end of the way to a soft margin: which coefficients are at a bound is guessed, and the guess mends itself.

With F = t − Kz and the level b, coefficients are optimal when zᵢ = low where Fᵢ < b, zᵢ = high where Fᵢ > b, and Fᵢ = b
in between. Rounded at its corner by a width h, the condition is zᵢ = low + (high − low)·(Fᵢ − b)/h in between, from 0
to 1, and no coefficient that may grow has an F that exceeds that of one that may shrink by more than h.

If it were known which coefficients are in between, they would solve a linear system (those at bounds being moved there
first, by e):

    (K_AA + D)·d + db = D·e_A − K_AB·e_B,     D = h/(high − low),     Σz as before,

and the solution tells better which are: those that it puts beyond a bound are at it, and those at a bound whose F says
that they should leave it are not. Written for all of them at once, i is in between where

    low < zᵢ + c·(Fᵢ − b − Dᵢ·(zᵢ − low)) < high

for any c > 0. This is Newton's method for the condition as an equation, which has kinks but is piecewise linear
(Hintermüller, Ito and Kunisch 2002): near the solution it ends after a few guesses, each of which costs a factorisation
of the matrix of those in between. Far from it, it may go round in circles; then nothing is changed.
"""

from __future__ import annotations

import time

import numpy as np

from ..._runtime.compile import Array
from ..._runtime.interrupts import heed
from ...grams.base import Gram
from ...problems import BoxDual
from .smo import levels_of

__all__ = ["active_sets"]

#: The width of the rounded corner, as a part of the tolerance.
_WIDTH = 1e-3
#: Guesses at most, and how many in a row may change more coefficients than the best one before.
_GUESSES, _WORSE = 30, 3
#: A guess that changes no more than this part of those in between may be as good as any: rounding decides the rest.
_SETTLED = 1e-3

_AT_LOW, _BETWEEN, _AT_HIGH = 0, 1, 2


def active_sets(
    gram: Gram, dual: BoxDual, z: Array, F: Array, tol: float, deadline: float = np.inf
) -> tuple[Array, Array] | None:
    """Coefficients that violate no condition by more than ``tol``, and their F; ``None`` where they are not found.

    Parameters
    ----------
    gram : Gram
        Of the variables of the dual; it says how many of them it can solve for (:meth:`~mercer.grams.Gram.inverse`).
    dual : BoxDual
        With finite bounds.
    z, F : array
        The coefficients so far, with the sums that the dual asks for, and t − Kz.
    tol : float
    deadline : float, optional
        In the seconds of :func:`time.monotonic`.

    Returns
    -------
    tuple of arrays, or None
    """
    low, high, groups = dual.low, dual.high, dual.groups
    room = high - low
    alive = room > 0
    room = np.where(alive, room, 1.0)
    member = (groups[:, None] == np.arange(dual.totals.size)).astype(np.float64)
    sums = member.T @ z
    corner = _WIDTH * tol / room
    trust = 1 / max(float(gram.diag().max(initial=0.0)), 1e-300)
    level = levels_of(F, z, low, high, groups)[0]
    z, F, before = z.copy(), F.copy(), np.full(z.size, -1, np.int8)
    fewest, worse = z.size + 1, 0
    for _ in range(_GUESSES):
        heed()
        distance = F - level[groups]
        guess = z + trust * (distance - corner * (z - low))
        state = np.where(guess <= low, _AT_LOW, np.where(guess >= high, _AT_HIGH, _BETWEEN)).astype(np.int8)
        state[~alive] = _AT_LOW
        changed = int(np.count_nonzero(state != before))
        between = np.flatnonzero(state == _BETWEEN)
        if changed <= _SETTLED * between.size:
            inside = dual.balanced(np.clip(z, low, high))
            exact = dual.targets - gram.matvec(inside)
            if levels_of(exact, inside, low, high, groups)[1] <= tol:
                return inside, exact
        worse = worse + 1 if changed >= fewest else 0
        fewest, before = min(fewest, changed), state
        if not changed or worse > _WORSE or time.monotonic() > deadline:
            return None
        inverse = gram.inverse(between, corner[between]) if (member[between].any(axis=0)).all() else None
        if inverse is None:
            return None
        ends = np.where(state == _AT_LOW, low, high) - z
        ends[between] = 0.0
        moved = np.flatnonzero(ends)
        # D·e of those in between, where e leads to the z that F asks for.
        asked = distance[between] - corner[between] * (z[between] - low[between])
        right = asked - gram.scores(between, moved, ends[moved]) if moved.size else asked
        found = inverse(np.column_stack([right, member[between]]))
        own = member[between]
        missing = sums - member.T @ (z + ends)
        shift = np.linalg.solve(own.T @ found[:, 1:], own.T @ found[:, 0] - missing)
        change = ends
        change[between] = found[:, 0] - found[:, 1:] @ shift
        z = z + change
        F = F - gram.matvec(change)
        level = level + shift
    return None
