"""What is fuzzed: every reader of files, what unpacks them, the text of kernels, and model files.

A target takes bytes. It may return, or say in one line what is wrong with them (``ValueError``, of which ``DataError``
is one); anything else that it raises is a fault.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable

from mercer.io.formats import FORMATS
from mercer.io.opening import _Opened, _table
from mercer.io.options import Options
from mercer.io.sources import Source, unpacked
from mercer.kernels.text_parser import parse
from mercer.model_files import load

__all__ = ["TARGETS"]

#: What reading may take: small, so that whatever grows is seen.
_LIMIT = 20_000_000


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


def _any_file(data: bytes) -> object:
    """As :func:`mercer.read` finds out by itself, archives too."""
    from mercer import read

    path = os.path.join(tempfile.gettempdir(), f"mercer-fuzz-{os.getpid()}")
    with open(path, "wb") as file:
        file.write(data)
    return read(path, unlabelled_rows="keep", max_bytes=_LIMIT)


def _model(data: bytes) -> object:
    path = os.path.join(tempfile.gettempdir(), f"mercer-fuzz-{os.getpid()}.safetensors")
    with open(path, "wb") as file:
        file.write(data)
    return load(path, max_bytes=_LIMIT)


#: Every target by its name.
TARGETS: dict[str, Callable[[bytes], None]] = {
    "kernel": _once(lambda data: parse(data.decode("utf-8", "replace"))),
    **{name: _once(_reader(name, entry.suffixes[0])) for name, entry in FORMATS.items()},
    "file": _once(_any_file),
    "model": _once(_model),
}
