"""Numbers of things, lists and near misses as messages say them. The one place for it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = [
    "PAGES",
    "count",
    "counted",
    "enumeration",
    "grouped",
    "guide",
    "in_digits",
    "nearest",
    "percent",
    "printable",
    "printable_json",
    "with_article",
]


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


# Where the guide explains the idea behind a message. Pages have their names here and nowhere else.
#
# A page is a file in ``docs/`` without its suffix; after ``#`` may stand a heading of it.


#: The page of each idea that messages and help point to.
PAGES: dict[str, str] = {
    "certificates": "ideas/trust",
    "choosing": "choosing",
    "class weights": "ideas/probabilities",
    "clusters": "ideas/clusters",
    "files": "start",
    "gaussian processes": "ideas/gaussian_processes",
    "good kernels": "ideas/good_kernels",
    "kernels": "ideas/kernels",
    "leakage": "ideas/tuning",
    "losses": "ideas/losses",
    "memory": "ideas/scaling",
    "new kernel": "extending/kernel",
    "own parts": "extending/index",
    "pegasos": "ideas/pegasos",
    "perceptron": "ideas/perceptron",
    "probabilities": "ideas/probabilities",
    "reports": "reports",
    "scaling columns": "ideas/kernels",
    "soft margin": "ideas/soft_margin",
    "structures": "ideas/structures",
    "two samples": "ideas/samples",
    "tuning": "ideas/tuning",
}


def guide(idea: str) -> str:
    """The page about an idea, as the end of a sentence names it.

    Parameters
    ----------
    idea : str
        One of :data:`PAGES`.

    Returns
    -------
    str

    Examples
    --------
    >>> f"the best value is the largest that was tried {guide('tuning')}."
    'the best value is the largest that was tried (guide: ideas/tuning).'
    """
    return f"(guide: {PAGES[idea]})"


# Text for terminals.


def printable(text: Any, longest: int | None = 10_000) -> str:
    r"""Text that cannot steer a terminal: control characters, which files may bring along, are replaced.

    Examples
    --------
    >>> printable("red\x1b[31m") == "red\ufffd[31m"
    True
    """
    shown = str(text)
    steering = [ord(letter) for letter in set(shown) if not letter.isprintable() and letter not in "\n\u00a0\u202f"]
    shown = shown.translate(dict.fromkeys(steering, "\ufffd")) if steering else shown
    return shown if longest is None or len(shown) <= longest else shown[: longest - 1] + "…"


def printable_json(value: Any, **options: Any) -> str:
    r"""A value as JSON without any letter that could steer a terminal: numbers stand for those in it.

    Examples
    --------
    >>> print(printable_json({"red\x1b[31m": "\x7f"}))
    {"red\u001b[31m": "\u007f"}
    """
    return json.dumps(value, allow_nan=False, **options).replace("\x7f", "\\u007f")


def count(number: int, one: str, many: str | None = None) -> str:
    """A number of things, in words.

    Examples
    --------
    >>> count(1, "row"), count(12000, "row"), count(2, "class", "classes")
    ('1 row', '12\\u202f000 rows', '2 classes')
    """
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"


def grouped(number: int) -> str:
    """A whole number with thin spaces between thousands.

    Examples
    --------
    >>> grouped(1234567)
    '1\\u202f234\\u202f567'
    """
    return f"{number:,}".replace(",", "\u202f")


def in_digits(value: float, digits: int = 4) -> str:
    r"""A number with some digits that matter, written out where it is neither huge nor tiny.

    Examples
    --------
    >>> in_digits(53.21987), in_digits(123456.7), in_digits(0.00123456), in_digits(-2e-12), in_digits(0.0)
    ('53.22', '123457', '0.001235', '-2e-12', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    power = math.floor(math.log10(abs(value)))
    if not -4 <= power <= 9:
        return f"{value:.{digits - 1}g}"
    return f"{value:.{max(0, digits - 1 - power)}f}"


def percent(rate: float, digits: int = 2) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.0231)
    '2.31\\xa0%'
    """
    return f"{100 * rate:.{digits}f}\u00a0%"
