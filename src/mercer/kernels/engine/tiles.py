"""Two collections of items, seen tile by tile.

A kernel matrix is computed in tiles small enough to stay in the processor's cache: a matrix product fills a tile with
the statistic, elementwise passes turn it into kernel values, and the tile is written out once. What kernels of one
expression share (statistics, mapped rows, self-similarities) is kept here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.compile import Array, jit
from ...runtime.interrupts import check_interrupt
from ...runtime.numerics import fill_lower_triangle, transpose_into
from ...runtime.threads import for_each, one_blas_thread, thread_count
from .statistics import Statistic
from .weighted import weighted_items

if TYPE_CHECKING:
    from ..base import Kernel

__all__ = ["segment_products"]

# One collection of items in the several forms that the parts of an expression work on.


class Parts:
    """The same items in one form for each part of an expression, in the order of the parts.

    A sum of a kernel on strings and a kernel on sets looks at the same items twice, each time prepared differently. An
    expression whose parts all work on rows of numbers, or all on strings, needs no forms: its parts share the items.

    Examples
    --------
    >>> both = Parts([["ab", "c", "d"], [1, 2, 3]])
    >>> len(both), both[:2].forms
    (3, (['ab', 'c'], [1, 2]))
    """

    def __init__(self, forms: Iterable[Any]) -> None:
        self.forms = tuple(forms)

    def __len__(self) -> int:
        return length(self.forms[0])

    def __getitem__(self, places: Any) -> Parts:
        return Parts(form[places] for form in self.forms)


def part_of(items: Any, position: int) -> Any:
    """The items in the form of one part; items that all parts share, as they are."""
    return items.forms[position] if isinstance(items, Parts) else items


def length(items: Any) -> int:
    """How many items a collection holds."""
    return items.shape[0] if hasattr(items, "shape") else len(items)


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
    single = getattr(A, "dtype", None) == np.float32 and getattr(B, "dtype", None) == np.float32
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


# Pieces of different sizes in one flat array, so that compiled loops run over all of them.


#: Ranges that items are cut into, at most.
_RANGES = 256


@jit
def gather(values: Array, starts: Array, index: Array) -> tuple[Array, Array]:
    """The pieces ``values[starts[i]:starts[i + 1]]`` for i in ``index``, one after the other, and where each starts."""
    new_starts = np.zeros(index.size + 1, np.int64)
    for r in range(index.size):
        new_starts[r + 1] = new_starts[r] + starts[index[r] + 1] - starts[index[r]]
    out = np.empty(new_starts[-1], values.dtype)
    for r in range(index.size):
        begin = starts[index[r]]
        for p in range(new_starts[r + 1] - new_starts[r]):
            out[new_starts[r] + p] = values[begin + p]
    return out, new_starts


def starts_of(sizes: Any) -> Array:
    """Where each piece starts in a flat array of pieces of these sizes."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def chunks(n: int) -> list[tuple[int, int]]:
    """Ranges of items for several threads to work on, many of them: between two Ctrl-C is heeded."""
    size = max(1, -(-n // _RANGES))
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


def in_chunks(n: int, work: Callable[[int, int], Any]) -> None:
    """Call ``work(first, stop)`` on ranges that together are 0..n, on several threads."""
    for_each(lambda piece: work(*piece), chunks(n))


# Tiles that are filled pair by pair, for kernels that no statistic sums up.


#: Steps of a compiled loop that take a moment, a twentieth of a second or so: then Ctrl-C is heeded.
MOMENT = 10_000_000


def indices(places: Places) -> Array:
    """A slice with both ends, or an index array, as an index array."""
    return np.arange(places.start, places.stop) if isinstance(places, slice) else places


def each_pair(tile: Tile, similarity: Callable[[Array, Array], Array]) -> Array:
    """A tile filled pair by pair: ``similarity(i, j)`` gives the values of items i of the left side and j of the right.

    Where both sides are the same items, a pair whose mirror image lies in the same tile is computed once.
    """
    rows, columns = indices(tile.i), indices(tile.j)
    left, right = np.repeat(rows, columns.size), np.tile(columns, rows.size)
    contiguous = isinstance(tile.i, slice) and isinstance(tile.j, slice)
    if not contiguous or tile.pairing.A is not tile.pairing.B:
        return similarity(left, right).reshape(tile.shape)
    mirrored = (right < left) & (right >= rows[0]) & (left >= columns[0]) & (left <= columns[-1])
    out = np.empty(tile.shape)
    out.ravel()[~mirrored] = similarity(left[~mirrored], right[~mirrored])
    r, c = np.nonzero(mirrored.reshape(tile.shape))
    out[r, c] = out[columns[c] - rows[0], rows[r] - columns[0]]
    return out


# Products of a kernel matrix with several vectors at once, each of which has columns of the matrix for itself.


def segment_products(pairing: Pairing, z: Array, edges: Array) -> Array:
    """The matrix of a pairing times z, each segment of its columns summed apart, in float64.

    Parameters
    ----------
    pairing : Pairing
    z : array
        A number for each column.
    edges : array of int
        Where segments begin, and the end of the last.

    Returns
    -------
    array of shape (rows, segments)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> pairing = Pairing(Linear(), np.array([[1.0], [2.0]]), np.array([[3.0], [4.0], [5.0]]))
    >>> segment_products(pairing, np.ones(3), np.array([0, 2, 3]))
    array([[ 7.,  5.],
           [14., 10.]])
    """
    kernel = pairing.kernel
    row_pieces, column_pieces = pairing.cut()
    out = np.zeros((length(pairing.A), edges.size - 1))
    if not out.size or not z.size:
        return out
    if kernel.splits:
        pairing.warm()

    def add(i: Places) -> None:
        left = 0
        for j in column_pieces:
            check_interrupt()
            values = kernel.evaluate(pairing.tile(i, j))
            _add_segments(np.ascontiguousarray(values), z[left : left + values.shape[1]], edges - left, out[i])
            left += values.shape[1]

    for_each(add, row_pieces, threads=None if kernel.splits else 1)
    return out


@jit(reorder=True)
def _add_segments(values: Array, z: Array, edges: Array, out: Array) -> None:
    """out[i, s] += Σ values[i, j]·z[j] over the columns of segment s that are there."""
    for i in range(values.shape[0]):
        row = values[i]
        for s in range(edges.size - 1):
            begin, end = max(edges[s], 0), min(edges[s + 1], row.size)
            if begin < end:
                some, weights, total = row[begin:end], z[begin:end], 0.0
                for j in range(some.size):
                    total += some[j] * weights[j]
                out[i, s] += total


# Sums of the products of a tile's values with coefficients.


def accumulate(values: Array, V: Array, out: Array) -> None:
    """out += values·V, summed in the type of V. What is added to a row depends on that row of ``values`` alone."""
    _accumulate(np.ascontiguousarray(values), np.ascontiguousarray(V.T), out)


@jit(reorder=True)
def _accumulate(values: Array, turned: Array, out: Array) -> None:
    """Two rows and four columns of the result at a time: each number is loaded once for several products."""
    whole, nothing = turned.shape[0] - turned.shape[0] % 4, turned.dtype.type(0)
    for i in range(0, values.shape[0], 2):
        last = min(i + 1, values.shape[0] - 1)
        x, y = values[i], values[last]
        for c in range(0, whole, 4):
            v0, v1, v2, v3 = turned[c], turned[c + 1], turned[c + 2], turned[c + 3]
            s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = nothing
            for j in range(x.size):
                a, b = x[j], y[j]
                s0 += a * v0[j]
                s1 += a * v1[j]
                s2 += a * v2[j]
                s3 += a * v3[j]
                t0 += b * v0[j]
                t1 += b * v1[j]
                t2 += b * v2[j]
                t3 += b * v3[j]
            out[i, c] += s0
            out[i, c + 1] += s1
            out[i, c + 2] += s2
            out[i, c + 3] += s3
            if last > i:
                out[last, c] += t0
                out[last, c + 1] += t1
                out[last, c + 2] += t2
                out[last, c + 3] += t3
        for c in range(whole, turned.shape[0]):
            for row in range(i, last + 1):
                v, z, total = turned[c], values[row], nothing
                for j in range(z.size):
                    total += z[j] * v[j]
                out[row, c] += total


def accumulate_turned(values: Array, V: Array, out: Array) -> None:
    """out += valuesᵀ·V, summed in the type of V."""
    total = np.zeros((V.shape[1], values.shape[1]), V.dtype)
    _accumulate_turned(np.ascontiguousarray(values), np.ascontiguousarray(V.T), total)
    out += total.T


@jit
def _accumulate_turned(values: Array, turned: Array, out: Array) -> None:
    for c in range(turned.shape[0]):
        v, total = turned[c], out[c]
        for i in range(values.shape[0]):
            row = values[i]
            for j in range(row.size):
                total[j] += v[i] * row[j]


# Kernel matrices and their products, tile by tile on all threads.


#: Sums that a product is put together from, at most, numbers in all of them, and sums at least; columns from which on
#: a product of matrices, in the type of the values, is quicker than sums column by column.
_GROUPS, _SUMS, _LEAST_GROUPS, _MANY_COLUMNS = 64, 8_000_000, 8, 12


def matrix_block(
    pairing: Pairing, rows: Array | None = None, columns: Array | None = None, out: Array | None = None
) -> Array:
    """The matrix of a pairing, or the part of it in some rows and columns."""
    kernel = pairing.kernel
    row_pieces, column_pieces = pairing.cut(rows, columns)
    n, m = (sum(map(place_count, pieces)) for pieces in (row_pieces, column_pieces))
    if out is None:
        out = np.empty((n, m), pairing.dtype)
    if n == 0 or m == 0:
        return out
    # Rounding may differ between (x, z) and (z, x), the result may not: only pieces on and above the diagonal are
    # computed, and mirrored below it.
    symmetric = pairing.A is pairing.B and rows is columns and kernel.splits
    tiles = []
    top = 0
    for i in row_pieces:
        left = 0
        for j in column_pieces:
            if not symmetric or left + place_count(j) > top:
                tiles.append((top, left, i, j))
            left += place_count(j)
        top += place_count(i)
    if kernel.splits and (len(tiles) > 1 or not kernel.trusted):
        pairing.warm()

    def fill(tile: tuple[int, int, Places, Places]) -> None:
        top, left, i, j = tile
        values = kernel.evaluate(pairing.tile(i, j))
        bottom, right = top + values.shape[0], left + values.shape[1]
        if not symmetric:
            out[top:bottom, left:right] = values
        elif left >= bottom:
            out[top:bottom, left:right] = values
            transpose_into(values, out[left:right, top:bottom])
        else:  # a tile on the diagonal: what is above it counts
            first = max(top, left)
            out[top:bottom, first:right] = values[:, first - left :]
            fill_lower_triangle(out[top:bottom, top:bottom])
            if right > bottom:
                transpose_into(values[:, bottom - left :], out[bottom:right, top:bottom])

    for_each(fill, tiles, threads=None if kernel.splits else 1)
    return out


def small_matrix(kernel: Kernel, items: Any) -> Array:
    """The matrix of a few items, in one tile and on one thread; exactly symmetric.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> small_matrix(Linear(), np.array([[1.0], [2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    every = slice(0, length(items))
    values = kernel.evaluate(Pairing(kernel, items, items).tile(every, every))
    fill_lower_triangle(values)
    return values


def matrix_product(pairing: Pairing, columns: Array | None, V: Array) -> Array:
    """The matrix of a pairing, or some of its columns, times V: tile by tile, the tiles summed in float64."""
    kernel = pairing.kernel
    V = np.asarray(V, dtype=np.float64)
    weights = V[:, None] if V.ndim == 1 else V
    if pairing.A is pairing.B and columns is None and kernel.splits and len(V) > TILE_COLUMNS:
        return _symmetric_product(pairing, weights).reshape(V.shape)
    if pairing.A is not pairing.B or columns is not None:
        items = weighted_items(kernel, pairing.A, pairing.B if columns is None else pairing.B[columns], weights)
        if items is not None:
            return items.product(pairing.A).reshape(-1, *V.shape[1:])
    row_pieces, column_pieces = pairing.cut(None, columns)
    single = weights.shape[1] == 1  # several columns are summed tile by tile in the type of the values
    out = np.zeros((length(pairing.A), weights.shape[1]))
    if out.size and V.shape[0]:
        if kernel.splits:
            pairing.warm()
        edges = np.cumsum([0, *map(place_count, column_pieces)])
        shares = [_share(weights[begin:end]) for begin, end in pairwise(edges)]

        def fill(i: Places) -> None:
            for j, (counted, some) in zip(column_pieces, shares, strict=True):
                check_interrupt()
                values = kernel.evaluate(pairing.tile(i, j))
                some = some if single else some.astype(values.dtype, copy=False)
                if counted is None:
                    accumulate(values, some, out[i])
                else:
                    sums = np.zeros((values.shape[0], counted.size))
                    accumulate(values, some, sums)
                    out[i][:, counted] += sums

        for_each(fill, row_pieces, threads=None if kernel.splits else 1)
    return out.reshape(out.shape[0], *V.shape[1:])


def _share(weights: Array) -> tuple[Array | None, Array]:
    """The columns of some weights that are not zeros alone, and these; ``None``, and all, where they are many.

    A support item of one of many classes counts in the machines of its own class alone.
    """
    counted = np.flatnonzero(weights.any(axis=0))
    return (None, weights) if 2 * counted.size > weights.shape[1] else (counted, weights[:, counted])


def _symmetric_product(pairing: Pairing, V: Array) -> Array:
    """K·V from one half of K: a tile above the diagonal serves its rows, and turned over its columns.

    Pieces of columns are dealt out to a few groups, each with a sum of its own; these are added up in one order
    afterwards. The groups depend on the number of items alone, so the sum is the same for any number of threads.
    """
    kernel = pairing.kernel
    row_pieces, column_pieces = pairing.cut()
    pairing.warm()
    groups = min(len(column_pieces), max(_LEAST_GROUPS, min(_GROUPS, _SUMS // V.size)))
    sums = np.zeros((groups, *V.shape))
    many = V.shape[1] >= _MANY_COLUMNS
    factors = V.astype(pairing.dtype, copy=False) if many else V

    def add(group: int) -> None:
        out = sums[group]
        # A piece of columns covers whole pieces of rows: those that it covers are computed for themselves, as they
        # lie on the diagonal; those before it serve both ways; those after it have been served.
        tiles: list[tuple[Any, Any]] = [(i, j) for j in column_pieces[group::groups] for i in row_pieces]
        for i, j in tiles:
            if i.start < j.stop:
                check_interrupt()
                values = kernel.evaluate(pairing.tile(i, j))
                both = i.stop <= j.start
                if many:
                    out[i] += values @ factors[j]
                    if both:
                        out[j] += values.T @ factors[i]
                else:
                    accumulate(values, V[j], out[i])
                    if both:
                        accumulate_turned(values, V[i], out[j])

    with one_blas_thread():
        for_each(add, range(groups))
    return sums.sum(axis=0)
