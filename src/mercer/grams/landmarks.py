"""Which items stand for all: landmarks of a low-rank approximation.

Landmarks S give the approximation K ≈ K[:, S]·K[S, S]⁻¹·K[S, :], whose error is positive semi-definite with the trace
of what the landmarks leave out. Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2022) draws each landmark
with a chance in proportion to its residual self-similarity, which comes close to the best approximation of any rank.

Drawn one by one that is slow: each landmark needs a column of K and a pass over all columns before. The accelerated
form (Epperly, Tropp and Webber 2024) draws a block of proposals from the residuals as they are, and then accepts each
with a chance of its residual after those accepted before it, over that before the block: by rejection the landmarks
have the same distribution as if drawn one by one, and only those accepted cost a column. The rejection works on
differences of nearly equal numbers, so it is done in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from .._runtime.compile import Array
from .._runtime.interrupts import heed
from .._runtime.products import product

if TYPE_CHECKING:
    from .base import Gram

__all__ = ["LANDMARKS", "Factor", "farthest", "pivoted", "uniform"]

#: Proposals drawn together.
PROPOSALS = 128
#: Items whose numbers in new columns are computed at a time.
_ITEMS = 4096
#: A residual that is this much shorter than the longest item is a rounding error.
_NOTHING = 1e-10


@dataclass
class Factor:
    """A factor F with K ≈ F·Fᵀ that grows landmark by landmark: F = K[:, S]·T, with F[S] lower triangular."""

    gram: Gram
    #: Landmarks that there is room for.
    rank: int
    #: The items that may be landmarks, and whose trace is looked at; ``None`` for all.
    among: Array | None = None

    def __post_init__(self) -> None:
        n = len(self.gram)
        self._columns = np.empty((n, self.rank))
        #: The numbers of the landmarks.
        self.landmarks = np.empty(0, dtype=np.int64)
        #: What of each self-similarity is left out.
        self.left = np.clip(self.gram.diag(), 0.0, None)
        if self.among is not None:
            self.left[np.setdiff1d(np.arange(n), self.among)] = 0.0
        self.trace = float(self.left.sum())
        self._nothing = _NOTHING * float(self.left.max(initial=0.0))

    @property
    def columns(self) -> Array:
        """F: a row for each item, a column for each landmark."""
        return self._columns[:, : self.landmarks.size]

    @property
    def room(self) -> int:
        """How many landmarks more there may be."""
        return min(self.rank - self.landmarks.size, int(np.count_nonzero(self.left > self._nothing)))

    @property
    def missing(self) -> float:
        """The share of the trace of K that the landmarks leave out."""
        return float(self.left.sum()) / self.trace if self.trace > 0 else 0.0

    def residual(self, index: Array) -> Array:
        """K − F·Fᵀ in these rows and columns."""
        out = np.asarray(self.gram.take(index).rows(np.arange(index.size)), dtype=np.float64)
        known = self.columns[index]
        return out - known @ known.T

    def add(self, landmarks: Array, lower: Array) -> None:
        """New landmarks, with the Cholesky factor of their residual."""
        heed()
        size = self.landmarks.size
        similar, known = self.gram.rows(landmarks), self.columns[landmarks].T
        for begin in range(0, len(self.gram), _ITEMS):
            some = slice(begin, begin + _ITEMS)
            fresh = similar[:, some].T - product(self.columns[some], known)
            fresh = linalg.solve_triangular(lower, fresh.T, lower=True, overwrite_b=True, check_finite=False)
            self._columns[some, size : size + landmarks.size] = fresh.T
            self.left[some] = np.clip(self.left[some] - np.einsum("ij,ij->j", fresh, fresh), 0.0, None)
        self.landmarks = np.concatenate([self.landmarks, landmarks])
        self.left[landmarks] = 0.0

    def transform(self) -> Array:
        """T with F = K[:, S]·T, as F·F[S]ᵀ = K[:, S]."""
        lower = self.columns[self.landmarks]
        return linalg.solve_triangular(lower, np.eye(len(lower)), lower=True, check_finite=False).T


def pivoted(gram: Gram, rank: int, rng: np.random.Generator, among: Array | None = None) -> Factor:
    """Landmarks by accelerated randomly pivoted Cholesky.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> Phi = np.random.default_rng(0).normal(size=(300, 5))
    >>> factor = pivoted(Features(Phi), 20, np.random.default_rng(0))
    >>> factor.landmarks.size, np.allclose(factor.columns @ factor.columns.T, Phi @ Phi.T)
    (5, True)
    """
    factor = Factor(gram, rank, among)
    while factor.room > 0:
        chances = factor.left / factor.left.sum()
        proposals = rng.choice(len(gram), min(PROPOSALS, 2 * factor.room), p=chances)
        accepted, lower = _accept(factor.residual(proposals), factor.left[proposals], factor._nothing, rng)
        accepted, lower = accepted[: factor.room], lower[: factor.room, : factor.room]
        if accepted.size:
            factor.add(proposals[accepted], lower)
        else:  # what was left were rounding errors
            factor.left[proposals] = 0.0
    return factor


def _accept(residual: Array, before: Array, nothing: float, rng: np.random.Generator) -> tuple[Array, Array]:
    """The places of proposals that are accepted one after another, and the Cholesky factor of their residual."""
    accepted: list[int] = []
    rows = np.zeros((0, before.size))
    after = residual.diagonal().copy()
    for place in range(before.size):
        if rng.random() * before[place] < after[place] and after[place] > nothing:
            row = (residual[place] - rows[:, place] @ rows) / np.sqrt(after[place])
            accepted.append(place)
            rows = np.vstack([rows, row])
            after = after - row * row
    chosen = np.array(accepted, dtype=np.int64)
    return chosen, np.tril(rows[:, chosen].T)


def uniform(gram: Gram, rank: int, rng: np.random.Generator, among: Array | None = None) -> Factor:
    """Landmarks drawn with equal chances, less those that others hold already."""
    items = np.arange(len(gram)) if among is None else among
    return _of(gram, rng.choice(items, min(rank, items.size), replace=False), among)


def farthest(gram: Gram, rank: int, rng: np.random.Generator, among: Array | None = None) -> Factor:
    """Landmarks by the seeding of k-means++: each with a chance of its squared distance from the nearest so far."""
    n, diagonal = len(gram), gram.diag()
    items = np.arange(n) if among is None else among
    chosen = [int(rng.choice(items))]
    distance = np.zeros(n)
    distance[items] = np.inf
    while len(chosen) < min(rank, items.size):
        last = chosen[-1]
        row = np.asarray(gram.rows(np.array([last])), dtype=np.float64)[0]
        distance = np.minimum(distance, np.clip(diagonal + diagonal[last] - 2 * row, 0.0, None))
        distance[chosen] = 0.0
        if not distance.sum() > 0:
            break
        chosen.append(int(rng.choice(n, p=distance / distance.sum())))
    return _of(gram, np.array(chosen), among)


def _of(gram: Gram, landmarks: Array, among: Array | None) -> Factor:
    """The factor of landmarks that are known, block by block."""
    factor = Factor(gram, landmarks.size, among)
    for begin in range(0, landmarks.size, PROPOSALS):
        some = landmarks[begin : begin + PROPOSALS]
        kept, lower = _accept(factor.residual(some), np.zeros(some.size), factor._nothing, np.random.default_rng(0))
        if kept.size:
            factor.add(some[kept], lower)
    return factor


#: How landmarks are chosen, by name.
LANDMARKS: dict[str, Callable[[Gram, int, np.random.Generator, Array | None], Factor]] = {
    "pivoted": pivoted,
    "uniform": uniform,
    "farthest": farthest,
}
