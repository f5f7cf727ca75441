"""One machine of a support vector classifier: two classes, solved with a certificate."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from .. import solvers
from ..grams import Dense, Features, Gram, Lazy
from ..grams.placement import FEW_ITEMS
from ..kernels import Polynomial
from ..losses.margins import Hinge
from ..problems import Certificate, Intercept, Iterate, Problem, Status, balanced, certify, keeps
from ..runtime.compile import Array, jit
from ..runtime.interrupts import check_interrupt, keeps_best
from ..runtime.numerics import copy_into, gather, turn_here
from ..runtime.threads import for_each, thread_count
from ..solvers import SoftMargin, svm
from ..solvers.svm.small_blocks import MOST_STEPS, SmallBlock, certified_blocks, solve_block, solve_blocks
from ..solvers.svm.smo import WORKING_SET, trusted
from ..solvers.svm.soft_margin import SINGLE_RANGE, SMALL_GAP, DualSolution
from .contents import row_keys
from .training import Training

__all__ = ["Pairs", "begin_pairs", "laid_out", "solve_small", "votes"]

#: Steps for each item after which an interior point method finds a hard margin sooner.
_PATIENCE, _LEAST_PATIENCE = 20, 2000
#: Where there is no hard margin, the machine is that of so large a C, in units of 1/(mean self-similarity).
_NEARLY_HARD = 1e3
#: Noise in scores that a margin of one does not stand.
_AUDIBLE = 0.1
#: Values beyond this are not rounded to float32, which could not hold them.
_LARGEST_SINGLE = 1e37


def contradictions(data: Training, rows: Array | None = None) -> int:
    """How many of the rows appear again with another label."""
    if data.fingerprints is None:
        return 0
    rows = np.arange(len(data.targets)) if rows is None else rows
    same = np.unique(row_keys(data.fingerprints[rows], np.zeros(rows.size)), return_inverse=True)[1]
    pairs = np.unique(np.column_stack([same, data.targets[rows]]), axis=0)
    return int((np.bincount(pairs[:, 0]) > 1).sum())


class BinaryMachine:
    """One problem of a fit, with labels ±1: a pair of classes, or a class against the rest."""

    solution: DualSolution
    certificate: Certificate | None = None
    left_out = False
    start: Iterate | None = None
    #: A solution with exact scores, where somebody has found one already: it is still to be certified.
    begun: DualSolution | None = None

    def __init__(self, C: float, data: Training, rows: Array, y: Array) -> None:
        self.data, self.rows, self.y = data, rows, y
        self.C = C
        #: The C of the problem that was solved in the end.
        self.final_C = C

    def _problem(self, gram: Gram, C: float) -> Problem:
        weight = None if self.data.weight is None else self.data.weight[self.rows]
        total = self.rows.size if weight is None else weight.sum()
        lam = 0.0 if np.isinf(C) else 1 / (C * total)
        return Problem(gram, self.y, Hinge(), lam, weight, Intercept.FREE)

    @property
    def problem(self) -> Problem:
        """What is to be solved."""
        return self._problem(self._part(self.data.gram), self.C)

    def _part(self, gram: Gram) -> Gram:
        """The Gram of this machine's items."""
        return gram if self.rows.size == len(self.data.targets) else gram.take(self.rows)

    def _parts(self, exact: Gram) -> tuple[Gram, Gram]:
        """The Grams of this machine's items, to solve on and to certify with.

        Where items are few, looking a value up costs less than asking for it, and both are matrices in memory.
        """
        if self.rows.size > FEW_ITEMS or self.rows.size == len(self.data.targets) or exact.features() is not None:
            working = self._part(self.data.gram)
            return working, working if exact is self.data.gram else self._part(exact)
        values = np.asarray(self._part(exact).rows(np.arange(self.rows.size)), dtype=np.float64)
        fits = float(np.abs(values).max(initial=0.0)) < _LARGEST_SINGLE
        return Dense(values.astype(np.float32) if fits else values), Dense(values)

    @property
    def one_sided(self) -> bool:
        """Whether all items have the same label, as one of many labels may be."""
        return bool((self.y == self.y[0]).all())

    def beginning(self) -> tuple[Array, Array]:
        """The largest coefficient of each item, and those to begin with: within bounds, and with a sum of zero.

        Bounds are those of :attr:`problem` to the last digit: a coefficient beside its bound could still grow.
        """
        n = self.rows.size
        weight = np.ones(n) if self.data.weight is None else self.data.weight[self.rows]
        total = float(weight.sum())
        bound = weight * (n / total) / (1 / (self.C * total) * n)
        if self.start is None:
            return bound, np.zeros(self.rows.size)
        return bound, balanced(self.start.z, np.minimum(bound * self.y, 0.0), np.maximum(bound * self.y, 0.0))

    def approximate(self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram) -> None:
        """Solve without a certificate, as long as single precision can be trusted and one would cost anything."""
        problem = self._problem(self._part(self.data.gram), self.C)
        if np.isfinite(self.C) and not svm.passes_pay(problem):
            self.solution = solver.solve(problem, self.start, rng)
            if trusted(problem.on(self._part(exact)), self.solution, solver.tol, rng):
                return
        self.solve(solver, rng, exact)

    def solve(self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram) -> None:
        """Solve with a certificate in float64."""
        working, exact = self._parts(exact)
        deadline = time.monotonic() + solver.time_limit
        proven = None
        if np.isinf(self.C):
            solution, certificate = self._hard(solver, rng, exact)
            if solution.status not in (Status.NOT_SEPARABLE, Status.NOT_FOUND):
                self.solution, self.certificate = solution, certificate
                return
            late = time.monotonic() > deadline  # what was not found in time may be found in more
            proven = Status.NOT_CONVERGED if late and solution.status is Status.NOT_FOUND else solution.status
            solver = replace(solver, time_limit=deadline - time.monotonic())
            # No model is hard enough: the one that is kept is soft, and its certificate is that of its own C.
            self.final_C = _NEARLY_HARD / (float(np.mean(exact.diag())) or 1.0)
        problem = self._problem(exact, self.final_C)
        if self.begun is not None:
            refinement = svm.DualRefinement(problem, solver, rng, working, self.data.by_weights)
            self.solution, self.certificate = refinement.improved(self.begun, known=True)
            return
        found = solvers.solve_certified(
            problem, solver, self.start, rng, working=working, by_weights=self.data.by_weights
        )
        assert isinstance(found.solution, DualSolution)
        self.solution, self.certificate = found.solution, found.certificate
        if proven is not None:
            self.solution = replace(self.solution, status=proven)

    def _hard(
        self, solver: solvers.SoftMargin, rng: np.random.Generator, exact: Gram
    ) -> tuple[DualSolution, Certificate]:
        """The hard margin, or why there is none."""
        deadline = time.monotonic() + solver.time_limit
        exact, patience = self._features(exact), max(_LEAST_PATIENCE, _PATIENCE * self.rows.size)
        problem, by_weights, small = self._problem(exact, np.inf), self.data.by_weights, solvers.few_enough(exact)
        # Pairwise steps find a solution with few items where there are many; where it is hard to find they do not end.
        quick = replace(solver, max_iter=min(solver.max_iter, patience)) if small else solver
        refinement = svm.DualRefinement(
            problem, quick, rng, self._part(self.data.gram), by_weights, last_resort=not small
        )
        solution, certificate = refinement.run(self.start)
        if solution.status is Status.INTERRUPTED:
            return solution, certificate
        separates = float(np.min(self.y * (np.asarray(solution.scores) + solution.b))) > 0
        status: Status = solution.status if separates else Status.NOT_FOUND
        if small and status is not Status.CONVERGED:
            try:
                solution = svm.hard_margin(problem, deadline, by_weights)
            except KeyboardInterrupt:
                if not keeps_best():
                    raise
                return replace(solution, status=Status.INTERRUPTED), certificate
            certificate = certify(problem, solution)
            status = solution.status
            if status is Status.CONVERGED and not keeps(certificate, solver.tol, hard=True):
                status = Status.NOT_CONVERGED
        if status in (Status.CONVERGED, Status.NOT_CONVERGED) and self._noise(solution) > _AUDIBLE:
            status = Status.NOT_FOUND  # the model that is published would not be the one that separates
        if status is Status.NOT_FOUND and contradictions(self.data, self.rows):
            status = Status.NOT_SEPARABLE
        return replace(solution, status=status), certificate

    def _noise(self, solution: DualSolution) -> float:
        """What rounding may change in a score of the items as they were given."""
        if self.data.linear:  # term by term: columns may have units of their own
            rows = abs(self.data.items[self.rows])
            sums = rows @ (rows.T @ np.abs(solution.z) if solution.w is None else np.abs(solution.w))
        else:
            lengths = self._part(self.data.gram).lengths()
            sums = lengths * float(lengths @ np.abs(solution.z))
        return 2.3e-16 * float(np.max(sums, initial=0.0))

    def _features(self, exact: Gram) -> Gram:
        """The items' features, where the kernel has few: they tell more exactly than the matrix what is separable."""
        kernel = self.data.kernel
        if not isinstance(kernel, Polynomial):
            return exact
        rows = self.data.items[self.rows].astype(np.float64, copy=False)
        if comb(rows.shape[1] + int(kernel.degree), int(kernel.degree)) >= self.rows.size:
            return exact
        features = kernel.features(rows)
        return Features(features) if np.isfinite(features.sum()) else exact

    def leave_out(self, status: Status) -> None:
        """No solution: the class with more weight always wins, which is the best of all models without coefficients."""
        self.left_out = True
        n = self.rows.size
        weight = np.ones(n) if self.data.weight is None else self.data.weight[self.rows]
        b = float(np.sign(self.y @ weight))
        self.solution = DualSolution(np.zeros(n), b, scores=np.zeros(n), status=status)
        self.certificate = self._of_nothing(weight, b)

    def _of_nothing(self, weight: Array, b: float) -> Certificate:
        """The certificate of a model without coefficients, which has to be quick: there may be thousands.

        It pays max(0, 1 − y·b) for every item, and the dual of zeros is zero; a hard margin has nobody pay. Targets of
        coefficients that may grow and of those that may shrink are 1 and −1, and should not differ.
        """
        paid = 0.0 if np.isinf(self.C) else float(weight @ np.maximum(0.0, 1.0 - self.y * b)) / float(weight.sum())
        alive = self.y[weight > 0]
        return Certificate(paid, paid, 2.0 if (alive > 0).any() and (alive < 0).any() else 0.0)

    def go_on_from(self, other: BinaryMachine) -> None:
        """Begin with the solution of the same machine for a smaller C.

        Coefficients at their bound tend to stay there, so all of them grow by a factor: the one for which the dual
        s·zᵀt − s²/2·zᵀKz is largest, but no more than C does.
        """
        z, f = other.solution.z, np.asarray(other.solution.scores)
        gain, cost = float(z @ self.y), float(z @ f)
        growth = self.C / other.C if np.isfinite(self.C) else 1.0
        self.start = other.solution.scaled(min(max(gain / cost, 1.0), growth) if cost > 0 else 1.0)


# Machines of pairs of classes, solved together on one kernel matrix: what a search over many classes is made of.


#: Items of each class whose scores tell whether single precision can be trusted.
_SPOTS = 8
#: Machines that are solved before Ctrl-C is heeded.
_AT_ONCE = 256


class Pairs:
    """Solves the machines of all pairs on one matrix in single precision, for one value of a path after the other.

    Parameters
    ----------
    data : Training
        Its Gram is such a matrix.
    exact : Gram
        The same without rounding: a few of its rows tell whether solutions can be trusted.
    rng : numpy.random.Generator
        Draws these rows.
    """

    def __init__(self, data: Training, exact: Gram, rng: np.random.Generator) -> None:
        gram, codes = data.gram, data.targets
        assert isinstance(gram, Dense)
        # Side by side, the items of a class lie side by side in memory as well.
        order = np.argsort(codes, kind="stable")
        self.place = np.empty(order.size, np.int64)
        self.place[order] = np.arange(order.size)
        self.K = np.empty((order.size, order.size), np.float32)
        gather(gram.K, gram.index[order], gram.index[order], self.K)
        shuffled = rng.permutation(codes.size)
        shuffled = shuffled[np.argsort(codes[shuffled], kind="stable")]
        begin = np.searchsorted(codes[shuffled], codes[shuffled])
        self.spots = np.sort(shuffled[np.arange(codes.size) - begin < _SPOTS])
        self.rows = exact.rows(self.spots)

    @staticmethod
    def refuses(machines: list[BinaryMachine], data: Training, solver: SoftMargin) -> bool:
        """Whether there is no such matrix, a pair has too many items, or steps and time are scarce."""
        gram = data.gram
        plain = isinstance(gram, Dense) and gram.K.dtype == np.float32
        return not (plain and machines and all(fits(machine, solver) for machine in machines))

    def solve(self, machines: list[BinaryMachine], solver: SoftMargin) -> list[BinaryMachine]:
        """Solve machines without certificates; those that are still to be solved one by one come back.

        Those are the few that are hard, or that single precision cannot be trusted with.
        """
        for begin in range(0, len(machines), _AT_ONCE):
            check_interrupt()
            some = machines[begin : begin + _AT_ONCE]
            blocks = [SmallBlock(self.place[each.rows], each.y, *each.beginning()) for each in some]
            found = solve_blocks(self.K, blocks, solver.tol)
            for machine, solution in zip(some, found, strict=True):
                machine.solution = solution
        wrong = self._errors(machines) > 10 * solver.tol
        hard = np.array([machine.solution.status is not Status.CONVERGED for machine in machines])
        return [machine for machine, again in zip(machines, wrong | hard, strict=True) if again]

    def _errors(self, machines: list[BinaryMachine]) -> Array:
        """By how much the scores of each machine are wrong at most, as far as some items of its two classes tell."""
        coefficients = np.zeros((len(machines), self.place.size))
        claimed = np.full(coefficients.shape, np.nan)
        for machine, own, scores in zip(machines, coefficients, claimed, strict=True):
            own[machine.rows], scores[machine.rows] = machine.solution.z, machine.solution.scores
        claimed = claimed[:, self.spots]
        errors = np.abs(coefficients @ self.rows.T - claimed)
        # A score that is no number anywhere is an error without end; where nobody claims anything there is none.
        return np.where(np.isnan(claimed), 0.0, np.nan_to_num(errors, nan=np.inf)).max(axis=1, initial=0.0)


def fits(machine: BinaryMachine, solver: SoftMargin) -> bool:
    """Whether this is a plain soft margin on items whose matrix stays in the processor's cache, without limits."""
    items = machine.rows.size
    limited = np.isfinite(solver.time_limit) or 0 <= solver.max_iter < MOST_STEPS * items
    return type(machine) is BinaryMachine and items <= WORKING_SET and bool(np.isfinite(machine.C)) and not limited


# Machines of pairs of classes, solved together: what pairs share is computed once.
#
# The kernel matrix of a pair (c, d) is made of K[c, c], K[d, d], and K[c, d] with its transpose. A class with itself is
# a part of as many pairs as there are other classes: in single precision, to solve on, its matrix is kept; in double
# precision, for the scores that certificates come from, it is computed once for the coefficients of all its pairs.


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
    pairs = [_Pair.of(each) for each in machines if fits(each, solver) and each.rows.size > FEW_ITEMS]
    members = {label: pair.machine.rows[own] for pair in pairs for label, own in zip(*pair[1:], strict=True)}
    largest = max((pair.machine.rows.size for pair in pairs), default=0)
    room = 4 * (sum(rows.size**2 for rows in members.values()) + thread_count() * largest**2)
    similar = float(gram.diag().max(initial=0.0))
    if len(pairs) < 2 or room > solver.memory or not SINGLE_RANGE[0] < similar < SINGLE_RANGE[1]:
        return
    found: dict[int, DualSolution] = {}
    try:
        _solve(pairs, members, gram, solver, found)
    except KeyboardInterrupt:
        if keeps_best():
            _hand_out(pairs, found, members, exact)
        raise
    _hand_out(pairs, found, members, exact)


#: Seconds that machines of few items stay below: a longer limit does not concern them.
_BRIEF = 1.0
#: Numbers in the matrices of machines that are solved before Ctrl-C is heeded: a fifth of a second or so at worst.
_PORTION = 1_000_000


def solve_small(machines: list[BinaryMachine], data: Training, solver: SoftMargin, exact: Gram) -> None:
    """Solve machines of few items with their certificates, all of them together on one matrix in float64.

    A fit of a few hundred items is less work than asking for it piece by piece. Machines for which that leads to no
    solution, and all of them where the matrix is not one of few items, are left as they are.
    """
    n = len(exact)
    if data.kernel.precomputed or not isinstance(exact, (Dense, Lazy)) or n > FEW_ITEMS or 12 * n * n > solver.memory:
        return
    deadline = time.monotonic() + len(machines) * solver.time_limit
    if solver.time_limit >= _BRIEF:
        solver = replace(solver, time_limit=np.inf)
    if not all(fits(each, solver) and not each.one_sided and each.begun is None for each in machines):
        return
    K = exact.K if isinstance(exact, Dense) else exact.kernel.matrix(exact.items, exact.items)
    if K.dtype != np.float64 or not SINGLE_RANGE[0] < K.diagonal().max(initial=0.0) < SINGLE_RANGE[1]:
        return
    portions = np.cumsum([machine.rows.size**2 for machine in machines]) // _PORTION
    for some in np.split(np.arange(len(machines)), np.flatnonzero(np.diff(portions)) + 1):
        check_interrupt()
        if time.monotonic() > deadline:
            return
        chosen = [machines[number] for number in some]
        blocks = [SmallBlock(machine.rows, machine.y, *machine.beginning()) for machine in chosen]
        for machine, found in zip(chosen, certified_blocks(K, blocks, solver.tol, SMALL_GAP), strict=True):
            if found[0].status is Status.CONVERGED:
                machine.solution, machine.certificate = found


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
    for a in range(edge):
        copy_into(first[a], K[a, :edge])
    for b in range(second.shape[0]):
        copy_into(second[b], K[edge + b, edge:])
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


# Machines for pairs of classes: what they decide together, and how scikit-learn lays their coefficients out.


def votes(scores: Array, classes: int) -> Array:
    """For each class the pairs that it wins, and a fraction below ½ that says by how much.

    Examples
    --------
    >>> import numpy as np
    >>> votes(np.array([[1.0, 1.0, -3.0]]), 3).round(2)
    array([[-0.22,  2.27,  0.78]])
    """
    won = np.zeros((scores.shape[0], classes))
    _count(np.ascontiguousarray(scores), won)
    return won


@jit
def _count(scores: Array, won: Array) -> None:
    confidence = np.empty(won.shape[1])
    for i in range(won.shape[0]):
        confidence[:] = 0
        column = 0
        for first in range(won.shape[1]):
            for second in range(first + 1, won.shape[1]):
                score = scores[i, column]
                won[i, second if score >= 0 else first] += 1
                confidence[second] += score
                confidence[first] -= score
                column += 1
        for k in range(won.shape[1]):
            won[i, k] += confidence[k] / (3 * (abs(confidence[k]) + 1))


def laid_out(coef: Array, codes: Array, classes: int) -> Array:
    """Coefficients, a row for each pair, as scikit-learn has them: those of an item against each other class."""
    out = np.zeros((classes - 1, coef.shape[1]))
    members = [np.flatnonzero(codes == k) for k in range(classes)]
    for machine, (first, second) in enumerate(combinations(range(classes), 2)):
        mine, others = members[first], members[second]
        out[second - 1, mine] = 0.0 - coef[machine, mine]  # and not −0
        out[first, others] = 0.0 - coef[machine, others]
    return out
