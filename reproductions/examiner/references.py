"""Other methods for the soft margin and the tube: an interior point method, LIBSVM, a linear program.

Each returns coefficients; what they are worth is computed by :mod:`.tasks` like everything else. So a reference that
fails can only be of no use, never wrong.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize
from sklearn import svm

from .definitions import EXACT, Array, Real
from .tasks import Task

#: LIBSVM keeps kernel values in single precision; larger ones are infinite there.
_LARGEST_SINGLE = 1e37


class Answer(NamedTuple):
    """Coefficients and an intercept by another method, and whether that method says that it has converged."""

    z: Array
    b: Real
    converged: bool


# -- the soft margin and the tube ------------------------------------------------------------------------------------


def interior_point(task: Task) -> Answer:
    """Mehrotra's predictor and corrector for  min ½·zᵀKz − tᵀz,  low ≤ z ≤ high,  Σz = 0  (hinge or tube).

    The tube has two coefficients an item, one for each wall. The multiplier of Σz = 0 is the intercept. Units are
    chosen so that z and t are of size one.
    """
    alive = np.flatnonzero(task.cost > 0)
    K = task.K[np.ix_(alive, alive)].astype(np.float64)
    if task.intercept == "counted":
        K = K + 1.0
    t, box = task.y[alive].astype(np.float64), task.box()[alive].astype(np.float64)
    if task.loss.name == "tube":
        size = float(task.loss.size)
        K = np.tile(K, (2, 2))
        t = np.concatenate([t - size, t + size])
        low, high = np.concatenate([0 * box, -box]), np.concatenate([box, 0 * box])
    else:
        low, high = (bound[alive].astype(np.float64) for bound in task.bounds())
    equations = np.ones((int(task.intercept == "free"), t.size))
    z, b, converged = _box_program(K, t, low, high, equations, np.zeros(len(equations)))
    if task.loss.name == "tube":
        z = z[: alive.size] + z[alive.size :]
    out = np.zeros(len(task.y))
    out[alive] = z
    return Answer(out, b, converged)


def program(K: Array, t: Array, low: Array, high: Array, A: Array, totals: Array) -> Array:
    """min ½·zᵀKz − tᵀz,  low ≤ z ≤ high,  Az = totals, for rows of A that are groups of variables."""
    z = _box_program(K, t, low, high, A, totals)[0].astype(EXACT)
    for row, total in zip(A, totals, strict=True):
        mine = row > 0
        for _ in range(3):
            excess = z[mine].sum() - total
            room = z[mine] - low[mine] if excess > 0 else high[mine] - z[mine]
            if room.sum() > 0:
                z[mine] -= excess * room / room.sum()
    return np.clip(z, low, high)


def _box_program(K: Array, t: Array, low: Array, high: Array, A: Array, totals: Array) -> tuple[Array, float, bool]:
    # A free intercept takes up a common part of the targets.
    even = len(A) == 1 and totals[0] == 0
    level = float(np.mean(t)) if even else 0.0
    unit = max(float(np.abs(t - level).max()), 1e-300)
    if not even and len(A):  # sums, not targets, say how large coefficients are
        unit = max(unit, float(np.abs(totals).max() * np.abs(K.diagonal()).max()))
    reach = min(float(np.max(high - low)), unit / max(float(np.abs(K.diagonal()).max()), 1e-300))
    # z = reach·u, b = unit·β: ½·uᵀ(reach/unit·K)u − (t/unit)ᵀu.
    barrier = _Barrier(K * (reach / unit), (t - level) / unit, low / reach, high / reach, A, totals / reach)
    converged = barrier.descend()
    z, b = np.clip(reach * barrier.u, low, high), level
    if even:
        z, b = _feasible(z, low, high, True), unit * float(barrier.beta[0]) + level
    return z, b, converged


class _Barrier:
    """A point inside the bounds, with multipliers p and q of the lower and upper ones and β of Au = totals."""

    def __init__(self, Q: Array, c: Array, low: Array, high: Array, A: Array, totals: Array) -> None:
        self.Q, self.c, self.A, self.totals = Q, c, A, totals
        n = c.size
        self.has_low, self.has_high = np.isfinite(low), np.isfinite(high)
        self.count = max(1, int(self.has_low.sum() + self.has_high.sum()))
        inside = np.minimum(1.0, (high - low) / 2)
        self.u = np.where(self.has_low, low + inside, high - inside)
        self.beta, self.p, self.q = np.zeros(len(A)), np.ones(n) * self.has_low, np.ones(n) * self.has_high
        # Slacks move with u, not from it: near a bound u − low has lost its digits.
        self.below = np.where(self.has_low, self.u - low, 1.0)
        self.above = np.where(self.has_high, high - self.u, 1.0)

    def descend(self) -> bool:
        """Steps until nothing is left to gain, or none is possible; whether the former."""
        for _ in range(200):
            self.gradient = self.Q @ self.u - self.c + self.A.T @ self.beta - self.p + self.q
            self.balance = self.A @ self.u - self.totals
            product = float(self.p @ self.below + self.q @ self.above)
            done = product < 1e-13 * (1.0 + abs(float(self.c @ self.u))) and np.abs(self.gradient).max() < 1e-12
            if done and np.abs(self.balance).max(initial=0.0) < 1e-12 * (1 + np.abs(self.u).sum()):
                return True
            ridge = 1e-15 * max(1.0, float(self.Q.diagonal().max()))
            H = self.Q + np.diag(self.p / self.below + self.q / self.above + ridge)
            try:
                self.factor = linalg.cho_factor(H, lower=True, check_finite=False)
                self.of_A = linalg.cho_solve(self.factor, self.A.T, check_finite=False)
            except (linalg.LinAlgError, ValueError):
                return False
            mu = product / self.count
            du, _, dp, dq = self.direction(0.0, 0.0)
            step = self.longest(du, dp, dq)
            after = (self.p + step * dp) @ (self.below + step * du * self.has_low)
            after += (self.q + step * dq) @ (self.above - step * du * self.has_high)
            centre = mu * (max(float(after), 0.0) / max(product, 1e-300)) ** 3
            du, dbeta, dp, dq = self.direction(centre - du * dp, centre + du * dq)
            step = min(1.0, 0.995 * self.longest(du, dp, dq))
            if not np.isfinite(step) or step < 1e-12 or not np.isfinite(du).all():
                return False
            self.u, self.beta = self.u + step * du, self.beta + step * dbeta
            self.p, self.q = self.p + step * dp, self.q + step * dq
            self.below = self.below + step * du * self.has_low
            self.above = self.above - step * du * self.has_high
        return False

    def direction(self, low: Array | float, high: Array | float) -> tuple[Array, Array, Array, Array]:
        """Newton's step towards p·(u − low) and q·(high − u) of these sizes."""
        right = -self.gradient - self.p + self.q
        right = right + low / self.below * self.has_low - high / self.above * self.has_high
        du = linalg.cho_solve(self.factor, right, check_finite=False)
        try:
            dbeta = np.linalg.solve(self.A @ self.of_A, self.A @ du + self.balance)
        except np.linalg.LinAlgError:
            dbeta = np.full(len(self.A), np.nan)
        du = du - self.of_A @ dbeta
        dp = (low - self.p * du) / self.below * self.has_low - self.p
        dq = (high + self.q * du) / self.above * self.has_high - self.q
        return du, dbeta, dp, dq

    def longest(self, du: Array, dp: Array, dq: Array) -> float:
        """The longest step that keeps all slacks and multipliers positive."""
        ratios = [1.0]
        moves = ((self.below, du * self.has_low), (self.above, -du * self.has_high), (self.p, dp), (self.q, dq))
        for value, change in moves:
            falling = change < 0
            ratios.append(float(np.min(-value[falling] / change[falling], initial=np.inf)))
        return max(0.0, min(ratios))


def _feasible(z: Array, low: Array, high: Array, equality: bool) -> Array:
    """The coefficients moved into their bounds and, if asked, to a sum of zero by shrinking the heavier side."""
    z = np.clip(z, low, high).astype(EXACT)
    if equality:
        total = z.sum()
        side = z > 0 if total > 0 else z < 0
        weight = np.abs(z[side]).sum()
        if weight > 0:
            z[side] *= 1 - np.abs(total) / weight
    return z


def libsvm(task: Task, limit: int = 100_000, tol: float = 1e-6) -> Answer | None:
    """LIBSVM through scikit-learn, on the kernel matrix; ``None`` where its single precision cannot hold that."""
    alive = np.flatnonzero(task.cost > 0)
    K, cost = task.K[np.ix_(alive, alive)].astype(np.float64), task.box()[alive].astype(np.float64)
    y = task.y[alive].astype(np.float64)
    if task.loss.name == "pinball":
        return None
    if not (np.isfinite(cost).all() and np.abs(K).max() < _LARGEST_SINGLE and cost.max() < 1e30):
        return None
    options = {"kernel": "precomputed", "C": 1.0, "tol": tol, "max_iter": limit, "cache_size": 50}
    tube = task.loss.name == "tube"
    machine = svm.SVR(epsilon=float(task.loss.size), **options) if tube else svm.SVC(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            machine.fit(K, y, sample_weight=cost)
        except ValueError:
            return None
    z = np.zeros(len(task.y))
    z[alive[machine.support_]] = machine.dual_coef_[0]
    return Answer(z, float(machine.intercept_[0]), machine.fit_status_ == 0)


def violation(task: Task, z: Array, scores: tuple[Array, Array] | None = None) -> tuple[float, float]:
    """The worst violation of an optimality condition of the dual, and how much of it may be rounding.

    F = t − Kz may not be larger where a coefficient could grow than where one could shrink. Coefficients nearer to a
    bound than 1e-9 of the width of their box (1e-6, at its far end) are taken to be at it. ``scores``, with their
    doubt, are those of weights, where the model is its weights.
    """
    alive = task.cost > 0
    f, doubt = task.scores(z) if scores is None else scores
    z, y, box = np.asarray(z, EXACT), task.y, task.box()
    near = 1e-9 * np.where(np.isfinite(box), box, np.abs(z).max(initial=0))
    far = box * (1 - EXACT(1e-6))
    if task.loss.name == "tube":
        size = EXACT(task.loss.size)
        # A coefficient at zero grows against one wall of the tube and shrinks against the other.
        up, down = np.where(z < -near, y + size, y - size) - f, np.where(z > near, y - size, y + size) - f
        grow, shrink = alive & (z < far), alive & (z > -far)
    else:
        up = down = y - f
        low, high = task.bounds()
        grow = alive & (z < np.where(high > 0, high * (1 - EXACT(1e-6)), -near))
        shrink = alive & (z > np.where(low < 0, low * (1 - EXACT(1e-6)), near))
    if task.intercept == "free":
        worst = np.max(up[grow], initial=-np.inf) - np.min(down[shrink], initial=np.inf)
    else:
        worst = max(np.max(up[grow], initial=-np.inf), -np.min(down[shrink], initial=np.inf))
    return max(0.0, float(worst)), 2 * float(doubt.max(initial=0) + task.rounding * np.abs(y).max(initial=0))


# -- the hard margin --------------------------------------------------------------------------------------------------


def separation(features: Array, y: Array) -> float | None:
    """The largest t with y·(⟨w, x⟩ + b) ≥ t and |w| ≤ 1, columns centred and brought to unit size; by HiGHS.

    Zero where the classes are not separable; ``None`` where the program could not be solved.
    """
    X = features - features.mean(axis=0)
    size = np.abs(X).max(axis=0)
    X = np.divide(X, size, out=np.zeros_like(X), where=size > 0).astype(np.float64)
    n, d = X.shape
    sign = y.astype(np.float64)[:, None]
    A = np.hstack([-sign * X, -sign, np.ones((n, 1))])
    bounds = [(-1, 1)] * d + [(-d - 1, d + 1), (0, None)]
    found = optimize.linprog(
        np.append(np.zeros(d + 1), -1.0),
        A_ub=A,
        b_ub=np.zeros(n),
        bounds=bounds,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    return float(found.x[-1]) if found.success else None
