"""What Newton's method or gradient descent found, improved where its duality gap is not small."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._runtime.interrupts import kept, whole
from ..problems import Certificate, Iterate, Problem, Solution, Status, certify
from .gradient import Gradient
from .interior_dual import InteriorPoint
from .newton import Newton

#: A gap is small if it is at most this part of the objective, or that part of what a model of zeros would cost.
_OF_OBJECTIVE, _OF_NOTHING = 1e-6, 1e-11
#: Tolerances above this are loose.
_LOOSE = 1e-6
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
        # Scores that come from passes over all items are as exact as another pass would find them.
        best = first, certify(problem, first, first.scores if problem.gram.by_passes else None)
    if first.status is Status.INTERRUPTED or (first.status is Status.CONVERGED and solver.tol > _LOOSE):
        return best
    try:
        with whole(), np.errstate(all="ignore"):
            for better in _improved(problem, solver, limited, *best, deadline):
                best = better
        status = Status.CONVERGED if small(problem, best[1]) else Status.NOT_CONVERGED
    except KeyboardInterrupt:
        if not kept():
            raise
        status = Status.INTERRUPTED
    return replace(best[0], status=status), best[1]


def _improved(
    problem: Problem,
    solver: Newton | Gradient,
    limited: Newton | Gradient,
    solution: Solution,
    certificate: Certificate,
    deadline: float,
) -> Iterator[tuple[Solution, Certificate]]:
    """Solutions with smaller and smaller gaps; ``limited`` is the solver with the patience that was had with it."""
    for _ in range(_TIGHTER):
        if solution.status is not Status.CONVERGED or small(problem, certificate) or not isinstance(limited, Newton):
            break
        limited = replace(limited, tol=1e-3 * limited.tol, time_limit=deadline - time.monotonic())
        again = limited.solve(problem, solution)
        checked = certify(problem, again)
        again = replace(again, n_iter=solution.n_iter + again.n_iter)
        if not checked.gap < certificate.gap:
            break
        solution, certificate = again, checked
        yield solution, certificate
    interior = InteriorPoint(deadline - time.monotonic())
    if small(problem, certificate) or solution.n_iter >= solver.max_iter or interior.time_limit <= 0:
        return
    if interior.refusal(problem) is None:
        for other in interior.candidates(problem, solution):
            checked = certify(problem, other)
            if checked.gap < certificate.gap:
                solution, certificate = replace(other, n_iter=solution.n_iter + other.n_iter), checked
                yield solution, certificate


def small(problem: Problem, certificate: Certificate) -> bool:
    """Whether a duality gap is nothing to worry about."""
    nothing = problem.objective(0.0, np.zeros(problem.y.shape))
    return certificate.gap <= _OF_OBJECTIVE * certificate.objective + _OF_NOTHING * nothing
