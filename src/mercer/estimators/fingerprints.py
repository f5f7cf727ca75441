"""Rows of numbers that stand for the content of strings, sets, graphs and other items: equal for equal items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array


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
