"""Files of any size as frames, some rows at a time.

Each pass opens the files anew and reads the columns that it needs, one chunk ahead of whoever works on them. What a
machine learns in many passes makes sense only if all of them see the same rows: a file that has changed since it was
first looked at ends a pass.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .._runtime.ahead import ahead
from .._runtime.compile import Array
from .options import Options
from .table import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Chunked"]

#: Numbers of a chunk.
_CHUNK = 2_000_000


class Chunked:
    """Files with the same columns that are read chunk by chunk, one after another.

    Parameters
    ----------
    paths : list of Path
    options : Options
    shown : str
        The files as messages name them.
    """

    def __init__(self, paths: list[Path], options: Options, shown: str) -> None:
        self.paths, self.options, self.shown = paths, options, shown
        self.notes: list[str] = []
        self._marks = [_mark(path) for path in paths]

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        raise NotImplementedError

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(len(frame) for frame in self.frames(self.columns[:1]))

    def _frames_of(self, path: Path, columns: Sequence[str], size: int) -> Iterator[pd.DataFrame]:
        """Some columns of one file, in frames of at most ``size`` rows."""
        raise NotImplementedError

    def frames(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Some columns of all files, in their order."""
        self.refuse_changed()
        size = max(1, _CHUNK // max(1, len(columns)))
        read = (frame for path in self.paths for frame in self._frames_of(path, columns, size))
        yield from ahead(read)

    def taken(self, columns: Sequence[str], index: Array) -> pd.DataFrame:
        """Some columns of the rows with these numbers, which rise."""
        import pandas as pd

        found, first = [], 0
        for frame in self.frames(columns):
            here = index[np.searchsorted(index, first) : np.searchsorted(index, first + len(frame))]
            found.append(frame.iloc[here - first])
            first += len(frame)
        return pd.concat(found, ignore_index=True)

    def refuse_changed(self) -> None:
        """Raise where a file is not what it was."""
        for path, mark in zip(self.paths, self._marks, strict=True):
            if _mark(path) != mark:
                raise DataError(
                    f"{path.name!r} has changed since it was first read, and rows are read again and again; begin once "
                    "more with the file as it is now."
                )


def _mark(path: Path) -> tuple[int, int] | None:
    """What changes when a file does; ``None`` where there is none any more."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
