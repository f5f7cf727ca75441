"""Newton's method with conjugate gradients for every smooth loss.

Minimise  P = λ/2·‖w‖² + (1/n) Σ sᵢ·ℓᵢ(fᵢ + b),  fᵢ = ⟨w, φᵢ⟩.  With g and h the first and second derivatives of the
loss part by the scores, the gradient is λw + Σ gᵢφᵢ for w and Σgᵢ for b. Around the present model they change by

    λ·d + Σ hᵢ·(⟨d, φᵢ⟩ + db)·φᵢ     and     Σ hᵢ·(⟨d, φᵢ⟩ + db),

and Newton's step (d, db) makes them zero; a penalised intercept adds λb and λ·db. The operator is symmetric and
positive, so conjugate gradients find the step, helped by an approximate inverse that the Gram offers. All of it happens
on vectors of the feature space as the Gram keeps them (:mod:`mercer.grams.span`): the weights of a linear model,
coefficients and scores of a kernel machine. One step of conjugate gradients costs one product with K, or one with Φ and
one with Φᵀ. As the change of the scores is known, a line search costs no product at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..grams.span import Preconditioner, Span
from ..problems import Intercept, Iterate, Problem, Solution, Status
from ..runtime.compile import Array
from ..runtime.interrupts import check_interrupt, keeps_best, until
from ..runtime.threads import one_blas_thread
from .base import Solver

#: What rounding leaves of a sum, relative to its parts.
_ROUNDING = 1e-15
#: Curvature below this part of the slope is none, and a first step is shortened by so much then.
_FLAT, _DAMPING = 1e-3, 1e-2
#: A step along which the slope is left at less than this part of what it was is long enough.
_ENOUGH = 0.9
#: What a whole step along something like a parabola gains, as a part of what the slope promises.
_LIKE_A_PARABOLA = 0.3, 0.7
#: Lengths of a step that are tried.
_TRIALS = 40
#: What is left at most of the residuals after a Newton step: each costs an inverse and two products, beside those that
#: conjugate gradients need.
_LOOSEST = 0.1
#: The part of the tolerance that a step aims at, as the objective is not quite the parabola that it is taken for.
_SAFELY = 0.3
#: Steps of conjugate gradients at most, for one Newton step.
_LONGEST = 1000


@dataclass(frozen=True)
class Newton(Solver[Solution]):
    """Newton's method with conjugate gradients, for losses with a continuous slope.

    Parameters
    ----------
    tol : float
        Stop when the gradient, measured in feature space, has shrunk to this part of its largest size, or to what
        rounding, or the precision of the Gram's products, leaves of it.
    max_iter : int
        Newton steps at most.
    time_limit : float
        Seconds after which the best model so far is returned.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Logistic
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import Newton
    >>> problem = Problem(Features(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Logistic(), lam=0.1)
    >>> Newton().solve(problem).z.round(4)
    array([ 0.8168, -0.8168])
    """

    tol: float = 1e-8
    max_iter: int = 100
    time_limit: float = np.inf

    def refusal(self, problem: Problem) -> str | None:
        if not problem.loss.smooth:
            return f"{problem.loss} has a kink, which Newton's method cannot pass; use SoftMargin or Gradient"
        if problem.lam <= 0:
            return "with λ = 0 there may be no minimum; state λ > 0"
        return None

    def _solve(self, problem: Problem, start: Iterate | None, rng: np.random.Generator) -> Solution:
        deadline = time.monotonic() + self.time_limit
        tol = max(self.tol, problem.gram.error)
        descent = _Descent(problem, start, deadline)
        trace, steps, status = [descent.objective], 0, None
        try:
            # A second thread of a library would wait for work beside ours, and take their place.
            with one_blas_thread(), until(deadline):  # the model is that of the last whole step
                while status is None and steps < self.max_iter and time.monotonic() <= deadline:
                    steps += 1
                    status = descent.step(tol)
                    trace.append(descent.objective)
        except KeyboardInterrupt:
            if not keeps_best():
                raise
            status = Status.INTERRUPTED
        status = status or Status.NOT_CONVERGED
        span, f, b = problem.gram.span, descent.f, descent.b
        z = span.coefficients(descent.w)
        if z is None:  # at the minimum λw + Σ gᵢφᵢ = 0
            z = -problem.slopes(f + b) / problem.lam
        return Solution(z, b, steps, span.weights(descent.w), f, status, np.array(trace))


class _Descent:
    """A model on its way to the minimum."""

    def __init__(self, problem: Problem, start: Iterate | None, deadline: float) -> None:
        self.problem, self.deadline = problem, deadline
        #: Quick products, until the model seems to be there; then exact ones.
        self.span = span = problem.gram.span.quick
        columns = problem.y.shape[1:]
        if start is None:
            self.w, self.b = span.zero(columns), np.zeros(columns)[()]
        else:
            self.w = span.vector(start.z, start.w)
            self.b = np.asarray(start.b, dtype=np.float64)[()]
        #: The scores of all items, without the intercept.
        self.f = span.scores(self.w)
        self.objective = problem.objective(span.dot(self.w, self.w), self.f + self.b, self.b)
        #: What a penalised intercept costs, beside its part in the scores.
        self.price = problem.lam if problem.intercept is Intercept.PENALISED else 0.0
        #: The largest gradient so far; with a good start that is not where the gradient is large.
        self.largest = 0.0 if start is None else span.size_of(problem.slopes(np.zeros(problem.y.shape)))
        #: How much the next step is shortened where the loss is straight; not known before the first step.
        self.damping: float | None = None
        #: The length of the longest item, with its constant 1 for the intercept.
        self.longest = float(np.sqrt(1 + max(float(problem.gram.diag().max(initial=0.0)), 0.0)))

    def step(self, tol: float) -> Status | None:
        """One step of Newton's; a status when there is nothing more to do."""
        problem, span, lam = self.problem, self.span, self.problem.lam
        tol = max(tol, span.error)
        g, h = problem.slopes(self.f + self.b), problem.curvatures(self.f + self.b)
        r = -span.gradient(lam, self.w, g)
        rb = -g.sum(axis=0) - self.price * self.b if problem.has_intercept else np.zeros_like(self.b)
        error = float(np.sqrt(max(span.dot(r, r), 0.0) + np.vdot(rb, rb)))
        self.largest = max(self.largest, error)
        if error <= max(tol * self.largest, _ROUNDING * self.longest * float(np.abs(g).sum())):
            return None if self._sharpened() else Status.CONVERGED
        # A straight loss has no curvature to tell how far to go; that of a logistic loss fades as its slope does.
        straight = h.sum() < _FLAT * np.abs(g).sum()
        if self.damping is None:
            self.damping = _DAMPING if straight else 0.0
        ridge = self.damping * problem.shares if self.damping else 0.0
        inverse = span.preconditioner(lam, problem.loss.hessian_diagonal(h) + ridge, problem.has_intercept)

        def hessian_product(change: Array) -> Array:
            return problem.loss.hessian_product(h, change) + ridge * change

        def curve(direction: Array, db: Array) -> tuple[Array, Array, Array]:
            if h.ndim == 1:  # one number for each item: scores and their sum in one pass
                scores, total = span.hessian_product(h + ridge, direction, db)
                return scores, hessian_product(scores), total
            scores = span.scores(direction) + db
            bent = hessian_product(scores)
            return scores, bent, span.combine(bent)

        loose = min(_LOOSEST, float(np.sqrt(error / self.largest)))
        goal = _SAFELY * tol * self.largest
        d, db, p = _step(
            span, lam, self.price, curve, inverse, r, rb, problem.has_intercept, loose, goal, self.deadline
        )
        steepest = -span.dot(r, d) - float(np.vdot(rb, db))
        t, objective = self._search(d, db, p, steepest) if p is not None else (0.0, self.objective)
        gain = self.objective - objective
        if t == 0.0:  # rounding stops further descent
            if self._sharpened():
                return None
            return Status.CONVERGED if error <= 1e-6 * self.largest else Status.NOT_CONVERGED
        # A loss with straight parts may have no curvature where the model is now: then trust the next step less.
        if t < 0.25 and straight:
            self.damping = max(10 * self.damping, _DAMPING)
        else:
            self.damping = self.damping / 10 if self.damping > 1e-8 else 0.0
        w, f = span.moved(self.w, self.f, t, d, p - db)
        self.w, self.f, self.b, self.objective = w, f, self.b + t * db, objective
        return Status.CONVERGED if gain <= 1e-15 * abs(objective) and not self._sharpened() else None

    def _sharpened(self) -> bool:
        """Whether products are more exact from now on than they were."""
        exact, quick = self.problem.gram.span, self.span
        if quick is exact:
            return False
        self.span, known = quick.sharper or exact, self.w
        self.w = quick.sharpened(known)
        if self.w is not known:
            self.f = self.span.scores(self.w)
            self.objective = self.problem.objective(self.span.dot(self.w, self.w), self.f + self.b, self.b)
        return True

    def _search(self, d: Array, db: Array, p: Array, steepest: float) -> tuple[float, float]:
        """A step along d (with scores p) that goes down about as far as any, and the objective there.

        All of it, as a rule: a parabola falls by half of what its slope at first, ``steepest``, promises. Where the
        objective turns upwards on the way, or goes on falling just as steeply, the place where its slope along d
        vanishes is looked for, between the steps that are too short and too long.
        """
        problem, lam, here = self.problem, self.problem.lam, self.f + self.b
        square, along, length = (self.span.dot(*pair) for pair in ((self.w, self.w), (self.w, d), (d, d)))

        def value_at(t: float) -> float:
            return problem.objective(square + t * (2 * along + t * length), here + t * p, self.b + t * db)

        def slope_at(t: float) -> float:
            penalty = self.price * float(np.vdot(self.b + t * db, db))
            return lam * (along + t * length) + penalty + float(np.vdot(problem.slopes(here + t * p), p))

        if not steepest < 0:  # nothing but rounding errors
            return 0.0, self.objective
        short, long, t, best = 0.0, np.inf, 1.0, (0.0, self.objective)
        for _ in range(_TRIALS):
            value = value_at(t)
            lower = value <= self.objective + 1e-15 * abs(self.objective)
            if lower and (value < best[1] or best[0] == 0.0):
                best = t, value
            if t == 1.0 and _LIKE_A_PARABOLA[0] <= (value - self.objective) / steepest <= _LIKE_A_PARABOLA[1]:
                return t, value
            slope = slope_at(t)
            if lower and abs(slope) <= _ENOUGH * abs(steepest):
                return t, value
            if slope < 0 and lower:
                short = t
            else:
                long = t
            t = 2 * t if np.isinf(long) else 0.5 * (short + long)
        return best


def _step(
    span: Span,
    lam: float,
    price: float,
    curve: Callable[[Array, Array], tuple[Array, Array, Array]],
    inverse: Preconditioner,
    r: Array,
    rb: Array,
    intercept: bool,
    tol: float,
    goal: float,
    deadline: float,
) -> tuple[Array, Array, Array | None]:
    """d, db and the change of the scores, from the residuals of the model and of the intercept; none without a step.

    Residuals are to shrink to a part ``tol`` of what they are, or to the size ``goal``.
    """
    better, better_b = inverse(r, rb)
    square = span.dot(r, better) + float(np.vdot(rb, better_b))
    stop = tol * tol * square
    direction, db = better, better_b
    d, total, p = np.zeros_like(r), np.zeros_like(rb), None
    for _ in range(_LONGEST):
        check_interrupt()
        scores, bent, reaction = curve(direction, db)
        curvature = lam * span.dot(direction, direction) + price * float(np.vdot(db, db)) + float(np.vdot(scores, bent))
        if not (square > 0 and curvature > 0):  # nothing but rounding errors
            break
        length = square / curvature
        d, total, p = d + length * direction, total + length * db, length * scores if p is None else p + length * scores
        r = r - length * (lam * direction + reaction)
        rb = rb - length * (bent.sum(axis=0) + price * db) if intercept else rb
        better, better_b = inverse(r, rb)
        new = span.dot(r, better) + float(np.vdot(rb, better_b))
        there = span.dot(r, r) + float(np.vdot(rb, rb)) <= goal * goal
        if new <= stop or there or time.monotonic() > deadline:
            break
        ratio, square = new / square, new
        direction, db = better + ratio * direction, better_b + ratio * db
    return d, total, p


# Plain gradient descent, as a first course derives it: for teaching, for tests, and for losses with kinks.


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
                check_interrupt()
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
            if not keeps_best():
                raise
            status = Status.INTERRUPTED
        _, z, b, f = best
        return Solution(z, b[()], step, scores=f, status=status, trace=np.array(trace))
