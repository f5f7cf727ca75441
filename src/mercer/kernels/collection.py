"""Collections of items that are not rows of numbers: strings, sets, graphs, stored flat so that compiled loops run over
all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeVar

import numpy as np

from .._runtime.compile import Array, jit
from .._runtime.parallel import for_each, thread_count
from .engine.pairing import Places, Tile

T = TypeVar("T")


class Collection:
    """An immutable collection of items. Slices and index arrays give collections, a whole number gives one item."""

    ndim = 1

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


@jit
def gather(values: Array, starts: Array, index: Array) -> tuple[Array, Array]:
    """The pieces ``values[starts[i]:starts[i + 1]]`` for i in ``index``, one after the other, and where each starts."""
    new_starts = np.zeros(index.size + 1, np.int64)
    for r in range(index.size):
        new_starts[r + 1] = new_starts[r] + starts[index[r] + 1] - starts[index[r]]
    out = np.empty(new_starts[-1], values.dtype)
    for r in range(index.size):
        begin = starts[index[r]]
        for p in range(new_starts[r + 1] - new_starts[r]):
            out[new_starts[r] + p] = values[begin + p]
    return out, new_starts


@jit
def doubled(values: Array) -> Array:
    """The values with as much room again behind them."""
    out = np.empty(2 * values.size, values.dtype)
    out[: values.size] = values
    return out


def starts_of(sizes: Any) -> Array:
    """Where each piece starts in a flat array of pieces of these sizes."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def chunks(n: int) -> list[tuple[int, int]]:
    """Ranges of items for several threads to work on."""
    size = max(1, -(-n // (4 * thread_count())))
    return [(begin, min(begin + size, n)) for begin in range(0, n, size)]


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


def indices(places: Places) -> Array:
    """A slice with both ends, or an index array, as an index array."""
    return np.arange(places.start, places.stop) if isinstance(places, slice) else places


def each_pair(tile: Tile, similarity: Callable[[Array, Array], Array]) -> Array:
    """A tile filled pair by pair: ``similarity(i, j)`` gives the values of items i of the left side and j of the right.

    Where both sides are the same items, a pair whose mirror image lies in the same tile is computed once.
    """
    rows, columns = indices(tile.i), indices(tile.j)
    left, right = np.repeat(rows, columns.size), np.tile(columns, rows.size)
    contiguous = isinstance(tile.i, slice) and isinstance(tile.j, slice)
    if not contiguous or tile.pairing.A is not tile.pairing.B:
        return similarity(left, right).reshape(tile.shape)
    mirrored = (right < left) & (right >= rows[0]) & (left >= columns[0]) & (left <= columns[-1])
    out = np.empty(tile.shape)
    out.ravel()[~mirrored] = similarity(left[~mirrored], right[~mirrored])
    r, c = np.nonzero(mirrored.reshape(tile.shape))
    out[r, c] = out[columns[c] - rows[0], rows[r] - columns[0]]
    return out


def in_chunks(n: int, work: Callable[[int, int], Any]) -> None:
    """Call ``work(first, stop)`` on ranges that together are 0..n, on several threads."""
    for_each(lambda piece: work(*piece), chunks(n))
