"""The squared loss for many λ, many targets, and without each item in turn, from one factorisation.

With the loss ½·(y − f)², weights s (of mean 1) and a free intercept the minimum solves a linear system,

    (K + ρ·S⁻¹)·z + b = y,      Σz = 0,      ρ = λn,      S = diag(s).

In terms of d = √s, M = diag(d)·K·diag(d) and z = d∘u it is (M + ρ)·u = d∘(y − b), in which items of weight zero do no
harm. With G = (M + ρ)⁻¹ the intercept follows from Σz = dᵀu = 0 as b = dᵀG(d∘y)/dᵀGd. With M = Q·diag(e)·Qᵀ, found
once, G for another ρ is Q·diag(1/(e + ρ))·Qᵀ: two products instead of a new solution.

**Without an item.** The model that is fitted without item i does not change if the item is there again with what that
model predicts for it as its target, fᵢ⁻: its residual is zero and costs nothing. So it is the model of all items with
yᵢ replaced by fᵢ⁻, for a ρᵢ = λ·(n − sᵢ) that leaves out the weight of the item as the mean loss of the others does. As
predictions are linear in the targets, fᵢ⁻ = fᵢ − Hᵢᵢ·(yᵢ − fᵢ⁻), in which H takes targets to predictions, and

    yᵢ − fᵢ⁻ = (yᵢ − fᵢ)/(1 − Hᵢᵢ),      1 − Hᵢᵢ = ρ·(Gᵢᵢ − (Gd)ᵢ²/dᵀGd),      yᵢ − fᵢ = ρ·uᵢ/dᵢ,

without the second term where there is no intercept. (Allen's PRESS; Cawley and Talbot 2003.)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ..grams import Dense
from ..grams.base import Gram
from ..problems import Iterate, Problem, Solution, Status
from ..runtime.compile import Array
from ..runtime.interrupts import until
from ..runtime.numerics import cholesky_solver, factorise, product, turned_product, weighted_squares
from ..runtime.threads import in_background, one_blas_thread

__all__ = ["solve_ridge_of_many"]

#: Items beyond which the eigendecomposition costs more than conjugate gradients for all λ.
LARGEST_RIDGE = 2000


#: Items up to which one factorisation serves all targets.
LARGEST_SYSTEM = 5000


def solve_ridge(problems: Sequence[Problem]) -> list[Solution]:
    """Solve problems of a squared loss that differ in their targets alone, by one factorisation of Cholesky's.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Dense
    >>> from mercer.losses import Squared
    >>> targets = np.array([1.0, -1.0]), np.array([4.0, 2.0])
    >>> problems = [Problem(Dense(np.eye(2)), y, Squared(), lam=0.5, intercept="free") for y in targets]
    >>> [round(each.b, 9) for each in solve_ridge(problems)]
    [0.0, 3.0]
    """
    one = problems[0]
    n = len(one.gram)
    d = np.sqrt(one.weights)
    M = one.gram.rows(np.arange(n)) * d[:, None] * d
    right = np.column_stack([*(problem.y for problem in problems), np.ones(n)])
    u = cholesky_solver(M, np.full(n, one.lam * n))(d[:, None] * right)
    z, of_one = d[:, None] * u[:, :-1], d * u[:, -1]
    b = z.sum(axis=0) / of_one.sum() if one.is_free else np.zeros(len(problems))
    z -= np.outer(of_one, b)
    return [Solution(z[:, k], float(b[k]), 1, status=Status.CONVERGED) for k in range(len(problems))]


class RidgePath:
    """Solutions of the squared loss along λ.

    Parameters
    ----------
    K : array of shape (n, n)
    weights : array of shape (n,), optional

    Examples
    --------
    >>> import numpy as np
    >>> path = RidgePath(np.eye(2))
    >>> path.solve(np.array([1.0, -1.0]), lam=0.5, intercept=True).z
    array([ 0.5, -0.5])
    """

    def __init__(self, K: Array, weights: Array | None = None) -> None:
        self.K = np.asarray(K, dtype=np.float64)
        self.weights = np.ones(len(K)) if weights is None else weights * (len(K) / weights.sum())
        self.d = np.sqrt(self.weights)
        M = self.K if weights is None else self.K * self.d[:, None] * self.d
        self.values, self.vectors = in_background(lambda: np.linalg.eigh(M))
        self.values = np.maximum(self.values, 0.0)

    @staticmethod
    def footprint(n: int) -> int:
        """Bytes that a decomposition has at once: the matrix, its eigenvectors twice, and what LAPACK works with."""
        return 5 * 8 * n * n

    @classmethod
    def of(cls, gram: Gram, weights: Array | None = None) -> RidgePath:
        """That of all items of a Gram."""
        return cls(gram.rows(np.arange(len(gram))), weights)

    def solve(self, y: Array, lam: float, intercept: bool) -> Iterate:
        """The coefficients and the intercept for one λ."""
        inverse = 1 / (self.values + lam * y.size)
        right = np.stack([self.d * y, self.d], axis=1)
        of_y, of_one = (
            self.d[:, None] * product(self.vectors, inverse[:, None] * turned_product(self.vectors, right))
        ).T
        b = float(of_y.sum() / of_one.sum()) if intercept else 0.0
        return Iterate(of_y - b * of_one, b, 1)

    # -- without an item ------------------------------------------------------------------------------------------

    def leave_one_out(self, y: Array, lam: float, intercept: bool) -> Array:
        """What the model that is fitted without an item predicts for it, for every item."""
        return y - self._without(y, lam, intercept)[0]

    def models_without(self, y: Array, lam: float, intercept: bool) -> Iterate:
        """The models themselves: column i was fitted without item i."""
        errors, b, of_one = self._without(y, lam, intercept)
        # Putting fᵢ⁻ in the place of yᵢ moves the intercept as well.
        b = b - errors * of_one * self.d if intercept else np.zeros(y.size)
        right = self._targets(y)[:, None] - (errors * self.d) * self.vectors.T - np.outer(self._ones, b)
        z = self.d[:, None] * product(self.vectors, right / (self.values[:, None] + self._ridges(lam)))
        np.fill_diagonal(z, 0.0)
        return Iterate(z, b, 1)

    def groups_left_out(self, y: Array, lam: float, groups: Array, intercept: bool) -> Array:
        """What the model that is fitted without a group S predicts for its items, for the group of every item.

        Its items are told what makes their residuals zero: with P = diag(d)·(G − (Gd)(Gd)ᵀ/dᵀGd)·diag(d), which takes
        targets to coefficients z, they miss their targets by (P_SS)⁻¹·z_S, for ρ = λ·(n − weight of S).
        """
        out, n, targets, ones = np.array(y, dtype=np.float64), y.size, self._targets(y), self._ones
        order = np.argsort(groups, kind="stable")
        for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            ridge = lam * (n - self.weights[members].sum())
            own, unseen = members[self.d[members] > 0], members[self.d[members] == 0]
            inverse, moved = 1 / (self.values + ridge), np.array(y, dtype=np.float64)
            rows = self.vectors[own] * inverse
            P, u = product(rows, np.ascontiguousarray(self.vectors[own].T)), product(rows, targets)
            if intercept:
                total, of_one = inverse @ np.square(ones), product(rows, ones)
                u = u - of_one * (inverse @ (ones * targets) / total)
                P = P - np.outer(of_one, of_one / total)
            moved[own] -= linalg.solve(P, u, assume_a="pos") / self.d[own]
            out[own] = moved[own]
            if unseen.size:
                model = self.solve(moved, ridge / n, intercept)
                out[unseen] = product(self.K[unseen], model.z) + model.b
        return out

    def _ridges(self, lam: float) -> Array:
        """ρᵢ: one for all items where their weights are the same, as an array of length 1."""
        ridges = lam * (self.weights.size - self.weights)
        return ridges[:1] if np.ptp(self.weights) == 0 else ridges

    @cached_property
    def _ones(self) -> Array:
        return turned_product(self.vectors, self.d)

    def _targets(self, y: Array) -> Array:
        return turned_product(self.vectors, self.d * y)

    def _without(self, y: Array, lam: float, intercept: bool) -> tuple[Array, Array, Array]:
        """For every item and its own ρ: yᵢ − fᵢ⁻, and of all items the intercept b and (Gd)ᵢ/dᵀGd."""
        ridges, targets, ones = self._ridges(lam)[:, None], self._targets(y), self._ones
        shrunk = ridges / (self.values + ridges)  # the eigenvalues of ρG, a row for each ρ
        rows = self.vectors * shrunk
        own = np.einsum("ij,ij->i", rows, self.vectors)
        u = product(rows, targets)
        b, of_one = np.zeros(y.size), np.zeros(y.size)
        if intercept:
            total = shrunk @ np.square(ones)
            b = np.broadcast_to(shrunk @ (ones * targets) / total, y.shape)
            with_one = product(rows, ones)
            of_one = with_one / total
            u, own = u - b * with_one, own - with_one * of_one
        residuals = np.divide(u, self.d, out=np.zeros(y.size), where=self.d > 0)
        unseen = self.d == 0
        if unseen.any():  # nothing changes without them
            model = self.solve(y, lam, intercept)
            residuals[unseen] = (y - product(self.K, model.z) - model.b)[unseen]
        return residuals / own, b, of_one


# The squared loss on many items, for several targets at once, by conjugate gradients.
#
# The system is that of :mod:`mercer.solvers.ridge`, (M + ρ)·u = d∘(y − b) with M = diag(d)·K·diag(d), too large to be
# factorised. All targets, and the vector d that the intercept follows from, are solved for together: a product with K
# costs the kernel's values, whatever the number of columns.
#
# **Steps.** With the columns F̃ = M[:, S]·L⁻ᵀ of some items S (landmarks), L·Lᵀ = M[S, S], the matrix F̃·F̃ᵀ is M but for
# what the landmarks leave out, and by Woodbury's identity
#
#     (F̃·F̃ᵀ + ρ)⁻¹ = (1 − F̃·(F̃ᵀF̃ + ρ)⁻¹·F̃ᵀ)/ρ
#
# is nearly the inverse: what the landmarks hold of the residuals is gone after a step.
#
# **Digits.** Products inside are those of the matrix in single precision, where the Gram has one. What is left is
# computed anew in float64 from the sum of all steps, and solved for again until it is small.
#
# **When to stop.** For residuals r = d∘(y − b) − (M + ρ)·u the objective lies at most ‖r‖²/2n above the least.


#: Landmarks: so many times √n, which balances the work that they make with that of the products that they save.
_TIMES_ROOT = 10
#: The part of the room that columns of landmarks may take.
_SHARE = 0.4
#: What the objective may lie above the least, as a part of it.
_CLOSE = 1e-9
#: What products in single precision leave of residuals, and steps of conjugate gradients between two exact products.
_LEFT, _STEPS = 1e-3, 200
#: Exact products at most.
_ROUNDS = 8
#: What is added to the diagonal of the landmarks' own matrix, relative to it, until there is a factorisation: it is in
#: single precision, whose rounding many landmarks that are alike add up.
_HAIRS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0)


@dataclass
class _Operator:
    """diag(d)·K·diag(d) + ρ, and how often something was multiplied by it."""

    gram: Gram
    d: Array
    ridge: float
    products: int = 0

    def scores(self, u: Array) -> Array:
        """K·(d∘u)."""
        self.products += 1
        return np.asarray(self.gram.matvec(self.d[:, None] * u), dtype=np.float64)

    def __call__(self, u: Array) -> Array:
        return self.d[:, None] * self.scores(u) + self.ridge * u


def solve_ridge_of_many(problems: Sequence[Problem], seconds: float = np.inf) -> list[Solution]:
    """Solve problems of a squared loss that differ in their targets alone.

    Parameters
    ----------
    problems : sequence of Problem
    seconds : float, optional
        The best models by then are returned, "not converged".

    Returns
    -------
    list of Solution
        With the scores of all items, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Dense
    >>> from mercer.losses import Squared
    >>> targets = np.array([2.0, 0.0]), np.array([4.0, 2.0])
    >>> problems = [Problem(Dense(np.eye(2)), y, Squared(), lam=0.5, intercept="free") for y in targets]
    >>> [round(each.b, 6) for each in solve_ridge_of_many(problems)]
    [1.0, 3.0]
    """
    deadline = time.monotonic() + seconds
    one = problems[0]
    n, d, free = len(one.gram), np.sqrt(one.weights), one.is_free
    exact = _Operator(one.gram, d, one.lam * n)
    some = _landmarks(one.gram, d)
    quick = _Operator(_quickest(one.gram, some.size), d, one.lam * n)
    targets = np.column_stack([problem.y for problem in problems])
    right = np.column_stack([d[:, None] * targets, d]) if free else d[:, None] * targets
    with one_blas_thread():
        inverse = _nearly_inverse(quick, some)
        u, pace = inverse(right), 0.0
        for _ in range(_ROUNDS):
            began = time.monotonic()
            scores = exact.scores(u)
            pace = max(pace, time.monotonic() - began)
            left = right - d[:, None] * scores - exact.ridge * u
            b, residuals = _with_intercept(u, left, d, free)
            z = d[:, None] * (u[:, : len(problems)] - np.outer(u[:, -1], b) if free else u)
            f = scores[:, : len(problems)] - np.outer(scores[:, -1], b) if free else scores
            models = zip(problems, z.T, f.T, b, strict=True)
            objectives = [problem.objective(float(own @ told), told + at) for problem, own, told, at in models]
            solved = np.square(residuals).sum(axis=0) <= 2 * n * _CLOSE * np.array(objectives)
            if solved.all() or time.monotonic() + pace > deadline:
                break
            with until(deadline - pace):
                _descend(quick, inverse, left, u)
    statuses = [Status.CONVERGED if each else Status.NOT_CONVERGED for each in solved]
    return [Solution(z[:, k], float(b[k]), quick.products, None, f[:, k], status) for k, status in enumerate(statuses)]


def _with_intercept(u: Array, left: Array, d: Array, free: bool) -> tuple[Array, Array]:
    """The intercepts for which coefficients sum to zero, and the residuals of the targets less these."""
    if not free:
        return np.zeros(u.shape[1]), left
    b = d @ u[:, :-1] / (d @ u[:, -1])
    return b, left[:, :-1] - np.outer(left[:, -1], b)


def _landmarks(gram: Gram, d: Array) -> Array:
    """The numbers of some items, drawn at random, each with a chance in proportion to its d²."""
    n, counted = len(gram), np.flatnonzero(d)
    most = min(counted.size // 2, int(_TIMES_ROOT * np.sqrt(n)), int(_SHARE * gram.workspace / (4 * n)))
    chances = np.square(d[counted]) / np.square(d[counted]).sum()
    return np.sort(np.random.default_rng(0).choice(counted, most, replace=False, p=chances))


def _quickest(gram: Gram, landmarks: int) -> Gram:
    """The Gram whose products take the least time: in single precision, and in memory where it has room."""
    n, rounded = len(gram), gram.rounded() or gram
    needed = rounded.dtype.itemsize * n * n + 8 * n * landmarks
    return rounded if rounded.ready or needed > gram.workspace else Dense(rounded.rows(np.arange(n)))


def _nearly_inverse(operator: _Operator, some: Array) -> Callable[[Array], Array]:
    """Takes residuals to steps: the inverse of the operator that some landmarks know."""
    gram, d, ridge = operator.gram, operator.d, operator.ridge
    if not some.size:
        return lambda left: left / (ridge + np.square(d) * gram.diag())[:, None]
    rows = gram.rows(some).astype(np.float32, copy=False)
    rows *= d[some, None].astype(np.float32)
    rows *= d.astype(np.float32)
    for hair in _HAIRS:
        own = rows[:, some].astype(np.float64)
        np.einsum("ii->i", own)[:] *= 1 + hair
        try:
            factorise(own)
        except linalg.LinAlgError:
            continue
        break
    whiten = linalg.solve_triangular(own, np.eye(some.size), lower=True, check_finite=False).T
    columns = product(rows.T, whiten.astype(np.float32))
    del rows
    inner = cholesky_solver(weighted_squares(columns, np.ones(len(d), np.float32)), np.full(some.size, ridge))

    def solve(left: Array) -> Array:
        held = inner(turned_product(columns, left.astype(np.float32)).astype(np.float64))
        return (left - product(columns, held.astype(np.float32))) / ridge

    return solve


def _descend(operator: _Operator, inverse: Callable[[Array], Array], right: Array, u: Array) -> None:
    """Add to each column of u what conjugate gradients of its own solve of ``right``, until little of that is left.

    The inverse is rounded, and so not quite symmetric: β as Polak and Ribière have it forgives that.
    """
    left, sizes = right.copy(), np.linalg.norm(right, axis=0)
    going = np.flatnonzero(sizes > 0)
    step = inverse(left[:, going])
    direction, slope = step, (step * left[:, going]).sum(axis=0)
    for _ in range(_STEPS):
        bent = operator(direction)
        length = slope / (direction * bent).sum(axis=0)
        before = left[:, going]
        u[:, going] += length * direction
        left[:, going] = before - length * bent
        on = np.linalg.norm(left[:, going], axis=0) > _LEFT * sizes[going]
        if not on.any():
            break
        going, direction, slope, before = going[on], direction[:, on], slope[on], before[:, on]
        step = inverse(left[:, going])
        turned = (step * (left[:, going] - before)).sum(axis=0) / slope
        slope = (step * left[:, going]).sum(axis=0)
        direction = step + np.maximum(turned, 0.0) * direction
