"""Tiles that are filled pair by pair, for kernels that no statistic sums up."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..._runtime.compile import Array
from .pairing import Places, Tile

#: Steps of a compiled loop that take a moment, a twentieth of a second or so: then Ctrl-C is heeded.
MOMENT = 10_000_000


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
