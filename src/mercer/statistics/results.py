"""From the statistics of many permutations to one p-value, for one kernel or for several at once.

A test compares its statistic T₀ with the statistics T₁, …, T_B of samples that are as likely as the observed one where
there is nothing to be found. All B + 1 are then exchangeable, and

    p = (1 + #{b ≥ 1: T_b ≥ T₀}) / (1 + B)

is at most α with a probability of at most α, for every B (Phipson and Smyth, 2010).

That holds for any statistic, so for one that is made of several kernels as well, if it treats all B + 1 alike. Values
of different kernels are brought to one scale first: each becomes the logarithm of a p-value, −log p̂_b, of the gamma
distribution with the mean, the variance and the skewness of the other B values of its kernel (Pearson's type III: the
limit of such a statistic is a weighted sum of χ²). A value is judged by the others and not by itself, so that one far
out does not hide itself. The statistic of all kernels is the logarithm of the mean of 1/p̂_b over them. How good the
gamma distribution is makes no difference for the level, but for the weight of each kernel alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from ..runtime.arrays import Array

__all__ = ["KernelTestResult", "chances", "evidence", "together"]

#: Standardised values that differ by less are the same but for rounding.
_DIGITS = 8
#: A deviation below this is rounding: the root of what is left of a difference of squares.
_ALIKE = 1e-6
#: Evidence that differs by less of itself is the same; and evidence of what no chance explains.
_SAME, _CERTAIN = 1e-6, 1e6
#: Below this skewness a gamma distribution is taken for a normal one.
_SKEWED = 0.02
#: Chances below this are found by their asymptotic expansion.
_SMALLEST = 1e-290


@dataclass(frozen=True, eq=False)
class KernelTestResult:
    """What a test found. It can be taken apart as SciPy's results: ``statistic, pvalue = hsic(X, Y)``.

    Attributes
    ----------
    statistic : float
        The statistic under ``kernel``.
    pvalue : float
        Of all kernels together.
    kernel : Kernel, or a tuple of them
        Of those that were tried, the one that speaks most clearly.
    kernels : list
        All that were tried.
    statistics : array
        The statistic under each.
    permutations : int
    missing_trace : float
        The share of the trace of that kernel's matrix that landmarks leave out; 0 where it is exact.
    """

    statistic: float
    pvalue: float
    kernel: Any
    kernels: list[Any]
    statistics: Array
    permutations: int
    missing_trace: float

    def __iter__(self) -> Iterator[float]:
        return iter((self.statistic, self.pvalue))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(statistic={self.statistic:.6g}, pvalue={self.pvalue:.4g}, kernel={self.kernel})"


def together(values: Array) -> tuple[float, int]:
    """The p-value of all kernels together, and the place of the one that speaks most clearly.

    Parameters
    ----------
    values : array of shape (1 + permutations, n_kernels)
        The statistics; the observed ones first.

    Examples
    --------
    >>> together(np.array([[3.0], [1.0], [3.0], [0.0]]))
    (0.5, 0)
    """
    found = evidence(values)
    joint = special.logsumexp(found, axis=1)
    return float(chances(joint)), int(found[0].argmax())


def chances(found: Array) -> Any:
    """(1 + k)/(1 + B) for evidence whose first row is the observed one; what differs by rounding is as large."""
    return (found >= found[0] - _SAME * (1 + np.abs(found[0]))).mean(axis=0)


def evidence(values: Array) -> Array:
    """For each value −log of its chance, by the gamma distribution that fits the other values of its column.

    One column stays in its own order, whatever fits.

    Examples
    --------
    >>> normal = np.random.default_rng(0).normal(size=(10_000, 2))
    >>> found = evidence(np.vstack([normal, [[1.96, 0.0]]]))[-1]
    >>> np.exp(-found).round(2)
    array([0.02, 0.5 ])
    """
    if not np.isfinite(values).all():
        raise ValueError("the kernel is not a finite number between some items; scale the columns, or use another.")
    spread = values.std(axis=0)
    size = np.abs(values).max(axis=0, initial=0.0)
    constant = spread <= 1e-13 * size
    z = np.round((values - values.mean(axis=0)) / np.where(constant, 1.0, spread), _DIGITS)
    if values.shape[1] == 1:
        return np.where(constant, 0.0, z)
    m = len(values) - 1
    mean = (z.sum(axis=0) - z) / m
    second, third = ((np.power(z, p).sum(axis=0) - np.power(z, p)) / m for p in (2, 3))
    deviation = np.sqrt(np.maximum(second - mean**2, 0.0))
    alike = deviation < _ALIKE  # all the others are the same
    scale = np.where(alike, 1.0, deviation)
    skew = (third - 3 * mean * second + 2 * mean**3) / scale**3
    found = _minus_log_chance((z - mean) / scale, skew)
    found = np.where(alike, np.where(z > mean + _ALIKE, _CERTAIN, 0.0), found)
    return np.where(constant, 0.0, np.minimum(found, _CERTAIN))


def _minus_log_chance(z: Array, skew: Array) -> Array:
    """−log P(G ≥ z) for a gamma distribution of mean 0, deviation 1 and a skewness: G = (Γ_k − k)/√k, k = 4/skew²."""
    g = np.maximum(skew, _SKEWED)
    k = 4.0 / g**2
    x = np.maximum(k + z * np.sqrt(k), 0.0)
    chance = special.gammaincc(k, x)
    far = x - (k - 1) * np.log(np.maximum(x, 1.0)) + special.gammaln(k)
    gamma = np.where(chance > _SMALLEST, -np.log(np.maximum(chance, _SMALLEST)), far)
    return np.where(skew < _SKEWED, -special.log_ndtr(-z), gamma)
