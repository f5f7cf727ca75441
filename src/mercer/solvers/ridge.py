"""The squared loss for many λ from one eigendecomposition.

With the loss ½·(y − f)² and a free intercept the minimum solves a linear system,

    (K + λn·I)·z + b = y,      Σz = 0.

With K = Q·diag(e)·Qᵀ, found once, the inverse for another λ is Q·diag(1/(e + λn))·Qᵀ: two products instead of a new
solution.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .._runtime.compile import Array
from ..problems import Iterate

#: Items beyond which the eigendecomposition costs more than conjugate gradients for all λ.
LARGEST_RIDGE = 2000


class RidgePath:
    """Solutions of the squared loss along λ.

    Parameters
    ----------
    K : array of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> path = RidgePath(np.eye(2))
    >>> path.solve(np.array([1.0, -1.0]), lam=0.5, intercept=True).z
    array([ 0.5, -0.5])
    """

    def __init__(self, K: Array) -> None:
        self.values, self.vectors = linalg.eigh(np.asarray(K, dtype=np.float64), check_finite=False)

    def solve(self, y: Array, lam: float, intercept: bool) -> Iterate:
        """The coefficients and the intercept for one λ."""
        n = y.size
        weight = 1 / (np.maximum(self.values, 0.0) + lam * n)
        right = np.stack([y, np.ones(n)], axis=1)
        of_y, of_one = (self.vectors @ (weight[:, None] * (self.vectors.T @ right))).T
        b = float(of_y.sum() / of_one.sum()) if intercept else 0.0
        return Iterate(of_y - b * of_one, b, 1)
