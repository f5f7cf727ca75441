"""Weisfeiler–Lehman kernels: subtrees around every node, by refining labels round after round."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit
from ..._validation.parameters import size
from ..base import Kernel
from ..engine.count_dot import CountDot
from ..engine.counts import Counts, beside, count, in_unary
from ..engine.keys import chain, mix
from ..engine.pairing import Tile
from ..engine.statistics import Statistic
from ..readable import Name
from .graph_collection import Graphs
from .graph_words import subtrees

__all__ = ["WeisfeilerLehman", "WeisfeilerLehmanAssignment"]

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
