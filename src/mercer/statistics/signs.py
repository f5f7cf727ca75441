"""Tests whose statistic is a sum Σ_{i≠j} H(i, j) over pairs of rows, by random signs: the wild bootstrap.

Where there is nothing to be found, every row of H has the mean zero, and the sum behaves as Σ_{i≠j} εᵢεⱼH(i, j) with
independent signs ε does (Leucht and Neumann, 2013). This is so for many rows; unlike that of a permutation test, the
level is not exact for few.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..runtime.arrays import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.threads import for_each, one_blas_thread

__all__ = ["signed_means"]

#: Rows of H that are made at a time.
_ROWS = 512


def signed_means(
    block: Callable[[slice, slice], list[Array]], n: int, permutations: int, rng: np.random.Generator
) -> Array:
    """Σ_{i≠j} εᵢεⱼH(i, j)/(n(n−1)) for each of several H (columns); all signs one first, then random ones (rows).

    Parameters
    ----------
    block : callable
        The values of each H in some rows and columns. Those on the diagonal do not count.
    n, permutations : int
    rng : Generator

    Examples
    --------
    >>> H = np.array([[5.0, 1.0], [1.0, 5.0]])
    >>> np.abs(signed_means(lambda i, j: [H[i, j]], 2, 2, np.random.default_rng(0))).ravel()
    array([1., 1., 1.])
    """
    signs = np.ones((n, permutations + 1), np.int8)
    signs[:, 1:] -= 2 * rng.integers(0, 2, (n, permutations), dtype=np.int8)
    pieces = [slice(begin, min(begin + _ROWS, n)) for begin in range(0, n, _ROWS)]
    sums: list[Array] = [np.empty(0)] * len(pieces)

    def add(group: int) -> None:
        j = pieces[group]
        right, found = signs[j].astype(np.float64), []
        for i in pieces[: group + 1]:
            check_interrupt()
            left = signs[i].astype(np.float64)
            values = block(i, j)
            for H in values:
                if i == j:
                    np.fill_diagonal(H, 0.0)
            times = 1.0 if i == j else 2.0
            found.append([times * np.einsum("ib,ib->b", left, H @ right) for H in values])
        sums[group] = np.sum(found, axis=0)

    with one_blas_thread():
        for_each(add, range(len(pieces)))
    return np.sum(sums, axis=0).T / (n * (n - 1))
