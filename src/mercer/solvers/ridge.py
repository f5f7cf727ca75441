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

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .._runtime.aside import aside
from .._runtime.cholesky import cholesky_solver
from .._runtime.compile import Array
from .._runtime.products import product, turned_product
from ..grams.base import Gram
from ..problems import Iterate, Problem, Solution, Status

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
        self.values, self.vectors = aside(lambda: np.linalg.eigh(M))
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
