"""Where rows stand, for messages: in which row of a sheet, in which line of which file."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array

__all__ = ["RowPlaces"]


class RowPlaces:
    """The places of the rows of a table.

    Parameters
    ----------
    numbers : array of int
        The number of each row, as people count in the file.
    words : sequence of str
        What such a number counts in each file, such as ``"line"`` or ``"row"``.
    files : sequence of str
        What messages call each file; empty names where there is only one.
    file : array of int, optional
        The file of each row. By default the first.

    Examples
    --------
    >>> places = RowPlaces([2, 3, 2], ["line", "row"], ["'a.csv'", "'b.xlsx'"], [0, 0, 1])
    >>> places[1], places[[2, 0]][0], len(places)
    ("line 3 of 'a.csv'", "row 2 of 'b.xlsx'", 3)
    """

    def __init__(self, numbers: Any, words: Any = ("row",), files: Any = ("",), file: Any = None):
        self.numbers: Array = np.asarray(numbers, dtype=np.int64)
        self.words, self.files = list(words), list(files)
        self.file: Array = np.zeros(len(self.numbers), np.int32) if file is None else np.asarray(file, np.int32)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, (int, np.integer)):
            return RowPlaces(self.numbers[index], self.words, self.files, self.file[index])
        file = self.file[index]
        of = f" of {self.files[file]}" if self.files[file] else ""
        return f"{self.words[file]} {self.numbers[index]}{of}"

    def tolist(self) -> list[str]:
        """The place of each row."""
        return [self[row] for row in range(len(self))]
