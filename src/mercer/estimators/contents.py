"""Items as a set: the same fit whatever the order of the file, and a weight of two the same as an item given twice.

A learner that visits items at random depends on how they are numbered. So it numbers them by their content instead:
:func:`content_order` sorts rows in a way that only the rows themselves decide. A learner that visits each row once an
epoch also has to see equal rows with equal labels as one row with the sum of their weights: :func:`merged`. Strings,
sets, graphs and other items are told apart by their :func:`fingerprints`, which are rows of numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from ..runtime.compile import Array, jit

__all__ = ["content_order", "fingerprints", "merged", "row_keys"]


@jit
def _dense_keys(X: Array, mix: Array, out: Array) -> None:
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            out[i] += X[i, k] * mix[k]


@jit
def _sparse_keys(data: Array, indices: Array, indptr: Array, mix: Array, out: Array) -> None:
    for i in range(out.size):
        for p in range(indptr[i], indptr[i + 1]):
            out[i] += data[p] * mix[indices[p]]


def row_keys(X: Any, codes: Array) -> Array:
    """A number for each row and label: equal for equal ones, different (but for freak accidents) for different ones."""
    mix = np.random.RandomState(1618).standard_normal(X.shape[1])
    keys = codes * np.pi
    if sparse.issparse(X):
        _sparse_keys(X.data, X.indices, X.indptr, mix, keys)
    else:
        _dense_keys(X, mix, keys)
    return keys


@jit
def _dense_equal(X: Array, left: Array, right: Array, out: Array) -> None:
    for p in range(left.size):
        k = 0
        while k < X.shape[1] and X[left[p], k] == X[right[p], k]:
            k += 1
        out[p] = k == X.shape[1]


@jit
def _sparse_equal(data: Array, indices: Array, indptr: Array, left: Array, right: Array, out: Array) -> None:
    for p in range(left.size):
        a, b = indptr[left[p]], indptr[right[p]]
        size = indptr[left[p] + 1] - a
        k = 0
        if size == indptr[right[p] + 1] - b:
            while k < size and data[a + k] == data[b + k] and indices[a + k] == indices[b + k]:
                k += 1
        out[p] = k == size == indptr[right[p] + 1] - b


def content_order(X: Any, codes: Array) -> tuple[Array, Array]:
    """The rows in an order that only their content decides, and for each its key."""
    keys = row_keys(X, codes)
    order = np.argsort(keys)
    return order, keys[order]


def merged(X: Any, codes: Array, weight: Array | None) -> tuple[Array, Array | None]:
    """Distinct (row, label) pairs in the order of their content, and weights in which each counts for its equals.

    Rows of weight zero are left out.

    Examples
    --------
    >>> import numpy as np
    >>> order, weight = merged(np.array([[1.0], [0.0], [1.0]]), np.array([1, 0, 1]), None)
    >>> order.tolist(), weight.tolist()
    ([1, 0], [2.0, 1.0, 0.0])
    """
    order, keys = content_order(X, codes)
    if weight is not None:
        alive = weight[order] > 0
        order, keys = order[alive], keys[alive]
    suspects = np.flatnonzero((keys[:-1] == keys[1:]) & (codes[order[:-1]] == codes[order[1:]]))
    if not suspects.size:
        return order, weight
    left, right = order[suspects], order[suspects + 1]
    equal = np.empty(suspects.size, dtype=np.bool_)
    if sparse.issparse(X):
        _sparse_equal(X.data, X.indices, X.indptr, left, right, equal)
    else:
        _dense_equal(X, left, right, equal)
    first = np.ones(order.size, dtype=bool)
    first[suspects[equal] + 1] = False
    kept = order[first]
    each = np.ones(order.size) if weight is None else weight[order]
    together = np.zeros(codes.size)
    together[kept] = np.bincount(np.cumsum(first) - 1, weights=each)
    return kept, together


# Items that are not rows of numbers.


class _Opaque(TypeError):
    """An item whose content cannot be read."""


def fingerprints(given: Any) -> Array | None:
    """Four whole numbers for each item, made from its content alone; ``None`` where an item does not show its content.

    Examples
    --------
    >>> a, b, c = fingerprints([{"milk", "salt"}, {"bread"}, {"salt", "milk"}])
    >>> bool((a == c).all()), bool((a == b).any())
    (True, False)
    """
    try:
        marks = [blake2b(_content(item), digest_size=16).digest() for item in _each(given)]
    except _Opaque:
        return None
    return np.frombuffer(b"".join(marks), dtype=np.uint32).reshape(-1, 4).astype(np.float64)


def _each(given: Any) -> Iterable[Any]:
    """The items one by one; of a frame, its rows."""
    if not hasattr(given, "columns"):
        return given
    columns = [given[name] for name in given.columns]
    if any(hasattr(column, "columns") for column in columns):
        raise _Opaque("two columns have the same name")
    return zip(*(column.to_list() for column in columns), strict=True)


def _content(item: Any) -> bytes:
    """The content of an item, so written that different items are written differently."""
    match item:
        case np.generic():
            return _content(item.item())
        case None | str() | bytes() | bool() | int() | float() | complex():
            return repr(item).encode("utf-8", "surrogatepass")
        case np.ndarray() if item.dtype != object:
            return _framed("array", [item.dtype.str.encode(), repr(item.shape).encode(), item.tobytes()])
        case np.ndarray() | list() | tuple():
            return _framed("sequence", map(_content, item))
        case set() | frozenset():
            return _framed("set", sorted(map(_content, item)))
        case Mapping():
            return _framed("mapping", sorted(_content(pair) for pair in item.items()))
    if sparse.issparse(item):
        rows = sparse.coo_array(item)
        rows.sum_duplicates()
        return _content(("sparse", rows.shape, [np.asarray(c, np.int64) for c in rows.coords], rows.data))
    if is_dataclass(item):
        return _content((type(item).__name__, [getattr(item, field.name) for field in fields(item)]))
    if hasattr(item, "nodes") and hasattr(item, "edges") and hasattr(item, "is_directed"):
        return _graph_content(item)
    raise _Opaque(type(item).__name__)


def _graph_content(graph: Any) -> bytes:
    """A networkx graph, whatever the order in which nodes and edges were added."""
    together = tuple if graph.is_directed() else frozenset
    edges = sorted(_content((together(ends), data)) for *ends, data in graph.edges(data=True))
    return _framed("graph", [_content(dict(graph.nodes(data=True))), *edges])


def _framed(kind: str, pieces: Iterable[bytes]) -> bytes:
    return b"".join([kind.encode(), *(b"%d:%b" % (len(piece), piece) for piece in pieces)])
