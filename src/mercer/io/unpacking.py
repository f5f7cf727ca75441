"""Packed files of any size, unpacked as they are read."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from .sources import said_by
from .table import DataError

__all__ = ["is_packed", "unpacking"]

_OPENED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}


def is_packed(path: Path) -> bool:
    """Whether the name says so.

    Examples
    --------
    >>> is_packed(Path("a.svm.gz")), is_packed(Path("a.svm"))
    (True, False)
    """
    return path.suffix.lower() in _OPENED


@contextmanager
def unpacking(path: Path) -> Iterator[BinaryIO]:
    """A packed file, open for reading what is in it."""
    try:
        with _OPENED[path.suffix.lower()](path, "rb") as file:
            yield file
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path.name!r} is damaged: {said_by(error)}; fetch it again.") from None
