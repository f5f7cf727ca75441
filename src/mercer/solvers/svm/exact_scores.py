"""The scores of all items in float64, computed anew where that can matter."""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import Array
from ...problems import Iterate, Problem

#: Items that a solver in float32 puts this far on the right side of their margin, or farther, need no look …
_CLEAR = 0.05
#: … as long as no score that was looked at is wrong by more than this part of it. So many of the others are tried.
_TRUSTED, _SAMPLE = 0.02, 256
#: With so few items all scores are computed anew.
_FEW_ITEMS = 2000


def exact_scores(problem: Problem, found: Iterate) -> Array:
    """Scores from the exact Gram of a problem, for a solution whose own scores are as exact as float32 is.

    An item with zᵢ = 0 and a score clearly beyond its target adds nothing to the primal or the dual and violates
    nothing, whatever the last digits of its score. The scores of all others are computed anew, and so are those of the
    clear ones where rounding turns out to be more than a small part of "clearly".
    """
    if found.w is not None:
        return problem.gram.scores_and_square(found.z, found.w)[0]
    z, dual = found.z, problem.box_dual
    assert dual is not None
    used = np.flatnonzero(z)
    weights = z[used]
    scores = np.array(found.scores, dtype=np.float64)

    def look(items: Array) -> float:
        """Put exact scores in; the largest error that there was."""
        if not items.size:
            return 0.0
        anew = problem.gram.scores(items, used, weights) if used.size else np.zeros(items.size)
        error = float(np.abs(scores[items] - anew).max())
        scores[items] = anew
        return error

    left = np.arange(z.size)
    if z.size > _FEW_ITEMS:
        levels = problem.levels(found.b, found.width)
        distance = dual.targets - dual.spread(scores) - levels[dual.groups]
        clear = np.where(dual.high > 0, distance < -_CLEAR, True) & np.where(dual.low < 0, distance > _CLEAR, True)
        clear = (z == 0) & (dual.merged((~clear).astype(np.float64)) == 0)
        error = look(np.flatnonzero(~clear))
        left = np.flatnonzero(clear)
        sample = left[np.random.default_rng(0).permutation(left.size)[:_SAMPLE]]
        error = max(error, look(np.sort(sample)))
        left = np.setdiff1d(left, sample, assume_unique=True) if not error <= _TRUSTED * _CLEAR else left[:0]
    look(left)
    return scores
