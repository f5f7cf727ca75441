"""Kernels on sets and multisets: what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..checks.parameters import truth
from ..checks.tables import as_rows, is_missing
from ..runtime.compile import Array
from .base import Kernel
from .engine.counts import Collection, CountDot, Counts, KnownKeys, count, in_unary, listed, number_keys
from .engine.statistics import Statistic
from .engine.tiles import Tile, starts_of
from .text_form import Name

__all__ = ["Bags", "Intersection", "Jaccard", "MinMax", "Subsets", "Tanimoto"]

# Sets and multisets, stored as counts of keys.


#: Larger counts would not be told apart from their neighbours when they are added up.
_LARGEST_COUNT = 2**53


class Bags(Collection):
    """Sets or multisets: for each, how often it has each item.

    Parameters
    ----------
    counts : Counts
    names : dict
        The item that each key stands for.

    Examples
    --------
    >>> from collections import Counter
    >>> from mercer.kernels import Bags
    >>> bags = Bags.of([{"milk"}, ["egg", "egg", "salt"], Counter(egg=3), set()])
    >>> len(bags), bags[1] == Counter(egg=2, salt=1)
    (4, True)
    """

    kind = "sets"

    def __init__(self, counts: Counts, names: Mapping[int, Any]) -> None:
        super().__init__()
        self.counts, self.names = counts, names

    @classmethod
    def of(cls, items: Any) -> Bags:
        """From a list or column of sets, lists (repeats count), Counters or other mappings of items to counts; or from
        the rows of an array, sparse matrix or frame of whole numbers, whose columns are the items 0, 1, 2, …"""
        if isinstance(items, Bags):
            return items
        if sparse.issparse(items) or (len(getattr(items, "shape", ())) == 2 and not _holds_objects(items)):
            return _from_rows(items)
        return _from_collections(listed(items, "sets"))

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, index: Array) -> Bags:
        return Bags(self.counts.take(index), self.names)

    def item(self, place: int) -> Counter[Any]:
        own = slice(self.counts.starts[place], self.counts.starts[place + 1])
        keys, values = self.counts.keys[own].tolist(), self.counts.values[own].astype(int).tolist()
        return Counter({self.names[key]: value for key, value in zip(keys, values)})


def _holds_objects(items: Any) -> bool:
    kinds = [items.dtype] if hasattr(items, "dtype") else list(items.dtypes)
    return any(str(kind).lower().startswith(("object", "list", "array")) for kind in kinds)


def _from_rows(rows: Any) -> Bags:
    table = as_rows(rows)
    table = table if sparse.issparse(table) else sparse.csr_array(table)
    bad = (table.data < 0) | (table.data != np.floor(table.data)) | (table.data > _LARGEST_COUNT)
    if bad.any():
        place = int(np.argmax(bad))
        row = int(np.searchsorted(table.indptr, place, side="right") - 1)
        raise ValueError(
            f"row {row}, column {table.indices[place]} is {table.data[place]:g}, which is no count; sets as rows "
            "have 0, 1 or another whole number in every column."
        )
    if not table.data.all():
        table = table.copy()
        table.eliminate_zeros()
    keys = number_keys(np.arange(table.shape[1]))
    counts = Counts(table.indptr.astype(np.int64), keys[table.indices], table.data.astype(np.float64))
    return Bags(counts, dict(zip(keys.tolist(), range(table.shape[1]))))


def _from_collections(bags: list[Any]) -> Bags:
    for place, bag in enumerate(bags):
        _refuse_other(bag, place)
    known = KnownKeys()
    try:
        if any(isinstance(bag, Mapping) for bag in bags):
            mappings = [_checked(bag if isinstance(bag, Mapping) else Counter(bag), i) for i, bag in enumerate(bags)]
            values = np.array([times for bag in mappings for times in bag.values()], dtype=np.float64)
            counts = Counts(starts_of([len(bag) for bag in mappings]), known.of(chain.from_iterable(mappings)), values)
        else:
            counts = count(known.of(chain.from_iterable(bags)), starts_of([len(bag) for bag in bags]))
    except TypeError:
        raise ValueError(
            "an item of a set must be text, a number, or a tuple of these; some items are lists."
        ) from None
    # A set lists its items in an order that differs between processes; sums over them must not.
    return Bags(counts.in_order(), {key: name for name, key in known.items()})


def _refuse_other(bag: Any, place: int) -> None:
    if isinstance(bag, (set, frozenset, list, tuple, Mapping, np.ndarray)):
        return
    if isinstance(bag, (str, bytes)):
        raise ValueError(
            f"item {place} is the text {bag!r:.40}, not a set; split it into its items first, or use a kernel on "
            "strings."
        )
    if is_missing(bag):
        raise ValueError(f"set {place} is missing ({bag!r}); drop it, or write an empty set.")
    raise ValueError(f"item {place} is not a set, list or Counter but {bag!r:.40} ({type(bag).__name__}).")


def _checked(bag: Mapping[Any, Any], place: int) -> dict[Any, Any]:
    """A mapping of items to counts, without those that are not there."""
    for item, times in bag.items():
        if not isinstance(times, (int, float, np.number)) or not 0 <= times <= _LARGEST_COUNT or times != int(times):
            raise ValueError(f"set {place} has {item!r:.40} {times!r} times; counts are whole numbers, not negative.")
    return {item: times for item, times in bag.items() if times > 0}


#: 2 to a power above this is larger than any number in double precision.
_LARGEST_POWER = 1023
#: Multisets in unary that are larger than this together do not fit into memory.
_LARGEST_TOTAL = 2**31


class SharedItems(CountDot):
    """|A ∩ B|: how many different items are in both."""

    def count(self, A: Bags) -> Counts:
        return Counts(A.counts.starts, A.counts.keys, np.ones_like(A.counts.values))


class SharedCounts(CountDot):
    """Σ over items of the smaller of the two counts."""

    def count(self, A: Bags) -> Counts:
        total = A.counts.values.sum()
        if total > _LARGEST_TOTAL:
            raise ValueError(
                f"the counts of these multisets add up to {total:.3g}; divide them by a common unit first."
            )
        return in_unary(A.counts)


class CountProducts(CountDot):
    """Σ over items of the product of the two counts."""

    def count(self, A: Bags) -> Counts:
        return A.counts


SHARED_ITEMS, SHARED_COUNTS, COUNT_PRODUCTS = SharedItems(), SharedCounts(), CountProducts()


class OnBags(Kernel, named=False):
    """A kernel that is a function of one statistic of two sets and of that statistic of each with itself."""

    collection = Bags
    statistic: ClassVar[CountDot]

    def statistics(self) -> Counter[Statistic]:
        return Counter([self.statistic])

    def apply(self, shared: Array, left: Array, right: Array) -> Array:
        """The kernel from the statistic of the pairs, of the left items and of the right items."""
        raise NotImplementedError

    def evaluate(self, tile: Tile) -> Array:
        left, right = tile.of_items((self.statistic, "diag"), self.statistic.diag)
        return self.apply(tile.compute(self.statistic), left[:, None], right).astype(tile.pairing.dtype, copy=False)

    def diag(self, A):
        own = self.statistic.diag(A)
        return self.apply(own.copy(), own, own)


class Subsets(OnBags):
    """``2^|A∩B|``: how many sets are subsets of both.

    Parameters
    ----------
    normalised : bool, default=False
        Divide by ``√(2^|A|·2^|B|)``, in the exponent, so that sets of more than a thousand items do not overflow. Every
        set then has the similarity one to itself.

    Examples
    --------
    >>> from mercer.kernels import Subsets
    >>> Subsets()([set("ABCD")], [set("BCDE")])
    array([[8.]])
    >>> Subsets(normalised=True)([set("ABCD")], [set("BCDE")])
    array([[0.5]])
    """

    good_for = "items that mean something together"
    statistic = SHARED_ITEMS

    def __init__(self, normalised: bool = False) -> None:
        self.normalised = normalised

    def check(self):
        truth(self, "normalised")

    def apply(self, shared, left, right):
        if self.normalised:
            return np.exp2(shared - (left + right) / 2)
        if shared.max(initial=0) > _LARGEST_POWER:
            raise ValueError(
                f"Subsets: 2^{shared.max():.0f} is larger than any number; take Subsets(normalised=True) for such sets."
            )
        return np.exp2(shared)

    @classmethod
    def suggestions(cls, items):
        return [(2, "subsets(normalised=True)")]


class Intersection(OnBags):
    """``|A∩B|`` of sets; of multisets, the sum of the smaller counts.

    Examples
    --------
    >>> from mercer.kernels import Intersection
    >>> Intersection()([["egg", "egg", "salt"]], [["egg", "egg", "egg"]])
    array([[2.]])
    """

    good_for = "how much two sets share, large ones more"
    statistic = SHARED_COUNTS

    def __init__(self) -> None:
        pass

    def apply(self, shared, left, right):
        return shared

    def features(self, A):
        return self.statistic.features(A)

    def keyed(self, A):
        return self.statistic.counts(A)

    def named_features(self, A):
        # Σ min(a, b) is the dot product of the counts in unary: the first egg, the second egg, …
        return [{Name(str(item), level): 1.0 for item, times in bag.items() for level in range(times)} for bag in A]

    @classmethod
    def suggestions(cls, items):
        return [(1, "normalised(intersection)")]

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)


class PartOfUnion(OnBags, named=False):
    """s(A, B)/(s(A, A) + s(B, B) − s(A, B)), and 1 where nothing is there to be shared."""

    def __init__(self) -> None:
        pass

    def apply(self, shared, left, right):
        union = left + right - shared
        return np.divide(shared, union, out=np.ones(np.shape(shared)), where=union > 0)


class Jaccard(PartOfUnion):
    """``|A∩B|/|A∪B|`` of the different items; 1 for two empty sets.

    Examples
    --------
    >>> from mercer.kernels import Jaccard
    >>> Jaccard()([{1, 2, 3}], [{2, 3, 4}])
    array([[0.5]])
    """

    good_for = "the share of items in common, whatever the size"
    statistic = SHARED_ITEMS


class MinMax(PartOfUnion):
    """Jaccard for multisets: the sum of the smaller counts over the sum of the larger; 1 for two empty multisets.

    Examples
    --------
    >>> from mercer.kernels import MinMax
    >>> MinMax()([["egg", "egg", "salt"]], [["egg", "egg", "egg"]])
    array([[0.5]])
    """

    good_for = "multisets: Jaccard with counts"
    statistic = SHARED_COUNTS

    @classmethod
    def suggestions(cls, items):
        return [(0, "minmax")]


class Tanimoto(PartOfUnion):
    """⟨a, b⟩/(‖a‖² + ‖b‖² − ⟨a, b⟩) of the vectors of counts; 1 for two empty multisets. For sets it is Jaccard.

    Examples
    --------
    >>> from mercer.kernels import Tanimoto
    >>> Tanimoto()([["egg", "egg"]], [["egg"]]).round(4)
    array([[0.6667]])
    """

    good_for = "counts and fingerprints of molecules"
    statistic = COUNT_PRODUCTS
