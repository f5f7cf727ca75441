"""Newton's method with conjugate gradients for every smooth loss.

Minimise  P = λ/2·zᵀKz + (1/n) Σ sᵢ·ℓᵢ(fᵢ + b),  f = Kz.  With gᵢ = sᵢ·ℓ′ᵢ/n and hᵢ = sᵢ·ℓ″ᵢ/n, derivatives by the
score, the solution has λz = −g. Linearising g around the present point, with p = K·dz + db the change of the scores,

    λ·dz = r − h∘p,        r = −(λz + g).

Let D = √h and q = D∘p. Multiplying by K, then by D,

    (λI + D·K·D) q = D∘(K·r) + λ·D·db,

a symmetric, well-conditioned system in which K appears only in products. It is solved by conjugate gradients for both
right-hand sides; db follows from Σ(g + h∘p) = 0, the condition for the intercept. One product more gives dz and p, and
a line search over t costs nothing more, as the scores are f + t·p.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from .._compile import Array
from ..grams.base import Gram
from ..problem import Problem, Solution, Stage, Status


@dataclass(frozen=True)
class Newton:
    """Newton's method with conjugate gradients, for losses with a continuous slope.

    Parameters
    ----------
    tol : float
        Stop when ‖λz + g‖·n, the worst error of a coefficient relative to its loss's slope, is below this.
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
        steps = 0
        while steps < self.max_iter:
            steps += 1
            g, h = problem.derivatives(f + b)
            r = -(lam * z + g)
            error = n * float(np.abs(r).max(initial=0.0))
            if problem.intercept:
                error = max(error, abs(float(g.sum())))
            if error <= self.tol:
                status = Status.CONVERGED
                break
            dz, db, p = _step(gram, lam, g, np.maximum(h, 0.0), r, problem.intercept, min(0.1, np.sqrt(error)) * 1e-2)
            t = 1.0
            while t > 1e-10:
                trial = problem.objective(z + t * dz, f + t * (p - db), b + t * db)
                if trial <= objective + 1e-15 * abs(objective):
                    break
                t *= 0.5
            else:
                break
            stalled = objective - trial <= 1e-16 * abs(objective) and error < 1e3 * self.tol
            z, f, b, objective = z + t * dz, f + t * (p - db), b + t * db, trial
            trace.append(objective)
            if stalled or time.monotonic() - begin > self.time_limit:
                status = Status.CONVERGED if stalled else status
                break
        return Solution(z=z, b=b, status=status, n_iter=steps, seen=n, trace=np.array(trace), scores=f)


def _step(
    gram: Gram, lam: float, g: Array, h: Array, r: Array, intercept: bool, tol: float
) -> tuple[Array, float, Array]:
    """dz, db and the change of the scores."""
    D = np.sqrt(h)
    Kr = gram.matvec(r)

    def apply(q: Array) -> Array:
        return lam * q + D * gram.matvec(D * q)

    q = _conjugate_gradients(apply, D * Kr, tol)
    db = 0.0
    if intercept and D.any():
        unit = _conjugate_gradients(apply, lam * D, tol)
        db = float((-g.sum() - D @ q) / (D @ unit))
        q = q + db * unit
    dz = (r - D * q) / lam
    p = gram.matvec(dz) + db
    return dz, db, p


def _conjugate_gradients(apply, right: Array, tol: float, limit: int = 1000) -> Array:
    """The solution of a positive definite system, to a relative residual."""
    x = np.zeros_like(right)
    residual = right.copy()
    direction = residual.copy()
    square = residual @ residual
    stop = tol * tol * square
    for _ in range(limit):
        if square <= stop or square == 0.0:
            break
        product = apply(direction)
        length = square / (direction @ product)
        x += length * direction
        residual -= length * product
        new = residual @ residual
        direction = residual + (new / square) * direction
        square = new
    return x
