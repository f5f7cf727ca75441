"""What a column of words holds: categories, texts, or identifiers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from .._runtime.compile import Array
from .column_names import says_identifier, says_ticket
from .text_units import sampled, words_each

__all__ = ["kind_of_words"]

#: Rows from which on it means something that all words differ.
_ENOUGH = 20
#: The share of words of one shape, and of different words among all, of identifiers.
_ALIKE, _DIFFERENT = 0.9, 0.95
#: Categories come again and again: more different words than this, for each row that has one, are texts.
_OFTEN, _OFTEN_IN_SENTENCES = 0.5, 0.3
#: Sentences have so many words.
_SENTENCE = 4
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
_HEXADECIMAL = re.compile(r"(?=.*\d)[0-9a-fA-F][0-9a-fA-F-]{7,}")


def kind_of_words(name: str, words: Sequence[str], counts: Array) -> tuple[str, str]:
    """The kind of a column by its different words and how often each occurs, and why it is left out if it is.

    Examples
    --------
    >>> import numpy as np
    >>> kind_of_words("city", ["Oslo", "Rome"], np.array([30, 20]))
    ('category', '')
    >>> kind_of_words("part", [f"AB-{k}" for k in range(50)], np.ones(50))
    ('ignore', 'a code for each row')
    >>> kind_of_words("review", [f"this film is number {k}" for k in range(50)], np.ones(50))
    ('text', '')
    """
    rows, different = float(counts.sum()), len(words)
    share, length = different / max(1.0, rows), words_each(words)
    if rows >= _ENOUGH and length <= 2:
        if share >= _DIFFERENT and _are_codes(words):
            return "ignore", "a code for each row"
        if (share >= 0.9 and says_identifier(name)) or (share >= 0.7 and says_ticket(name)):
            return "ignore", "a different word in each row, and a name like that of an identifier"
    if length >= _SENTENCE:
        many = different > _ENOUGH and (share > _OFTEN_IN_SENTENCES or different > 10 * _ENOUGH)
        return ("text" if many or (share > _OFTEN and different > 3) else "category"), ""
    return ("text" if different > _ENOUGH and share >= _OFTEN else "category"), ""


def _are_codes(words: Sequence[str]) -> bool:
    """Whether words look like e-mail addresses, hexadecimal numbers, letters and digits in one order, or numbers."""
    some = sampled(words)
    enough = _ALIKE * len(some)
    if any(sum(map(bool, map(shape.fullmatch, some))) >= enough for shape in (_ADDRESS, _HEXADECIMAL)):
        return True
    shape, count = Counter(map(_shape, some)).most_common(1)[0]
    if count < enough or "9" not in shape:
        return False
    # Words before a number, as in "day 7", are no text where all rows have the same ones.
    return " " not in shape or len({re.sub(r"\d+", "9", word) for word in some}) <= 1


def _shape(word: str) -> str:
    """The order of letters and digits in a word: AB-1234 is A-9."""
    return re.sub(r"[^\W\d_]+", "A", re.sub(r"\d+", "9", word))
