"""Items as counts of keys.

A string is the counts of its substrings, a set the counts of its items, a graph the counts of its subtrees: a sparse
vector with a place for each of the 2⁶⁴ keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..._runtime.compile import Array, jit
from ..._runtime.parallel import for_each
from .flat import chunks, gather, in_chunks, starts_of
from .hash_table import empty_table, place_of
from .keys import chain, number_keys

#: Columns of a hashed feature map. Two of s features in use fall together with probability s²/2²¹.
COLUMNS = 2**20
_SHIFT = np.uint64(44)
#: Products of features may have this many entries; they then take a few gigabytes.
MOST_ENTRIES = 2**26
#: New items whose features are listed together.
LISTED_AT_ONCE = 1024


@dataclass(frozen=True)
class Counts:
    """For each item its different keys and how often it has each: a sparse matrix with a column for every key."""

    starts: Array
    keys: Array
    values: Array

    @classmethod
    def listed(cls, n: int, piece: Callable[[int, int], tuple[Array, Array, Array]]) -> Counts:
        """The counts of n items, several pieces at a time.

        ``piece(first, stop)`` gives how many keys each of these items has, and their keys and counts one after another.
        """
        pieces = chunks(n)
        parts: list[Any] = [None] * len(pieces)

        def work(number: int) -> None:
            parts[number] = piece(*pieces[number])

        for_each(work, range(len(pieces)))
        if not parts:
            return cls(np.zeros(1, np.int64), np.empty(0, np.uint64), np.empty(0))
        sizes, keys, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls(starts_of(sizes), keys, values)

    def __len__(self) -> int:
        return self.starts.size - 1

    def squared_norms(self) -> Array:
        return _row_sums(self.starts, self.values**2)

    def totals(self) -> Array:
        return _row_sums(self.starts, self.values)

    def take(self, index: Array) -> Counts:
        keys, starts = gather(self.keys, self.starts, index)
        return Counts(starts, keys, gather(self.values, self.starts, index)[0])

    def in_order(self) -> Counts:
        """The same, with the keys of each item in increasing order."""
        order = np.lexsort([self.keys, np.repeat(np.arange(len(self)), np.diff(self.starts))])
        return Counts(self.starts, self.keys[order], self.values[order])

    def scaled(self, factors: Array | float) -> Counts:
        """The counts of each item times a factor of its own, or one for all."""
        factors = np.broadcast_to(np.asarray(factors, dtype=np.float64), len(self))
        return Counts(self.starts, self.keys, self.values * np.repeat(factors, np.diff(self.starts)))

    def hashed(self) -> Any:
        """The counts as a CSR matrix of :data:`COLUMNS` columns, chosen by the leading bits of the keys."""
        index = np.int32 if max(COLUMNS, self.keys.size) <= np.iinfo(np.int32).max else np.int64
        columns, starts = (self.keys >> _SHIFT).astype(index), self.starts.astype(index, copy=True)
        out = sparse.csr_array((self.values.copy(), columns, starts), shape=(len(self), COLUMNS))
        out.sum_duplicates()
        return out


def few_enough(entries: Array, most: float, whole: bool) -> Array:
    """For each item whether its entries can be listed, with those of the ``whole`` collection or of a few new items."""
    return np.full(entries.size, entries.sum() <= most) if whole else entries <= most / LISTED_AT_ONCE


@jit
def _row_sums(starts: Array, values: Array) -> Array:
    out = np.zeros(starts.size - 1)
    for i in range(out.size):
        for p in range(starts[i], starts[i + 1]):
            out[i] += values[p]
    return out


def count(keys: Array, starts: Array) -> Counts:
    """How often each key occurs among ``keys[starts[i]:starts[i + 1]]``, for every item i."""
    n = starts.size - 1
    different, values, sizes = np.empty_like(keys), np.empty(keys.size), np.zeros(n, np.int64)
    in_chunks(n, lambda first, stop: _count(keys, starts, first, stop, different, values, sizes))
    new_starts = starts_of(sizes)
    return Counts(new_starts, *_squeeze(different, values, starts, new_starts))


@jit
def _count(keys: Array, starts: Array, first: int, stop: int, different: Array, values: Array, sizes: Array) -> None:
    longest = 1
    for i in range(first, stop):
        longest = max(longest, starts[i + 1] - starts[i])
    size = 2
    while size < 2 * longest:
        size *= 2
    room = empty_table(size)
    for i in range(first, stop):
        begin, end, used = starts[i], starts[i + 1], 0
        size = 2
        while size < 2 * (end - begin):
            size *= 2
        table, names, times = room[:size], different[begin:end], values[begin:end]
        table[:] = -1
        for p in range(begin, end):
            s = place_of(table, names, keys[p])
            if table[s] < 0:
                table[s] = used
                names[used] = keys[p]
                times[used] = 0.0
                used += 1
            times[table[s]] += 1.0
        sizes[i] = used


@jit
def _squeeze(keys: Array, values: Array, starts: Array, new_starts: Array) -> tuple[Array, Array]:
    new_keys, new_values = np.empty(new_starts[-1], keys.dtype), np.empty(new_starts[-1])
    for i in range(starts.size - 1):
        for p in range(new_starts[i + 1] - new_starts[i]):
            new_keys[new_starts[i] + p] = keys[starts[i] + p]
            new_values[new_starts[i] + p] = values[starts[i] + p]
    return new_keys, new_values


@jit
def repeat_keys(starts: Array, keys: Array, values: Array) -> tuple[Array, Array, Array]:
    """Counts in unary: a key with count c becomes the c keys (key, 1), …, (key, c), each with count one.

    Two items then share min(c, c′) of them, so the dot product in unary is the size of the multisets' intersection.
    """
    new_starts = np.zeros(starts.size, np.int64)
    for i in range(starts.size - 1):
        total = 0
        for p in range(starts[i], starts[i + 1]):
            total += int(values[p])
        new_starts[i + 1] = new_starts[i] + total
    out = np.empty(new_starts[-1], np.uint64)
    q = 0
    for p in range(keys.size):
        for level in range(int(values[p])):
            out[q] = chain(keys[p], level) if level else keys[p]
            q += 1
    return new_starts, out, np.ones(q)


def in_unary(counts: Counts) -> Counts:
    """The counts in unary, see :func:`repeat_keys`; sets are that already."""
    return Counts(*repeat_keys(counts.starts, counts.keys, counts.values)) if (counts.values > 1).any() else counts


def of_columns(features: Any) -> Counts:
    """Rows of a dense or sparse matrix as counts, each column with the key of its number."""
    rows = sparse.csr_array(features)
    return Counts(
        rows.indptr.astype(np.int64), number_keys(rows.indices.astype(np.int64)), rows.data.astype(np.float64)
    )


def beside(left: Counts, right: Counts) -> Counts:
    """The counts of both, item by item, for keys that say by themselves which of the two they belong to."""
    starts = left.starts + right.starts
    keys, values = np.empty(starts[-1], np.uint64), np.empty(starts[-1])
    sizes = np.diff(left.starts)
    first = np.arange(left.keys.size) + np.repeat(right.starts[:-1], sizes)
    second = np.arange(right.keys.size) + np.repeat(left.starts[1:], np.diff(right.starts))
    for places, part in ((first, left), (second, right)):
        keys[places], values[places] = part.keys, part.values
    return Counts(starts, keys, values)


def marked(counts: Counts, mark: int) -> Counts:
    """The same counts by keys that belong to this mark alone."""
    return Counts(counts.starts, _chained(counts.keys, mark), counts.values)


@jit
def _chained(keys: Array, mark: int) -> Array:
    out = np.empty_like(keys)
    for p in range(keys.size):
        out[p] = chain(keys[p], mark)
    return out


def products(left: Counts, right: Counts) -> Counts:
    """Every count of one times every count of the other, item by item, by the key of the pair."""
    entries = float(np.diff(left.starts) @ np.diff(right.starts).astype(np.float64))
    if entries > MOST_ENTRIES:
        raise ValueError(
            f"a product of kernels has {entries:.2g} features on these {len(left)} items, too many to list; use the "
            "kernel itself, or fewer items at a time."
        )
    starts, p, q = pair_places(left.starts, right.starts)
    return Counts(starts, _pair_keys(left.keys, p, right.keys, q), left.values[p] * right.values[q])


@jit
def pair_places(starts: Array, other_starts: Array) -> tuple[Array, Array, Array]:
    """Every place of an item's piece with every place of its other piece: where the pairs of each item start, and the
    two places of each pair."""
    new_starts = np.zeros(starts.size, np.int64)
    for i in range(starts.size - 1):
        new_starts[i + 1] = new_starts[i] + (starts[i + 1] - starts[i]) * (other_starts[i + 1] - other_starts[i])
    one, other = np.empty(new_starts[-1], np.int64), np.empty(new_starts[-1], np.int64)
    place = 0
    for i in range(starts.size - 1):
        for p in range(starts[i], starts[i + 1]):
            for q in range(other_starts[i], other_starts[i + 1]):
                one[place], other[place] = p, q
                place += 1
    return new_starts, one, other


@jit
def _pair_keys(keys: Array, p: Array, others: Array, q: Array) -> Array:
    out = np.empty(p.size, np.uint64)
    for r in range(p.size):
        out[r] = chain(keys[p[r]], others[q[r]])
    return out
