"""How much memory the blocks of exact machines take, for those who want to foretell it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["note_block", "watched_blocks"]

#: Items of a block, and the bytes that its workspace then has.
Seen = tuple[int, int]

_watching: list[list[Seen]] = []


@contextmanager
def watched_blocks() -> Iterator[list[Seen]]:
    """A list of all blocks that are made as long as the context lasts: their items, and the bytes in use by then.

    Examples
    --------
    >>> with watched_blocks() as seen:
    ...     note_block(5, 100)
    >>> seen
    [(5, 100)]
    """
    seen: list[Seen] = []
    _watching.append(seen)
    try:
        yield seen
    finally:
        _watching[:] = [each for each in _watching if each is not seen]


def note_block(items: int, nbytes: int) -> None:
    """Tell those who watch."""
    for seen in _watching:
        seen.append((items, nbytes))
