"""Rows of the kernel matrix that are kept because they will be needed again."""

from __future__ import annotations

import numpy as np

from ..._runtime.combine import add_rows, gather, turn
from ..._runtime.compile import Array
from ...grams.base import Gram


class RowCache:
    """Some rows of a Gram in float32, the newest in the place of the oldest, within a memory limit.

    Rows that are at hand, or computed as fast as fresh memory is filled, are not kept at all.
    """

    def __init__(self, gram: Gram, memory: int) -> None:
        n = len(gram)
        self.gram = gram
        keeps = gram.expensive and not gram.ready
        self.capacity = 0 if not keeps else int(min(n, max(64, memory // (4 * n))))
        self.rows = np.empty((self.capacity, n), np.float32)
        self.place = np.full(n, -1)
        self.owner = np.full(self.capacity, -1)
        self.next = 0
        #: Whether a row had to go to make room for another.
        self.full = False

    def subtract(self, F: Array, items: Array, coefficients: Array, keep: Array) -> None:
        """F −= Σ coefficient·K[item], computing rows that are not here.

        ``keep`` says which of them will be needed again; the others go by without being stored.
        """
        known = self.place[items] >= 0
        passing = ~known & (~keep | (self.capacity == 0))
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
            self.full |= bool((evicted >= 0).any())
            self.place[evicted[evicted >= 0]] = -1
            self.gram.fill(chunk, self.rows[places])
            self.owner[places] = chunk
            self.place[chunk] = np.arange(places.start, places.stop)
            self.next = places.stop % self.capacity
            self._apply(F, chunk, weights[done : done + count])
            done += count

    def _apply(self, F: Array, items: Array, coefficients: Array) -> None:
        if items.size:
            add_rows(F, self.rows, self.place[items], -coefficients)

    def extend(self, out: Array, kept: Array, new: Array) -> Array:
        """Complete the matrix of kept and new items, whose upper left corner is there; their order is returned.

        ``kept`` is as :meth:`arrange` puts it. Rows that are here are copied; the rest is computed, but only once for
        (x, z) and (z, x).
        """
        here = self.place[new] >= 0
        known, absent = new[here], new[~here]
        order = np.concatenate([kept, known, absent])
        a, b = kept.size, kept.size + known.size
        first = a - int(np.count_nonzero(self.place[kept] >= 0))  # rows of items first … b−1 are here
        if b > first:
            gather(self.rows, self.place[order[first:b]], order[a:], out[first:b, a:])
            gather(self.rows, self.place[known], order[:first], out[a:b, :first])
            turn(out[a:b, :first], out[:first, a:b])
            turn(out[first:a, a:], out[a:, first:a])
            turn(out[a:b, b:], out[b:, a:b])
        if absent.size:
            self.gram.block(absent, absent, out[b:, b:])
            if first:
                self.gram.block(absent, order[:first], out[b:, :first])
                turn(out[b:, :first], out[:first, b:])
        return order

    def arrange(self, items: Array) -> Array:
        """The order in which items whose rows are here come last."""
        return np.argsort(self.place[items] >= 0, kind="stable")
