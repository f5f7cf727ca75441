"""Nyström's approximation where even its features have no room: they are computed chunk by chunk, pass by pass.

Features are Φ = K[:, S]·T for landmarks S. Weights w score the items as Φ·w = K[:, S]·(T·w), so that a pass over the
items needs their similarities to the landmarks and never the product with T: n·m·d operations in place of n·m². What
Newton's method asks for most often, Σ hᵢ·⟨v, φᵢ⟩·φᵢ, is one such pass.

The inverse that preconditions conjugate gradients comes from a sample of the items, drawn at random, whose features are
in memory: (n/s)·Σ hᵢφᵢφᵢᵀ over the sample is close to the sum over all items, and the solution of the sample's own
problem is a good start. A few passes are then enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._runtime.interrupts import heed
from .._validation.memory import bytes_of
from ..kernels import Kernel
from ..kernels.engine.pairing import length, shared_dtype
from .base import Gram
from .nystrom import Nystrom
from .span import Exact, FeatureSpan, Preconditioner

__all__ = ["Streamed"]

#: Items of the sample: this many for each landmark, or as many as there is memory for, and never fewer than the least.
_FOR_EACH, _LEAST = 20, 2
#: Parts of the memory: the features of the sample, and the similarities of a chunk.
_SAMPLE, _CHUNK = 2, 4


class Streamed(Gram):
    """A low-rank Gram whose features are never in memory as a whole.

    Parameters
    ----------
    kernel : Kernel
    items : collection
    sample : Nystrom
        The approximation of some of the items, whose landmarks stand for all.
    drawn : array
        Which items these are.
    memory : int or str

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.streamed import Streamed
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> gram = Streamed.of(Gaussian(gamma=0.1), X, rank=20, memory="200kB")
    >>> gram.matvec(np.ones(1000)).shape, gram.landmarks.size
    ((1000,), 20)
    """

    ready = True

    def __init__(self, kernel: Kernel, items: Any, sample: Nystrom, drawn: Array, memory: int | str) -> None:
        self.kernel, self.items, self.sample, self.drawn, self.memory = kernel, items, sample, drawn, memory
        #: The numbers of the landmarks among all items.
        self.landmarks: Array = drawn[sample.landmarks]
        self.transform, self.missing = sample.transform, sample.missing
        self._own = items[self.landmarks]
        width = shared_dtype(items, items).itemsize * max(1, self.landmarks.size)
        self._rows = max(1, bytes_of(memory) // (_CHUNK * width))

    @classmethod
    def of(
        cls, kernel: Kernel, items: Any, rank: int, landmarks: str = "pivoted", memory: int | str = "1GB", seed: int = 0
    ) -> Streamed:
        """The approximation by landmarks that are chosen among a sample of the items."""
        n, rank = length(items), min(rank, length(items))
        room = bytes_of(memory) // (
            _SAMPLE * 8 * rank
        )  # items of a sample whose features take their part of the memory
        if room < _LEAST * rank:
            most = int(np.sqrt(bytes_of(memory) / (_SAMPLE * _LEAST * 8)))
            raise ValueError(
                f"{rank} landmarks take {8e-6 * _SAMPLE * _LEAST * rank * rank:.1f} MB, more than memory={memory!r}; "
                f"raise memory, or take a rank of at most {most}."
            )
        drawn = np.sort(np.random.default_rng(seed).choice(n, min(n, _FOR_EACH * rank, room), replace=False))
        return cls(kernel, items, Nystrom.of(kernel, items[drawn], rank, landmarks, memory, seed), drawn, memory)

    def __len__(self) -> int:
        return length(self.items)

    def diag(self) -> Array:
        """The self-similarities of the kernel itself: those of the approximation are no larger."""
        return self.kernel.diag(self.items).astype(np.float64)

    def coefficients(self, weights: Array) -> Array:
        """The coefficients of the landmarks in models with these weights (a row each)."""
        return weights @ self.transform.T

    def chunks(self) -> Iterator[tuple[slice, Array]]:
        """The similarities to the landmarks, some rows at a time."""
        for begin in range(0, len(self), self._rows):
            heed()
            rows = slice(begin, min(begin + self._rows, len(self)))
            yield rows, self.kernel.matrix(self.items[rows], self._own)

    def model(self, z: Array) -> Array:
        return self.span.combine(np.asarray(z, dtype=np.float64))

    def matvec(self, z: Array) -> Array:
        return self.span.scores(self.model(z))

    def rows(self, index: Any) -> Array:
        here = self.kernel.matrix(self.items[np.asarray(index)], self._own) @ self.transform
        return self.span.scores(here.T).T

    def take(self, index: Any) -> Gram:
        """The Gram of these items alone, with all their features."""
        if index is self.drawn:
            return self.sample
        own = self.items[np.asarray(index)]
        Phi = self.kernel.matrix(own, self._own) @ self.transform
        return Nystrom(Phi, self.landmarks, self.transform, self.missing)

    @cached_property
    def span(self) -> StreamedSpan:
        return StreamedSpan(self)


class StreamedSpan(FeatureSpan):
    """The space of features that are computed when they are needed."""

    def __init__(self, gram: Streamed) -> None:
        super().__init__(gram.sample.Phi, None, gram.transform.shape[1])
        self.gram = gram

    def combine(self, g):
        total = np.zeros((self.gram.landmarks.size, *g.shape[1:]))
        for rows, similarities in self.gram.chunks():
            total += similarities.T @ g[rows]
        return self.gram.transform.T @ total

    def scores(self, v):
        own = self.gram.transform @ v
        out = np.empty((len(self.gram), *v.shape[1:]))
        for rows, similarities in self.gram.chunks():
            out[rows] = similarities @ own
        return out

    def hessian_product(self, h, v, b):
        own, total = self.gram.transform @ v, np.zeros(self.gram.landmarks.size)
        scores = np.empty(len(self.gram))
        for rows, similarities in self.gram.chunks():
            scores[rows] = similarities @ own + b
            total += similarities.T @ (h[rows] * scores[rows])
        return scores, self.gram.transform.T @ total

    def preconditioner(self, lam, h, intercept) -> Preconditioner:
        share = len(self.gram) / self.gram.drawn.size
        return Exact(self.Phi, lam, share * h[self.gram.drawn], intercept)
