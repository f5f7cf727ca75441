"""Kernels that align two strings, by a dynamic programme over all pairs of places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit
from ..._runtime.interrupts import heed
from ..._validation.parameters import number, size
from ..base import Kernel
from ..engine.pairing import Tile
from ..engine.pairwise import MOMENT, each_pair
from .spectrum import Substrings
from .string_collection import Strings, check_tokens
from .subsequences import can_list, named_subsequences, refuse_too_many, steps, subsequences

__all__ = ["LocalAlignment", "Subsequence"]


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
                heed()
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
