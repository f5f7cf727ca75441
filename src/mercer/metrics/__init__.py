"""Weights of columns that are learned, and what is chosen by exact leave-one-out.

Examples
--------
>>> import numpy as np
>>> from mercer.metrics import learned_metric
>>> X = np.random.default_rng(0).normal(size=(150, 4))
>>> found = learned_metric(X, np.abs(X[:, [2]]))
>>> int(np.argmax(found.best.weights))
2
"""

from .column_weights import LearnedMetric, Tried, learned_metric, tried_table
from .leave_one_out import LeftOut, exactly_left_out, left_out

__all__ = ["LearnedMetric", "LeftOut", "Tried", "exactly_left_out", "learned_metric", "left_out", "tried_table"]
