"""Machines of pairs of classes, solved together: what pairs share is computed once.

The kernel matrix of a pair (c, d) is made of K[c, c], K[d, d], and K[c, d] with its transpose. A class with itself is a
part of as many pairs as there are other classes: in single precision, to solve on, its matrix is kept; in double
precision, for the scores that certificates come from, it is computed once for the coefficients of all its pairs.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._runtime.combine import turn_here
from .._runtime.compile import Array, jit
from .._runtime.interrupts import kept
from .._runtime.parallel import for_each, thread_count
from ..grams import Gram, Lazy
from ..problems import Status
from ..solvers import SoftMargin
from ..solvers.svm.dual_refinement import SINGLE_RANGE, SMALL_GAP
from ..solvers.svm.small_blocks import solve_block
from ..solvers.svm.soft_margin import DualSolution
from ..solvers.svm.watched_blocks import note_block
from .binary_machine import LOOKED_UP, BinaryMachine
from .pair_machines import fits
from .training import Training

__all__ = ["begin_pairs"]


class _Pair(NamedTuple):
    """A machine, the numbers of its classes, and the places of their items among its own."""

    machine: BinaryMachine
    classes: tuple[int, int]
    places: tuple[Array, Array]

    @classmethod
    def of(cls, machine: BinaryMachine) -> _Pair:
        places = np.flatnonzero(machine.y < 0), np.flatnonzero(machine.y > 0)
        first, second = (int(machine.data.targets[machine.rows[own[0]]]) for own in places)
        return cls(machine, (first, second), places)


def begin_pairs(machines: list[BinaryMachine], data: Training, solver: SoftMargin, exact: Gram) -> None:
    """Give machines of pairs a solution with exact scores, which is to be certified, or else a start.

    Those with few items have matrices of their own, those with many have no room for one; and where steps or time are
    limited, each machine keeps its own count.
    """
    gram = data.gram
    if not (isinstance(gram, Lazy) and isinstance(exact, Lazy)):
        return
    pairs = [_Pair.of(each) for each in machines if fits(each, solver) and each.rows.size > LOOKED_UP]
    members = {label: pair.machine.rows[own] for pair in pairs for label, own in zip(*pair[1:], strict=True)}
    largest = max((pair.machine.rows.size for pair in pairs), default=0)
    room = 4 * (sum(rows.size**2 for rows in members.values()) + thread_count() * largest**2)
    similar = float(gram.diag().max(initial=0.0))
    if len(pairs) < 2 or room > solver.memory or not SINGLE_RANGE[0] < similar < SINGLE_RANGE[1]:
        return
    note_block(largest, room)
    found: dict[int, DualSolution] = {}
    try:
        _solve(pairs, members, gram, solver, found)
    except KeyboardInterrupt:
        if kept():
            _hand_out(pairs, found, members, exact)
        raise
    _hand_out(pairs, found, members, exact)


def _hand_out(pairs: list[_Pair], found: dict[int, DualSolution], members: dict[int, Array], exact: Lazy) -> None:
    """Give the machines what was found for them."""
    some, solutions = [pairs[number] for number in sorted(found)], [found[number] for number in sorted(found)]
    for pair, solution, own in zip(some, solutions, _exact_scores(some, solutions, members, exact), strict=True):
        if solution.status is Status.CONVERGED:
            pair.machine.begun = replace(solution, scores=own)
        else:
            pair.machine.start = solution


def _solve(
    pairs: list[_Pair], members: dict[int, Array], gram: Lazy, solver: SoftMargin, found: dict[int, DualSolution]
) -> None:
    """A solution for the number of each pair, in single precision."""
    alone = {label: np.empty((rows.size, rows.size), np.float32) for label, rows in members.items()}
    for_each(lambda label: gram.block(members[label], members[label], alone[label]), members)
    memory = threading.local()

    def solve(number: int) -> None:
        machine, (first, second), places = pairs[number]
        n = machine.rows.size
        if getattr(memory, "block", np.empty(0)).size < n * n:
            memory.block = np.empty(n * n, np.float32)
        K, edge = memory.block[: n * n].reshape(n, n), places[0].size
        gram.block(members[first], members[second], K[:edge, edge:])
        _complete(K, alone[first], alone[second])
        order = np.concatenate(places)
        bound, z = machine.beginning()
        solution = solve_block(K, machine.y[order], bound[order], z[order], solver.tol, SMALL_GAP)
        scores = np.empty(n)
        z[order], scores[order] = solution.z, solution.scores
        found[number] = replace(solution, z=z, scores=scores)

    for_each(solve, range(len(pairs)))


@jit
def _complete(K: Array, first: Array, second: Array) -> None:
    """Write the matrices of two classes beside that between them, and its transpose."""
    edge = first.shape[0]
    K[:edge, :edge] = first
    K[edge:, edge:] = second
    turn_here(K[:edge, edge:], K[edge:, :edge])


def _exact_scores(pairs: list[_Pair], found: list[DualSolution], members: dict[int, Array], exact: Lazy) -> list[Array]:
    """The scores of the items of each pair, in double precision."""
    scores = [np.empty(pair.machine.rows.size) for pair in pairs]

    def score(label: int) -> None:
        """Scores of the items of a class in all its pairs: from its own items, and from those of the other classes."""
        rows = members[label]
        mine = [(number, pair.classes.index(label)) for number, pair in enumerate(pairs) if label in pair.classes]
        own = np.stack([found[number].z[pairs[number].places[side]] for number, side in mine], axis=1)
        used = np.flatnonzero(own.any(axis=1))
        sums = exact.scores(rows, rows[used], own[used]) if used.size else np.zeros(own.shape)
        others = [pairs[number].places[1 - side] for number, side in mine]
        others = [places[found[number].z[places] != 0] for (number, _), places in zip(mine, others, strict=True)]
        items, z = (
            np.concatenate([values(number)[places] for (number, _), places in zip(mine, others, strict=True)])
            for values in (lambda number: pairs[number].machine.rows, lambda number: found[number].z)
        )
        edges = np.cumsum([0, *(places.size for places in others)])
        sums += exact.segment_scores(rows, items, z, edges)
        for (number, side), column in zip(mine, sums.T, strict=True):
            scores[number][pairs[number].places[side]] = column

    for_each(score, sorted({label for pair in pairs for label in pair.classes}))
    return scores
