"""Solutions that carry their proof: what a solver found, improved until its certificate says that it is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..grams.base import Gram
from ..problems import CLOSE, Certificate, Iterate, Problem, Solution, Status, certify, certify_nothing
from ..runtime.interrupts import all_or_nothing, keeps_best, until
from .base import Solver
from .interior import InteriorPoint
from .newton import Gradient, Newton
from .svm.linear import linear_margin, passes_pay
from .svm.refinement import DualRefinement
from .svm.soft_margin import SoftMargin

__all__ = ["Certified", "certified_if_solved", "solve_certified"]

# What Newton's method or gradient descent found, improved where its duality gap is not small.


#: A gap is small if it is at most this part of the objective, or that part of what a model of zeros would cost.
_OF_OBJECTIVE, _OF_NOTHING = 1e-6, 1e-11
#: Tolerances above this are loose; a gap that is more than that part of the objective proves nothing all the same.
_LOOSE, _PROVES_LITTLE = 1e-6, 0.01
#: Newton steps after which another way is faster, where there is one.
_PATIENCE = 30
#: How often a solver whose own tolerance leaves a gap goes on with a tighter one.
_TIGHTER = 3


def refined(
    problem: Problem, solver: Newton | Gradient, start: Iterate | None = None, rng: np.random.Generator | None = None
) -> tuple[Solution, Certificate]:
    """A solution and its certificate; the status says what the certificate does.

    Ctrl-C raises; inside ``keep_best()`` the best solution by then is returned.
    """
    deadline = time.monotonic() + solver.time_limit
    limited: Newton | Gradient = solver
    if isinstance(solver, Newton) and InteriorPoint().refusal(problem) is None:
        limited = replace(solver, max_iter=min(solver.max_iter, _PATIENCE))
    with np.errstate(all="ignore"):  # what is not finite is not certified
        first = limited.solve(problem, start, rng)
        if first.nothing and time.monotonic() > deadline:
            return first, certify_nothing(problem)
        # Scores that come from passes over all items are as exact as another pass would find them.
        known = first.scores if problem.gram.by_passes else None
        best = first, certify(problem, first, known, close=max(CLOSE, solver.tol))
    loose = first.status is Status.CONVERGED and solver.tol > _LOOSE

    def enough(certificate: Certificate) -> bool:
        return small(problem, certificate) or (loose and certificate.gap <= _PROVES_LITTLE * certificate.objective)

    if first.status is Status.INTERRUPTED or (loose and enough(best[1])):
        return best
    try:
        with all_or_nothing(), np.errstate(all="ignore"), until(deadline):
            for better in _improved(problem, solver, limited, *best, enough, deadline):
                best = better
        status = Status.CONVERGED if enough(best[1]) else Status.NOT_CONVERGED
    except KeyboardInterrupt:
        if not keeps_best():
            raise
        status = Status.INTERRUPTED
    return replace(best[0], status=status), best[1]


def _improved(
    problem: Problem,
    solver: Newton | Gradient,
    limited: Newton | Gradient,
    solution: Solution,
    certificate: Certificate,
    enough: Callable[[Certificate], bool],
    deadline: float,
) -> Iterator[tuple[Solution, Certificate]]:
    """Solutions with smaller and smaller gaps; ``limited`` is the solver with the patience that was had with it.

    Of two models the one with the smaller objective is kept; what another one says about the least possible objective
    is true of it as well.
    """
    exactly = problem.on(problem.gram.exact())
    for _ in range(_TIGHTER):
        if enough(certificate) or not isinstance(limited, Newton):
            break
        if solution.status is not Status.CONVERGED and exactly.gram is problem.gram:
            break  # products that are more exact are all that would help
        limited = replace(limited, tol=1e-3 * limited.tol, time_limit=deadline - time.monotonic())
        again = limited.solve(exactly, solution)
        checked = certify(problem, again)
        again = replace(again, n_iter=solution.n_iter + again.n_iter)
        before = certificate.gap
        solution, certificate = _better((solution, certificate), (again, checked))
        if not certificate.gap < before:
            break
        yield solution, certificate
    interior = InteriorPoint(deadline - time.monotonic())
    if enough(certificate) or solution.n_iter >= solver.max_iter or interior.time_limit <= 0:
        return
    if interior.refusal(problem) is None:
        for other in interior.candidates(problem, solution):
            before, other = certificate.gap, replace(other, n_iter=solution.n_iter + other.n_iter)
            solution, certificate = _better((solution, certificate), (other, certify(problem, other)))
            if certificate.gap < before:
                yield solution, certificate


def _better(one: tuple[Solution, Certificate], other: tuple[Solution, Certificate]) -> tuple[Solution, Certificate]:
    """The model with the smaller objective, and its distance from the larger of both lower bounds."""
    (solution, found), (_, bound) = (other, one) if other[1].objective < one[1].objective else (one, other)
    gap = found.objective - max(found.objective - found.gap, bound.objective - bound.gap)
    return solution, found._replace(gap=max(gap, 0.0))


def small(problem: Problem, certificate: Certificate) -> bool:
    """Whether a duality gap is nothing to worry about."""
    nothing = problem.objective(0.0, np.zeros(problem.y.shape))
    return certificate.gap <= _OF_OBJECTIVE * certificate.objective + _OF_NOTHING * nothing


@dataclass(frozen=True)
class Certified:
    """A solution with its certificate. The status of the solvers named below says what the certificate does."""

    solution: Solution
    certificate: Certificate


def solve_certified(
    problem: Problem,
    solver: Solver[Any],
    start: Iterate | None = None,
    rng: np.random.Generator | None = None,
    *,
    working: Gram | None = None,
    by_weights: bool = False,
) -> Certified:
    """Solve a problem and certify the solution in float64.

    Parameters
    ----------
    problem : Problem
        Its Gram is the truth: every digit of the certificate comes from it.
    solver : Solver
        What ``SoftMargin``, ``Newton`` and ``Gradient`` find is improved until the certificate is good, unless their
        tolerance is loose. What others find stays as it is: read its gap.
    start : Iterate, optional
    rng : numpy.random.Generator, optional
    working : Gram, optional
        A Gram of the same items that is faster and less exact, such as one in float32, for solvers that can use it.
    by_weights : bool, default=False
        Whether the model is going to be known by its weights, which may then be more exact than its coefficients.

    Returns
    -------
    Certified

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge, Logistic
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import Newton, SoftMargin, solve_certified
    >>> gram = Features(np.array([[2.0], [-1.0], [1.0], [4.0]]))
    >>> problem = Problem(gram, np.array([-1.0, 1.0, -1.0, -1.0]), Hinge(), lam=2.5, intercept="free")
    >>> found = solve_certified(problem, SoftMargin())
    >>> round(found.certificate.objective, 6), round(found.solution.b, 6)
    (0.45, -0.7)
    >>> problem = Problem(Features(np.array([[-10.0], [10.0]])), np.array([-1.0, 1.0]), Logistic(), 1e-4)
    >>> found = solve_certified(problem, Newton())
    >>> str(found.solution.status), found.certificate.gap < 1e-12
    ('converged', True)
    """
    solver.accept(problem)
    if isinstance(solver, SoftMargin) and passes_pay(problem):
        return Certified(*linear_margin(problem, solver, start, rng, working, by_weights))
    if isinstance(solver, SoftMargin):
        return Certified(*DualRefinement(problem, solver, rng, working, by_weights).run(start))
    if isinstance(solver, (Newton, Gradient)):
        return Certified(*refined(problem, solver, start, rng))
    solution = solver.solve(problem, start, rng)
    return Certified(solution, certify(problem, solution))


def certified_if_solved(problem: Problem, solution: Solution, seconds: float = np.inf) -> Certified | None:
    """A solution that came without a proof, with one; ``None`` where its gap is not small and there is time left."""
    certificate = certify(problem, solution, solution.scores)
    if small(problem, certificate):
        return Certified(replace(solution, status=Status.CONVERGED), certificate)
    return None if seconds > 0 else Certified(solution, certificate)
