"""Rows of the kernel matrix that are kept because they will be needed again."""

from __future__ import annotations

import numpy as np

from .._compile import Array, jit
from .._parallel import for_each
from ..grams.base import Gram

#: Columns that one piece of an update covers: F of these stays in the nearest cache.
_WIDTH = 2048


@jit
def _subtract(F: Array, rows: Array, places: Array, coefficients: Array, begin: int, end: int) -> None:
    """F −= Σ coefficient·row in the columns begin … end−1, four rows at a time."""
    whole = places.size - places.size % 4
    part = F[begin:end]
    for p in range(0, whole, 4):
        c0, c1, c2, c3 = coefficients[p], coefficients[p + 1], coefficients[p + 2], coefficients[p + 3]
        r0, r1 = rows[places[p], begin:end], rows[places[p + 1], begin:end]
        r2, r3 = rows[places[p + 2], begin:end], rows[places[p + 3], begin:end]
        for k in range(part.size):
            part[k] -= (c0 * r0[k] + c1 * r1[k]) + (c2 * r2[k] + c3 * r3[k])
    for p in range(whole, places.size):
        c, row = coefficients[p], rows[places[p], begin:end]
        for k in range(part.size):
            part[k] -= c * row[k]


@jit
def _gather(rows: Array, places: Array, columns: Array, out: Array) -> None:
    for a in range(places.size):
        row, target = rows[places[a]], out[a]
        for b in range(columns.size):
            target[b] = row[columns[b]]


class RowCache:
    """Some rows of a Gram in float32, the newest in the place of the oldest, within a memory limit."""

    def __init__(self, gram: Gram, memory: int) -> None:
        n = len(gram)
        self.gram = gram
        self.capacity = 0 if gram.factored else int(min(n, max(64, memory // (4 * n))))
        self.rows = np.empty((self.capacity, n), np.float32)
        self.place = np.full(n, -1)
        self.owner = np.full(self.capacity, -1)
        self.next = 0

    def subtract(self, F: Array, items: Array, coefficients: Array, keep: Array) -> None:
        """F −= Σ coefficient·K[item], computing rows that are not here.

        ``keep`` says which of them will be needed again; the others go by without being stored.
        """
        known = self.place[items] >= 0
        passing = ~known & (~keep | self.gram.factored)
        if passing.any():
            z = np.zeros(F.size)
            z[items[passing]] = coefficients[passing]
            F -= self.gram.matvec(z)
        items, coefficients, known = items[~passing], coefficients[~passing], known[~passing]
        self._apply(F, items[known], coefficients[known])
        missing, weights = items[~known], coefficients[~known]
        done = 0
        while done < missing.size:
            count = min(missing.size - done, self.capacity - self.next)
            chunk = missing[done : done + count]
            places = slice(self.next, self.next + count)
            evicted = self.owner[places]
            self.place[evicted[evicted >= 0]] = -1
            self.gram.fill(chunk, self.rows[places])
            self.owner[places] = chunk
            self.place[chunk] = np.arange(places.start, places.stop)
            self.next = places.stop % self.capacity
            self._apply(F, chunk, weights[done : done + count])
            done += count

    def _apply(self, F: Array, items: Array, coefficients: Array) -> None:
        if not items.size:
            return
        places, coefficients = self.place[items], np.ascontiguousarray(coefficients)
        pieces = [(begin, min(begin + _WIDTH, F.size)) for begin in range(0, F.size, _WIDTH)]
        for_each(lambda piece: _subtract(F, self.rows, places, coefficients, *piece), pieces)

    def block(self, items: Array, columns: Array, out: Array) -> None:
        """K[items, columns] into ``out``, from rows that are here or else computed."""
        if not self.gram.expensive:
            out[:] = self.gram.block(items, columns)
            return
        here = np.flatnonzero(self.place[items] >= 0)
        pieces = np.array_split(here, max(1, here.size // 64))

        def copy(piece: Array) -> None:
            part = np.empty((piece.size, columns.size), np.float32)
            _gather(self.rows, self.place[items[piece]], columns, part)
            out[piece] = part

        for_each(copy, pieces)
        absent = np.flatnonzero(self.place[items] < 0)
        if absent.size:
            out[absent] = self.gram.block(items[absent], columns)
