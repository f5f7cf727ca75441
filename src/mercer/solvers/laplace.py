"""Laplace's approximation of a Gaussian process behind labels ±1: a normal around the most likely function.

With f ~ N(0, K) at the training items and p(y | f) = Π σ(yᵢfᵢ)^wᵢ, the most likely f solves K⁻¹f = g for the slope
g = ∇ log p(y | f). Newton's method finds it by W = −∇² log p(y | f), a diagonal, and the factor of B = 1 + √W·K·√W. The
eigenvalues of B are at least one: no eigenvalue of K, however small, is divided by (Rasmussen and Williams, 2006,
chapter 3).

    log q(y) = −½·fᵀg + log p(y | f) − ½·log|B|

With R = √W·B⁻¹·√W its slopes by the entries of K, directly and through f, are

    ½·(ggᵀ − R) + ½·(ugᵀ + guᵀ),      u = (1 − R·K)·s,      sᵢ = −½·(K − K·R·K)ᵢᵢ·∂Wᵢ/∂fᵢ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, special

from ..runtime.compile import Array
from ..runtime.numerics import factorise, inverse, product, solve_factorised

__all__ = ["Laplace", "averaged", "factor_of", "laplace", "variances"]

#: Steps of Newton's method at most, halvings of a step, and what may still be gained, in nats.
_STEPS, _HALVINGS, _CLOSE = 100, 30, 1e-11
#: Systems that are solved together.
_TOGETHER = 64
#: The standard deviation from which on the sigmoid is what changes, places there, and its slopes.
_WIDE, _STEPS_OF_SIGMA = 3.0, np.linspace(-40, 40, 801)
_SLOPES = special.expit(_STEPS_OF_SIGMA) * special.expit(-_STEPS_OF_SIGMA) * (_STEPS_OF_SIGMA[1] - _STEPS_OF_SIGMA[0])
#: Places in units of the standard deviation at which a probability is averaged.
_PLACES = np.linspace(-8.5, 8.5, 171)
_SHARES = np.exp(-0.5 * np.square(_PLACES)) / np.exp(-0.5 * np.square(_PLACES)).sum()


@dataclass(frozen=True)
class Laplace:
    """The most likely function, and how likely the labels are."""

    f: Array
    #: g = K⁻¹f, the coefficients of f.
    g: Array
    #: W, and the factor of B.
    curvature: Array
    factor: Array
    log_likelihood: float
    converged: bool
    #: By how much f's slope misses: ‖K⁻¹f − ∇ log p(y | f)‖ in the norm of (K⁻¹ + W)⁻¹, Newton's next step.
    residual: float

    def slopes(self, K: Array) -> Array:
        """Of the log likelihood, by the entries of K."""
        root = np.sqrt(self.curvature)
        inner = inverse(self.factor)
        own = 1 - np.einsum("ii->i", inner)  # (K − K·R·K)ᵢᵢ·Wᵢ
        # ∂W/∂f = W·(1 − 2σ(f)) = −W·tanh(f/2)
        s = 0.5 * own * np.tanh(0.5 * self.f)
        inner *= root
        inner *= root[:, None]
        u = s - product(inner, product(K, s))
        turned = np.outer(u + 0.5 * self.g, self.g)
        return 0.5 * (turned + turned.T - inner)


def laplace(K: Array, y: Array, weight: Array, start: Array | None = None) -> Laplace:
    """Laplace's approximation for a kernel matrix and labels ±1.

    Parameters
    ----------
    K : array of shape (n, n)
    y : array of shape (n,)
    weight : array of shape (n,)
        How often each item counts.
    start : array of shape (n,), optional
        Coefficients to begin with.

    Returns
    -------
    Laplace

    Examples
    --------
    >>> found = laplace(np.eye(2), np.array([1.0, -1.0]), np.ones(2))
    >>> found.f.round(3), round(found.log_likelihood, 3)
    (array([ 0.401, -0.401]), -1.401)
    """
    a = np.zeros(len(y)) if start is None else start
    f = product(K, a)
    height = _height(a, f, y, weight)
    if start is not None and height < _height(0 * a, 0 * a, y, weight):
        a, f = np.zeros(len(y)), np.zeros(len(y))
        height = _height(a, f, y, weight)
    converged, promised = False, np.inf
    for _ in range(_STEPS):
        slope = weight * y * special.expit(-y * f)
        curvature = weight * special.expit(f) * special.expit(-f)
        L = factor_of(K, curvature)
        root = np.sqrt(curvature)
        right = curvature * f + slope
        way = right - root * solve_factorised(L, root * product(K, right)) - a
        moved = product(K, way)
        promised = float((slope - a) @ moved)  # the slope of the height along the way
        if promised <= _CLOSE:
            converged = True
            break
        length = 1.0
        for _ in range(_HALVINGS):
            new = _height(a + length * way, f + length * moved, y, weight)
            if new >= height + 1e-4 * length * promised:
                break
            length *= 0.5
        else:
            converged = promised <= 1e-6
            break
        a, f, height = a + length * way, f + length * moved, new
    logs = float(np.log(np.einsum("ii->i", L)).sum())
    g = weight * y * special.expit(-y * f)
    return Laplace(f, g, curvature, L, height - logs, converged, float(np.sqrt(max(0.0, promised))))


def _height(a: Array, f: Array, y: Array, weight: Array) -> float:
    """−½·fᵀK⁻¹f + log p(y | f)."""
    return float(-0.5 * a @ f + weight @ special.log_expit(y * f))


def factor_of(K: Array, curvature: Array) -> Array:
    """The factor of B = 1 + √W·K·√W."""
    root = np.sqrt(curvature)
    B = K * root
    B *= root[:, None]
    np.einsum("ii->i", B)[:] += 1
    factorise(B)
    return B


def variances(factor: Array, curvature: Array, similarities: Array, own: Array) -> Array:
    """The variance of f at new items, of whose similarities to the training items there is a row each.

    Systems are solved together in groups of one size, the last of which has zeros: which sums a processor takes in
    which order depends on how many there are, and a row alone is to be told the same as among others.
    """
    roots, out = np.sqrt(curvature), np.empty(own.size)
    for begin in range(0, own.size, _TOGETHER):
        some = similarities[begin : begin + _TOGETHER]
        right = np.zeros((roots.size, _TOGETHER))
        right[:, : len(some)] = (roots * some).T
        half = linalg.solve_triangular(factor, right, lower=True, check_finite=False)
        out[begin : begin + len(some)] = np.einsum("ij,ij->j", half, half)[: len(some)]
    return np.maximum(own - out, 0.0)


def averaged(mean: Array, std: Array) -> Array:
    """∫ σ(f)·N(f | mean, std²) df, by sums at places that are near to each other beside what changes.

    That is the density where the standard deviation is small, and σ where it is large: by parts the integral is then
    ∫ σ′(f)·Φ((mean + f)/std) df, as σ′ is even.

    Examples
    --------
    >>> averaged(np.array([0.0, 2.0]), np.array([5.0, 0.0])).round(4)
    array([0.5   , 0.8808])
    """
    out, wide = np.zeros(mean.shape), std > _WIDE
    for place, share in zip(_PLACES, _SHARES, strict=True):
        out += share * special.expit(mean + place * std)
    if wide.any():
        far = np.zeros(np.count_nonzero(wide))
        for place, share in zip(_STEPS_OF_SIGMA, _SLOPES, strict=True):
            far += share * special.ndtr((mean[wide] + place) / std[wide])
        out[wide] = far
    return out
