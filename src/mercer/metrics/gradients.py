"""How much predictions change with each column: the diagonal of the average gradient outer product.

Of f(x) = Σᵢ zᵢ·k(x, xᵢ) + b with columns weighted by w,

    ∂f/∂xⱼ = −γ·wⱼ·Σᵢ zᵢ·k(x, xᵢ)·sign(xⱼ − xᵢⱼ)        for exp(−γ·Σⱼ wⱼ·|xⱼ − zⱼ|),
    ∂f/∂xⱼ = −2γ·wⱼ²·Σᵢ zᵢ·k(x, xᵢ)·(xⱼ − xᵢⱼ)          for exp(−γ·Σⱼ wⱼ²·(xⱼ − zⱼ)²).
"""

from __future__ import annotations

import numpy as np

from .._runtime.compile import Array, jit
from .._runtime.parallel import for_each
from .._runtime.products import product

__all__ = ["gaussian_gradients", "laplacian_gradients"]

#: Rows of a piece of work, and rows whose signs are looked at together.
_ROWS, _STRIP = 32, 512


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
        piece = slice(begin, begin + _ROWS)
        _signed_sums(rows[piece], columns, K[piece], coefficients, out[piece])

    for_each(work, range(0, len(rows), _ROWS))
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
