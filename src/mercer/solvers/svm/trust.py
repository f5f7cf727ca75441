"""Whether a solution that was found in single precision is one, as far as a few exact scores tell."""

from __future__ import annotations

import numpy as np

from ...problems import Iterate, Problem, Status

#: Items whose scores tell, in a search, whether single precision can be trusted.
_SPOTS = 32


def trusted(problem: Problem, found: Iterate, tol: float, rng: np.random.Generator) -> bool:
    """Whether the scores of some items, computed anew by the problem's Gram, are those that a solver thinks they are.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> from mercer.solvers import SoftMargin
    >>> problem = Problem(Features(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), 0.1, intercept="free")
    >>> trusted(problem, SoftMargin().solve(problem), 1e-3, np.random.default_rng(0))
    True
    """
    if getattr(found, "status", None) is not Status.CONVERGED or not np.isfinite(found.z).all():
        return False
    used, n = np.flatnonzero(found.z), found.z.size
    spots = np.sort(rng.choice(n, min(n, _SPOTS), replace=False))
    if not used.size:
        return True
    scores = problem.gram.scores(spots, used, found.z[used])
    return bool(np.abs(scores - np.asarray(found.scores)[spots]).max() <= 10 * tol)
