"""Quadratic programs with bounds by an interior point method: the road that bad scaling does not block.

    minimise  ½·zᵀKz − tᵀz     subject to  A·z = c,   lowᵢ ≤ zᵢ ≤ highᵢ

with few rows in A. Pairwise steps need a number of visits that grows with the condition of K; here every step solves
for all coefficients at once, in float64, and some twenty steps are enough whatever K is.

With multipliers β of the equations and p, q ≥ 0 of the bounds, a minimum satisfies

    Kz − t + Aᵀβ − p + q = 0,     Az = c,     pᵢ·(zᵢ − lowᵢ) = 0,     qᵢ·(highᵢ − zᵢ) = 0.

The last two are relaxed to μ, and Newton's step towards that point is taken while μ goes to zero (Mehrotra's
predictor and corrector). Eliminating p and q leaves one system,

    (K + D)·dz + Aᵀ·dβ = r,     A·dz = s,     D = p/(z − low) + q/(high − z),

whose matrix is factored once a step: K itself, or the features of the items where they are fewer than the items.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import linalg

from .._compile import Array
from .._parallel import one_blas_thread

#: Steps at most; after some thirty rounding errors have the word.
_STEPS = 80
#: How far of the way to the nearest bound a step may go.
_SHY = 0.995
#: What is added to a diagonal that rounding has made not quite positive, relative to it: less is tried first.
_HAIRS = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)
_ROUNDING = 2.3e-16
#: Steps that may lead nowhere before it is all over.
_TRIES = 6

Solve = Callable[[Array], Array]


class Curvature(Protocol):
    """K, as far as an interior point method asks for it."""

    def product(self, z: Array) -> Array:
        """K·z."""
        ...

    def inverse(self, diagonal: Array) -> Solve:
        """Solves (K + D)·x = r for a positive diagonal D, and r with several columns."""
        ...


class MatrixCurvature:
    """K as a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> MatrixCurvature(np.eye(2)).inverse(np.array([1.0, 3.0]))(np.array([[2.0], [2.0]])).ravel()
    array([1. , 0.5])
    """

    def __init__(self, K: Array) -> None:
        self.K = K

    def product(self, z: Array) -> Array:
        return self.K @ z

    def inverse(self, diagonal: Array) -> Solve:
        return cholesky_solver(self.K, diagonal)


class FeatureCurvature:
    """K = Φ·Φᵀ with fewer features than items: (D + ΦΦᵀ)⁻¹ = D⁻¹ − D⁻¹Φ·(1 + ΦᵀD⁻¹Φ)⁻¹·ΦᵀD⁻¹.

    Examples
    --------
    >>> import numpy as np
    >>> FeatureCurvature(np.array([[1.0], [0.0]])).inverse(np.ones(2))(np.array([[2.0], [2.0]])).ravel()
    array([1., 2.])
    """

    def __init__(self, Phi: Any) -> None:
        self.Phi = Phi

    def product(self, z: Array) -> Array:
        return self.Phi @ (self.Phi.T @ z)

    def inverse(self, diagonal: Array) -> Solve:
        Phi, E = self.Phi, 1 / diagonal
        inner = cholesky_solver((Phi * E[:, None]).T @ Phi, np.ones(Phi.shape[1]))

        def solve(right: Array) -> Array:
            scaled = E[:, None] * right
            return scaled - E[:, None] * (Phi @ inner(Phi.T @ scaled))

        return solve


def cholesky_solver(K: Array, diagonal: Array) -> Solve:
    """Solves (K + D)·x = r by Cholesky's factorisation, of a matrix scaled to ones on its diagonal."""
    whole = K.diagonal() + diagonal
    scale = 1 / np.sqrt(np.maximum(whole, 1e-300))
    for hair in _HAIRS:
        matrix = K * scale[:, None] * scale
        np.einsum("ii->i", matrix)[:] = 1 + hair
        try:
            factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        break
    else:
        raise linalg.LinAlgError("the matrix is not positive definite.")
    return lambda right: scale[:, None] * linalg.cho_solve(factor, scale[:, None] * right, check_finite=False)


class Optimum(NamedTuple):
    """The point found, the multipliers of the equations, and which coefficients belong on their bounds."""

    z: Array
    multipliers: Array
    at_low: Array
    at_high: Array
    steps: int


def interior_point(
    curvature: Curvature,
    targets: Array,
    A: Array,
    c: Array,
    low: Array,
    high: Array,
    deadline: float = np.inf,
) -> Optimum:
    """Minimise; bounds may be infinite on one side. K should have a diagonal of about one, and t be of that size.

    Examples
    --------
    >>> import numpy as np
    >>> found = interior_point(MatrixCurvature(np.eye(2)), np.array([1.0, -1.0]), np.ones((1, 2)), np.zeros(1),
    ...                        np.array([0.0, -9.0]), np.array([9.0, 0.0]))
    >>> found.z.round(6)
    array([ 1., -1.])
    """
    with one_blas_thread():
        walk = _Walk(curvature, targets, A, c, low, high)
        steps = 0
        while steps < _STEPS and time.monotonic() < deadline and walk.step():
            steps += 1
    return Optimum(*walk.best, steps)


class _Walk:
    """A point inside all bounds on its way to the minimum."""

    def __init__(
        self, curvature: Curvature, targets: Array, A: Array, c: Array, low: Array, high: Array
    ) -> None:
        self.curvature, self.t, self.A, self.c = curvature, targets, A, c
        self.low, self.high = low, high
        self.below, self.above = np.isfinite(low), np.isfinite(high)
        self.unit = np.minimum(high - low, 1.0)
        # Near zero, where most coefficients end, and inside the bounds.
        start = np.clip(0.0, low + 0.5 * self.unit, high - 0.5 * self.unit)
        self.z, self.beta = start, np.zeros(A.shape[0])
        self.p, self.q = self.below.astype(np.float64), self.above.astype(np.float64)
        #: The least distance from the minimum so far, by itself and as a share of what is minimised.
        self.distance = self.share = np.inf
        self.best = (self.z, self.beta, np.zeros(start.size, bool), np.zeros(start.size, bool))
        self.worse = 0

    def step(self) -> bool:
        """One step; whether another one may help."""
        a = np.where(self.below, self.z - self.low, 1.0)
        b = np.where(self.above, self.high - self.z, 1.0)
        p, q = self.p, self.q
        Kz = self.curvature.product(self.z)
        dual = self.t - Kz - self.A.T @ self.beta + p - q
        primal = self.c - self.A @ self.z
        products = float(a @ p + b @ q)
        mu = products / max(1, np.count_nonzero(self.below) + np.count_nonzero(self.above))
        if not self._note(a, b, Kz, dual, primal, products):
            return False
        try:
            solve = self._system(p / a + q / b)
        except linalg.LinAlgError:
            return False

        def direction(wanted_a: Array, wanted_b: Array) -> tuple[Array, ...]:
            dz, dbeta = solve(dual + wanted_a / a - wanted_b / b, primal)
            return dz, dbeta, (wanted_a - p * dz) / a, (wanted_b + q * dz) / b

        # How far one could go if rounding and bounds allowed it tells how much to aim for the middle first.
        dz, _, dp, dq = direction(-a * p, -b * q)
        t = self._longest(a, b, dz, dp, dq)
        reached = float((a + t * dz * self.below) @ (p + t * dp) + (b - t * dz * self.above) @ (q + t * dq))
        aim = (max(reached, 0.0) / products) ** 3 * mu
        dz, dbeta, dp, dq = direction(
            np.where(self.below, aim - a * p - dz * dp, 0.0), np.where(self.above, aim - b * q + dz * dq, 0.0)
        )
        if not (np.isfinite(dz).all() and np.isfinite(dbeta).all()):
            return False
        t = min(1.0, _SHY * self._longest(a, b, dz, dp, dq))
        self.z, self.beta = self.z + t * dz, self.beta + t * dbeta
        self.p, self.q = p + t * dp * self.below, q + t * dq * self.above
        inside = np.where(self.below, self.z > self.low, True) & np.where(self.above, self.z < self.high, True)
        return t > 1e-10 and bool(inside.all())

    def _note(self, a: Array, b: Array, Kz: Array, dual: Array, primal: Array, products: float) -> bool:
        """Keep the best point so far; whether it is worth going on."""
        size = float(np.abs(self.z) @ np.abs(self.t)) + float(self.z @ Kz)
        off = float(np.abs(dual) @ np.abs(self.z)) + float(np.abs(self.beta) @ np.abs(primal))
        distance, share = products + off, (products + off) / max(size, 1e-300)
        self.worse = 0 if distance < self.distance or share < self.share else self.worse + 1
        self.distance = min(self.distance, distance)
        if share < self.share:
            self.share = share
            at_low = self.below & (a < self.p * self.unit)
            at_high = self.above & (b < self.q * self.unit)
            self.best = (self.z, self.beta, at_low, at_high)
        return share > 10 * _ROUNDING and self.worse < _TRIES

    def _system(self, diagonal: Array) -> Callable[[Array, Array], tuple[Array, Array]]:
        """Solves (K + D)·dz + Aᵀ·dβ = r, A·dz = s; what rounding leaves over is solved for once more."""
        A, inverse = self.A, self.curvature.inverse(diagonal)
        of_A = inverse(A.T)
        small = linalg.lu_factor(A @ of_A, check_finite=False)

        def once(r: Array, s: Array) -> tuple[Array, Array]:
            of_r = inverse(r[:, None])[:, 0]
            dbeta = linalg.lu_solve(small, A @ of_r - s, check_finite=False)
            return of_r - of_A @ dbeta, dbeta

        def solve(r: Array, s: Array) -> tuple[Array, Array]:
            dz, dbeta = once(r, s)
            for _ in range(2):
                left = r - self.curvature.product(dz) - diagonal * dz - A.T @ dbeta
                more, more_beta = once(left, s - A @ dz)
                dz, dbeta = dz + more, dbeta + more_beta
            return dz, dbeta

        return solve

    def _longest(self, a: Array, b: Array, dz: Array, dp: Array, dq: Array) -> float:
        """How far a step may go until the first of z, p, q reaches a bound, at most all the way."""
        longest = 1.0
        for value, change, held in ((a, dz, self.below), (b, -dz, self.above), (self.p, dp, self.below),
                                    (self.q, dq, self.above)):  # fmt: skip
            falling = held & (change < 0)
            if falling.any():
                longest = min(longest, float((value[falling] / -change[falling]).min()))
        return longest
