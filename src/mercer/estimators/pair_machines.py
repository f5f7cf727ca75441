"""Machines of pairs of classes, solved together on one kernel matrix: what a search over many classes is made of."""

from __future__ import annotations

import numpy as np

from .._runtime.combine import gather
from .._runtime.compile import Array
from .._runtime.interrupts import heed
from ..grams import Dense, Gram
from ..problems import Status
from ..solvers import SoftMargin
from ..solvers.svm.small_blocks import MOST_STEPS, SmallBlock, solve_blocks
from ..solvers.svm.smo import WORKING_SET
from .binary_machine import BinaryMachine
from .training import Training

#: Items of each class whose scores tell whether single precision can be trusted.
_SPOTS = 8
#: Machines that are solved before Ctrl-C is heeded.
_AT_ONCE = 256


def solve_pairs(
    machines: list[BinaryMachine], data: Training, solver: SoftMargin, exact: Gram, rng: np.random.Generator
) -> list[BinaryMachine]:
    """Solve the machines of all pairs, without certificates; those that are still to be solved one by one come back.

    Those are all of them where there is no matrix in single precision, a pair has too many items or steps and time are
    scarce, and else the few that are hard, or that single precision cannot be trusted with.
    """
    gram, fitting = data.gram, [machine for machine in machines if fits(machine, solver)]
    if not machines or len(fitting) < len(machines) or not isinstance(gram, Dense) or gram.K.dtype != np.float32:
        return machines
    # Side by side, the items of a class lie side by side in memory as well.
    order = np.argsort(data.targets, kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    K = np.empty((order.size, order.size), np.float32)
    gather(gram.K, gram.index[order], gram.index[order], K)
    for begin in range(0, len(machines), _AT_ONCE):
        heed()
        some = machines[begin : begin + _AT_ONCE]
        found = solve_blocks(K, [_block(machine, place) for machine in some], solver.tol)
        for machine, solution in zip(some, found, strict=True):
            machine.solution = solution
    wrong = _errors(machines, data.targets, exact, rng) > 10 * solver.tol
    hard = np.array([machine.solution.status is not Status.CONVERGED for machine in machines])
    return [machine for machine, again in zip(machines, wrong | hard, strict=True) if again]


def fits(machine: BinaryMachine, solver: SoftMargin) -> bool:
    """Whether this is a plain soft margin on items whose matrix stays in the processor's cache, without limits."""
    items = machine.rows.size
    limited = np.isfinite(solver.time_limit) or 0 <= solver.max_iter < MOST_STEPS * items
    return type(machine) is BinaryMachine and items <= WORKING_SET and bool(np.isfinite(machine.C)) and not limited


def _block(machine: BinaryMachine, place: Array) -> SmallBlock:
    return SmallBlock(place[machine.rows], machine.y, *machine.beginning())


def _errors(machines: list[BinaryMachine], codes: Array, exact: Gram, rng: np.random.Generator) -> Array:
    """By how much the scores of each machine are wrong at most, as far as some items of its two classes tell."""
    shuffled = rng.permutation(codes.size)
    shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
    begin = np.searchsorted(codes[shuffled], codes[shuffled])
    spots = np.sort(shuffled[np.arange(codes.size) - begin < _SPOTS])
    coefficients = np.zeros((codes.size, len(machines)))
    claimed = np.full((spots.size, len(machines)), np.nan)
    for m, machine in enumerate(machines):
        coefficients[machine.rows, m] = machine.solution.z
        _, known, places = np.intersect1d(spots, machine.rows, assume_unique=True, return_indices=True)
        claimed[known, m] = np.asarray(machine.solution.scores)[places]
    used = np.flatnonzero(coefficients.any(axis=1))
    errors = np.abs(exact.scores(spots, used, coefficients[used]) - claimed)
    # A score that is no number anywhere is an error without end; where nobody claims anything there is none.
    return np.where(np.isnan(claimed), 0.0, np.nan_to_num(errors, nan=np.inf)).max(axis=0, initial=0.0)
