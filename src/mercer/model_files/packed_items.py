"""Strings, sets, graphs and categories as JSON and arrays, and back. A file is not trusted: all numbers are checked.

    {"strings": [bytes, starts]}                            texts in UTF-8, one after the other, and where each starts
    {"sets": [starts, numbers, counts], "names": [...]}     the number of each item among the names, and how often
    {"graphs": [node_starts, edges, labels, labels], "names": [...]}
                                                            node and edge labels as numbers of names, −1 for none
    {"categories": codes, "levels": [[...], ...]}           for each column the number of each row's category
    {"parts": [...]}                                        the same items in the forms of several kernels

Keys of 64 bits, by which items are compared, are made anew from what they stand for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from ..kernels.bag_collection import Bags
from ..kernels.categories import Categories
from ..kernels.engine.counts import Counts
from ..kernels.engine.flat import starts_of
from ..kernels.engine.keys import KnownKeys
from ..kernels.engine.parts import Parts
from ..kernels.graphs import Graphs
from ..kernels.strings import Strings

if TYPE_CHECKING:
    from .packing import Packer, Unpacker

__all__ = ["ITEM_KINDS", "pack_items", "unpack_items"]

#: Collections that a file can hold.
ITEM_KINDS = (Strings, Bags, Graphs, Categories, Parts)
_LARGEST = 2**53


def pack_items(packer: Packer, items: Any) -> dict[str, Any]:
    """The JSON node of a collection."""
    if isinstance(items, Strings):
        texts = [text.encode("utf-8", "surrogatepass") for text in items]
        return {"strings": [packer.pack(np.frombuffer(b"".join(texts), np.uint8)), packer.pack(_starts(texts))]}
    if isinstance(items, Bags):
        numbers, names = _numbered(items.counts.keys, items.names)
        owners = np.repeat(np.arange(len(items)), np.diff(items.counts.starts))
        order = np.lexsort((numbers, owners))  # sets tell their items in whichever order, a file in one
        parts = [items.counts.starts, numbers[order], items.counts.values[order]]
        return {"sets": [packer.pack(part) for part in parts], "names": packer.pack(names)}
    if isinstance(items, Graphs):
        return _pack_graphs(packer, items)
    if isinstance(items, Categories):
        used = [np.unique(column) for column in items.codes.T]
        codes = [np.searchsorted(own, column) for own, column in zip(used, items.codes.T, strict=True)]
        levels = [[list(known)[code] for code in own] for own, known in zip(used, items.levels, strict=True)]
        return {"categories": packer.pack(np.stack(codes, axis=1)), "levels": packer.pack(levels)}
    return {"parts": [packer.pack(form) for form in items.forms]}


def _starts(pieces: list[Any]) -> Array:
    return starts_of([len(piece) for piece in pieces])


def _numbered(keys: Array, names: Any) -> tuple[Array, list[Any]]:
    """For each key the number of its name among the names that occur."""
    used, numbers = np.unique(keys, return_inverse=True)
    return numbers.astype(np.int64), [names[key] for key in used.tolist()]


def _pack_graphs(packer: Packer, graphs: Graphs) -> dict[str, Any]:
    nodes = np.repeat(np.arange(graphs.node_starts[-1]), np.diff(graphs.starts))
    first = np.repeat(graphs.node_starts[:-1], graphs.sizes)
    others = graphs.neighbours + first[nodes]
    once = nodes < others
    labels = [graphs.node_labels, graphs.edge_labels[once]]
    labelled = [keys.size > 0 and int(keys[0]) in graphs.names for keys in labels]
    used = [keys for keys, known in zip(labels, labelled, strict=True) if known]
    numbers, names = _numbered(np.concatenate(used), graphs.names) if used else (np.empty(0, np.int64), [])
    pieces = iter(np.split(numbers, np.cumsum([keys.size for keys in used])[:-1]))
    parts = [graphs.node_starts, np.column_stack([nodes, others])[once]]
    parts += [next(pieces) if known else np.full(keys.size, -1) for keys, known in zip(labels, labelled, strict=True)]
    return {"graphs": [packer.pack(part) for part in parts], "names": packer.pack(names)}


def unpack_items(unpacker: Unpacker, node: dict[str, Any]) -> Any:
    """The collection of a JSON node; ``ValueError`` where its numbers do not fit together."""
    match node:
        case {"strings": [data, starts]}:
            return _strings(unpacker.unpack(data), unpacker.unpack(starts))
        case {"sets": [_, _, _] as parts, "names": names}:
            return _sets(*map(unpacker.unpack, [*parts, names]))
        case {"graphs": [_, _, _, _] as parts, "names": names}:
            return _graphs(*map(unpacker.unpack, [*parts, names]))
        case {"categories": codes, "levels": list(levels)}:
            return _categories(unpacker.unpack(codes), unpacker.unpack(levels))
        case {"parts": list(forms)} if forms:
            found = [unpacker.unpack(form) for form in forms]
            if len({len(form) for form in found}) > 1:
                raise ValueError("its support items have forms of different length")
            return Parts(found)
    raise ValueError(f"it holds an unknown part, {sorted(node)[:3]}")


def _cut(starts: Any, total: int, what: str) -> Array:
    """Places at which a flat array is cut into pieces."""
    starts = np.asarray(starts)
    fine = starts.ndim == 1 and starts.size > 0 and starts.dtype.kind in "iu"
    if not fine or starts[0] != 0 or starts[-1] != total or (np.diff(starts.astype(np.int64)) < 0).any():
        raise ValueError(f"its {what} do not fit together")
    return starts.astype(np.int64)


def _among(numbers: Any, total: int, what: str) -> Array:
    """Numbers of things of which there are so many."""
    numbers = np.asarray(numbers)
    if numbers.dtype.kind not in "iu" or (numbers.size and not 0 <= numbers.min() <= numbers.max() < total):
        raise ValueError(f"its {what} are out of range")
    return numbers.astype(np.int64)


def _strings(data: Any, starts: Any) -> Strings:
    if data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError("its strings are no bytes")
    cuts, whole = _cut(starts, data.size, "strings").tolist(), data.tobytes()
    try:
        return Strings.of([whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(cuts)])
    except UnicodeDecodeError:
        raise ValueError("its strings are no text in UTF-8") from None


def _sets(starts: Any, numbers: Any, counts: Any, names: Any) -> Bags:
    known = KnownKeys()
    keys = known.of(names)[_among(numbers, len(names), "items of sets")]
    starts = _cut(starts, keys.size, "sets")
    counts = np.asarray(counts, dtype=np.float64)
    whole = counts.shape == keys.shape and ((counts >= 1) & (counts <= _LARGEST) & (counts == np.floor(counts))).all()
    owners = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    order = np.lexsort((keys, owners))
    twice = (keys[order][1:] == keys[order][:-1]) & (owners[order][1:] == owners[order][:-1])
    if not whole or twice.any():
        raise ValueError("its counts of items do not fit its sets")
    return Bags(Counts(starts, keys, counts), {key: name for name, key in known.items()})


def _graphs(node_starts: Any, edges: Any, node_labels: Any, edge_labels: Any, names: Any) -> Graphs:
    total = np.asarray(node_labels).size
    node_starts = _cut(node_starts, total, "graphs")
    edges = _among(edges, total, "edges")
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError("its edges are no pairs of nodes")
    graph = np.searchsorted(node_starts, edges, side="right")
    if (graph[:, 0] != graph[:, 1]).any():
        raise ValueError("its edges join different graphs")
    if np.asarray(edge_labels).shape != (len(edges),):
        raise ValueError("its edge labels do not fit its edges")
    return Graphs.from_edges(node_starts, edges, *(_named(labels, names) for labels in (node_labels, edge_labels)))


def _named(numbers: Any, names: Any) -> Array | None:
    """The labels of these numbers; ``None`` where nothing is labelled."""
    if (np.asarray(numbers) == -1).all():
        return None
    known = np.empty(len(names), dtype=object)
    known[:] = names
    return known[_among(numbers, len(names), "labels")]


def _categories(codes: Any, levels: list[Any]) -> Categories:
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.shape[1] != len(levels) or not levels:
        raise ValueError("its categories do not fit its columns")
    tables: list[dict[Any, int]] = []
    for column, names in zip(codes.T, levels, strict=True):
        _among(column, len(names), "categories")
        tables.append({name: number for number, name in enumerate(names)})
        if len(tables[-1]) != len(names):
            raise ValueError("it names a category twice")
    return Categories(codes.astype(np.int32), tables)
