"""Graphlets: how often each small graph occurs as a part of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..._runtime.compile import Array, jit
from ..._validation.parameters import choice, truth
from ..base import Kernel
from ..engine.flat import in_chunks
from ..engine.pairing import Tile
from ..engine.statistics import DOT, squared_norms
from ..readable import Name
from ..vectors import Linear
from .graph_collection import Graphs
from .graph_words import graphlet
from .kinds import complete, kinds

__all__ = ["Graphlet"]

#: Connected parts that are counted one by one in a quarter of an hour or so.
_MOST_PARTS = 1e11


class Graphlet(Kernel):
    """The graphlet kernel: the dot product of the numbers of induced parts of each kind, counted exactly.

    There are 4 kinds of graphs on three nodes, 11 on four and 34 on five; 2, 6 and 21 of them are connected. Labels do
    not count. The work grows with the number of connected parts; the others follow from identities.

    Parameters
    ----------
    size : {3, 4, 5}, default=4
    connected : bool, default=False
        Count the connected kinds alone.
    scale : {"counts", "frequencies", "cosine"}, default="counts"
        Leave the counts as they are, divide them by their sum, or by their length as a vector: the kernel is then the
        cosine between two histograms. A graph with fewer nodes than ``size`` has only zeros.

    Examples
    --------
    >>> from mercer.kernels import Graphlet
    >>> triangle_with_tail = (4, [[0, 1], [1, 2], [2, 0], [2, 3]])
    >>> Graphlet(size=3).features([triangle_with_tail])  # no edge, one edge, a path, a triangle
    array([[0., 1., 2., 1.]])
    >>> Graphlet(size=3, scale="cosine")([triangle_with_tail], [(3, [[0, 1], [1, 2]])]).round(4)
    array([[0.8165]])
    """

    good_for = "shape alone, without labels of nodes"
    collection = Graphs

    def __init__(self, size: int = 4, connected: bool = False, scale: str = "counts") -> None:
        self.size = size
        self.connected = connected
        self.scale = scale

    def check(self):
        choice(self, "size", (3, 4, 5))
        truth(self, "connected")
        choice(self, "scale", ("counts", "frequencies", "cosine"))

    def kinds(self) -> list[list[tuple[int, int]]]:
        """The edges of one graph of each kind, in the order of the features."""
        every = kinds(self.size)
        return [edges for edges, joined in zip(every.edges(), every.connected) if joined or not self.connected]

    def features(self, A):
        A = Graphs.of(A)
        counts = A.once(("graphlets", self.size), lambda: graphlet_counts(A, self.size))
        return scaled(counts[:, kinds(self.size).connected] if self.connected else counts, self.scale)

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)

    def named_features(self, A):
        names = [Name(graphlet(self.size, edges)) for edges in self.kinds()]
        return [{name: float(n) for name, n in zip(names, row, strict=True) if n} for row in self.features(A)]

    @classmethod
    def suggestions(cls, items):
        return [(3, "graphlet(scale='cosine')")]

    def evaluate(self, tile: Tile) -> Array:
        return tile.mapped(self, self.features, Linear()).compute(DOT)

    def diag(self, A):
        return squared_norms(self.features(A))


def scaled(counts: Array, scale: str) -> Array:
    """Histograms as they are, with sum one, or with length one; empty ones stay empty."""
    if scale == "counts":
        return counts
    sizes = counts.sum(axis=1) if scale == "frequencies" else np.sqrt(squared_norms(counts))
    return counts * np.divide(1, sizes, out=np.zeros_like(sizes), where=sizes > 0)[:, None]


def graphlet_counts(A: Graphs, size: int) -> Array:
    """The number of induced parts of each kind in every graph."""
    n, degrees = A.sizes, np.diff(A.starts)
    _refuse_hubs(A, degrees, size)
    connected = {k: np.zeros((len(A), kinds(k).codes.size), np.int64) for k in range(2, 6)}
    degree_sums = {k: np.zeros_like(table) for k, table in connected.items()}
    tables = tuple(kinds(k).of for k in range(2, 6))
    in_chunks(
        len(A),
        lambda first, stop: _count_connected(
            A.node_starts, A.starts, A.neighbours, degrees, size, first, stop, tables,
            tuple(connected.values()), tuple(degree_sums.values()),
        ),
    )  # fmt: skip
    edges = connected[2][:, 1]
    pairs = n.astype(object) * (n.astype(object) - 1) // 2
    counts = np.column_stack([pairs - edges, edges])
    for k in range(3, size + 1):
        apart = np.empty((len(A), 0), dtype=object)
        if k >= 4:
            # Of the m edges, those that touch a part with e edges are (sum of its degrees) − e.
            inside = np.array([code.bit_count() for code in kinds(k - 2).codes.tolist()])
            parts = connected[k - 2].astype(object)
            apart = parts * (edges[:, None] + inside) - degree_sums[k - 2]
        counts = complete(k, connected[k], counts, n.astype(object), apart)
    return counts.astype(np.float64)


def _refuse_hubs(A: Graphs, degrees: Array, size: int) -> None:
    """A node and any ``size`` − 1 of its neighbours are a connected part: a node with many of them has too many."""
    parts = special.comb(degrees, size - 1)
    if parts.sum() > _MOST_PARTS:
        hub = int(degrees.argmax())
        place = int(np.searchsorted(A.node_starts, hub, side="right") - 1)
        raise ValueError(
            f"Graphlet: graph {place} has a node with {degrees[hub]} neighbours, which alone is in {parts[hub]:.2g} "
            f"connected parts of {size} nodes, too many to count; take a smaller size, or WeisfeilerLehman."
        )


@jit
def _count_connected(
    node_starts: Array, starts: Array, neighbours: Array, degrees: Array, size: int, begin: int, end: int,
    tables: Any, counts: Any, degree_sums: Any,
) -> None:  # fmt: skip
    """Visit every connected part of 2 to ``size`` nodes once, and count its kind and the degrees of its nodes.

    Wernicke's order: a part grows from its first node v by nodes u > v, each taken from a list of candidates; a node
    that is passed over is not a candidate again. touch[u] has a bit for every node of the part that u is joined to, so
    that it is both the mark of a candidate and the part's edges to it.
    """
    longest = 0
    for g in range(begin, end):
        longest = max(longest, node_starts[g + 1] - node_starts[g])
    touch = np.zeros(longest, np.int64)
    candidates, free = np.empty((size, longest), np.int64), np.zeros(size, np.int64)
    nodes, codes, sums = np.empty(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64)
    for g in range(begin, end):
        first = node_starts[g]
        for v in range(node_starts[g + 1] - first):
            depth = 0  # of the node added last
            nodes[0], codes[0], sums[0], free[0] = v, 0, degrees[first + v], 0
            for p in range(starts[first + v], starts[first + v + 1]):
                u = neighbours[p]
                touch[u] |= 1
                if u > v:
                    candidates[0, free[0]] = u
                    free[0] += 1
            while depth >= 0:
                if free[depth] == 0:
                    w = nodes[depth]
                    for p in range(starts[first + w], starts[first + w + 1]):
                        touch[neighbours[p]] &= ~(1 << depth)
                    depth -= 1
                    continue
                free[depth] -= 1
                w = candidates[depth, free[depth]]
                here = depth + 1
                code = codes[depth] | touch[w] << here * (here - 1) // 2
                total = sums[depth] + degrees[first + w]
                if here == 1:
                    _tally(tables[0][code], total, g, counts[0], degree_sums[0])
                elif here == 2:
                    _tally(tables[1][code], total, g, counts[1], degree_sums[1])
                elif here == 3:
                    _tally(tables[2][code], total, g, counts[2], degree_sums[2])
                else:
                    _tally(tables[3][code], total, g, counts[3], degree_sums[3])
                if here + 1 == size:
                    continue
                nodes[here], codes[here], sums[here], free[here] = w, code, total, free[depth]
                candidates[here, : free[depth]] = candidates[depth, : free[depth]]
                for p in range(starts[first + w], starts[first + w + 1]):
                    u = neighbours[p]
                    if u > v and touch[u] == 0:
                        candidates[here, free[here]] = u
                        free[here] += 1
                for p in range(starts[first + w], starts[first + w + 1]):
                    touch[neighbours[p]] |= 1 << here
                depth = here


@jit
def _tally(kind: int, total: int, graph: int, counts: Array, degree_sums: Array) -> None:
    counts[graph, kind] += 1
    degree_sums[graph, kind] += total
