"""Items that are not rows of numbers, and kernels on them, for the tests of every estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mercer.kernels import (
    After,
    Equal,
    Gaussian,
    Jaccard,
    Kernel,
    Normalised,
    Spectrum,
    Subsequence,
    WeisfeilerLehman,
)
from mercer.kernels.engine import Collection, Tile


class Words(Collection):
    """Words by their letters, each word a row of counts."""

    kind = "words"

    def __init__(self, counts: np.ndarray) -> None:
        super().__init__()
        self.counts = counts

    @classmethod
    def of(cls, items) -> Words:
        if isinstance(items, Words):
            return items
        if isinstance(items, str):
            raise ValueError("Letters: expected several words, got one text; put it into a list.")
        for position, word in enumerate(items):
            if not isinstance(word, str):
                raise ValueError(f"Letters: item {position} is {word!r}, not a word.")
        alphabet = [chr(97 + k) for k in range(26)]
        return cls(np.array([[float(word.count(a)) for a in alphabet] for word in items]).reshape(-1, 26))

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, index) -> Words:
        return Words(self.counts[index])


class Letters(Kernel):
    """How many pairs of equal letters two words have: the smallest kernel that is not on rows of numbers."""

    collection = Words

    def __init__(self, power: float = 1.0) -> None:
        self.power = power

    def evaluate(self, tile: Tile):
        return self.features(tile.left) @ self.features(tile.right).T

    def diag(self, A):
        return (self.features(A) ** 2).sum(axis=1)

    def features(self, A):
        return A.counts**self.power


def reversed_words(words):
    return [word[::-1] for word in words]


_random = np.random.RandomState(0)
WORDS = ["".join(_random.choice(list("abcde" if k % 2 else "cdefg"), size=_random.randint(3, 9))) for k in range(60)]
LABELS = np.array([k % 2 for k in range(60)])

#: The letters of a word as a path of labelled nodes, and the word itself in the midst of other columns.
GRAPHS = [(len(word), [[k, k + 1] for k in range(len(word) - 1)], list(word)) for word in WORDS]
TABLE = pd.DataFrame({"word": WORDS, "size": [float(len(word)) for word in WORDS], "first": [w[0] for w in WORDS]})

#: For each case a kernel, items and the classes of the items.
CASES = {
    "leaf": (Letters(), WORDS, LABELS),
    "object array": (Normalised(Letters()), np.array(WORDS, dtype=object), LABELS),
    "sum": (2 * Letters() + Normalised(Letters(power=0.5)), WORDS, LABELS),
    "after a map": (After(reversed_words, Letters()) * Letters(), WORDS, LABELS),
    "strings": (Spectrum(p=(1, 2)) + 0.5 * Subsequence(k=2), np.array(WORDS), LABELS),
    "sets": (Jaccard(), [set(word) for word in WORDS], LABELS),
    "strings and sets": (Spectrum(p=2) + Letters(), WORDS, LABELS),
    "graphs": (Normalised(WeisfeilerLehman(h=2)), GRAPHS, LABELS),
    "table": (Spectrum(p=1).on("word") * Gaussian(gamma=0.1).on("size") + Equal().on("first"), TABLE, LABELS),
}
