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

if TYPE_CHECKING:
    from .base import Gram

#: Directions at most, and numbers at most in their coordinates. Small matrices are quickly multiplied with, so that
#: many directions cost more than they save: an item in eight is enough, or a few in all.
_WIDEST, _SHARE, _FEW = 512, 8, 64
_NUMBERS = 16_000_000
#: Pivots picked together.
_TOGETHER = 64
#: A direction that is this much shorter than the longest item is a rounding error.
_NOTHING = 1e-10


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
        #: L: a row for each item, a column for each direction.
        self.coordinates = np.empty((n, 0))
        self.pivots = np.empty(0, dtype=np.int64)
        #: Q = Σ pivots·weights: a column for each direction.
        self.weights = np.empty((0, 0))
        self._rng = np.random.default_rng(0)
        self._left = np.clip(gram.diag(), 0.0, None)
        self._nothing = _NOTHING * float(self._left.max(initial=0.0))
        self._widest = min(n, _WIDEST, max(_FEW, n // _SHARE), _NUMBERS // max(1, n))

    def deepen(self, enough: float) -> None:
        """Add directions until the items' mean squared distance from their span is ``enough``, or there is no room."""
        while self.coordinates.shape[1] < self._widest and float(self._left.mean()) > max(enough, self._nothing):
            picked = self._pick()
            missing = np.asarray(self.gram.rows(picked), dtype=np.float64).T
            known = self.coordinates[picked]
            missing = missing - self.coordinates @ known.T
            squares, turns = linalg.eigh((missing[picked] + missing[picked].T) / 2)
            real = squares > self._nothing
            if not real.any():
                self._left[picked] = 0.0
                continue
            whiten = turns[:, real] / np.sqrt(squares[real])
            # Each new direction is its pivots less what the old directions hold of them.
            old = -self.weights @ (known.T @ whiten)
            self.weights = np.block([[self.weights, old], [np.zeros((picked.size, self.weights.shape[1])), whiten]])
            self.pivots = np.concatenate([self.pivots, picked])
            fresh = missing @ whiten
            self.coordinates = np.hstack([self.coordinates, fresh])
            self._left = np.clip(self._left - np.einsum("ij,ij->i", fresh, fresh), 0.0, None)
            self._left[picked] = 0.0

    @property
    def missing(self) -> float:
        """The mean squared distance of the items from the span of the directions."""
        return float(self._left.mean())

    def _pick(self) -> Array:
        room = min(_TOGETHER, self._widest - self.coordinates.shape[1], int(np.count_nonzero(self._left)))
        return np.sort(self._rng.choice(len(self.gram), room, replace=False, p=self._left / self._left.sum()))
