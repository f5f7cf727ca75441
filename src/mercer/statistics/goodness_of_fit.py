"""Does a sample come from a distribution whose density is known up to a factor: the kernel Stein discrepancy.

With the score s(x) = ∇ log p(x) the Stein kernel

    h(x, z) = s(x)ᵀs(z)·k + s(x)ᵀ∇_z k + s(z)ᵀ∇_x k + tr ∇_x∇_zᵀ k

has the mean zero over x ~ p for every z, and the mean of h(x, z) over independent pairs of another distribution is
positive (Chwialkowski, Strathmann and Gretton, 2016; Liu, Lee and Jordan, 2016). Of k = φ(t) with t = ‖x − z‖² it is

    s(x)ᵀs(z)·φ − 2φ′·(x − z)ᵀ(s(x) − s(z)) − 2dφ′ − 4tφ″,

and of k = φ(t) with t = ⟨x, z⟩ it is s(x)ᵀs(z)·φ + φ′·(s(x)ᵀx + s(z)ᵀz + d) + φ″·t.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels import DOT, SQUARED_DISTANCE
from ..runtime.arrays import Array
from .candidates import as_collection, candidates, check_permutations
from .results import KernelTestResult, together
from .signs import signed_means
from .slopes import slopes, statistic_of

__all__ = ["ksd"]

#: Lengths of Gaussians that are tried, in units of the median distance.
_LENGTHS = (2.0, 1.0, 0.5)


def ksd(
    X: Any,
    score: Callable[[Array], Any] | Any,
    *,
    kernel: Any = None,
    permutations: int = 500,
    random_state: int = 0,
) -> KernelTestResult:
    """Test whether a sample comes from a distribution of which ∇ log p is known.

    Parameters
    ----------
    X : array of shape (n, d)
        Independent draws; those of a Markov chain are thinned first, to every tenth or so. Numbers in a row are one
        column.
    score : callable or array of shape (n, d)
        ∇ log p as a function of rows, or its values at the rows of X. The factor of the density plays no part.
    kernel : kernel, text, or a list of these, optional
        Smooth formulas of the squared distance or the dot product. By default Gaussians of three lengths around the
        median distance.
    permutations : int, default=500
        Random signs that are drawn; the p-value is at least 1/(1 + permutations).
    random_state : int, default=0

    Returns
    -------
    KernelTestResult
        ``statistic`` estimates the squared discrepancy without bias and may be negative.

    Notes
    -----
    The null distribution is that of random signs, which holds for many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.statistics import ksd
    >>> X = np.random.default_rng(0).standard_t(3, size=(300, 1))
    >>> ksd(X, lambda x: -x).pvalue < 0.01  # not standard normal
    True
    >>> ksd(X, lambda x: -4 * x / (3 + x**2)).pvalue > 0.05
    True
    """
    check_permutations(permutations)
    rng = np.random.default_rng(random_state)
    kernels, rows = candidates(kernel, as_collection(X), rng, _LENGTHS)
    if sparse.issparse(rows):
        raise ValueError("ksd needs dense rows; call .toarray().")
    functions = []
    for each in kernels:
        function = slopes(each)
        if function is None:
            raise ValueError(
                f"ksd needs the slopes of the kernel, and {each} is no smooth formula of the squared distance or the "
                "dot product; use a gaussian, or leave kernel out."
            )
        functions.append((statistic_of(each), function))
    n, d = rows.shape
    if n < 2:
        raise ValueError(f"ksd needs at least two rows; got {n}.")
    s = _scores(score, rows)
    own = np.einsum("ij,ij->i", s, rows)
    prepared = {statistic: statistic.prepare(rows, rows) for statistic in {SQUARED_DISTANCE, DOT}}

    def block(i: slice, j: slice) -> list[Array]:
        scores = s[i] @ s[j].T
        sums = own[i][:, None] + own[j]
        apart = sums - rows[i] @ s[j].T - s[i] @ rows[j].T  # (x − z)ᵀ(s(x) − s(z))
        found = []
        for statistic, function in functions:
            t = statistic.tile(*prepared[statistic], i, j)
            value, first, second = function(t)
            if statistic is DOT:
                found.append(scores * value + first * (sums + d) + second * t)
            else:
                found.append(scores * value - 2 * first * (apart + d) - 4 * t * second)
        return found

    values = signed_means(block, n, permutations, rng)
    pvalue, place = together(values)
    return KernelTestResult(float(values[0, place]), pvalue, kernels[place], kernels, values[0], permutations, 0.0)


def _scores(score: Any, rows: Array) -> Array:
    found = np.asarray(score(rows) if callable(score) else score, dtype=np.float64)
    found = found[:, None] if found.ndim == 1 and rows.shape[1] == 1 else found
    if found.shape != rows.shape:
        raise ValueError(f"score must give ∇ log p at each row, an array of shape {rows.shape}; got {found.shape}.")
    if not np.isfinite(found).all():
        raise ValueError("score is not a finite number at some rows; is the density positive there?")
    return found
