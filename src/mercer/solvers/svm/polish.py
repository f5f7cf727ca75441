"""The last digits of a soft margin, by linear algebra in float64.

An iterative solver stops when no condition is violated by more than its tolerance. From there a leap on the free items
(:mod:`.leap`) gives the solution to machine precision, as long as no coefficient leaves its bounds. A second one takes
care of what rounding has left.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...grams.base import Gram
from ...problems.certificate import balanced
from ...problems.problem import Problem, Solution
from .leap import leap

#: More free items than this are left as they are: the cost grows with their cube, and a tolerance is a tolerance.
_LARGEST = 300
#: Added to the diagonal, relative to it: equal items make K singular.
_HAIR = 1e-14


def polish(problem: Problem, exact: Gram, solution: Solution) -> Solution:
    """The solution with its free coefficients solved for, or as it was where that is not possible.

    The scores of the solution must be exact, and those of the result are.
    """
    low, high = problem.bounds()
    free = np.flatnonzero((solution.z > low) & (solution.z < high))
    if not 2 <= free.size <= _LARGEST:
        return solution
    K = np.asarray(exact.take(free).rows(np.arange(free.size)), dtype=np.float64)
    F, own = (problem.targets() - np.asarray(solution.scores))[free], solution.z[free].copy()
    if not leap(K, F, own, low[free], high[free], _HAIR):
        return solution
    leap(K, F, own, low[free], high[free], _HAIR)
    z = solution.z.copy()
    z[free] = own
    z = balanced(z, low, high)
    moved = np.flatnonzero(z != solution.z)
    scores = np.asarray(solution.scores) + exact.scores(np.arange(z.size), moved, (z - solution.z)[moved])
    return replace(solution, z=z, scores=scores, w=None)
