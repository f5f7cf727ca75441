"""Solutions that carry their proof: what a solver found, improved until its certificate says that it is one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..grams.base import Gram
from ..problems import Certificate, Iterate, Problem, Solution, Status, certify
from .base import Solver
from .gradient import Gradient
from .newton import Newton
from .primal_refinement import refined, small
from .svm.dual_refinement import DualRefinement
from .svm.linear_margin import linear_margin, passes_pay
from .svm.soft_margin import SoftMargin

__all__ = ["Certified", "certified_if_solved", "solve_certified"]


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
