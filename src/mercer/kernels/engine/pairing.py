"""Two collections of items, seen tile by tile.

A kernel matrix is computed in tiles small enough to stay in the processor's cache: a matrix product fills a tile with
the statistic, elementwise passes turn it into kernel values, and the tile is written out once. What kernels of one
expression share (statistics, mapped rows, self-similarities) is kept here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._runtime.compile import Array
from ..._runtime.parallel import thread_count
from .parts import Parts, length
from .statistics import Statistic

if TYPE_CHECKING:
    from ..base import Kernel

#: Which rows or columns of a matrix a tile covers.
Places = slice | np.ndarray

#: Rows and columns of a tile: one megabyte of float32 numbers, about one core's second-level cache.
TILE_ROWS, TILE_COLUMNS = 512, 512
#: Fewer rows than this are not worth a thread.
_FEWEST_ROWS = 32
#: Multiplications of a tile: a tenth of a second or so, where each is a difference of two numbers.
_MULTIPLICATIONS = 2**28


def shared_dtype(A: Any, B: Any) -> np.dtype:
    """float32 where both sides are, else float64."""
    single = all(getattr(side, "dtype", None) == np.float32 for side in (A, B))
    return np.dtype(np.float32 if single else np.float64)


class Pairing:
    """Every pair (x, z) with x in ``A`` and z in ``B``, for one kernel expression."""

    def __init__(self, kernel: Kernel, A: Any, B: Any, dtype: np.dtype | None = None) -> None:
        if A is B:
            kernel = kernel.resolved(A)
        else:
            kernel.refuse_unresolved()
        self.kernel, self.A, self.B = kernel, A, B
        self.demands: Counter[Statistic] = kernel.statistics()
        self.dtype = dtype or shared_dtype(A, B)
        #: Statistics of all pairs that somebody has computed before.
        self.known: dict[Statistic, Array] = {}
        self._memo: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value of ``make()``, computed at the first request for ``key``."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def tile(self, i: Places, j: Places) -> Tile:
        return Tile(self, i, j, Counter(self.demands))

    def warm(self) -> None:
        """Fill the memo by a tile of one row, before several threads read it."""
        self.once("warm", self._tried)

    def _tried(self) -> None:
        expected = min(1, length(self.A)), min(2, length(self.B))
        values = self.kernel.evaluate(self.tile(*(slice(0, some) for some in expected)))
        if np.shape(values) != expected:
            raise ValueError(
                f"{type(self.kernel).__name__}: evaluate should return a row for each left item and a column for each "
                f"right one, {expected} here, got {np.shape(values)}."
            )

    def cut(self, rows: Array | None = None, columns: Array | None = None) -> tuple[list[Places], list[Places]]:
        """Pieces of the rows and of the columns (all, or those in an index) that make tiles."""
        height, width = (self._height(), TILE_COLUMNS) if self.kernel.splits else (2**62, 2**62)
        return _pieces(length(self.A), rows, height), _pieces(length(self.B), columns, width)

    def _height(self) -> int:
        """How many rows make a tile. A few new rows are shared out among the threads; a matrix has whole tiles.

        Wide rows make flat tiles, so that none takes long; in a matrix a whole number of them makes a square.
        """
        height, width = TILE_ROWS, self.B.shape[1] if isinstance(self.B, np.ndarray) and self.B.ndim == 2 else 1
        while height > _FEWEST_ROWS and height * TILE_COLUMNS * width > _MULTIPLICATIONS:
            height //= 2
        if self.A is self.B:
            return height
        return min(height, max(_FEWEST_ROWS, -(-length(self.A) // thread_count())))


def _pieces(n: int, index: Array | None, size: int) -> list[Places]:
    total = n if index is None else index.size
    cuts = [slice(begin, min(begin + size, total)) for begin in range(0, total, size)]
    return [cut if index is None else index[cut] for cut in cuts]


def place_count(places: Places) -> int:
    return places.stop - places.start if isinstance(places, slice) else places.size


class Tile:
    """The pairs of rows ``i`` and columns ``j``, which are slices or index arrays."""

    def __init__(self, pairing: Pairing, i: Places, j: Places, demands: Counter[Statistic]) -> None:
        self.pairing, self.i, self.j = pairing, i, j
        self._demands = demands
        self._computed: dict[Statistic, Array] = {}

    @property
    def shape(self) -> tuple[int, int]:
        return place_count(self.i), place_count(self.j)

    @property
    def left(self) -> Any:
        """The items of the rows."""
        return self.pairing.A[self.i]

    @property
    def right(self) -> Any:
        """The items of the columns."""
        return self.pairing.B[self.j]

    def compute(self, statistic: Statistic) -> Array:
        """The statistic of this tile, in an array that the caller may overwrite."""
        if statistic not in self._computed and statistic in self.pairing.known:
            whole = self.pairing.known[statistic]
            self._computed[statistic] = whole[self.i][:, self.j].copy()
        elif statistic not in self._computed:
            a, b = self.pairing.once(statistic, lambda: statistic.prepare(self.pairing.A, self.pairing.B))
            values = statistic.tile(a, b, self.i, self.j)
            self._computed[statistic] = values.astype(self.pairing.dtype, copy=False)
        self._demands[statistic] -= 1
        if self._demands[statistic] > 0:
            return self._computed[statistic].copy()
        return self._computed.pop(statistic)

    def part(self, position: int, kernel: Kernel) -> Tile:
        """The same pairs as one part of the expression sees them, for the kernel that is this part."""
        if not isinstance(self.pairing.A, Parts):
            return self

        def make() -> Pairing:
            A = self.pairing.A.forms[position]
            B = A if self.pairing.A is self.pairing.B else self.pairing.B.forms[position]
            return Pairing(kernel, A, B, self.pairing.dtype)

        return self.pairing.once(("part", position), make).tile(self.i, self.j)

    def mapped(self, owner: Kernel, mapping: Callable[[Any], Any], kernel: Kernel) -> Tile:
        """The same pairs after the mapping of ``owner``, for the kernel that sees them so."""

        def make() -> Pairing:
            A = kernel.items(mapping(self.pairing.A))
            same = self.pairing.A is self.pairing.B
            return Pairing(kernel, A, A if same else kernel.items(mapping(self.pairing.B)))

        inner = self.pairing.once(id(owner), make)
        return inner.tile(self.i, self.j)

    def of_items(self, key: Any, function: Callable[[Any], Array]) -> tuple[Array, Array]:
        """A number for each item of the rows and of the columns; ``function`` sees each whole side once."""

        def make() -> tuple[Array, Array]:
            a = function(self.pairing.A)
            return a, a if self.pairing.A is self.pairing.B else function(self.pairing.B)

        a, b = self.pairing.once(key, make)
        return a[self.i], b[self.j]
