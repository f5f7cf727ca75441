"""Are two variables independent where a third is known: kernel conditional independence, by regressions and signs.

What z tells of φ(x) is taken away by ridge regression of φ(x) on z, and likewise for ψ(y). Where X and Y are
independent given Z, the residuals r(x) and r(y) are uncorrelated at every z, so that the means of r(x)⊗r(y) and of
r(x)⊗r(y)⊗χ(z) are zero. Their squared lengths are estimated by

    T = Σ_{i≠j} ⟨r(xᵢ), r(xⱼ)⟩·⟨r(yᵢ), r(yⱼ)⟩·{1 or k(zᵢ, zⱼ)}/(n(n−1)),

as in KCI (Zhang et al., 2011). Its gamma approximation, and random signs of the products, reject too often: both take
the residuals for what is left of the truth, and they hold what the regressions have missed as well. So the X of the
null distribution are made anew: what z tells of φ(x), plus the residuals with random signs; and the regression is done
again. What it misses of the fitted values it misses of the truth, nearly. Where R is the operator that gives residuals,

    r*(x) = R·(F̂ + ε∘r(x)/√Rᵢᵢ),      F̂ = F − R·F.

λ and the kernel of z are those whose left-out residuals r/Rᵢᵢ are the shortest, apart for X and Y.

No test of conditional independence holds its level for every distribution (Shah and Peters, 2020). This one does as far
as the regression of X tells of φ(x) what z does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from ..kernels import Kernel
from ..kernels.engine.tiles import length
from ..runtime.arrays import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.threads import for_each, in_background, one_blas_thread
from .candidates import as_collection, candidates, check_permutations
from .forms import features_of
from .results import KernelTestResult, together

__all__ = ["kci"]

#: Lengths of Gaussians, in units of the median distance: of X and Y, and of Z in regressions.
_LENGTHS, _REGRESSED = (1.0, 0.5), (2.0, 1.0, 0.5, 0.25)
#: Ridges as parts of the largest eigenvalue, and features of Z in regressions.
_RIDGES, _REGRESSORS = 10.0 ** np.arange(0.0, -8.5, -0.5), 300
#: Features of X, Y and the weights.
_RANK = 30


def kci(
    X: Any,
    Y: Any,
    Z: Any,
    *,
    kernel: Any = None,
    permutations: int = 500,
    random_state: int = 0,
) -> KernelTestResult:
    """Test whether two variables are independent given a third.

    Parameters
    ----------
    X, Y, Z : arrays, frames, or collections of strings, sets or graphs, of the same length
        Row i of all belongs together. Numbers in a row are one column.
    kernel : kernel, text, callable, a list of these, or a tuple of three of any of these, optional
        A tuple holds the kernels for X, Y and Z. Of several for Z each regression takes the best. By default Gaussians
        around the median distance.
    permutations : int, default=500
        Random signs that are drawn; the p-value is at least 1/(1 + permutations).
    random_state : int, default=0

    Returns
    -------
    KernelTestResult
        ``kernel`` and ``kernels`` are those of X and of Y, and what the pairs of rows are weighed by: 1, or a kernel of
        Z.

    Notes
    -----
    The null distribution is that of random signs of residuals, which holds for many rows and good regressions.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.statistics import hsic, kci
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=200)
    >>> x, y = z + 0.5 * rng.normal(size=200), z**2 + 0.5 * rng.normal(size=200)
    >>> hsic(x, y).pvalue < 0.01, kci(x, y, z).pvalue > 0.05  # dependent, but only through z
    (True, True)
    """
    check_permutations(permutations)
    rng = np.random.default_rng(random_state)
    each = kernel if isinstance(kernel, tuple) else (kernel,) * 3
    if len(each) != 3:
        raise ValueError(f"kernel must be one for all variables, or a tuple of three; got {len(each)}.")
    sides = [
        candidates(one, as_collection(given, name), rng, lengths)
        for one, given, name, lengths in zip(each, (X, Y, Z), "XYZ", (_LENGTHS, _LENGTHS, _REGRESSED), strict=True)
    ]
    sizes = [length(items) for _, items in sides]
    n = sizes[0]
    if len(set(sizes)) > 1:
        raise ValueError(f"rows belong together one by one; X, Y and Z have {sizes[0]}, {sizes[1]} and {sizes[2]}.")
    if n < 4:
        raise ValueError(f"kci needs at least four rows; got {n}.")
    with one_blas_thread():
        smoothers = [_Smoother(one, sides[2][1], rng) for one in sides[2][0]]
        of_X, of_Y = ([_regressed(one, items, smoothers, rng) for one in kernels] for kernels, items in sides[:2])
    weighing = sides[2][0][min(1, len(sides[2][0]) - 1)]
    values = _statistics(of_X, of_Y, features_of(weighing, sides[2][1], _RANK, rng)[0], permutations, rng)
    pvalue, place = together(values)
    tried = [(a, b, w) for a in sides[0][0] for b in sides[1][0] for w in (1, weighing)]
    missing = max(one.missing for one in (*of_X, *of_Y))
    return KernelTestResult(float(values[0, place]), pvalue, tried[place], tried, values[0], permutations, missing)


class _Smoother:
    """Ridge regressions on one kernel of Z, for every λ at once: with K = U·diag(w)·Uᵀ centred, and residual operator

    R = I − 11ᵀ/n − U·diag(w/(w + λ))·Uᵀ.
    """

    def __init__(self, kernel: Kernel, items: Any, rng: np.random.Generator) -> None:
        Phi, _ = features_of(kernel, items, _REGRESSORS, rng)
        Phi = Phi - Phi.mean(axis=0)
        self.U, roots, _ = in_background(lambda: linalg.svd(Phi, full_matrices=False))
        self.w = np.square(roots)
        self.ridges = np.maximum(self.w.max(initial=0.0), np.finfo(float).tiny) * _RIDGES

    def residuals(self, F: Array, ridge: float) -> Array:
        """R·F."""
        return F - F.mean(axis=0) - self.U @ ((self.w / (self.w + ridge))[:, None] * (self.U.T @ F))

    def own(self, ridge: float) -> Array:
        """Rᵢᵢ."""
        return np.maximum(1.0 - 1.0 / len(self.U) - np.square(self.U) @ (self.w / (self.w + ridge)), 1e-6)


@dataclass(frozen=True)
class _Regressed:
    """The features of one variable regressed on Z: residuals, what the regression misses of its own values, and R."""

    residuals: Array
    missed: Array
    noise: Array
    smoother: _Smoother
    ridge: float
    missing: float

    def again(self, signs: Array) -> Array:
        """The residuals of features made anew, with these signs."""
        return self.missed + self.smoother.residuals(signs[:, None] * self.noise, self.ridge)


def _regressed(kernel: Kernel, items: Any, smoothers: list[_Smoother], rng: np.random.Generator) -> _Regressed:
    F, missing = features_of(kernel, items, _RANK, rng)

    def error(setting: tuple[_Smoother, float]) -> float:
        one, ridge = setting
        return float(np.square(one.residuals(F, ridge) / one.own(ridge)[:, None]).sum())

    one, ridge = min(((one, float(ridge)) for one in smoothers for ridge in one.ridges), key=error)
    residuals = one.residuals(F, ridge)
    noise = residuals / np.sqrt(one.own(ridge))[:, None]
    return _Regressed(residuals, one.residuals(F - residuals, ridge), noise, one, ridge, missing)


def _statistics(
    of_X: list[_Regressed], of_Y: list[_Regressed], chi: Array, permutations: int, rng: np.random.Generator
) -> Array:
    """T of the observed residuals (first row) and of those made anew, for each X, Y and weight (columns)."""
    n = len(chi)
    signs = rng.integers(0, 2, (permutations, n), dtype=np.int8) * 2.0 - 1.0
    weights = [np.ones((n, 1)), chi]
    right = [(y.residuals[:, :, None] * w[:, None]).reshape(n, -1) for y in of_Y for w in weights]
    own = np.column_stack([np.einsum("ij,ij->i", one, one) for one in right])
    ends = np.cumsum([0, *(one.shape[1] for one in right)])[:-1]
    joined = np.hstack(right)
    out = np.empty((permutations + 1, len(of_X), len(right)))

    def fill(b: int) -> None:
        check_interrupt()
        for place, x in enumerate(of_X):
            left = x.residuals if b == 0 else x.again(signs[b - 1])
            squares = np.add.reduceat(np.square(left.T @ joined).sum(axis=0), ends)
            out[b, place] = (squares - np.einsum("ij,ij->i", left, left) @ own) / (n * (n - 1))

    for_each(fill, range(permutations + 1))
    return out.reshape(permutations + 1, -1)
