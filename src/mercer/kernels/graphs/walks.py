"""Random walks on two graphs at once."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit
from ..._runtime.interrupts import heed
from ..._validation.parameters import number
from ..base import Kernel
from ..engine.pairing import Tile
from ..engine.pairwise import MOMENT, each_pair
from .graph_collection import Graphs

__all__ = ["RandomWalk"]

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
            heed()
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
