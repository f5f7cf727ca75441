"""Files that are either written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .table import DataError

__all__ = ["refuse_unwritable", "write_whole"]


def refuse_unwritable(path: str | Path) -> None:
    """Find out before hours of work whether its result can be stored."""
    path = Path(path)
    if str(path) == "-":
        raise DataError("'-' stands for the standard output, which takes predictions only; name a file to write.")
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder; name a file to write.")
    if not path.parent.is_dir():
        raise DataError(f"{str(path)!r} cannot be written: there is no folder {str(path.parent)!r}.")
    if not os.access(path.parent, os.W_OK):
        raise DataError(f"{str(path)!r} cannot be written: its folder is read-only.")


def write_whole(path: str | Path, data: bytes | str | Iterator[str]) -> None:
    """Write a file under another name, then rename it: a full disk or a killed process leaves the old file as it was.

    A text may come in pieces, which are written as they come.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> write_whole(path, "one")
    >>> path.read_text()
    'one'
    """
    path = Path(path)
    refuse_unwritable(path)
    pieces = [data] if isinstance(data, (bytes, str)) else data
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                for piece in pieces:
                    file.write(piece.encode() if isinstance(piece, str) else piece)
                file.flush()
                os.fsync(file.fileno())
            _usual_mode(name, path)
            os.replace(name, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be written: {error.strerror or error}.") from None


def _usual_mode(name: str, path: Path) -> None:
    """Give a temporary file, which only its owner may read, the permissions of the file it replaces, or usual ones."""
    if path.exists():
        mode = path.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    os.chmod(name, mode)
