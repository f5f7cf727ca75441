"""Weights of a mixture, better and better, until a duality gap says that they are the best.

Each step solves all machines for the weights as they are, from where they were, and goes to the least of a parabola
(:mod:`.weight_steps`); where that does not lead down, a shorter way, then a step that always does. Any solver can do
the solving. Bounds come from the coefficients found on the way, and from what lies between them: where several kernels
fit equally well, coefficients are not unique, and those of the last step alone may prove nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._runtime.interrupts import until
from .._runtime.parallel import for_each
from ..grams import Gram
from ..problems import Certificate, Iterate, Problem, Solution, Status
from ..solvers import Certified, Solver, solve_certified
from .components import Components
from .joint_problem import DualPoint, JointProblem, Part
from .weight_steps import alternating_step, curvature, newton_step, normalised

__all__ = ["LearnedWeights", "learn_weights"]

#: The gap that is small enough, as a part of the objective and as a part of what w costs; and a gap that is none.
_CLOSE, _OF_PENALTY, _NOTHING = 5e-5, 1e-3, 1e-10
#: Steps at most.
_LONGEST = 100
#: Lengths of Newton's step that are tried.
_LENGTHS = (1.0, 0.4, 0.1)
#: What a step must gain, of what the parabola promises.
_ENOUGH = 0.01
#: How often a solver whose tolerance is in the way goes on with a tighter one.
_TIGHTER = 3
#: Steps in a row that gain nothing before there is nothing to gain.
_PATIENCE = 5
#: A step that gains less than this part of the small gap gains nothing.
_IDLE = 0.01
#: Points of the dual that are kept.
_POINTS = 40


@dataclass(frozen=True)
class LearnedWeights:
    """Weights, the Gram of the mixture with them, and what was found on the way."""

    weights: Array
    gram: Gram
    #: Solutions of the parts for these weights, to begin with.
    starts: list[Solution]
    #: The point of the dual with the best bound.
    point: DualPoint
    status: Status
    joint: JointProblem
    components: Components
    #: The solver, with the tolerance that was needed.
    solver: Any
    #: Steps of the solver in each part.
    n_iter: Array

    def certificate(self, found: Sequence[Iterate], certificates: Sequence[Certificate]) -> Certificate:
        """The joint certificate of models that were found for these weights."""
        return self.joint.certificate(self.gram, self.components, found, certificates, [self.point])


def learn_weights(
    parts: Sequence[Part], components: Components, solver: Solver[Any], seed: int = 0, time_limit: float = np.inf
) -> LearnedWeights:
    """The weights for which machines have the least objective.

    Parameters
    ----------
    parts : list of Part
        The problems of the machines.
    components : Components
    solver : Solver
        What solves each of them.
    seed : int
    time_limit : float
        Seconds after which the best weights so far are returned.

    Returns
    -------
    LearnedWeights

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Placement
    >>> from mercer.kernels import Gaussian, Linear, Mixture
    >>> from mercer.losses import Squared
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import Newton
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> kernel = Mixture([Linear(), Gaussian(gamma=100.0)]).resolved(X)
    >>> components = Components(kernel, X, Placement())
    >>> problem = Problem(components.gram(kernel.weights_), X.sum(axis=1), Squared(), lam=0.1)
    >>> learn_weights([Part(problem)], components, Newton()).weights
    array([1., 0.])
    """
    return _Learning(parts, components, solver, seed, time_limit).run()


class _Step:
    """All machines solved for some weights."""

    def __init__(self, learning: _Learning, weights: Array, starts: Sequence[Iterate | None]) -> None:
        self.weights, self.gram = weights, learning.components.gram(weights)
        joint, rows = learning.joint, [part.rows for part in learning.joint.parts]
        self.problems: list[Problem] = [part.on(self.gram) for part in joint.parts]
        self.found = learning.solved(self.problems, starts)
        self.solutions = [each.solution for each in self.found]
        self.objective = joint.of([each.certificate.objective for each in self.found])
        #: How far the machines may be from their best for these weights.
        self.slack = joint.of([each.certificate.gap for each in self.found])
        self.z, conjugate = joint.point(self.problems, self.solutions)
        self.products = [learning.components.products(z, some) for z, some in zip(self.z, rows, strict=True)]
        self.point = DualPoint(self.z, conjugate, joint.squares(self.z, self.products))
        self._learning = learning

    @cached_property
    def hessian(self) -> Array:
        rng = np.random.default_rng(self._learning.seed)
        joint = self._learning.joint
        parts = zip(self.problems, self.solutions, self.z, self.products, strict=True)
        return np.tensordot(joint.shares, np.array([curvature(*part, rng) for part in parts]), axes=1)


class _Learning:
    def __init__(
        self, parts: Sequence[Part], components: Components, solver: Any, seed: int, time_limit: float
    ) -> None:
        kernel = components.kernel
        self.joint, self.components, self.solver, self.seed = JointProblem(parts, kernel.p), components, solver, seed
        self.deadline, self.p = time.monotonic() + time_limit, float(kernel.p)
        self.alive = kernel.inverse_scales > 0
        #: What is known of the dual, and the best that follows from it.
        self.points: list[DualPoint] = []
        self.best: DualPoint
        self.interrupted = False
        self.steps, self.n_iter = 0, np.zeros(len(parts), np.int64)

    def solved(self, problems: Sequence[Problem], starts: Sequence[Iterate | None]) -> list[Certified]:
        found: list[Any] = [None] * len(problems)

        def solve(k: int) -> None:
            found[k] = solve_certified(problems[k], self.solver, starts[k], np.random.default_rng(self.seed))

        # What Newton's method learns of a Gram it keeps there, for one thread at a time.
        smooth = any(problem.loss.smooth for problem in problems)
        for_each(solve, range(len(problems)), threads=1 if smooth else None)
        return found

    def run(self) -> LearnedWeights:
        uniform = normalised(self.alive.astype(np.float64), self.p) if self.alive.any() else self.alive * 1.0
        step = self._taken(uniform, [None] * len(self.joint.parts))
        tighter = idle = 0
        with until(self.deadline):
            while idle < _PATIENCE and self.steps < _LONGEST and not self._done(step):
                gap = self._gap(step)
                noisy = idle > 0 or step.slack > 0.5 * gap
                if noisy and tighter < _TIGHTER and hasattr(self.solver, "tol"):
                    tighter += 1
                    self.solver = replace(self.solver, tol=0.1 * self.solver.tol)
                    step = self._taken(step.weights, step.solutions)
                after = self._next(step)
                gains = step.objective - after.objective > _IDLE * _CLOSE * step.objective
                gained = gains or self._gap(after) < 0.7 * gap
                step, idle = after, 0 if gained else idle + 1
                if step.slack > 0.5 * self._gap(step) and tighter == _TIGHTER:
                    break  # better weights would not show
        status = Status.CONVERGED if self._close(step) else Status.NOT_CONVERGED
        return LearnedWeights(
            weights=step.weights,
            gram=step.gram,
            starts=step.solutions,
            point=self.best,
            status=Status.INTERRUPTED if self.interrupted else status,
            joint=self.joint,
            components=self.components,
            solver=self.solver,
            n_iter=self.n_iter,
        )

    def _done(self, step: _Step) -> bool:
        return self._close(step) or self.interrupted or time.monotonic() > self.deadline

    def _close(self, step: _Step) -> bool:
        """Where w costs little beside the losses, its part decides how good the weights are."""
        penalty = 0.5 * float(step.weights @ step.point.squares)
        return self._gap(step) <= max(min(_CLOSE * step.objective, _OF_PENALTY * penalty), _NOTHING * step.objective)

    def _gap(self, step: _Step) -> float:
        return step.objective - self.joint.bound(self.best)

    def _taken(self, weights: Array, starts: Sequence[Iterate | None]) -> _Step:
        """The machines for these weights; what they tell of the dual is kept."""
        step = _Step(self, weights, [None if start is None else Iterate(start.z, start.b) for start in starts])
        self.steps += 1
        self.interrupted |= any(each.status is Status.INTERRUPTED for each in step.solutions)
        self.n_iter += [int(each.n_iter) for each in step.solutions]
        self.points = [*self.points[-_POINTS:], step.point]
        self.best = self.joint.best_combination([*self.points, self.best] if self.steps > 1 else self.points)
        return step

    def _next(self, step: _Step) -> _Step:
        """Better weights; the same ones where none are found."""
        if self.alive.sum() < 2 or not step.point.squares.any():
            return step
        for points in ([step.point], self.points):
            target, height = self._least(step, points)
            for length in _LENGTHS if height < step.objective else ():
                weights = normalised(step.weights + length * (target - step.weights), self.p)
                tried = self._taken(weights, step.solutions)
                if tried.objective <= step.objective + _ENOUGH * length * (height - step.objective):
                    return tried
                if self._done(step):
                    return step
        tried = self._taken(alternating_step(step.weights, step.point.squares, self.p), step.solutions)
        return tried if tried.objective < step.objective else step

    def _least(self, step: _Step, points: Sequence[DualPoint]) -> tuple[Array, float]:
        """Where a parabola above the lines of some points of the dual is least, and its height."""
        squares = np.array([point.squares for point in points]) * self.alive
        return newton_step(step.weights, -np.array([p.conjugate for p in points]), squares, step.hessian, self.p)
