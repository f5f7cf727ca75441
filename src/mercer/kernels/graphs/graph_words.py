"""Features of graphs in words: the surroundings of nodes, shortest paths, small parts.

A graph is (number of nodes, edges[, labels of nodes[, labels of edges]]), as :class:`Graphs` gives it.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Any


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
