"""Kernels that count substrings."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit
from ..._validation.parameters import is_number, is_whole, shown
from ..base import Kernel
from ..engine.count_dot import CountDot
from ..engine.counts import Counts, beside, count
from ..engine.flat import in_chunks, starts_of
from ..engine.keys import chain
from ..engine.pairing import Tile
from ..engine.statistics import Statistic
from ..readable import Name, quoted
from .string_collection import Strings, check_tokens

__all__ = ["Spectrum"]

#: Lengths that one kernel counts: each takes a pass over all strings.
_MOST_LENGTHS = 100


@dataclass(frozen=True)
class Substrings(CountDot):
    """Counts of all substrings of one length."""

    size: int
    tokens: str

    def count(self, A: Strings) -> Counts:
        return count(*self.occurrences(A))

    def occurrences(self, A: Strings) -> tuple[Array, Array]:
        """The keys of all substrings in the order in which they stand, and where those of each string start."""
        codes, starts = A.tokens(self.tokens)
        new_starts = starts_of(np.maximum(np.diff(starts) - self.size + 1, 0))
        keys = np.empty(new_starts[-1], np.uint64)
        in_chunks(len(A), lambda first, stop: _substring_keys(codes, starts, self.size, first, stop, new_starts, keys))
        return keys, new_starts


@jit
def _substring_keys(
    codes: Array, starts: Array, size: int, first: int, stop: int, new_starts: Array, out: Array
) -> None:
    for i in range(first, stop):
        for p in range(new_starts[i + 1] - new_starts[i]):
            key = np.uint64(size)
            for q in range(starts[i] + p, starts[i] + p + size):
                key = chain(key, codes[q])
            out[new_starts[i] + p] = key


class Spectrum(Kernel):
    """The p-spectrum kernel: the dot product of the counts of all substrings of length p.

    Parameters
    ----------
    p : int or (int, int), default=3
        The length of the substrings, or the shortest and the longest.
    weights : list of float, optional
        How much each length counts, from the shortest to the longest; by default all count the same.
    tokens : {"characters", "bytes", "words"}, default="characters"
        What the length is counted in. Words are what white space separates.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> Spectrum(p=3)(["statistics", "computation"])
    array([[8., 2.],
           [2., 9.]])
    """

    good_for = "texts and sequences of any length: the one to begin with"
    collection = Strings

    def __init__(self, p: int | tuple[int, int] = 3, weights: Any = None, tokens: str = "characters") -> None:
        self.p = p
        self.weights = weights
        self.tokens = tokens

    def check(self):
        ends = self.p if isinstance(self.p, (tuple, list)) else (self.p, self.p)
        if len(ends) != 2 or not all(map(is_whole, ends)) or not 1 <= ends[0] <= ends[1] <= 10**6:
            raise ValueError(
                f"Spectrum: p must be a length of at least 1, or (shortest, longest), up to a million; got "
                f"{shown(self.p)}."
            )
        if ends[1] - ends[0] >= _MOST_LENGTHS:
            raise ValueError(
                f"Spectrum: p={shown(self.p)} asks for {int(ends[1] - ends[0]) + 1} lengths, each of which is counted "
                f"for itself; take at most {_MOST_LENGTHS} of them."
            )
        if self.weights is not None:
            sizes = int(ends[1] - ends[0]) + 1
            weights = list(self.weights) if hasattr(self.weights, "__len__") else []
            fine = len(weights) == sizes and all(is_number(w) and 0 <= w < float("inf") for w in weights)
            if not fine or not any(weights):
                raise ValueError(
                    f"Spectrum: weights must be {sizes} numbers, one a length, none negative and not all zero; "
                    f"got {self.weights!r}."
                )
        check_tokens(self)

    def _weighted(self) -> list[tuple[float, Substrings]]:
        shortest, longest = self.p if isinstance(self.p, (tuple, list)) else (self.p, self.p)
        sizes = range(int(shortest), int(longest) + 1)
        weights = [1.0] * len(sizes) if self.weights is None else [float(w) for w in self.weights]
        return [(w, Substrings(size, self.tokens)) for w, size in zip(weights, sizes) if w > 0]

    def statistics(self) -> Counter[Statistic]:
        return Counter(statistic for _, statistic in self._weighted())

    def evaluate(self, tile: Tile) -> Array:
        (weight, first), *others = self._weighted()
        out = tile.compute(first)
        out *= weight
        for weight, statistic in others:
            out += weight * tile.compute(statistic)
        return out

    def diag(self, A):
        return sum(weight * statistic.diag(A) for weight, statistic in self._weighted())

    def features(self, A):
        return self.keyed(A).hashed()

    def keyed(self, A):
        return reduce(beside, (statistic.counts(A).scaled(np.sqrt(weight)) for weight, statistic in self._weighted()))

    def named_features(self, A):
        sizes = [(float(np.sqrt(weight)), statistic.size) for weight, statistic in self._weighted()]
        out = []
        for tokens in Strings.of(A).token_lists(self.tokens):
            own = defaultdict(float)
            for root, size in sizes:
                for begin in range(len(tokens) - size + 1):
                    own[Name(quoted(tokens[begin : begin + size]), size)] += root
            out.append(dict(own))
        return out

    @classmethod
    def suggestions(cls, items):
        words = [] if items.aligned or items.are_sequences else [(2, "normalised(spectrum(p=1, tokens='words'))")]
        return [(0, "normalised(spectrum(p=3))"), (1, "normalised(spectrum(p=(2, 5)))"), *words]

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)
