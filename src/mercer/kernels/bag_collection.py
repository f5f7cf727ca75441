"""Sets and multisets, stored as counts of keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._validation.objects import is_missing
from .._validation.tables import as_rows
from .engine.collection import Collection, listed
from .engine.counts import Counts, count
from .engine.flat import starts_of
from .engine.keys import KnownKeys, number_keys

__all__ = ["Bags"]

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
