"""The files that a command is to write, looked at before it begins."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..io.table import DataError

__all__ = ["refuse_outputs"]


def refuse_outputs(
    outputs: Iterable[str | Path | None], inputs: Iterable[Any] = (), remedy: str = "name a file to write"
) -> None:
    """Refuse what could not be stored after the work, and what would destroy a file that is read for it.

    Parameters
    ----------
    outputs : paths, or None where none was asked for
    inputs : places of rows, a list of them, or model files
    remedy : str
        What to do where a path is nothing that a file may replace.
    """
    from ..io.writing import refuse_unwritable

    read = {os.path.realpath(file) for place in inputs for file in _files(place)}
    written: set[str] = set()
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


def _files(place: Any) -> list[str]:
    """The files that are read as one place or a list of them: of ``book.xlsx#March`` the book."""
    if isinstance(place, (list, tuple)):
        return [file for each in place for file in _files(each)]
    if not isinstance(place, str):
        return []
    return [file for file in {place, place.partition("#")[0]} if os.path.isfile(file)]
