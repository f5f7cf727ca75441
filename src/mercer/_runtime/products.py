"""Products of large dense matrices, the same to the last digit for any number of threads.

A BLAS library cuts a product into as many parts as it has threads, and the last digits of a sum depend on the cuts.
Here the cuts depend on the shapes alone: each piece is a product on one thread, several threads of ours work on several
pieces, and Ctrl-C is heeded between two of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .compile import Array
from .parallel import for_each, one_blas_thread

__all__ = ["product", "turned_product", "weighted_squares"]

#: Multiplications of a piece, a few milliseconds' work; and rows of one with several columns, which are worth it to
#: bring these into the order that a product works in, or this part of all.
_PIECE, _ROWS, _PARTS = 2_000_000, 128, 8
#: Sums that a turned product is put together from, at most, and numbers in all of them.
_SUMS, _NUMBERS = 16, 1_000_000
#: Rows that are weighed together, and columns of a tile.
_BLOCK, _TILE = 1024, 512


def product(A: Any, B: Array) -> Array:
    """A·B for dense A, or for sparse A as it is.

    Examples
    --------
    >>> product(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    if sparse.issparse(A):
        return A @ B
    columns = 1 if B.ndim == 1 else B.shape[1]
    least = min(_ROWS, A.shape[0] // _PARTS) if columns > 1 else 1
    pieces = _cut(A.shape[0], max(1, least, _PIECE // max(1, A.shape[1] * columns)))
    with one_blas_thread():
        if len(pieces) <= 1:
            return A @ B
        out = np.empty((A.shape[0], *B.shape[1:]), np.result_type(A, B))
        for_each(lambda rows: np.matmul(A[rows], B, out=out[rows]), pieces)
    return out


def turned_product(A: Any, B: Array) -> Array:
    """Aᵀ·B for dense A, or for sparse A as it is: sums over some rows each, added up in their order.

    Examples
    --------
    >>> turned_product(np.array([[1.0, 2.0]]), np.array([3.0]))
    array([3., 6.])
    """
    if sparse.issparse(A):
        return A.T @ B
    columns = 1 if B.ndim == 1 else B.shape[1]
    most = max(1, min(_SUMS, _NUMBERS // max(1, A.shape[1] * columns)))
    rows = max(_PIECE // max(1, A.shape[1] * columns), -(-A.shape[0] // most), 1)
    pieces = _cut(A.shape[0], rows)
    with one_blas_thread():
        if len(pieces) <= 1:
            return A.T @ B
        sums = np.empty((len(pieces), A.shape[1], *B.shape[1:]), np.result_type(A, B))

        def add(k: int) -> None:
            np.matmul(A[pieces[k]].T, B[pieces[k]], out=sums[k])

        for_each(add, range(len(pieces)))
        return sums.sum(axis=0)


def weighted_squares(L: Array, h: Array) -> Array:
    """Lᵀ·diag(h)·L for h ≥ 0, exactly symmetric.

    Of few columns there are several sums over some rows each; of many, a sum for each tile of the result.

    Examples
    --------
    >>> weighted_squares(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, 2.0]))
    array([[19.,  2.],
           [ 2.,  4.]])
    """
    n, width = L.shape
    roots, blocks = np.sqrt(h)[:, None], _cut(n, _BLOCK)
    if not width:
        return np.zeros((0, 0))
    with one_blas_thread():
        if width <= _TILE:
            sums = np.zeros((max(1, min(_SUMS, len(blocks), _NUMBERS // width**2)), width, width))

            def add(k: int) -> None:
                for block in blocks[k :: len(sums)]:
                    rows = L[block] * roots[block]
                    sums[k] += rows.T @ rows

            for_each(add, range(len(sums)))
            out = sums.sum(axis=0)
        else:
            out = np.zeros((width, width))
            tiles = [(i, j) for i in _cut(width, _TILE) for j in _cut(width, _TILE) if j.start >= i.start]
            for block in blocks:
                rows = L[block] * roots[block]

                def add_tile(tile: tuple[slice, slice], rows: Array = rows) -> None:
                    i, j = tile
                    out[i, j] += rows[:, i].T @ rows[:, j]

                for_each(add_tile, tiles)
    out = np.triu(out)
    return out + np.triu(out, 1).T


def _cut(n: int, size: int) -> list[slice]:
    return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]
