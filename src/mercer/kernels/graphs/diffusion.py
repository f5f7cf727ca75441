"""Diffusion on the nodes of one graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse, special

from ..._runtime.compile import Array
from ..._validation.parameters import number
from ..base import Kernel
from ..engine.collection import Collection, listed
from ..engine.pairing import Tile
from ..engine.statistics import squared_norms
from .graph_collection import Graphs

__all__ = ["Diffusion"]


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
