"""A Gaussian process of known noise at its training items: how likely the targets are, and what follows for all others.

Targets y = f(X) + ε with f ~ N(0, K) and ε ~ N(0, diag(s)) have, with S = K + diag(s) = L·Lᵀ and α = S⁻¹y,

    log p(y) = −½·yᵀα − Σᵢ log Lᵢᵢ − ½·n·log 2π,      ∂ log p/∂S = ½·(ααᵀ − S⁻¹),

and every row is known from all others without another factor (Sundararajan and Keerthi, 2001): with c = diag(S⁻¹)

    yᵢ | y₋ᵢ ~ N(yᵢ − αᵢ/cᵢ, 1/cᵢ),      log p(yᵢ | y₋ᵢ) = ½·log cᵢ − ½·αᵢ²/cᵢ − ½·log 2π.

The mean of f is that of kernel ridge regression with λ = s/n (:mod:`mercer.solvers.ridge`).

**Noise floor.** A matrix that is known to so many digits has no smaller eigenvalues than its rounding. A factor of
K + diag(s) is exact, in the sense that it is that of a matrix whose entries differ by rounding, where s is not below

    floor = 4·ε·‖K‖,      ‖K‖ the largest sum of a row,

the smallest noise that rows can tell. Less noise is taken for this much, and said so; where even this does not suffice,
as for kernels whose own values are less exact than rounding, ten times as much is tried.

**Weights.** A row of weight w stands for w rows with the same target, and counts as one with noise s/w; what the
repeated rows have among themselves is −½·((w − 1)·log 2πs + log w) for each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from ..runtime.compile import Array
from ..runtime.numerics import factorise, inverse, inverse_diagonal, product, solve_factorised, weighted_squares

__all__ = ["Evidence", "Slopes", "evidence", "factorised"]

#: The noise that rounding is, in units of ε·‖K‖; and how often ten times as much is tried.
_ROUNDING, _MORE = 4.0, 8
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Slopes:
    """How something changes with the entries of S, and with the noise of each row."""

    #: Makes the slopes by the entries in some rows and columns.
    entries: Callable[[slice, slice], Array]
    noise: Array


@dataclass(frozen=True)
class Evidence:
    """What targets say of a Gaussian process."""

    #: L with L·Lᵀ = S, in the lower triangle.
    factor: Array
    #: α = S⁻¹y, a column for each target.
    alpha: Array
    targets: Array
    #: The noise variance of each row.
    noise: Array
    #: The least noise that the factor is exact with.
    floor: float

    @cached_property
    def log_likelihood(self) -> float:
        """log p(y), summed over targets."""
        n, targets = self.alpha.shape
        logs = 2 * float(np.log(np.einsum("ii->i", self.factor)).sum())
        return -0.5 * (float(np.vdot(self.targets, self.alpha)) + targets * (logs + n * _LOG_2PI))

    @cached_property
    def _inverse(self) -> Array:
        return inverse(self.factor)

    def slopes(self) -> Slopes:
        """Of the log likelihood."""
        G, alpha = self._inverse, self.alpha
        half = 0.5 * alpha.shape[1]
        own = 0.5 * np.square(alpha).sum(axis=1) - half * np.einsum("ii->i", G)
        return Slopes(lambda i, j: 0.5 * (alpha[i] @ alpha[j].T) - half * G[i, j], own)

    def left_out(self) -> tuple[Array, Array]:
        """Mean and variance of each target given all others."""
        c = inverse_diagonal(self.factor)[:, None]
        return self.targets - self.alpha / c, 1 / c[:, 0]

    @property
    def left_out_density(self) -> float:
        """Σᵢ log p(yᵢ | y₋ᵢ), summed over targets."""
        mean, variance = self.left_out()
        squares = np.square(self.targets - mean) / variance[:, None]
        return -0.5 * float(np.sum(squares + np.log(variance)[:, None] + _LOG_2PI))

    def left_out_slopes(self) -> Slopes:
        """Of the density of left-out rows J.

        By ∂J/∂αᵢ = −αᵢ/cᵢ =: aᵢ and ∂J/∂cᵢ = ½·(1/cᵢ + αᵢ²/cᵢ²) =: hᵢ, and dα = −S⁻¹·dS·α, dS⁻¹ = −S⁻¹·dS·S⁻¹, the
        slopes are −½·(Gaαᵀ + αaᵀG) − G·diag(h)·G with G = S⁻¹.
        """
        G, alpha = self._inverse, self.alpha
        c = np.einsum("ii->i", G).copy()
        turned = product(G, -alpha / c[:, None])
        squares = weighted_squares(G, 0.5 * (alpha.shape[1] / c + np.square(alpha).sum(axis=1) / np.square(c)))

        def entries(i: slice, j: slice) -> Array:
            return -0.5 * (turned[i] @ alpha[j].T + alpha[i] @ turned[j].T) - squares[i, j]

        return Slopes(entries, -(turned * alpha).sum(axis=1) - np.einsum("ii->i", squares))

    def solved(self, right: Array) -> Array:
        """S⁻¹ times some columns."""
        return solve_factorised(self.factor, right)

    def variances(self, similarities: Array, own: Array) -> Array:
        """The variance of f at new items, of whose similarities to the training items there is a row each."""
        half = linalg.solve_triangular(self.factor, similarities.T, lower=True, check_finite=False)
        return np.maximum(own - np.einsum("ij,ij->j", half, half), 0.0)

    def covariance(self, similarities: Array, own: Array) -> Array:
        """The covariance of f at new items; ``own`` is their own matrix."""
        half = linalg.solve_triangular(self.factor, similarities.T, lower=True, check_finite=False)
        return own - half.T @ half


def evidence(matrix: Callable[[], Array], targets: Array, noise: Array) -> Evidence:
    """The Gaussian process of a kernel matrix and some noise, given its targets.

    Parameters
    ----------
    matrix : callable
        Makes the kernel matrix, in float64, which is written over.
    targets : array of shape (n, n_targets)
    noise : array of shape (n,)
        The variance of each row's noise.

    Returns
    -------
    Evidence

    Examples
    --------
    >>> found = evidence(lambda: np.eye(2), np.array([[1.0], [3.0]]), np.ones(2))
    >>> found.alpha.ravel(), round(found.log_likelihood, 4)
    (array([0.5, 1.5]), -5.031)
    """
    L, used, floor = factorised(matrix, noise)
    return Evidence(L, solve_factorised(L, targets), targets, used, floor)


def factorised(matrix: Callable[[], Array], noise: Array) -> tuple[Array, Array, float]:
    """L with L·Lᵀ = K + diag(s), the noise s that was used, and the floor that it was held above."""
    K = matrix()
    own = np.einsum("ii->i", K)
    floor = _ROUNDING * np.finfo(np.float64).eps * float(max((np.abs(row).sum() for row in K), default=0.0))
    if not np.isfinite(floor):
        raise FloatingPointError("the kernel matrix is not finite.")
    floor = max(floor, np.finfo(np.float64).tiny)
    for attempt in range(_MORE):
        used = np.maximum(noise, floor)
        own += used
        try:
            factorise(K)
        except linalg.LinAlgError:
            if attempt + 1 == _MORE:
                raise
            K = matrix()
            own = np.einsum("ii->i", K)
            floor *= 10
        else:
            break
    return K, used, floor
