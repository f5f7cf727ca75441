"""From the score of a two-class machine to a probability: what every map is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from .._runtime.compile import Array

__all__ = ["CalibrationMap"]


class CalibrationMap(ABC):
    """A function from scores to probabilities, learned from scores of rows that the machine had not seen."""

    #: Whether the map has an interval for each probability.
    has_intervals: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> CalibrationMap:
        """Learn from scores, from whether each belongs to the class that they speak for, and from weights."""

    @abstractmethod
    def probabilities(self, scores: Array) -> Array:
        """How probable the class is that the scores speak for; never exactly 0 or 1."""

    def intervals(self, scores: Array) -> Array:
        """The lowest and highest probability of each score, in two columns."""
        raise NotImplementedError


def effective_count(weight: Array) -> float:
    """As how many rows of equal weight the weighted ones count: (Σw)²/Σw², whatever the weights are measured in.

    Examples
    --------
    >>> import numpy as np
    >>> effective_count(np.array([0.1, 0.1, 0.1, 0.0]))
    3.0
    """
    return float(round(weight.sum() ** 2 / (weight @ weight), 12))
