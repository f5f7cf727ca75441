"""Text for terminals."""

from __future__ import annotations

from typing import Any

__all__ = ["printable"]


def printable(text: Any, longest: int = 10_000) -> str:
    r"""Text that cannot steer a terminal: control characters, which files may bring along, are replaced.

    Examples
    --------
    >>> printable("red\x1b[31m") == "red\ufffd[31m"
    True
    """
    shown = "".join(letter if letter.isprintable() or letter in "\n\u00a0\u202f" else "\ufffd" for letter in str(text))
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"
