"""k-means in feature space, and how much less the best clustering could cost.

The cost of a clustering is Σ wᵢ‖φ(xᵢ) − μ‖², the squared distance of each item from the mean μ = Σ wᵢφ(xᵢ)/W of its
cluster, of weight W. Let H have wᵢ in row i and the column of the item's cluster, and M = K·H. Then

    ‖φ(xᵢ) − μ_c‖² = Kᵢᵢ − 2·M_ic/W_c + ‖μ_c‖²,      ‖μ_c‖² = (HᵀM)_cc/W_c²,      cost = Σ wᵢKᵢᵢ − Σ W_c‖μ_c‖².

**The way down.** Lloyd's two steps, nearest means and new means, take a product with K, in which items that stay where
they are do not count, as M changes by K·(H′ − H). Where no other mean is nearer to any item, moving one may still pay,
as it takes the means along: out of cluster a into b it saves w·W_a/(W_a − w)·‖φ − μ_a‖² − w·W_b/(W_b + w)·‖φ − μ_b‖²
(Hartigan 1975). All such moves are tried at once, and the best one alone where that is none. Where K is costly, the way
from several seedings (k-means++) is walked on rows of a factor F of randomly pivoted Cholesky, K ≈ F·Fᵀ, which is some
columns of K; the best clustering goes on with K.

**How good it is.** Let Y = W^½·K·W^½ for the diagonal matrix W of the wᵢ. With the columns h of H, the vectors
W^−½·h_c/√W_c are k orthonormal columns Z whose span holds √w, and the cost is tr(Y) − tr(ZᵀYZ). Over all such Z that is
least for √w beside the k − 1 leading eigenvectors of Y centred, CYC (Zha et al. 2001, Ding and He 2004): no clustering
costs less than tr(CYC) − λ₁ − … − λ_(k−1). Eigenvalues count with the bounds of their errors added.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from ..grams import Features, Gram, pivoted
from ..problems import Status
from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.threads import one_blas_thread
from .eigen import leading_eigenpairs

__all__ = ["Partition", "kernel_kmeans", "least_cost"]

#: Items whose features are looked at together.
_BLOCK = 4096
#: Items up to which K itself is used from the start; columns of the factor: at least, and for each cluster.
_FEW, _COLUMNS, _A_CLUSTER = 1000, 100, 10
#: A cost that falls by less than this part has come to its end, in single and in double precision.
_SINGLE, _DOUBLE = 1e-6, 1e-12
#: Squared distances that are differences of numbers so much larger are roundings, in units of the last digit.
_ROUNDINGS = 64.0
#: Eigenvalues of the bound are found to this part of themselves.
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Partition:
    """Items in clusters, the heaviest first, and their means."""

    #: The cluster of each item; the weight of each cluster, and ‖μ‖² of its mean.
    labels: Array
    weights: Array
    squares: Array
    #: Σ wᵢ‖φ(xᵢ) − μ‖².
    cost: float
    #: The steps of the last descent.
    n_iter: int
    status: Status

    def memberships(self, weight: Array) -> Array:
        """H/W: coefficients of the items in the means, a column for each."""
        return _columns(self.labels, weight, self.weights.size) / self.weights


def kernel_kmeans(
    gram: Gram,
    k: int,
    weight: Array | None = None,
    *,
    starts: int = 5,
    max_iter: int = 300,
    seconds: float = np.inf,
    rng: np.random.Generator | None = None,
    exact: Gram | None = None,
) -> Partition:
    """The best clustering that several seedings lead to. Clusters may be fewer where items are equal.

    Parameters
    ----------
    gram : Gram
        K, positive semi-definite.
    k : int
        Clusters; at most as many as items.
    weight : array of shape (n,), optional
    starts : int, default=5
        Seedings.
    max_iter : int, default=300
        The most steps from each.
    seconds : float, optional
        When to stop with what is there.
    rng : numpy.random.Generator, optional
    exact : Gram, optional
        The same matrix in float64, where ``gram`` is less exact.

    Returns
    -------
    Partition

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> kernel_kmeans(Features(np.array([[0.0], [0.1], [0.2], [5.0], [5.1]])), 2).labels
    array([0, 0, 0, 1, 1])
    """
    rng = np.random.default_rng(0) if rng is None else rng
    exact = gram if exact is None else exact
    weight = np.ones(len(gram)) if weight is None else weight
    until = time.monotonic() + seconds
    with one_blas_thread():
        easy = _coordinates(gram, k, rng)
        best: _Descent | None = None
        for _ in range(starts):
            found = _Descent.of(easy, _seeded(easy, k, weight, rng), weight, k)
            found.run(max_iter, until)
            best = found if best is None or found.cost < best.cost else best
            if time.monotonic() > until:
                break
        assert best is not None
        for precise in (gram, exact):
            if precise is not best.gram:
                best = _Descent.of(precise, best.labels, weight, k)
                best.run(max_iter, until)
    return best.partition()


def least_cost(
    gram: Gram,
    k: int,
    weight: Array | None = None,
    *,
    seconds: float = np.inf,
    rng: np.random.Generator | None = None,
    exact: Gram | None = None,
) -> float:
    """What every clustering of the items into k clusters costs at least; for parameters see :func:`kernel_kmeans`.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> gram = Features(np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 0.0], [9.0, 1.0]]))
    >>> round(least_cost(gram, 2), 6), round(kernel_kmeans(gram, 2).cost, 6)
    (1.0, 1.0)
    """
    exact = gram if exact is None else exact
    weight = np.ones(len(gram)) if weight is None else weight
    # tr(CYC) = Σ wᵢKᵢᵢ − wᵀKw/Σw
    total = float(weight @ _squares(exact)) - float(weight @ exact.matvec(weight)) / float(weight.sum())
    most = int(np.count_nonzero(weight)) - 1  # centring takes one
    if k > most:
        return 0.0
    if k == 1:
        return max(0.0, total)
    pairs = leading_eigenpairs(
        gram, k - 1, centred=True, scale=np.sqrt(weight), tol=_TOLERANCE, seconds=seconds, rng=rng, exact=exact
    )
    return max(0.0, total - float((np.maximum(pairs.values, 0.0) + pairs.bounds).sum()))


def _coordinates(gram: Gram, k: int, rng: np.random.Generator) -> Gram:
    """A Gram whose products cost little, and tell nearly the same."""
    rank = max(_COLUMNS, _A_CLUSTER * k)
    features = gram.features()
    if len(gram) <= _FEW or 2 * rank >= len(gram) or (features is not None and features.shape[1] <= rank):
        return gram
    return Features(pivoted(gram, rank, rng).columns)


def _squares(gram: Gram) -> Array:
    """‖φ(xᵢ)‖² of the items as products with the Gram know them: of landmarks, what these tell of each item."""
    if gram.landmarks is None or gram.features() is not None:
        return np.asarray(gram.diag(), dtype=np.float64)
    blocks = [np.arange(begin, min(begin + _BLOCK, len(gram))) for begin in range(0, len(gram), _BLOCK)]
    return np.concatenate([gram.take(block).diag() for block in blocks])


def _columns(labels: Array, weight: Array, k: int) -> Array:
    """H: the weight of each item in the column of its cluster."""
    H = np.zeros((labels.size, k))
    H[np.arange(labels.size), labels] = weight
    return H


def _seeded(gram: Gram, k: int, weight: Array, rng: np.random.Generator) -> Array:
    """Each item with the nearest of k items by k-means++: of some drawn by their squared distances, the best one."""
    diagonal = _squares(gram)
    labels, nearest = np.zeros(len(gram), dtype=np.int64), np.full(len(gram), np.inf)
    for c in range(k):
        chances = weight if c == 0 else weight * nearest
        if not chances.sum() > 0:
            break
        drawn = rng.choice(len(gram), 1 if c == 0 else 2 + int(np.log(k)), p=chances / chances.sum())
        rows = np.asarray(gram.rows(drawn), dtype=np.float64)
        sums = diagonal + diagonal[drawn, None]
        distances = sums - 2 * rows
        distances[distances <= _ROUNDINGS * np.finfo(gram.dtype).eps * sums] = 0.0
        distances[np.arange(drawn.size), drawn] = 0.0
        best = int((np.minimum(distances, nearest) @ weight).argmin()) if c else 0
        labels[distances[best] < nearest] = c
        nearest = np.minimum(nearest, distances[best])
    return labels


@dataclass
class _Descent:
    """Lloyd's steps on one Gram."""

    gram: Gram
    weight: Array
    labels: Array
    #: H, M = K·H, and ‖φ‖² of the items.
    H: Array
    M: Array
    own: Array
    steps: int = 0
    status: Status = Status.NOT_CONVERGED

    @classmethod
    def of(cls, gram: Gram, labels: Array, weight: Array, k: int) -> _Descent:
        H = _columns(labels, weight, k)
        return cls(gram, weight, labels, H, gram.matvec(H), _squares(gram))

    @property
    def trace(self) -> float:
        return float(self.weight @ self.own)

    @property
    def weights(self) -> Array:
        return self.H.sum(axis=0)

    @property
    def squares(self) -> Array:
        """‖μ‖² of each mean, 0 of no items."""
        weights = self.weights
        return np.einsum("ic,ic->c", self.H, self.M) / np.where(weights > 0, weights, 1.0) ** 2

    @property
    def cost(self) -> float:
        return max(0.0, self.trace - float(self.weights @ self.squares))

    def run(self, max_iter: int, until: float) -> None:
        """Steps until no item moves, or the cost falls no more."""
        for self.steps in range(1, max_iter + 1):
            check_interrupt()
            scores = self._scores()
            labels = self._nearest(scores)
            if not self._moved(labels):
                labels, best = self._better(scores)
                alone = self.labels.copy()
                alone[best] = labels[best]
                if not (self._moved(labels) or self._moved(alone)):
                    self.status = Status.CONVERGED
                    return
            if time.monotonic() > until:
                return

    def _moved(self, labels: Array) -> bool:
        """Whether the items are now in these clusters, as it costs less."""
        moved = np.flatnonzero(labels != self.labels)
        if not moved.size:
            return False
        before, cost = (self.labels, self.H, self.M), self.cost
        H = self.H.copy()
        H[moved] = 0.0
        H[moved, labels[moved]] = self.weight[moved]
        self.labels, self.H, self.M = labels, H, self.M + self.gram.matvec(H - self.H)
        enough = _DOUBLE if self.gram.dtype == np.float64 else _SINGLE
        if cost - self.cost > enough * self.trace:
            return True
        self.labels, self.H, self.M = before
        return False

    def _scores(self) -> Array:
        """2⟨μ, φ⟩ − ‖μ‖² of all means and items."""
        weights = self.weights
        full = weights > 0
        return np.where(full, 2 * self.M / np.where(full, weights, 1.0) - self.squares, -np.inf)

    def _nearest(self, scores: Array) -> Array:
        """The cluster with the nearest mean of each item; an empty one is given the item that costs most."""
        rows = np.arange(self.labels.size)
        labels = np.where(scores.max(axis=1) > scores[rows, self.labels], scores.argmax(axis=1), self.labels)
        empty = np.flatnonzero(self.weights == 0)
        if empty.size:
            costs = self.weight * np.maximum(self.own - scores[rows, labels], 0.0)
            for c, item in zip(empty, np.argsort(-costs, kind="stable"), strict=False):
                if costs[item] > _DOUBLE * self.trace:
                    labels[item] = c
        return labels

    def _better(self, scores: Array) -> tuple[Array, int]:
        """The cluster of each item that it would cost least in, were it alone to move, and the item that saves most."""
        rows, w, weights = np.arange(self.labels.size), self.weight[:, None], self.weights
        distances = np.maximum(self.own[:, None] - np.where(weights > 0, scores, 0.0), 0.0)
        costs = np.where(weights > 0, distances * w * weights / np.where(weights > 0, weights + w, 1.0), np.inf)
        rest = weights[self.labels] - self.weight
        here = distances[rows, self.labels] * self.weight * weights[self.labels] / np.where(rest > 0, rest, np.inf)
        costs[rows, self.labels] = here
        labels = costs.argmin(axis=1)
        return labels, int((here - costs[rows, labels]).argmax())

    def partition(self) -> Partition:
        """The clusters by their weights, without empty ones; items of no weight are in the nearest."""
        k = self.H.shape[1]
        labels = np.where(self.weight > 0, self.labels, self._scores().argmax(axis=1))
        first = np.full(k, labels.size)
        np.minimum.at(first, labels, np.arange(labels.size))
        order = np.lexsort((first, -self.weights))
        order = order[self.weights[order] > 0]
        number = np.zeros(k, dtype=np.int64)
        number[order] = np.arange(order.size)
        return Partition(number[labels], self.weights[order], self.squares[order], self.cost, self.steps, self.status)
