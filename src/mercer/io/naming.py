"""Which files are meant: by a path, a folder, a pattern such as ``data/*.csv``, or several of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from .._validation.wording import enumeration
from .data_files import data_files, left_out_in_words
from .database import is_address, without_password
from .formats import FORMATS
from .table import DataError

__all__ = ["Named", "named", "notes_on", "together"]

#: A file, and the sheet, member or table in it that is asked for.
Named = tuple[str, str | None]


def part_named(path: str, sheet: str | None = None) -> Named:
    """A file and what is meant in it: ``book.xlsx#Sheet2`` is a sheet of a workbook.

    Examples
    --------
    >>> part_named("book.xlsx#Sheet 2"), part_named("book.xlsx", "Sheet 3")
    (('book.xlsx', 'Sheet 2'), ('book.xlsx', 'Sheet 3'))
    """
    front, mark, part = path.rpartition("#")
    if mark and front and part and not os.path.exists(path):
        return front, part
    return path, sheet


def named(source: str, sheet: str | None) -> list[Named]:
    """The files that are meant by a path, a folder or a pattern."""
    if is_address(source):
        raise DataError(f"{without_password(source)!r} is a database, which is read alone; name no other data.")
    if os.path.isdir(source):
        found = [str(Path(source) / name) for name in data_files(_files_in(source), packed=False)]
        if not found:
            folders = [entry.folder.title for entry in FORMATS.values() if entry.folder]
            instead = enumeration(["a file in it", *folders], last="or")
            raise DataError(f"{source!r} is a folder; name {instead}.")
        return [(path, sheet) for path in found]
    if (
        any(mark in source for mark in "*?[")
        and not os.path.exists(source)
        and not os.path.exists(part_named(source)[0])
    ):
        found = sorted(path for path in glob.glob(source, recursive=True) if os.path.isfile(path))
        if not found:
            raise DataError(f"no file matches {source!r}.")
        return [(path, sheet) for path in found]
    return [part_named(source, sheet)]


def _files_in(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir() if path.is_file())


def notes_on(source: str) -> list[str]:
    """What else lies in a folder."""
    return (
        left_out_in_words(_files_in(source), repr(Path(source).resolve().name), packed=False)
        if os.path.isdir(source)
        else []
    )


def together(sources: Sequence[str]) -> str:
    """What several files are called in messages.

    Examples
    --------
    >>> together(["a/x.csv", "a/y.csv", "a/z.csv"])
    "'x.csv' and 2 more files"
    """
    more = len(sources) - 1
    return f"{Path(sources[0]).name!r} and {more} more file{'s' if more != 1 else ''}"
