"""The soft margin, and the tube, to a certificate in float64.

:class:`.SoftMargin` is fast because it works on kernel values in float32. Whether what it found is a solution is told
by the exact matrix, item by item. Where such a matrix is factorised in no time, as on a graphics card, that solver is
stopped early, and active sets (:mod:`.active_sets`) find the rest of the way. Where what was found is no solution,

1. the solver goes on from the exact scores, as long as that brings it nearer;
2. an interior point method in float64 takes over (:mod:`..interior`), which does not care how badly K is conditioned;
3. the free coefficients are solved for as a linear system (:func:`.smo.polish`).

The best of all is kept, and its status follows from its certificate. Ctrl-C raises; inside ``keep_best()`` the best by
then is returned.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ...grams.base import Gram
from ...problems import BoxDual, Certificate, Iterate, Problem, Status, balanced, certify, keeps
from ...runtime.compile import Array
from ...runtime.interrupts import all_or_nothing, check_interrupt, keeps_best, until
from ..interior import (
    LARGEST_MATRIX,
    Optimum,
    agree,
    curvature_of,
    few_features,
    interior_point,
    reconciled,
    weights_of,
)
from .smo import levels_of, polish
from .soft_margin import SINGLE_RANGE, SMALL_GAP, DualSolution, SoftMargin, exact_scores

__all__ = ["DualRefinement", "active_sets", "hard_margin"]

# The end of the way to a soft margin: which coefficients are at a bound is guessed, and the guess mends itself.
#
# With F = t − Kz and the level b, coefficients are optimal when zᵢ = low where Fᵢ < b, zᵢ = high where Fᵢ > b, and Fᵢ =
# b in between. Rounded at its corner by a width h, the condition is zᵢ = low + (high − low)·(Fᵢ − b)/h in between, from
# 0 to 1, and no coefficient that may grow has an F that exceeds that of one that may shrink by more than h.
#
# If it were known which coefficients are in between, they would solve a linear system (those at bounds being moved
# there first, by e):
#
#     (K_AA + D)·d + db = D·e_A − K_AB·e_B,     D = h/(high − low),     Σz as before,
#
# and the solution tells better which are: those that it puts beyond a bound are at it, and those at a bound whose F
# says that they should leave it are not. Written for all of them at once, i is in between where
#
#     low < zᵢ + c·(Fᵢ − b − Dᵢ·(zᵢ − low)) < high
#
# for any c > 0. This is Newton's method for the condition as an equation, which has kinks but is piecewise linear
# (Hintermüller, Ito and Kunisch 2002): near the solution it ends after a few guesses, each of which costs a
# factorisation of the matrix of those in between. Far from it, and where that matrix is nearly singular, it may go
# round in circles. A wide corner is easier than a sharp one, D being larger, and its solution is near that of a corner
# that is less wide.


#: The width of the corner in the end, as a part of the tolerance.
_SHARP = 1e-3
#: Where that is too sharp at once: its width as a part of the present gap, and how much sharper it becomes each time.
_WIDE, _SHARPER = 1.0, 0.3
#: Guesses at most, and how many of them may change more coefficients than one before.
_GUESSES, _WORSE = 20, 2
#: A guess that changes no more than this part of those in between may be as good as any: rounding decides the rest.
_SETTLED = 1e-3

_AT_LOW, _BETWEEN, _AT_HIGH = 0, 1, 2


def active_sets(
    gram: Gram, dual: BoxDual, z: Array, F: Array, tol: float, deadline: float = np.inf, persistent: bool = True
) -> tuple[Array, Array] | None:
    """Coefficients that violate no condition by more than ``tol``, and their F; ``None`` where they are not found.

    Parameters
    ----------
    gram : Gram
        Of the variables of the dual; it says how many of them it can solve for (:meth:`~mercer.grams.Gram.inverse`).
    dual : BoxDual
        With finite bounds.
    z, F : array
        The coefficients so far, with the sums that the dual asks for, and t − Kz.
    tol : float
    deadline : float, optional
        In the seconds of :func:`time.monotonic`.
    persistent : bool, default=True
        Whether wide corners are tried where a sharp one leads nowhere.

    Returns
    -------
    tuple of arrays, or None
    """
    guessing = _Guessing(gram, dual, deadline)
    sharp = _SHARP * tol
    found = guessing.from_here(z, F, sharp, tol)
    if found is not None or not persistent:
        return found
    best, width = None, _WIDE * levels_of(F, z, dual.low, dual.high, dual.groups)[1]
    while width > sharp:
        if (found := guessing.from_here(z, F, width, max(tol, 1.1 * width))) is None:
            return best
        z, F = found
        best = found if levels_of(F, z, dual.low, dual.high, dual.groups)[1] <= tol else None
        width *= _SHARPER
    return guessing.from_here(z, F, sharp, tol) or best


@dataclass(frozen=True)
class _Guessing:
    """Guesses which variables of a dual are between their bounds."""

    gram: Gram
    dual: BoxDual
    deadline: float

    def from_here(self, z: Array, F: Array, width: float, tol: float) -> tuple[Array, Array] | None:
        """The solution for a corner of some width, if its gap is within the tolerance."""
        gram, low, high, groups = self.gram, self.dual.low, self.dual.high, self.dual.groups
        room = high - low
        corner = width / np.where(room > 0, room, 1.0)
        trust = 1 / max(float(gram.diag().max(initial=0.0)), 1e-300)
        member = (groups[:, None] == np.arange(self.dual.totals.size)).astype(np.float64)
        sums = member.T @ z
        level = levels_of(F, z, low, high, groups)[0]
        before, fewest, worse = np.full(z.size, -1, np.int8), z.size + 1, 0
        for _ in range(_GUESSES):
            check_interrupt()
            distance = F - level[groups]
            guess = z + trust * (distance - corner * (z - low))
            state = np.where(guess <= low, _AT_LOW, np.where(guess >= high, _AT_HIGH, _BETWEEN)).astype(np.int8)
            state[room <= 0] = _AT_LOW
            between, changed = np.flatnonzero(state == _BETWEEN), int(np.count_nonzero(state != before))
            if changed <= _SETTLED * between.size and (found := self._inside(z, tol)) is not None:
                return found
            worse += changed >= fewest
            fewest, before = min(fewest, changed), state
            own = member[between]
            if not changed or worse > _WORSE or time.monotonic() > self.deadline or not own.any(axis=0).all():
                return None
            inverse = gram.inverse(between, corner[between])
            if inverse is None:
                return None
            change = np.where(state == _AT_LOW, low, high) - z
            change[between] = 0.0
            moved = np.flatnonzero(change)
            # D·e of those in between, where e leads to the z that F asks for.
            right = distance[between] - corner[between] * (z[between] - low[between])
            if moved.size:
                right = right - gram.scores(between, moved, change[moved])
            found_by = inverse(np.column_stack([right, own]))
            missing = sums - member.T @ (z + change)
            sides = own.T @ found_by[:, 1:]
            if not np.isfinite(sides).all() or np.linalg.matrix_rank(sides) < len(sides):
                return None  # beside the matrix of those in between, the corner is nothing but rounding
            shift = np.linalg.solve(sides, own.T @ found_by[:, 0] - missing)
            change[between] = found_by[:, 0] - found_by[:, 1:] @ shift
            z, F, level = z + change, F - gram.matvec(change), level + shift
        return None

    def _inside(self, z: Array, tol: float) -> tuple[Array, Array] | None:
        """Within their bounds, if the gap is then within the tolerance."""
        dual = self.dual
        z = dual.balanced(np.clip(z, dual.low, dual.high))
        F = dual.targets - self.gram.matvec(z)
        return (z, F) if levels_of(F, z, dual.low, dual.high, dual.groups)[1] <= tol else None


#: How often a solution that single precision took for one is improved from exact scores.
_REFINEMENTS = 3
#: Items for which nothing is left untried where the gap is not small.
_FEW_ITEMS = 500
#: From the first of these violations on, active sets find the rest of the way often; from the second, as a rule.
_NEAR, _NEARER = 1.5, 0.3
#: Matrices that an interior point method has in memory at a time.
_COPIES = 4
#: Steps for each item after which an interior point method, where there can be one, is the faster way.
_PATIENCE, _LEAST_PATIENCE = 100, 20_000
#: Coefficients that are nearer to a bound than this, relative to the largest, are next to it.
_NEXT = 1e-5
#: Terms of scores that are smaller than this part of what they were need sums of their own.
_AS_LARGE = 0.5
#: Items for which active sets are guessed as a last resort.
LARGEST_GUESSED = 1000
#: Blocks of items that an interior point method solves one after the other.
_BLOCKS = 5

Pair = tuple[DualSolution, Certificate]


class DualRefinement:
    """Solutions of one problem, better and better.

    Without the ``last_resort`` of an interior point method the solver's own steps are all there is.
    """

    def __init__(
        self,
        problem: Problem,
        solver: SoftMargin,
        rng: np.random.Generator | None = None,
        working: Gram | None = None,
        by_weights: bool = False,
        last_resort: bool = True,
    ) -> None:
        self.problem, self.solver, self.rng = problem, solver, rng
        self.by_weights, self.last_resort = by_weights, last_resort
        dual = problem.box_dual
        assert dual is not None
        self.working = problem if working is None else problem.on(working)
        self.dual, self.low, self.high = dual, dual.low, dual.high
        #: The Gram of the variables of the dual, without rounding to float32.
        self.exact = dual.gram(problem.gram)
        self.deadline = time.monotonic() + solver.time_limit
        self.steps = 0

    def run(self, start: Iterate | None) -> Pair:
        """The best solution, and its certificate."""
        return self.improved(*self._first(start))

    def improved(self, first: DualSolution, known: bool = False) -> Pair:
        """The best solution from a first one on, and its certificate; ``known``: the scores of the first are exact."""
        self.steps = max(self.steps, first.n_iter)
        best = self._certified(first, known)
        if first.status is Status.INTERRUPTED:
            return best
        try:
            with all_or_nothing(), until(self.deadline):
                for better in self._improved(best):
                    best = better
        except KeyboardInterrupt:
            if not keeps_best():
                raise
            return self._ended(best, Status.INTERRUPTED)
        converged = keeps(best[1], self.solver.tol, self.problem.lam == 0)
        return self._ended(best, Status.CONVERGED if converged else Status.NOT_CONVERGED)

    def _first(self, start: Iterate | None) -> tuple[DualSolution, bool]:
        """What the solver finds, with active sets where these are fast; and whether its scores are exact."""
        tol, dual = self.solver.tol, self.dual
        if not self.exact.factorises or dual.hard or tol >= _NEARER:
            return self._pairwise(tol, start), False
        for near in (_NEAR, _NEARER):
            reached = self._pairwise(near, start)
            if reached.status is not Status.CONVERGED or self._limited():
                return reached, False
            z = dual.balanced(dual.split(reached.z))
            F = dual.targets - self.exact.matvec(z)
            found = active_sets(self.exact, dual, z, F, tol, self.deadline, persistent=near == _NEARER)
            if found is not None:
                z, F = found
                scores = dual.gathered(dual.targets - F)
                return replace(reached, z=dual.merged(z), scores=scores, all_scores=None), True
            start = reached
        return self._pairwise(tol, start), False

    def _ended(self, best: Pair, status: Status) -> Pair:
        return replace(best[0], status=status, n_iter=self.steps), best[1]

    def _improved(self, best: Pair) -> Iterator[Pair]:
        """Solutions that are better and better."""
        if not self._done(best) and not self._limited():
            best = self._polished(best)
            yield best
        tol = self.solver.tol
        for _ in range(_REFINEMENTS):
            if self._done(best) or self._limited():
                break
            if _violation(best) <= tol:
                tol *= 0.1
            again = self._better(best, self._certified(self._pairwise(tol, best[0])))
            if again is best:
                break
            best = again
            yield best
        for _ in range(_BLOCKS if self.last_resort else 0):
            if self._done(best) or self._limited():
                break
            again = best
            for found in self._interior(best):
                again = self._better(again, self._polished(self._certified(found)))
            if again is best:
                break
            best = again
            yield best
        guessable = self.last_resort and not self.dual.hard and self.low.size <= LARGEST_GUESSED
        if guessable and not self._done(best) and not self._limited():
            best = self._guessed(best)
            yield best
        if self.low.size <= LARGEST_MATRIX and not self._limited():  # beyond that a tolerance is a tolerance
            yield self._polished(best)

    def _done(self, found: Pair) -> bool:
        _, certificate = found
        small = certificate.gap <= SMALL_GAP * abs(certificate.objective) or self.low.size > _FEW_ITEMS
        return keeps(certificate, self.solver.tol, self.problem.lam == 0) and small

    def _limited(self) -> bool:
        return time.monotonic() > self.deadline or 0 <= self.solver.max_iter <= self.steps

    def _pairwise(self, tol: float, start: Iterate | None) -> DualSolution:
        """Let the solver work on kernel values in float32."""
        allowed = self.solver.max_iter
        if self._affordable(self.low.size):
            patience = max(_LEAST_PATIENCE, _PATIENCE * self.low.size)
            allowed = patience if allowed < 0 else min(allowed, self.steps + patience)
        if allowed >= 0:
            allowed = max(0, allowed - self.steps)
        solver = replace(
            self.solver, tol=tol, max_iter=allowed, time_limit=self.deadline - time.monotonic(), gap=SMALL_GAP
        )
        problem, unit = self._in_range()
        if unit != 1.0 and start is not None:
            start = replace(start, z=start.z * unit)
        with np.errstate(over="ignore", invalid="ignore"):  # what single precision cannot hold is not certified
            found = solver.solve(problem, start, self.rng)
        self.steps += found.n_iter
        return found if unit == 1.0 else replace(found, z=found.z / unit)

    def _in_range(self) -> tuple[Problem, float]:
        """The problem with a kernel matrix that float32 can hold: K/s, whose coefficients are s times as large."""
        largest = float(self.working.gram.diag().max(initial=0.0))
        if largest == 0.0 or SINGLE_RANGE[0] < largest < SINGLE_RANGE[1]:
            return self.working, 1.0
        gram = self.working.gram.scaled(1 / largest)
        return replace(self.working, gram=gram, lam=self.working.lam / largest), largest

    def _certified(self, solution: DualSolution, known: bool = False) -> Pair:
        """With its certificate; ``known``: its scores are exact already."""
        z = self.dual.merged(self.dual.balanced(self.dual.split(solution.z)))
        if self.dual.doubled and self.dual.totals.size > 1:  # what is left where two walls cancel need not sum to zero
            z = balanced(z, self.dual.merged(self.low), self.dual.merged(self.high))
        known = known and bool((z == solution.z).all())
        if not np.isfinite(z).all():
            z = self.dual.merged(self.dual.balanced(np.zeros(self.low.size)))
        # A model that is known by its weights is judged by them, and not by what rounding makes of their scores.
        w = self.problem.gram.model(z) if self.by_weights and solution.w is None else solution.w
        solution = replace(solution, z=z, w=w, all_scores=None)
        scores = exact_scores(self.problem, solution) if w is not None or not known else np.asarray(solution.scores)
        F = self.dual.targets - self.dual.spread(scores)
        if self.dual.hard:
            variables = self.dual.split(z)
            b = 0.5 * float(F[variables < self.high].max(initial=-np.inf) + F[variables > self.low].min(initial=np.inf))
            levels = np.array([b])
        else:
            levels = self.dual.best_levels(F)
        solution = replace(solution, scores=scores, **self.problem.of_levels(levels))
        return solution, certify(self.problem, solution, scores)

    def _polished(self, best: Pair) -> Pair:
        """With coefficients next to a bound on it, and with the last digits of the free ones, where that is better."""
        if not self.dual.hard:
            z, scores = self._variables(best)
            settled = self.dual.balanced(self._on_bounds(z, scores))
            moved = np.flatnonzero(settled != z)
            if moved.size:
                scores = scores + self.exact.scores(np.arange(z.size), moved, (settled - z)[moved])
                best = self._better(best, self._of_variables(best[0], settled, scores))
        found = polish(self.dual, self.exact, *self._variables(best))
        return best if found is None else self._better(best, self._of_variables(best[0], *found))

    def _guessed(self, best: Pair) -> Pair:
        """By active sets, which find coefficients where points inside of all bounds are too far from these."""
        z, scores = self._variables(best)
        found = active_sets(self.exact, self.dual, z, self.dual.targets - scores, self.solver.tol, self.deadline)
        if found is None:
            return best
        z, F = found
        return self._better(best, self._of_variables(best[0], z, self.dual.targets - F))

    def _variables(self, found: Pair) -> tuple[Array, Array]:
        """The variables of a solution, and their scores."""
        return self.dual.split(found[0].z), self.dual.spread(np.asarray(found[0].scores))

    def _of_variables(self, solution: DualSolution, z: Array, scores: Array) -> Pair:
        """The solution with other variables, whose scores are exact.

        Scores that came from those of the solution have the rounding of its terms. Where these were much larger, they
        are summed anew.
        """
        merged = self.dual.merged(z)
        lengths = self.problem.gram.lengths()
        known = np.abs(merged) @ lengths >= _AS_LARGE * (np.abs(solution.z) @ lengths)
        return self._certified(replace(solution, z=merged, scores=self.dual.gathered(scores), w=None), bool(known))

    def _better(self, best: Pair, found: Pair) -> Pair:
        """The one that violates less than it may, or less; of two such, the one with the smaller gap."""
        ranks = [(max(_violation(each), self.solver.tol), each[1].gap) for each in (found, best)]
        return found if ranks[0] < ranks[1] else best

    # -- interior point -------------------------------------------------------------------------------------------

    def _affordable(self, items: int) -> bool:
        """Whether an interior point method has room: for a matrix of the items and copies of it, or for features."""
        room = int(np.sqrt(self.solver.memory / (8 * _COPIES)))
        return items <= min(LARGEST_MATRIX, room) or few_features(self.exact) is not None

    def _interior(self, best: Pair) -> list[DualSolution]:
        """Solve for all coefficients, or for those that are not clearly where they belong; nothing if too many.

        Coefficients that belong on a bound are put there. That takes away digits where K is nearly singular, so the
        point inside is given as well.
        """
        z, targets = self.dual.split(best[0].z), self.dual.targets
        block = np.flatnonzero(self.high > self.low)
        if not self._affordable(block.size):
            levels = self.problem.levels(best[0].b, best[0].width)
            distance = targets - self.dual.spread(np.asarray(best[0].scores)) - levels[self.dual.groups]
            band = max(0.3, 2 * _violation(best))
            settled = np.where(z <= self.low, distance < -band, (z >= self.high) & (distance > band))
            block = block[~settled[block]]
            if block.size < 2 or not self._affordable(block.size):
                return []
        fixed = z.copy()
        fixed[block] = 0.0
        others = np.flatnonzero(fixed)
        wanted = targets[block]
        if others.size:
            wanted = wanted - self.exact.scores(block, others, fixed[others])
        curvature, unit = curvature_of(self.exact, block, centred=self.dual.even and not others.size)
        low, high = self.low[block] * unit, self.high[block] * unit
        belongs = (self.dual.groups == np.arange(self.dual.totals.size)[:, None]).astype(np.float64)
        A, totals = belongs[:, block], (self.dual.totals - belongs @ fixed) * unit
        if not A.any(axis=1).all():
            return []
        sizes = 1.0, float((high - low).max())
        found = interior_point(curvature, wanted, A, totals, low, high, sizes=sizes, deadline=self.deadline)
        self.steps += found.steps
        single = self.dual.even and self.dual.totals.size == 1
        w = weights_of(self.exact, found, unit) if self.by_weights and single and not others.size else None
        points = []
        for new in (np.where(found.at_low, low, np.where(found.at_high, high, found.z)), found.z):
            z = fixed.copy()
            z[block] = new / unit
            z = self.dual.balanced(z)
            own = w
            if w is not None:
                z = self._reconciled(w, self._on_bounds(self._reconciled(w, z), self.exact.scores_and_square(z, w)[0]))
                own = w if agree(few_features(self.exact), w, z, 0.01 * self.solver.tol) else None
            scores = self.dual.gathered(self.exact.scores_and_square(z, own)[0])
            levels_found = self.problem.of_levels(found.multipliers)
            merged = self.dual.merged(z)
            points.append(DualSolution(merged, w=own, scores=scores, status=Status.CONVERGED, **levels_found))
        return points

    def _reconciled(self, w: Array, z: Array) -> Array:
        return reconciled(few_features(self.exact), w, z, self.low, self.high, True)

    def _on_bounds(self, z: Array, scores: Array) -> Array:
        """Variables next to a bound where their scores say that they belong on it."""
        F = self.dual.targets - scores
        distance = F - self.dual.best_levels(F)[self.dual.groups]
        slight = _NEXT * np.minimum(self.high - self.low, float(np.abs(z).max(initial=0.0)))
        z = np.where((distance > 0.1 * self.solver.tol) & (self.high - z < slight), self.high, z)
        return np.where((distance < -0.1 * self.solver.tol) & (z - self.low < slight), self.low, z)


def _violation(found: Pair) -> float:
    """The worst violation of an optimality condition, which a dual with bounds always knows."""
    violation = found[1].violation
    assert violation is not None
    return violation


# The hard margin: the nearest points of the two classes' convex hulls, or a proof that the hulls meet.
#
# With coefficients z that are positive in one class and negative in the other, Σz⁺ = 1 = −Σz⁻, the vector
# v = Σ zᵢφ(xᵢ) leads from a point of one hull to a point of the other. The shortest one, of length δ, is orthogonal to
# the widest gap between the classes. That problem,
#
#     minimise  ½·zᵀKz     subject to  Σz = 0,   Σ yᵢzᵢ = 2,   yᵢzᵢ ≥ 0,
#
# always has a solution, which the hard margin's own dual has not. With the least score f = Kz of one class above the
# largest of the other, f₊ > f₋, the machine w = k·v with k = 2/(f₊ − f₋) has all margins at 1 or above: the classes are
# separable, and the machine proves it. Where v = 0 the hulls meet: z proves that no machine exists. Rounding may leave
# neither proof, and then nothing is claimed.


#: What rounding leaves of a sum that is zero, relative to its parts.
_ROUNDING = 1e-13
#: Machines whose ‖w‖² is at most so many times the least one's count as equally wide.
_AS_WIDE = 1 + 1e-6
#: Differences of scores that count as none, relative to the gap between the classes; and coefficients next to zero,
#: relative to the largest.
_NEGLIGIBLE, _NEXT_TO_BOUND = 1e-6, 1e-5
#: A gap between scores whose inverse is still a number.
_LEAST = 1e-300
#: How often a combination of items that is nearly zero is corrected.
_CORRECTIONS = 4
#: Features beyond which a meeting point of two hulls is not looked for.
_WIDEST = 3000


def hard_margin(problem: Problem, deadline: float = np.inf, by_weights: bool = False) -> DualSolution:
    """The machine of the hard margin; its status is "not separable" where the hulls meet, "not found" without a proof.

    ``by_weights``: the model is going to be known by its weights, which may be more exact than its coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> gram = Features(np.array([[3.0], [1.0], [-1.0]]))
    >>> found = hard_margin(Problem(gram, np.array([1.0, 1.0, -1.0]), Hinge(), intercept="free"))
    >>> found.z.round(6), round(found.b, 6), str(found.status)
    (array([ 0. ,  0.5, -0.5]), -0.0, 'converged')
    """
    y, exact, n = problem.y, problem.gram, len(problem.gram)
    everything = np.arange(n)
    curvature, unit = curvature_of(exact, everything, centred=True)
    low, high = np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)
    A, c = np.stack([np.ones(n), y]), np.array([0.0, 2.0])
    found = interior_point(curvature, np.zeros(n), A, c, low, high, deadline=deadline)
    machines: list[DualSolution | None] = []
    if by_weights:
        w = weights_of(exact, found, unit)  # of coefficients in units of K/s, which here are those of K
        machines.append(None if w is None else _by_weights(unit * w, found, problem))
    for z in (np.where(found.at_low | found.at_high, 0.0, found.z), found.z):
        machine = _widest(z, problem, found.steps)
        if machine is not None:
            machines += [_polished(machine, problem), machine]
    separating = [machine for machine in machines if machine is not None]
    if separating:  # the first that is as wide as any: it has the fewest items
        least = min(map(_square, separating))
        return next(machine for machine in separating if _square(machine) <= _AS_WIDE * least)
    status = Status.NOT_SEPARABLE if hulls_meet(exact, y, found.z) else Status.NOT_FOUND
    return DualSolution(np.zeros(n), 0.0, found.steps, scores=np.zeros(n), status=status)


def _polished(machine: DualSolution, problem: Problem) -> DualSolution | None:
    """The machine with the last digits of its free coefficients, where they can be had."""
    assert problem.box_dual is not None
    found = polish(problem.box_dual, problem.gram, machine.z, np.asarray(machine.scores))
    return None if found is None else _widest(found[0], problem, machine.n_iter)


def _widest(z: Array, problem: Problem, steps: int) -> DualSolution | None:
    """The machine in the direction of v = Σ zᵢφ(xᵢ) whose least margin is 1; ``None`` where that separates nothing."""
    y, exact, n = problem.y, problem.gram, len(problem.gram)
    on_hulls = _on_hulls(z, y)
    if on_hulls is None:
        return None
    used = np.flatnonzero(on_hulls)
    f = exact.scores(np.arange(n), used, on_hulls[used])
    return _scaled(on_hulls, f, y, steps)


def _by_weights(w: Array, found: Optimum, problem: Problem) -> DualSolution | None:
    """The machine with the weights that an interior point method has found."""
    z = _on_hulls(np.where(found.at_low | found.at_high, 0.0, found.z), problem.y)
    if z is None:
        return None
    low, high = np.where(problem.y > 0, 0.0, -np.inf), np.where(problem.y > 0, np.inf, 0.0)
    exact = problem.gram
    f, _ = exact.scores_and_square(z, w)
    above, below = float(f[problem.y > 0].min()), float(f[problem.y < 0].max())
    tol = _NEGLIGIBLE * (above - below)
    # What rounding leaves to items beyond the margin is put on its bound, where it would violate their conditions.
    beyond = (problem.y * f - np.where(problem.y > 0, above, -below) > tol) & (
        np.abs(z) < _NEXT_TO_BOUND * np.abs(z).max()
    )
    z = reconciled(few_features(exact), w, np.where(beyond, 0.0, z), low, high, balance=True)
    return _scaled(z, f, problem.y, found.steps, w) if agree(few_features(exact), w, z, tol) else None


def _scaled(z: Array, f: Array, y: Array, steps: int, w: Array | None = None) -> DualSolution | None:
    """The machine scaled so that its least margin is 1; ``None`` where it separates nothing."""
    above, below = float(f[y > 0].min()), float(f[y < 0].max())
    if not _LEAST < above - below < np.inf:
        return None
    k = 2 / (above - below)
    b = -0.5 * k * (above + below)
    w = None if w is None else k * w
    return DualSolution(k * z, b, steps, w, k * f, Status.CONVERGED)


def _square(machine: DualSolution) -> float:
    """‖w‖²."""
    if machine.w is not None:
        return float(machine.w @ machine.w)
    return float(machine.z @ np.asarray(machine.scores))


def _on_hulls(z: Array, y: Array) -> Array | None:
    """Coefficients of the right signs that sum to 1 and −1; ``None`` where a class has none."""
    out = np.zeros(z.size)
    for sign in (1.0, -1.0):
        mine = np.where(y == sign, np.maximum(sign * z, 0.0), 0.0)
        total = float(mine.sum())
        if not 0 < total < np.inf:
            return None
        out += sign * mine / total
    return out


def hulls_meet(exact: Gram, y: Array, z: Array) -> bool:
    """Whether coefficients near z prove that the hulls meet: a point that is a mean of items of either class.

    The combination Σ zᵢφ(xᵢ) that is nearly zero is made zero by the smallest change relative to z, which keeps all
    signs. That takes the features themselves; the kernel matrix knows lengths only, to half as many digits.
    """
    known = exact.features()
    if known is None or known.shape[1] > _WIDEST:
        return False
    Phi = known.toarray() if sparse.issparse(known) else np.asarray(known, dtype=np.float64)
    Phi = Phi - Phi.mean(axis=0)
    Phi = Phi / np.maximum(np.abs(Phi).max(axis=0, initial=0.0), 1e-300)
    B = np.column_stack([Phi, np.ones(y.size), y])
    wanted = np.concatenate([np.zeros(Phi.shape[1] + 1), [2.0]])
    start = _on_hulls(z, y)
    if start is None:
        return False
    z = start
    for _ in range(_CORRECTIONS):
        missing = wanted - B.T @ z
        if (np.abs(missing) <= _ROUNDING * (np.abs(B).T @ np.abs(z))).all():
            return True
        step = z * np.linalg.lstsq((B * z[:, None]).T, missing, rcond=None)[0]
        z = np.where(y > 0, np.maximum(z + step, 0.0), np.minimum(z + step, 0.0))
    return False
