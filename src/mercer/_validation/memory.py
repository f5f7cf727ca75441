"""How much memory a piece of work may take, as users say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real

from .parameters import shown

__all__ = ["bytes_of", "in_all", "memory_in_words", "size_in_words"]

_UNITS = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}

#: More bytes than any machine has.
_MOST = 2**60

#: What all work that is under way may take together, as it was given.
_in_all: ContextVar[int | float | str | None] = ContextVar("memory_in_all", default=None)


def bytes_of(memory: int | float | str) -> int:
    """A memory limit in bytes, from a number or a text such as ``"500MB"`` or ``"1.5 GiB"``; see :func:`in_all`.

    Examples
    --------
    >>> bytes_of("1.5GB")
    1500000000
    """
    limit = _in_all.get()
    return _size(memory) if limit is None else min(_size(memory), _size(limit))


@contextmanager
def in_all(memory: int | float | str) -> Iterator[None]:
    """Inside this block no limit is larger: a search allows its fits no more than it may take itself.

    Examples
    --------
    >>> with in_all("1MB"):
    ...     bytes_of("1GB"), bytes_of("1kB"), memory_in_words("1GB")
    (1000000, 1000, "memory='1MB' of the search")
    """
    outer = _in_all.get()
    token = _in_all.set(memory if outer is None or _size(memory) < _size(outer) else outer)
    try:
        yield
    finally:
        _in_all.reset(token)


def memory_in_words(memory: int | float | str) -> str:
    """A limit as messages name it."""
    return f"memory={memory!r}" if bytes_of(memory) == _size(memory) else f"memory={_in_all.get()!r} of the search"


def _size(memory: int | float | str) -> int:
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)\s*", memory)
        if match and match[2].lower() in _UNITS:
            size = min(float(match[1]) * _UNITS[match[2].lower()], float(_MOST))
            if size >= 1:
                return int(size)
    elif isinstance(memory, Real) and not isinstance(memory, bool) and 1 <= memory < float("inf"):
        return int(min(memory, _MOST))
    raise ValueError(f"memory={shown(memory)} is not a size; give bytes or a text such as '500MB' or '2GB'.")


def size_in_words(size: float) -> str:
    """So many bytes in the unit that suits them.

    Examples
    --------
    >>> size_in_words(960), size_in_words(48_000), size_in_words(1_440_000), size_in_words(3.2e9)
    ('960 bytes', '48.0 kB', '1.4 MB', '3.2 GB')
    """
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size:.0f} bytes"
