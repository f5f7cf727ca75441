"""Parameters, checked: what counts as a number, as a truth value, as one of some words. The one place for it.

Numbers are Python's and NumPy's own. Values that only look like one (text, ``Fraction``, ``Decimal``, truth values) and
whole numbers too large for a float are refused in one sentence, rather than by whatever would stumble over them later.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import update_wrapper
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

__all__ = [
    "bytes_of",
    "choice",
    "in_all",
    "is_number",
    "is_whole",
    "memory_in_words",
    "number",
    "shown",
    "size",
    "size_in_words",
    "truth",
    "whole_number",
]

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
    for option in options:
        if type(plain) is type(option) and plain == option:
            return
    words = ", ".join(map(repr, options))
    raise ValueError(f"{type(owner).__name__}: {name} must be one of {words}; got {shown(value)}.")


# How much memory a piece of work may take, as users say it.


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


# Methods that some estimators have and others have not, depending on their parameters.
#
# scikit-learn asks ``hasattr`` before it uses ``predict_proba``, ``decision_function`` or ``partial_fit``, and its
# ``available_if`` answers. That says only that there is no such method; the decorators here also say why, and what to
# do about it.


class _Offered:
    """A method behind a check: scikit-learn's own descriptor, with the reason of a refusal as its message."""

    def __init__(self, method: Callable, check: Callable[[Any], Any]) -> None:
        self.conditional = available_if(check)(method)
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        try:
            return self.conditional.__get__(estimator, owner)
        except AttributeError as error:
            if error.__cause__ is None:
                raise
            raise AttributeError(str(error.__cause__)) from error.__cause__


def offered_if(check: Callable[[Any], Any]) -> Callable[[Callable], Any]:
    """A method that is there if ``check(estimator)`` is true; where the check raises, its words are the reason.

    Examples
    --------
    >>> def is_open(shop):
    ...     if not shop.open:
    ...         raise AttributeError("the shop is closed; come tomorrow.")
    ...     return True
    >>> class Shop:
    ...     open = False
    ...     @offered_if(is_open)
    ...     def buy(self):
    ...         return "bread"
    >>> hasattr(Shop(), "buy")
    False
    """
    return lambda method: _Offered(method, check)


def offered_as(inner: Callable[[Any], Any]) -> Callable[[Callable], Any]:
    """A method of a wrapper that is there if ``inner(wrapper)`` has one of the same name, else for its reason not."""
    return lambda method: _Offered(method, lambda wrapper: getattr(inner(wrapper), method.__name__))
