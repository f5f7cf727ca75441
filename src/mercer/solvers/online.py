"""The Perceptron: look at one item after the other, and add the item to the model when the model errs on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..grams.walk import LATER, PATIENCE, SOON, add, at_hand, foresee, score, settle
from ..losses import PerceptronLoss
from ..problems import Intercept, Iterate, Problem, Solution, Status
from ..runtime.compile import Array, jit
from ..runtime.interrupts import check_interrupt, keeps_best
from ..runtime.loops import prefetch
from .base import Solver, checked_items

#: Items visited before Python is asked whether the user pressed Ctrl-C.
_VISITS_PER_CALL = 1 << 18


@jit
def _visit(rows, step, order, begin, end, bias_step, v, z, clock, b, log_item, log_step):
    """Visit the items order[begin:end]. Returns where it stopped, and the number of updates made.

    ``step`` is what an update adds, rate·weight·y. The loop stops early at an item whose row must be fetched first.
    Between the updates the model does not change, so its average over all steps follows from the updates alone: one
    made at step t is missing from t of the T models, and the lag beside each coefficient collects t·c.
    """
    updates = 0
    for position in range(begin, end):
        if position + LATER < end:
            prefetch(step, order[position + LATER])
            foresee(rows, order[position + SOON], order[position + LATER])
            prefetch(z, 2 * order[position + SOON])
        i = np.uint64(order[position])
        c = step[i]
        f = score(rows, i, v) + b[0]
        if (f if c > 0.0 else -f) <= 0.0:
            if not at_hand(rows, i):
                settle(rows, v)
                return position, updates
            add(rows, i, c, v)
            b[0] += bias_step * c
            t = clock + position - begin
            z[i, 0] += c
            z[i, 1] += t * c
            b[1] += bias_step * t * c
            log_item[updates] = i
            log_step[updates] = t
            updates += 1
        if position % PATIENCE == 0:
            settle(rows, v)
    settle(rows, v)
    return end, updates


class Path(NamedTuple):
    """Every update: which item, how much of it, and the step at which it came."""

    item: Array
    coefficient: Array
    step: Array
    steps: int


@dataclass(frozen=True)
class MistakeDrivenSolution(Solution):
    """As :class:`Solution`, with the models at the checkpoints; ``trace`` holds the mistakes in each epoch."""

    stages: tuple[Iterate, ...] = ()
    path: Path | None = None


@dataclass(frozen=True)
class MistakeDriven(Solver[MistakeDrivenSolution]):
    """The Perceptron's rule: where y·f(x) ≤ 0, add rate·weight·y·φ(x) to w (and rate·weight·y to b).

    Parameters
    ----------
    epochs : int
        Passes at most; it ends earlier after a pass without a mistake.
    rate : float
        Learning rate. It matters only where the start is not zero.
    order : {"random", "once", "file"}
        A new permutation each epoch, one permutation for all, or the order of the file.
    variant : {"last", "averaged", "voted"}
        Return the last model or the average of all; "voted" also keeps every update, so that all models can vote.
    initial : {"zero", "random"}
        Where w begins.
    checkpoints : tuple of int
        Epochs after which the model is kept as a stage of the solution.
    items : array of int, optional
        The items to visit, in the order in which random draws number them; all of them as they come by default.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import PerceptronLoss
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import MistakeDriven
    >>> X, y = np.array([[1.0, 1.0], [-1.0, 2.0]]), np.array([1.0, -1.0])
    >>> solution = MistakeDriven(epochs=10, order="file").solve(Problem(Features(X), y, PerceptronLoss()))
    >>> str(solution.status), solution.z
    ('converged', array([ 1., -1.]))
    """

    epochs: int = 100
    rate: float = 1.0
    order: str = "random"
    variant: str = "last"
    initial: str = "zero"
    checkpoints: tuple[int, ...] = ()
    items: Array | None = None

    def refusal(self, problem: Problem) -> str | None:
        if problem.loss != PerceptronLoss():
            return f"its rule goes down the loss of the Perceptron, not {problem.loss}; state PerceptronLoss()"
        if problem.lam != 0:
            return "its rule knows no λ; state λ = 0, or use PegasosSteps"
        return None

    def _solve(self, problem: Problem, start: Iterate | None, rng: np.random.Generator) -> MistakeDrivenSolution:
        """Run until a clean pass or for ``epochs`` passes.

        A start that is known by its weights is no sum of the items: z then tells what was added to it, and w the whole.
        """
        n = len(problem.gram)
        walk = problem.gram.walk()
        step = self.rate * np.asarray(problem.y, dtype=np.float64)
        if problem.weight is not None:
            step = step * problem.weight
        order = np.arange(n) if self.items is None else checked_items(self.items, n)
        bias_step = 1.0 if problem.has_intercept else 0.0
        z = np.zeros((n, 2))  # the coefficients, and their lag
        b = np.zeros(2)  # the intercept, and its lag
        v = walk.start()
        if start is not None:
            b[0] = start.b
            z[:, 0] = 0.0 if start.w is not None else start.z
            v[:] = problem.gram.model(start.z) if start.w is None else start.w
        elif self.initial == "random":
            z[order, 0] = rng.standard_normal(order.size) / n
            b[0] = bias_step * rng.standard_normal()
            v[:] = problem.gram.model(z[:, 0])

        items, steps = np.empty((2, min(_VISITS_PER_CALL, order.size)), np.int64)
        path: list[tuple[Array, Array]] = []
        mistakes: list[int] = []
        stages: list[Iterate] = []
        clock = 0

        def model() -> tuple[Array, float]:
            if self.variant == "averaged" and clock:
                return z[:, 0] - z[:, 1] / clock, float(b[0] - b[1] / clock)
            return z[:, 0].copy(), float(b[0])

        def one_pass(visits: Array) -> int:
            nonlocal clock
            made = 0
            for begin in range(0, order.size, _VISITS_PER_CALL):
                end = min(begin + _VISITS_PER_CALL, order.size)
                while begin < end:
                    check_interrupt()
                    stop, updates = _visit(walk.rows, step, visits, begin, end, bias_step, v, z, clock, b, items, steps)
                    made += updates
                    clock += stop - begin
                    begin = stop
                    if self.variant == "voted" and updates:
                        path.append((items[:updates].copy(), steps[:updates].copy()))
                    if begin < end:
                        walk.fetch(visits[begin : begin + 1])
            return made

        status, whole = Status.NOT_CONVERGED, None
        try:
            for visits in self._visits(order, rng):
                mistakes.append(one_pass(visits))
                if mistakes[-1] == 0:
                    status = Status.CONVERGED
                    break
                if len(mistakes) in self.checkpoints and len(mistakes) < self.epochs:
                    stages.append(Iterate(*model(), len(mistakes)))
                if keeps_best():
                    whole = *model(), clock, len(mistakes), len(path)
            final, intercept = model()
        except KeyboardInterrupt:  # the model is that of the last whole pass, if there is one
            if whole is None:
                raise
            final, intercept, clock, passes, pieces = whole
            status, mistakes, path = Status.INTERRUPTED, mistakes[:passes], path[:pieces]
        # After a clean pass nothing would have changed any more: later checkpoints are the final model.
        stages += [Iterate(final, intercept, epoch) for epoch in sorted(self.checkpoints)[len(stages) :]]
        w = None
        if start is not None and start.w is not None:
            w = start.w + problem.gram.model(final)
        return MistakeDrivenSolution(
            final,
            intercept,
            len(mistakes),
            w,
            status=status,
            trace=np.array(mistakes),
            stages=tuple(stages),
            path=self._path(path, step, clock) if self.variant == "voted" else None,
        )

    def _visits(self, order: Array, rng: np.random.Generator) -> Iterator[Array]:
        fixed = rng.permutation(order) if self.order == "once" else order
        for _ in range(self.epochs):
            yield rng.permutation(order) if self.order == "random" else fixed

    @staticmethod
    def _path(pieces: list[tuple[Array, Array]], coefficient: Array, clock: int) -> Path:
        items = np.concatenate([piece[0] for piece in pieces]) if pieces else np.empty(0, np.int64)
        steps = np.concatenate([piece[1] for piece in pieces]) if pieces else np.empty(0, np.int64)
        return Path(items, coefficient[items], steps, clock)


# Pegasos: stochastic subgradient descent on λ/2·‖w‖² + mean loss, with steps of length 1/(λt).
#
# At step t, with an item i drawn at random and g = −ℓ′(yᵢ·f_t(xᵢ)),
#
#     w_{t+1} = (1 − 1/t)·w_t + g·yᵢ·φ(xᵢ)/(λt).
#
# Multiply by λt: λt·w_{t+1} = λ(t−1)·w_t + g·yᵢ·φ(xᵢ), so u = λt·w_{t+1} is a plain sum of items, and the loop only
# ever adds: w_{t+1} = u/(λt). The average of w₂ … w_{T+1} follows from the same sums. The item added at step s is in
# every later w, with the factor 1/(λt); so it counts 1/λ·(H_T − H_{s−1}) with H_t = 1 + 1/2 + … + 1/t, and
#
#     Σ_t w_{t+1} = 1/λ·(H_T·u − lag),        lag = Σ_s H_{s−1}·g·yᵢφ(xᵢ).
#
# An average costs one more number for each update, and can be had at any T on the way.
#
# The projection on the ball of radius 1/√λ multiplies w by some p < 1. All later w carry that factor, so it is kept
# aside as ρ, the product of all p so far: w_{t+1} = ρ·u/(λt), items are added as c/ρ, and the sum of 1/t above becomes
# a sum of ρ/t. When ρ becomes small (a difference of two such sums would lose its digits) it is multiplied into the
# sums and starts again at 1.


#: Steps made before Python is asked whether the user pressed Ctrl-C.
_STEPS_PER_CALL = 1 << 15
#: No step number is larger: a step is then too short to matter, and the number still has room to count on.
_LATEST = 1 << 52

#: Where each running number stands in the array that the loop carries.
_INTERCEPT, _INTERCEPT_LAG, _INTERCEPT_SUM, _HARMONIC, _RHO, _NORM = range(6)


@jit
def _steps(rows, terms, draws, begin, end, first, lam, slope, lead, radius, diag, v, z, total, bias_step, run):
    """Steps begin … end−1; row t of ``draws`` is the mini-batch of step first + t. Returns the step it stopped at.

    A row of ``terms`` says what an item costs: the loss is ℓ(a + s·f), and its slope counts s·weight/batch. For a loss
    of the margin a = 0 and s = y, for one of the residual a = y and s = −1. ``z`` holds the item's coefficient in u
    and, beside it, its part of the lag.
    """
    batch = draws.shape[1]
    g = np.empty(batch)
    for row in range(begin, end):
        t = first + row
        # The margin is tested with w_t = ρu/(λ(t−1)), or, as some texts have it, with ρu/(λt).
        scale = run[_RHO] / (lam * (t - 1 + lead)) if t - 1 + lead > 0 else 0.0
        for k in range(batch):
            if row + LATER < end:
                prefetch(terms, 3 * draws[row + LATER, k])
                foresee(rows, draws[row + SOON, k], draws[row + LATER, k])
                prefetch(z, 2 * draws[row + SOON, k])
            i = np.uint64(draws[row, k])
            now = scale * (score(rows, i, v) + run[_INTERCEPT])
            g[k] = -slope(terms[i, 0] + terms[i, 1] * now) * terms[i, 2]
            if g[k] != 0.0 and not at_hand(rows, i):
                settle(rows, v)
                return row
        for k in range(batch):
            if g[k] == 0.0:
                continue
            i = np.uint64(draws[row, k])
            c = g[k] / run[_RHO]
            if radius > 0.0:
                # ‖u + cφ‖² = ‖u‖² + 2c⟨u, φ⟩ + c²‖φ‖², the intercept being one more coordinate.
                run[_NORM] += 2.0 * c * (score(rows, i, v) + bias_step * run[_INTERCEPT]) + c * c * (
                    diag[i] + bias_step
                )
            add(rows, i, c, v)
            z[i, 0] += c
            z[i, 1] += run[_HARMONIC] * c
            run[_INTERCEPT] += bias_step * c
            run[_INTERCEPT_LAG] += bias_step * run[_HARMONIC] * c
        if radius > 0.0:
            length = run[_RHO] * np.sqrt(max(run[_NORM], 0.0)) / (lam * t)
            if length > radius:
                run[_RHO] *= radius / length
        run[_HARMONIC] += run[_RHO] / t
        if row % PATIENCE == 0:
            settle(rows, v)
        if run[_RHO] < 1e-4:
            settle(rows, v)
            rho = run[_RHO]
            for i in range(total.size):
                total[i] += run[_HARMONIC] * z[i, 0] - z[i, 1]
                z[i, 0] *= rho
                z[i, 1] = 0.0
            for k in range(v.size):
                v[k] *= rho
            run[_INTERCEPT_SUM] += run[_HARMONIC] * run[_INTERCEPT] - run[_INTERCEPT_LAG]
            run[_INTERCEPT] *= rho
            run[_INTERCEPT_LAG] = 0.0
            run[_HARMONIC] = 0.0
            run[_NORM] *= rho * rho
            run[_RHO] = 1.0
    settle(rows, v)
    return end


def _late_start(problem: Problem) -> int:
    """How many steps to count as done before the first.

    Where the slope of the loss is bounded, a step of any length does bounded harm. Where it grows with the margin
    (squared losses, of curvature 1), steps longer than 1/max‖φ(x)‖² overshoot more and more: begin at the t with that
    step length.
    """
    if np.isfinite(problem.loss.slope_range(problem.y)).all():
        return 0
    longest = problem.gram.diag().max(initial=0.0) + (1.0 if problem.has_intercept else 0.0)
    return int(min(np.ceil(longest / problem.lam), _LATEST))


@dataclass(frozen=True)
class PegasosSolution(Solution):
    """As :class:`Solution`, with the models at the checkpoints and what a later run goes on from."""

    #: The models at the checkpoints.
    stages: tuple[Iterate, ...] = ()
    #: The last iterate, where the model is an average: a start for more steps.
    last: Iterate | None = None
    #: How many different items were looked at.
    seen: int = 0
    #: For each of the stages, the items of its last step.
    drawn_last: Array = field(default_factory=lambda: np.empty((0, 0), np.int64))


@dataclass(frozen=True)
class PegasosSteps(Solver[PegasosSolution]):
    """Stochastic subgradient descent for any loss with a compiled slope.

    Parameters
    ----------
    steps : int
        Steps T.
    average : {"tail", True, False}
        Return the average of the later half of w₂ … w_{T+1}, the average of all of them, or w_{T+1} alone. The first
        steps are long and far off; an average of the later half forgets them and converges at the best possible rate.
    project : bool
        After each step, pull w back into the ball of radius 1/√λ, where the minimiser is known to lie.
    batch : int
        Items in a step.
    sampling : {"replace", "once", "epoch"} or array of int
        Draw with replacement (items in proportion to their weights), go through one permutation again and again,
        through a new permutation each epoch, or through the given items.
    lead : {0, 1}
        Test margins with 1/(λ(t−1)), the length of w_t itself (0), or with 1/(λt) (1).
    checkpoints : tuple of int
        Steps after which the model is kept as a stage of the solution.
    items : array of int, optional
        The items in the order in which random draws number them; all of them as they come by default.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import PegasosSteps
    >>> problem = Problem(Features(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), lam=1.0)
    >>> solution = PegasosSteps(steps=1000).solve(problem)
    >>> (np.array([2.0, -2.0]) @ solution.z).round(2)
    np.float64(0.5)
    """

    steps: int = 100_000
    average: bool | str = "tail"
    project: bool = False
    batch: int = 1
    sampling: Any = "replace"
    lead: int = 0
    checkpoints: tuple[int, ...] = ()
    items: Array | None = None

    def refusal(self, problem: Problem) -> str | None:
        if problem.lam <= 0:
            return "its steps have the length 1/(λt); state λ > 0"
        if problem.intercept is Intercept.FREE:
            return "its steps shrink the intercept with the weights; state a penalised intercept, or none"
        if problem.loss.slope_pointer is None:
            return f"{problem.loss} has no compiled slope; use a loss of the margin or Squared"
        return None

    def _solve(self, problem: Problem, start: Iterate | None, rng: np.random.Generator) -> PegasosSolution:
        """Make the steps.

        A start that has made t steps goes on with step t + 1. One that is known by its weights takes part as an item of
        its own, the last: the solution then has weights too.
        """
        n, lam, gram = len(problem.gram), float(problem.lam), problem.gram
        walk = gram.walk()
        draws = _Draws(self, n, self.items, problem.weights, rng)
        offsets, signs = problem.loss.argument(problem.y)
        terms = np.column_stack([offsets, signs, signs * draws.weight / self.batch])
        z, total = np.zeros((n + 1, 2)), np.zeros(n + 1)
        v = walk.start()
        run = np.zeros(6)
        run[_RHO] = 1.0
        first = 1 + _late_start(problem)
        begun = None
        if start is not None:  # u = λt·w
            done_before = max(start.n_iter, 0)
            first, run[_INTERCEPT] = done_before + 1, lam * done_before * start.b
            if start.w is None:
                z[:n, 0] = lam * done_before * start.z
                v[:] = gram.model(z[:n, 0])
            else:
                begun = lam * done_before * start.w
                v[:], z[n, 0] = begun, 1.0
            if self.project:
                run[_NORM] = (lam * done_before) ** 2 * (gram.scores_and_square(start.z, start.w)[1] + start.b**2)
        slope = problem.loss.slope_pointer
        radius = 1.0 / np.sqrt(lam) if self.project else 0.0
        diag = gram.diag() if self.project else np.empty(0)
        bias_step = 1.0 if problem.has_intercept else 0.0

        def iterate(steps: int, coefficients: Array, b: float) -> Iterate:
            own = coefficients[:n]
            w = None if begun is None else coefficients[n] * begun + gram.model(own)
            return Iterate(own, b, steps, w)

        def summed() -> tuple[Array, float]:
            """λ·Σ w_{t+1} over the steps so far."""
            bias = run[_INTERCEPT_SUM] + run[_HARMONIC] * run[_INTERCEPT] - run[_INTERCEPT_LAG]
            return total + run[_HARMONIC] * z[:, 0] - z[:, 1], float(bias)

        def last() -> Iterate:
            scale = run[_RHO] / (lam * (first - 1 + done))
            return iterate(first - 1 + done, scale * z[:, 0], float(scale * run[_INTERCEPT]))

        def model(steps: int) -> Iterate:
            if not self.average:
                return replace(last(), n_iter=steps)
            # Sums are kept at the half of every checkpoint; Ctrl-C may come at any other step.
            since = max(mark for mark in sums if mark <= steps // 2) if self.average == "tail" else 0
            (now, now_b), (then, then_b) = summed(), sums[since]
            return iterate(steps, (now - then) / (lam * (steps - since)), (now_b - then_b) / (lam * (steps - since)))

        def steps_of(drawn: Array) -> None:
            row = 0
            while row < len(drawn):
                check_interrupt()
                row = _steps(
                    walk.rows, terms, drawn, row, len(drawn), first + done, lam, slope, self.lead, radius, diag,
                    v, z, total, bias_step, run,
                )  # fmt: skip
                if row < len(drawn):
                    walk.fetch(drawn[row])

        stages: list[Iterate] = []
        drawn_last: list[Array] = []
        wanted = {*self.checkpoints, self.steps}
        marks = {checkpoint // 2 for checkpoint in wanted} if self.average == "tail" else set()
        sums = {0: (np.zeros(n + 1), 0.0)}
        done, whole, status = 0, None, Status.NOT_CONVERGED  # a number of steps proves nothing; a certificate may
        try:
            for checkpoint in sorted(wanted | marks):
                while done < checkpoint:
                    drawn = draws.take(min(checkpoint - done, max(1, _STEPS_PER_CALL // self.batch)))
                    steps_of(drawn)
                    done += len(drawn)
                    if keeps_best():
                        whole = model(done), last()
                if checkpoint in wanted:
                    stages.append(model(checkpoint))
                if checkpoint in self.checkpoints:
                    drawn_last.append(drawn[-1])
                if checkpoint in marks:
                    sums[checkpoint] = summed()
            final, end = stages[-1], last()
        except KeyboardInterrupt:  # the model is that after the last whole chunk of steps, if there is one
            if whole is None:
                raise
            final, end = whole
            status = Status.INTERRUPTED
            reached = [stage for stage in stages if stage.n_iter in self.checkpoints]
            stages = reached + [replace(final, n_iter=point) for point in sorted(self.checkpoints)[len(reached) :]]
        return PegasosSolution(
            final.z,
            final.b,
            final.n_iter,
            final.w,
            status=status,
            stages=tuple(stage for stage in stages if stage.n_iter in self.checkpoints),
            last=end,
            seen=int(np.count_nonzero(draws.seen)),
            drawn_last=np.array(drawn_last, np.int64).reshape(len(drawn_last), self.batch),
        )


class _Draws:
    """The items of every step, made a piece at a time."""

    def __init__(
        self, solver: PegasosSteps, n: int, order: Array | None, weight: Array, rng: np.random.Generator
    ) -> None:
        self.sampling, self.batch, self.rng = solver.sampling, solver.batch, rng
        self.order = np.arange(n) if order is None else checked_items(order, n)
        self.seen = np.zeros(n, dtype=bool)
        self.position = 0
        self.left = np.empty(0, np.int64)
        #: How much an item counts when it is drawn.
        self.weight = weight
        if not isinstance(self.sampling, str):
            self.given = checked_items(self.sampling, n).ravel()
            if self.given.size < solver.steps * solver.batch:
                raise ValueError(f"sampling names {self.given.size} items, {solver.steps * solver.batch} are needed.")
        elif self.sampling == "replace":
            # An item of weight 2 is drawn as often as two equal items of weight 1.
            self.ends = None if (weight == 1.0).all() else np.cumsum(weight[self.order])
            self.weight = np.ones(n)
        else:
            self.order = rng.permutation(self.order[weight[self.order] > 0])

    def take(self, steps: int) -> Array:
        """The items of the next steps, (steps, batch)."""
        count = steps * self.batch
        drawn = self._next(count)
        self.position += count
        self.seen[drawn] = True
        return drawn.reshape(steps, self.batch)

    def _next(self, count: int) -> Array:
        if not isinstance(self.sampling, str):
            return self.given[self.position : self.position + count]
        n = self.order.size
        if self.sampling == "replace":
            points = self.rng.random(count)
            if self.ends is None:
                places = (points * n).astype(np.int64)
            else:
                places = np.searchsorted(self.ends, points * self.ends[-1], side="right")
            return self.order[np.minimum(places, n - 1)]
        if self.sampling == "once":
            return self.order[(self.position + np.arange(count)) % n]
        pieces = [self.left]
        while sum(piece.size for piece in pieces) < count:
            pieces.append(self.order if self.position == 0 and len(pieces) == 1 else self.rng.permutation(self.order))
        drawn = np.concatenate(pieces)
        self.left = drawn[count:]
        return drawn[:count]
