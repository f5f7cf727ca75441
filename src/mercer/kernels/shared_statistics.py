"""Kernel matrices of several parameters from one computation of what they share."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._runtime.parallel import for_each
from .base import Kernel
from .engine.matrices import matrix_block
from .engine.pairing import Pairing, Tile, shared_dtype
from .engine.parts import length
from .engine.statistics import Statistic

#: Rows of a matrix that are made from known statistics at a time; whole rows need no transposing.
_STRIP = 32


class _Raw(Kernel, named=False):
    """A statistic itself, as if it were a kernel: its matrix is computed as every other."""

    def __init__(self, statistic: Statistic) -> None:
        self.statistic = statistic

    def statistics(self):
        return Counter([self.statistic])

    def evaluate(self, tile: Tile) -> Array:
        return tile.compute(self.statistic)


class SharedStatistics:
    """The statistics of one collection of items, computed once and kept for all kernels that are functions of them.

    Parameters
    ----------
    items : collection
        Items that have passed :meth:`Kernel.items` of every kernel asked for.
    memory : int
        Bytes that statistics and kernel matrices may take together.
    keep : bool, default=True
        Whether statistics are kept, for more than one matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> shared = SharedStatistics(np.array([[0.0], [2.0]]), memory=10**6)
    >>> shared.matrix(Gaussian(gamma=0.25)).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def __init__(self, items: Any, memory: int, keep: bool = True) -> None:
        self.items, self.keep = items, keep
        self._memory, self._size = memory, max(1, length(items) ** 2 * shared_dtype(items, items).itemsize)
        #: Matrices by their place.
        self._out: dict[int, Array] = {}
        self._known: dict[Statistic, Array] = {}

    @property
    def fits(self) -> bool:
        """Whether one kernel matrix fits into the memory."""
        return self._memory >= self._size

    @property
    def nbytes(self) -> int:
        """What statistics and matrices take now."""
        return sum(array.nbytes for array in (*self._known.values(), *self._out.values()))

    def at_once(self, spare: int) -> int:
        """How many matrices have room at a time beside the statistics, with so many bytes to spare."""
        return max(1, (self._memory - spare) // self._size - len(self._known))

    def matrix(self, kernel: Kernel, place: int = 0) -> Array:
        """The matrix of a kernel on the items, in the memory of the last one with the same place."""
        pairing = Pairing(kernel, self.items, self.items)
        kernel = pairing.kernel
        if kernel.splits:
            for statistic in kernel.statistics() if self.keep else ():
                alive = max(len(self._out), place + 1)
                if statistic not in self._known and len(self._known) + alive < self._memory // self._size:
                    raw = _Raw(statistic)
                    self._known[statistic] = matrix_block(Pairing(raw, self.items, self.items, pairing.dtype))
            pairing.known = self._known
        n = length(self.items)
        if place not in self._out:
            self._out[place] = np.empty((n, n), pairing.dtype)
        out = self._out[place]
        if kernel.splits and set(kernel.statistics()) <= set(self._known):

            def fill(begin: int) -> None:
                strip = slice(begin, min(begin + _STRIP, n))
                out[strip] = kernel.evaluate(pairing.tile(strip, slice(0, n)))

            pairing.warm()
            for_each(fill, range(0, n, _STRIP))
        else:
            matrix_block(pairing, out=out)
        return out.view()  # another object, so that nobody takes the new matrix for the old one
