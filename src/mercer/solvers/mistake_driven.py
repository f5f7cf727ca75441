"""The Perceptron: look at one item after the other, and add the item to the model when the model errs on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .._runtime.compile import Array, jit
from .._runtime.interrupts import heed, kept
from .._runtime.prefetch import prefetch
from ..grams.walk import LATER, PATIENCE, SOON, add, at_hand, foresee, score, settle
from ..losses import PerceptronLoss
from ..problems import Iterate, Problem, Solution, Status
from .base import Solver, checked_items

#: Items visited before Python is asked whether the user pressed Ctrl-C.
_CHUNK = 1 << 18


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
            return "its rule knows no λ; state λ = 0, or use Pegasos"
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

        items, steps = np.empty((2, min(_CHUNK, order.size)), np.int64)
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
            for begin in range(0, order.size, _CHUNK):
                end = min(begin + _CHUNK, order.size)
                while begin < end:
                    heed()
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
                if kept():
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
