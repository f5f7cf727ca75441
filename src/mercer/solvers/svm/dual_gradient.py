"""The gradient of the dual: how much every item falls short of its target, kept up to date as coefficients change."""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import Array
from ...grams.base import Gram
from .row_cache import RowCache


class DualGradient:
    """F = t − Kz of all items, the gradient of tᵀz − ½·zᵀKz; while it is narrowed, of those that are likely to matter.

    Bringing F up to date costs one row of K for every coefficient that has changed. Near the end the coefficients
    change by little, and items far from the margin stay there: F is then kept for the others alone (:meth:`narrow`),
    and the far ones catch up in one go when all seems done (:meth:`widen`).
    """

    def __init__(self, gram: Gram, targets: Array, memory: int) -> None:
        self.gram = gram
        self.F = targets.copy()
        self.cache = RowCache(gram, memory)
        self._z = np.zeros(targets.size)
        self._z_of_far = self._z
        self._near: Array | None = None

    @property
    def narrowed(self) -> bool:
        """Whether F of some items lags behind."""
        return self._near is not None

    def update(self, z: Array, free: Array) -> int:
        """Bring F up to date with z; rows of ``free`` items will be needed again. Returns how many z have changed."""
        moved = np.flatnonzero(z != self._z)
        change = z[moved] - self._z[moved]
        if self._near is None:
            self.cache.subtract(self.F, moved, change, keep=free[moved])
        elif moved.size:
            self.F[self._near] -= self.gram.scores(self._near, moved, change)
        self._z = z.copy()
        return moved.size

    def belongs_to(self, z: Array) -> int:
        """Take note that F has been brought up to date with z elsewhere."""
        moved = int(np.count_nonzero(z != self._z))
        self._z = z.copy()
        return moved

    def narrow(self, near: Array) -> None:
        """From now on keep F of these items only."""
        self._near, self._z_of_far = near, self._z

    def widen(self) -> None:
        """Bring F of the far items up to date as well."""
        if self._near is None:
            return
        far = np.ones(self.F.size, bool)
        far[self._near] = False
        changed = np.flatnonzero(self._z != self._z_of_far)
        if changed.size and far.any():
            self.F[far] -= self.gram.scores(np.flatnonzero(far), changed, (self._z - self._z_of_far)[changed])
        self._near = None
