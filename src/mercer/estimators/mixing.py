"""Machines whose kernel is a mixture that is still to learn: first the weights, then the usual way with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..grams import Placement
from ..kernels import Mixture
from ..mixtures import Components, LearnedWeights, Part, learn_weights
from ..problems import Certificate, Iterate, Status
from .training import Training

__all__ = ["Mixed", "components_of", "mixed"]

#: A joint gap of at most this part of the objective is that of a solution.
_SMALL_GAP = 1e-4
#: The part of the time that may go into the weights.
_SHARE = 0.7


@dataclass(frozen=True)
class Mixed:
    """What a machine learns from once the weights are known: a kernel, its Gram, and models to begin with."""

    data: Training
    learned: LearnedWeights

    @property
    def solver(self) -> Any:
        """The solver for the rest, with the tolerance that the weights have needed."""
        return self.learned.solver

    @property
    def starts(self) -> list[Iterate]:
        return [Iterate(each.z, each.b) for each in self.learned.starts]

    def certificate(self, found: Sequence[Iterate], certificates: Sequence[Certificate]) -> Certificate:
        """Of weights and models together."""
        return self.learned.certificate(found, certificates)

    def status(self, certificate: Certificate) -> Status:
        """Whether the weights are the best ones."""
        if self.learned.status is Status.INTERRUPTED:
            return Status.INTERRUPTED
        small = certificate.gap <= _SMALL_GAP * abs(certificate.objective)
        return Status.CONVERGED if small else Status.NOT_CONVERGED


def components_of(data: Training, placement: Placement) -> Components:
    """The kernels of the mixture on the training items."""
    assert isinstance(data.kernel, Mixture)
    return Components(data.kernel, data.items, placement)


def mixed(
    data: Training, parts: Sequence[Part], components: Components, solver: Any, seconds: float = np.inf, seed: int = 0
) -> Mixed:
    """Learn the weights of a mixture for the problems of a machine."""
    assert isinstance(data.kernel, Mixture)
    learned = learn_weights(parts, components, solver, seed, _SHARE * seconds)
    kernel = data.kernel.weighted(learned.weights)
    return Mixed(replace(data, kernel=kernel, gram=learned.gram), learned)
