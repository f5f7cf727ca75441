"""The gradient of the dual: how much every item falls short of its target, kept up to date as coefficients change."""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import Array
from ...grams.base import Gram
from .row_cache import RowCache


class DualGradient:
    """F = t − Kz of all items, the gradient of tᵀz − ½·zᵀKz; while it is narrowed, of those that are likely to matter.

    Bringing F up to date costs one row of K for every coefficient that has changed. As the coefficients change by less
    and less, items far from the margin stay there: F is then kept for the others alone (:meth:`narrow`), which may be
    fewer and fewer, and the far ones catch up in one go when all seems done (:meth:`widen`).
    """

    def __init__(self, gram: Gram, targets: Array, memory: int) -> None:
        self.gram = gram
        self.F = targets.copy()
        self.cache = RowCache(gram, memory)
        self._z = np.zeros(targets.size)
        #: The items whose F is kept up to date.
        self.near = np.arange(targets.size)
        #: Items that were left behind together, and the coefficients that their F belongs to.
        self._left_behind: list[tuple[Array, Array]] = []

    @property
    def narrowed(self) -> bool:
        """Whether F of some items lags behind."""
        return bool(self._left_behind)

    def update(self, z: Array, free: Array) -> int:
        """Bring F up to date with z; rows of ``free`` items will be needed again. Returns how many z have changed."""
        moved = np.flatnonzero(z != self._z)
        change = z[moved] - self._z[moved]
        if not self.narrowed:
            self.cache.subtract(self.F, moved, change, keep=free[moved])
        elif moved.size:
            self.F[self.near] -= self.gram.scores(self.near, moved, change)
        self._z = z.copy()
        return moved.size

    def belongs_to(self, z: Array) -> int:
        """Take note that F has been brought up to date with z elsewhere."""
        moved = int(np.count_nonzero(z != self._z))
        self._z = z.copy()
        return moved

    def narrow(self, near: Array) -> None:
        """From now on keep F of these items only, which are some of those whose F is kept so far."""
        self._left_behind.append((np.setdiff1d(self.near, near, assume_unique=True), self._z))
        self.near = near

    def widen(self) -> None:
        """Bring F of the far items up to date as well."""
        for items, z in self._left_behind:
            changed = np.flatnonzero(self._z != z)
            if changed.size and items.size:
                self.F[items] -= self.gram.scores(items, changed, (self._z - z)[changed])
        self._left_behind = []
        self.near = np.arange(self.F.size)
