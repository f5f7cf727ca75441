"""Other methods for the same problems: an interior point method, Newton's method, LIBSVM, a linear program.

Each returns coefficients; what they are worth is computed by :mod:`.tasks` like everything else. So a reference that
fails can only be of no use, never wrong.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize
from sklearn import svm

from .definitions import EXACT, Array
from .tasks import Task

#: LIBSVM keeps kernel values in single precision; larger ones are infinite there.
_LARGEST_SINGLE = 1e37


class Answer(NamedTuple):
    """Coefficients and an intercept by another method, and whether that method says that it has converged."""

    z: Array
    b: float
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
        low, high = np.where(t > 0, 0.0, -box), np.where(t > 0, box, 0.0)
    z, b, converged = _box_program(K, t, low, high, task.intercept == "free")
    if task.loss.name == "tube":
        z = z[: alive.size] + z[alive.size :]
    out = np.zeros(len(task.y))
    out[alive] = z
    return Answer(out, b, converged)


def _box_program(K: Array, t: Array, low: Array, high: Array, equality: bool) -> tuple[Array, float, bool]:
    level = float(np.mean(t)) if equality else 0.0  # a free intercept takes up a common part of the targets
    t = t - level
    unit = max(float(np.abs(t).max()), 1e-300)
    width = float(np.max(high - low))
    reach = min(width, unit / max(float(np.abs(K.diagonal()).max()), 1e-300))
    # z = reach·u, b = unit·β: ½·uᵀ(reach/unit·K)u − (t/unit)ᵀu.
    Q, c, lower, upper = K * (reach / unit), t / unit, low / reach, high / reach
    n = c.size
    bounded = np.isfinite(lower), np.isfinite(upper)
    u = np.where(bounded[0], lower, upper) + np.where(bounded[0], 1, -1) * np.minimum(1.0, (upper - lower) / 2)
    p, q, beta, converged = np.ones(n) * bounded[0], np.ones(n) * bounded[1], 0.0, False
    slack_low = np.where(bounded[0], u - lower, 1.0)
    slack_high = np.where(bounded[1], upper - u, 1.0)
    count = max(1, int(bounded[0].sum() + bounded[1].sum()))
    for _ in range(200):
        dual_gap = Q @ u - c + beta - p + q
        balance = u.sum() if equality else 0.0
        mu = float(p @ slack_low + q @ slack_high) / count
        size = 1.0 + float(np.abs(c @ u))
        if mu * count < 1e-13 * size and np.abs(dual_gap).max() < 1e-12 and abs(balance) < 1e-12 * (1 + np.abs(u).sum()):
            converged = True
            break
        H = Q + np.diag(p / slack_low + q / slack_high + 1e-15 * max(1.0, float(Q.diagonal().max())))
        try:
            factor = linalg.cho_factor(H, lower=True, check_finite=False)
            ones = linalg.cho_solve(factor, np.ones(n), check_finite=False)
        except (linalg.LinAlgError, ValueError):
            break

        def direction(mu_low: Array, mu_high: Array) -> tuple[Array, float, Array, Array]:
            right = -dual_gap - p + mu_low / slack_low * bounded[0] + q - mu_high / slack_high * bounded[1]  # noqa: B023
            du = linalg.cho_solve(factor, right, check_finite=False)  # noqa: B023
            dbeta = (du.sum() + balance) / ones.sum() if equality else 0.0  # noqa: B023
            du = du - dbeta * ones  # noqa: B023
            dp = (mu_low - p * du) / slack_low * bounded[0] - p  # noqa: B023
            dq = (mu_high + q * du) / slack_high * bounded[1] - q  # noqa: B023
            return du, dbeta, dp, dq

        du, dbeta, dp, dq = direction(np.zeros(n), np.zeros(n))
        step = _longest(slack_low, slack_high, p, q, du, dp, dq, bounded)
        after = (p + step * dp) @ (slack_low + step * du * bounded[0])
        after += (q + step * dq) @ (slack_high - step * du * bounded[1])
        sigma = (max(after, 0.0) / count / max(mu, 1e-300)) ** 3
        du, dbeta, dp, dq = direction(sigma * mu - du * dp, sigma * mu + du * dq)
        step = min(1.0, 0.995 * _longest(slack_low, slack_high, p, q, du, dp, dq, bounded))
        if not np.isfinite(step) or step < 1e-12 or not np.isfinite(du).all():
            break
        u, beta, p, q = u + step * du, beta + step * dbeta, p + step * dp, q + step * dq
        # Slacks move with u, not from it: near a bound u − low has lost its digits.
        slack_low = slack_low + step * du * bounded[0]
        slack_high = slack_high - step * du * bounded[1]
    return _feasible(reach * u, low, high, equality), unit * beta + level, converged


def _longest(
    slack_low: Array, slack_high: Array, p: Array, q: Array, du: Array, dp: Array, dq: Array, bounded: tuple
) -> float:
    """The longest step that keeps all slacks and multipliers positive."""
    ratios = [1.0]
    for value, change in ((slack_low, du * bounded[0]), (slack_high, -du * bounded[1]), (p, dp), (q, dq)):
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
    if not (np.isfinite(cost).all() and np.abs(K).max() < _LARGEST_SINGLE and cost.max() < 1e30):
        return None
    options = {"kernel": "precomputed", "C": 1.0, "tol": tol, "max_iter": limit, "cache_size": 50}
    if task.loss.name == "tube":
        machine = svm.SVR(epsilon=float(task.loss.size), **options)
    else:
        machine = svm.SVC(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            machine.fit(K, y, sample_weight=cost)
        except ValueError:
            return None
    z = np.zeros(len(task.y))
    z[alive[machine.support_]] = machine.dual_coef_[0]
    return Answer(z, float(machine.intercept_[0]), machine.fit_status_ == 0)


def violation(task: Task, z: Array) -> tuple[float, float]:
    """The worst violation of an optimality condition of the dual, and how much of it may be rounding.

    F = t − Kz may not be larger at an item that could grow than at one that could shrink. Coefficients within 1e-9 of a
    bound, measured by the width of their box, are taken to be at it.
    """
    alive = task.cost > 0
    f, doubt = task.scores(z)
    z, y, box = np.asarray(z, EXACT), task.y, task.box()
    near = 1e-9 * np.where(np.isfinite(box), box, np.abs(z).max(initial=0))
    if task.loss.name == "tube":
        size = EXACT(task.loss.size)
        # A coefficient at zero grows against one wall of the tube and shrinks against the other.
        up, down = np.where(z < -near, y + size, y - size) - f, np.where(z > near, y - size, y + size) - f
        grow, shrink = alive & (z < box - near), alive & (z > near - box)
    else:
        up = down = y - f
        grow = alive & (z < np.where(y > 0, box, 0) - near)
        shrink = alive & (z > np.where(y > 0, 0, -box) + near)
    if task.intercept == "free":
        worst = np.max(up[grow], initial=-np.inf) - np.min(down[shrink], initial=np.inf)
    else:
        worst = max(np.max(up[grow], initial=-np.inf), -np.min(down[shrink], initial=np.inf))
    return max(0.0, float(worst)), 2 * float(doubt.max(initial=0) + task.rounding * np.abs(y).max(initial=0))


# -- smooth losses ----------------------------------------------------------------------------------------------------


def newton(task: Task, steps: int = 80) -> Answer:
    """Newton's method on coefficients. At the minimum reg·z = −cost·ℓ′, so that a step solves, with h = cost·ℓ″,

        (diag(h)·K + reg)·z + h·b = h·(f + b) − cost·ℓ′,      Σz = 0,

    by LU in double precision. Objectives of the line search are in extended precision.
    """
    n = len(task.y)
    K = task.K + (1 if task.intercept == "counted" else 0)
    free = task.intercept == "free"
    z, b, f = np.zeros(n, EXACT), EXACT(0), np.zeros(n, EXACT)
    if free and not task.loss.of_margin:
        b = np.average(task.y, weights=task.cost)
    rough = K.astype(np.float64)
    value = _objective(task, z @ f, f + b)
    damping, converged = 0.0, False
    for _ in range(steps):
        g = task.cost * task.loss.slope(task.y, f + b)
        h = task.cost * np.maximum(task.loss.bend(task.y, f + b), EXACT(damping))
        M = np.zeros((n + 1, n + 1))
        M[:n, :n] = (h[:, None] * K).astype(np.float64) if np.abs(rough).max() < 1e280 else h[:, None] * rough
        M[np.arange(n), np.arange(n)] += task.reg
        M[:n, n] = h
        right = np.zeros(n + 1, EXACT)
        right[:n] = -(EXACT(task.reg) * z + g)
        if free:
            M[n, :n], right[n] = 1.0, -z.sum()
        else:
            M[:n, n], M[n, n] = 0.0, 1.0
        step = _solve_refined(M, right, h, K, task.reg, free)
        if step is None:
            break
        dz, db = step[:n], step[n] if free else EXACT(0)
        df = K @ dz
        # How much the quadratic model promises.
        promise = -(EXACT(task.reg) * (dz @ f) + g @ (df + db))
        scale = max(abs(value), EXACT(1e-300))
        if not np.isfinite(promise) or promise <= 1e-15 * scale:
            converged = bool(np.isfinite(promise) and abs(promise) <= 1e-9 * scale)
            break
        t, found = EXACT(1), None
        while t > 1e-8:
            square = (z + t * dz) @ (f + t * df)
            trial = _objective(task, square, f + b + t * (df + db))
            if trial < value - EXACT(1e-4) * t * promise:
                found = trial
                break
            t /= 2
        if found is None:
            converged = bool(promise <= 1e-9 * scale)
            damping = max(10 * damping, 1e-6)
            if converged or damping > 1:
                break
            continue
        damping = max(10 * damping, 1e-3) if t < 0.2 else damping / 10 if damping > 1e-9 else 0.0
        z, b, f, value = z + t * dz, b + t * db, f + t * df, found
    if task.intercept == "counted":
        b = z.sum()
    return Answer(z, b, converged)


def _objective(task: Task, square: float, scores: Array) -> float:
    return EXACT(task.reg) / 2 * square + task.cost @ task.loss.value(task.y, scores)


def _solve_refined(M: Array, right: Array, h: Array, K: Array, reg: float, free: bool) -> Array | None:
    """The solution of the Newton system, corrected three times with residuals in extended precision."""
    size = np.abs(M).max(axis=1)
    size[size == 0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            factor = linalg.lu_factor(M / size[:, None])
        except (ValueError, linalg.LinAlgError):
            return None
        n, out = len(h), np.zeros(len(right), EXACT)
        for _ in range(4):
            dz, db = out[:n], out[n]
            left = np.empty_like(right)
            left[:n] = h * (K @ dz + (db if free else 0)) + EXACT(reg) * dz
            left[n] = dz.sum() if free else db
            correction = linalg.lu_solve(factor, ((right - left) / size).astype(np.float64))
            if not np.isfinite(correction).all():
                return None if not out.any() else out
            out = out + correction
    return out


def softmax_newton(K: Array, own: Array, cost: Array, reg: float, free: bool) -> tuple[Array, Array, bool]:
    """As :func:`newton`, for all classes at once: unknowns z (item by item within a class) and b (one a class)."""
    n, k = own.shape
    Z, b, F = np.zeros((n, k), EXACT), np.zeros(k, EXACT), np.zeros((n, k), EXACT)
    cost = np.asarray(cost, EXACT)

    def objective(square: float, scores: Array) -> float:
        top = scores.max(axis=1, keepdims=True)
        loss = np.log(np.exp(scores - top).sum(axis=1)) + top[:, 0] - (scores * own).sum(axis=1)
        return EXACT(reg) / 2 * square + cost @ loss

    value, converged = objective(EXACT(0), F + b), False
    for _ in range(60):
        scores = F + b
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        G = cost[:, None] * (chances - own)
        M = np.zeros((n * k + k, n * k + k))
        for c in range(k):
            rows = slice(c * n, (c + 1) * n)
            for d in range(k):
                h = cost * chances[:, c] * ((1 if c == d else 0) - chances[:, d])
                M[rows, d * n : (d + 1) * n] = (h[:, None] * K).astype(np.float64)
                M[rows, n * k + d] = h if free else 0.0
            M[np.arange(c * n, (c + 1) * n), np.arange(c * n, (c + 1) * n)] += reg
            M[n * k + c, n * k + c] = 1.0
            if free:
                M[n * k + c, rows] = 1.0
                M[n * k + c, n * k :] = 1.0  # the same number added to every score changes nothing: none is added
        right = np.concatenate([(-(EXACT(reg) * Z + G)).T.ravel(), -Z.sum(axis=0) if free else np.zeros(k)])
        size = np.maximum(np.abs(M).max(axis=1), 1e-300)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                step = linalg.solve(M / size[:, None], (right / size).astype(np.float64))
            except (ValueError, linalg.LinAlgError):
                break
        dZ, db = step[: n * k].reshape(k, n).T.astype(EXACT), step[n * k :].astype(EXACT) if free else np.zeros(k)
        dF = K @ dZ
        promise = -(EXACT(reg) * (dZ * F).sum() + (G * (dF + db)).sum())
        if not np.isfinite(promise) or promise <= 1e-15 * abs(value):
            converged = bool(np.isfinite(promise) and abs(promise) <= 1e-9 * abs(value))
            break
        t = EXACT(1)
        while t > 1e-8:
            trial = objective(((Z + t * dZ) * (F + t * dF)).sum(), F + b + t * (dF + db))
            if trial < value - EXACT(1e-4) * t * promise:
                break
            t /= 2
        else:
            converged = bool(promise <= 1e-9 * abs(value))
            break
        Z, b, F, value = Z + t * dZ, b + t * db, F + t * dF, trial
    return Z, b, converged


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
