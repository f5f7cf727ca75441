"""Kernels of what a function makes of the items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.objects import is_missing
from .._validation.tables import as_rows
from .base import Kernel
from .engine.collection import listed
from .engine.pairing import Tile
from .engine.parts import length
from .text_form import Text, function

__all__ = ["After", "Conformal"]


class Conformal(Kernel, named=False):
    """f(x)·f(z) for a real function f, the kernel with the one feature f.

    Parameters
    ----------
    f : callable
        Takes all rows, returns a number for each.

    Examples
    --------
    >>> from mercer.kernels import Conformal
    >>> Conformal(lambda X: X.sum(axis=1))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[21.]])
    """

    def __init__(self, f: Callable[[Any], Array]) -> None:
        self.f = f

    def text(self) -> Text:
        return Text(f"conformal({function(self.f)})")

    def _values(self, A: Any) -> Array:
        values = np.asarray(self.f(A))
        if values.shape != (length(A),) or values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            got = f"shape {values.shape}" if values.dtype.kind in "fiub" else f"type {values.dtype}"
            raise ValueError(f"Conformal: f must return {length(A)} finite numbers, one a row; got {got}.")
        return values.astype(getattr(A, "dtype", np.float64))

    def evaluate(self, tile: Tile) -> Array:
        left, right = tile.of_items(id(self), self._values)
        return left[:, None] * right

    def diag(self, A):
        return self._values(A) ** 2

    def features(self, A):
        return self._values(A)[:, None]


class After(Kernel, named=False):
    """k(φ(x), φ(z)): a kernel after a map of the items.

    Parameters
    ----------
    map : callable
        Takes all items, returns what ``kernel`` works on, item for item. It must not learn from the items it sees.
        Where ``kernel`` works on rows of numbers it is given such rows, else an array of the user's objects.
    kernel : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import After, Linear
    >>> After(np.log, Linear())([[np.e]])
    array([[1.]])
    """

    def __init__(self, map: Callable[[Any], Any], kernel: Kernel) -> None:
        self.map = map
        self.kernel = kernel

    def text(self) -> Text:
        return Text(f"after({function(self.map)}, {self.kernel})")

    def part_items(self, A):
        return [self._mapped(A)]

    @property
    def translation_invariant(self):
        return False

    def statistics(self):
        return Counter()  # the inner kernel's statistics are of the mapped items

    def items(self, A):
        return as_rows(A) if self.on_rows else _as_objects(A)

    def _mapped(self, A: Any) -> Any:
        out = self.map(A)
        if not hasattr(out, "__len__") or length(out) != length(A):
            raise ValueError(f"After: map must return one item for each of the {length(A)} it is given.")
        return out

    def evaluate(self, tile: Tile) -> Array:
        return self.kernel.evaluate(tile.mapped(self, self._mapped, self.kernel))

    def diag(self, A):
        return self.kernel.diag(self.kernel.items(self._mapped(A)))

    def features(self, A):
        return self.kernel.features(self.kernel.items(self._mapped(A)))

    def keyed(self, A):
        return self.kernel.keyed(self.kernel.items(self._mapped(A)))


def _as_objects(items: Any) -> Array:
    """Items of any kind in an array of objects, none of them missing."""
    given = listed(items, "items")
    out = np.empty(len(given), dtype=object)
    for place, item in enumerate(given):
        if is_missing(item):
            raise ValueError(f"item {place} is missing ({item!r}); drop it or fill it in first.")
        out[place] = item
    return out
