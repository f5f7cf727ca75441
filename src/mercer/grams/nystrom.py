"""Nyström's approximation of a kernel matrix: K ≈ Φ·Φᵀ with a feature for each of a few items, the landmarks."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.memory import bytes_of, memory_in_words, size_in_words
from .._validation.wording import enumeration
from ..kernels import Kernel
from .base import Gram
from .dense import Dense
from .features import Features
from .landmarks import LANDMARKS, PROPOSALS
from .lazy import Lazy

__all__ = ["Nystrom"]

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
    >>> from mercer.grams.nystrom import Nystrom
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
