"""What is fuzzed: every reader of files, what unpacks them, the text of kernels, journals and model files.

Whatever is behind a checksum has two targets: one takes the bytes as they are, the other puts the right checksum to
them, so that what comes behind is reached. A target may return, or say in one line what is wrong with its bytes
(``ValueError``, of which ``DataError`` is one); anything else that it raises is a fault.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

from mercer.io.formats import FORMATS
from mercer.io.reading import _Opened
from mercer.io.reading import _table_of_files as _table
from mercer.io.sources import Source, unpacked
from mercer.io.table import Options
from mercer.kernels.reading import parse
from mercer.model_files import load
from mercer.model_files.packing import Content, content_of, file_of
from mercer.search import journal

from .seeds import JOURNAL_ROWS, JOURNAL_SEARCH, model_file

__all__ = ["TARGETS"]

#: What reading may take: small, so that whatever grows is seen.
_LIMIT = 20_000_000
#: Where files are written, in memory if that can be.
_FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir()


def _once(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    """The target that reads bytes, and forgives it one line."""

    def target(data: bytes) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(data)
            except ValueError as error:
                if "\n" in str(error).strip():
                    raise AssertionError(f"more than one line: {str(error)[:200]!r}") from error

    return target


def _reader(name: str, suffix: str) -> Callable[[bytes], object]:
    options = Options(format=name, unlabelled_rows="keep", max_bytes=_LIMIT)

    def read(data: bytes) -> object:
        source = Source(f"fuzz{suffix}", unpacked(data, _LIMIT, "'fuzz'"), "")
        return _table([_Opened(source, None)], [f"fuzz{suffix}"], options)

    return read


def _on_disk(data: bytes, suffix: str = "") -> str:
    """The path of a file with these bytes, always the same."""
    path = os.path.join(_FOLDER, f"mercer-fuzz-{os.getpid()}{suffix}")
    with open(path, "wb") as file:
        file.write(data)
    return path


def _any_file(data: bytes) -> object:
    """As :func:`mercer.read` finds out by itself, archives too."""
    from mercer import read

    return read(_on_disk(data), unlabelled_rows="keep", max_bytes=_LIMIT)


def _model(data: bytes) -> object:
    return load(_on_disk(data, ".safetensors"), max_bytes=_LIMIT)


@cache
def _whole_model() -> Content:
    return content_of(model_file(), "'fuzz'", _LIMIT)


def _model_text(data: bytes) -> object:
    """A model whose text is other than it was, and whose checksum is right."""
    return _model(file_of(data.decode("utf-8", "replace"), _whole_model().arrays))


def _journal(data: bytes) -> object:
    found = journal.Journal(_on_disk(data, ".journal"), JOURNAL_SEARCH, JOURNAL_ROWS)
    found.close()
    return found.known


@cache
def _new_journal() -> Any:
    found = journal.Journal(_on_disk(b"", ".new"), JOURNAL_SEARCH, JOURNAL_ROWS)
    found.close()
    return found


def _journal_lines(data: bytes) -> object:
    """A journal whose lines have their checksums."""
    new = _new_journal()
    lines = [journal._line(line, new._search) for line in data.decode("utf-8", "replace").split("\n")]
    return _journal(b"".join([new._first, new._counts(1), *lines]))


#: Every target by its name.
TARGETS: dict[str, Callable[[bytes], None]] = {
    "kernel": _once(lambda data: parse(data.decode("utf-8", "replace"))),
    **{name: _once(_reader(name, entry.suffixes[0])) for name, entry in FORMATS.items()},
    "file": _once(_any_file),
    "model": _once(_model),
    "model_text": _once(_model_text),
    "journal": _once(_journal),
    "journal_lines": _once(_journal_lines),
}
