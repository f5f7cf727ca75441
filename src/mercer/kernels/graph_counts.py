"""Weisfeiler–Lehman kernels: subtrees around every node, by refining labels round after round."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache, reduce
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from ..checks.parameters import choice, size, truth
from ..runtime.compile import Array, jit
from ..runtime.numerics import copy_into
from .base import Kernel
from .engine.counts import CountDot, Counts, beside, chain, count, in_unary, mix
from .engine.statistics import DOT, Statistic, squared_norms
from .engine.tiles import Tile, in_chunks
from .graphs import Graphs, graphlet, subtrees
from .text_form import Name
from .vectors import Linear

__all__ = ["Graphlet", "WeisfeilerLehman", "WeisfeilerLehmanAssignment"]

#: Labels stop changing after as many rounds as the longest path has nodes, and say nothing new long before.
_MOST_ROUNDS = 100


def refined(A: Graphs, rounds: int) -> Array:
    """The label of every node after some rounds; two nodes share it where their surroundings up to there are alike."""
    if rounds == 0:
        return A.once(("refined", 0), lambda: _mixed(A.node_labels))
    return A.once(
        ("refined", rounds),
        lambda: _refine(refined(A, rounds - 1), A.node_starts, A.starts, A.neighbours, A.edge_labels),
    )


@jit
def _mixed(labels: Array) -> Array:
    out = np.empty_like(labels)
    for v in range(labels.size):
        out[v] = mix(labels[v])
    return out


@jit
def _refine(labels: Array, node_starts: Array, starts: Array, neighbours: Array, edge_labels: Array) -> Array:
    """A node's new label: its own and the multiset of its neighbours'. The sum of mixed keys is a key of a multiset."""
    out = np.empty_like(labels)
    for g in range(node_starts.size - 1):
        first = node_starts[g]
        for v in range(first, node_starts[g + 1]):
            around = np.uint64(0)
            for p in range(starts[v], starts[v + 1]):
                around += chain(labels[first + neighbours[p]], edge_labels[p])
            out[v] = chain(labels[v], around)
    return out


@dataclass(frozen=True)
class RefinedLabels(CountDot):
    """Counts of the labels after some rounds."""

    rounds: int

    def count(self, A: Graphs) -> Counts:
        return count(refined(A, self.rounds), A.node_starts)


@dataclass(frozen=True)
class MatchedLabels(CountDot):
    """The number of nodes that can be paired with a node of the same label after some rounds."""

    rounds: int

    def count(self, A: Graphs) -> Counts:
        return in_unary(RefinedLabels(self.rounds).counts(A))


class WeisfeilerLehman(Kernel):
    """The Weisfeiler–Lehman subtree kernel: pairs of nodes that look alike up to a distance, for every distance ≤ h.

    In each of h rounds a node's label is replaced by its label and its neighbours' (with those of the edges to them,
    where edges are labelled). The kernel counts, over all rounds, the pairs of nodes with the same label.

    Parameters
    ----------
    h : int, default=3

    Examples
    --------
    >>> from mercer.kernels import WeisfeilerLehman
    >>> path, star = (4, [[0, 1], [1, 2], [2, 3]]), (4, [[0, 1], [0, 2], [0, 3]])
    >>> WeisfeilerLehman(h=1)([path, star])
    array([[24., 22.],
           [22., 26.]])
    """

    good_for = "molecules and labelled graphs: the one to begin with"
    collection = Graphs
    _labels: Any = RefinedLabels

    def __init__(self, h: int = 3) -> None:
        self.h = h

    def check(self):
        size(self, "h", 0, _MOST_ROUNDS)

    def _rounds(self) -> list[Any]:
        return [self._labels(rounds) for rounds in range(int(self.h) + 1)]

    def statistics(self) -> Counter[Statistic]:
        return Counter(self._rounds())

    def evaluate(self, tile: Tile) -> Array:
        first, *others = self._rounds()
        out = tile.compute(first)
        for statistic in others:
            out += tile.compute(statistic)
        return out

    def diag(self, A):
        return sum(statistic.diag(A) for statistic in self._rounds())

    def features(self, A):
        return self.keyed(A).hashed()

    def keyed(self, A):
        return reduce(beside, (statistic.counts(A) for statistic in self._rounds()))

    def named_features(self, A):
        return [
            {Name(*tree): float(times) for tree, times in subtrees(graph, int(self.h)).items()}
            for graph in Graphs.of(A)
        ]

    @classmethod
    def suggestions(cls, items):
        return [(0, "normalised(weisfeilerlehman(h=4))")]

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)


class WeisfeilerLehmanAssignment(WeisfeilerLehman):
    """The Weisfeiler–Lehman optimal assignment kernel: every node paired with at most one, as like it as possible.

    The value is the best sum, over one-to-one pairings of the nodes, of the number of rounds (of 0 to h) after which
    the two labels still agree. Labels only ever split, so that the best pairing is a count: Σ of the smaller number of
    nodes with each label, over all rounds.

    Parameters
    ----------
    h : int, default=3

    Examples
    --------
    >>> from mercer.kernels import WeisfeilerLehmanAssignment
    >>> path, star = (4, [[0, 1], [1, 2], [2, 3]]), (4, [[0, 1], [0, 2], [0, 3]])
    >>> WeisfeilerLehmanAssignment(h=1)([path, star])
    array([[8., 6.],
           [6., 8.]])
    """

    good_for = "as weisfeiler_lehman, each node matched at most once"
    _labels = MatchedLabels

    def named_features(self, A):
        # Nodes that look alike are paired one by one: Σ min(a, b) is the dot product of the counts in unary.
        return [
            {
                Name(text, (level, k)): 1.0
                for (text, level), times in subtrees(graph, int(self.h)).items()
                for k in range(times)
            }
            for graph in Graphs.of(A)
        ]

    @classmethod
    def suggestions(cls, items):
        return [(1, "normalised(weisfeilerlehmanassignment(h=3))")]


# The kinds of graphs with a few nodes, and what follows from counting only the connected ones.
#
# A graph on k nodes is a number: bit b(b−1)/2 + a says whether nodes a < b are joined.


def bit(a: int, b: int) -> int:
    """The number of the graph whose only edge joins a and b."""
    low, high = min(a, b), max(a, b)
    return 1 << (high * (high - 1) // 2 + low)


class Kinds(NamedTuple):
    """All graphs on ``size`` nodes up to renaming, in order of their number of edges.

    ``codes`` has one number for each kind, ``of`` the kind of every number, ``connected`` whether a kind is connected.
    """

    size: int
    codes: Array
    of: Array
    connected: Array

    def edges(self) -> list[list[tuple[int, int]]]:
        """The edges of one graph of each kind."""
        pairs = list(combinations(range(self.size), 2))
        return [[(a, b) for a, b in pairs if code & bit(a, b)] for code in self.codes.tolist()]


@cache
def kinds(size: int) -> Kinds:
    """The kinds of graphs on ``size`` nodes: 4 on three, 11 on four, 34 on five."""
    pairs = list(combinations(range(size), 2))
    numbers = np.arange(2 ** len(pairs))
    smallest = numbers.copy()
    for order in permutations(range(size)):
        renamed = np.zeros_like(numbers)
        for a, b in pairs:
            renamed |= np.where(numbers & bit(a, b), bit(order[a], order[b]), 0)
        smallest = np.minimum(smallest, renamed)
    codes = np.array(sorted(set(smallest.tolist()), key=lambda code: (code.bit_count(), code)))
    place = {code: position for position, code in enumerate(codes.tolist())}
    of = np.array([place[code] for code in smallest.tolist()])
    return Kinds(size, codes, of, np.array([_is_connected(code, size) for code in codes.tolist()]))


def _is_connected(code: int, size: int) -> bool:
    reached = {0}
    for _ in range(size):
        reached |= {b for b in range(size) for a in reached if a != b and code & bit(a, b)}
    return len(reached) == size


def part(code: int, nodes: tuple[int, ...]) -> int:
    """The graph induced on some nodes."""
    return sum(bit(a, b) for (a, u), (b, v) in combinations(enumerate(nodes), 2) if code & bit(u, v))


@cache
def smaller_parts(size: int) -> Array:
    """How many of the parts of each kind with one node less are of each smaller kind: a row for each smaller kind."""
    whole, less = kinds(size), kinds(size - 1)
    out = np.zeros((less.codes.size, whole.codes.size), dtype=object)
    for column, code in enumerate(whole.codes.tolist()):
        for nodes in combinations(range(size), size - 1):
            out[less.of[part(code, nodes)], column] += 1
    return out


@cache
def splits(size: int) -> Array:
    """How often each kind splits into a part of each kind with two nodes less, and an edge between the other two."""
    whole, less = kinds(size), kinds(size - 2)
    out = np.zeros((less.codes.size, whole.codes.size), dtype=object)
    for column, code in enumerate(whole.codes.tolist()):
        for u, v in combinations(range(size), 2):
            if code & bit(u, v):
                rest = tuple(node for node in range(size) if node not in (u, v))
                out[less.of[part(code, rest)], column] += 1
    return out


def complete(size: int, connected: Array, smaller: Array, nodes: Array, apart: Array) -> Array:
    """Counts of all kinds, from counts of the connected ones, exactly.

    Two identities hold for the numbers x of induced parts in a graph with n nodes. A part with one node less lies in
    n − size + 1 larger ones (Kelly's lemma): Σ_H smaller_parts[J, H]·x_H = (n − size + 1)·x_J. And a connected part C
    beside an edge that has no node in it makes a part that splits so: Σ_H splits[C, H]·x_H = (such pairs). Each
    disconnected kind is the only unknown in one of these equations, when taken in the right order.

    Parameters
    ----------
    size : int
    connected : array of shape (graphs, kinds)
        Counts of the connected kinds; those of the others are not looked at.
    smaller : array of shape (graphs, kinds of size − 1)
        Counts of all kinds with one node less.
    nodes : array
        Numbers of nodes.
    apart : array of shape (graphs, kinds of size − 2)
        For every connected kind with two nodes less, the number of pairs of such a part and an edge away from it.
    """
    whole = kinds(size)
    out = np.where(whole.connected, connected, 0).astype(object)
    sides = [*((nodes[:, None] - size + 1) * smaller).T]
    rows = [*smaller_parts(size)]
    if size >= 4:
        joined = np.flatnonzero(kinds(size - 2).connected)
        rows += [splits(size)[kind] for kind in joined]
        sides += [apart[:, kind] for kind in joined]
    unknown = set(np.flatnonzero(~whole.connected).tolist())
    while unknown:
        for row, side in zip(rows, sides):
            left = [kind for kind in unknown if row[kind]]
            if len(left) == 1:
                out[:, left[0]] = (side - out @ row) // row[left[0]]
                unknown.remove(left[0])
    return out


# Graphlets: how often each small graph occurs as a part of a graph.


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
                copy_into(candidates[depth, : free[depth]], candidates[here])
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
