"""Graphs, stored flat: the neighbours of all nodes of all graphs in one array."""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse, special
from scipy.sparse import csgraph

from ..checks.parameters import number
from ..runtime.compile import Array, jit
from ..runtime.interrupts import check_interrupt
from .base import Kernel, Range
from .engine.counts import (
    Collection,
    CountDot,
    Counts,
    KnownKeys,
    chain,
    doubled,
    empty_table,
    listed,
    place_of,
    table_of,
)
from .engine.statistics import Statistic, squared_norms
from .engine.tiles import MOMENT, Tile, each_pair, gather, starts_of
from .text_form import Name

__all__ = ["Diffusion", "Graphs", "RandomWalk", "ShortestPath"]

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


# Features of graphs in words: the surroundings of nodes, shortest paths, small parts.
#
# A graph is (number of nodes, edges[, labels of nodes[, labels of edges]]), as :class:`Graphs` gives it.


def _node_names(graph: tuple[Any, ...]) -> list[str]:
    return [str(label) for label in graph[2]] if len(graph) > 2 else ["*"] * graph[0]


def _neighbours(graph: tuple[Any, ...]) -> list[list[tuple[str, int]]]:
    """For each node, the label of the edge to each neighbour and the neighbour."""
    n, edges, *labels = graph
    links = [str(label) for label in labels[1]] if len(labels) == 2 else [""] * len(edges)
    around: list[list[tuple[str, int]]] = [[] for _ in range(n)]
    for (a, b), link in zip(edges, links, strict=True):
        around[a].append((link, b))
        around[b].append((link, a))
    return around


def surroundings(graph: tuple[Any, ...], rounds: int) -> list[list[str]]:
    """For each round what every node's surroundings look like: the node and, in brackets, its neighbours.

    Examples
    --------
    >>> surroundings((3, [[0, 1], [1, 2]], ["C", "O", "C"]), rounds=1)
    [['C', 'O', 'C'], ['C(O)', 'O(C,C)', 'C(O)']]
    """
    around, found = _neighbours(graph), [_node_names(graph)]
    for _ in range(rounds):
        old = found[-1]
        near = [sorted(link + old[u] for link, u in links) for links in around]
        found.append([f"{name}({','.join(own)})" for name, own in zip(old, near, strict=True)])
    return found


def subtrees(graph: tuple[Any, ...], rounds: int) -> Counter[tuple[str, int]]:
    """How often each node's surroundings occur, written as the node and, in brackets, what its neighbours look like;
    with the round that found them.

    Examples
    --------
    >>> for tree, times in subtrees((3, [[0, 1], [1, 2]], ["C", "O", "C"]), rounds=1).items():
    ...     print(tree, times)
    ('C', 0) 2
    ('O', 0) 1
    ('C(O)', 1) 2
    ('O(C,C)', 1) 1
    """
    return Counter((name, level) for level, names in enumerate(surroundings(graph, rounds)) for name in names)


def paths(graph: tuple[Any, ...]) -> Counter[str]:
    """How many pairs of nodes have these labels and so many edges between them.

    Examples
    --------
    >>> paths((3, [[0, 1], [1, 2]], ["C", "O", "C"]))
    Counter({'C–O, 1 apart': 2, 'C–C, 2 apart': 1})
    """
    around, names = _neighbours(graph), _node_names(graph)
    counts: Counter[str] = Counter()
    for source in range(graph[0]):
        distance, queue = {source: 0}, deque([source])
        while queue:
            v = queue.popleft()
            for _, u in around[v]:
                if u not in distance:
                    distance[u] = distance[v] + 1
                    queue.append(u)
        ends = ((sorted((names[source], names[u])), steps) for u, steps in distance.items() if u > source)
        counts.update(f"{a}–{b}, {steps} apart" for (a, b), steps in ends)
    return counts


#: What the kinds of three and four nodes are called, by the sorted numbers of neighbours of their nodes.
_CALLED = {
    (0, 0, 0): "three nodes apart",
    (0, 1, 1): "an edge and a node",
    (1, 1, 2): "a path of three nodes",
    (2, 2, 2): "a triangle",
    (0, 0, 0, 0): "four nodes apart",
    (0, 0, 1, 1): "an edge and two nodes",
    (0, 1, 1, 2): "a path of three nodes and a node",
    (1, 1, 1, 1): "two edges apart",
    (0, 2, 2, 2): "a triangle and a node",
    (1, 1, 1, 3): "a star of four nodes",
    (1, 1, 2, 2): "a path of four nodes",
    (1, 2, 2, 3): "a triangle with a tail",
    (2, 2, 2, 2): "a ring of four nodes",
    (2, 2, 3, 3): "two triangles on one edge",
    (3, 3, 3, 3): "four nodes all joined",
}


def graphlet(size: int, edges: list[tuple[int, int]]) -> str:
    """A small graph in words; by its edges where it has no name.

    Examples
    --------
    >>> graphlet(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    'a triangle with a tail'
    >>> graphlet(5, [(0, 1), (2, 3)])
    '5 nodes with edges 0–1, 2–3'
    """
    degrees = Counter(node for edge in edges for node in edge)
    known = _CALLED.get(tuple(sorted(degrees[node] for node in range(size))))
    drawn = ", ".join(f"{a}–{b}" for a, b in edges)
    return known or (f"{size} nodes with edges {drawn}" if edges else f"{size} nodes apart")


# Shortest paths.


#: Steps along edges that take a quarter of an hour or so.
_MOST_STEPS = 1e11


class LabelledPaths(CountDot):
    """Counts of (label, label, distance) over all pairs of nodes that are connected."""

    def count(self, A: Graphs) -> Counts:
        _refuse_giants(A)
        return Counts.listed(
            len(A),
            lambda first, stop: _count_paths(A.node_starts, A.starts, A.neighbours, A.node_labels, first, stop),
        )


LABELLED_PATHS = LabelledPaths()


def _refuse_giants(A: Graphs) -> None:
    """From every node all nodes and edges of its component are visited: too much work in a giant one."""
    degrees = np.diff(A.starts)
    if float(A.sizes @ A.sizes.astype(np.float64)) + float(A.sizes.max(initial=0)) * degrees.sum() <= _MOST_STEPS:
        return
    n = degrees.size
    first = np.repeat(np.repeat(A.node_starts[:-1], A.sizes), degrees)
    joined = sparse.csr_array((np.ones(A.neighbours.size), A.neighbours + first, A.starts), shape=(n, n))
    component = csgraph.connected_components(joined, directed=False)[1]
    steps = np.bincount(component).astype(np.float64) * np.bincount(component, weights=1.0 + degrees)
    if steps.sum() > _MOST_STEPS:
        place = int(A.sizes.argmax())
        raise ValueError(
            f"ShortestPath: graph {place} has {A.sizes[place]} nodes, and to find all shortest paths in these graphs "
            f"takes {steps.sum():.2g} steps, too many; use WeisfeilerLehman on graphs of this size."
        )


@jit
def _count_paths(
    node_starts: Array, starts: Array, neighbours: Array, labels: Array, begin: int, end: int
) -> tuple[Array, Array, Array]:
    """Breadth first from every node; a hash table counts what is found, so that n² pairs are never stored."""
    sizes = np.zeros(end - begin, np.int64)
    all_keys, all_values, total = np.empty(1024, np.uint64), np.empty(1024), 0
    for g in range(begin, end):
        first = node_starts[g]
        n = node_starts[g + 1] - first
        queue, distance = np.empty(n, np.int64), np.full(n, -1, np.int64)
        used, table = 0, empty_table(64)
        keys, values = np.empty(32, np.uint64), np.empty(32)
        for source in range(n):
            queue[0], head, tail = source, 0, 1
            distance[source] = 0
            while head < tail:
                v = queue[head]
                head += 1
                for p in range(starts[first + v], starts[first + v + 1]):
                    u = neighbours[p]
                    if distance[u] < 0:
                        distance[u] = distance[v] + 1
                        queue[tail] = u
                        tail += 1
            for q in range(tail):
                u = queue[q]
                if u > source:
                    here, there = labels[first + source], labels[first + u]
                    key = chain(chain(min(here, there), max(here, there)), distance[u])
                    s = place_of(table, keys, key)
                    if table[s] < 0:
                        if used == keys.size:
                            keys, values = doubled(keys), doubled(values)
                            table = table_of(keys, used, 2 * table.size)
                            s = place_of(table, keys, key)
                        table[s] = used
                        keys[used], values[used] = key, 0.0
                        used += 1
                    values[table[s]] += 1
                distance[u] = -1
        while total + used > all_keys.size:
            all_keys, all_values = doubled(all_keys), doubled(all_values)
        all_keys[total : total + used], all_values[total : total + used] = keys[:used], values[:used]
        total += used
        sizes[g - begin] = used
    return sizes, all_keys[:total].copy(), all_values[:total].copy()


class ShortestPath(Kernel):
    """The shortest path kernel: pairs of nodes at the same distance with the same labels at both ends.

    The features are the numbers of unordered pairs of connected nodes by their distance (in edges) and their labels.
    Labels of edges do not count.

    Examples
    --------
    >>> from mercer.kernels import ShortestPath
    >>> path, star = (4, [[0, 1], [1, 2], [2, 3]]), (4, [[0, 1], [0, 2], [0, 3]])
    >>> ShortestPath()([path, star])
    array([[14., 15.],
           [15., 18.]])
    """

    good_for = "distances between labelled nodes"
    collection = Graphs

    def __init__(self) -> None:
        pass

    def statistics(self) -> Counter[Statistic]:
        return Counter([LABELLED_PATHS])

    def evaluate(self, tile: Tile) -> Array:
        return tile.compute(LABELLED_PATHS)

    def diag(self, A):
        return LABELLED_PATHS.diag(A)

    def features(self, A):
        return LABELLED_PATHS.features(A)

    def keyed(self, A):
        return LABELLED_PATHS.counts(A)

    def named_features(self, A):
        return [{Name(text): float(times) for text, times in paths(graph).items()} for graph in Graphs.of(A)]

    @classmethod
    def suggestions(cls, items):
        return [(2, "normalised(shortestpath)")]

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)


# Random walks on two graphs at once.


#: The product of two graphs may have this many nodes; its vectors then take a few gigabytes.
_LARGEST_PRODUCT = 2**27
#: Conjugate gradients stop where the residual is this fraction of the right side. The error of 1ᵀx is its square.
_TOLERANCE = 1e-9
#: Rounds that they take as a rule.
_ROUNDS = 20.0


class RandomWalk(Kernel):
    """The geometric random walk kernel: common walks of every length, a walk of length n decayed by decay^n.

    Walks are common where the labels of their nodes and edges agree step by step. Their number is the sum over walks in
    the product graph, whose nodes are the pairs of nodes with the same label: 1ᵀ(I − decay·W)⁻¹1 with its adjacency
    matrix W, by conjugate gradients.

    Parameters
    ----------
    decay : float, default=0.1
        Small enough that the sum over all lengths is finite: below 1/ρ² always is, ρ the largest eigenvalue of any of
        the adjacency matrices. A larger one is refused when the sum is seen to be infinite.

    Examples
    --------
    >>> from mercer.kernels import RandomWalk
    >>> edge, bond = (2, [[0, 1]], ["C", "C"]), (2, [[0, 1]], ["C", "O"])
    >>> RandomWalk(decay=0.1)([edge], [edge, bond, (0, [])]).round(4)
    array([[4.4444, 2.    , 0.    ]])
    """

    good_for = "small graphs: common walks of every length"
    collection = Graphs
    smooth: ClassVar = {"decay": Range.POSITIVE}

    def __init__(self, decay: float = 0.1) -> None:
        self.decay = decay

    def check(self):
        number(self, "decay")

    def _walks(self, A: Graphs, B: Graphs, i: Array, j: Array) -> Array:
        largest = int((A.sizes[i] * B.sizes[j]).max(initial=0))
        if largest > _LARGEST_PRODUCT:
            raise ValueError(
                f"RandomWalk: the product of two of these graphs has {largest} pairs of nodes, too many to solve for; "
                "use WeisfeilerLehman on graphs of this size."
            )
        out = np.empty(i.size)
        steps = np.cumsum(_ROUNDS * _size(A)[i] * _size(B)[j])
        moments = np.flatnonzero(np.diff(steps // MOMENT)) + 1
        a = (A.node_starts, A.starts, A.neighbours, A.node_labels, A.edge_labels)
        b = (B.node_starts, B.starts, B.neighbours, B.node_labels, B.edge_labels)
        for begin, end in itertools.pairwise([0, *moments.tolist(), i.size]):
            check_interrupt()
            _common_walks(a, b, i[begin:end], j[begin:end], float(self.decay), out[begin:end])
        if not np.isfinite(out).all():
            place = int(i[np.argmax(~np.isfinite(out))])
            raise ValueError(
                f"RandomWalk: with decay={self.decay:g} the sum over the common walks of graph {place} with others is "
                "infinite; take a smaller decay."
            )
        return out

    def evaluate(self, tile: Tile) -> Array:
        A, B = tile.pairing.A, tile.pairing.B
        return each_pair(tile, lambda i, j: self._walks(A, B, i, j)).astype(tile.pairing.dtype, copy=False)

    def diag(self, A):
        every = np.arange(len(A))
        return self._walks(A, A, every, every)


def _size(A: Graphs) -> Array:
    """Nodes and arcs of each graph: the product of two has as many as the product of both numbers, at most."""
    return 1.0 + A.sizes + A.starts[A.node_starts[1:]] - A.starts[A.node_starts[:-1]]


@jit
def _common_walks(a: Any, b: Any, i: Array, j: Array, decay: float, out: Array) -> None:
    a_nodes, a_starts, a_near, a_labels, a_links = a
    b_nodes, b_starts, b_near, b_labels, b_links = b
    for pair in range(i.size):
        u0, v0 = a_nodes[i[pair]], b_nodes[j[pair]]
        n, m = a_nodes[i[pair] + 1] - u0, b_nodes[j[pair] + 1] - v0
        number = np.full((n, m), -1, np.int64)
        size, arcs = 0, 0
        for u in range(n):
            for v in range(m):
                if a_labels[u0 + u] == b_labels[v0 + v]:
                    number[u, v] = size
                    size += 1
                    arcs += (a_starts[u0 + u + 1] - a_starts[u0 + u]) * (b_starts[v0 + v + 1] - b_starts[v0 + v])
        starts, near = np.zeros(size + 1, np.int64), np.empty(arcs, np.int64)
        place = 0
        for u in range(n):
            for v in range(m):
                if number[u, v] < 0:
                    continue
                for p in range(a_starts[u0 + u], a_starts[u0 + u + 1]):
                    for q in range(b_starts[v0 + v], b_starts[v0 + v + 1]):
                        if a_links[p] == b_links[q] and number[a_near[p], b_near[q]] >= 0:
                            near[place] = number[a_near[p], b_near[q]]
                            place += 1
                starts[number[u, v] + 1] = place
        out[pair] = _sum_of_walks(starts, near, decay)


@jit
def _sum_of_walks(starts: Array, near: Array, decay: float) -> float:
    """1ᵀ(I − decay·W)⁻¹1 by conjugate gradients, or infinity.

    The sum over walks converges if and only if I − decay·W is positive definite. If it is not, W's leading eigenvector,
    which has no negative entry, is not orthogonal to 1: then the search meets a direction of negative curvature.
    """
    size = starts.size - 1
    total = 0.0
    residual, direction, image = np.ones(size), np.ones(size), np.empty(size)
    squared = float(size)
    for _ in range(10 * size + 100):
        if squared <= _TOLERANCE * _TOLERANCE * size:
            break
        curvature = 0.0
        for v in range(size):
            around = 0.0
            for p in range(starts[v], starts[v + 1]):
                around += direction[near[p]]
            image[v] = direction[v] - decay * around
            curvature += direction[v] * image[v]
        if not curvature > 0:
            return np.inf
        step = squared / curvature
        before, squared = squared, 0.0
        for v in range(size):
            total += step * direction[v]
            residual[v] -= step * image[v]
            squared += residual[v] * residual[v]
        for v in range(size):
            direction[v] = residual[v] + squared / before * direction[v]
    return total


# Diffusion on the nodes of one graph.


class Nodes(Collection):
    """Some nodes of one graph, by their numbers."""

    kind = "nodes"
    shared = False  # a node has another number in another graph

    def __init__(self, places: Array, names: list[Any]) -> None:
        super().__init__()
        self.places, self.names = places, names

    def __len__(self) -> int:
        return self.places.size

    def take(self, index: Array) -> Nodes:
        return Nodes(self.places[index], self.names)

    def item(self, place: int) -> Any:
        return self.names[self.places[place]]


class Diffusion(Kernel, named=False):
    """The diffusion kernel exp(−beta·L) between nodes of one graph, L its Laplacian: how much heat put on one node has
    reached the other after the time beta.

    Parameters
    ----------
    graph : networkx graph, (number of nodes, edges) or adjacency matrix
        The graph whose nodes are the items. Weights of edges do not count.
    beta : float, default=1

    Examples
    --------
    >>> from mercer.kernels import Diffusion
    >>> path = (3, [[0, 1], [1, 2]])
    >>> Diffusion(path, beta=0.5)([0, 1, 2]).round(3)
    array([[0.674, 0.259, 0.067],
           [0.259, 0.482, 0.259],
           [0.067, 0.259, 0.674]])
    """

    collection = Nodes
    smooth: ClassVar = {"beta": Range.POSITIVE}

    def __init__(self, graph: Any, beta: float = 1.0) -> None:
        self.graph = graph
        self.beta = beta

    def check(self):
        number(self, "beta")
        Graphs.of([self.graph])

    def items(self, A):
        if isinstance(A, Nodes):
            return A
        names = list(self.graph.nodes) if hasattr(self.graph, "nodes") else list(range(self._graph().sizes[0]))
        number = {name: position for position, name in enumerate(names)}
        nodes = listed(A, "nodes")
        for place, node in enumerate(nodes):
            if node not in number:
                raise ValueError(
                    f"item {place} is {node!r:.60}, which is not a node of the graph of {len(names)} nodes."
                )
        return Nodes(np.array([number[node] for node in nodes], dtype=np.int64), names)

    def _graph(self) -> Graphs:
        return Graphs.of([self.graph])

    def _heat(self, places: Array, beta: float) -> Array:
        """The columns of exp(−beta·L) that belong to some nodes.

        All eigenvalues of L lie between 0 and 2d, d the largest degree. With X = L/d − I, whose eigenvalues lie between
        −1 and 1, exp(−beta·L) = e^(−a)·exp(−a·X) for a = beta·d, and the Chebyshev expansion is
        e^(−a)·exp(−a·x) = Σₖ (2 − [k = 0])·(−1)ᵏ·e^(−a)·Iₖ(a)·Tₖ(x), whose terms vanish fast beyond k ≈ √a.
        """
        graph = self._graph()
        n, degrees = graph.sizes[0], np.diff(graph.starts)
        largest = max(1, degrees.max(initial=0))
        A = sparse.csr_array((np.ones(graph.neighbours.size), graph.neighbours, graph.starts), shape=(n, n))
        X = sparse.diags_array(degrees / largest - 1) - A / largest
        a = beta * largest
        terms = int(10 + a + 10 * np.sqrt(a)) if a < 100 else int(20 * np.sqrt(a))
        weights = special.ive(np.arange(terms + 1), a) * (-1.0) ** np.arange(terms + 1)
        weights[1:] *= 2
        before = np.zeros((n, places.size))
        before[places, np.arange(places.size)] = 1
        now = X @ before
        out = weights[0] * before + weights[1] * now
        for weight in weights[2:]:
            before, now = now, 2 * (X @ now) - before
            out += weight * now
        return out

    def features(self, A):
        """exp(−beta·L/2), a row for each item and a column for each node of the graph."""
        return np.ascontiguousarray(self._heat(A.places, self.beta / 2).T)

    def evaluate(self, tile: Tile) -> Array:
        def columns(B: Nodes) -> Array:
            return np.ascontiguousarray(self._heat(B.places, self.beta).T)

        heat = tile.pairing.once(("heat", id(self)), lambda: columns(tile.pairing.B))
        rows = tile.pairing.A[tile.i].places
        return heat[tile.j][:, rows].T.astype(tile.pairing.dtype)

    def diag(self, A):
        return squared_norms(self.features(A))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Diffusion) or self.beta != other.beta:
            return False
        mine, theirs = self._graph(), other._graph()
        return np.array_equal(mine.starts, theirs.starts) and np.array_equal(mine.neighbours, theirs.neighbours)

    __hash__ = Kernel.__hash__
