"""Dates in the forms in which people write them, each column in one form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..runtime.arrays import Array

#: The share of cells that must be dates in the form of the others.
MOST = 0.95
#: Cells that are looked at before all are read.
_SAMPLED_DATES = 200
#: The share of cells from which on a form is one of several in a column, and no slip of the pen.
_OFTEN = 0.05

_CLOCK = r"(?:[ T]\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<fraction>\.\d{1,9})?(?P<half> ?[AaPp][Mm])?)"
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?")
_BY_YEAR = re.compile(rf"\d{{4}}(?P<mark>[/.])\d{{1,2}}(?P=mark)\d{{1,2}}{_CLOCK}?")
_BY_DAY = re.compile(rf"\d{{1,2}}(?P<mark>[./-])\d{{1,2}}(?P=mark)(?P<year>\d{{4}}|\d{{2}}){_CLOCK}?")
_MONTHS = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
_NAMED = re.compile(
    rf"(?:(?P<day>\d{{1,2}})(?P<mark>[ -])(?P<after>[A-Za-z]{{3,9}})(?P=mark)\d{{4}}"
    rf"|(?P<before>[A-Za-z]{{3,9}}) \d{{1,2}}(?P<comma>,?) \d{{4}}){_CLOCK}?"
)


@dataclass(frozen=True)
class Dates:
    """Dates, the form in which they were written, and the other one that fits as well."""

    values: Array
    form: str
    or_else: str | None = None


def dates(words: Sequence[str], counts: Array) -> Dates | None:
    """The dates in different cells of a column, each of which stands in so many rows; ``None`` where they are none.

    Where both the day and the month may come first, the values decide: no month is the thirteenth. Where they do not,
    the day is first before a dot or a hyphen, the month before a slash.

    Examples
    --------
    >>> import numpy as np
    >>> found = dates(["31.12.2024", "1.2.2024"], np.array([1, 1]))
    >>> found.values.astype("datetime64[D]").tolist()[1].isoformat(), found.form
    ('2024-02-01', '%d.%m.%Y')
    >>> dates(["1/2/2024", "3/4/2024"], np.array([1, 1])).or_else
    '%d/%m/%Y'
    """
    few = list(words[:: max(1, len(words) // _SAMPLED_DATES)])
    groups = _forms(few)
    chosen = [_best_form(words, counts, forms) for forms in groups]
    found = _together([each.values for each in chosen], len(words))
    if not chosen or counts[~np.isnat(found)].sum() < MOST * counts.sum():
        return None
    doubt = chosen[0].or_else if len(chosen) == 1 else None
    return Dates(found, "|".join(each.form for each in chosen), doubt)


def _best_form(words: Sequence[str], counts: Array, forms: list[str]) -> Dates:
    """Of forms that look alike the one in which most cells are dates, and another in which as many are."""
    values = [parsed(words, form) for form in forms]
    right = [int(counts[~np.isnat(each)].sum()) for each in values]
    best = int(np.argmax(right))
    others = [form for form, count in zip(forms, right, strict=True) if count == right[best] and form != forms[best]]
    return Dates(values[best], forms[best], others[0] if others else None)


def _together(columns: list[Array], size: int) -> Array:
    """For each cell the first date that any form makes of it."""
    out = np.full(size, "NaT", dtype="datetime64[ns]")
    for values in columns:
        out = np.where(np.isnat(out), values, out)
    return out


def parsed(words: Sequence[str], form: str) -> Array:
    """Dates written in a form, in universal time where they name a time zone; NaT where a cell is none.

    Several forms stand with a bar between them, the likeliest first.
    """
    if "|" in form:
        return _together([parsed(words, each) for each in form.split("|")], len(words))
    series = pd.Series(list(words), dtype=object)
    found: Any = pd.to_datetime(series, format=form, errors="coerce", utc=True)
    return found.dt.tz_localize(None).to_numpy().astype("datetime64[ns]")


def _forms(few: list[str]) -> list[list[str]]:
    """The forms that cells are written in: for each that comes up, those that look like it, the likeliest first."""
    found: list[tuple[int, list[str]]] = []
    for pattern, forms in (
        (_ISO, lambda match: ["ISO8601"]),
        (_MONTHS, lambda match: ["%Y-%m"]),
        (_BY_YEAR, lambda match: [f"%Y{match['mark']}%m{match['mark']}%d{_clock(match)}"]),
        (_BY_DAY, _day_or_month_first),
        (_NAMED, _with_named_month),
    ):
        matches = [match for match in map(pattern.fullmatch, few) if match]
        if len(matches) >= max(1, _OFTEN * len(few)):
            found.append((len(matches), list(dict.fromkeys(forms(matches[0])))))
    if sum(count for count, _ in found) < MOST * len(few):
        return []
    return [forms for _, forms in sorted(found, key=lambda each: -each[0])]


def _day_or_month_first(match: Any) -> list[str]:
    mark, year = match["mark"], "%Y" if len(match["year"]) == 4 else "%y"
    if year == "%y" and mark == ".":
        return [f"%d.%m.%y{_clock(match)}"]
    by_day = f"%d{mark}%m{mark}{year}{_clock(match)}"
    by_month = f"%m{mark}%d{mark}{year}{_clock(match)}"
    return [by_month, by_day] if mark == "/" else [by_day, by_month]


def _with_named_month(match: Any) -> list[str]:
    months = ("%b", "%B")
    if match["before"]:
        return [f"{month} %d{match['comma']} %Y{_clock(match)}" for month in months]
    return [f"%d{match['mark']}{month}{match['mark']}%Y{_clock(match)}" for month in months]


def _clock(match: Any) -> str:
    text = match.string
    if ":" not in text:
        return ""
    between = "T" if re.search(r"\dT\d", text) else " "
    hour = "%I" if match["half"] else "%H"
    half = f"{' ' if match['half'].startswith(' ') else ''}%p" if match["half"] else ""
    return f"{between}{hour}:%M{':%S' if match['seconds'] else ''}{'.%f' if match['fraction'] else ''}{half}"


# Numbers with something around them: $1,200.50, 45 %, 1 200, 3.5 kg.


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


# What texts are compared by: their words, their letters, or both.


#: Texts that are looked at.
_SAMPLED_TEXTS = 1000
#: Texts of so many words at most are names, compared letter by letter.
_NAME = 3
#: Letters of texts that are short enough to be compared letter by letter as well.
_SHORT = 250
#: SMILES, a molecule as a line: atoms, aromatic ones in small letters, bonds, branches, rings and charges.
_MOLECULE = re.compile(r"(?:\[[^\]\s]+\]|Br|Cl|[BCNOPSFIbcnops*]|[-=#$:~/\\.()@+%0-9])+")
#: The share of texts that are molecules in a column of such, and how long these are in the middle.
_MOLECULES, _ATOMS = 0.95, 4


def sampled(texts: Sequence[str]) -> list[str]:
    """Some texts from all over a column."""
    return list(texts[:: max(1, len(texts) // _SAMPLED_TEXTS)])


def words_each(texts: Sequence[str]) -> float:
    """How many words a text has, in the middle."""
    return float(np.median([len(text.split()) for text in sampled(texts)])) if len(texts) else 0.0


def text_units(texts: Sequence[str]) -> str:
    """What the texts of a column are compared by: "characters", "words", or "both" where they are short sentences.

    Examples
    --------
    >>> text_units(["Smith", "Müller"]), text_units(["call me when you are back"]), text_units(["word " * 200])
    ('characters', 'both', 'words')
    """
    some = [text for text in sampled(texts) if text]
    if words_each(some) <= _NAME:
        return "characters"
    return "both" if np.mean([len(text) for text in some]) < _SHORT else "words"


def are_molecules(texts: Sequence[str]) -> bool:
    """Whether texts are molecules as SMILES write them, where capitals and small letters are different atoms.

    Examples
    --------
    >>> are_molecules(["c1ccccc1O", "CC(=O)Cl", "C1CCCCC1O"]), are_molecules(["Bob", "Coco", "Anna"])
    (True, False)
    """
    some = [text.strip() for text in sampled(texts) if text.strip()]
    if not some or np.median([len(text) for text in some]) < _ATOMS:
        return False
    return sum(map(bool, map(_MOLECULE.fullmatch, some))) >= _MOLECULES * len(some)
