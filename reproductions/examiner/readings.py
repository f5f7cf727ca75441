"""What a fitted model says about itself, problem by problem, in the terms of :mod:`.tasks`.

Only public attributes are read. A machine of several two-class problems is taken apart into them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from .cases import Case
from .definitions import EXACT, Array
from .tasks import DOUBLE, SINGLE, Loss, Task, Worth, softmax_at


@dataclass(frozen=True)
class SoftmaxTask:
    """All classes at once; ``own`` is 1 in the column of an item's class."""

    K: Array
    own: Array
    cost: Array
    reg: float
    free: bool

    def constant_worth(self) -> float:
        return float(self.cost.sum() * np.log(EXACT(self.own.shape[1])))


@dataclass(frozen=True)
class Reading:
    """One problem and the answer that was published for it."""

    task: Task | SoftmaxTask
    #: Which of the training rows it is about.
    rows: Array
    #: Coefficients over those rows, where they are published (else the model is its weights).
    z: Array | None
    b: Any
    #: What the model costs as it scores rows; ``None`` for a hard margin.
    worth: Worth | None
    #: The scores of the rows, without the intercept, and how far rounding may be from them.
    f: Array
    doubt: Array
    objective: float | None
    gap: float | None


def item_weights(case: Case) -> Array:
    """Sample weights times class weights."""
    n = case.size
    out = np.ones(n) if case.weight is None else np.asarray(case.weight, float).copy()
    given = getattr(case.estimator, "class_weight", None)
    if given is None:
        return out
    labels, codes = np.unique(case.y, return_inverse=True)
    if isinstance(given, str):  # balanced: every class weighs the same
        return out * (n / (labels.size * np.bincount(codes)))[codes]
    return out * np.array([given.get(label, 1.0) for label in labels.tolist()])[codes]


@dataclass(frozen=True)
class Landmarks:
    """Items that stand for all: a model is coefficients of these, and K what they leave of the kernel matrix."""

    columns: Array
    own: Array

    @classmethod
    def of(cls, K: Array, chosen: Array) -> Landmarks:
        return cls(K[:, chosen], K[np.ix_(chosen, chosen)])

    def matrix(self) -> Array:
        """C·W⁻¹·Cᵀ by Cholesky's factorisation of W, the largest pivot first; what is left at the end is rounding."""
        W, C = self.own.copy(), self.columns.copy()
        features = np.zeros_like(C)
        size = W.diagonal().max(initial=0)
        for k in range(len(W)):
            pivot = int(np.argmax(W.diagonal()))
            if W[pivot, pivot] <= 1e-17 * size:
                break
            root = np.sqrt(W[pivot, pivot])
            features[:, k], row = C[:, pivot] / root, W[pivot] / root
            C, W = C - np.outer(features[:, k], row), W - np.outer(row, row)
        return features @ features.T


def readings(case: Case, model: Any, off: Array | float = 0.0) -> list[Reading]:
    """Every problem of a fitted model with its published answer; ``off`` are errors of the kernel values it saw."""
    K = case.matrix()
    off = np.broadcast_to(np.asarray(off, EXACT), K.shape)
    if getattr(model, "rank", None) is not None:
        K = Landmarks.of(K, model.support_).matrix()
    if case.name == "SVC":
        return _soft_margins(case, model, K, off)
    if case.name in ("KernelRegressor", "SVR"):
        return [_regression(case, model, K, off)]
    if case.name == "KernelQuantiles":
        return _quantiles(case, model, K, off)
    weight = item_weights(case).astype(EXACT)
    codes = np.unique(case.y, return_inverse=True)[1]
    classes = int(codes.max()) + 1
    cost, reg = weight / weight.sum(), float(model.lam)
    everything = np.arange(len(codes))
    if case.name == "KernelClassifier" and model.loss == "logistic" and classes > 2:
        return [_softmax(case, model, K, off, codes, cost, reg)]
    intercept = "none" if not model.fit_intercept else "free" if case.name == "KernelClassifier" else "counted"
    out = []
    for place in range(1 if classes == 2 else classes):
        y = np.where(codes == (1 if classes == 2 else place), 1, -1).astype(EXACT)
        task = Task(K, y, cost, reg, Loss(model.loss), intercept, _rounding(case), off)
        out.append(_read(case, model, task, everything, place, number(model, "objective_", place)))
    return out


def number(model: Any, name: str, place: int) -> float | None:
    """One figure of a fitted attribute that is a number or an array of them; ``None`` where there is none."""
    if not hasattr(model, name):
        return None
    values = np.atleast_1d(np.asarray(getattr(model, name), float))
    return float(values[place]) if place < values.size else None


def _rounding(case: Case) -> float:
    """Rows in single precision are scored in it where a machine keeps them so."""
    return SINGLE if case.single and case.name in ("SVC", "SVR", "Pegasos", "Perceptron") else DOUBLE


def spread(model: Any, n: int, place: int) -> Array:
    """The coefficients of one score for every training row."""
    z = np.zeros(n, EXACT)
    z[model.support_] = np.atleast_2d(model.dual_coef_)[place]
    return z


def _read(case: Case, model: Any, task: Task, rows: Array, place: int, objective: float | None) -> Reading:
    """The answer of a model with one row of coefficients, or of weights, for each score."""
    b = np.atleast_1d(model.intercept_)[place]
    if getattr(model, "rank", None) is not None:
        z = None
        f, square, doubt, square_doubt = _of_landmarks(case, model, place, task.off)
        f, doubt = f[rows], doubt[rows]
        worth = task.worth(f, square, b, doubt, square_doubt)
    elif hasattr(model, "dual_coef_") and not hasattr(model, "coef_"):
        z = spread(model, len(case.y), place)[rows]
        f, doubt = task.scores(z)
        worth = task.worth(f, z @ f, b, doubt, np.abs(z) @ doubt)
    else:
        z, w = None, np.asarray(model.coef_[place], EXACT)
        X = case.items[rows]
        f, doubt = X @ w, task.rounding * (np.abs(X) @ np.abs(w))
        worth = task.worth(f, w @ w, b, doubt, task.rounding * (w @ w))
    return Reading(task, rows, z, b, worth, f, doubt, objective, number(model, "duality_gap_", place))


def _of_landmarks(case: Case, model: Any, place: int, off: Array) -> tuple[Array, Any, Array, Any]:
    """Scores and ‖w‖² of a model whose items are landmarks, and how far rounding may be from both."""
    a, chosen = np.asarray(np.atleast_2d(model.dual_coef_)[place], EXACT), model.support_
    K = case.matrix()
    rounding = DOUBLE * np.abs(K) + off
    f, doubt = K[:, chosen] @ a, rounding[:, chosen] @ np.abs(a)
    return f, a @ f[chosen], doubt, np.abs(a) @ doubt[chosen]


def _soft_margins(case: Case, model: Any, K: Array, off: Array) -> list[Reading]:
    weight, n = item_weights(case).astype(EXACT), len(case.y)
    codes = np.unique(case.y, return_inverse=True)[1]
    classes, alive = int(codes.max()) + 1, weight > 0
    pairs = list(combinations(range(classes), 2))
    several = classes > 2 and model.strategy == "ovo"
    machines = pairs if classes == 2 or several else [(None, k) for k in range(classes)]
    out = []
    for place, (first, second) in enumerate(machines):
        mine = alive if first is None else alive & ((codes == first) | (codes == second))
        rows = np.flatnonzero(mine)
        y = np.where(codes[rows] == second, 1, -1).astype(EXACT)
        z: Array | None = np.zeros(n, EXACT)
        if getattr(model, "rank", None) is not None:
            z = None
        elif several:  # scikit-learn's layout: the coefficients of an item against each other class in turn
            own = codes[model.support_]
            z[model.support_[own == first]] = -model.dual_coef_[second - 1, own == first]
            z[model.support_[own == second]] = -model.dual_coef_[first, own == second]
        else:
            z[model.support_] = model.dual_coef_[place]
        z = None if z is None else z[rows]
        hard = np.isinf(model.C)
        cost = np.full(rows.size, EXACT(np.inf)) if hard else EXACT(model.C) * weight[rows]
        rounding = _rounding(case) if hasattr(model, "coef_") or case.given else DOUBLE
        block = np.ix_(rows, rows)
        task = Task(K[block], y, cost, 1.0, Loss("hinge"), "free", rounding, off[block])
        sign = -1 if several and z is not None else 1  # a pair of several classes speaks for its first
        b = sign * model.intercept_[place]
        if z is None:
            f, square, doubt, square_doubt = _of_landmarks(case, model, place, off)
            f, doubt = f[rows], doubt[rows]
        else:
            f, doubt = task.scores(z)
            square, square_doubt = z @ f, np.abs(z) @ doubt
        if hasattr(model, "coef_"):  # the model is its weights, which have been rounded
            X, w = case.items[rows], sign * np.asarray(model.coef_[place], EXACT)
            f, square = X @ w, w @ w
            doubt = doubt + task.rounding * (np.abs(X) @ np.abs(w))
        worth = None if hard else task.worth(f, square, b, doubt, square_doubt)
        # Published as λ/2·‖w‖² + the mean loss, λ = 1/(C·Σs): the task is C·Σs times that.
        scale = 1.0 if hard else float(model.C * weight[rows].sum())
        published = (number(model, name, place) for name in ("objective_", "duality_gap_"))
        figures = (None if figure is None else scale * figure for figure in published)
        out.append(Reading(task, rows, z, b, worth, f, doubt, *figures))
    return out


def _regression(case: Case, model: Any, K: Array, off: Array) -> Reading:
    n = len(case.y)
    weight = item_weights(case).astype(EXACT)
    if case.name == "SVR":
        return _tube(case, model, K, off, weight)
    name, size = "residual", 0.0
    if hasattr(model.loss, "delta"):
        name, size = "huber", model.loss.delta
    elif hasattr(model.loss, "epsilon"):
        name, size = "tube", model.loss.epsilon
    none = not model.fit_intercept and (name != "tube" or not np.any(model.intercept_))
    intercept = "none" if none else "free"  # the tube may have one in any case
    y, cost = np.asarray(case.y, EXACT), weight / weight.sum()
    task = Task(K, y, cost, float(model.lam), Loss(name, size), intercept, off=off)
    return _read(case, model, task, np.arange(n), 0, number(model, "objective_", 0))


def _tube(case: Case, model: Any, K: Array, off: Array, weight: Array) -> Reading:
    """½‖w‖² + C·Σ loss, published as 1/(C·Σs) times that."""
    rows = np.flatnonzero(weight > 0)
    y, cost, block = np.asarray(case.y, EXACT)[rows], EXACT(model.C) * weight[rows], np.ix_(rows, rows)
    task = Task(K[block], y, cost, 1.0, Loss("tube", model.epsilon), "free", _rounding(case), off[block])
    found = _read(case, model, task, rows, 0, number(model, "objective_", 0))
    z = spread(model, len(case.y), 0)[rows]
    scale = float(cost.sum())
    assert found.objective is not None
    assert found.gap is not None
    return replace(found, z=z, objective=scale * found.objective, gap=scale * found.gap)


def _quantiles(case: Case, model: Any, K: Array, off: Array) -> list[Reading]:
    weight = item_weights(case).astype(EXACT)
    y, cost, rows = np.asarray(case.y, EXACT), weight / weight.sum(), np.arange(len(case.y))
    out = []
    for place, level in enumerate(np.atleast_1d(model.quantiles)):
        task = Task(K, y, cost, float(model.lam), Loss("pinball", float(level)), "free", off=off)
        out.append(_read(case, model, task, rows, place, number(model, "objective_", place)))
    return out


def _softmax(case: Case, model: Any, K: Array, off: Array, codes: Array, cost: Array, reg: float) -> Reading:
    own = np.equal(codes[:, None], np.arange(codes.max() + 1)).astype(EXACT)
    task = SoftmaxTask(K, own, cost, reg, bool(model.fit_intercept))
    n, k = own.shape
    b = np.asarray(model.intercept_, EXACT)
    if getattr(model, "rank", None) is not None:
        parts = [_of_landmarks(case, model, place, off) for place in range(k)]
        Z, (F, doubt) = None, (np.stack([part[at] for part in parts], axis=1) for at in (0, 2))
        square, square_doubt = sum(part[1] for part in parts), sum(part[3] for part in parts)
        worth = softmax_at(F, square, own, cost, reg, b, doubt + DOUBLE * np.abs(b), square_doubt)
    elif hasattr(model, "dual_coef_"):
        Z = np.stack([spread(model, n, place) for place in range(k)], axis=1)
        F = K @ Z
        doubt = (DOUBLE * np.abs(K) + off) @ np.abs(Z) + DOUBLE * np.abs(b)
        worth = softmax_at(F, (Z * F).sum(), own, cost, reg, b, doubt, (np.abs(Z) * doubt).sum())
    else:
        Z, W = None, np.asarray(model.coef_, EXACT).T
        F, square = case.items @ W, np.square(W).sum()
        doubt = DOUBLE * (np.abs(case.items) @ np.abs(W) + np.abs(b))
        worth = softmax_at(F, square, own, cost, reg, b, doubt, DOUBLE * square)
    figures = number(model, "objective_", 0), number(model, "duality_gap_", 0)
    return Reading(task, np.arange(n), Z, b, worth, F, doubt, *figures)
