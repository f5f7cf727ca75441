"""Items as counts of keys.

A string is the counts of its substrings, a set the counts of its items, a graph the counts of its subtrees: a sparse
vector with a place for each of the 2⁶⁴ keys.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy import sparse

from ...checks.tables import is_missing
from ...runtime.compile import Array, jit
from ...runtime.numerics import copy_into
from ...runtime.threads import for_each
from .statistics import Statistic
from .tiles import chunks, gather, in_chunks, indices, starts_of

# The hash table by which keys are numbered, counted and looked up.
#
# Different keys stand one after the other in a list of ``names``; the table has, at a place that the key says, the
# number of a key in that list, or −1. A key whose place is taken goes to the next free one (open addressing). The size
# is a power of two and at least twice the number of keys, so that a search ends soon.


@jit
def empty_table(size: int) -> Array:
    return np.full(size, -1, np.int32)


@jit
def place_of(table: Array, names: Array, key: Any) -> Any:
    """Where the table has a key, or would have it; keys are mixed, so that their last bits address the table."""
    s = np.int64(key & np.uint64(table.size - 1))
    while table[s] >= 0 and names[table[s]] != key:
        s = (s + 1) & (table.size - 1)
    return s


@jit
def table_of(names: Array, used: int, size: int) -> Array:
    """A table of this size with the first ``used`` of the names."""
    table = empty_table(size)
    for k in range(used):
        table[place_of(table, names, names[k])] = k
    return table


@jit
def doubled(values: Array) -> Array:
    """The values with as much room again behind them."""
    out = np.empty(2 * values.size, values.dtype)
    copy_into(values, out)
    return out


@jit
def number(keys: Array) -> tuple[Array, Array, Array]:
    """The number of each key in order of first appearance; the different keys; and the table of their numbers."""
    size, used = 1024, 0
    table, names = empty_table(size), np.empty(size, np.uint64)
    out = np.empty(keys.size, np.int32)
    for p in range(keys.size):
        if 2 * used >= size:
            size *= 2
            names = doubled(names)
            table = table_of(names, used, size)
        s = place_of(table, names, keys[p])
        if table[s] < 0:
            table[s] = used
            names[used] = keys[p]
            used += 1
        out[p] = table[s]
    return out, names[:used], table


@jit
def look_up(table: Array, names: Array, keys: Array) -> Array:
    """The numbers of some keys, −1 for those that have none."""
    out = np.empty(keys.size, np.int32)
    for p in range(keys.size):
        out[p] = table[place_of(table, names, keys[p])]
    return out


# Keys of 64 bits for tokens, set items and labels.
#
# A key depends on the thing it stands for and on nothing else: the same word has the same key in every batch, process
# and machine, so nothing has to be fitted or remembered. Among a million different things, two share a key with
# probability 3·10⁻⁸.


_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@jit
def mix(x: Any) -> Any:
    """A bijection of 64-bit numbers after which every bit depends on every bit (the finaliser of SplitMix64)."""
    x = np.uint64(x) + _STEP
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@jit
def chain(key: Any, value: Any) -> Any:
    """The key of a sequence with one more value at its end."""
    return mix(mix(key) ^ np.uint64(value))


@jit
def number_keys(numbers: Array) -> Array:
    """The keys of whole numbers."""
    out = np.empty(numbers.size, np.uint64)
    for i in range(numbers.size):
        out[i] = mix(np.uint64(numbers[i]))
    return out


def key_of(value: Any) -> int:
    """The key of a text, a number, or a tuple or frozen set of such.

    Numbers that are equal in Python (``1``, ``1.0``, ``True``) have the same key.
    """
    if isinstance(value, str):
        return _digest(b"text", value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return _digest(b"bytes", value)
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        whole = int(value)
        if -(2**63) <= whole < 2**63:
            return int(number_keys(np.array([whole]))[0])
        return _digest(b"whole", str(whole).encode())
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"{value!r} is not an item; drop it first.")
        return key_of(int(value)) if value == int(value) else _digest(b"real", float(value).hex().encode())
    if isinstance(value, (tuple, frozenset)):
        keys = [key_of(part) for part in value]
        kind = b"tuple" if isinstance(value, tuple) else b"set"
        ordered = keys if isinstance(value, tuple) else sorted(keys)
        return _digest(kind, np.array(ordered, dtype="<u8").tobytes())
    raise ValueError(
        f"an item must be text, a number, or a tuple of these; got {value!r:.60} ({type(value).__name__})."
    )


def _digest(kind: bytes, data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=kind).digest(), "little")


class KnownKeys(dict[Any, int]):
    """Keys of the values met so far: each different value is digested once."""

    def __missing__(self, value: Any) -> int:
        key = self[value] = key_of(value)
        return key

    def of(self, values: Iterable[Any], count: int = -1) -> Array:
        return np.fromiter(map(self.__getitem__, values), np.uint64, count)


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


# Σⱼ zⱼφ(xⱼ) as one vector of weights, so that new items are scored by their features alone.


class FeatureWeights:
    """w = Σⱼ zⱼφ(xⱼ), one column for each class score, over the features that any of the items has.

    As Σⱼ zⱼ·k(xⱼ, x) = ⟨w, φ(x)⟩, a new item costs one look-up for each of its features, however many items w is made
    of. Features are known by their keys of 64 bits, so that nothing is lost by hashing into columns.

    Parameters
    ----------
    counts : Counts
        φ of the items.
    coef : array of shape (scores, items)
        The coefficients z.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> kernel = Spectrum(p=1)
    >>> weights = FeatureWeights(kernel.keyed(kernel.items(["aab", "c"])), np.array([[2.0, -1.0]]))
    >>> weights.scores(kernel.keyed(kernel.items(["ab", "cc", "d"])))  # 2·(2 + 1), −1·2, 0
    array([[ 6.],
           [-2.],
           [ 0.]])
    """

    def __init__(self, counts: Counts, coef: Array) -> None:
        self._counts, self._coef = counts, coef
        self._columns, self._names, self._table = number(counts.keys)

    @property
    def nbytes(self) -> int:
        """The size of the weights, which are made when the first item is scored."""
        return 8 * self._names.size * self._coef.shape[0]

    @cached_property
    def _weights(self) -> Array:
        out = np.zeros((self._names.size, self._coef.shape[0]))
        counts, coef = self._counts, np.ascontiguousarray(self._coef.T, dtype=np.float64)
        _gather(counts.starts, self._columns, counts.values, coef, out)
        return out

    def scores(self, counts: Counts) -> Array:
        """⟨w, φ(x)⟩ for every item x."""
        weights = self._weights
        out = np.zeros((len(counts), weights.shape[1]))
        columns = look_up(self._table, self._names, counts.keys)
        in_chunks(len(counts), lambda a, b: _score(counts.starts, columns, counts.values, weights, a, b, out))
        return out


@jit
def _gather(starts: Array, columns: Array, values: Array, coef: Array, out: Array) -> None:
    for j in range(starts.size - 1):
        for p in range(starts[j], starts[j + 1]):
            for k in range(out.shape[1]):
                out[columns[p], k] += values[p] * coef[j, k]


@jit
def _score(starts: Array, columns: Array, values: Array, weights: Array, first: int, stop: int, out: Array) -> None:
    for i in range(first, stop):
        for p in range(starts[i], starts[i + 1]):
            if columns[p] >= 0:
                for k in range(out.shape[1]):
                    out[i, k] += values[p] * weights[columns[p], k]


# Collections of items that are not rows of numbers: strings, sets, graphs, stored flat so that compiled loops run over
# all of them.


T = TypeVar("T")


class Collection:
    """An immutable collection of items. Slices and index arrays give collections, a whole number gives one item."""

    ndim = 1
    #: What the items are called.
    kind: ClassVar[str]
    #: Whether every kernel reads the same items in the same way, so that the parts of an expression can share them.
    shared: ClassVar[bool] = True

    @classmethod
    def of(cls, items: Any) -> Any:
        """From a user's list, array or column; a collection of this kind is returned as it is."""
        raise NotImplementedError

    def __init__(self) -> None:
        self._memo: dict[Hashable, Any] = {}

    def __len__(self) -> int:
        raise NotImplementedError

    @property
    def shape(self) -> tuple[int]:
        """As of an array of items: scikit-learn then takes items from a collection as it takes them from an array."""
        return (len(self),)

    def take(self, index: Array) -> Any:
        """The collection of the items in these places."""
        raise NotImplementedError

    def item(self, place: int) -> Any:
        """One item, in the form that a user would write it."""
        raise NotImplementedError

    def __getitem__(self, places: Any) -> Any:
        if isinstance(places, (int, np.integer)):
            return self.item(range(len(self))[places])
        return self.take(np.arange(len(self))[places])

    def __iter__(self) -> Iterator[Any]:
        return map(self.item, range(len(self)))

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """The value of ``make()``, computed at the first request for ``key`` and kept with the items."""
        if key not in self._memo:
            self._memo[key] = make()
        return self._memo[key]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_memo": {}}

    def __repr__(self) -> str:
        return f"<{len(self)} {type(self).__name__.lower()}>"


def listed(items: Any, what: str) -> list[Any]:
    """A user's list, array or column as a list of objects, none of them missing."""
    if isinstance(items, (str, bytes)):
        raise ValueError(f"expected a collection of {what}, got the single text {items!r:.60}; put it into a list.")
    if len(getattr(items, "shape", ())) == 2:
        if items.shape[1] != 1:
            raise ValueError(
                f"expected one column of {what}, got {items.shape[1]} columns; name the column that counts."
            )
        items = items.iloc[:, 0] if hasattr(items, "iloc") else items[:, 0]
    if hasattr(items, "tolist") or hasattr(items, "to_list"):
        return list(items.tolist() if hasattr(items, "tolist") else items.to_list())
    if isinstance(items, (set, frozenset, dict)) or not hasattr(items, "__len__") or not hasattr(items, "__iter__"):
        raise ValueError(f"expected a list, array or column of {what}, got {type(items).__name__}.")
    return list(items)


def as_objects(items: Any) -> Array:
    """Items of any kind in an array of objects, none of them missing."""
    given = list(items) if len(getattr(items, "shape", ())) > 2 else listed(items, "items")
    out = np.empty(len(given), dtype=object)
    for place, item in enumerate(given):
        if is_missing(item):
            raise ValueError(f"item {place} is missing ({item!r}); drop it or fill it in first.")
        out[place] = item
    return out


# The dot product of counts: what kernels on strings, sets and graphs are functions of.


#: A product of dense rows does about this many multiplications in the time of one among sparse ones,
_DENSE_GAIN = 50
#: and may hold this many numbers.
_DENSE_NUMBERS = 2**28
#: Prepared blocks of the right side are kept up to this many bytes.
_KEPT_BYTES = 2**28
#: Whole numbers below this are exact in single precision.
_EXACT_SINGLE = 2**24


class CountDot(Statistic):
    """Σ over all keys of (count in x)·(count in z). A subclass says what is counted."""

    translation_invariant = False

    def count(self, A: Any) -> Counts:
        """The counts of every item."""
        raise NotImplementedError

    def counts(self, A: Collection) -> Counts:
        """As :meth:`count`, kept with the items."""
        return A.once(self, lambda: self.count(A))

    def prepare(self, A, B):
        return paired(self.counts(A), self.counts(B))

    def tile(self, a, b, i, j):
        if isinstance(a, np.ndarray):
            return a[i] @ b[j].T
        rows = indices(i)
        inverted = b.inverted(j)
        out = np.zeros((rows.size, inverted.items), a.values.dtype)
        _accumulate(a.starts, a.columns, a.values, rows, inverted.starts, inverted.places, inverted.values, out)
        return out

    def diag(self, A):
        return self.counts(A).squared_norms()

    def features(self, A: Collection) -> Any:
        """The counts as a CSR matrix with hashed columns."""
        return self.counts(A).hashed()


@dataclass(frozen=True)
class Inverted:
    """Some rows of a sparse matrix by columns: which of them have a column, and with what value."""

    items: int
    starts: Array
    places: Array
    values: Array


class NumberedCounts:
    """Counts whose keys are numbered 0, 1, 2, …: rows of a sparse matrix with few columns."""

    def __init__(self, starts: Array, columns: Array, values: Array, width: int) -> None:
        self.starts, self.columns, self.values, self.width = starts, columns, values, width
        self._kept: dict[tuple[int, int], Inverted] = {}
        self._free_bytes = _KEPT_BYTES

    def inverted(self, places: Any) -> Inverted:
        """Some rows by columns. What belongs to a slice is kept, as every row of tiles asks for it again."""
        key = (places.start, places.stop) if isinstance(places, slice) else None
        if key in self._kept:
            return self._kept[key]
        rows = indices(places)
        out = Inverted(rows.size, *_invert(self.starts, self.columns, self.values, rows, self.width))
        size = out.starts.nbytes + out.places.nbytes + out.values.nbytes
        if key is not None and size <= self._free_bytes:
            self._free_bytes -= size
            self._kept[key] = out
        return out

    def dense(self) -> Array:
        out = np.zeros((self.starts.size - 1, self.width), self.values.dtype)
        out[np.repeat(np.arange(len(out)), np.diff(self.starts)), self.columns] = self.values
        return out


def paired(a: Counts, b: Counts) -> tuple[Any, Any]:
    """Both sides with their keys numbered together: dense rows where that is faster, else :class:`NumberedCounts`.

    By Cauchy and Schwarz no partial sum of a dot product of counts exceeds the largest squared norm, and sums of whole
    numbers below 2²⁴ are exact in single precision, which is twice as fast.
    """
    largest = max(float(side.squared_norms().max(initial=0.0)) for side in (a, b))
    dtype = np.float32 if largest < _EXACT_SINGLE else np.float64
    columns_b, names, table = number(b.keys)
    width = names.size
    right = NumberedCounts(b.starts, columns_b, b.values.astype(dtype), width)
    if a is b:
        left = right
    else:
        columns_a = look_up(table, names, a.keys)
        known = columns_a >= 0
        sizes = np.diff(np.concatenate([[0], np.cumsum(known)])[a.starts])
        left = NumberedCounts(starts_of(sizes), columns_a[known], a.values[known].astype(dtype), width)
    columns = [np.bincount(side.columns, minlength=width).astype(np.float64) for side in (left, right)]
    sparse_work = columns[0] @ columns[1] / max(1, len(a) * len(b))  # pairs of entries to multiply for a pair of items
    rows = len(a) + (0 if a is b else len(b))
    if width <= _DENSE_GAIN * sparse_work and rows * width <= _DENSE_NUMBERS:
        dense = right.dense()
        return (dense if left is right else left.dense()), dense
    return left, right


@jit
def _invert(starts: Array, columns: Array, values: Array, rows: Array, width: int) -> tuple[Array, Array, Array]:
    begins = np.zeros(width + 1, np.int32)
    for i in rows:
        for p in range(starts[i], starts[i + 1]):
            begins[columns[p] + 1] += 1
    for c in range(width):
        begins[c + 1] += begins[c]
    free = begins[:-1].copy()
    places, weights = np.empty(begins[-1], np.uint32), np.empty(begins[-1], values.dtype)
    for r in range(rows.size):
        for p in range(starts[rows[r]], starts[rows[r] + 1]):
            c = columns[p]
            places[free[c]] = r
            weights[free[c]] = values[p]
            free[c] += 1
    return begins, places, weights


@jit
def _accumulate(
    starts: Array, columns: Array, values: Array, rows: Array, begins: Array, places: Array, weights: Array, out: Array
) -> None:
    for r in range(rows.size):
        row = out[r]
        for p in range(starts[rows[r]], starts[rows[r] + 1]):
            c, value = columns[p], values[p]
            for q in range(begins[c], begins[c + 1]):
                row[places[q]] += value * weights[q]
