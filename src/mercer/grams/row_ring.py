"""Room for some rows of a kernel matrix, in which the newest takes the place of the oldest."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array


class RowRing:
    """A buffer of rows and who owns which.

    Parameters
    ----------
    n : int
        Items, and numbers in a row.
    capacity : int
        Rows that have room.
    dtype : dtype

    Examples
    --------
    >>> ring = RowRing(3, 2, np.float32)
    >>> ring.claim(np.array([0, 2])).tolist(), ring.claim(np.array([1])).tolist()
    ([0, 1], [0])
    >>> ring.place.tolist(), ring.evicted
    ([-1, 0, 1], True)
    """

    def __init__(self, n: int, capacity: int, dtype: Any) -> None:
        self.capacity = capacity
        self.rows = np.empty((capacity, n), dtype)
        #: Where the row of each item is, −1 if it is not here.
        self.place = np.full(n, -1)
        self.owner = np.full(capacity, -1)
        self.next = 0
        #: Whether a row had to go to make room for another.
        self.evicted = False

    def claim(self, items: Array) -> Array:
        """Places for the rows of these items, at most ``capacity`` of them, in a row until the buffer begins anew."""
        places = (self.next + np.arange(items.size)) % self.capacity
        old = self.owner[places]
        old = old[old >= 0]
        self.evicted |= bool(old.size)
        self.place[old] = -1
        self.owner[places] = items
        self.place[items] = places
        self.next = int((self.next + items.size) % self.capacity)
        return places
