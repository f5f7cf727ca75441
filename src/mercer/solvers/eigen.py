"""The leading eigenpairs of a kernel matrix that is only asked for products, and how wrong they are at most.

The matrix is A = C·S·K·S·C: S a diagonal matrix of scales s, and C = I − ssᵀ/‖s‖² where items, each counted sᵢ² times,
are centred in feature space. Neither is ever formed, as A·v = C·(S·(K·(S·(C·v)))) costs a product with K and some sums.
Something may be taken from the diagonal of K: a graph of items has no edge from one to itself.

**The way down.** A factor F of randomly pivoted Cholesky, K ≈ F·Fᵀ, costs a few columns of K. The left singular vectors
of C·S·F are a good subspace to begin with, beside a few random directions, for what the landmarks have missed. The
subspace then grows by the residuals A·v − θ·v of its Ritz pairs (θ, v), all those not yet exact as one block; that is
block Krylov. Where it becomes wide, it begins anew with its best Ritz vectors, which lose nothing (thick restart; Wu
and Simon 2000). Where K is to be had in single precision, the first part of the way is walked there.

**How wrong.** For orthonormal vectors V, Θ = VᵀAV and R = A·V − V·Θ, there are as many eigenvalues of A that lie
one by one within ‖R‖₂ of those of Θ (Kahan 1967). So every Ritz value whose residual ‖r‖ keeps it apart from the
others has an eigenvalue within ‖r‖; of values whose intervals overlap, R is that of the group. With δ the distance from
the group to the other eigenvalues, the sine of the angle between its directions and the true ones is at most ‖R‖₂/δ
(Davis and Kahan 1970). Products of the certificate are in float64, and what these round is added to the bounds.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import linalg

from ..grams import Gram, pivoted
from ..problems import Status
from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.numerics import product, turned_product
from ..runtime.threads import in_background, one_blas_thread

__all__ = ["Eigenpairs", "leading_eigenpairs"]

#: Items up to which the whole matrix is decomposed, and from which share of all pairs on.
_SMALL, _SHARE = 400, 0.2
#: Columns of features up to which their own matrix is decomposed.
_NARROW = 2000
#: Directions beside those asked for: at least, and as a part of these; random ones among them.
_GUARDS, _GUARDED, _RANDOM = 8, 0.25, 4
#: Landmarks for each direction of the start; blocks of the widest subspace.
_LANDMARKS, _WIDEST = 6, 5
#: Residuals that single precision can reach, as a part of the largest eigenvalue; passes there without progress.
_SINGLE, _IDLE = 2e-6, 2
#: Roundings that a product is wrong by, in units of √n times the trace.
_ROUNDINGS = 8.0
#: Residuals of more than this part of an eigenvalue say little where many eigenvalues are close to each other.
_LOOSEST = 1e-3
#: Residuals that are more than this part of the least so far have made no progress.
_STUCK = 0.9
#: A block that came out of a projection with less than this part of its length has lost its direction.
_LOST = 1e-10


@dataclass(frozen=True)
class Eigenpairs:
    """Eigenvalues in falling order, with their directions and bounds of their errors."""

    #: The eigenvalues found, and unit vectors as columns.
    values: Array
    vectors: Array
    #: ‖A·v − θ·v‖ of each.
    residuals: Array
    #: There is an eigenvalue within so much of each, one for each of them.
    bounds: Array
    #: The largest sine of the angle between a direction, or its group's, and the true one; 1 where nothing is known.
    angles: Array
    #: Products with K, counted in columns.
    products: int
    status: Status


@dataclass
class _Matrix:
    """A = C·S·K·S·C by its products."""

    gram: Gram
    centred: bool
    scale: Array | None
    less: Array | None = None
    products: int = 0

    @cached_property
    def mean(self) -> Array:
        """The unit vector that C takes away."""
        s = np.ones(len(self.gram)) if self.scale is None else self.scale
        return s / np.linalg.norm(s)

    def __call__(self, V: Array) -> Array:
        check_interrupt()
        self.products += V.shape[1]
        scaled = self.scaled(self.moved(V))
        found = self.gram.matvec(scaled)
        return self.of_features(found if self.less is None else found - self.less[:, None] * scaled)

    def moved(self, V: Array) -> Array:
        """C·V."""
        return V - np.outer(self.mean, self.mean @ V) if self.centred else V

    def scaled(self, V: Array) -> Array:
        """S·V."""
        return V if self.scale is None else self.scale[:, None] * V

    def of_features(self, V: Array) -> Array:
        """C·S·V, the features of A where those of K are V."""
        return self.moved(self.scaled(V))

    @cached_property
    def rounding(self) -> float:
        """What products with unit vectors are wrong by, about: centring takes the difference of larger numbers."""
        diagonal = np.asarray(self.gram.diag(), dtype=np.float64)
        trace = float(np.abs(diagonal if self.scale is None else diagonal * self.scale**2).sum())
        return (self.gram.error + _ROUNDINGS * np.finfo(float).eps * len(diagonal) ** 0.5) * trace

    def whole(self) -> Array:
        """A as an array."""
        K = np.array(self.gram.rows(np.arange(len(self.gram))), dtype=np.float64)
        K[np.diag_indices_from(K)] -= 0.0 if self.less is None else self.less
        if self.scale is not None:
            K *= self.scale[:, None] * self.scale
        K = self.moved(self.moved(K).T)
        return 0.5 * (K + K.T)


def leading_eigenpairs(
    gram: Gram,
    count: int,
    *,
    centred: bool = False,
    scale: Array | None = None,
    less: Array | None = None,
    tol: float = 1e-5,
    max_passes: int = 100,
    seconds: float = np.inf,
    rng: np.random.Generator | None = None,
    exact: Gram | None = None,
) -> Eigenpairs:
    """The largest eigenvalues of C·S·K·S·C and their directions.

    Parameters
    ----------
    gram : Gram
        K, positive semi-definite.
    count : int
        How many pairs; there are no more than items.
    centred : bool, default=False
        Whether items are centred in feature space, each counted sᵢ² times; else C is the identity.
    scale : array of shape (n,), optional
        The diagonal of S; ones by default.
    less : array of shape (n,), optional
        What is taken from the diagonal of K.
    tol : float, default=1e-5
        The largest residual of a pair, as a part of its eigenvalue, up to 0.001.
    max_passes : int, default=100
        How often the whole matrix may be asked for.
    seconds : float, optional
        When to stop with what is there.
    rng : numpy.random.Generator, optional
    exact : Gram, optional
        The same matrix in float64, where ``gram`` is less exact.

    Returns
    -------
    Eigenpairs

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Lazy
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(2000, 3))
    >>> found = leading_eigenpairs(Lazy(Gaussian(gamma=0.1), X), 3, centred=True)
    >>> found.values.round(1), bool((found.residuals <= 1e-5 * found.values).all())
    (array([189.3, 183.7, 176.8]), True)
    """
    rng = np.random.default_rng(0) if rng is None else rng
    until = time.monotonic() + seconds
    n = len(gram)
    count, tol = min(count, n), min(tol, _LOOSEST)
    matrix = _Matrix(gram if exact is None else exact, centred, scale, less)
    with one_blas_thread():
        features = gram.features()
        if less is None and features is not None and features.shape[1] <= min(_NARROW, n):
            V = _by_features(matrix, features, count)
        elif n <= _SMALL or count >= _SHARE * n:
            V = in_background(lambda: _largest(matrix.whole(), count)[1])
        else:
            return _by_products(matrix, gram, count, tol, max_passes, until, rng)
        AV = matrix(V)
        return _certified(matrix, V, AV, count, Status.CONVERGED)


def centred_matrix(gram: Gram, scale: Array) -> Array:
    """C·S·K·S·C as an array."""
    return _Matrix(gram, True, scale).whole()


def _largest(A: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix in falling order, and their vectors."""
    n = len(A)
    values, vectors = linalg.eigh(A, subset_by_index=(n - count, n - 1), check_finite=False)
    if values.size < count:  # of equal eigenvalues LAPACK may find none when it is asked for some
        values, vectors = linalg.eigh(A, driver="evd", check_finite=False)
        values, vectors = values[n - count :], vectors[:, n - count :]
    return values[::-1], np.ascontiguousarray(vectors[:, ::-1])


def _by_features(matrix: _Matrix, features: Array, count: int) -> Array:
    """Directions of A = Φ·Φᵀ by those of ΦᵀΦ; where there are more of them than columns, whatever is left."""
    Phi = features.toarray() if hasattr(features, "toarray") else np.asarray(features, dtype=np.float64)
    Phi = matrix.of_features(Phi)
    _, directions = _largest(turned_product(Phi, Phi), min(count, Phi.shape[1]))
    return _filled(product(Phi, directions), count, np.random.default_rng(0), matrix)


def _orthonormal(V: Array, others: Array | None, matrix: _Matrix) -> Array:
    """An orthonormal basis of what columns have beside others."""
    lengths = np.linalg.norm(V, axis=0)
    block = matrix.moved(V[:, lengths > 0] / lengths[lengths > 0])
    for _ in range(2):  # twice is enough (Kahan and Parlett)
        if others is not None:
            block = block - product(others, turned_product(others, block))
        if block.shape[1]:
            block, upper, _ = linalg.qr(block, mode="economic", pivoting=True, check_finite=False)
            block = block[:, np.abs(upper.diagonal()) > _LOST]
    return block


def _filled(V: Array, count: int, rng: np.random.Generator, matrix: _Matrix) -> Array:
    """An orthonormal basis of some columns, filled up by random directions to ``count``."""
    basis = _orthonormal(V, None, matrix)[:, :count]
    random = _orthonormal(rng.standard_normal((len(V), count)), basis, matrix)
    return np.hstack([basis, random[:, : count - basis.shape[1]]])


def _by_products(
    matrix: _Matrix, gram: Gram, count: int, tol: float, max_passes: int, until: float, rng: np.random.Generator
) -> Eigenpairs:
    """Block Krylov with thick restarts, first in single precision where there is such, then in double."""
    n = len(gram)
    width = min(n, count + max(_GUARDS, int(_GUARDED * count)))
    factor = pivoted(gram, min(n, _LANDMARKS * width), rng)
    F = matrix.of_features(factor.columns)
    some = min(F.shape[1], width - _RANDOM)
    start = product(F, _largest(turned_product(F, F), some)[1]) if some else F
    V = _filled(start, width, rng, matrix)
    rounded = gram.rounded() if gram is matrix.gram else gram
    steps: list[tuple[_Matrix, float]] = [(matrix, 0.0)]
    if rounded is not None and rounded is not matrix.gram:
        steps.insert(0, (_Matrix(rounded, matrix.centred, matrix.scale, matrix.less), _SINGLE))
    for step, floor in steps:
        V, AV, status = _iterated(step, V, count, tol, floor, max_passes, until)
    return _certified(matrix, V, AV, count, status)


def _iterated(
    matrix: _Matrix,
    V: Array,
    count: int,
    tol: float,
    floor: float,
    max_passes: int,
    until: float,
) -> tuple[Array, Array, Status]:
    """Ritz vectors whose residuals are small, with their products; the first pass is always made."""
    width, status = V.shape[1], Status.NOT_CONVERGED
    AV = matrix(V)
    idle, least = 0, np.inf
    for passes in range(1, max_passes + 1):
        values, mix = _largest(_symmetric(turned_product(V, AV)), min(V.shape[1], width))
        X, AX = product(V, mix), product(AV, mix)
        R = AX - X * values
        lengths = np.linalg.norm(R, axis=0)
        largest = max(float(values[0]), 0.0)
        enough = np.maximum(tol * np.abs(values), max(floor * largest, matrix.rounding))
        open_ = np.flatnonzero(lengths > enough)
        if not (open_ < count).any():
            status = Status.CONVERGED
            break
        worst = float((lengths / enough)[:count].max())
        idle, least = (idle + 1, least) if worst > _STUCK * least else (0, worst)
        if passes == max_passes or time.monotonic() > until or (floor and idle == _IDLE):
            break
        # Guards are led along, and not to the end.
        last = int(open_[open_ < count].max()) + 1
        grow = open_[open_ < max(last + _GUARDS, count)]
        if V.shape[1] + grow.size > _WIDEST * width:
            V, AV = X, AX
        fresh = _orthonormal(R[:, grow], V, matrix)
        if not fresh.shape[1]:  # residuals are roundings of what is there
            break
        V, AV = np.hstack([V, fresh]), np.hstack([AV, matrix(fresh)])
    return X, AX, status


def _symmetric(H: Array) -> Array:
    return 0.5 * (H + H.T)


def _certified(matrix: _Matrix, V: Array, AV: Array, count: int, status: Status) -> Eigenpairs:
    """Ritz pairs of a subspace with bounds of their errors."""
    values, mix = _largest(_symmetric(turned_product(V, AV)), V.shape[1])
    V, AV = product(V, mix), product(AV, mix)
    R = AV - V * values
    squares = turned_product(R, R)
    lengths = np.sqrt(squares.diagonal())
    rounding = matrix.rounding
    bounds, angles = np.empty(len(values)), np.ones(len(values))
    for first, stop in _groups(values, lengths + rounding):
        norm = float(np.sqrt(max(0.0, np.linalg.eigvalsh(squares[first:stop, first:stop])[-1])))
        bounds[first:stop] = norm + rounding
    for first, stop in _groups(values, bounds):
        above = values[first - 1] - bounds[first - 1] - values[first] if first else np.inf
        below = values[stop - 1] - values[stop] - bounds[stop] if stop < len(values) else 0.0
        if len(values) == len(V) and stop == len(values):
            below = np.inf
        gap = min(above, below)
        if gap > 0:
            angles[first:stop] = np.minimum(1.0, bounds[first:stop] / gap)
    kept = slice(0, count)
    return Eigenpairs(
        values[kept],
        np.ascontiguousarray(V[:, kept]),
        lengths[kept],
        bounds[kept],
        angles[kept],
        matrix.products,
        status,
    )


def _groups(values: Array, bounds: Array) -> list[tuple[int, int]]:
    """Runs of falling values whose intervals overlap."""
    lower = np.minimum.accumulate(values - bounds)
    upper = np.maximum.accumulate((values + bounds)[::-1])[::-1]
    cuts = np.flatnonzero(lower[:-1] > upper[1:]) + 1
    edges = [0, *cuts.tolist(), len(values)]
    return list(pairwise(edges))
