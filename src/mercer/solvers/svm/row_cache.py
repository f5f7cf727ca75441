"""Rows of the kernel matrix that are kept because they will be needed again."""

from __future__ import annotations

import numpy as np

from ..._runtime.combine import add_rows, gather, turn
from ..._runtime.compile import Array
from ...grams.base import Gram
from ...grams.row_ring import RowRing


class RowCache:
    """Some rows of a Gram in float32, the newest in the place of the oldest, within a memory limit.

    Rows that are at hand, or computed as fast as fresh memory is filled, are not kept at all.
    """

    def __init__(self, gram: Gram, memory: int) -> None:
        n = len(gram)
        self.gram = gram
        keeps = gram.expensive and not gram.ready
        self.capacity = 0 if not keeps else int(min(n, max(64, memory // (4 * n))))
        self.ring = RowRing(n, self.capacity, np.float32)

    @property
    def full(self) -> bool:
        """Whether a row had to go to make room for another."""
        return self.ring.evicted

    def subtract(self, F: Array, items: Array, coefficients: Array, keep: Array) -> None:
        """F −= Σ coefficient·K[item], computing rows that are not here.

        ``keep`` says which of them will be needed again; the others go by without being stored.
        """
        known = self.ring.place[items] >= 0
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
            count = min(missing.size - done, self.capacity - self.ring.next)
            chunk = missing[done : done + count]
            first = self.ring.next
            rows = self.ring.rows[first : first + count]
            self.gram.fill(chunk, rows)
            self.ring.claim(chunk)
            self._apply(F, chunk, weights[done : done + count])
            done += count

    def _apply(self, F: Array, items: Array, coefficients: Array) -> None:
        if items.size:
            add_rows(F, self.ring.rows, self.ring.place[items], -coefficients)

    def extend(self, out: Array, kept: Array, new: Array) -> Array:
        """Complete the matrix of kept and new items, whose upper left corner is there; their order is returned.

        ``kept`` is as :meth:`arrange` puts it. Rows that are here are copied; the rest is computed, but only once for
        (x, z) and (z, x).
        """
        here = self.ring.place[new] >= 0
        known, absent = new[here], new[~here]
        order = np.concatenate([kept, known, absent])
        a, b = kept.size, kept.size + known.size
        first = a - int(np.count_nonzero(self.ring.place[kept] >= 0))  # rows of items first … b−1 are here
        if b > first:
            gather(self.ring.rows, self.ring.place[order[first:b]], order[a:], out[first:b, a:])
            gather(self.ring.rows, self.ring.place[known], order[:first], out[a:b, :first])
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
        return np.argsort(self.ring.place[items] >= 0, kind="stable")
