"""What texts are compared by: their words, their letters, or both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["sampled", "text_units", "words_each"]

#: Texts that are looked at.
_SAMPLE = 1000
#: Texts of so many words at most are names, compared letter by letter.
_NAME = 3
#: Letters of texts that are short enough to be compared letter by letter as well.
_SHORT = 250


def sampled(texts: Sequence[str]) -> list[str]:
    """Some texts from all over a column."""
    return list(texts[:: max(1, len(texts) // _SAMPLE)])


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
