"""The least objective of a problem, from definitions alone and by SciPy's minimisers: an oracle for every solver."""

from __future__ import annotations

import numpy as np
from scipy import linalg, optimize

#: What a score costs, given its target.
COSTS = {
    "PerceptronLoss": lambda y, f: np.maximum(0, -y * f),
    "Hinge": lambda y, f: np.maximum(0, 1 - y * f),
    "SquaredHinge": lambda y, f: np.maximum(0, 1 - y * f) ** 2 / 2,
    "Logistic": lambda y, f: np.logaddexp(0, -y * f),
    "SmoothHinge": lambda y, f: np.logaddexp(0, 1 - y * f),
    "Squared": lambda y, f: (y - f) ** 2 / 2,
    "Huber": lambda y, f: np.where(abs(y - f) < 0.7, (y - f) ** 2 / 2, 0.7 * (abs(y - f) - 0.35)),
    "EpsilonInsensitive": lambda y, f: np.maximum(0, abs(y - f) - 0.2),
    "Pinball": lambda y, f: np.where(y >= f, 0.8 * (y - f), 0.2 * (f - y)),
    "Softmax": lambda y, f: np.log(np.exp(f).sum(axis=1)) - (y * f).sum(axis=1),
}


def objective(case, K, z, b):
    """λ/2·‖w‖² + the weighted mean cost; a penalised intercept is part of ‖w‖."""
    f = K @ z + b
    square = np.sum(z * (K @ z)) + (np.sum(np.square(b)) if case.intercept == "penalised" else 0.0)
    return case.lam / 2 * square + np.average(COSTS[case.loss](case.y, f), weights=case.weight)


def least_objective(case, K):
    """The minimum over all models."""
    if case.loss in ("Hinge", "EpsilonInsensitive", "Pinball"):
        return _straight(case, K)
    columns = case.y.shape[1:]
    size = case.y.size + (int(np.prod(columns)) if case.intercept != "none" else 0)
    root = linalg.sqrtm(K + 1e-9 * np.eye(len(K))).real  # w in coordinates in which ‖w‖² is a plain square

    def value(x):
        w, b = x[: case.y.size].reshape(case.y.shape), x[case.y.size :].reshape(columns) if size > case.y.size else 0.0
        square = np.sum(w * w) + (np.sum(np.square(b)) if case.intercept == "penalised" else 0.0)
        return case.lam / 2 * square + np.average(COSTS[case.loss](case.y, root @ w + b), weights=case.weight)

    found = optimize.minimize(value, np.zeros(size), method="BFGS", options={"gtol": 1e-7, "maxiter": 2000})
    return found.fun


def _straight(case, K):
    """Through the dual, which is a least squares problem with bounds; the multiplier of Σz = 0 is the intercept."""
    box = case.weight / case.weight.sum() / case.lam
    y, none = case.y, np.zeros(len(case.y))
    if case.loss == "Hinge":
        targets, low, high, spread = y, np.where(y > 0, 0, -box), np.where(y > 0, box, 0), np.eye(len(y))
    elif case.loss == "Pinball":
        targets, low, high, spread = y, -0.2 * box, 0.8 * box, np.eye(len(y))
    else:
        targets = np.concatenate([y - 0.2, y + 0.2])
        low, high = np.concatenate([none, -box]), np.concatenate([box, none])
        spread = np.vstack([np.eye(len(y))] * 2)
    K = K + (1.0 if case.intercept == "penalised" else 0.0)
    root = linalg.cholesky(spread @ K @ spread.T + 1e-10 * np.eye(len(targets)), lower=True)

    def dual(b):
        right = linalg.solve_triangular(root, targets - b, lower=True)
        z = optimize.lsq_linear(root.T, right, (low, high), method="bvls", tol=1e-15).x
        return (targets - b) @ z - 0.5 * z @ (spread @ K @ spread.T) @ z

    if case.intercept != "free":
        return case.lam * dual(0.0)
    least = optimize.minimize_scalar(dual, bounds=(-10, 10), method="bounded", options={"xatol": 1e-10})
    return case.lam * least.fun
