"""The bytes of a file, unpacked, within a limit. Files are not trusted: a small archive may unpack to anything."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ..checks.parameters import bytes_of, size_in_words
from ..messages import guide
from .table import DataError, Options

_PIECE = 1 << 20
_PACKED: dict[bytes, tuple[str, Any]] = {
    b"\x1f\x8b": ("gzip", gzip.open),
    b"BZh": ("bzip2", bz2.open),
    b"\xfd7zXZ\x00": ("xz", lzma.open),
}
_SUFFIXES = (".gz", ".bz2", ".xz")
#: How files that are no tables begin, and what to do with them.
_FOREIGN = {
    b"\xd0\xcf\x11\xe0": "is an old Excel workbook; save it as .xlsx, or the sheet as CSV",
    b"7z\xbc\xaf\x27\x1c": "is a 7z archive; unpack it first",
    b"Rar!": "is a RAR archive; unpack it first",
    b"\x28\xb5\x2f\xfd": "is packed with zstd; unpack it first, or pack it with gzip, bzip2 or xz",
    b"%PDF": "is a PDF document, not a table",
    b"\x89PNG": "is a picture, not a table",
    b"\xff\xd8\xff": "is a picture, not a table",
    b"\x7fELF": "is a program, not a table",
    b"\x89HDF": "is an HDF5 file; export the table as CSV or Parquet",
    b"\x93NUMPY": "is a NumPy file; load it with numpy.load and fit the estimators directly",
    b"\x80\x04\x95": "is a pickle, which is never loaded: it could run any program",
    b"\x80\x05\x95": "is a pickle, which is never loaded: it could run any program",
}


class MissingFileError(DataError):
    """There is no file of that name."""


@dataclass(frozen=True)
class Source:
    """A file in memory: what messages call it, its bytes unpacked, its digest as it lies on disk.

    ``member`` is the name that it has in an archive at ``path``, where it comes from one.
    """

    path: str
    data: bytes
    digest: str
    member: str = ""

    @property
    def suffix(self) -> str:
        """The suffix that tells the format, in small letters: ``.csv`` of ``a.csv.gz``."""
        return suffix_of(self.member or self.path)

    @property
    def text(self) -> str:
        """The file as text in UTF-8, or an error that names the line which is none."""
        return as_text(self.data, self.shown)

    @property
    def name(self) -> str:
        return Path(self._unpacked_name).stem if self._unpacked_name != "-" else "standard input"

    @property
    def shown(self) -> str:
        """The file as messages name it."""
        archive = repr(Path(self.path).name) if self.path != "-" else "the standard input"
        return f"{Path(self.member).name!r} in {archive}" if self.member else archive

    @property
    def _unpacked_name(self) -> str:
        path = Path(self.member or self.path)
        return path.stem if path.suffix.lower() in _SUFFIXES else path.name


def suffix_of(path: str | Path) -> str:
    """The suffix that tells the format of a file, packed or not, in small letters.

    Examples
    --------
    >>> suffix_of("a.CSV.gz"), suffix_of("a")
    ('.csv', '')
    """
    place = Path(path)
    return (Path(place.stem) if place.suffix.lower() in _SUFFIXES else place).suffix.lower()


def open_source(path: str | Path, max_bytes: int | str = "1GB") -> Source:
    """Read and unpack a file (``"-"``: the standard input)."""
    path, limit = str(path), bytes_of(max_bytes)
    shown = repr(Path(path).name) if path != "-" else "the standard input"
    raw = _read_within(sys.stdin.buffer, limit, shown, "is") if path == "-" else raw_bytes(path, limit, shown)
    digest = hashlib.sha256(raw).hexdigest()
    return Source(path, unpacked(raw, limit, shown), digest)


def said_by(error: BaseException) -> str:
    """What a library says of a damaged file, in part of a line.

    Examples
    --------
    >>> said_by(ValueError("bad magic number.\\nat byte 7")), said_by(EOFError())
    ('bad magic number', 'EOFError')
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].partition(". ")[0][:200].rstrip(". ")


def line_of(data: bytes, position: int) -> int:
    """The line in which a byte stands, from 1."""
    return data.count(b"\n", 0, position) + 1


def as_text(data: bytes, name: str) -> str:
    """Bytes of a file in UTF-8 as text; ``name`` is what messages call the file."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = line_of(data, error.start)
        raise DataError(f"{name}, line {line}: this is no text in UTF-8; convert the file first.") from None


def raw_bytes(path: str, limit: int, shown: str) -> bytes:
    place = Path(path)
    try:
        if place.is_dir():
            raise DataError(f"{path!r} is a folder; name a file in it.")
        if place.exists() and not place.is_file():
            raise DataError(f"{path!r} is no ordinary file; use - to read what another program writes.")
        with place.open("rb") as file:
            return _read_within(file, limit, shown, "is")
    except FileNotFoundError:
        raise MissingFileError(f"there is no file {path!r}.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{path!r} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def unpacked(raw: bytes, limit: int, shown: str) -> bytes:
    """The bytes inside gzip, bzip2 or xz, refused where they cannot be a table."""
    data = _inside(raw, limit, shown)
    for start, what in _FOREIGN.items():
        if data.startswith(start):
            raise DataError(f"{shown} {what}.")
    if not data.strip():
        raise DataError(f"{shown} is empty.")
    return data


def _inside(raw: bytes, limit: int, shown: str) -> bytes:
    for start, (kind, reader) in _PACKED.items():
        if raw.startswith(start):
            try:
                with reader(io.BytesIO(raw)) as file:
                    return _read_within(file, limit, shown, "unpacks to")
            except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
                what = "it ends too early" if isinstance(error, EOFError) else str(error).rstrip(".")
                raise DataError(f"{shown} is a damaged {kind} file: {what}; fetch it again.") from None
    return raw


def _read_within(file: BinaryIO, limit: int, shown: str, verb: str) -> bytes:
    found = io.BytesIO()  # which hands its bytes over without a copy
    while piece := file.read(_PIECE):
        if found.tell() + len(piece) > limit:
            raise DataError(f"{shown} {verb} more than {limit:,} bytes; allow more with max_bytes (--max-bytes).")
        found.write(piece)
    return found.getvalue()


# Packed files of any size, unpacked as they are read.


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


# Columns of numbers with a few mistakes in them, rather than columns of categories.


#: Of so many cells at least, fewer than this share that are no numbers are mistakes.
_ENOUGH_MISTAKES, _FEW_MISTAKES = 20, 0.05


def refuse_few_mistakes(place: str, name: str, shown: str, wrong: int, right: int) -> None:
    """Raise where nearly all cells of a column are numbers; place and text are those of the first cell that is none.

    Examples
    --------
    >>> refuse_few_mistakes("'a.csv', line 2", "age", "x", wrong=7, right=30)
    >>> refuse_few_mistakes("'a.csv', line 2", "age", "x", wrong=1, right=30)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mercer.io.table.DataError: 'a.csv', line 2, column 'age': 'x' is not a number, but the other 30 cells are; ...
    """
    if wrong + right < _ENOUGH_MISTAKES or wrong > _FEW_MISTAKES * (wrong + right):
        return
    others = f" and {wrong - 1} more" if wrong > 1 else ""
    raise DataError(
        f"{place}, column {name!r}: {shown!r}{others} is not a number, but the other {right} cells are; correct it, "
        f"name it as a word for missing (--missing), or read the column as categories (--as {name!r}=category)."
    )


# What reading a file may take in memory: estimated from what is in it, and refused in one sentence beyond the limit.
#
# Bytes on disk say little about bytes in memory: a cell of one byte becomes a number of eight, a line of two a list of
# fifty-six. Each reader counts what it makes (cells, rows, items, words) times what one of them takes, as measured.


#: Bytes that are there for every file: nobody means to refuse a small table.
_ALWAYS = 1_000_000


def refuse_beyond(needed: float, shown: str, options: Options) -> None:
    """Raise where reading would take more than ``max_bytes``, the bytes of the file among them.

    Examples
    --------
    >>> from mercer.io.table import Options
    >>> refuse_beyond(3e9, "'a.csv'", Options())
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: 'a.csv' would take about 3.0 GB in memory, and 1.0 GB are allowed; allow more with \
max_bytes (--max-bytes), or read fewer columns or rows (guide: ideas/scaling).
    """
    limit = bytes_of(options.max_bytes)
    if needed > limit + _ALWAYS:
        raise DataError(
            f"{shown} would take about {size_in_words(needed)} in memory, and {size_in_words(limit)} are allowed; "
            f"allow more with max_bytes (--max-bytes), or read fewer columns or rows {guide('memory')}."
        )
