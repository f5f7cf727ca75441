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

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from ..checks.parameters import bytes_of, memory_in_words, size_in_words
from ..kernels import Kernel
from ..messages import enumeration
from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.numerics import product
from .base import Gram
from .dense import Dense, Features, Lazy

__all__ = ["LANDMARKS", "Factor", "Nystrom", "farthest", "pivoted", "uniform"]

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
        check_interrupt()
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


# Nyström's approximation of a kernel matrix: K ≈ Φ·Φᵀ with a feature for each of a few items, the landmarks.


#: Matrices of landmarks by landmarks that there are beside their features: T, what it comes from, and Newton's; and
#: bytes of them that count for nothing.
_SQUARES, _ASIDE = 4, 10_000_000


class Nystrom(Features):
    """The Gram of a low-rank approximation: a machine on it is linear in features Φ = K[:, S]·T.

    A model with weights w scores a new item x by Σ wᵣφᵣ(x) = Σⱼ (T·w)ⱼ·k(x, xⱼ) over the landmarks j ∈ S: it keeps
    those, and no other item.

    Parameters
    ----------
    Phi : array of shape (n_items, rank)
    landmarks : array
        The numbers of the landmarks S.
    transform : array of shape (n_landmarks, rank)
        T.
    missing : float
        The share of the trace of K that Φ·Φᵀ leaves out.
    landmark_items : collection, optional
        The landmarks themselves, where they are kept apart from the other items.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.landmarks import Nystrom
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> gram = Nystrom.of(Gaussian(gamma=0.1), X, rank=30)
    >>> gram.landmarks.size, gram.missing < 1e-4
    (30, True)
    """

    def __init__(
        self, Phi: Array, landmarks: Array, transform: Array, missing: float, landmark_items: Any = None
    ) -> None:
        super().__init__(Phi)
        self.landmarks: Array = landmarks
        self.transform, self.missing, self.landmark_items = transform, missing, landmark_items

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        items: Any,
        rank: int,
        landmarks: str = "pivoted",
        memory: int | str = "1GB",
        seed: int = 0,
        among: Array | None = None,
    ) -> Nystrom:
        """The approximation of a kernel on items by at most ``rank`` landmarks, chosen as named, among some of them."""
        if landmarks not in LANDMARKS:
            raise ValueError(f"landmarks must be one of {enumeration(LANDMARKS, last='or')}; got {landmarks!r}.")
        gram: Gram = Dense(items) if kernel.precomputed else Lazy(kernel, items, memory)
        rank = min(int(rank), len(gram))
        if not cls.fits(len(gram), rank, memory):
            most = bisect_right(range(1, rank), bytes_of(memory), key=lambda fewer: cls.takes(len(gram), fewer))
            raise ValueError(
                f"{rank} landmarks of {len(gram)} items take {size_in_words(cls.takes(len(gram), rank))}, more than "
                f"{memory_in_words(memory)}; raise memory, or take a rank of at most {most}."
            )
        factor = LANDMARKS[landmarks](gram, rank, np.random.default_rng(seed), among)
        if not factor.landmarks.size:
            raise ValueError(
                f"the kernel {kernel} is zero for all items, so that there are no landmarks; leave rank out."
            )
        return cls(factor.columns, factor.landmarks, factor.transform(), factor.missing)

    @staticmethod
    def fits(n: int, rank: int, memory: int | str) -> bool:
        """Whether the features of so many items have room, with what goes with them."""
        return Nystrom.takes(n, rank) <= bytes_of(memory)

    @staticmethod
    def takes(n: int, rank: int) -> int:
        """Bytes of the features Φ of so many items, and of what goes with them.

        Examples
        --------
        >>> Nystrom.takes(20_000, 1000)
        202480000
        """
        return 8 * n * min(rank, n) + Nystrom.beside(n, min(rank, n))

    @staticmethod
    def beside(n: int, rank: int) -> int:
        """Bytes beside the features: rows of K as landmarks are chosen, and matrices of landmarks."""
        return max(0, 8 * n * min(rank, PROPOSALS) + 8 * _SQUARES * rank * rank - _ASIDE)

    def coefficients(self, weights: Array) -> Array:
        """The coefficients of the landmarks in models with these weights (a row each)."""
        return weights @ self.transform.T
