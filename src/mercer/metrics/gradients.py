"""How much predictions change with each column: the diagonal of the average gradient outer product.

Of f(x) = Σᵢ zᵢ·k(x, xᵢ) + b with columns weighted by w,

    ∂f/∂xⱼ = −γ·wⱼ·Σᵢ zᵢ·k(x, xᵢ)·sign(xⱼ − xᵢⱼ)        for exp(−γ·Σⱼ wⱼ·|xⱼ − zⱼ|),
    ∂f/∂xⱼ = −2γ·wⱼ²·Σᵢ zᵢ·k(x, xᵢ)·(xⱼ − xᵢⱼ)          for exp(−γ·Σⱼ wⱼ²·(xⱼ − zⱼ)²),
    ∂f/∂xⱼ = −wⱼ²·Σᵢ zᵢ·g(rᵢ)·(xⱼ − xᵢⱼ)                 for k(r), r = ‖w∘(x − z)‖ and g(r) = −k′(r)/r.

With a matrix W in the place of the weights, the gradient is Wᵀ times that by u = Wx.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import special

from ..kernels import DISTANCE, MANHATTAN, SQUARED_DISTANCE, Gaussian, Kernel, Laplacian, Matern
from ..kernels.engine.statistics import Statistic
from ..runtime.compile import Array, jit
from ..runtime.numerics import product
from ..runtime.threads import for_each

__all__ = [
    "FAMILIES",
    "Family",
    "family_of",
    "gaussian_gradients",
    "gaussian_slopes",
    "laplacian_gradients",
    "laplacian_slopes",
    "matern_gradients",
]

#: Rows of a piece of work, and rows whose signs are looked at together.
_GRADIENT_ROWS, _STRIP = 32, 512


def laplacian_gradients(rows: Array, items: Array, weights: Array, gamma: float, K: Array, z: Array) -> Array:
    """The gradients at some rows, (rows, columns, targets); ``K`` is the matrix of rows and items.

    Examples
    --------
    >>> import numpy as np
    >>> x, z = np.array([[1.0]]), np.array([[0.0]])
    >>> laplacian_gradients(x, z, np.ones(1), 2.0, np.exp(-2.0 * np.abs(x - z)), np.ones((1, 1))).ravel().round(3)
    array([-0.271])
    """
    columns, coefficients = np.ascontiguousarray(items.T), np.ascontiguousarray(z.T)
    out = np.zeros((len(rows), rows.shape[1], z.shape[1]))

    def work(begin: int) -> None:
        piece = slice(begin, begin + _GRADIENT_ROWS)
        _signed_sums(rows[piece], columns, K[piece], coefficients, out[piece])

    for_each(work, range(0, len(rows), _GRADIENT_ROWS))
    out *= -gamma * weights[:, None]
    return out


@jit(reorder=True)
def _signed_sums(rows: Array, columns: Array, K: Array, coefficients: Array, out: Array) -> None:
    """out[r, j, t] = Σᵢ z[t, i]·K[r, i]·sign(rows[r, j] − columns[j, i]), a strip of items at a time."""
    n, targets = columns.shape[1], coefficients.shape[0]
    for begin in range(0, n, _STRIP):
        end = min(begin + _STRIP, n)
        terms = np.empty((targets, end - begin))
        signs = np.empty(end - begin)
        for r in range(rows.shape[0]):
            for t in range(targets):
                for i in range(end - begin):
                    terms[t, i] = coefficients[t, begin + i] * K[r, begin + i]
            for j in range(rows.shape[1]):
                x = rows[r, j]
                for i in range(end - begin):
                    other = columns[j, begin + i]
                    signs[i] = np.float64(x > other) - np.float64(x < other)
                for t in range(targets):
                    total = 0.0
                    for i in range(end - begin):
                        total += terms[t, i] * signs[i]
                    out[r, j, t] += total


def gaussian_gradients(rows: Array, items: Array, weights: Array, gamma: float, K: Array, z: Array) -> Array:
    """The gradients at some rows, (rows, columns, targets); ``K`` is the matrix of rows and items."""
    out = np.empty((len(rows), rows.shape[1], z.shape[1]))
    for t, column in enumerate(z.T):
        out[:, :, t] = rows * product(K, column)[:, None] - product(K, column[:, None] * items)
    out *= -2 * gamma * np.square(weights)[:, None]
    return out


def laplacian_slopes(rows: Array, weights: Array, gamma: float, V: Array) -> Array:
    """How Σ Vᵢₖ·log k(xᵢ, xₖ) changes with the logarithm of each column's weight, V symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian_slopes(np.array([[0.0], [3.0]]), np.array([2.0]), 0.5, np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([-6.])
    """
    columns = np.ascontiguousarray(rows.T)
    pieces = range(0, len(rows), _GRADIENT_ROWS)
    sums = np.zeros((len(pieces), len(columns)))

    def work(number: int) -> None:
        begin = pieces[number]
        _distant_sums(columns, V[begin : begin + _GRADIENT_ROWS], begin, sums[number])

    for_each(work, range(len(pieces)))
    return -gamma * weights * sums.sum(axis=0)


@jit(reorder=True)
def _distant_sums(columns: Array, V: Array, begin: int, out: Array) -> None:
    """out[j] = Σ V[r, i]·|columns[j, begin + r] − columns[j, i]|."""
    for j in range(columns.shape[0]):
        for r in range(V.shape[0]):
            x, total = columns[j, begin + r], 0.0
            for i in range(V.shape[1]):
                total += V[r, i] * abs(x - columns[j, i])
            out[j] += total


def gaussian_slopes(rows: Array, weights: Array, gamma: float, V: Array) -> Array:
    """How Σ Vᵢₖ·log k(xᵢ, xₖ) changes with the logarithm of each column's weight, V symmetric."""
    of_squares = V.sum(axis=1) @ np.square(rows)
    return -4 * gamma * np.square(weights) * (of_squares - (rows * product(V, rows)).sum(axis=0))


def matern_gradients(nu: float, rows: Array, items: Array, weights: Array, gamma: float, K: Array, z: Array) -> Array:
    """The gradients at some rows, (rows, columns, targets), for a Matérn kernel of the length 1/γ.

    With c = √(2ν)·γ it is k(r) = (cr)^ν·K_ν(cr)·2^(1−ν)/Γ(ν), and −k′(r)/r = c²·(cr)^(ν−1)·K_(ν−1)(cr)·2^(1−ν)/Γ(ν):
    for ν > 1 the kernel of ν − 1 with the same c, times c²/(2ν − 2).
    """
    c, r = np.sqrt(2 * nu) * gamma, FAMILIES["gaussian"].distances(rows * weights, items * weights)
    np.sqrt(r, out=r)
    if nu > 1:
        falls = c * c / (2 * nu - 2) * Matern(nu - 1, np.sqrt(2 * nu - 2) / c).apply(r)
    else:
        r = np.where(r > 0, c * r, np.inf)  # a row says nothing of itself
        falls = c * c * 2 ** (1 - nu) / special.gamma(nu) * r ** (nu - 1) * special.kv(nu - 1, r)
    return gaussian_gradients(rows, items, weights, 0.5, falls, z)


# Kernels whose columns can be given weights by gradients: what there is to know of each family.


#: Rows of a piece of a matrix; and rows by which a median is known.
_ROWS, _SAMPLE = 256, 1000


@dataclass(frozen=True)
class Family:
    """Kernels of one distance, most of them exp(−γ·distance).

    Parameters
    ----------
    name : str
        That of the kernel in texts.
    kernel : callable
        The kernel of a γ.
    statistic : Statistic
        The distance.
    power : int
        The power of a length that the distance is: γ = 1/(power·length^power).
    gradients : callable
        Of models at rows, by their columns.
    slopes : callable, optional
        Of the matrix, by the weights of columns.
    """

    name: str
    kernel: Callable[[float], Any]
    statistic: Statistic
    power: int
    gradients: Callable[..., Array]
    slopes: Callable[..., Array] | None = None

    def distances(self, rows: Array, others: Array | None = None) -> Array:
        """The distances of all pairs of rows; of rows and others, where these are given."""
        others = rows if others is None else others
        left, right = self.statistic.prepare(rows, others)
        out = np.empty((len(rows), len(others)))
        every = slice(0, len(others))

        def fill(begin: int) -> None:
            piece = slice(begin, min(begin + _ROWS, len(rows)))
            out[piece] = self.statistic.tile(left, right, piece, every)

        for_each(fill, range(0, len(rows), _ROWS))
        return out

    def values(self, distances: Array, gamma: float) -> Array:
        """The kernel of distances, in a new array."""
        out, kernel = distances.copy(), self.kernel(gamma)

        def fill(begin: int) -> None:
            piece = out[begin : begin + _ROWS]
            piece[:] = kernel.apply(piece)

        for_each(fill, range(0, len(out), _ROWS))
        return out

    def median(self, distances: Array) -> float:
        """The median distance of rows that differ; 1 where none do."""
        step = max(1, len(distances) // _SAMPLE)
        some = distances[::step, ::step]
        apart = some[some > 0]
        return float(np.median(apart)) if apart.size else 1.0

    def rate(self, scale: float, median: float) -> float:
        """γ for a length that is so many times that of the median distance."""
        return 1.0 / (self.power * scale**self.power * median)

    def kernel_of(self, gamma: float, weights: Array | None) -> Kernel:
        """The kernel as a whole."""
        plain: Kernel = self.kernel(gamma)
        return plain if weights is None else plain.scaled(weights.tolist())


FAMILIES = {
    "laplacian": Family("laplacian", Laplacian, MANHATTAN, 1, laplacian_gradients, laplacian_slopes),
    "gaussian": Family("gaussian", Gaussian, SQUARED_DISTANCE, 2, gaussian_gradients, gaussian_slopes),
}


def family_of(kernel: Kernel) -> Family | None:
    """The family of a kernel, if it is of one."""
    if type(kernel) is Matern:
        nu = float(kernel.nu)
        return Family("matern", lambda gamma: Matern(kernel.nu, 1 / gamma), DISTANCE, 1, partial(matern_gradients, nu))
    return next((family for family in FAMILIES.values() if type(kernel) is family.kernel), None)
