"""Kernels that align two strings, by a dynamic programme over all pairs of places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import special

from ..checks.parameters import number, size
from ..runtime.compile import Array, jit
from ..runtime.interrupts import check_interrupt
from .base import Kernel, Range
from .engine.counts import Counts, chain, doubled, empty_table, few_enough, place_of, table_of
from .engine.tiles import MOMENT, Tile, each_pair
from .strings import Strings, Substrings, check_tokens
from .text_form import Name, NamedFeatures, quoted

__all__ = ["LocalAlignment", "Subsequence"]

# The subsequences of a string one by one, each with the sum of its decays: the features of :class:`Subsequence`.


#: Subsequences that are listed at a time; they take a few gigabytes.
_MOST_SUBSEQUENCES = 2**26


def bound(lengths: Array, letters: Array, size: int) -> Array:
    """How many different subsequences of one size a string has at most: choices of places, or words of its letters."""
    return np.minimum(special.comb(lengths, size), letters.astype(np.float64) ** size)


def steps(lengths: Array, letters: Array, k: int) -> Array:
    """How many steps it takes at most to list the subsequences of size k of each string.

    Every letter of a string goes on from every different subsequence of less than k letters before it.
    """
    return lengths * sum(bound(lengths, letters, size) for size in range(k))


def can_list(lengths: Array, letters: Array, k: int, whole: bool) -> Array:
    """For each string whether its subsequences can be listed, with those of all others or of a few at a time."""
    return few_enough(bound(lengths, letters, k), _MOST_SUBSEQUENCES, whole)


def refuse_too_many(lengths: Array, letters: Array, k: int) -> None:
    most = bound(lengths, letters, k)
    if most.sum() > _MOST_SUBSEQUENCES:
        place = int(most.argmax())
        raise ValueError(
            f"Subsequence: string {place} may have {most[place]:.2g} different subsequences of length {k}, and these "
            f"{lengths.size} strings together {most.sum():.2g}, too many to list; use the kernel itself, a smaller k "
            "or fewer strings at a time."
        )


def subsequences(tokens: Array, starts: Array, k: int, decay: float) -> Counts:
    """For each string its different subsequences of length k, with Σ decay^stretch over the ways to pick each."""
    return Counts.listed(starts.size - 1, lambda first, stop: _list_subsequences(tokens, starts, k, decay, first, stop))


def named_subsequences(strings: Strings, kind: str, listed: Counts, k: int) -> NamedFeatures:
    """Subsequences that were listed, in words, with dots where letters may have been left out.

    A subsequence's key is the chain of its letters after k, so that a word and its key say the same.

    Examples
    --------
    >>> texts = Strings.of(["aab"])
    >>> [found] = named_subsequences(texts, "characters", subsequences(*texts.tokens("characters"), 2, 0.5), 2)
    >>> {name.text: value for name, value in found.items()}
    {"'a' … 'a'": 0.25, "'a' … 'b'": 0.375}
    """
    tokens, starts = strings.tokens(kind)
    out = []
    for place, own in enumerate(strings.token_lists(kind)):
        shown = [quoted([token] if kind == "words" else own[p : p + 1]) for p, token in enumerate(own)]
        # All different words of at most k letters, with the words that go on from them by one more letter.
        words: list[dict[int, str]] = [{k: ""}, *({} for _ in range(k))]
        for letter, text in zip(tokens[starts[place] : starts[place + 1]], shown, strict=True):
            for length in range(k, 0, -1):
                for key, word in words[length - 1].items():
                    words[length][int(chain(np.uint64(key), letter))] = f"{word} … {text}" if word else text
        mine = slice(listed.starts[place], listed.starts[place + 1])
        keys, values = listed.keys[mine].tolist(), listed.values[mine].tolist()
        out.append({Name(words[k][key]): value for key, value in zip(keys, values, strict=True)})
    return out


@jit
def _list_subsequences(
    tokens: Array, starts: Array, k: int, decay: float, first: int, stop: int
) -> tuple[Array, Array, Array]:
    sizes = np.zeros(stop - first, np.int64)
    all_keys, all_values, total = np.empty(1024, np.uint64), np.empty(1024), 0
    for i in range(first, stop):
        words, weights, lengths = np.empty(64, np.uint64), np.empty(64), np.empty(64, np.int64)
        done, phi = np.empty(64, np.uint64), np.empty(64)
        table, done_table = empty_table(128), empty_table(128)
        words[0], weights[0], lengths[0], n, finished = np.uint64(k), 1.0, 0, 1, 0
        for r in range(starts[i], starts[i + 1]):
            # One letter makes at most one new word of every word.
            while 2 * n > words.size:
                words, weights, lengths = doubled(words), doubled(weights), doubled(lengths)
                table = table_of(words, n, 2 * table.size)
            while finished + n > done.size:
                done, phi = doubled(done), doubled(phi)
                done_table = table_of(done, finished, 2 * done_table.size)
            n, finished = _read_letter(
                tokens[r], k, decay, words, weights, lengths, table, n, done, phi, done_table, finished
            )
        while total + finished > all_keys.size:
            all_keys, all_values = doubled(all_keys), doubled(all_values)
        all_keys[total : total + finished], all_values[total : total + finished] = done[:finished], phi[:finished]
        total += finished
        sizes[i - first] = finished
    return sizes, all_keys[:total].copy(), all_values[:total].copy()


@jit
def _read_letter(
    letter: int, k: int, decay: float, words: Array, weights: Array, lengths: Array, table: Array, n: int,
    done: Array, phi: Array, done_table: Array, finished: int,
) -> tuple[int, int]:  # fmt: skip
    # Let w[u] sum λ^(places from the first one picked to here) over the ways to pick u, a word of less than k letters,
    # from the letters read so far; nothing picked weighs w[""] = 1. One more letter x makes of it
    #   w[ux] ← λ·(w[ux] + w[u]),   and where ux has k letters   φ[ux] ← φ[ux] + λ·w[u].
    # A word comes after the word that it goes on from, so that in the order from the last to the first every word is
    # read before it is added to.
    for u in range(n - 1, -1, -1):
        key, weight = chain(words[u], letter), decay * weights[u]
        if u > 0:
            weights[u] *= decay
        if lengths[u] == k - 1:
            s = place_of(done_table, done, key)
            if done_table[s] < 0:
                done_table[s] = finished
                done[finished], phi[finished] = key, 0.0
                finished += 1
            phi[done_table[s]] += weight
        else:
            s = place_of(table, words, key)
            if table[s] < 0:
                table[s] = n
                words[n], weights[n], lengths[n] = key, 0.0, lengths[u] + 1
                n += 1
            weights[table[s]] += weight
    return n, finished


#: One step in a list of subsequences takes as long as so many pairs of letters and lengths.
_STEP_COST = 25


class Aligning(Kernel, named=False):
    """A kernel that is computed one pair of strings at a time. Subclasses have ``tokens`` and write ``align``."""

    collection = Strings
    tokens: str

    def align(
        self,
        a: Array,
        a_starts: Array,
        i: Array,
        b: Array,
        b_starts: Array,
        j: Array,
        out: Array,
        rows: Array,
        at: Array,
    ) -> None:
        """Write the similarity of strings i[p] of ``a`` and j[p] of ``b`` for every p, and go on for a moment only.

        ``at`` holds the pair to go on with and how many letters of its first string have been read; ``rows``, one
        number for each beginning of a string of ``b`` in each of the programme's tables, what they have come to.
        """
        raise NotImplementedError

    def _tables(self) -> int:
        """How many tables the programme has."""
        raise NotImplementedError

    def _pairs(self, A: Strings, B: Strings) -> Callable[[Array, Array], Array]:
        a, a_starts = A.tokens(self.tokens)
        b, b_starts = B.tokens(self.tokens)

        def similarity(i: Array, j: Array) -> Array:
            out, at = np.empty(i.size), np.zeros(2, np.int64)
            rows = np.empty((self._tables(), int(np.diff(b_starts)[j].max(initial=0)) + 1))
            while at[0] < i.size:
                check_interrupt()
                self.align(a, a_starts, i, b, b_starts, j, out, rows, at)
            return out

        return similarity

    def evaluate(self, tile: Tile) -> Array:
        values = each_pair(tile, self._pairs(tile.pairing.A, tile.pairing.B))
        return values.astype(tile.pairing.dtype, copy=False)

    def diag(self, A):
        every = np.arange(len(A))
        return self._pairs(A, A)(every, every)


class Subsequence(Aligning):
    """The gap-weighted subsequence kernel: common subsequences of length k, each decayed by the stretch it covers.

    With λ = ``decay``, every way to pick k places in x and k places in z that read the same counts
    λ^(stretch in x + stretch in z), a stretch running from the first place picked to the last. Wrap it in
    :class:`Normalised` where strings differ in length.

    Parameters
    ----------
    k : int, default=3
    decay : float, default=0.5
        Between 0 (not included) and 1: no penalty on gaps.
    tokens : {"characters", "bytes", "words"}, default="characters"

    Examples
    --------
    >>> from mercer.kernels import Normalised, Subsequence
    >>> Subsequence(k=2, decay=0.5)(["cat"], ["car"])
    array([[0.0625]])
    >>> Normalised(Subsequence(k=2, decay=0.5))(["cat"], ["car"]).round(4)
    array([[0.4444]])
    """

    good_for = "common parts with gaps, in short texts"
    smooth: ClassVar = {"decay": Range.SHARE}

    def __init__(self, k: int = 3, decay: float = 0.5, tokens: str = "characters") -> None:
        self.k = k
        self.decay = decay
        self.tokens = tokens

    def check(self):
        size(self, "k", 1)
        number(self, "decay", high=1)
        check_tokens(self)

    def align(self, a, a_starts, i, b, b_starts, j, out, rows, at):
        _subsequences(a, a_starts, i, b, b_starts, j, float(self.decay), out, rows, at)

    def _tables(self) -> int:
        return int(self.k)

    def features(self, A):
        return self.keyed(A).hashed()

    def keyed(self, A):
        refuse_too_many(*self._sizes(A), int(self.k))
        return subsequences(*A.tokens(self.tokens), int(self.k), float(self.decay))

    def named_features(self, A):
        return named_subsequences(Strings.of(A), self.tokens, self.keyed(Strings.of(A)), int(self.k))

    def cheaper_in_primal(self, A, B):
        (lengths, letters), k = self._sizes(A), int(self.k)
        pairs = k * lengths * float(self._sizes(B)[0].sum())
        return (_STEP_COST * steps(lengths, letters, k) <= pairs) & can_list(lengths, letters, k, whole=A is B)

    def _sizes(self, A: Strings) -> tuple[Array, Array]:
        """How many letters each string has, and how many different ones."""
        return np.diff(A.tokens(self.tokens)[1]), np.diff(Substrings(1, self.tokens).counts(A).starts)


@jit
def _subsequences(
    a: Array,
    a_starts: Array,
    i: Array,
    b: Array,
    b_starts: Array,
    j: Array,
    decay: float,
    out: Array,
    ends: Array,
    at: Array,
) -> None:
    # K′ₗ(s, t) sums over common subsequences of length l, decayed by the stretch from their first place to the *end*
    # of s and of t. For one more letter at the end of s and t,
    #   K″ₗ(sx, ty) = λ·K″ₗ(sx, t) + [x = y]·λ²·K′ₗ₋₁(s, t)         (the last letter picked in s is x)
    #   K′ₗ(sx, ty) = λ·K′ₗ(s, ty) + K″ₗ(sx, ty),     K′₀ = 1,
    # and the kernel collects λ²·K′ₖ₋₁(s, t) at every pair of equal letters that may come last.
    # ends[l] holds K′ₗ(s, ·) for the part of s read so far, one number for each beginning of t.
    k, steps = ends.shape[0], 0
    for p in range(at[0], i.size):
        t = b[b_starts[j[p]] : b_starts[j[p] + 1]]
        if at[1] == 0:
            ends[0] = 1.0
            ends[1:] = 0.0
            out[p] = 0.0
        total = out[p]
        for r in range(a_starts[i[p]] + at[1], a_starts[i[p] + 1]):
            if steps > MOMENT:
                at[0], at[1], out[p] = p, r - a_starts[i[p]], total
                return
            steps += k * (t.size + 1)
            x = a[r]
            for q in range(t.size):
                if t[q] == x:
                    total += ends[k - 1, q]
            # From the longest to the shortest, so that ends[l − 1] still belongs to s without x.
            for level in range(k - 1, 0, -1):
                last = 0.0
                for q in range(t.size):
                    last *= decay
                    if t[q] == x:
                        last += decay * decay * ends[level - 1, q]
                    ends[level, q + 1] = decay * ends[level, q + 1] + last
        out[p] = decay * decay * total
        at[1] = 0
    at[0] = i.size


class LocalAlignment(Aligning):
    """The Smith–Waterman score: the best score of aligning a stretch of x with a stretch of z.

    Equal letters score ``match``, different ones ``mismatch``; a gap of n letters costs gap_open + (n−1)·gap_extend.
    **Not always positive semi-definite**: an exact solver may refuse its matrix.

    Parameters
    ----------
    match : float, default=2
    mismatch : float, default=-1
    gap_open : float, default=2
    gap_extend : float, default=1
    tokens : {"characters", "bytes", "words"}, default="characters"

    Examples
    --------
    >>> from mercer.kernels import LocalAlignment
    >>> LocalAlignment()(["xxGATTACAxx"], ["GATACA"])
    array([[10.]])
    """

    good_for = "proteins related in one stretch; not always a kernel"
    psd = False
    smooth: ClassVar = {
        "match": Range.POSITIVE,
        "mismatch": Range.NEGATIVE,
        "gap_open": Range.POSITIVE,
        "gap_extend": Range.POSITIVE,
    }

    def __init__(
        self,
        match: float = 2.0,
        mismatch: float = -1.0,
        gap_open: float = 2.0,
        gap_extend: float = 1.0,
        tokens: str = "characters",
    ) -> None:
        self.match = match
        self.mismatch = mismatch
        self.gap_open = gap_open
        self.gap_extend = gap_extend
        self.tokens = tokens

    def check(self):
        number(self, "match")
        number(self, "mismatch", -np.inf, high=0)
        number(self, "gap_open", strict=False)
        number(self, "gap_extend", strict=False)
        check_tokens(self)

    def align(self, a, a_starts, i, b, b_starts, j, out, rows, at):
        scores = tuple(float(score) for score in (self.match, self.mismatch, self.gap_open, self.gap_extend))
        _best_stretches(a, a_starts, i, b, b_starts, j, scores, out, rows, at)

    def _tables(self) -> int:
        return 2


@jit
def _best_stretches(
    a: Array,
    a_starts: Array,
    i: Array,
    b: Array,
    b_starts: Array,
    j: Array,
    scores: Any,
    out: Array,
    rows: Array,
    at: Array,
) -> None:
    # Gotoh's recursion. best[q]: the best alignment that ends at the letters just read of x and at letter q of z;
    # in_z[q]: the best one that ends in a gap of z there. Below zero one starts anew.
    match, mismatch, gap_open, gap_extend = scores
    best, in_z, steps = rows[0], rows[1], 0
    for p in range(at[0], i.size):
        z = b[b_starts[j[p]] : b_starts[j[p] + 1]]
        if at[1] == 0:
            best[:] = 0.0
            in_z[:] = -np.inf
            out[p] = 0.0
        highest = out[p]
        for r in range(a_starts[i[p]] + at[1], a_starts[i[p] + 1]):
            if steps > MOMENT:
                at[0], at[1], out[p] = p, r - a_starts[i[p]], highest
                return
            steps += z.size + 1
            diagonal, in_x = 0.0, -np.inf
            for q in range(1, z.size + 1):
                in_z[q] = max(in_z[q] - gap_extend, best[q] - gap_open)
                in_x = max(in_x - gap_extend, best[q - 1] - gap_open)
                score = diagonal + (match if a[r] == z[q - 1] else mismatch)
                diagonal = best[q]
                best[q] = max(max(0.0, score), max(in_x, in_z[q]))
                highest = max(highest, best[q])
        out[p] = highest
        at[1] = 0
    at[0] = i.size
