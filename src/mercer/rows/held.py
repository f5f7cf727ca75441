"""Items in memory, or mapped into it, as rows that are passed over chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._runtime.compile import Array
from .._runtime.interrupts import heed
from ..kernels.engine.parts import length
from .base import Rows, Work

__all__ = ["Held"]


class Held(Rows):
    """Items that are at hand.

    Parameters
    ----------
    items : collection
        Checked items, in the form that the kernel works on.
    at_once : int
        Items of a chunk.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.rows import Held
    >>> rows = Held(np.arange(10.0).reshape(5, 2), at_once=3)
    >>> [(place.start, total) for place, total in rows.each(np.sum)]
    [(0, np.float64(15.0)), (3, np.float64(30.0))]
    """

    def __init__(self, items: Any, at_once: int) -> None:
        self.items, self.at_once = items, at_once
        self.dtype = getattr(items, "dtype", None)
        if getattr(items, "ndim", 0) == 2:
            self.n_columns = items.shape[1]

    def __len__(self) -> int:
        return length(self.items)

    def __getitem__(self, index: Any) -> Any:
        return self.items[index]

    def each(self, work: Work, *vectors: Array) -> Iterator[tuple[slice, Any]]:
        for begin in range(0, len(self), self.at_once):
            heed()
            place = slice(begin, min(begin + self.at_once, len(self)))
            yield place, work(self.items[place], *(vector[place] for vector in vectors))
