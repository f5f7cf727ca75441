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
of the matrix of those in between. Far from it, and where that matrix is nearly singular, it may go round in circles. A
wide corner is easier than a sharp one, D being larger, and its solution is near that of a corner that is less wide.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..._runtime.compile import Array
from ..._runtime.interrupts import heed
from ...grams.base import Gram
from ...problems import BoxDual
from .smo import levels_of

__all__ = ["active_sets"]

#: The width of the corner in the end, as a part of the tolerance.
_SHARP = 1e-3
#: Where that is too sharp at once: its width as a part of the present gap, and how much sharper it becomes each time.
_WIDE, _SHARPER = 1.0, 0.3
#: Guesses at most, and how many of them may change more coefficients than one before.
_GUESSES, _WORSE = 20, 2
#: A guess that changes no more than this part of those in between may be as good as any: rounding decides the rest.
_SETTLED = 1e-3

_AT_LOW, _BETWEEN, _AT_HIGH = 0, 1, 2


def active_sets(
    gram: Gram, dual: BoxDual, z: Array, F: Array, tol: float, deadline: float = np.inf, persistent: bool = True
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
    persistent : bool, default=True
        Whether wide corners are tried where a sharp one leads nowhere.

    Returns
    -------
    tuple of arrays, or None
    """
    guessing = _Guessing(gram, dual, deadline)
    sharp = _SHARP * tol
    found = guessing.from_here(z, F, sharp, tol)
    if found is not None or not persistent:
        return found
    best, width = None, _WIDE * levels_of(F, z, dual.low, dual.high, dual.groups)[1]
    while width > sharp:
        if (found := guessing.from_here(z, F, width, max(tol, 1.1 * width))) is None:
            return best
        z, F = found
        best = found if levels_of(F, z, dual.low, dual.high, dual.groups)[1] <= tol else None
        width *= _SHARPER
    return guessing.from_here(z, F, sharp, tol) or best


@dataclass(frozen=True)
class _Guessing:
    """Guesses which variables of a dual are between their bounds."""

    gram: Gram
    dual: BoxDual
    deadline: float

    def from_here(self, z: Array, F: Array, width: float, tol: float) -> tuple[Array, Array] | None:
        """The solution for a corner of some width, if its gap is within the tolerance."""
        gram, low, high, groups = self.gram, self.dual.low, self.dual.high, self.dual.groups
        room = high - low
        corner = width / np.where(room > 0, room, 1.0)
        trust = 1 / max(float(gram.diag().max(initial=0.0)), 1e-300)
        member = (groups[:, None] == np.arange(self.dual.totals.size)).astype(np.float64)
        sums = member.T @ z
        level = levels_of(F, z, low, high, groups)[0]
        before, fewest, worse = np.full(z.size, -1, np.int8), z.size + 1, 0
        for _ in range(_GUESSES):
            heed()
            distance = F - level[groups]
            guess = z + trust * (distance - corner * (z - low))
            state = np.where(guess <= low, _AT_LOW, np.where(guess >= high, _AT_HIGH, _BETWEEN)).astype(np.int8)
            state[room <= 0] = _AT_LOW
            between, changed = np.flatnonzero(state == _BETWEEN), int(np.count_nonzero(state != before))
            if changed <= _SETTLED * between.size and (found := self._inside(z, tol)) is not None:
                return found
            worse += changed >= fewest
            fewest, before = min(fewest, changed), state
            own = member[between]
            if not changed or worse > _WORSE or time.monotonic() > self.deadline or not own.any(axis=0).all():
                return None
            inverse = gram.inverse(between, corner[between])
            if inverse is None:
                return None
            change = np.where(state == _AT_LOW, low, high) - z
            change[between] = 0.0
            moved = np.flatnonzero(change)
            # D·e of those in between, where e leads to the z that F asks for.
            right = distance[between] - corner[between] * (z[between] - low[between])
            if moved.size:
                right = right - gram.scores(between, moved, change[moved])
            found_by = inverse(np.column_stack([right, own]))
            missing = sums - member.T @ (z + change)
            shift = np.linalg.solve(own.T @ found_by[:, 1:], own.T @ found_by[:, 0] - missing)
            change[between] = found_by[:, 0] - found_by[:, 1:] @ shift
            z, F, level = z + change, F - gram.matvec(change), level + shift
        return None

    def _inside(self, z: Array, tol: float) -> tuple[Array, Array] | None:
        """Within their bounds, if the gap is then within the tolerance."""
        dual = self.dual
        z = dual.balanced(np.clip(z, dual.low, dual.high))
        F = dual.targets - self.gram.matvec(z)
        return (z, F) if levels_of(F, z, dual.low, dual.high, dual.groups)[1] <= tol else None
