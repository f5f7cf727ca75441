"""Strings, stored as one array of code points."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import comb
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..checks.parameters import choice, is_number, is_whole, shown, size
from ..checks.tables import is_missing
from ..runtime.compile import Array, jit
from ..runtime.numerics import copy_into
from .base import Kernel, Range
from .engine.counts import COLUMNS, Collection, CountDot, Counts, KnownKeys, beside, chain, count, listed, number_keys
from .engine.statistics import Statistic
from .engine.tiles import Tile, gather, in_chunks, starts_of
from .text_form import Name, quoted

__all__ = ["Mismatch", "Spectrum", "Strings", "WeightedDegree"]

#: What a string is a sequence of.
TOKENS = ("characters", "bytes", "words")
#: Strings of fewer different letters than this are sequences.
_SEQUENCE_LETTERS = 30


class Strings(Collection):
    """Texts as one array of code points, cut where each text starts.

    Parameters
    ----------
    codes : array of uint32
        The code points of all texts, one after the other.
    starts : array of int
        Where each text starts, and where the last one ends.

    Examples
    --------
    >>> from mercer.kernels import Strings
    >>> texts = Strings.of(["GATTACA", "", "naïve 🙂"])
    >>> len(texts), texts[2], list(texts[:2])
    (3, 'naïve 🙂', ['GATTACA', ''])
    """

    kind = "strings"

    def __init__(self, codes: Array, starts: Array) -> None:
        super().__init__()
        self.codes, self.starts = codes, starts

    @classmethod
    def of(cls, items: Any) -> Strings:
        """From a list, array or column of texts; a collection of strings is returned as it is."""
        if isinstance(items, Strings):
            return items
        texts = listed(items, "texts")
        if set(map(type, texts)) - {str}:
            texts = [_as_text(text, place) for place, text in enumerate(texts)]
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        return cls(codes, starts_of(list(map(len, texts))))

    def __len__(self) -> int:
        return self.starts.size - 1

    def take(self, index: Array) -> Strings:
        return Strings(*gather(self.codes, self.starts, index))

    def item(self, place: int) -> str:
        codes = self.codes[self.starts[place] : self.starts[place + 1]]
        return codes.tobytes().decode("utf-32-le", "surrogatepass")

    def tokens(self, kind: str) -> tuple[Array, Array]:
        """The characters, bytes or words of all strings as numbers, and where each string starts."""
        if kind == "characters" or (kind == "bytes" and self.codes.max(initial=0) < 128):
            return self.codes, self.starts
        return self.once(kind, self._bytes if kind == "bytes" else self._words)

    def token_lists(self, kind: str) -> list[Any]:
        """As :meth:`tokens`, in words: a text, bytes or a list of words for each string."""
        if kind == "words":
            return [text.split() for text in self]
        return [text.encode("utf-8", "surrogateescape") for text in self] if kind == "bytes" else list(self)

    @property
    def aligned(self) -> bool:
        """Whether all strings have one length, so that places can be compared."""
        sizes = np.diff(self.starts)
        return bool(sizes.size and sizes.min() == sizes.max() > 1)

    @property
    def alphabet(self) -> str:
        """Every character that occurs."""
        return "".join(map(chr, np.unique(self.codes).tolist()))

    @property
    def are_sequences(self) -> bool:
        """Whether the characters are few, as in sequences in which one may stand for another."""
        return 2 <= len(self.alphabet) < _SEQUENCE_LETTERS

    def _bytes(self) -> tuple[Array, Array]:
        encoded = self.token_lists("bytes")
        return np.frombuffer(b"".join(encoded), np.uint8).astype(np.uint32), starts_of(list(map(len, encoded)))

    def _words(self) -> tuple[Array, Array]:
        split = self.token_lists("words")
        known = KnownKeys()
        return known.of(word for words in split for word in words), starts_of(list(map(len, split)))


def _as_text(value: Any, place: int) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):  # bytes that are no text become lone surrogates, which turn into these bytes again
        return value.decode("utf-8", "surrogateescape")
    if is_missing(value):
        raise ValueError(f"text {place} is missing ({value!r}); drop it or fill it in first.")
    raise ValueError(f"item {place} is not a text but {value!r:.60} ({type(value).__name__}); turn it into text first.")


def check_tokens(kernel: Any) -> None:
    """Check the parameter that says what a string is a sequence of."""
    choice(kernel, "tokens", TOKENS)


# Kernels that count substrings.


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

    smooth: ClassVar = {"weights": Range.POSITIVE}

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
            for root, length in sizes:
                for begin in range(len(tokens) - length + 1):
                    own[Name(quoted(tokens[begin : begin + length]), length)] += root
            out.append(dict(own))
        return out

    @classmethod
    def suggestions(cls, items):
        words = [] if items.aligned or items.are_sequences else [(2, "normalised(spectrum(p=1, tokens='words'))")]
        return [(0, "normalised(spectrum(p=3))"), (1, "normalised(spectrum(p=(2, 5)))"), *words]

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)


# Substrings that may differ in a few places.


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
            copy_into(numbers[:n], out[place:])
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


# Aligned strings, compared place by place.


#: Making and looking up the key of one substring takes as long as comparing so many pairs of letters.
_SUBSTRING_COST = 64


class WeightedDegree(Kernel):
    """The weighted degree kernel of strings of one length: common substrings of length 1 to k at the same place.

    A common substring of length d counts β_d = 2(k−d+1)/(k(k+1)), so that the weights of all lengths add up to one.

    Parameters
    ----------
    k : int, default=5
        The longest substrings that count.
    tokens : {"characters", "bytes", "words"}, default="characters"

    Examples
    --------
    >>> from mercer.kernels import WeightedDegree
    >>> WeightedDegree(k=2)(["GATTACA"], ["GACTACA"]).round(4)
    array([[5.3333]])
    """

    good_for = "strings of one length where the place counts: splice sites"
    collection = Strings

    def __init__(self, k: int = 5, tokens: str = "characters") -> None:
        self.k = k
        self.tokens = tokens

    def check(self):
        size(self, "k", 1)
        check_tokens(self)

    def _table(self, A: Strings) -> Array:
        """The tokens as a table with a row for each string."""
        tokens, starts = A.tokens(self.tokens)
        sizes = np.diff(starts)
        if sizes.size and (sizes != sizes[0]).any():
            other = int(np.argmax(sizes != sizes[0]))
            raise ValueError(
                f"WeightedDegree: strings must have one length, but string 0 has {sizes[0]} {self.tokens} and string "
                f"{other} has {sizes[other]}; cut or pad them, or use Spectrum."
            )
        return tokens.reshape(sizes.size, sizes[0] if sizes.size else 0)

    def evaluate(self, tile: Tile) -> Array:
        left, right = tile.of_items(id(self), self._table)
        if left.shape[1] != right.shape[1]:
            raise ValueError(
                f"WeightedDegree: strings must have one length, but those on the left have {left.shape[1]} "
                f"{self.tokens} and those on the right {right.shape[1]}; cut or pad them, or use Spectrum."
            )
        out = np.empty(tile.shape, tile.pairing.dtype)
        _compare(np.ascontiguousarray(left), np.ascontiguousarray(right.T), int(self.k), out)
        return out

    def diag(self, A):
        # Every place starts a common substring of each length that fits: Σ_d β_d·max(0, L − d + 1).
        table, k = self._table(A), int(self.k)
        degrees = np.arange(1, k + 1)
        value = 2 * ((k - degrees + 1) * np.maximum(table.shape[1] - degrees + 1, 0)).sum() / (k * (k + 1))
        return np.full(len(A), float(value))

    def features(self, A):
        return self.keyed(A).hashed()

    def keyed(self, A):
        table, k = self._table(A), int(self.k)
        keys, degrees = _placed_substrings(table, k)
        values = np.sqrt(2 * (k - degrees + 1) / (k * (k + 1)))
        starts = starts_of(np.full(len(A), keys.size // max(1, len(A))))
        return Counts(starts, keys, values)

    def named_features(self, A):
        k = int(self.k)
        roots = [float(np.sqrt(2 * (k - d + 1) / (k * (k + 1)))) for d in range(1, k + 1)]
        return [
            {
                Name(f"{quoted(tokens[begin : begin + d])} at {begin}"): roots[d - 1]
                for begin in range(len(tokens))
                for d in range(1, min(k, len(tokens) - begin) + 1)
            }
            for tokens in Strings.of(A).token_lists(self.tokens)
        ]

    @classmethod
    def suggestions(cls, items):
        return [(2, "normalised(weighteddegree(k=8))")] if items.aligned else []

    def cheaper_in_primal(self, A, B):
        same_length = self._table(A).shape[1] == self._table(B).shape[1]
        return np.full(len(A), same_length and _SUBSTRING_COST * int(self.k) <= len(B))


@jit
def _compare(left: Array, right: Array, k: int, out: Array) -> None:
    # A run of r equal letters that ends at a place adds the common substrings that end there, of length 1 to
    # r′ = min(r, k): Σ_{d ≤ r′} β_d = r′(2k − r′ + 1)/(k(k + 1)). The inner loop runs along the strings on the right
    # and vectorises; sums of whole numbers are exact.
    runs, sums = np.empty(right.shape[1], np.int32), np.empty(right.shape[1], np.int64)
    for i in range(left.shape[0]):
        runs[:] = 0
        sums[:] = 0
        for place in range(left.shape[1]):
            letter, others = left[i, place], right[place]
            for j in range(runs.size):
                run = min(runs[j] + 1, k) if others[j] == letter else 0
                runs[j] = run
                sums[j] += run * (2 * k - run + 1)
        for j in range(runs.size):
            out[i, j] = sums[j] / (k * (k + 1))


@jit
def _placed_substrings(table: Array, k: int) -> tuple[Array, Array]:
    """Keys of every substring up to length k together with its place, and their lengths."""
    n, width = table.shape
    size = 0
    for degree in range(1, k + 1):
        size += max(0, width - degree + 1)
    keys, degrees = np.empty(n * size, np.uint64), np.empty(n * size, np.int64)
    q = 0
    for i in range(n):
        for begin in range(width):
            key = np.uint64(begin)
            for degree in range(1, min(k, width - begin) + 1):
                key = chain(key, table[i, begin + degree - 1])
                keys[q] = key
                degrees[q] = degree
                q += 1
    return keys, degrees
