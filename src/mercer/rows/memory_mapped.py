"""Rows of numbers in a file that is mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .number_rows import NumberRows, checked

__all__ = ["Mapped"]

#: Bytes of a chunk.
_CHUNK = 32_000_000


class Mapped(NumberRows):
    """A ``numpy.memmap``, of which no more than a chunk is ever copied.

    Parameters
    ----------
    numbers : numpy.memmap of shape (n_rows, n_columns)

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from mercer.rows import Mapped
    >>> with tempfile.TemporaryFile() as file:
    ...     rows = Mapped(np.memmap(file, dtype=np.float32, shape=(5, 2)))
    ...     rows.shape, rows[[4, 0]].tolist(), rows.dtype
    ((5, 2), [[0.0, 0.0], [0.0, 0.0]], dtype('float32'))
    """

    def __init__(self, numbers: np.memmap) -> None:
        self.numbers = numbers
        self.dtype = np.dtype(np.float32 if numbers.dtype == np.float32 else np.float64)
        self.n_columns = numbers.shape[1]

    @property
    def nbytes(self) -> int:
        """What all rows would take in memory."""
        return self.numbers.size * self.dtype.itemsize

    def __len__(self) -> int:
        return self.numbers.shape[0]

    def taken(self, index: Array) -> Any:
        return checked(np.asarray(self.numbers[index]), self.dtype, index)

    def chunks(self) -> Iterator[Any]:
        size = max(1, _CHUNK // max(1, self.dtype.itemsize * self.numbers.shape[1]))
        for begin in range(0, len(self), size):
            yield np.asarray(self.numbers[begin : begin + size])
