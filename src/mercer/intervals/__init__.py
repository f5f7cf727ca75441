"""Predictions with error bars: exact leave-one-out predictions, and intervals of the coverage that is asked for.

Examples
--------
>>> import numpy as np
>>> from mercer import Conformal, KernelRegressor
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(0, 6, (400, 1))
>>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=400)
>>> model = Conformal(KernelRegressor("gaussian(gamma=1)"), coverage=0.9).fit(X[:300], y[:300])
>>> low, high = model.predict_interval(X[300:]).T
>>> round(float(np.mean((low <= y[300:]) & (y[300:] <= high))), 1)
0.9
"""

from .conformal import Conformal
from .left_out import leave_one_out

__all__ = ["Conformal", "leave_one_out"]
