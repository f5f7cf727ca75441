"""Parameters, checked: what counts as a number, as a truth value, as one of some words. The one place for it.

Numbers are Python's and NumPy's own. Values that only look like one (text, ``Fraction``, ``Decimal``, truth values) and
whole numbers too large for a float are refused in one sentence, rather than by whatever would stumble over them later.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

__all__ = ["choice", "is_number", "is_whole", "number", "shown", "size", "truth", "whole_number"]

#: Larger numbers than this count as no limit at all, and their products overflow.
_LARGEST = 1e300
#: Lengths, depths and rounds beyond this take for ever and tell nothing more.
_LARGEST_SIZE = 1000
_LONG = 60


def is_number(value: Any) -> bool:
    """Whether a value is a real number that a float can hold, and not a truth value.

    Examples
    --------
    >>> is_number(2), is_number(np.float32(0.5)), is_number(True), is_number("2"), is_number(10**400)
    (True, True, False, False, False)
    """
    if isinstance(value, (int, np.integer)):
        return not isinstance(value, bool) and abs(int(value)) <= sys.float_info.max
    return isinstance(value, (float, np.floating))


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number.

    Examples
    --------
    >>> is_whole(2.0), is_whole(2.5), is_whole(float("nan")), is_whole(True), is_whole(10**30)
    (True, False, False, False, True)
    """
    return is_number(value) and math.isfinite(value) and value == int(value)


def whole_number(text: str) -> int:
    """A whole number as JSON and command lines write it; Python reads none of thousands of digits.

    Examples
    --------
    >>> whole_number("-12")
    -12
    >>> whole_number("9" * 5001)
    Traceback (most recent call last):
    ValueError: a number of 5,001 digits is longer than any that can be read; correct it
    """
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"a number of {len(text):,} digits is longer than any that can be read; correct it") from None


def shown(value: Any) -> str:
    """A value as messages show it, cut where it is long."""
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**_LONG else "a number of too many digits"
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


def number(
    owner: Any, name: str, low: float = 0.0, high: float = _LARGEST, *, whole: bool = False, strict: bool = True
) -> None:
    """Check that a parameter is a finite number above ``low``, or from it on where not ``strict``, up to ``high``."""
    value = getattr(owner, name)
    kind = "a whole number" if whole else "a number"
    real = (is_whole if whole else is_number)(value)
    fine = real and -_LARGEST < value < _LARGEST
    if real and high < value < np.inf:
        raise ValueError(f"{type(owner).__name__}: {name} must be {kind} of at most {high:g}, got {shown(value)}.")
    if not (fine and (value > low if strict else value >= low)):
        bound = f" {'greater than' if strict else 'of at least'} {low:g}" if low > -_LARGEST else ""
        raise ValueError(f"{type(owner).__name__}: {name} must be {kind}{bound}, got {shown(value)}.")


def size(owner: Any, name: str, low: int, high: int = _LARGEST_SIZE) -> None:
    """Check that a parameter is a length, a depth or a number of rounds: whole, and no larger than any use of it."""
    number(owner, name, low, high, whole=True, strict=False)


def truth(owner: Any, name: str) -> None:
    """Check that a parameter is true or false."""
    value = getattr(owner, name)
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{type(owner).__name__}: {name} must be True or False, got {shown(value)}.")


def choice(owner: Any, name: str, options: tuple[Any, ...]) -> None:
    """Check that a parameter is one of some words or numbers."""
    value = getattr(owner, name)
    plain = value.item() if isinstance(value, np.generic) else value
    if not any(type(plain) is type(option) and plain == option for option in options):
        words = ", ".join(map(repr, options))
        raise ValueError(f"{type(owner).__name__}: {name} must be one of {words}; got {shown(value)}.")
