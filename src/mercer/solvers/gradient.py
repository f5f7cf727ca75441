"""Plain gradient descent, as a first course derives it: for teaching, for tests, and for losses with kinks."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .._runtime.interrupts import heed, kept
from ..problems import Intercept, Iterate, Problem, Solution, Status
from .base import Solver


@dataclass(frozen=True)
class Gradient(Solver[Solution]):
    """Descent along the gradient (or a subgradient) in the space of functions: λw + Σ gᵢφᵢ, and Σg for the intercept.

    Its coefficients are λz + g; a penalised intercept adds λb.

    Smooth losses take steps of length ``rate``; losses with a kink take ``rate``/√t and return the best model seen.

    Parameters
    ----------
    rate : float or None
        Length of a step; by default 1/L, with L a bound on the curvature.
    max_iter : int
    tol : float
        Stop when no component of the gradient is larger.
    time_limit : float
        Seconds after which the best model so far is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Logistic
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import Gradient
    >>> problem = Problem(Features(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Logistic(), lam=0.1)
    >>> Gradient(max_iter=5000).solve(problem).z.round(3)
    array([ 0.817, -0.817])
    """

    rate: float | None = None
    max_iter: int = 10_000
    tol: float = 1e-8
    time_limit: float = np.inf

    def refusal(self, problem: Problem) -> str | None:
        if problem.lam <= 0:
            return "with λ = 0 there may be no minimum to descend to; state λ > 0"
        return None

    def _solve(self, problem: Problem, start: Iterate | None, rng: np.random.Generator) -> Solution:
        gram, n, lam = problem.gram, len(problem.gram), problem.lam
        begin = time.monotonic()
        z = np.zeros(problem.y.shape) if start is None else start.z.copy()
        b = np.zeros(problem.y.shape[1:]) if start is None else np.asarray(start.b, dtype=np.float64)
        f = gram.matvec(z) if z.any() else np.zeros(problem.y.shape)
        # The second derivative is λ + Σ hᵢ·φᵢφᵢᵀ, no larger than λ + max h·(mean ‖φ‖², and 1 for the intercept).
        bound = lam + float(problem.weights.max()) * (float(gram.diag().sum()) / n + 1.0)
        rate = self.rate or 1.0 / bound
        price = lam if problem.intercept is Intercept.PENALISED else 0.0
        best = (problem.objective(float(np.vdot(z, f)), f + b, b), z, b, f)
        trace, status, step = [best[0]], Status.NOT_CONVERGED, 0
        try:
            for step in range(1, self.max_iter + 1):
                heed()
                g = problem.slopes(f + b)
                inner = lam * z + g
                along = gram.matvec(inner)
                down = g.sum(axis=0) + price * b if problem.has_intercept else np.zeros_like(b)
                if max(float(np.abs(along).max()), float(np.abs(down).max())) <= self.tol:
                    status = Status.CONVERGED
                    break
                length = rate if problem.loss.smooth else rate / np.sqrt(step)
                # In the space of functions the gradient is λw + Σg·φ: its coefficients are λz + g, without the K.
                z = z - length * inner
                f = f - length * along
                b = b - length * down
                value = problem.objective(float(np.vdot(z, f)), f + b, b)
                trace.append(value)
                if value < best[0]:
                    best = (value, z, b, f)
                if time.monotonic() - begin > self.time_limit:
                    break
        except KeyboardInterrupt:
            if not kept():
                raise
            status = Status.INTERRUPTED
        _, z, b, f = best
        return Solution(z, b[()], step, scores=f, status=status, trace=np.array(trace))
