"""The best of all maps that never fall: a staircase, fitted by isotonic regression.

Its first step is often exactly 0 and its last exactly 1: no row of the class below some score. As many rows as there
are do not prove that there is none, and one row there would make a log loss infinite. After n rows of which none is of
the class, the rule of succession says 1/(n + 2); no probability goes beyond that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.isotonic import IsotonicRegression

from .._runtime.compile import Array
from .base import CalibrationMap, effective_count

__all__ = ["IsotonicMap"]


@dataclass(frozen=True)
class IsotonicMap(CalibrationMap):
    """Probabilities at some scores, straight lines between them, and level beyond.

    Examples
    --------
    >>> import numpy as np
    >>> scores, positive = np.array([-2.0, -1, 1, 2]), np.array([False, True, False, True])
    >>> IsotonicMap.of(scores, positive, np.ones(4)).probabilities(np.array([-3.0, 0, 2])).round(2)
    array([0.17, 0.5 , 0.83])
    """

    scores: Array
    values: Array

    @classmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> IsotonicMap:
        bound = 1 / (effective_count(weight) + 2)
        fitted = IsotonicRegression(y_min=bound, y_max=1 - bound)
        fitted.fit(scores, positive.astype(np.float64), weight)
        return cls(fitted.X_thresholds_, fitted.y_thresholds_)

    def probabilities(self, scores: Array) -> Array:
        return np.interp(scores, self.scores, self.values)
