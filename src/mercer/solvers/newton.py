"""Newton's method with conjugate gradients for every smooth loss.

Minimise  P = λ/2·zᵀKz + (1/n) Σ sᵢ·ℓᵢ(fᵢ + b),  f = Kz.  With gᵢ = sᵢ·ℓ′ᵢ/n and hᵢ = sᵢ·ℓ″ᵢ/n, derivatives by the
score, the solution has λz = −g. Linearising g around the present point, with p = K·dz + db the change of the scores,

    λ·dz = r − h∘p,        r = −(λz + g),

that is λ·dz + h∘(K·dz + db) = r, with Σ h∘(K·dz + db) = −Σg for the intercept. The operator on the left is symmetric
and positive in the geometry of the feature space, where ⟨u, v⟩ = uᵀKv: conjugate gradients run there, on coefficients,
and need one product with K for each step. With K = Φ·Φᵀ they are, number for number, the conjugate gradients of a
linear model on its weights. The scores change by p = K·dz + db, so that a line search costs no further product.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .._compile import Array
from ..grams.base import Gram
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
        gram, lam, n = problem.gram, problem.lam, len(problem.gram)
        begin = time.monotonic()
        z = np.zeros(n) if start is None else start.z.copy()
        b = 0.0 if start is None else start.b
        f = gram.matvec(z) if z.any() else np.zeros(n)
        objective = problem.objective(z, f, b)
        trace = [objective]
        status = Status.NOT_CONVERGED
        steps, first, damping = 0, 0.0, 0.0
        while steps < self.max_iter:
            steps += 1
            g, h = problem.derivatives(f + b)
            r = -(lam * z + g)
            rb = -float(g.sum()) if problem.intercept else 0.0
            Kr = gram.matvec(r)
            error = float(np.sqrt(max(float(r @ Kr), 0.0) + rb * rb))
            first = max(first, error)
            if error <= self.tol * first:
                status = Status.CONVERGED
                break
            if h.sum() < _FLAT:
                damping = max(damping, 1e-2)
            damped = h + damping * problem.weights() / n
            dz, db, p = _step(gram, lam, damped, r, Kr, rb, min(0.1, float(np.sqrt(error / first))))
            t = 1.0
            while t > 1e-10:
                trial = problem.objective(z + t * dz, f + t * (p - db), b + t * db)
                if trial <= objective + 1e-15 * abs(objective):
                    break
                t *= 0.5
            else:
                status = Status.CONVERGED if error <= 1e-6 * first else status  # rounding stops further descent
                break
            # A loss with straight parts may have no curvature where the model is now: then trust the next step less.
            damping = max(10 * damping, 0.01) if t < 0.25 else damping / 10 if damping > 1e-08 else 0.0
            stalled = objective - trial <= 1e-15 * abs(objective)
            z, f, b, objective = z + t * dz, f + t * (p - db), b + t * db, trial
            trace.append(objective)
            if stalled or time.monotonic() - begin > self.time_limit:
                status = Status.CONVERGED if stalled else status
                break
        return Solution(z=z, b=b, status=status, n_iter=steps, seen=n, trace=np.array(trace), scores=f)


def _step(gram: Gram, lam: float, h: Array, r: Array, Kr: Array, rb: float, tol: float) -> tuple[Array, float, Array]:
    """dz, db and the change of the scores, from the residuals of the coefficients and of the intercept."""
    r = r.copy()
    square = float(r @ Kr) + rb * rb
    stop = tol * tol * square
    direction, Kd, db = r.copy(), Kr.copy(), rb
    dz, Kdz, total = np.zeros(r.size), np.zeros(r.size), 0.0
    for _ in range(_LONGEST):
        if square <= stop:
            break
        scores = Kd + db
        bent = h * scores
        length = square / (lam * float(direction @ Kd) + float(scores @ bent))
        dz += length * direction
        Kdz += length * Kd
        total += length * db
        r -= length * (lam * direction + bent)
        if db or rb:
            rb -= length * float(bent.sum())
        Kr = gram.matvec(r)
        new = float(r @ Kr) + rb * rb
        ratio, square = new / square, new
        direction = r + ratio * direction
        Kd = Kr + ratio * Kd
        db = rb + ratio * db
    return dz, total, Kdz + total
