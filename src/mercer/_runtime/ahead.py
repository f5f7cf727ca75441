"""Reading on while somebody works on what was read."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor
from typing import Any, TypeVar

from .parallel import wait_for

__all__ = ["ahead"]

T = TypeVar("T")

_END: Any = object()


def ahead(parts: Iterator[T]) -> Iterator[T]:
    """The same parts, of which the next one is made by another thread in the meantime; never more than one.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(1) as reader:
        coming = reader.submit(next, parts, _END)
        while True:
            wait_for([coming], FIRST_EXCEPTION)
            part = coming.result()
            if part is _END:
                return
            coming = reader.submit(next, parts, _END)
            yield part
