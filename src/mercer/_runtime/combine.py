"""Sums of rows, and pieces of matrices moved about: what every solver does with kernel values once they are there."""

from __future__ import annotations

import numpy as np

from .compile import Array, jit
from .parallel import for_each

#: Columns that one piece of a sum covers: its part of the result stays in the nearest cache.
_STRIP = 2048
#: Rows that one piece of a copy covers, and the side of the squares in which a matrix is turned.
_ROWS, _SQUARE = 128, 32
#: Rows of a sum of matrices that are made at a time.
_FEW_ROWS = 16
#: Numbers below which a second thread costs more than it saves.
_WORTH_THREADS = 200_000


@jit
def _add(out: Array, K: Array, places: Array, coefficients: Array, begin: int, end: int) -> None:
    """out += Σ coefficient·K[place] in the columns begin … end−1, four rows at a time."""
    whole = places.size - places.size % 4
    part = out[begin:end]
    for p in range(0, whole, 4):
        c0, c1, c2, c3 = coefficients[p], coefficients[p + 1], coefficients[p + 2], coefficients[p + 3]
        r0, r1 = K[places[p], begin:end], K[places[p + 1], begin:end]
        r2, r3 = K[places[p + 2], begin:end], K[places[p + 3], begin:end]
        for k in range(part.size):
            part[k] += (c0 * r0[k] + c1 * r1[k]) + (c2 * r2[k] + c3 * r3[k])
    for p in range(whole, places.size):
        c, row = coefficients[p], K[places[p], begin:end]
        for k in range(part.size):
            part[k] += c * row[k]


def add_rows(out: Array, K: Array, places: Array, coefficients: Array) -> None:
    """out += Σ coefficient·K[place], in float64."""
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
    strips = [(begin, min(begin + _STRIP, out.size)) for begin in range(0, out.size, _STRIP)]
    threads = None if places.size * out.size > _WORTH_THREADS else 1
    for_each(lambda strip: _add(out, K, places, coefficients, *strip), strips, threads)


@jit
def _gather(K: Array, rows: Array, columns: Array, out: Array) -> None:
    for a in range(rows.size):
        row, target = K[rows[a]], out[a]
        for b in range(columns.size):
            target[b] = row[columns[b]]


def gather(K: Array, rows: Array, columns: Array, out: Array) -> None:
    """K[rows, columns] into ``out``."""
    pieces = [slice(begin, begin + _ROWS) for begin in range(0, rows.size, _ROWS)]
    threads = None if rows.size * columns.size > _WORTH_THREADS else 1
    for_each(lambda piece: _gather(K, rows[piece], columns, out[piece]), pieces, threads)


@jit
def turn_here(source: Array, target: Array) -> None:
    """As :func:`turn`, for compiled loops: on the thread that they run on."""
    for top in range(0, source.shape[0], _SQUARE):
        for left in range(0, source.shape[1], _SQUARE):
            for j in range(left, min(left + _SQUARE, source.shape[1])):
                for i in range(top, min(top + _SQUARE, source.shape[0])):
                    target[j, i] = source[i, j]


def turn(source: Array, target: Array) -> None:
    """The transpose of ``source`` into ``target``."""
    pieces = [slice(begin, begin + _ROWS) for begin in range(0, source.shape[1], _ROWS)]
    threads = None if source.size > _WORTH_THREADS else 1
    for_each(lambda piece: turn_here(source[:, piece], target[piece]), pieces, threads)


@jit
def mirror(square: Array) -> None:
    """Write what is above the diagonal below it."""
    for i in range(square.shape[0]):
        for j in range(i):
            square[i, j] = square[j, i]


@jit
def _weigh(out: Array, K: Array, factor: float, first: bool) -> None:
    for i in range(out.shape[0]):
        target, row = out[i], K[i]
        for j in range(target.size):
            target[j] = factor * row[j] if first else target[j] + factor * row[j]


def weighted_sum(matrices: list[Array], factors: list[float], like: Array) -> Array:
    """Σ factor·matrix, in one pass over all of them; zeros like ``like`` where there are none.

    Examples
    --------
    >>> weighted_sum([np.eye(2), np.ones((2, 2))], [2.0, 0.5], like=np.eye(2))
    array([[2.5, 0.5],
           [0.5, 2.5]])
    """
    out = np.empty_like(like) if matrices else np.zeros_like(like)

    def add(piece: slice) -> None:  # some rows of the sum, which stay in the cache
        for k, (matrix, factor) in enumerate(zip(matrices, factors, strict=True)):
            _weigh(out[piece], matrix[piece], float(factor), k == 0)

    for_each(add, [slice(begin, begin + _FEW_ROWS) for begin in range(0, len(out), _FEW_ROWS)])
    return out
