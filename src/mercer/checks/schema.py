"""What a value from outside must be: a small language in which fields are declared, and checked in one place.

    {"support": wholes("support"), "coef": numbers("scores", "support"), "intercept": numbers("scores")}

Words in brackets are sizes: the first field that names one says how large it is, and all others must agree. The check
is made in one place, :func:`check`, when a file is written as well as when it is read; what a file must hold can be
read off the same lines (``docs/model-files.md`` lists them).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .parameters import is_number, is_whole

__all__ = [
    "Meaning",
    "Sizes",
    "anything",
    "check",
    "choice",
    "flag",
    "instance",
    "labels",
    "list_of",
    "mapping",
    "names",
    "nothing",
    "number",
    "numbers",
    "optional",
    "sparse_numbers",
    "text",
    "tuple_of",
    "whole",
    "wholes",
]

#: Whole numbers in files are counts, places and seeds.
_LARGEST_WHOLE = 2**53
_LONGEST_TEXT = 10_000

#: How large each size is that a field has named.
Sizes = dict[str, int]


@dataclass(frozen=True)
class Meaning:
    """What a field holds, in words and as a test of its value, which enters the sizes that the value tells."""

    words: str
    holds: Callable[[Any, Sizes], bool]
    needed: bool = True

    def __or__(self, other: Meaning) -> Meaning:
        def either(value: Any, sizes: Sizes) -> bool:
            for meaning in (self, other):
                own = dict(sizes)
                if meaning.holds(value, own):
                    sizes.update(own)
                    return True
            return False

        return Meaning(f"{self.words}, or {other.words}", either, self.needed)


def check(owner: str, fields: Mapping[str, Any], meanings: Mapping[str, Meaning]) -> Sizes:
    """The sizes that fields tell, after each was found to be what it must be.

    Examples
    --------
    >>> check("LinearModel", {"coef": np.ones((1, 3))}, {"coef": numbers("scores", "columns")})
    {'scores': 1, 'columns': 3}
    >>> check("LinearModel", {"coef": "many"}, {"coef": numbers("scores", "columns")})
    Traceback (most recent call last):
    ValueError: coef of LinearModel must be finite numbers (scores × columns)
    """
    strange = next((name for name in fields if name not in meanings), None)
    if strange is not None:
        raise ValueError(f"{owner} has no {strange[:40]!r}")
    sizes: Sizes = {}
    for name, meaning in meanings.items():
        if name not in fields:
            if meaning.needed:
                raise ValueError(f"{owner} lacks its {name}")
        elif not meaning.holds(fields[name], sizes):
            raise ValueError(f"{name} of {owner} must be {meaning.words}")
    return sizes


def optional(meaning: Meaning) -> Meaning:
    """A field that need not be there."""
    return Meaning(meaning.words, meaning.holds, needed=False)


# -- arrays -------------------------------------------------------------------------------------------------------


def numbers(
    *shape: str,
    low: float = -math.inf,
    high: float = math.inf,
    missing: bool = False,
    infinite: bool = False,
    rising: bool = False,
) -> Meaning:
    """An array of real numbers in double or single precision."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray) or value.dtype not in (np.float64, np.float32):
            return False
        known = value[~np.isnan(value)] if missing else value
        fine = not np.isnan(known).any() and (infinite or bool(np.isfinite(known).all()))
        within = known.size == 0 or bool((known >= low).all() and (known <= high).all())
        ordered = not rising or bool((np.diff(value, axis=0) >= 0).all())
        return fine and within and ordered and _fits(value.shape, shape, sizes)

    kind = "numbers" if infinite and missing else "numbers, infinite ones too" if infinite else "finite numbers"
    also = " or NaN" if missing else ""
    return Meaning(f"{kind}{also}{_range(low, high)}{', rising' if rising else ''}{_shape(shape)}", holds)


def sparse_numbers(*shape: str) -> Meaning:
    """A sparse matrix of finite numbers, row by row."""

    def holds(value: Any, sizes: Sizes) -> bool:
        numeric = sparse.issparse(value) and value.dtype in (np.float64, np.float32)
        return numeric and bool(np.isfinite(value.data).all()) and _fits(value.shape, shape, sizes)

    return Meaning(f"a sparse matrix of finite numbers{_shape(shape)}", holds)


def wholes(*shape: str, below: str | None = None) -> Meaning:
    """An array of whole numbers from 0 on, less than a size where that is named."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu" or not _fits(value.shape, shape, sizes):
            return False
        end = _LARGEST_WHOLE if below is None else sizes.get(below, 0)
        return value.size == 0 or bool(0 <= value.min() <= value.max() < end)

    what = "whole numbers of at least 0" if below is None else f"whole numbers from 0 to less than {below}"
    return Meaning(f"{what}{_shape(shape)}", holds)


def names(size: str) -> Meaning:
    """An array of words."""

    def holds(value: Any, sizes: Sizes) -> bool:
        words = isinstance(value, np.ndarray) and value.dtype.kind in "OU" and _fits(value.shape, (size,), sizes)
        return words and all(isinstance(name, str) for name in value.tolist())

    return Meaning(f"words ({size})", holds)


def labels(size: str) -> Meaning:
    """An array of labels of one kind, each different from all others."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype.kind not in "OUfiub":
            return False
        plain = value.tolist()
        texts = all(isinstance(label, str) for label in plain)
        alike = texts or all(isinstance(label, bool) or (is_number(label) and math.isfinite(label)) for label in plain)
        return alike and len(set(plain)) == len(plain) and _fits(value.shape, (size,), sizes)

    return Meaning(f"different labels, words or finite numbers ({size})", holds)


def _fits(shape: tuple[int, ...], wanted: tuple[str, ...], sizes: Sizes) -> bool:
    return len(shape) == len(wanted) and all(
        name == "" or sizes.setdefault(name, size) == size for name, size in zip(wanted, shape, strict=True)
    )


def _shape(shape: tuple[str, ...]) -> str:
    return f" ({' × '.join(name or 'any' for name in shape)})"


# -- single values ------------------------------------------------------------------------------------------------


def number(low: float = -math.inf, high: float = math.inf, missing: bool = False, infinite: bool = False) -> Meaning:
    """One real number."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not is_number(value) or math.isnan(value):
            return missing and is_number(value)
        return (infinite or math.isfinite(value)) and low <= value <= high

    kind = "a number" if infinite else "a finite number"
    return Meaning(f"{kind}{' or NaN' if missing else ''}{_range(low, high)}", holds)


def whole(low: int = 0, high: int = _LARGEST_WHOLE, size: str | None = None) -> Meaning:
    """One whole number, which tells a size where one is named."""

    def holds(value: Any, sizes: Sizes) -> bool:
        if not is_whole(value) or not low <= value <= high:
            return False
        return size is None or sizes.setdefault(size, int(value)) == value

    top = "" if high == _LARGEST_WHOLE else f" and at most {high}"
    return Meaning(f"a whole number of at least {low}{top}{'' if size is None else f', which is {size}'}", holds)


def _range(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    if math.isinf(high):
        return f" of at least {low:g}"
    return f" from {low:g} to {high:g}"


nothing = Meaning("null", lambda value, sizes: value is None)
flag = Meaning("true or false", lambda value, sizes: isinstance(value, bool))
text = Meaning(
    f"a text of at most {_LONGEST_TEXT:,} letters",
    lambda value, sizes: isinstance(value, str) and len(value) <= _LONGEST_TEXT,
)
anything = Meaning("any value", lambda value, sizes: True)


def choice(*words: Any) -> Meaning:
    """One of some words."""
    return Meaning(" or ".join(map(repr, words)), lambda value, sizes: isinstance(value, str) and value in words)


def instance(*types: type, words: str = "") -> Meaning:
    """A value of some types."""
    named = words or "a " + " or ".join(each.__name__ for each in types)
    return Meaning(named, lambda value, sizes: isinstance(value, types))


# -- values of values ---------------------------------------------------------------------------------------------


def list_of(meaning: Meaning, size: str | None = None) -> Meaning:
    """A list of values of one meaning."""

    def holds(value: Any, sizes: Sizes) -> bool:
        fine = isinstance(value, list) and (size is None or sizes.setdefault(size, len(value)) == len(value))
        return fine and all(meaning.holds(item, sizes) for item in value)

    return Meaning(f"a list{'' if size is None else f' ({size})'} of: {meaning.words}", holds)


def tuple_of(*meanings: Meaning) -> Meaning:
    """So many values, each of its meaning."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return (
            isinstance(value, (list, tuple))
            and len(value) == len(meanings)
            and all(meaning.holds(item, sizes) for meaning, item in zip(meanings, value, strict=True))
        )

    return Meaning(f"[{'; '.join(meaning.words for meaning in meanings)}]", holds)


def mapping(key: Meaning, item: Meaning) -> Meaning:
    """Pairs of values."""

    def holds(value: Any, sizes: Sizes) -> bool:
        return isinstance(value, dict) and all(
            key.holds(name, sizes) and item.holds(each, sizes) for name, each in value.items()
        )

    return Meaning(f"pairs of {key.words} and {item.words}", holds)
