"""Probabilities that mean what they say, decisions by what mistakes cost, and thresholds by what is scored.

Examples
--------
>>> from sklearn.datasets import make_moons
>>> from mercer import SVC, Calibrated
>>> X, y = make_moons(200, noise=0.3, random_state=0)
>>> Calibrated(SVC("gaussian(gamma=1)")).fit(X, y).predict_proba([[0.5, 0.25]]).shape
(1, 2)
"""

from .calibrated import Calibrated, IsotonicMap, SigmoidMap, VennAbersMap, coupled
from .tuned_threshold import TunedThreshold

__all__ = ["Calibrated", "IsotonicMap", "SigmoidMap", "TunedThreshold", "VennAbersMap", "coupled"]
