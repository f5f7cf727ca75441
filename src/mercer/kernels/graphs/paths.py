"""Shortest paths."""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from ..._runtime.compile import Array, jit
from ..base import Kernel
from ..engine.count_dot import CountDot
from ..engine.counts import Counts
from ..engine.hash_table import doubled, empty_table, place_of, table_of
from ..engine.keys import chain
from ..engine.pairing import Tile
from ..engine.statistics import Statistic
from ..readable import Name
from .graph_collection import Graphs
from .graph_words import paths

__all__ = ["ShortestPath"]

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
