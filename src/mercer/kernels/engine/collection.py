"""Collections of items that are not rows of numbers: strings, sets, graphs, stored flat so that compiled loops run over
all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, ClassVar, TypeVar

import numpy as np

from ..._runtime.compile import Array

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
