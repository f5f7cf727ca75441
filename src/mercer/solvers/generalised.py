"""Generalised eigenproblems of covariances in feature space: discriminant directions and canonical correlations.

Rows count by their shares d, which add up to one, and features are centred: with Ψ the rows √dᵢ·(φ(xᵢ) − mean), the
covariance is S = ΨᵀΨ, and A = ΨΨᵀ has entries of the kernel matrix alone. A direction in the span of the rows is
w = Ψᵀa, and f(S)·Ψᵀ = Ψᵀ·f(A) brings every equation on directions to one on their coefficients a.

**Discriminants.** With B the n × (c − 1) matrix of orthonormal columns that are constant within each class (over √d)
and have weighted mean zero, the scatter between classes is Ψᵀ·B·Bᵀ·Ψ, that within them is the rest of S. Directions

    S_between·w = e·(S_within + λI)·w,      wᵀ·(S_within + λI)·w = 1

are those along which class means differ most for the spread within classes (Fisher 1936; Mika et al. 1999; Baudat and
Anouar 2000). With ρ = e/(1 + e), it is the same as S_between·w = ρ·(S + λI)·w, and w = (S + λI)⁻¹·ΨᵀB·u turns it into
the small problem Bᵀ·A·(A + λI)⁻¹·B·u = ρ·u, or

    λ·Bᵀ·(A + λI)⁻¹·B·u = (1 − ρ)·u,

which keeps the digits of 1 − ρ where classes are well apart. That is one Cholesky factor of A + λI. Where features are
few, it is one of S_within + λI.

**Canonical correlations.** Of two views of the same rows, directions w and v are sought with the largest covariance
wᵀ·S₁₂·v = ρ at wᵀ·(S₁ + λI)·w = vᵀ·(S₂ + λI)·v = 1 (Hotelling 1936; Bach and Jordan 2002; Hardoon et al. 2004). With
A = U·s²·Uᵀ for each view, they are the singular vectors p and q of

    M = f(s₁)·U₁ᵀ·U₂·f(s₂),      f(s) = s/√(s² + λ),      a = U·p/(s·√(s² + λ)),

and the singular values are the correlations ρ.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy import linalg

from ..grams import Gram
from ..runtime.compile import Array
from ..runtime.numerics import cholesky_solver, product, turned_product
from ..runtime.threads import in_background, one_blas_thread
from .eigen import centred_matrix

__all__ = ["Directions", "canonical_directions", "discriminant_directions"]

#: An eigenvalue of a covariance below this part of the largest, for each row, is a rounding error; and so is a ratio of
#: scatters below this number.
_NOTHING, _NO_RATIO = 4 * np.finfo(np.float64).eps, 1e-10


@dataclass(frozen=True)
class Directions:
    """Directions in feature space, the best first."""

    #: w = Σ zᵢφ(xᵢ): a column for each direction.
    z: Array
    #: The ratio of scatters, or the correlation.
    values: Array
    #: How far each is from solving its equation, as a part of the larger side.
    residuals: Array
    #: w itself, where features are few; it then counts.
    w: Array | None = None


def discriminant_directions(gram: Gram, codes: Array, share: Array, lam: float) -> Directions:
    """The directions along which the means of classes differ most for the spread within classes.

    Parameters
    ----------
    gram : Gram
        K in float64.
    codes : array of int
        For each row the number of its class, from 0 on.
    share : array
        What each row counts, 1 in all.
    lam : float
        λ.

    Returns
    -------
    Directions
        As many as there are classes but one, or fewer where class means do not differ along them.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> rows = np.array([[0.0], [2.0], [4.0], [6.0]])  # class means 1 and 5, variance 1 within each
    >>> found = discriminant_directions(Features(rows), np.array([0, 0, 1, 1]), np.full(4, 0.25), 1e-9)
    >>> found.values.round(3)
    array([4.])
    """
    priors = np.bincount(codes, share)
    # Columns of means zero: the complement of √prior, in which all classes are alike.
    contrasts = linalg.qr(np.sqrt(priors)[:, None])[0][:, 1:]
    B = np.sqrt(share)[:, None] * (contrasts / np.sqrt(priors)[:, None])[codes]
    features = gram.features()
    with one_blas_thread():
        if features is not None and features.shape[1] <= len(gram):
            return _by_features(features, codes, share, priors, lam)
        return _by_matrix(centred_matrix(gram, np.sqrt(share)), B, np.sqrt(share), lam)


def _by_matrix(A: Array, B: Array, root: Array, lam: float) -> Directions:
    solve = cholesky_solver(A, np.full(len(A), lam))
    R = solve(B)
    R += solve(B - product(A, R) - lam * R)
    rest, turn = np.linalg.eigh(0.5 * lam * (turned_product(B, R) + turned_product(R, B)))
    rest = np.clip(rest, np.finfo(float).tiny, 1.0)
    ratios = (1 - rest) / rest
    kept = ratios > _NO_RATIO
    ratios, rest = ratios[kept], rest[kept]
    a = product(R, turn[:, kept]) / np.sqrt((1 - rest) * rest)
    Aa = product(A, a)
    left, right = product(B, turned_product(B, Aa)), (1 - rest) * (Aa + lam * a)
    a -= np.outer(root, root @ a)
    return Directions(root[:, None] * a, ratios, _residuals(left, right))


def _by_features(features: Array, codes: Array, share: Array, priors: Array, lam: float) -> Directions:
    """Of few features: S_within + λI = L·Lᵀ, and the left singular vectors of L⁻¹·G with S_between = G·Gᵀ."""
    Phi = features.toarray() if hasattr(features, "toarray") else np.asarray(features, dtype=np.float64)
    means = np.zeros((priors.size, Phi.shape[1]))
    np.add.at(means, codes, share[:, None] * Phi)
    means /= priors[:, None]
    within = np.sqrt(share)[:, None] * (Phi - means[codes])
    W = turned_product(within, within)
    W[np.diag_indices(len(W))] += lam
    G = (np.sqrt(priors)[:, None] * (means - priors @ means)).T
    lower = linalg.cholesky(W, lower=True)
    U, lengths, _ = linalg.svd(linalg.solve_triangular(lower, G, lower=True), full_matrices=False)
    kept = np.flatnonzero(lengths**2 > _NO_RATIO)[: priors.size - 1]
    w = linalg.solve_triangular(lower.T, U[:, kept], lower=False)
    ratios = lengths[kept] ** 2
    none = np.zeros((len(Phi), ratios.size))
    return Directions(none, ratios, _residuals(G @ (G.T @ w), ratios * (W @ w)), w)


def _residuals(left: Array, right: Array) -> Array:
    """How far two sides of an equation are from each other, column by column."""
    sizes = np.maximum(np.linalg.norm(left, axis=0), np.linalg.norm(right, axis=0))
    return np.linalg.norm(left - right, axis=0) / np.where(sizes > 0, sizes, 1.0)


@dataclass(frozen=True)
class _View:
    """A = U·s²·Uᵀ, without what is rounding."""

    U: Array
    squares: Array

    @classmethod
    def of(cls, gram: Gram, root: Array) -> _View:
        features = gram.features()
        if features is not None and features.shape[1] <= len(gram):
            Phi = features.toarray() if hasattr(features, "toarray") else np.asarray(features, dtype=np.float64)
            Psi = root[:, None] * (Phi - root**2 @ Phi)
            U, lengths, _ = in_background(lambda: linalg.svd(Psi, full_matrices=False, check_finite=False))
            squares = lengths**2
        else:
            A = centred_matrix(gram, root)
            squares, U = in_background(lambda: linalg.eigh(A, overwrite_a=True, check_finite=False))
        kept = squares > _NOTHING * len(gram) * max(float(squares.max(initial=0.0)), 0.0)
        return cls(U[:, kept], squares[kept])

    def times(self, a: Array) -> Array:
        """A·a."""
        return product(self.U, self.squares[:, None] * turned_product(self.U, a))


def canonical_directions(
    grams: tuple[Gram, Gram], share: Array, lam: float, count: int
) -> tuple[Directions, Directions]:
    """The directions of two views of the same rows whose components are most alike.

    Parameters
    ----------
    grams : two of Gram
        The kernel matrices of both views in float64.
    share : array
        What each row counts, 1 in all.
    lam : float
        λ.
    count : int
        How many pairs; there are no more than either view has directions.

    Returns
    -------
    two of Directions
        Of each view, with the same correlations.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> x = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 0.0], [3.0, 2.0]])
    >>> pair = canonical_directions((Features(x), Features(-2 * x[:, :1])), np.full(4, 0.25), 1e-9, 1)
    >>> pair[0].values.round(6)
    array([1.])
    """
    root = np.sqrt(share)
    with one_blas_thread():
        views = [_View.of(gram, root) for gram in grams]
        first, second = (np.sqrt(view.squares / (view.squares + lam)) for view in views)
        M = first[:, None] * turned_product(views[0].U, views[1].U) * second
        count = min(count, *M.shape)
        p, correlations, q = _largest_singular(M, count)
        found = []
        for view, vectors in zip(views, (p, q), strict=True):
            weights = np.sqrt(view.squares * (view.squares + lam))[:, None]
            found.append(product(view.U, vectors / weights))
        residuals = []
        for (own, mine), (other, theirs) in permutations(zip(views, found, strict=True)):
            there = own.times(other.times(theirs))
            residuals.append(_residuals(there, correlations * own.times(own.times(mine) + lam * mine)))
    made = [Directions(root[:, None] * (a - np.outer(root, root @ a)), correlations, residual)
            for a, residual in zip(found, residuals, strict=True)]  # fmt: skip
    return made[0], made[1]


def _largest_singular(M: Array, count: int) -> tuple[Array, Array, Array]:
    """The largest singular values of a matrix, with their vectors as columns; those of zero are left out.

    They are roots of eigenvalues of MᵀM, which are at most one: what squares lose of small ones is below the limit.
    """
    square = turned_product(M, M)
    values, right = in_background(lambda: linalg.eigh(square, driver="evd", check_finite=False))
    values, right = values[values.size - count :], right[:, values.size - count :]
    kept = np.flatnonzero(values > _NO_RATIO)[::-1]
    lengths, right = np.sqrt(values[kept]), right[:, kept]
    return product(M, right) / lengths, np.minimum(lengths, 1.0), right
