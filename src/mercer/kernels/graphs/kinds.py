"""The kinds of graphs with a few nodes, and what follows from counting only the connected ones.

A graph on k nodes is a number: bit b(b−1)/2 + a says whether nodes a < b are joined.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np

from ..._runtime.compile import Array


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
