"""Text for terminals."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["printable", "printable_json"]


def printable(text: Any, longest: int | None = 10_000) -> str:
    r"""Text that cannot steer a terminal: control characters, which files may bring along, are replaced.

    Examples
    --------
    >>> printable("red\x1b[31m") == "red\ufffd[31m"
    True
    """
    shown = "".join(letter if letter.isprintable() or letter in "\n\u00a0\u202f" else "\ufffd" for letter in str(text))
    return shown if longest is None or len(shown) <= longest else shown[: longest - 1] + "…"


def printable_json(value: Any, **options: Any) -> str:
    r"""A value as JSON without any letter that could steer a terminal: numbers stand for those in it.

    Examples
    --------
    >>> print(printable_json({"red\x1b[31m": "\x7f"}))
    {"red\u001b[31m": "\u007f"}
    """
    return json.dumps(value, allow_nan=False, **options).replace("\x7f", "\\u007f")
