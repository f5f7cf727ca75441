"""Soft margins that a Perceptron is measured by: the mistake bound holds for every u, and theirs are good ones."""

from __future__ import annotations

from .._runtime.compile import Array
from ..estimators import SVC
from ..margins import Bound, mistake_bound
from .on_offer import TIME_LIMIT
from .scene import Scene

__all__ = ["least_mistake_bound", "rival"]

_COSTS = (0.01, 0.1, 1.0, 10.0, 100.0)


def rival(scene: Scene, X: Array, C: float) -> SVC:
    """A soft margin with the kernel of a scene."""
    return SVC(scene.parsed, C=C, time_limit=TIME_LIMIT).fit(X, scene.y)


def least_mistake_bound(scene: Scene, X: Array, passes: int) -> Bound:
    """The least of the bounds that soft margins of several C give."""
    return min((mistake_bound(X, scene.y, model=rival(scene, X, C), passes=passes) for C in _COSTS), key=float)
