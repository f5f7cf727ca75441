"""Probabilities of classes as operators of ONNX."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from .onnx_operators import OnnxOperators

__all__ = ["coupled_classes", "shares_of_sum"]


def shares_of_sum(graph: OnnxOperators, name: str) -> str:
    """Positive numbers in shares of their sum."""
    positive = graph.add("Max", [name, graph.number(float(np.finfo(np.float64).eps))])
    return graph.add("Div", [positive, graph.summed(positive)])


def coupled_classes(graph: OnnxOperators, second: str, k: int) -> str:
    """The p with Σp = 1 that make ½·pᵀQp least, by elimination.

    With the last class written as 1 less the others, p = e + Nq, what is left is NᵀQN·q = −NᵀQe, a positive
    definite system of k − 1 numbers, which elimination solves without exchanging rows.
    """
    share, fixed = np.zeros((k * (k - 1) // 2, k, k)), np.zeros((k, k))
    for pair, (i, j) in enumerate(combinations(range(k), 2)):
        share[pair, j, i], share[pair, i, j], fixed[i, j] = 1.0, -1.0, 1.0
    r = graph.add("MatMul", [second, graph.constant(share.reshape(-1, k * k))])
    r = graph.add("Add", [r, graph.constant(fixed.reshape(1, -1))])
    r = graph.add("Reshape", [r, graph.constant([-1, k, k])])
    off = graph.add("Neg", [graph.add("Mul", [r, graph.add("Transpose", [r], perm=[0, 2, 1])])])
    diagonal = graph.add("Mul", [graph.summed(graph.add("Mul", [r, r])), graph.constant(np.eye(k))])
    q = graph.add("Add", [off, diagonal])
    most, last = list(range(k - 1)), [k - 1]
    column = graph.gathered(q, last, axis=2)
    system = graph.add("Sub", [graph.gathered(q, most, axis=2), column])  # QN
    system = graph.add("Concat", [system, graph.add("Neg", [column])], axis=2)
    system = graph.add("Sub", [graph.gathered(system, most), graph.gathered(system, last)])  # Nᵀ(QN | −Qe)
    for step in range(k - 1):
        row = graph.gathered(system, [step])
        column = graph.gathered(system, [step], axis=2)
        row = graph.add("Div", [row, graph.gathered(row, [step], axis=2)])
        others = np.ones((k - 1, 1))
        others[step] = 0.0
        others_kept = graph.add("Mul", [column, graph.constant(others)])
        rest = graph.add("Mul", [system, graph.constant(others)])
        placed = graph.add("Mul", [row, graph.constant(1.0 - others)])
        system = graph.add("Add", [graph.add("Sub", [rest, graph.add("Mul", [others_kept, row])]), placed])
    found = graph.add("Reshape", [graph.gathered(system, [k - 1], axis=2), graph.constant([-1, k - 1])])
    rest = graph.add("Sub", [graph.number(1.0), graph.summed(found)])
    return shares_of_sum(graph, graph.add("Concat", [found, rest], axis=1))
