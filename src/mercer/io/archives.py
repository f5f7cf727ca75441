"""Zip archives, as people publish and send tables: which of the files inside are data, within a limit on their size."""

from __future__ import annotations

import io
import lzma
import struct
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import PurePosixPath

from .._validation.wording import enumeration, nearest
from .data_files import data_files
from .sources import Source, said_by, unpacked
from .table import DataError

__all__ = ["is_zip", "members", "names_in"]

#: Office documents are zip archives; each has a file that no other has.
_DOCUMENTS = {
    "xl/workbook.bin": "is a binary Excel workbook; save it as .xlsx, or the sheet as CSV",
    "word/document.xml": "is a Word document; save its table as CSV",
    "ppt/presentation.xml": "is a PowerPoint document, not a table",
    "content.xml": "is an OpenDocument file; save the sheet as .xlsx or CSV",
}
_FAULTS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, OSError, NotImplementedError, RuntimeError, ValueError, LookupError,
)  # fmt: skip


def is_zip(source: Source) -> bool:
    """Whether a file is a zip archive, of whatever."""
    return source.data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def names_in(source: Source) -> list[str]:
    """The names of the files in a zip archive; none where it cannot be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return archive.namelist()
    except _FAULTS:
        return []


def members(source: Source, limit: int, wanted: str | None = None) -> list[Source]:
    """The data files of a zip archive; one of them where it is ``wanted``.

    An archive is read, never extracted, so that it does not matter where its names point to.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            names = archive.namelist()
            for name, what in _DOCUMENTS.items():
                if name in names:
                    raise DataError(f"{source.shown} {what}.")
            chosen = data_files(names) if wanted is None else [_named(wanted, names, source)]
            if not chosen:
                inside = enumeration(map(repr, names), 6)
                raise DataError(
                    f"{source.shown} holds {inside}; name the one that is data after a #, as in archive.zip#data.csv."
                    if names
                    else f"{source.shown} is an empty archive."
                )
            found = []
            for info in (archive.getinfo(name) for name in chosen):
                found.append(_member(archive, info, source, limit))
                limit -= len(found[-1].data)
            return found
    except DataError:
        raise
    except _FAULTS as error:
        raise DataError(f"{source.shown} is a damaged zip archive: {said_by(error)}; fetch it again.") from None


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Source, limit: int) -> Source:
    member = Source(source.path, b"", source.digest, info.filename)
    if info.flag_bits & 1:
        raise DataError(f"{member.shown} is locked with a password; unpack it first.")
    if info.file_size > limit:  # what zipfile reads at most, so that no archive can say less than it unpacks to
        raise DataError(
            f"{source.shown} unpacks to more than {limit:,} bytes; allow more with max_bytes (--max-bytes)."
        )
    data = unpacked(archive.read(info), limit, member.shown)
    inner = Source(source.path, data, source.digest, info.filename)
    if is_zip(inner) and "xl/workbook.xml" not in names_in(inner):
        raise DataError(f"{member.shown} is itself an archive; unpack the outer one first.")
    return inner


def _named(wanted: str, names: Sequence[str], source: Source) -> str:
    found = [name for name in names if wanted in (name, PurePosixPath(name).name)]
    if not found:
        near = nearest(wanted, names)
        hint = f"it holds {enumeration(map(repr, names), 6)}." if near is None else f"did you mean {near!r}?"
        raise DataError(f"{source.shown} holds no file {wanted!r}; {hint}")
    return found[0]
