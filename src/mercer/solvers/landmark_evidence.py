"""A Gaussian process that knows its items through landmarks: a lower bound of how likely the targets are.

With landmarks Z, Q = K(X, Z)·K(Z, Z)⁻¹·K(Z, X) and noise D = diag(s), the likelihood is at least (Titsias, 2009)

    J = log N(y | 0, Q + D) − ½·Σᵢ (K − Q)ᵢᵢ/sᵢ:

what landmarks leave out of the trace is paid for, so that kernels that landmarks cannot follow are not likely. With
L·Lᵀ = K(Z, Z), A = L⁻¹·K(Z, X)·D^−½, B = 1 + A·Aᵀ = M·Mᵀ and S = Q + D it takes n·m² multiplications, as

    S⁻¹ = D^−½·(1 − Aᵀ·B⁻¹·A)·D^−½,      log|S| = log|B| + Σ log sᵢ.

**Slopes.** With α = S⁻¹y, P = K(Z, Z)⁻¹·K(Z, X) and t targets, J changes

    with K(X, Z) by α(Pα)ᵀ + t·D^−½·Aᵀ·(1 − B⁻¹)·L⁻¹,
    with K(Z, Z) by −½·((Pα)(Pα)ᵀ + t·L⁻ᵀ·(B − 2 + B⁻¹)·L⁻¹),
    with k(xᵢ, xᵢ) by −½·t/sᵢ, and with sᵢ by ½·(Σαᵢ² − t·(S⁻¹)ᵢᵢ) + ½·t·(K − Q)ᵢᵢ/sᵢ².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..runtime.compile import Array
from ..runtime.numerics import factorise, inverse, product, weighted_squares
from .evidence import factorised

__all__ = ["LandmarkEvidence", "Landmarked", "landmark_evidence"]

_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Landmarked:
    """What is known of f at all items by the factors L and M: its variance at others."""

    factor: Array
    inner: Array

    def _halves(self, similarities: Array) -> tuple[Array, Array]:
        half = linalg.solve_triangular(self.factor, similarities.T, lower=True, check_finite=False)
        return half, linalg.solve_triangular(self.inner, half, lower=True, check_finite=False)

    def variances(self, similarities: Array, own: Array) -> Array:
        """The variance of f at new items, of whose similarities to the landmarks there is a row each."""
        half, known = self._halves(similarities)
        return np.maximum(own - np.einsum("ij,ij->j", half, half) + np.einsum("ij,ij->j", known, known), 0.0)

    def covariance(self, similarities: Array, own: Array) -> Array:
        """The covariance of f at new items; ``own`` is their own matrix."""
        half, known = self._halves(similarities)
        return own - half.T @ half + known.T @ known


@dataclass(frozen=True)
class LandmarkEvidence:
    """The bound, what it changes with, and the process."""

    bound: float
    #: The coefficients of the landmarks, a column for each target.
    coef: Array
    process: Landmarked
    #: The least noise of the landmarks' own matrix.
    floor: float
    #: The share of the trace that landmarks leave out.
    missing: float
    #: ‖K(Z, X)·D⁻¹·(y − f) − …‖: what is left of the equations for the coefficients, as a part of their right side.
    residual: float
    left_out_density: float
    #: The slopes by K(X, Z), K(Z, Z), k(x, x) and the noise.
    cross: Array
    among: Array
    own: Array
    noise: Array


def landmark_evidence(among: Array, cross: Array, own: Array, targets: Array, noise: Array) -> LandmarkEvidence:
    """The bound for some landmarks.

    Parameters
    ----------
    among : array of shape (m, m)
        The landmarks' own matrix.
    cross : array of shape (n, m)
        The similarities of all items to the landmarks.
    own : array of shape (n,)
        The self-similarities of all items.
    targets : array of shape (n, n_targets)
    noise : array of shape (n,)

    Returns
    -------
    LandmarkEvidence
    """
    n, t = targets.shape
    L, _, floor = factorised(among.copy, np.zeros(len(among)))
    root = np.sqrt(noise)[:, None]
    A = linalg.solve_triangular(L, cross.T, lower=True, check_finite=False) / root.T
    squares = weighted_squares(np.ascontiguousarray(A.T), np.ones(n))
    M = squares.copy()
    np.einsum("ii->i", M)[:] += 1
    factorise(M)
    y = targets / root
    known = linalg.solve_triangular(M, A, lower=True, check_finite=False)
    fitted = product(known, y)
    alpha = (y - known.T @ fitted) / root
    inner = linalg.solve_triangular(M, fitted, lower=True, trans=1, check_finite=False)
    coef = linalg.solve_triangular(L, inner, lower=True, trans=1, check_finite=False)
    left = own - noise * np.einsum("ij,ij->j", A, A)
    precision = (1 - np.einsum("ij,ij->j", known, known)) / noise
    logs = 2 * float(np.log(np.einsum("ii->i", M)).sum()) + float(np.log(noise).sum())
    fit = float(np.vdot(y, y) - np.vdot(fitted, fitted))
    bound = -0.5 * (fit + t * (logs + n * _LOG_2PI + float((left / noise).sum())))
    # What is left of (K_zx·D⁻¹·K_xz + K_zz)·coef = K_zx·D⁻¹·y.
    right = cross.T @ (targets / root**2)
    missed = right - cross.T @ ((cross @ coef) / root**2) - among @ coef
    size = float(np.linalg.norm(right))
    unrolled = linalg.solve_triangular(L, np.eye(len(L)), lower=True, check_finite=False)
    turned = inverse(M)
    bent = squares + turned
    np.einsum("ii->i", bent)[:] -= 1
    np.einsum("ii->i", turned)[:] -= 1  # B⁻¹ − 1
    by_cross = alpha @ coef.T - t * (A.T @ (turned @ unrolled)) / root
    by_among = -0.5 * (coef @ coef.T + t * (unrolled.T @ bent @ unrolled))
    by_noise = 0.5 * (np.square(alpha).sum(axis=1) - t * precision) + 0.5 * t * left / np.square(noise)
    density = -0.5 * float(np.sum(np.square(alpha) / precision[:, None] - np.log(precision)[:, None] + _LOG_2PI))
    missing = max(0.0, float(left.sum())) / max(float(own.sum()), np.finfo(np.float64).tiny)
    return LandmarkEvidence(
        bound=bound,
        coef=coef,
        process=Landmarked(L, M),
        floor=floor,
        missing=missing,
        residual=float(np.linalg.norm(missed)) / size if size > 0 else 0.0,
        left_out_density=density,
        cross=by_cross,
        among=by_among,
        own=-0.5 * t / noise,
        noise=by_noise,
    )
