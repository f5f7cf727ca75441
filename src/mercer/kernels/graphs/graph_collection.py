"""Graphs, stored flat: the neighbours of all nodes of all graphs in one array."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..._runtime.compile import Array
from ..engine.collection import Collection
from ..engine.flat import gather, starts_of
from ..engine.keys import KnownKeys

__all__ = ["Graphs"]

#: The label of everything where there are no labels.
NO_LABEL = np.uint64(0)


class Graphs(Collection):
    """Undirected graphs. Self-loops are dropped, repeated edges count once.

    Parameters
    ----------
    node_starts : array of int
        The nodes of graph g are ``node_starts[g]`` to ``node_starts[g + 1]``.
    starts, neighbours : arrays of int
        The neighbours of node v are ``neighbours[starts[v]:starts[v + 1]]``, counted from their graph's first node.
    node_labels, edge_labels : arrays of uint64
        The key of every node's label, and of the label of the edge to every neighbour.
    names : dict
        The label that each key stands for.

    Examples
    --------
    >>> from mercer.kernels import Graphs
    >>> graphs = Graphs.of([(3, [[0, 1], [1, 2]], ["C", "O", "C"]), (1, [], ["N"])])
    >>> len(graphs), graphs[0]
    (2, (3, [[0, 1], [1, 2]], ['C', 'O', 'C']))
    """

    kind = "graphs"

    def __init__(
        self,
        node_starts: Array,
        starts: Array,
        neighbours: Array,
        node_labels: Array,
        edge_labels: Array,
        names: Mapping[int, Any],
    ) -> None:
        super().__init__()
        self.node_starts, self.starts, self.neighbours = node_starts, starts, neighbours
        self.node_labels, self.edge_labels, self.names = node_labels, edge_labels, names

    @classmethod
    def of(cls, items: Any) -> Graphs:
        """From a list of networkx graphs, (number of nodes, edges[, node labels[, edge labels]]) or adjacency matrices.

        The labels of a networkx graph are the attributes ``"label"`` of its nodes and edges; :meth:`from_networkx`
        takes them from elsewhere.
        """
        if isinstance(items, Graphs):
            return items
        if hasattr(items, "nodes") or sparse.issparse(items) or not hasattr(items, "__iter__"):
            raise ValueError(f"expected a list of graphs, got {type(items).__name__}; put a single graph into a list.")
        return cls._compile([_parts(graph, place) for place, graph in enumerate(items)])

    @classmethod
    def from_networkx(cls, graphs: Any, node_label: str | None = "label", edge_label: str | None = "label") -> Graphs:
        """From networkx graphs, with labels from the named attributes (``None``: no labels)."""
        return cls._compile([_networkx_parts(g, place, node_label, edge_label) for place, g in enumerate(graphs)])

    @classmethod
    def from_edges(
        cls, node_starts: Array, edges: Array, node_labels: Array | None, edge_labels: Array | None
    ) -> Graphs:
        """From one array of edges between nodes that are numbered through all graphs, and whole numbers as labels."""
        known = KnownKeys()
        keys = None if edge_labels is None else known.of(edge_labels.tolist())
        pairs, keys = both_ways(edges, keys)
        n = int(node_starts[-1])
        starts = starts_of(np.bincount(pairs[:, 0], minlength=n))
        first = np.repeat(node_starts[:-1], np.diff(node_starts))
        labels = np.full(n, NO_LABEL) if node_labels is None else known.of(node_labels.tolist())
        names = {key: name for name, key in known.items()}
        return cls(node_starts, starts, (pairs[:, 1] - first[pairs[:, 0]]).astype(np.int64), labels, keys, names)

    @classmethod
    def _compile(cls, parts: list[tuple[int, Array, Any, Any]]) -> Graphs:
        for position, what in ((2, "node"), (3, "edge")):
            labelled = [part[position] is not None for part in parts if len(part[1]) or (position == 2 and part[0])]
            if any(labelled) and not all(labelled):
                raise ValueError(
                    f"some of these graphs have {what} labels and some have none; label all of them or none."
                )
        node_starts = starts_of([part[0] for part in parts])
        edges = [part[1] + node_starts[place] for place, part in enumerate(parts)]
        labels: list[Any] = []
        for position in (2, 3):
            given: list[Any] = [part[position] for part in parts if part[position] is not None]
            labels.append(_objects([label for own in given for label in own]) if given else None)
        return cls.from_edges(node_starts, np.concatenate([np.empty((0, 2), np.int64), *edges]), *labels)

    def __len__(self) -> int:
        return self.node_starts.size - 1

    @property
    def sizes(self) -> Array:
        """The number of nodes of each graph."""
        return np.diff(self.node_starts)

    def take(self, index: Array) -> Graphs:
        nodes, node_starts = gather(np.arange(self.node_starts[-1]), self.node_starts, index)
        neighbours, starts = gather(self.neighbours, self.starts, nodes)
        edge_labels = gather(self.edge_labels, self.starts, nodes)[0]
        return Graphs(node_starts, starts, neighbours, self.node_labels[nodes], edge_labels, self.names)

    def item(self, place: int) -> tuple[Any, ...]:
        first, stop = self.node_starts[place], self.node_starts[place + 1]
        own = slice(self.starts[first], self.starts[stop])
        nodes = np.repeat(np.arange(stop - first), np.diff(self.starts[first : stop + 1]))
        once = nodes < self.neighbours[own]
        edges = np.column_stack([nodes, self.neighbours[own]])[once].tolist()
        out: tuple[Any, ...] = (int(stop - first), edges)
        node_keys, edge_keys = self.node_labels[first:stop].tolist(), self.edge_labels[own][once].tolist()
        if edge_keys and edge_keys[0] in self.names:
            return (*out, [self.names.get(key) for key in node_keys], [self.names[key] for key in edge_keys])
        return (*out, [self.names[key] for key in node_keys]) if node_keys and node_keys[0] in self.names else out


def both_ways(edges: Array, keys: Array | None) -> tuple[Array, Array]:
    """Every edge once in each direction, sorted, without self-loops; of repeated edges the one with the least key."""
    keys = np.full(len(edges), NO_LABEL) if keys is None else keys
    pairs, keys = np.concatenate([edges, edges[:, ::-1]]), np.concatenate([keys, keys])
    order = np.lexsort((keys, pairs[:, 1], pairs[:, 0]))
    pairs, keys = pairs[order], keys[order]
    keep = pairs[:, 0] != pairs[:, 1]
    keep[1:] &= (pairs[1:] != pairs[:-1]).any(axis=1)
    return pairs[keep], keys[keep]


def _objects(labels: list[Any]) -> Array:
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


def _parts(graph: Any, place: int) -> tuple[int, Array, Any, Any]:
    """The number of nodes, the edges, and the labels of nodes and edges, or ``None``."""
    if hasattr(graph, "nodes") and hasattr(graph, "edges"):
        return _networkx_parts(graph, place, "label", "label")
    if sparse.issparse(graph) or isinstance(graph, np.ndarray):
        return _matrix_parts(graph, place)
    if isinstance(graph, (tuple, list)) and 2 <= len(graph) <= 4:
        return _edge_parts(place, *graph)
    raise ValueError(
        f"graph {place} is {graph!r:.60} ({type(graph).__name__}); give networkx graphs, adjacency matrices or "
        "(number of nodes, edges[, node labels[, edge labels]])."
    )


def _edge_parts(place: int, n: Any, edges: Any, nodes: Any = None, links: Any = None) -> tuple[int, Array, Any, Any]:
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise ValueError(f"graph {place}: the number of nodes must be a whole number, got {n!r}.")
    pairs = np.asarray(edges if len(edges) else np.empty((0, 2), np.int64))
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(f"graph {place}: edges must be pairs of node numbers, an array of shape (m, 2).")
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise ValueError(f"graph {place} has {n} nodes, but an edge names node {pairs.max() if n else pairs.min()}.")
    for labels, size, what in ((nodes, n, "node"), (links, len(pairs), "edge")):
        if labels is not None and len(labels) != size:
            raise ValueError(f"graph {place} has {len(labels)} {what} labels for {size} {what}s.")
    return int(n), pairs.astype(np.int64), nodes, links


def _matrix_parts(matrix: Any, place: int) -> tuple[int, Array, Any, Any]:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"graph {place}: an adjacency matrix is square, this one has shape {matrix.shape}.")
    table = sparse.coo_array(matrix)
    table.eliminate_zeros()
    if table.nnz and not np.isfinite(table.data.astype(np.float64)).all():
        raise ValueError(f"graph {place}: the adjacency matrix has entries that are not finite.")
    pattern = sparse.csr_array((np.ones(table.nnz), (table.row, table.col)), shape=table.shape)
    if abs(pattern - pattern.T).sum():
        raise ValueError(f"graph {place} is directed: its matrix is not symmetric; A + A.T forgets the directions.")
    return table.shape[0], np.column_stack([table.row, table.col]).astype(np.int64), None, None


def _networkx_parts(
    graph: Any, place: int, node_label: str | None, edge_label: str | None
) -> tuple[int, Array, Any, Any]:
    if not hasattr(graph, "is_directed"):
        raise ValueError(f"graph {place} is not a networkx graph but {type(graph).__name__}.")
    if graph.is_directed():
        raise ValueError(f"graph {place} is directed; graph.to_undirected() forgets the directions.")
    number = {node: position for position, node in enumerate(graph.nodes)}
    edges = np.array([(number[u], number[v]) for u, v in graph.edges()], dtype=np.int64).reshape(-1, 2)
    nodes = _attributes([data for _, data in graph.nodes(data=True)], node_label, place, "node")
    links = _attributes([data for _, _, data in graph.edges(data=True)], edge_label, place, "edge")
    return len(number), edges, nodes, links


def _attributes(data: list[dict[str, Any]], name: str | None, place: int, what: str) -> list[Any] | None:
    labels = [own[name] for own in data if name in own]
    if labels and len(labels) < len(data):
        raise ValueError(f"graph {place}: only {len(labels)} of {len(data)} {what}s have the attribute {name!r}.")
    return labels or None
