"""Aligned strings, compared place by place."""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import Array, jit
from ..._validation.parameters import size
from ..base import Kernel
from ..engine.counts import Counts
from ..engine.flat import starts_of
from ..engine.keys import chain
from ..engine.pairing import Tile
from ..readable import Name, quoted
from .string_collection import Strings, check_tokens

__all__ = ["WeightedDegree"]

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
