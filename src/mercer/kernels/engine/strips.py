"""Products of dense rows that are summed in one order.

What a BLAS library returns for a row depends, in the last digits, on how many rows stand in the same call and on how
many threads it may use. New rows are scored by products whose sums run over the features one by one, from the first to
the last, whatever rows stand beside them: a score is then the same, bit for bit, for one row or a million, on any
number of threads.

The right side, which all rows are multiplied with, is laid out in strips, feature by feature. A loop over a strip
multiplies four features of four rows with each number that it loads: enough work for a processor to run at full speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._runtime.combine import turn
from ..._runtime.compile import Array, jit

#: Rows of the right side that make a strip.
_STRIP = 256
#: Rows of the left side, and features, that are multiplied at once.
_AT_ONCE = 4


class Strips:
    """Dense rows, seen from a centre if one is given, laid out to be multiplied with.

    Examples
    --------
    >>> import numpy as np
    >>> Strips(np.array([[1.0, 2.0], [3.0, 4.0]])).product(np.array([[1.0, 10.0]]), slice(0, 2))
    array([[21., 43.]])
    """

    def __init__(self, rows: Array, centre: Any = None) -> None:
        n, self.features = rows.shape
        depth = -(-self.features // _AT_ONCE) * _AT_ONCE
        #: (strips, features, rows of a strip), with features and rows of zeros to make the numbers even.
        self.values = np.zeros((-(-n // _STRIP), depth, _STRIP), rows.dtype)
        squares = np.zeros(self.values.shape[::2])
        for strip, sums, begin in zip(self.values, squares, range(0, n, _STRIP), strict=True):
            some = moved(rows[begin : begin + _STRIP], centre)
            turn(some, strip[: self.features, : len(some)])
            _add_squares(strip, sums)
        self.squared_norms = squares.ravel()[:n].astype(rows.dtype)

    def __getitem__(self, places: Array) -> Array:
        """The rows in these places."""
        return self.values[places // _STRIP, : self.features, places % _STRIP]

    def product(self, left: Array, places: slice | Array) -> Array:
        """⟨x, z⟩ for each row x of ``left``, which has the type of these rows, and each z in these places."""
        if not isinstance(places, slice) or places.start % _STRIP:
            chosen = np.r_[places]
            return Strips(self[chosen]).product(left, slice(0, chosen.size))
        out = np.empty((left.shape[0], places.stop - places.start), self.values.dtype)
        _multiply(np.ascontiguousarray(left), self.values[places.start // _STRIP :], out)
        return out


def in_one_order(A: Array, B: Array, centre: Any = None) -> tuple[Array, Strips]:
    """Both sides as rows of one type, seen from a centre if one is given; the right one laid out."""
    dtype = np.result_type(A, B)
    return moved(A, centre).astype(dtype, copy=False), Strips(B.astype(dtype, copy=False), centre)


def moved(rows: Array, centre: Any) -> Array:
    """The rows as they are seen from a centre, in their own type."""
    return rows if centre is None else (rows - centre).astype(rows.dtype, copy=False)


@jit
def _add_squares(strip: Array, sums: Array) -> None:
    for k in range(strip.shape[0]):
        z = strip[k]
        for j in range(sums.size):
            sums[j] += np.float64(z[j]) * np.float64(z[j])


@jit
def _multiply(left: Array, strips: Array, out: Array) -> None:
    """Every sum is ((x₀·z₀ + x₁·z₁) + x₂·z₂) + …, with products that are not rounded where the processor can.

    Rows are taken in fours; where fewer are left, the last one fills the four up.
    """
    depth, flat = strips.shape[1], strips.reshape(-1)
    sums, x = np.empty(_AT_ONCE * _STRIP, left.dtype), np.zeros((_AT_ONCE, depth), left.dtype)
    for first in range(0, left.shape[0], _AT_ONCE):
        rows = min(_AT_ONCE, left.shape[0] - first)
        for r in range(_AT_ONCE):
            for k in range(left.shape[1]):
                x[r, k] = left[first + min(r, rows - 1), k]
        for begin in range(0, out.shape[1], _STRIP):
            for j in range(sums.size):
                sums[j] = 0
            for k in range(0, depth, _AT_ONCE):
                # One array with offsets that are known: the compiler sees that sums and numbers do not overlap.
                z = flat[begin * depth + k * _STRIP : begin * depth + (k + _AT_ONCE) * _STRIP]
                a0, a1, a2, a3 = x[0, k], x[0, k + 1], x[0, k + 2], x[0, k + 3]
                b0, b1, b2, b3 = x[1, k], x[1, k + 1], x[1, k + 2], x[1, k + 3]
                c0, c1, c2, c3 = x[2, k], x[2, k + 1], x[2, k + 2], x[2, k + 3]
                d0, d1, d2, d3 = x[3, k], x[3, k + 1], x[3, k + 2], x[3, k + 3]
                for j in range(_STRIP):
                    z0, z1, z2, z3 = z[j], z[_STRIP + j], z[2 * _STRIP + j], z[3 * _STRIP + j]
                    sums[j] = (((sums[j] + a0 * z0) + a1 * z1) + a2 * z2) + a3 * z3
                    sums[_STRIP + j] = (((sums[_STRIP + j] + b0 * z0) + b1 * z1) + b2 * z2) + b3 * z3
                    sums[2 * _STRIP + j] = (((sums[2 * _STRIP + j] + c0 * z0) + c1 * z1) + c2 * z2) + c3 * z3
                    sums[3 * _STRIP + j] = (((sums[3 * _STRIP + j] + d0 * z0) + d1 * z1) + d2 * z2) + d3 * z3
            width = min(_STRIP, out.shape[1] - begin)
            for r in range(rows):
                for j in range(width):
                    out[first + r, begin + j] = sums[r * _STRIP + j]
