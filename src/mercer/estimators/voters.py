"""The vote of all models that a Perceptron went through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..kernels.engine.pairing import length
from ..solvers.mistake_driven import Path
from .model import KernelModel
from .training import Training

__all__ = ["Voter", "voter_along"]


@dataclass(frozen=True)
class Voter:
    """All models of a run, voting each for as many steps as it survived.

    Update k adds ``coefficient[k]`` times the support item ``column[k]`` to the model; the intercept is then
    ``bias[k]``, and the model survives ``survival[k]`` steps.
    """

    model: KernelModel
    column: Array
    coefficient: Array
    bias: Array
    survival: Array

    def scores(self, X: Any, memory: int | str) -> Array:
        out = np.zeros(length(X))
        if self.survival.sum() == 0:
            return out
        for rows in self.model.blocks(X, memory, self.model.support.size + 2 * self.column.size):
            similar = self.model.similarities(X, rows)[:, self.column]
            f = np.cumsum(similar * self.coefficient, axis=1) + self.bias
            out[rows] = np.where(f >= 0, 1.0, -1.0) @ self.survival / self.survival.sum()
        return out


def voter_along(data: Training, intercept: Array, path: Path, fit_intercept: bool) -> Voter:
    """The vote of the models along a path of updates."""
    used, column = np.unique(path.item, return_inverse=True)
    items = None if data.kernel.precomputed else data.items[used]
    support = KernelModel(data.kernel, used, items, np.zeros((1, used.size)), intercept)
    bias = np.cumsum(path.coefficient) if fit_intercept else np.zeros(len(path.coefficient))
    survival = np.diff(np.append(path.step, path.steps)).astype(np.float64)
    return Voter(support, column, path.coefficient, bias, survival)
