"""Numbers with something around them: $1,200.50, 45 %, 1 200, 3.5 kg."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._runtime.compile import Array

__all__ = ["Signed", "signed_either_way", "signed_numbers"]

_SPACES = " \u00a0\u202f\u2009"
_CELL = re.compile(
    rf"(?P<minus>[-+−(]?)\s?(?P<before>[$€£¥₹]|[A-Z]{{3}}(?=[ \d]))?[{_SPACES}]?(?P<sign>[-+−]?)"
    rf"(?P<number>\d{{1,3}}(?:[,{_SPACES}']\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    rf"[{_SPACES}]?(?P<after>%|‰|[$€£¥₹]|°\s?[CF]?|[A-Za-zµ]{{1,4}}(?:[/²³]\w{{0,4}})?)?\)?"
)

#: Numbers do not begin with zeros, codes do.
_CODE = re.compile(r"0\d")
#: Points for commas, and the reverse.
_TURNED = str.maketrans(",.", ".,")


@dataclass(frozen=True)
class Signed:
    """The numbers of some cells, and what stood around all of them."""

    values: Array
    around: str


def signed_numbers(words: Sequence[str], decimal: str = ".") -> Signed | None:
    """The numbers in cells that all follow one pattern: the same sign or unit around every one, or none.

    With a decimal comma, points set thousands apart, as commas do otherwise. ``None`` where a cell is something else.
    Words of letters and digits without a space between, such as A4 or 3b, are names and no numbers with a unit.

    Examples
    --------
    >>> signed_numbers(["$1,200.50", "$3"]).values.tolist(), signed_numbers(["45%", "7 %"]).values.tolist()
    ([1200.5, 3.0], [45.0, 7.0])
    >>> signed_numbers(["1.200,50 €", "3 €"], decimal=",").values.tolist()
    [1200.5, 3.0]
    >>> signed_numbers(["3.5 kg", "2 m"]) is None, signed_numbers(["1.2.3"]) is None, signed_numbers(["3b"]) is None
    (True, True, True)
    """
    values, seen = np.empty(len(words)), set()
    for place, given in enumerate(words):
        word = given if decimal == "." else given.translate(_TURNED)
        match = _CELL.fullmatch(word)
        if match is None or (match["minus"] == "(") != word.endswith(")") or (match["minus"] and match["sign"]):
            return None
        before, after = match["before"] or "", (match["after"] or "").replace(" ", "")
        if (before and after) or _CODE.match(match["number"]):
            return None
        if after[:1].isalpha() and word[match.end("number")] not in _SPACES and match["number"].isdigit():
            return None
        seen.add((before, after))
        if len(seen) > 2 or (len(seen) == 2 and ("", "") not in seen):
            return None
        number = float(re.sub(rf"[,{_SPACES}']", "", match["number"]))
        values[place] = -number if match["minus"] in ("-", "−", "(") or match["sign"] in ("-", "−") else number
    return Signed(values, "".join(max(seen, default=("", ""))))


def signed_either_way(words: Sequence[str], decimal: str) -> Signed | None:
    """As :func:`signed_numbers`, with the other decimal sign where this one fits none of them.

    Examples
    --------
    >>> signed_either_way(["1.200,50 €", "3 €"], ".").values.tolist()
    [1200.5, 3.0]
    """
    return signed_numbers(words, decimal) or signed_numbers(words, "," if decimal == "." else ".")
