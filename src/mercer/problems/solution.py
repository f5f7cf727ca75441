"""What a solver gives back: a model, and how it ended."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np

from .._runtime.compile import Array

__all__ = ["Iterate", "Solution", "Status"]


class Status(Enum):
    """How a solver ended."""

    CONVERGED = "converged"
    NOT_CONVERGED = "not converged"
    NOT_SEPARABLE = "not separable"
    #: No hard margin was found, and no proof that there is none.
    NOT_FOUND = "not found"
    INTERRUPTED = "interrupted"

    @classmethod
    def worst(cls, statuses: Iterable[Status]) -> Status:
        """Of several, the one that comes last above; "converged" of none."""
        order = list(cls)
        return max(statuses, key=order.index, default=cls.CONVERGED)

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Iterate:
    """A model w = Σ z·φ(x) with intercept b after some steps of a solver: an end, a stage on the way, or a start.

    Several models at once are columns.
    """

    z: Array
    b: Any = 0.0
    n_iter: int = 0
    #: w itself, where it is known as a vector of weights; it then counts, and z only as far as it agrees.
    w: Array | None = None
    #: The score Σ z·k(xⱼ, xᵢ) of every item, intercept left out, where it is known.
    scores: Array | None = None
    #: The margin, or the half width of the tube, where it is found along with the model.
    width: float = field(default=0.0, kw_only=True)

    @property
    def nothing(self) -> bool:
        """Whether all of the model is zero."""
        return not (np.any(self.z) or np.any(self.b) or (self.w is not None and np.any(self.w)))

    def columns(self) -> list[Iterate]:
        """The models one by one."""
        if self.z.ndim == 1:
            return [self]
        several = range(self.z.shape[1])
        return [
            Iterate(self.z[:, c], self.b[c], self.n_iter, None if self.w is None else self.w[:, c]) for c in several
        ]

    def scaled(self, factor: float) -> Iterate:
        """The model with all coefficients ``factor`` times as large."""
        w, scores = (None if part is None else factor * part for part in (self.w, self.scores))
        return replace(self, z=factor * self.z, w=w, scores=scores, width=factor * self.width)


@dataclass(frozen=True)
class Solution(Iterate):
    """The last iterate of a solver, and how it ended. Solvers that have more to tell derive a class of their own."""

    status: Status = Status.NOT_CONVERGED
    #: One number a step: the objective, or the mistakes made.
    trace: Array = field(default_factory=lambda: np.empty(0))
