"""Rows of a svmlight file of any size, read in pieces between two ends of lines."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime.ahead import ahead
from .._runtime.compile import Array
from ..rows import NumberRows
from .chunked import Chunked
from .sources import said_by
from .table import DataError
from .unpacking import is_packed, unpacking

__all__ = ["SvmlightRows"]

#: Bytes of a piece.
_PIECE = 16_000_000
#: More features than any file has.
_WIDEST = 2**31 - 1
#: Rows with more of their cells filled than this are smaller and faster as plain rows.
_DENSE = 0.25


class SvmlightRows(NumberRows):
    """The features of a svmlight file: sparse rows, or plain ones where most cells are filled.

    The first pass finds the labels (:attr:`labels`), how many rows and features there are, and whether features are
    numbered from 0 or from 1.

    Parameters
    ----------
    file : Chunked
        One file.
    features : int, optional
        At least so many.
    zero_based : bool, optional
        Whether the first feature has the number 0. By default where that number occurs.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, file: Chunked, features: int | None = None, zero_based: bool | None = None) -> None:
        self.file, self.names = file, None
        labels, widest, least, filled = [np.empty(0)], 0, 1, 0
        for rows, y in self._pieces(_WIDEST):
            labels.append(y)
            widest, filled = max(widest, int(rows.indices.max(initial=-1)) + 1), filled + rows.nnz
            least = min(least, int(rows.indices.min(initial=1)))
        self.labels: Array = np.concatenate(labels)
        if not self.labels.size:
            raise DataError(f"{file.shown} has no rows.")
        self.first = 0 if (least == 0 if zero_based is None else zero_based) else 1
        if least < self.first:
            raise DataError(
                f"{file.shown} has a feature with the number 0, but features should be numbered from 1; read it with "
                "zero_based=True (--zero-based)."
            )
        self.n_columns = max(widest - self.first, features or 0)
        self._dense = filled >= _DENSE * self.labels.size * max(1, self.n_columns)

    def __len__(self) -> int:
        return self.labels.size

    def chunks(self) -> Iterator[Any]:
        for rows, _ in ahead(self._pieces(int(self.n_columns or 0) + self.first)):
            part = rows[:, self.first :]
            yield part.toarray() if self._dense else part

    def _pieces(self, features: int) -> Iterator[tuple[Any, Array]]:
        """The rows and labels of each piece; a piece ends with the line that its last byte is in."""
        from sklearn.datasets import load_svmlight_file

        self.file.refuse_changed()
        path: Path = self.file.paths[0]
        pieces = _unpacked_pieces(path) if is_packed(path) else _pieces_in_place(path)
        for piece in pieces:
            try:
                yield load_svmlight_file(**piece, n_features=features, zero_based=True)
            except (ValueError, OverflowError, IndexError) as error:
                raise DataError(f"{self.file.shown} is not a svmlight file: {said_by(error)}.") from None


def _pieces_in_place(path: Path) -> Iterator[dict[str, Any]]:
    for offset in range(0, path.stat().st_size, _PIECE):
        yield {"f": str(path), "offset": offset, "length": _PIECE}


def _unpacked_pieces(path: Path) -> Iterator[dict[str, Any]]:
    """Whole lines of a packed file, which has no places to begin at but its first byte."""
    with unpacking(path) as file:
        while lines := file.readlines(_PIECE):
            yield {"f": io.BytesIO(b"".join(lines))}
