"""What the library says while it works, warnings and refusals, as sentences for whoever asked."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["hearing", "in_a_sentence", "listening"]

_LONGEST = 500
_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)


@contextmanager
def listening() -> Iterator[None]:
    """Inside this block, warnings of every thread go to the :func:`hearing` that they come up in.

    ``warnings.catch_warnings`` is for one thread alone: what it changes, all threads see.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        usual = warnings.showwarning

        def note(message: Any, category: Any, *place: Any, **more: Any) -> None:
            notes = _notes.get()
            if notes is None:
                usual(message, category, *place, **more)
            elif issubclass(category, UserWarning) and str(message) not in notes:
                notes.append(str(message))

        warnings.showwarning = note
        yield


@contextmanager
def hearing() -> Iterator[list[str]]:
    """Inside this block, the list collects warnings in one sentence each, where somebody is :func:`listening`."""
    notes: list[str] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def in_a_sentence(error: Exception) -> str:
    """Why something is refused; of what should not have happened, its kind alone.

    Examples
    --------
    >>> in_a_sentence(ValueError("C should be\\n a number.")), in_a_sentence(KeyError("secret"))
    ('C should be a number.', 'this went wrong here (KeyError); please report it.')
    """
    if not isinstance(error, ValueError):
        return f"this went wrong here ({type(error).__name__}); please report it."
    words = " ".join(str(error).split())
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
