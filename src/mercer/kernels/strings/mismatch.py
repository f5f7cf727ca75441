"""Substrings that may differ in a few places."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from math import comb

import numpy as np
from scipy import sparse

from ..._runtime.compile import Array, jit
from ..._validation.parameters import size
from ..base import Kernel
from ..engine.count_dot import CountDot
from ..engine.counts import COLUMNS, Counts, count
from ..engine.flat import in_chunks, starts_of
from ..engine.keys import number_keys
from ..engine.pairing import Tile
from ..engine.statistics import Statistic
from ..readable import Name, quoted
from .string_collection import Strings

__all__ = ["Mismatch"]

#: Neighbours of substrings that are held in memory at a time, in bytes eight times as much.
_KEYS_AT_ONCE = 2**25


@dataclass(frozen=True)
class Neighbours(CountDot):
    """Counts of all strings of length k over an alphabet that are within m mismatches of a substring."""

    k: int
    m: int
    alphabet: str

    @property
    def ball(self) -> int:
        """How many strings are within m mismatches of one."""
        return sum(comb(self.k, i) * (len(self.alphabet) - 1) ** i for i in range(self.m + 1))

    def places(self, A: Strings) -> Array:
        """The characters of all strings as places in the alphabet."""
        letters = np.array([ord(letter) for letter in self.alphabet])
        order = np.argsort(letters)
        found = np.minimum(np.searchsorted(letters[order], A.codes), letters.size - 1)
        wrong = letters[order][found] != A.codes
        if wrong.any():
            first = int(np.argmax(wrong))
            place = int(np.searchsorted(A.starts, first, side="right") - 1)
            raise ValueError(
                f"Mismatch: string {place} has the character {chr(A.codes[first])!r}, which is not in the alphabet "
                f"{self.alphabet!r}; give an alphabet with every character that may occur."
            )
        return order[found]

    def numbers(self, A: Strings) -> tuple[Array, Array]:
        """The neighbours of every substring as numbers in base |alphabet|, and where each string's start."""
        letters = self.places(A)
        sizes = np.maximum(np.diff(A.starts) - self.k + 1, 0) * self.ball
        starts = starts_of(sizes)
        out = np.empty(starts[-1], np.uint64)
        in_chunks(
            len(A),
            lambda first, stop: _neighbours(
                letters, A.starts, self.k, self.m, len(self.alphabet), self.ball, first, stop, starts, out
            ),
        )
        return out, starts

    def texts(self, numbers: Array) -> list[str]:
        """The strings of length k that numbers in base |alphabet| stand for.

        Examples
        --------
        >>> Neighbours(k=2, m=1, alphabet="AB").texts(np.array([0, 1, 3], dtype=np.uint64))
        ['AA', 'AB', 'BB']
        """
        size = len(self.alphabet)
        digits = [(numbers // np.uint64(size ** (self.k - 1 - place))) % np.uint64(size) for place in range(self.k)]
        letters = np.array(list(self.alphabet))[np.column_stack(digits).astype(np.int64)]
        return ["".join(row) for row in letters.tolist()]

    def count(self, A: Strings) -> Counts:
        substrings = np.cumsum(np.maximum(np.diff(A.starts) - self.k + 1, 0)) * self.ball
        groups = np.flatnonzero(np.diff(substrings // _KEYS_AT_ONCE, prepend=0, append=-1))
        parts = []
        begin = 0
        for end in sorted({*groups.tolist(), len(A)} - {0}):
            numbers, starts = self.numbers(A[begin:end])
            parts.append(count(number_keys(numbers), starts))
            begin = end
        if not parts:
            return count(np.empty(0, np.uint64), np.zeros(1, np.int64))
        return Counts(
            starts_of(np.concatenate([np.diff(part.starts) for part in parts])),
            np.concatenate([part.keys for part in parts]),
            np.concatenate([part.values for part in parts]),
        )


@jit
def _neighbours(
    letters: Array,
    starts: Array,
    k: int,
    m: int,
    size: int,
    ball: int,
    first: int,
    stop: int,
    begins: Array,
    out: Array,
) -> None:
    """Grow every neighbour letter by letter; the list of unfinished ones never exceeds the list of finished ones."""
    numbers, spent = np.empty(ball, np.uint64), np.empty(ball, np.int64)
    more, more_spent = np.empty(ball, np.uint64), np.empty(ball, np.int64)
    for i in range(first, stop):
        place = begins[i]
        for begin in range(starts[i], starts[i + 1] - k + 1):
            numbers[0], spent[0], n = 0, 0, 1
            for p in range(begin, begin + k):
                grown = 0
                for r in range(n):
                    for letter in range(size):
                        cost = spent[r] + (letter != letters[p])
                        if cost <= m:
                            more[grown] = numbers[r] * np.uint64(size) + np.uint64(letter)
                            more_spent[grown] = cost
                            grown += 1
                numbers, more = more, numbers
                spent, more_spent = more_spent, spent
                n = grown
            out[place : place + n] = numbers[:n]
            place += n


class Mismatch(Kernel):
    """The (k, m)-mismatch kernel: substrings of length k count for every string that differs in at most m places.

    The features are all strings of length k over the alphabet; the value of one is the number of substrings within m
    mismatches of it.

    Parameters
    ----------
    k : int, default=5
    m : int, default=1
    alphabet : str, default="ACGT"
        Every character that may occur. A string with another one is refused.

    Examples
    --------
    >>> from mercer.kernels import Mismatch
    >>> Mismatch(k=2, m=1)(["AC", "AG", "GT"])
    array([[7., 4., 2.],
           [4., 7., 2.],
           [2., 2., 7.]])
    """

    good_for = "DNA and proteins with mutations"
    collection = Strings

    def __init__(self, k: int = 5, m: int = 1, alphabet: str = "ACGT") -> None:
        self.k = k
        self.m = m
        self.alphabet = alphabet

    def check(self):
        size(self, "k", 1)
        size(self, "m", 0)
        if self.m >= self.k:
            raise ValueError(
                f"Mismatch: m must be less than k={self.k!r}, else all substrings are alike; got {self.m!r}."
            )
        if not isinstance(self.alphabet, str) or not 2 <= len(set(self.alphabet)) == len(self.alphabet):
            raise ValueError(
                f"Mismatch: alphabet must be a text of at least two different characters, got {self.alphabet!r}."
            )
        if len(self.alphabet) ** self.k >= 2**63 or self._statistic.ball > 10**6:
            raise ValueError(
                f"Mismatch: k={self.k}, m={self.m} with {len(self.alphabet)} characters gives every substring "
                f"{self._statistic.ball} neighbours; take a smaller k or m."
            )

    @property
    def _statistic(self) -> Neighbours:
        return Neighbours(int(self.k), int(self.m), self.alphabet)

    def statistics(self) -> Counter[Statistic]:
        return Counter([self._statistic])

    def evaluate(self, tile: Tile) -> Array:
        return tile.compute(self._statistic)

    def diag(self, A):
        return self._statistic.diag(A)

    def features(self, A):
        """Exact, a column for every string of length k, where those are at most a million; else hashed."""
        columns = len(self.alphabet) ** int(self.k)
        if columns > COLUMNS:
            return self._statistic.features(A)
        numbers, starts = self._statistic.numbers(A)
        out = sparse.csr_array((np.ones(numbers.size), numbers.astype(np.int32), starts), shape=(len(A), columns))
        out.sum_duplicates()
        return out

    def keyed(self, A):
        return self._statistic.counts(A)

    def named_features(self, A):
        A = Strings.of(A)
        numbers, starts = self._statistic.numbers(A)
        different, place = np.unique(numbers, return_inverse=True)
        texts = [Name(quoted(text)) for text in self._statistic.texts(different)]
        out = []
        for begin, end in pairwise(starts.tolist()):
            own, times = np.unique(place[begin:end], return_counts=True)
            out.append({texts[k]: float(count) for k, count in zip(own.tolist(), times.tolist(), strict=True)})
        return out

    @classmethod
    def suggestions(cls, items):
        fits = items.are_sequences and not items.aligned
        return [(2, f"normalised(mismatch(alphabet={items.alphabet!r}))")] if fits else []

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)
