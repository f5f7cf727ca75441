"""What texts are compared by: their words, their letters, or both."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

__all__ = ["are_molecules", "sampled", "text_units", "words_each"]

#: Texts that are looked at.
_SAMPLE = 1000
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
