"""Products of dense rows that are summed in one order.

What a BLAS library returns for a row depends, in the last digits, on how many rows stand in the same call and on how
many threads it may use. New rows are scored by products whose sums run over the features one by one, from the first to
the last, whatever rows stand beside them: a score is then the same, bit for bit, for one row or a million, on any
number of threads.

The right side, which all rows are multiplied with, is laid out in strips, feature by feature, which a few rows at a
time pass by (:mod:`mercer._runtime.register_tiles`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit
from ..._runtime.register_tiles import ROWS, WIDTH, multiply_rows

#: Rows that are moved to the centre at a time.
_AT_ONCE = 16 * WIDTH


class Strips:
    """Dense rows, seen from a centre if one is given, laid out to be multiplied with.

    Examples
    --------
    >>> import numpy as np
    >>> Strips(np.array([[1.0, 2.0], [3.0, 4.0]])).product(np.array([[1.0, 10.0]]), slice(0, 2))
    array([[21., 43.]])
    """

    def __init__(self, rows: Array, centre: Any = None) -> None:
        n, features = rows.shape
        #: (strips, features, rows of a strip), with rows of zeros to make their number even.
        self.values = np.zeros((-(-n // WIDTH), features, WIDTH), rows.dtype)
        squares = np.zeros(self.values.shape[::2])
        for begin in range(0, n, _AT_ONCE):
            _lay_out(moved(rows[begin : begin + _AT_ONCE], centre), self.values[begin // WIDTH :])
        _add_squares(self.values, squares)
        self.squared_norms = squares.ravel()[:n].astype(rows.dtype)

    def __getitem__(self, places: Array) -> Array:
        """The rows in these places."""
        return self.values[places // WIDTH, :, places % WIDTH]

    def product(self, left: Array, places: slice | Array) -> Array:
        """⟨x, z⟩ for each row x of ``left``, which has the type of these rows, and each z in these places."""
        if not isinstance(places, slice) or places.start % WIDTH:
            chosen = np.r_[places]
            return Strips(self[chosen]).product(left, slice(0, chosen.size))
        out = np.empty((left.shape[0], places.stop - places.start), self.values.dtype)
        _multiply(np.ascontiguousarray(left), self.values[places.start // WIDTH :], out)
        return out


def in_one_order(A: Array, B: Array, centre: Any = None) -> tuple[Array, Strips]:
    """Both sides as rows of one type, seen from a centre if one is given; the right one laid out."""
    dtype = np.result_type(A, B)
    return moved(A, centre).astype(dtype, copy=False), Strips(B.astype(dtype, copy=False), centre)


def moved(rows: Array, centre: Any) -> Array:
    """The rows as they are seen from a centre, in their own type."""
    return rows if centre is None else (rows - centre).astype(rows.dtype, copy=False)


@jit
def _lay_out(rows: Array, strips: Array) -> None:
    for i in range(rows.shape[0]):
        strip, place = strips[i // WIDTH], i % WIDTH
        for k in range(rows.shape[1]):
            strip[k, place] = rows[i, k]


@jit
def _add_squares(strips: Array, sums: Array) -> None:
    for s in range(strips.shape[0]):
        for k in range(strips.shape[1]):
            for j in range(WIDTH):
                sums[s, j] += np.float64(strips[s, k, j]) * np.float64(strips[s, k, j])


@jit
def _multiply(left: Array, strips: Array, out: Array) -> None:
    """Every sum is ((x₀·z₀ + x₁·z₁) + x₂·z₂) + …, with products that are not rounded where the processor can."""
    flat, strip = strips.reshape(-1), strips.shape[1] * WIDTH
    sums = np.empty((ROWS, WIDTH), left.dtype)
    for begin in range(0, out.shape[1], WIDTH):
        width = min(WIDTH, out.shape[1] - begin)
        for first in range(0, left.shape[0], ROWS):
            multiply_rows(left, first, left.shape[0] - 1, flat, begin // WIDTH * strip, sums, 0)
            for r in range(min(ROWS, left.shape[0] - first)):
                for j in range(width):
                    out[first + r, begin + j] = sums[r, j]
