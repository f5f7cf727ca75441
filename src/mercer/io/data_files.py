"""Which files of a folder or an archive hold data, and which are there to be read by people."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from .._validation.wording import enumeration
from .formats import FORMATS
from .sources import suffix_of
from .tu_parts import part_of

__all__ = ["data_files", "left_out_in_words"]

#: Suffixes that published tables have besides those of the formats, surest first.
_LIKELY = (".data", ".dat", ".txt")
#: Of which a folder, where anything may lie, is believed only these.
_SURE = (".data",)
_DOCUMENTATION = re.compile(
    r"(readme|index|licen[cs]e|about|changelog|citation)(\..*)?|.*\.(md|names|html?|pdf|rst|docx?|py|r|sha256|md5)",
    re.IGNORECASE,
)


def _with_data(names: Sequence[str]) -> list[str]:
    """Those that are neither folders, hidden nor documentation."""
    return [
        name
        for name in names
        if not name.endswith("/")
        and not name.startswith("__MACOSX")
        and not PurePosixPath(name).name.startswith(".")
        and not _DOCUMENTATION.fullmatch(PurePosixPath(name).name)
    ]


def data_files(names: Sequence[str], packed: bool = True) -> list[str]:
    """Those of some files that hold data: by their suffixes, or else the only file there is.

    Files that were ``packed`` together are more likely to be data than those of a folder, where anything may lie.

    Examples
    --------
    >>> data_files(["a/iris.data", "a/iris.names", "__MACOSX/._x"]), data_files(["README.md", "x.csv", "y.csv.gz"])
    (['a/iris.data'], ['x.csv', 'y.csv.gz'])
    """
    possible = _with_data(names)
    graphs = [name for name in possible if part_of(PurePosixPath(name).name) is not None]
    if graphs:
        return graphs
    known = {suffix for entry in FORMATS.values() for suffix in entry.suffixes}
    for suffixes in (known, *({suffix} for suffix in (_LIKELY if packed else _SURE))):
        found = [name for name in possible if suffix_of(name) in suffixes]
        if found:
            return found
    return possible if packed and len(possible) == 1 else []


def left_out_in_words(names: Sequence[str], place: str, packed: bool = True) -> list[str]:
    """A note on files that might hold data too, and were not read.

    Examples
    --------
    >>> left_out_in_words(["adult.data", "adult.test", "adult.names"], "'adult.zip'")
    ["'adult.zip' also holds 'adult.test', which was not read."]
    """
    read = set(data_files(names, packed))
    others = [repr(PurePosixPath(name).name) for name in _with_data(names) if name not in read]
    if not others or not read or any(part_of(PurePosixPath(name).name) for name in read):
        return []
    return [f"{place} also holds {enumeration(others, 4)}, which {'was' if len(others) == 1 else 'were'} not read."]
