"""Kernels whose columns can be given weights by gradients: what there is to know of each family."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._runtime.exp import exp_scaled
from .._runtime.parallel import for_each
from ..kernels import MANHATTAN, SQUARED_DISTANCE, Gaussian, Kernel, Laplacian
from ..kernels.engine.statistics import Statistic
from .gradients import gaussian_gradients, laplacian_gradients

__all__ = ["FAMILIES", "Family", "family_of"]

#: Rows of a piece of a matrix; and rows by which a median is known.
_ROWS, _SAMPLE = 256, 1000


@dataclass(frozen=True)
class Family:
    """Kernels exp(−γ·distance) of one distance.

    Parameters
    ----------
    name : str
        That of the kernel in texts.
    kernel : class
    statistic : Statistic
        The distance.
    power : int
        The power of a length that the distance is: γ = 1/(power·length^power).
    gradients : callable
    """

    name: str
    kernel: Any
    statistic: Statistic
    power: int
    gradients: Callable[..., Array]

    def distances(self, rows: Array, others: Array | None = None) -> Array:
        """The distances of all pairs of rows; of rows and others, where these are given."""
        others = rows if others is None else others
        left, right = self.statistic.prepare(rows, others)
        out = np.empty((len(rows), len(others)))
        every = slice(0, len(others))

        def fill(begin: int) -> None:
            piece = slice(begin, min(begin + _ROWS, len(rows)))
            out[piece] = self.statistic.tile(left, right, piece, every)

        for_each(fill, range(0, len(rows), _ROWS))
        return out

    def values(self, distances: Array, gamma: float) -> Array:
        """The kernel of distances, in a new array."""
        out = distances.copy()

        def fill(begin: int) -> None:
            exp_scaled(out[begin : begin + _ROWS], -gamma)

        for_each(fill, range(0, len(out), _ROWS))
        return out

    def median(self, distances: Array) -> float:
        """The median distance of rows that differ; 1 where none do."""
        step = max(1, len(distances) // _SAMPLE)
        some = distances[::step, ::step]
        apart = some[some > 0]
        return float(np.median(apart)) if apart.size else 1.0

    def rate(self, scale: float, median: float) -> float:
        """γ for a length that is so many times that of the median distance."""
        return 1.0 / (self.power * scale**self.power * median)

    def kernel_of(self, gamma: float, weights: Array | None) -> Kernel:
        """The kernel as a whole."""
        plain: Kernel = self.kernel(gamma=gamma)
        return plain if weights is None else plain.scaled(weights.tolist())


FAMILIES = {
    "laplacian": Family("laplacian", Laplacian, MANHATTAN, 1, laplacian_gradients),
    "gaussian": Family("gaussian", Gaussian, SQUARED_DISTANCE, 2, gaussian_gradients),
}


def family_of(kernel: Kernel) -> Family | None:
    """The family of a kernel, if it is of one."""
    return next((family for family in FAMILIES.values() if type(kernel) is family.kernel), None)
