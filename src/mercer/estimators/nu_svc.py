"""The support vector classifier whose margin holds all but a given share of the rows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import number
from .binary_machine import BinaryMachine
from .margin_classifier import MarginClassifier
from .nu_machine import NuMachine
from .remedies import rescale
from .training import Training


class NuSVC(MarginClassifier):
    """The soft-margin support vector machine whose margin is as wide as it takes: at most a share ``nu`` pays.

    It minimises ½‖w‖² − nu·ρ + mean max(0, ρ − y·f(x)) over the model and the margin ρ, through its dual. Scores are
    in units of the margin, so that the machine is that of an :class:`SVC` with some C, which need not be chosen.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear machine with ``coef_``.
    nu : float, default=0.5
        More than 0 and at most 1: an upper bound on the share of rows within the margin or beyond, and a lower bound on
        the share of support rows, in each machine. A class that is rare allows no more than twice its share.
    strategy, tol, max_iter, time_limit, class_weight, memory, random_state
        As in :class:`SVC`.

    Attributes
    ----------
    classes_, support_, support_vectors_, n_support_, dual_coef_, coef_ (linear), intercept_
    n_iter_, status_, converged_
        As in :class:`SVC`.
    objective_ : array
        λ/2·‖w‖² + mean max(0, 1 − y·f(x)) − nu of each machine, with the λ for which the margin is one.
    duality_gap_, kkt_violation_ : array
        As in :class:`SVC`, in units of the margin.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import NuSVC
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "different")
    >>> model = NuSVC(nu=0.2).fit(X, y)
    >>> bool(len(model.support_) >= 20), model.score(X, y)
    (True, 0.98)
    """

    path = "nu"
    path_falls = True
    largest_similarity = 1e30  # as blocks of the matrix are in single precision
    _softer = "raise nu"

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        nu: float = 0.5,
        strategy: str = "ovo",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        class_weight: Any = None,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.strategy = strategy
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.memory = memory
        self.random_state = random_state

    def _check_hardness(self) -> None:
        number(self, "nu", 0, 1)

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """As every classifier does; a nu that some machine cannot have is refused."""
        codes, weight = super().encoded(y, sample_weight, items)
        self._refuse_infeasible(codes, weight)
        return codes, weight

    def _machines(self, data: Training) -> list[BinaryMachine]:
        self._refuse_infeasible(data.targets, data.weight)
        return super()._machines(data)

    def _refuse_infeasible(self, codes: Array, weight: Array | None) -> None:
        """Coefficients of both classes of a machine sum to the same, and no class has more of them than weight."""
        classes, weights = self.classes_.tolist(), np.bincount(codes, weight, self.classes_.size)
        if weights.size == 2 or self.strategy == "ovo":
            sides = [(i, j, weights[i], weights[j]) for i, j in combinations(range(weights.size), 2)]
        else:
            sides = [(i, -1, weights[i], weights.sum() - weights[i]) for i in range(weights.size)]
        first, second, one, other = min(sides, key=lambda side: min(side[2:]) / (side[2] + side[3]))
        largest = 2 * min(one, other) / (one + other)
        if self.nu > largest * (1 + 1e-12):
            against = "the rest" if second < 0 else repr(classes[second])
            raise ValueError(
                f"NuSVC: nu={self.nu:g} is infeasible: {classes[first]!r} ({one:g}) against {against} ({other:g}) "
                f"allows at most nu={_floor(largest)}; lower nu, or use SVC."
            )

    def _without_margin(self, machines: list[BinaryMachine]) -> str:
        return (
            f"NuSVC: no margin was found that leaves at most a share nu={self.nu:g} of the rows on its wrong side; if "
            f"there is one, it is too narrow for the precision of numbers, and scores mean little. Raise nu, "
            f"{rescale(self.kernel_)}, or choose a kernel that tells more."
        )

    def _machine(self, data: Training, rows: Array, y: Array) -> BinaryMachine:
        return NuMachine(float(self.nu), data, rows, y)


def _floor(value: float) -> float:
    """The largest number of four digits that is not above it."""
    digits = 4 - int(np.ceil(np.log10(value)))
    return float(np.floor(value * 10.0**digits) / 10.0**digits)
