"""Numbers of things, lists and near misses as messages say them. The one place for it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = ["counted", "enumeration", "nearest", "with_article"]


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number of things: what is said of one of them, and of many, which by default has an s more.

    Examples
    --------
    >>> counted(1, "row"), counted(0, "row"), counted(2, "class", "classes"), counted(1, "row repeats", "rows repeat")
    ('1 row', '0 rows', '2 classes', '1 row repeats')
    """
    return f"{number} {one if number == 1 else many or one + 's'}"


def enumeration(values: Iterable[Any], most: int = 12, last: str = "and") -> str:
    """Values in a sentence; where there are many, the last ones are counted.

    Parameters
    ----------
    values : iterable
        Shown by ``str``: map ``repr`` over names that need quotes.
    most : int, default=12
        How many are named.
    last : str, default="and"
        What stands before the last one: "or" where one of them is to be chosen.

    Returns
    -------
    str

    Examples
    --------
    >>> enumeration("abc"), enumeration("ab", last="or"), enumeration("abcd", most=2), enumeration("abc", most=2)
    ('a, b and c', 'a or b', 'a, b and 2 more', 'a, b and c')
    """
    words = [str(value) for value in values]
    if len(words) > most + 1:
        words = [*words[:most], f"{len(words) - most} more"]
        last = "and"
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that was probably meant, if there is one.

    Examples
    --------
    >>> nearest("gausian", ["linear", "gaussian"]), nearest("cat", ["linear", "gaussian"])
    ('gaussian', None)
    """
    return next(iter(get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def with_article(name: str) -> str:
    """A noun after "a" or "an", as it is said; abbreviations are spelt.

    Examples
    --------
    >>> with_article("balanced accuracy"), with_article("average precision"), with_article("F1"), with_article("R²")
    ('a balanced accuracy', 'an average precision', 'an F1', 'an R²')
    """
    spelt = not name[1:2].islower()
    return f"{'an' if name[0] in ('AEFHILMNORSX' if spelt else 'aeiou') else 'a'} {name}"
