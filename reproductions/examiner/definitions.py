"""Kernels by their definitions, all pairs at once, in extended precision.

Sums, products and exponentials of np.longdouble have 64 binary digits and exponents that nothing here leaves, so a
value counts as exact beside one in double precision. Kernels are recognised by the name of their class; their own code
is not called.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from scipy import sparse, special

Array = np.ndarray
EXACT = np.longdouble
#: A number in extended precision; NumPy's types of such numbers and Python's do not mix.
Real = Any
#: The least positive number.
TINY = np.finfo(EXACT).tiny


def rows_of(X: Any) -> Array:
    """Rows of numbers, dense and in extended precision."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X).astype(EXACT)


def kernel_matrix(kernel: Any, A: Any, B: Any) -> Array:
    """k(x, z) for x in A and z in B. ``kernel=None`` is the dot product."""
    if kernel is None:
        return _dots(A, B)
    p = kernel.get_params(deep=False)
    match type(kernel).__name__:
        case "Linear":
            return _dots(A, B)
        case "Polynomial":
            return _power(EXACT(p["gamma"]) * _dots(A, B) + EXACT(p["coef0"]), p["degree"])
        case "Gaussian":
            return np.exp(-EXACT(p["gamma"]) * _distances(A, B, 2))
        case "Laplacian":
            return np.exp(-EXACT(p["gamma"]) * _distances(A, B, 1))
        case "Matern":
            return _matern(np.sqrt(_distances(A, B, 2)), p["nu"], p["length"])
        case "Cosine":
            return _normalised(_dots(A, B), np.square(A).sum(axis=1), np.square(B).sum(axis=1))
        case "Sigmoid":
            return np.tanh(EXACT(p["gamma"]) * _dots(A, B) + EXACT(p["coef0"]))
        case "Quadratic":
            return _dots(_dots(A, np.asarray(p["B"], EXACT).T), B)
        case "Sum":
            return kernel_matrix(p["left"], A, B) + kernel_matrix(p["right"], A, B)
        case "Product":
            return kernel_matrix(p["left"], A, B) * kernel_matrix(p["right"], A, B)
        case "Scaled":
            return EXACT(p["scale"]) * kernel_matrix(p["kernel"], A, B)
        case "Power":
            return _power(kernel_matrix(p["kernel"], A, B), p["exponent"])
        case "Normalised":
            own = [
                np.array([kernel_matrix(p["kernel"], rows[i : i + 1], rows[i : i + 1])[0, 0] for i in range(len(rows))])
                for rows in (A, B)
            ]
            return _normalised(kernel_matrix(p["kernel"], A, B), *own)
        case "Spectrum":
            return _of_counts(A, B, lambda text: _substrings(text, p["p"]), _count_products)
        case "MinMax":
            return _of_counts(A, B, Counter, _smaller_over_larger)
    raise NotImplementedError(type(kernel).__name__)


def knows(kernel: Any) -> bool:
    """Whether a kernel on rows of numbers, and all of which it is made, has a definition here."""
    nothing = np.zeros((0, 1), EXACT)
    try:
        kernel_matrix(kernel, nothing, nothing)
    except NotImplementedError:
        return False
    except Exception:  # a definition that does not like to have no rows
        return True
    return True


def _dots(A: Array, B: Array) -> Array:
    # Column by column: NumPy's own product of extended matrices is no faster, and its order of summation unknown.
    out = np.zeros((len(A), len(B)), EXACT)
    for k in range(A.shape[1]):
        out += A[:, k, None] * B[None, :, k]
    return out


def _distances(A: Array, B: Array, power: int) -> Array:
    """Σₖ |xₖ − zₖ|^power."""
    out = np.zeros((len(A), len(B)), EXACT)
    for k in range(A.shape[1]):
        difference = np.abs(A[:, k, None] - B[None, :, k])
        out += difference if power == 1 else difference * difference
    return out


def _power(values: Array, exponent: int) -> Array:
    out = values.copy()
    for _ in range(int(exponent) - 1):
        out = out * values
    return out


def _normalised(values: Array, left: Array, right: Array) -> Array:
    lengths = np.sqrt(left[:, None]) * np.sqrt(right[None, :])
    return np.divide(values, lengths, out=np.zeros_like(values), where=lengths > 0)


def _matern(r: Array, nu: float, length: float) -> Array:
    s = np.sqrt(EXACT(2 * nu)) * r / EXACT(length)
    if nu == 0.5:
        return np.exp(-s)
    if nu == 1.5:
        return (1 + s) * np.exp(-s)
    if nu == 2.5:
        return (1 + s + s * s / 3) * np.exp(-s)
    # s^ν·K_ν(s) is e^(−s) times a function that changes slowly; the limit at 0 is 2^(ν−1)·Γ(ν), far away it is 0.
    away = np.clip(s, EXACT(1e-8), EXACT(1e4)).astype(np.float64)
    bessel = special.kve(nu, away).astype(EXACT) * np.exp(-away.astype(EXACT))
    out = EXACT(2 ** (1 - nu) / special.gamma(nu)) * away.astype(EXACT) ** EXACT(nu) * bessel
    return np.where(s < 1e-8, EXACT(1), out)


def _substrings(text: str, size: int) -> Counter:
    return Counter(text[i : i + size] for i in range(len(text) - size + 1))


def _count_products(a: Counter, b: Counter) -> float:
    return sum(a[key] * b[key] for key in a)


def _smaller_over_larger(a: Counter, b: Counter) -> Real:
    larger = sum((a | b).values())
    return EXACT(sum((a & b).values())) / larger if larger else 1.0


def _of_counts(A: Any, B: Any, count: Any, compare: Any) -> Array:
    left, right = [count(item) for item in A], [count(item) for item in B]
    return np.array([[compare(a, b) for b in right] for a in left], EXACT).reshape(len(left), len(right))
