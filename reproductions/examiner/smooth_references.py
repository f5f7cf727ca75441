"""Newton's method for smooth losses, on coefficients, with objectives and residuals in extended precision."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg

from .definitions import EXACT, Array, Real
from .references import Answer
from .tasks import Task


def newton(task: Task, steps: int = 80) -> Answer:
    """Newton's method on coefficients. At the minimum reg·z = −cost·ℓ′, so that a step solves, with h = cost·ℓ″,

        (diag(h)·K + reg)·z + h·b = h·(f + b) − cost·ℓ′,      Σz = 0,

    by LU in double precision. Objectives of the line search are in extended precision.
    """
    n = len(task.y)
    K = task.K + (1 if task.intercept == "counted" else 0)
    free = task.intercept == "free"
    b: Real = EXACT(0)
    z, f = np.zeros(n, EXACT), np.zeros(n, EXACT)
    if free and not task.loss.of_margin:
        b = np.average(task.y, weights=task.cost)
    value = _objective(task, z @ f, f + b)
    damping, converged = 0.0, False
    for _ in range(steps):
        g = task.cost * task.loss.slope(task.y, f + b)
        h = task.cost * np.maximum(task.loss.bend(task.y, f + b), EXACT(damping))
        M = np.zeros((n + 1, n + 1))
        M[:n, :n] = h[:, None] * K
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
            damping = max(10 * damping, 1e-3)
            if damping > 1:
                break
            continue
        dz, db = step[:n], step[n] if free else EXACT(0)
        df = K @ dz
        # How much the quadratic model promises.
        promise = -(EXACT(task.reg) * (dz @ f) + g @ (df + db))
        scale: Real = max(abs(value), EXACT(1e-300))
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
            damping = max(10 * damping, 1e-3)
            if converged or damping > 1:
                break
            continue
        damping = max(10 * damping, 1e-3) if t < 0.2 else damping / 10 if damping > 1e-9 else 0.0
        z, b, f, value = z + t * dz, b + t * db, f + t * df, found
    if task.intercept == "counted":
        b = z.sum()
    return Answer(z, b, converged)


def _objective(task: Task, square: Real, scores: Array) -> Real:
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

    def objective(square: Real, scores: Array) -> Real:
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
