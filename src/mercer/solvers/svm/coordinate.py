"""The linear soft margin, one coefficient at a time: a start that costs a few passes over the data.

With K = X·Xᵀ the dual needs no kernel matrix: w = Σ zᵢxᵢ is kept, a score costs one row. Without the constraint Σz = 0
each coefficient could be solved for in turn. The constraint enters with a multiplier, which is the intercept b, and a
penalty:

    ½‖w‖² − tᵀz + b·Σz + ρ/2·(Σz)²,      lowᵢ ≤ zᵢ ≤ highᵢ,      b ← b + ρ·Σz  after each pass.

The penalty is a constant feature of size √ρ, so a pass is that of a linear machine without intercept: for item i the
gradient is xᵢ·w − tᵢ + b + ρ·Σz and the curvature ‖xᵢ‖² + ρ. At a fixed point Σz = 0 and all conditions hold.
"""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import Array, jit
from ...grams.walk import add, score
from ...problems import Problem

#: Passes at most; what is left after them is for the exact solver, which begins where this ends.
_PASSES = 200


@jit
def _pass(rows, squares, targets, low, high, order, alive, z, w, b, total, rho, slack):
    """One pass over the items that are alive; the worst violation seen, the new Σz, and how many stay alive.

    An item at a bound whose gradient holds it there by more than ``slack`` sleeps until everybody is woken.
    """
    worst, kept = 0.0, 0
    for p in range(alive):
        i = order[p]
        gradient = score(rows, i, w) - targets[i] + b + rho * total
        if (z[i] <= low[i] and gradient > slack) or (z[i] >= high[i] and gradient < -slack):
            continue
        order[p], order[kept] = order[kept], i
        kept += 1
        stuck = (z[i] <= low[i] and gradient >= 0) or (z[i] >= high[i] and gradient <= 0)
        if stuck:
            continue
        worst = max(worst, abs(gradient))
        new = min(max(z[i] - gradient / (squares[i] + rho), low[i]), high[i])
        change = new - z[i]
        if change != 0.0:
            z[i] = new
            total += change
            add(rows, i, change, w)
    return worst, total, kept


def linear_start(problem: Problem, tol: float, rng: np.random.Generator) -> Array:
    """Coefficients close to the solution of a linear soft margin, by passes over the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> X = np.array([[2.0], [-2.0]])
    >>> problem = Problem(Features(X), np.array([1.0, -1.0]), Hinge(), lam=0.01, intercept="free")
    >>> linear_start(problem, 1e-3, np.random.default_rng(0)).round(3)
    array([ 0.125, -0.125])
    """
    gram = problem.gram
    dual = problem.box_dual
    assert dual is not None
    targets, low, high = dual.targets, dual.low, dual.high
    walk, squares = gram.walk(), gram.diag()
    n = targets.size
    z, w = np.zeros(n), np.zeros(walk.size)
    rho = max(float(squares.mean()), 1e-12)
    b, total, slack = 0.0, 0.0, np.inf
    order, alive = rng.permutation(n), n
    for _ in range(_PASSES):
        worst, total, kept = _pass(walk.rows, squares, targets, low, high, order, alive, z, w, b, total, rho, slack)
        b += rho * total
        if max(worst, abs(rho * total)) <= 0.5 * tol:
            if alive == n:
                break
            alive, slack = n, np.inf  # all seems done: ask those that sleep
        else:
            alive, slack = kept, worst
        order[:alive] = rng.permutation(order[:alive])
    return z
