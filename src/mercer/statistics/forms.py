"""Quadratic forms sᵀKs of kernel matrices for hundreds of vectors s at once: the work of every permutation.

The matrix is made tile by tile, each tile once for all kernels of one statistic and for all vectors, and is never there
as a whole: K·S for the columns of S is a product of matrices. Where there are many items, features Φ of a few landmarks
stand for the matrix, K ≈ ΦΦᵀ and sᵀKs = ‖Φᵀs‖². A test with them is as exact in its level; it says what they leave out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..checks.parameters import bytes_of, is_whole, memory_in_words, shown
from ..grams.dense import Dense, Lazy
from ..grams.landmarks import pivoted
from ..kernels import Kernel
from ..kernels.engine.tiles import Pairing, length
from ..runtime.arrays import Array
from ..runtime.interrupts import check_interrupt
from ..runtime.threads import for_each, one_blas_thread
from .slopes import statistic_of

__all__ = ["Matrices", "features_of", "forms", "landmark_count"]


def landmark_count(rank: Any, usual: int | None, n: int, kernels: int, memory: int | str) -> int | None:
    """How many landmarks stand for n items: as asked for, or the usual number if it has room; ``None``: all items do.

    Examples
    --------
    >>> landmark_count(None, 500, 10**6, 1, "1GB"), landmark_count(None, None, 100, 5, "1GB")
    (62, None)
    """
    room = bytes_of(memory) // (16 * n * kernels)
    if rank is None:
        return None if usual is None else max(1, min(usual, room))
    if not (is_whole(rank) and rank >= 1):
        raise ValueError(f"rank must be a whole number of at least 1, or None; got {shown(rank)}.")
    if min(rank, n) > room:
        raise ValueError(
            f"{int(rank)} landmarks of {n} items take more than {memory_in_words(memory)}; raise memory, or take a "
            f"rank of at most {max(1, room)}."
        )
    return int(rank)


class Matrices:
    """The matrices of several kernels on the same items, tile by tile; kernels of one statistic compute it once."""

    def __init__(self, kernels: list[Kernel], items: Any) -> None:
        self.items, self.size = items, length(items)
        self._shared: list[tuple[Pairing, list[Kernel]]] = []
        #: The place of each kernel among those of all groups, one group after the other.
        order: list[int] = []
        groups: dict[Any, list[int]] = {}
        for place, kernel in enumerate(kernels):
            statistic = statistic_of(kernel)
            groups.setdefault(place if statistic is None else statistic, []).append(place)
        for statistic, places in groups.items():
            members = [kernels[place] for place in places]
            pairing = Pairing(members[0], items, items)
            if len(members) > 1:
                pairing.demands = Counter({statistic: len(members)})
            self._shared.append((pairing, members))
            order += places
        self.order = np.argsort(order)
        self.splits = all(kernel.splits for kernel in kernels)

    def warm(self) -> None:
        """Prepare the items before several threads look at them."""
        for pairing, _ in self._shared:
            if pairing.kernel.splits:
                pairing.warm()

    def cut(self) -> tuple[list[Any], list[Any]]:
        """Pieces of rows and of columns."""
        every = [slice(0, self.size)]
        return self._shared[0][0].cut() if self.splits else (every, every)

    def tiles(self, i: slice, j: slice) -> Iterator[Array]:
        """The values of each kernel, group by group (:attr:`order`)."""
        for pairing, kernels in self._shared:
            tile = pairing.tile(i, j)
            for kernel in kernels:
                yield kernel.evaluate(tile)


def forms(kernels: list[Kernel], items: Any, S: Array) -> tuple[Array, Array]:
    """sᵀKs and 1ᵀKs for each kernel and each column s of S.

    Parameters
    ----------
    kernels : list of Kernel
    items : collection
    S : array of shape (n_items, n_vectors)
        Of small numbers in any type.

    Returns
    -------
    two arrays of shape (n_kernels, n_vectors)

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> forms([Linear()], np.array([[1.0], [2.0], [4.0]]), np.array([[1], [1], [0]]))
    (array([[9.]]), array([[21.]]))
    """
    matrices = Matrices(kernels, items)
    matrices.warm()
    row_pieces, column_pieces = matrices.cut()
    sums = np.zeros((len(column_pieces), 2, len(kernels), S.shape[1]))

    def add(group: int) -> None:
        j = column_pieces[group]
        right = S[j].astype(np.float64)
        squares, ones = sums[group]
        for i in row_pieces:
            if i.start >= j.stop:
                break
            check_interrupt()
            left = S[i].astype(np.float64)
            both = i.stop <= j.start  # the tile stands for its mirror image as well
            for place, values in enumerate(matrices.tiles(i, j)):
                products = values @ right
                squares[place] += (1.0 + both) * np.einsum("ib,ib->b", left, products)
                ones[place] += products.sum(axis=0)
                if both:
                    ones[place] += values.sum(axis=1) @ left

    with one_blas_thread():
        for_each(add, range(len(column_pieces)), threads=None if matrices.splits else 1)
    squares, ones = sums.sum(axis=0)[:, matrices.order]
    return squares, ones


def features_of(kernel: Kernel, items: Any, rank: int, rng: np.random.Generator) -> tuple[Array, float]:
    """Φ with K ≈ ΦΦᵀ, of landmarks by randomly pivoted Cholesky, and the share of the trace that it leaves out."""
    gram = Dense(items) if kernel.precomputed else Lazy(kernel, items)
    with one_blas_thread():
        factor = pivoted(gram, min(rank, length(items)), rng)
    return np.ascontiguousarray(factor.columns), factor.missing
