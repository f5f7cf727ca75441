"""Pictures of machines for notebooks and scripts, in scikit-learn's Display style: compute, store, then draw.

``from_estimator`` and its siblings compute, and keep what they found as attributes; ``plot(ax=None)`` draws it with
matplotlib and sets ``ax_`` and ``figure_``. A display can as well be made from the stored numbers alone, which is how
:mod:`mercer.report` draws its page.

Examples
--------
>>> from sklearn.datasets import make_moons
>>> from mercer import SVC
>>> from mercer.displays import MarginHistogram
>>> X, y = make_moons(100, noise=0.2, random_state=0)
>>> display = MarginHistogram.from_estimator(SVC("gaussian(gamma=1)").fit(X, y), X, y)
>>> int(display.train_counts.sum())
100
"""

from .item_map import ItemMap
from .matrices import DecisionBoundary, KernelHeatmap, WeightTable
from .scores import LearningCurve, MarginHistogram, SearchCurve, SearchHeatmap

__all__ = [
    "DecisionBoundary",
    "ItemMap",
    "KernelHeatmap",
    "LearningCurve",
    "MarginHistogram",
    "SearchCurve",
    "SearchHeatmap",
    "WeightTable",
]
