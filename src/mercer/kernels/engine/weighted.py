"""Weighted sums of kernel values, Σⱼ vⱼ·k(x, zⱼ), whose terms are never written to memory.

Where a kernel is a function of ⟨x, z⟩, ‖x‖² and ‖z‖², such as a Gaussian or a polynomial, a block of a few rows x and a
strip of items z passes from the product through the function to the sums while it is in the nearest cache. What is made
of the items and their weights once (:class:`WeightedItems`) serves all rows that come later, be it one.

The sums of a row depend on that row alone: they run over the strips in their order, whatever rows stand beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...runtime.compile import Array, jit
from ...runtime.interrupts import check_interrupt
from ...runtime.loops import Blockwise, call_blockwise
from ...runtime.numerics import ROWS, WIDTH, multiply_listed, multiply_rows
from ...runtime.threads import for_each, thread_count
from .statistics import KEPT, SQUARED_DISTANCE, Strips, ThinRows, is_thin, near_origin, squared_norms

if TYPE_CHECKING:
    from ..base import Kernel

#: A function of dot products and squared lengths, with its parameters.
Function = tuple[Blockwise, Sequence[float]]
#: Up to so many sums of a row are made in float64 one by one; more as a matrix product in the type of the rows.
_FEW = 8
#: Rows of a block of values, which stays in the nearest cache.
_BLOCK = 8 * ROWS
#: Rows that a thread takes at a time, at most, and numbers in them: they stay in the second-level cache.
_MOST_ROWS, _NUMBERS = 5 * _BLOCK, 100_000
#: Multiplications between two looks at Ctrl-C: a few milliseconds' work.
_MULTIPLICATIONS = 2**27
#: What a kernel's function takes, in multiplications.
_FUNCTION = 32
#: Multiplications below which a second thread costs more than it saves.
_WORTH_THREADS = 2**22


def weighted_items(kernel: Kernel, A: Any, B: Any, V: Array) -> WeightedItems | None:
    """What gives k(A, B)·V for rows like A; ``None`` where the kernel or the items need whole tiles."""
    function = kernel.function_of_dots if V.size else None
    if function is None:
        return None
    apart, B = SQUARED_DISTANCE in kernel.statistics(), B.astype(np.result_type(A, B), copy=False)
    if is_thin(B) and (near_origin(B) or not apart):
        return WeightedThinItems(function, B, V) if B.shape[0] * B.shape[1] <= KEPT else None
    if sparse.issparse(A) or sparse.issparse(B):
        return None
    centre = B.mean(axis=0, dtype=np.float64) if apart else np.zeros(B.shape[1])
    return WeightedFullItems(function, B, centre, V)


class WeightedItems:
    """Items on the right of a kernel, each with its weights, laid out for rows to pass by.

    Parameters
    ----------
    function : tuple
        The kernel as a function of dot products and squared lengths with its parameters, as
        :attr:`Kernel.function_of_dots` has it.
    strips : array of shape (strips, features, WIDTH)
        The items, feature by feature.
    norms : array
        ‖z‖² of every item.
    V : array of shape (n_items, n_sums)
    """

    def __init__(self, function: Function, strips: Array, norms: Array, V: Array) -> None:
        source, parameters = function
        self.dtype = strips.dtype
        self._source = source  # what is at the address lives as long as this
        self.function, self.parameters = source.address(self.dtype), np.array(parameters, dtype=np.float64)
        self.strips, self.norms = strips, _in_strips(norms.astype(self.dtype, copy=False)[:, None]).reshape(-1)
        self.n_sums = V.shape[1]
        self.weights = _few_and_many(np.asarray(V, dtype=np.float64), self.dtype)

    def product(self, A: Any) -> Array:
        """k(A, B)·V in float64."""
        n, (strips, features, _) = A.shape[0], self.strips.shape
        out = np.zeros((n, self.n_sums))
        work = (features + _FUNCTION + self.n_sums) * WIDTH * strips
        height = ROWS * max(1, min(_MOST_ROWS, _NUMBERS // max(1, features)) // ROWS)
        if n * work > _WORTH_THREADS:
            height = min(height, -(-n // thread_count()))
        pieces = [slice(begin, min(begin + height, n)) for begin in range(0, n, height)]
        at_once = max(1, _MULTIPLICATIONS * strips // (height * work))

        def fill(rows: slice) -> None:
            left = self.seen(A[rows].astype(self.dtype, copy=False))
            for begin in range(0, strips, at_once):
                check_interrupt()
                self.add(left, slice(begin, min(begin + at_once, strips)), out[rows])

        if len(pieces) == 1:
            fill(pieces[0])
        else:
            for_each(fill, pieces)
        return out

    def seen(self, rows: Any) -> tuple[Any, ...]:
        """Some rows as the items see them."""
        raise NotImplementedError

    def add(self, left: tuple[Any, ...], strips: slice, out: Array) -> None:
        """Add the sums over some strips."""
        raise NotImplementedError


class WeightedFullItems(WeightedItems):
    """Items whose features all count, seen from a centre: distances far from the origin would lose their digits.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> items, weights = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [0.5]])
    >>> items = WeightedFullItems(Linear().function_of_dots, items, np.zeros(2), weights)
    >>> items.product(np.array([[1.0, 10.0]]))
    array([[42.5]])
    """

    def __init__(self, function: Function, items: Array, centre: Array, V: Array) -> None:
        laid_out = Strips(items, centre)
        super().__init__(function, laid_out.values, laid_out.squared_norms, V)
        self.centre = centre

    def seen(self, rows: Array) -> tuple[Any, ...]:
        moved = np.empty(rows.shape, self.dtype)
        norms = np.empty(len(rows), self.dtype)
        _move(rows, self.centre, moved, norms)
        return moved, norms

    def add(self, left: tuple[Any, ...], strips: slice, out: Array) -> None:
        _add_full(
            *left, self.strips, self.norms, strips.start, strips.stop, self.function, self.parameters, self.weights, out
        )


class WeightedThinItems(WeightedItems):
    """Items that are mostly zeros, for rows whose zeros are skipped."""

    def __init__(self, function: Function, items: Any, V: Array) -> None:
        thin = ThinRows.of(items)
        super().__init__(function, thin.strips(slice(0, len(thin))), squared_norms(items), V)

    def seen(self, rows: Any) -> tuple[Any, ...]:
        thin = ThinRows.of(rows)
        return thin.data, thin.indices, thin.indptr, squared_norms(rows)

    def add(self, left: tuple[Any, ...], strips: slice, out: Array) -> None:
        _add_thin(
            *left, self.strips, self.norms, strips.start, strips.stop, self.function, self.parameters, self.weights, out
        )


def _in_strips(V: Array) -> Array:
    """Numbers of the items, a column each, as (strips, columns, items of a strip), with zeros at the end."""
    n, columns = V.shape
    out = np.zeros((-(-n // WIDTH) * WIDTH, columns), V.dtype)
    out[:n] = V
    return np.ascontiguousarray(out.reshape(-1, WIDTH, columns).transpose(0, 2, 1))


def _few_and_many(V: Array, dtype: np.dtype) -> tuple[Array, Array, Array, Array]:
    """The weights of a strip's items: few columns, one by one; and groups of the columns that are not zero there.

    A machine of a pair of classes has no weight on the items of all other classes, and its column is left out of their
    strips. The strip s has the groups ``starts[s]`` … ``starts[s + 1]`` − 1, each with the places of WIDTH columns (−1
    where there are fewer) and their weights, item by item.
    """
    columns = _in_strips(V)
    starts = np.zeros(len(columns) + 1, np.int64)
    if V.shape[1] <= _FEW:
        return columns, starts, np.empty((0, WIDTH), np.int64), np.empty(0, dtype)
    places, groups = [], []
    for s, strip in enumerate(columns):
        used = np.flatnonzero(strip.any(axis=1))
        for begin in range(0, used.size, WIDTH):
            some = used[begin : begin + WIDTH]
            group = np.zeros((WIDTH, WIDTH), dtype)
            group[:, : some.size] = strip[some].T
            groups.append(group)
            places.append(np.pad(some, (0, WIDTH - some.size), constant_values=-1))
        starts[s + 1] = len(groups)
    return (
        columns[:, :0],
        starts,
        np.array(places, np.int64).reshape(-1, WIDTH),
        np.array(groups, dtype).reshape(-1),
    )


@jit(reorder=True)
def _move(rows: Array, centre: Array, moved: Array, norms: Array) -> None:
    """The rows as they are seen from the centre, and their squared lengths."""
    for i in range(rows.shape[0]):
        total = 0.0
        for k in range(rows.shape[1]):
            moved[i, k] = rows[i, k] - centre[k]
            total += np.float64(moved[i, k]) * np.float64(moved[i, k])
        norms[i] = total


@jit(reorder=True, inline=True)
def _weigh(values: Array, rows: int, first: int, s: int, weights: Any, sums: Array, out: Array) -> None:
    """Add a block of values, times the weights of its strip, to the sums of its rows."""
    few, starts, places, many = weights
    for c in range(few.shape[1]):
        for r in range(rows):
            total = 0.0
            for j in range(WIDTH):
                total += few[s, c, j] * np.float64(values[r, j])
            out[first + r, c] += total
    for g in range(starts[s], starts[s + 1]):
        used = 0
        while used < WIDTH and places[g, used] >= 0:
            used += 1
        for top in range(0, rows, ROWS):
            multiply_rows(values, top, rows - 1, many, g * WIDTH * WIDTH, sums, 0)
            for r in range(min(ROWS, rows - top)):
                for c in range(used):
                    out[first + top + r, places[g, c]] += sums[r, c]


@jit
def _add_full(
    left: Array, left_norms: Array, strips: Array, norms: Array, begin: int, stop: int,
    function: int, parameters: Array, weights: Any, out: Array,
) -> None:  # fmt: skip
    flat, strip = strips.reshape(-1), strips.shape[1] * WIDTH
    values, sums = np.empty((_BLOCK, WIDTH), left.dtype), np.empty((ROWS, WIDTH), left.dtype)
    for s in range(begin, stop):
        for first in range(0, left.shape[0], _BLOCK):
            rows = min(_BLOCK, left.shape[0] - first)
            for top in range(0, rows, ROWS):
                multiply_rows(left, first + top, left.shape[0] - 1, flat, s * strip, values, top * WIDTH)
            call_blockwise(function, values, rows, left_norms, first, norms, s * WIDTH, parameters)
            _weigh(values, rows, first, s, weights, sums, out)


@jit
def _add_thin(
    data: Array, indices: Array, indptr: Array, left_norms: Array, strips: Array, norms: Array, begin: int, stop: int,
    function: int, parameters: Array, weights: Any, out: Array,
) -> None:  # fmt: skip
    flat, strip = strips.reshape(-1), strips.shape[1] * WIDTH
    values, sums = np.empty((_BLOCK, WIDTH), data.dtype), np.empty((ROWS, WIDTH), data.dtype)
    for s in range(begin, stop):
        for first in range(0, out.shape[0], _BLOCK):
            rows = min(_BLOCK, out.shape[0] - first)
            for r in range(rows):
                at = indptr[first + r]
                multiply_listed(data, indices, at, indptr[first + r + 1], flat, s * strip, values, r * WIDTH)
            call_blockwise(function, values, rows, left_norms, first, norms, s * WIDTH, parameters)
            _weigh(values, rows, first, s, weights, sums, out)
