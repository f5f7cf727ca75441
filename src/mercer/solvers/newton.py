"""Newton's method with conjugate gradients for every smooth loss.

Minimise  P = λ/2·‖w‖² + (1/n) Σ sᵢ·ℓᵢ(fᵢ + b),  fᵢ = ⟨w, φᵢ⟩.  With g and h the first and second derivatives of the
loss part by the scores, the gradient is λw + Σ gᵢφᵢ for w and Σgᵢ for b. Around the present model they change by

    λ·d + Σ hᵢ·(⟨d, φᵢ⟩ + db)·φᵢ     and     Σ hᵢ·(⟨d, φᵢ⟩ + db),

and Newton's step (d, db) makes them zero. The operator is symmetric and positive, so conjugate gradients find the step,
helped by an approximate inverse that the Gram offers. All of it happens on vectors of the feature space as the Gram
keeps them (:mod:`mercer.grams.span`): the weights of a linear model, coefficients and scores of a kernel machine. One
step of conjugate gradients costs one product with K, or one with Φ and one with Φᵀ. As the change of the scores is
known, a line search costs no product at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .._compile import Array
from ..grams.span import Inverse, Span
from ..problem import Problem, Solution, Stage, Status

#: A mean curvature below this is none.
_FLAT = 1e-3
#: Steps of conjugate gradients at most, for one Newton step.
_LONGEST = 1000


@dataclass(frozen=True)
class Newton:
    """Newton's method with conjugate gradients, for losses with a continuous slope.

    Parameters
    ----------
    tol : float
        Stop when the gradient, measured in feature space, has shrunk to this part of its first size.
    max_iter : int
        Newton steps at most.
    time_limit : float
        Seconds after which the best model so far is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Logistic
    >>> from mercer.problem import Problem
    >>> from mercer.solvers import Newton
    >>> problem = Problem(Features(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Logistic(), lam=0.1)
    >>> Newton().solve(problem).z.round(4)
    array([ 0.8168, -0.8168])
    """

    tol: float = 1e-8
    max_iter: int = 100
    time_limit: float = np.inf

    def solve(self, problem: Problem, start: Stage | None = None, rng: np.random.Generator | None = None) -> Solution:
        """Minimise; ``start`` is a model to begin with."""
        span, lam = problem.gram.span, problem.lam
        begin = time.monotonic()
        w, b = _beginning(problem, start)
        f = span.scores(w)
        square = span.dot(w, w)
        objective = problem.objective(square, f + b)
        trace = [objective]
        status = Status.NOT_CONVERGED
        steps, first, damping = 0, 0.0, 0.0
        while steps < self.max_iter:
            steps += 1
            g, h = problem.derivatives(f + b)
            r = -span.gradient(lam, w, g)
            rb = -g.sum(axis=0) if problem.intercept else np.zeros_like(b)
            error = float(np.sqrt(max(span.dot(r, r), 0.0) + np.vdot(rb, rb)))
            first = max(first, error)
            if error <= self.tol * first:
                status = Status.CONVERGED
                break
            if h.sum() < _FLAT:
                damping = max(damping, 1e-2)
            ridge = damping * problem.share() if damping else 0.0
            inverse = span.inverse(lam, problem.diagonal(h) + ridge, problem.intercept)

            def bend(change: Array, h: Array = h, ridge: Array | float = ridge) -> Array:
                return problem.bend(h, change) + ridge * change

            d, db, p = _step(
                span, lam, bend, inverse, r, rb, problem.intercept, min(0.5, float(np.sqrt(error / first)))
            )
            along, length = span.dot(w, d), span.dot(d, d)
            t = 1.0
            while t > 1e-10:
                trial = problem.objective(square + t * (2 * along + t * length), f + b + t * p)
                if trial <= objective + 1e-15 * abs(objective):
                    break
                t *= 0.5
            else:
                status = Status.CONVERGED if error <= 1e-6 * first else status  # rounding stops further descent
                break
            # A loss with straight parts may have no curvature where the model is now: then trust the next step less.
            damping = max(10 * damping, 0.01) if t < 0.25 else damping / 10 if damping > 1e-08 else 0.0
            stalled = objective - trial <= 1e-15 * abs(objective)
            w, f = span.moved(w, f, t, d, p - db)
            b, square, objective = b + t * db, span.dot(w, w), trial
            trace.append(objective)
            if stalled or time.monotonic() - begin > self.time_limit:
                status = Status.CONVERGED if stalled else status
                break
        z = span.coefficients(w)
        if z is None:  # at the minimum λw + Σ gᵢφᵢ = 0
            return Solution(-problem.derivatives(f + b)[0] / lam, b, status, steps, np.array(trace), scores=f, w=w)
        return Solution(z, b, status, steps, np.array(trace), scores=f)


def _beginning(problem: Problem, start: Stage | None) -> tuple[Array, Array]:
    """The vector and the intercepts to start from."""
    span, columns = problem.gram.span, problem.y.shape[1:]
    if start is None:
        return span.zero(columns), np.zeros(columns)[()]
    w = span.combine(start.z) if start.w is None else start.w
    return w, np.asarray(start.b, dtype=np.float64)[()]


def _step(
    span: Span,
    lam: float,
    bend: Callable[[Array], Array],
    inverse: Inverse,
    r: Array,
    rb: Array,
    intercept: bool,
    tol: float,
) -> tuple[Array, Array, Array]:
    """d, db and the change of the scores, from the residuals of the model and of the intercept."""
    better, better_b = inverse(r, rb)
    square = span.dot(r, better) + float(np.vdot(rb, better_b))
    stop = tol * tol * square
    direction, db = better, better_b
    d, total, p = np.zeros_like(r), np.zeros_like(rb), np.zeros(())
    for _ in range(_LONGEST):
        scores = span.scores(direction) + db
        bent = bend(scores)
        length = square / (lam * span.dot(direction, direction) + float(np.vdot(scores, bent)))
        d, total, p = d + length * direction, total + length * db, p + length * scores
        r = r - length * (lam * direction + span.combine(bent))
        rb = rb - length * bent.sum(axis=0) if intercept else rb
        better, better_b = inverse(r, rb)
        new = span.dot(r, better) + float(np.vdot(rb, better_b))
        if new <= stop:
            break
        ratio, square = new / square, new
        direction, db = better + ratio * direction, better_b + ratio * db
    return d, total, p
