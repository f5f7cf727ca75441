"""A few directions of the feature space that hold most of what the items are.

Items are picked at random, each with a chance in proportion to how much of it the directions so far do not hold (its
residual self-similarity): a randomly pivoted Cholesky factorisation of the kernel matrix, several pivots at a time.
With Q the orthonormal directions, every item has coordinates L = ΦQ, and K ≈ L·Lᵀ with an error that is positive
semi-definite and whose trace is what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from .._runtime.compile import Array
from .._runtime.products import product

if TYPE_CHECKING:
    from .base import Gram

#: Directions at most: so many, or this many times √n. To work with m directions takes about n·m² operations, a product
#: with the matrix n²: m in proportion to √n keeps the two in balance. Small matrices are quickly multiplied with, so
#: that many directions cost more than they save: an item in eight is enough, or a few in all.
_WIDEST, _TIMES_ROOT, _SHARE, _FEW = 512, 3, 8, 64
#: Pivots picked together.
TOGETHER = 64
#: Items whose new coordinates are computed at a time.
_ITEMS = 4096
#: A direction that is this much shorter than the longest item is a rounding error.
_NOTHING = 1e-10


def directions(n: int, memory: int) -> int:
    """How many directions are worth their while for n items, and have room."""
    most = max(_WIDEST, int(_TIMES_ROOT * np.sqrt(n)))
    return min(n, most, max(_FEW, n // _SHARE), memory // (8 * max(1, n)))


class Basis:
    """Orthonormal directions Q of the span of a Gram's items, more of them when asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.grams.basis import Basis
    >>> Phi = np.random.default_rng(0).normal(size=(50, 3))
    >>> basis = Basis(Features(Phi))
    >>> basis.deepen(0.0)
    >>> np.allclose(basis.coordinates @ basis.coordinates.T, Phi @ Phi.T)
    True
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        n = len(gram)
        self.pivots = np.empty(0, dtype=np.int64)
        #: Q = Σ pivots·weights: a column for each direction.
        self.weights = np.empty((0, 0))
        self._rng = np.random.default_rng(0)
        self._left = np.clip(gram.diag(), 0.0, None)
        self._nothing = _NOTHING * float(self._left.max(initial=0.0))
        self._widest = directions(n, gram.workspace)
        #: Coordinates, in the first columns of what there is room for.
        self._room = np.empty((n, self._widest))
        self._width = 0

    @property
    def coordinates(self) -> Array:
        """L: a row for each item, a column for each direction."""
        return self._room[:, : self._width]

    def deepen(self, enough: float) -> None:
        """Add directions until the items' mean squared distance from their span is ``enough``, or there is no room."""
        while self._width < self._widest and float(self._left.mean()) > max(enough, self._nothing):
            picked = self._pick()
            similar, known = self.gram.rows(picked), self.coordinates[picked]
            missing = similar[:, picked].T - product(known, known.T)
            squares, turns = linalg.eigh((missing + missing.T) / 2)
            real = squares > self._nothing
            if not real.any():
                self._left[picked] = 0.0
                continue
            whiten = turns[:, real] / np.sqrt(squares[real])
            # Each new direction is its pivots less what the old directions hold of them.
            old = -self.weights @ (known.T @ whiten)
            self.weights = np.block([[self.weights, old], [np.zeros((picked.size, self.weights.shape[1])), whiten]])
            self.pivots = np.concatenate([self.pivots, picked])
            width = self._width + whiten.shape[1]
            for begin in range(0, len(self.gram), _ITEMS):
                some = slice(begin, begin + _ITEMS)
                fresh = product(similar[:, some].T - product(self.coordinates[some], known.T), whiten)
                self._room[some, self._width : width] = fresh
                self._left[some] = np.clip(self._left[some] - np.einsum("ij,ij->i", fresh, fresh), 0.0, None)
            self._width = width
            self._left[picked] = 0.0

    @property
    def missing(self) -> float:
        """The mean squared distance of the items from the span of the directions."""
        return float(self._left.mean())

    def _pick(self) -> Array:
        room = min(TOGETHER, self._widest - self._width, int(np.count_nonzero(self._left)))
        return np.sort(self._rng.choice(len(self.gram), room, replace=False, p=self._left / self._left.sum()))
