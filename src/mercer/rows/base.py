"""What may be asked of items that need not be in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .._runtime.compile import Array

__all__ = ["Rows", "Work"]

#: What is done with a chunk of items and the parts of vectors that belong to it. It is a function of a module, with
#: what it needs besides bound by keywords of ``functools.partial``, so that it can be sent to where the items are; what
#: is bound by its place is refused.
Work = Callable[..., Any]


class Rows:
    """A sequence of items in chunks. Passes over them are made in the order of the items.

    Rows of numbers are checked as they are read: a pass ends with an error that names the first row that holds
    something else than finite numbers.
    """

    #: What the numbers of rows are kept in, float32 or float64; ``None`` for other items.
    dtype: Any = None
    #: How many numbers a row has, and the names of these columns where they have some.
    n_columns: int | None = None
    names: list[str] | None = None
    #: Whether work is done where the items are, and they had better stay there.
    apart: bool = False

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int, ...]:
        """As of an array."""
        return (len(self),) if self.n_columns is None else (len(self), self.n_columns)

    def __getitem__(self, index: Any) -> Any:
        """The items with these numbers, in memory; a single number gives the item itself."""
        numbers = np.arange(len(self))[index]
        return self.taken(numbers.reshape(1))[0] if numbers.ndim == 0 else self.taken(numbers)

    def taken(self, index: Array) -> Any:
        """The items with these numbers, from 0, in memory and in this order."""
        raise NotImplementedError

    def each(self, work: Work, *vectors: Array) -> Iterator[tuple[slice, Any]]:
        """Do ``work(items, *parts)`` on each chunk, with the parts of the vectors (one number an item) that belong to
        it; yields the place of the chunk among all items and what the work returned, in order.
        """
        raise NotImplementedError

    def total(self, work: Work, *vectors: Array) -> Any:
        """The sum of what ``work`` returns for the chunks, added up in their order."""
        return sum(part for _, part in self.each(work, *vectors))
