"""Numbers and words as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

#: Letters of a name from the data that are kept.
_LONGEST = 200


def number(value: Any, digits: int = 6) -> float | None:
    """A number to some significant digits; ``None`` where there is none.

    Examples
    --------
    >>> number(0.123456789), number(float("nan"))
    (0.123457, None)
    """
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def numbers(values: Iterable[Any], digits: int = 6) -> list[float | None]:
    """Each of some numbers to some significant digits."""
    return [number(value, digits) for value in values]


def text(value: Any) -> str:
    """A name from the data: one line, without control characters, and not endless.

    Examples
    --------
    >>> text("a\\nb\\x00")
    'a b\\ufffd'
    """
    words = " ".join(str(value).split())
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in words)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def setting(value: Any) -> Any:
    """The value of a parameter: JSON's own kinds as they are, all else as text."""
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    return number(value) if isinstance(value, float) else str(value)
