"""Kernel matrices and their products, tile by tile on all threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..._runtime.combine import mirror, turn
from ..._runtime.compile import Array
from ..._runtime.interrupts import heed
from ..._runtime.parallel import for_each
from .accumulate import accumulate, accumulate_turned
from .pairing import TILE_COLUMNS, Pairing, Places, place_count
from .parts import length
from .weighted import weighted_items

#: Sums that a product is put together from, at most, and numbers in all of them.
_GROUPS, _SUMS = 64, 8_000_000


def matrix_block(
    pairing: Pairing, rows: Array | None = None, columns: Array | None = None, out: Array | None = None
) -> Array:
    """The matrix of a pairing, or the part of it in some rows and columns."""
    kernel = pairing.kernel
    row_pieces, column_pieces = pairing.cut(rows, columns)
    n, m = (sum(map(place_count, pieces)) for pieces in (row_pieces, column_pieces))
    if out is None:
        out = np.empty((n, m), pairing.dtype)
    if n == 0 or m == 0:
        return out
    # Rounding may differ between (x, z) and (z, x), the result may not: only pieces on and above the diagonal are
    # computed, and mirrored below it.
    symmetric = pairing.A is pairing.B and rows is columns and kernel.splits
    if kernel.splits:
        pairing.warm()
    tiles = []
    top = 0
    for i in row_pieces:
        left = 0
        for j in column_pieces:
            if not symmetric or left + place_count(j) > top:
                tiles.append((top, left, i, j))
            left += place_count(j)
        top += place_count(i)

    def fill(tile: tuple[int, int, Places, Places]) -> None:
        top, left, i, j = tile
        values = kernel.evaluate(pairing.tile(i, j))
        bottom, right = top + values.shape[0], left + values.shape[1]
        if not symmetric:
            out[top:bottom, left:right] = values
        elif left >= bottom:
            out[top:bottom, left:right] = values
            turn(values, out[left:right, top:bottom])
        else:  # a tile on the diagonal: what is above it counts
            first = max(top, left)
            out[top:bottom, first:right] = values[:, first - left :]
            mirror(out[top:bottom, top:bottom])
            if right > bottom:
                turn(values[:, bottom - left :], out[bottom:right, top:bottom])

    for_each(fill, tiles, threads=None if kernel.splits else 1)
    return out


def matrix_product(pairing: Pairing, columns: Array | None, V: Array) -> Array:
    """The matrix of a pairing, or some of its columns, times V: tile by tile, the tiles summed in float64."""
    kernel = pairing.kernel
    V = np.asarray(V, dtype=np.float64)
    weights = V[:, None] if V.ndim == 1 else V
    if pairing.A is pairing.B and columns is None and kernel.splits and len(V) > TILE_COLUMNS:
        return _symmetric_product(pairing, weights).reshape(V.shape)
    if pairing.A is not pairing.B or columns is not None:
        items = weighted_items(kernel, pairing.A, pairing.B if columns is None else pairing.B[columns], weights)
        if items is not None:
            return items.product(pairing.A).reshape(-1, *V.shape[1:])
    row_pieces, column_pieces = pairing.cut(None, columns)
    single = weights.shape[1] == 1  # several columns are summed tile by tile in the type of the values
    out = np.zeros((length(pairing.A), weights.shape[1]))
    if out.size and V.shape[0]:
        if kernel.splits:
            pairing.warm()
        edges = np.cumsum([0, *map(place_count, column_pieces)])
        shares = [_share(weights[begin:end]) for begin, end in pairwise(edges)]

        def fill(i: Places) -> None:
            for j, (counted, some) in zip(column_pieces, shares, strict=True):
                heed()
                values = kernel.evaluate(pairing.tile(i, j))
                some = some if single else some.astype(values.dtype, copy=False)
                if counted is None:
                    accumulate(values, some, out[i])
                else:
                    sums = np.zeros((values.shape[0], counted.size))
                    accumulate(values, some, sums)
                    out[i][:, counted] += sums

        for_each(fill, row_pieces, threads=None if kernel.splits else 1)
    return out.reshape(out.shape[0], *V.shape[1:])


def _share(weights: Array) -> tuple[Array | None, Array]:
    """The columns of some weights that are not zeros alone, and these; ``None``, and all, where they are many.

    A support item of one of many classes counts in the machines of its own class alone.
    """
    counted = np.flatnonzero(weights.any(axis=0))
    return (None, weights) if 2 * counted.size > weights.shape[1] else (counted, weights[:, counted])


def _symmetric_product(pairing: Pairing, V: Array) -> Array:
    """K·V from one half of K: a tile above the diagonal serves its rows, and turned over its columns.

    Pieces of columns are dealt out to a few groups, each with a sum of its own; these are added up in one order
    afterwards. The groups depend on the number of items alone, so the sum is the same for any number of threads.
    """
    kernel = pairing.kernel
    row_pieces, column_pieces = pairing.cut()
    pairing.warm()
    groups = max(1, min(_GROUPS, len(column_pieces), _SUMS // V.size))
    sums = np.zeros((groups, *V.shape))

    def add(group: int) -> None:
        out = sums[group]
        # A piece of columns covers whole pieces of rows: those that it covers are computed for themselves, as they
        # lie on the diagonal; those before it serve both ways; those after it have been served.
        tiles: list[tuple[Any, Any]] = [(i, j) for j in column_pieces[group::groups] for i in row_pieces]
        for i, j in tiles:
            if i.start < j.stop:
                heed()
                values = kernel.evaluate(pairing.tile(i, j))
                accumulate(values, V[j], out[i])
                if i.stop <= j.start:
                    accumulate_turned(values, V[i], out[j])

    for_each(add, range(groups))
    return sums.sum(axis=0)
