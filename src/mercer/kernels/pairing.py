"""Two collections of items, seen tile by tile.

A kernel matrix is computed in tiles small enough to stay in the processor's cache: a matrix product fills a tile with
the statistic, elementwise passes turn it into kernel values, and the tile is written out once. What kernels of one
expression share (statistics, mapped rows, self-similarities) is kept here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._compile import Array
from .statistics import Statistic

if TYPE_CHECKING:
    from .base import Kernel

#: Rows and columns of a tile: one megabyte of float32 numbers, about one core's second-level cache.
TILE_ROWS, TILE_COLUMNS = 256, 1024


def length(items: Any) -> int:
    """How many items a collection holds."""
    return items.shape[0] if hasattr(items, "shape") else len(items)


def shared_dtype(A: Any, B: Any) -> np.dtype:
    """float32 where both sides are, else float64."""
    single = all(getattr(side, "dtype", None) == np.float32 for side in (A, B))
    return np.dtype(np.float32 if single else np.float64)


class Pairing:
    """Every pair (x, z) with x in ``A`` and z in ``B``, for one kernel expression."""

    def __init__(self, kernel: Kernel, A: Any, B: Any) -> None:
        self.kernel, self.A, self.B = kernel, A, B
        self.demands: Counter[Statistic] = kernel.statistics()
        self.dtype = shared_dtype(A, B)
        self._memo: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value of ``make()``, computed at the first request for ``key``."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def tile(self, i: slice, j: slice) -> Tile:
        return Tile(self, i, j, Counter(self.demands))

    def warm(self) -> None:
        """Fill the memo by a one-by-one tile, before several threads read it."""
        self.kernel.evaluate(self.tile(slice(0, 1), slice(0, 1)))

    def tiles(self, symmetric: bool) -> Iterator[tuple[slice, slice]]:
        """All tiles, or those on and above the diagonal."""
        n, m = length(self.A), length(self.B)
        if not self.kernel.splits:
            yield slice(0, n), slice(0, m)
            return
        for top in range(0, n, TILE_ROWS):
            rows = slice(top, min(top + TILE_ROWS, n))
            for left in range(top if symmetric else 0, m, TILE_COLUMNS):
                yield rows, slice(left, min(left + TILE_COLUMNS, m))


class Tile:
    """The pairs of rows ``i`` and columns ``j``."""

    def __init__(self, pairing: Pairing, i: slice, j: slice, demands: Counter[Statistic]) -> None:
        self.pairing, self.i, self.j = pairing, i, j
        self._demands = demands
        self._computed: dict[Statistic, Array] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return self.i.stop - self.i.start, self.j.stop - self.j.start

    @property
    def left(self) -> Any:
        """The items of the rows."""
        return _safe_indexing(self.pairing.A, self.i)

    @property
    def right(self) -> Any:
        """The items of the columns."""
        return _safe_indexing(self.pairing.B, self.j)

    def take(self, statistic: Statistic) -> Array:
        """The statistic of this tile, in an array that the caller may overwrite."""
        if statistic not in self._computed:
            a, b = self.pairing.once(statistic, lambda: statistic.prepare(self.pairing.A, self.pairing.B))
            values = statistic.tile(a, b, self.i, self.j)
            self._computed[statistic] = values.astype(self.pairing.dtype, copy=False)
        self._demands[statistic] -= 1
        if self._demands[statistic] > 0:
            return self._computed[statistic].copy()
        return self._computed.pop(statistic)

    def mapped(self, mapping: Callable[[Any], Any], kernel: Kernel) -> Tile:
        """The same pairs after ``mapping``, for the kernel that sees them so."""

        def make() -> Pairing:
            A = kernel.items(mapping(self.pairing.A))
            same = self.pairing.A is self.pairing.B
            return Pairing(kernel, A, A if same else kernel.items(mapping(self.pairing.B)))

        inner = self.pairing.once((id(mapping), id(kernel)), make)
        return inner.tile(self.i, self.j)

    def of_items(self, key: Any, function: Callable[[Any], Array]) -> tuple[Array, Array]:
        """A number for each item of the rows and of the columns; ``function`` sees each whole side once."""

        def make() -> tuple[Array, Array]:
            a = function(self.pairing.A)
            return a, a if self.pairing.A is self.pairing.B else function(self.pairing.B)

        a, b = self.pairing.once(key, make)
        return a[self.i], b[self.j]
