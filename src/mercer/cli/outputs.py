"""The files that a command is to write, looked at before it begins."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..io.table import DataError
from .reading_paths import files_read

__all__ = ["refuse_outputs"]


def refuse_outputs(outputs: Iterable[str | Path | None], remedy: str = "name a file to write") -> None:
    """Refuse what could not be stored after the work, and what would destroy a file that the command reads.

    Parameters
    ----------
    outputs : paths, or None where none was asked for
    remedy : str
        What to do where a path is nothing that a file may replace.
    """
    from ..io.writing import refuse_unwritable

    read, written = files_read(), set[str]()
    for path in outputs:
        if path is None:
            continue
        refuse_unwritable(path, remedy)
        place = os.path.realpath(path)
        if place in read:
            raise DataError(f"{str(path)!r} is read by this command and would be lost; name another file to write.")
        if place in written:
            raise DataError(f"{str(path)!r} is to be written twice; name two files.")
        written.add(place)
