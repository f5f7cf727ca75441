"""A kernel matrix of rows on the workers of a cluster, computed anew in every product and never written down."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..kernels.base import Kernel
from ..rows import OnWorkers
from . import comparing
from .base import Gram
from .lazy import Lazy

__all__ = ["Scattered"]


class Scattered(Gram):
    """The matrix of a kernel on rows of a cluster: a product is a sum over pairs of chunks, one task each.

    A pair of chunks serves both: K is symmetric, and the half of it below the diagonal is not computed. Rows travel
    from worker to worker, once as long as these have room for them; the client sends a number a row and gets one back.

    Parameters
    ----------
    kernel : Kernel
    items : OnWorkers
    """

    ready = True

    def __init__(self, kernel: Kernel, items: OnWorkers) -> None:
        self.kernel, self.items = kernel, items

    def __len__(self) -> int:
        return len(self.items)

    def diag(self) -> Array:
        out = np.empty(len(self))
        for place, values in self.items.each(partial(comparing.self_similarities, kernel=self.kernel)):
            out[place] = values
        return out

    def matvec(self, z: Array) -> Array:
        out = np.empty(np.shape(z))
        for place, part in self.items.paired(partial(_both_ways, kernel=self.kernel), np.asarray(z, dtype=np.float64)):
            out[place] = part
        return out

    def rows(self, index: Any) -> Array:
        others = self.items[np.asarray(index)]
        out = np.empty((len(others), len(self)))
        for place, part in self.items.each(partial(_similarities, kernel=self.kernel, others=others)):
            out[:, place] = part.T
        return out

    def take(self, index: Any) -> Gram:
        """The Gram of these items alone, in this process."""
        return Lazy(self.kernel, self.items[np.arange(len(self))[index]])

    def scaled(self, factor: float) -> Scattered:
        return Scattered(self.kernel * factor, self.items)


# -- what is done on a worker -----------------------------------------------------------------------------------------


def _similarities(items: Any, kernel: Kernel, others: Any) -> Array:
    return kernel.matrix(items, others).astype(np.float64, copy=False)


def _both_ways(left: Any, right: Any, z_left: Array, z_right: Array, kernel: Kernel) -> tuple[Array, Array]:
    """K·z for the items on the left of a pair of chunks, and Kᵀ·z for those on its right."""
    return comparing.multiplied(left, z_left, kernel, right, z_right)
