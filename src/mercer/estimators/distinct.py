"""Rows as a set: the same fit whatever the order of the file, and a weight of two the same as a row given twice.

A learner that visits rows at random depends on how they are numbered. So before it draws anything, equal rows with
equal labels become one row with the sum of their weights, rows of weight zero go, and the rest is put into an order
that only their content decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._compile import Array, jit


@jit
def _dense_keys(X: Array, mix: Array, out: Array) -> None:
    for i in range(X.shape[0]):
        total = 0.0
        for k in range(X.shape[1]):
            total += X[i, k] * mix[k]
        out[i] = total


@jit
def _sparse_keys(data: Array, indices: Array, indptr: Array, mix: Array, out: Array) -> None:
    for i in range(out.size):
        total = 0.0
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * mix[indices[p]]
        out[i] = total


def row_keys(X: Any) -> Array:
    """A number for each row, equal for equal rows and (but for freak accidents) different for different ones."""
    mix = np.modf(np.arange(1, X.shape[1] + 1) * 0.6180339887498949)[0] + 0.5
    keys = np.empty(X.shape[0])
    if sparse.issparse(X):
        _sparse_keys(X.data, X.indices, X.indptr, mix, keys)
    else:
        _dense_keys(X, mix, keys)
    return keys


def distinct_rows(X: Any, codes: Array, weight: Array | None) -> tuple[Array, Array | None]:
    """Indices of distinct (row, label) pairs in an order of content, and the weight of each.

    Examples
    --------
    >>> import numpy as np
    >>> index, weight = distinct_rows(np.array([[1.0], [0.0], [1.0]]), np.array([1, 0, 1]), None)
    >>> index.tolist(), weight.tolist()
    ([1, 0], [1.0, 2.0])
    """
    alive = None if weight is None else np.flatnonzero(weight > 0)
    keys = row_keys(X)
    order = np.lexsort((codes, keys)) if alive is None else alive[np.lexsort((codes[alive], keys[alive]))]
    before, after = order[:-1], order[1:]
    suspects = np.flatnonzero((keys[before] == keys[after]) & (codes[before] == codes[after]))
    repeats = np.zeros(order.size, dtype=bool)
    if suspects.size:
        left, right = X[before[suspects]], X[after[suspects]]
        differs = np.asarray((left != right).sum(axis=1)).ravel()
        repeats[suspects + 1] = differs == 0
    if not repeats.any():
        return order, None if weight is None else weight[order]
    group = np.cumsum(~repeats) - 1
    each = np.ones(order.size) if weight is None else weight[order]
    return order[~repeats], np.bincount(group, weights=each)
