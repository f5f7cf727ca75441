"""The linear soft margin, and the linear tube, one coefficient at a time.

With K = X·Xᵀ the dual needs no kernel matrix: w = Σ zᵢxᵢ is kept, a score costs one row. Without the constraint Σz = 0
each coefficient could be solved for in turn. The constraint enters with a multiplier, which is the intercept b, and a
penalty:

    ½‖w‖² − tᵀz + ε·Σ|z| + b·Σz + ρ/2·(Σz)²,      lowᵢ ≤ zᵢ ≤ highᵢ,      b ← b + ρ·Σz  after each pass.

The penalty is a constant feature of size √ρ, so a pass is that of a linear machine without intercept. For item i, with
F = tᵢ − xᵢ·w − b − ρ·Σz and the curvature q = ‖xᵢ‖² + ρ, the best coefficient is zᵢ + F/q, moved towards zero by ε/q,
then into its bounds. At a fixed point Σz = 0 and all conditions hold. After some passes, those coefficients that are
between their bounds take a step together (:mod:`.face`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..._runtime.compile import Array, jit
from ...grams.walk import LATER, SOON, add, foresee, score
from ...problems import Iterate, Problem, balanced
from .face import face_step, free_items

__all__ = ["CoordinateDescent"]


#: Passes between two steps on the face that they have come to, and conjugate gradients in each.
_PERIOD, _GRADIENTS = 10, 20


class _Items(NamedTuple):
    """What a pass knows of each item: its target, half the width of its tube, its bounds, and ‖x‖²."""

    targets: Array
    half_width: Array
    low: Array
    high: Array
    squares: Array


class _Progress(NamedTuple):
    """How far passes have come: the multiplier b, the penalty ρ, Σz, and who is visited.

    The first ``alive`` items of the order are; those that their gradient holds at a bound by more than ``slack`` sleep
    until all others are done.
    """

    b: float
    rho: float
    total: float
    alive: int
    slack: float


@jit
def _pass(rows, items, order, z, w, b, total, rho, alive, slack):
    """One pass over the items that are alive; the worst violation seen, the new Σz, and how many stay alive."""
    worst, kept = 0.0, 0
    for p in range(alive):
        foresee(rows, order[min(p + SOON, alive - 1)], order[min(p + LATER, alive - 1)])
        i = order[p]
        old, half = z[i], items.half_width[i]
        F = items.targets[i] - score(rows, i, w) - b - rho * total
        grow = F - (half if old >= 0.0 else -half) if old < items.high[i] else -np.inf
        shrink = -F - (half if old <= 0.0 else -half) if old > items.low[i] else -np.inf
        violation = max(grow, shrink)
        if violation < -slack:
            continue
        order[p], order[kept] = order[kept], i
        kept += 1
        if violation <= 0.0:
            continue
        worst = max(worst, violation)
        curvature = items.squares[i] + rho
        best = old + F / curvature
        best = max(best - half / curvature, 0.0) if best > 0.0 else min(best + half / curvature, 0.0)
        new = min(max(best, items.low[i]), items.high[i])
        if new != old:
            z[i] = new
            total += new - old
            add(rows, i, new - old, w)
    return worst, total, kept


@jit
def _passes(rows, items, order, z, w, progress, rng, tol, visits):
    """Passes until no condition is violated by more than ``tol``, or until so many items were visited."""
    b, rho, total, alive, slack = progress
    seen, done, passes = 0, False, 0
    while not done and seen < visits:
        for p in range(alive - 1, 0, -1):
            other = int(rng.random() * (p + 1))
            order[p], order[other] = order[other], order[p]
        worst, total, kept = _pass(rows, items, order, z, w, b, total, rho, alive, slack)
        seen += alive
        b += rho * total
        if kept and max(worst, abs(rho * total)) > tol:
            alive, slack = kept, worst
        else:
            done = alive == order.size and max(worst, abs(rho * total)) <= tol
            alive, slack = order.size, np.inf  # all seems done, or all sleep: ask those that sleep
        passes += 1
        if not done and passes % _PERIOD == 0:
            face = free_items(items, order, alive, z)
            if face.size:
                total = face_step(rows, items, face, z, w, b, total, rho, _GRADIENTS)
                b += rho * total
                seen += _GRADIENTS * face.size
    return _Progress(b, rho, total, alive, slack), done, seen


class CoordinateDescent:
    """Coefficients of a linear soft margin or tube with a free intercept, better and better.

    Parameters
    ----------
    problem : Problem
        With a Gram that knows its features.
    rng : numpy.random.Generator
        Decides the order of the items.
    start : Iterate, optional

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> X = np.array([[2.0], [-2.0]])
    >>> problem = Problem(Features(X), np.array([1.0, -1.0]), Hinge(), lam=0.01, intercept="free")
    >>> descent = CoordinateDescent(problem, np.random.default_rng(0))
    >>> descent.run(1e-6, visits=1000), descent.z.round(3)
    (True, array([ 0.125, -0.125]))
    """

    def __init__(self, problem: Problem, rng: np.random.Generator, start: Iterate | None = None) -> None:
        dual, n = problem.box_dual, len(problem.gram)
        assert dual is not None
        walk, squares = problem.gram.walk(), problem.gram.diag()
        if dual.doubled:  # both walls of a tube are those of one item
            lower, upper = dual.targets[:n], dual.targets[n:]
            self._items = _Items(0.5 * (lower + upper), 0.5 * (upper - lower), dual.low[n:], dual.high[:n], squares)
        else:
            self._items = _Items(dual.targets, np.zeros(n), dual.low, dual.high, squares)
        self._rows, self._rng, self._order = walk.rows, rng, np.arange(n)
        self.z = np.zeros(n) if start is None else balanced(start.z, self._items.low, self._items.high)
        self._w = walk.start() if start is None else problem.gram.model(self.z)
        b = 0.0 if start is None else float(start.b)
        self._progress = _Progress(b, max(float(squares.mean()), 1e-12), 0.0, n, np.inf)
        #: Items looked at.
        self.visits = 0

    def run(self, tol: float, visits: float) -> bool:
        """Go on until no condition is violated by more than ``tol``, which is returned, or for so many visits."""
        state: Any = _passes(
            self._rows, self._items, self._order, self.z, self._w, self._progress, self._rng, tol, visits
        )
        self._progress, done, seen = _Progress(*state[0]), state[1], state[2]
        self.visits += seen
        return bool(done)

    @property
    def passes(self) -> int:
        """How often all items could have been looked at."""
        return -(-self.visits // self.z.size)

    @property
    def free(self) -> int:
        """How many coefficients are neither at a bound nor, in a tube, zero."""
        z, items = self.z, self._items
        return int(np.count_nonzero((z > items.low) & (z < items.high) & ((items.half_width == 0) | (z != 0))))

    def allowed(self) -> Array:
        """The coefficients, with a sum of zero to rounding."""
        return balanced(self.z, self._items.low, self._items.high)
