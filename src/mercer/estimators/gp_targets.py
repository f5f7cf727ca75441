"""The targets of a Gaussian process, and how likely they are for some numbers of its kernel and its noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..grams import Lazy
from ..grams.landmarks import pivoted
from ..kernels import Kernel, entry_slopes, own_slopes
from ..kernels.engine.tiles import length
from ..rows import Rows
from ..runtime.compile import Array
from ..solvers.evidence import Evidence, evidence
from ..solvers.landmark_evidence import LandmarkEvidence, landmark_evidence
from .gaussian_process import Learned, learned, starts_of
from .training import Training

if TYPE_CHECKING:
    from .gp_regressor import GPRegressor

__all__ = ["Process"]

#: The noise that the descent begins with, as a part of the targets' variance.
_NOISE = 0.1
#: The least noise while a kernel is learned, as a part of the targets' variance: with less, what rounding leaves of a
#: likelihood hides where it is largest.
_LEAST = 1e-8
#: The largest spread of targets whose variance is a number, and the smallest.
_LARGEST, _SMALLEST = 1e150, 1e-150


class Process:
    """The training rows of a Gaussian process, and how likely their targets are for some θ."""

    #: The numbers of the rows that stand for all.
    landmarks: Array | None = None

    def __init__(self, machine: GPRegressor, data: Training) -> None:
        n = length(data.items)
        if isinstance(data.items, Rows):
            raise ValueError(
                "GPRegressor compares rows in memory, and X is read chunk by chunk; read it into an array."
            )
        weight = np.ones(n) if data.weight is None else data.weight
        given = machine.given_noise(n)
        self.machine, self.run = machine, data.run
        self.places = np.flatnonzero(weight > 0)
        self.rank = machine.rank if machine.rank is not None and machine.rank < self.places.size else None
        if self.rank is not None:
            machine.refuse_too_wide(self.places.size, self.rank, data.kernel)
        self.weight = weight[self.places]
        self.items = data.items if self.places.size == n else data.items[self.places]
        if data.kernel.precomputed:
            self.items = self.items[:, self.places]
        self.given_noise = None if given is None else given[self.places]
        targets = data.targets.reshape(n, -1)[self.places]
        self.mean = np.zeros(targets.shape[1])
        if machine.fit_intercept:
            self.mean = np.average(targets, axis=0, weights=self.weight)
        self.targets = targets - self.mean
        largest = float(np.abs(self.targets).max(initial=0.0))
        if largest > _LARGEST or 0 < largest < _SMALLEST:
            raise ValueError(
                f"GPRegressor: targets as far as {largest:.3g} from their mean have no variance that is a number; "
                "multiply them by a constant first."
            )
        self._measure(self.weight)
        self.given = data.kernel
        self.parameters = machine.free_numbers(
            machine.starting_kernel(data.kernel, self.items, self.weight, self.variance)
        )

    def _measure(self, weight: Array) -> None:
        """How much targets vary, and the least noise that follows."""
        self.variance = float(np.average(np.square(self.targets).mean(axis=1), weights=weight)) or 1.0
        self.least = 0.0 if self.machine.tune is None and self.rank is None else _LEAST * self.variance

    @classmethod
    def of_fitted(cls, machine: GPRegressor, known: Evidence) -> Process:
        """The process that a machine was fitted to, beginning where it has ended."""
        self = cls.__new__(cls)
        model = machine._model
        self.rank = None
        self.machine, self.items, self.targets = machine, model.items, known.targets
        noise = np.asarray(machine.noise_, dtype=np.float64)
        noise = np.broadcast_to(noise, (len(known.targets),))
        self.given_noise = None if isinstance(machine.noise, str) else noise
        self.weight = np.broadcast_to(machine.__dict__.get("row_weights_", 1.0), noise.shape)
        self.given_noise = None if self.given_noise is None else noise * self.weight
        self._measure(self.weight)
        self.parameters = machine.free_numbers(model.kernel)
        return self

    @property
    def names(self) -> list[str]:
        """What θ is made of."""
        return self.parameters.names + (["noise"] if self.given_noise is None else [])

    def at(self, theta: Array) -> tuple[Kernel, Array]:
        """The kernel and the noise of each row."""
        count = theta.size - (self.given_noise is None)
        return self.parameters.kernel(theta[:count]), self.noise(theta) / self.weight

    def noise(self, theta: Array) -> Array:
        """That of each row, were its weight one."""
        if self.given_noise is None:
            return np.full(len(self.targets), self.least + np.exp(theta[-1]))
        return np.maximum(self.given_noise, self.least)

    def evidence(self, kernel: Kernel, noise: Array, rows: Array | None) -> Evidence:
        """The process of a kernel and some noise, on all rows or on some."""
        items, targets = self.items, self.targets
        if rows is not None:
            items, targets, noise = self._some(rows), targets[rows], noise[rows]

        def matrix() -> Array:
            return np.array(kernel.matrix(items, items), dtype=np.float64, order="C")

        return evidence(matrix, targets, noise)

    def _some(self, rows: Array) -> Any:
        return self.items[np.ix_(rows, rows)] if self.parameters.given.precomputed else self.items[rows]

    def likelihood(self, theta: Array, rows: Array | None, what: str) -> tuple[float, Array]:
        """The log likelihood or the density of left-out rows, and its slopes by θ."""
        kernel, noise = self.at(theta)
        kernel.check()
        if self.rank is not None and rows is None:
            bounded = self.bounded(kernel, noise)
            return bounded.bound + self.of_repeats(theta), self._by_theta(
                theta, self._bound_slopes(kernel, bounded), bounded.noise, None, bounded.floor, what
            )
        solved = self.evidence(kernel, noise, rows)
        if what == "likelihood":
            value, slopes = solved.log_likelihood + self.of_repeats(theta, rows), solved.slopes()
        else:
            value, slopes = solved.left_out_density, solved.left_out_slopes()
        items = self.items if rows is None else self._some(rows)
        found = entry_slopes(kernel, items, items, slopes.entries, symmetric=True) if self.parameters.names else {}
        return value, self._by_theta(theta, found, slopes.noise, rows, solved.floor, what)

    def bounded(self, kernel: Kernel, noise: Array) -> LandmarkEvidence:
        """The bound by landmarks, which are chosen when they are first asked for."""
        if self.landmarks is None:
            gram = Lazy(kernel, self.items, self.machine.memory)
            self.landmarks = np.sort(pivoted(gram, int(self.rank or 0), np.random.default_rng(0)).landmarks)
        chosen = self.items[self.landmarks]
        among, cross = (np.array(kernel.matrix(each, chosen), dtype=np.float64) for each in (chosen, self.items))
        own = np.asarray(kernel.diag(self.items), dtype=np.float64)
        return landmark_evidence(among, cross, own, self.targets, np.maximum(noise, np.finfo(np.float64).tiny))

    def _bound_slopes(self, kernel: Kernel, bounded: LandmarkEvidence) -> dict[str, Any]:
        chosen = self.items[self.landmarks]
        parts = (
            entry_slopes(kernel, self.items, chosen, lambda i, j: bounded.cross[i][:, j]),
            entry_slopes(kernel, chosen, chosen, lambda i, j: bounded.among[i][:, j], symmetric=True),
            own_slopes(kernel, self.items, bounded.own),
        )
        return {name: sum(part[name] for part in parts) for name in parts[0]}

    def _by_theta(
        self, theta: Array, found: dict[str, Any], by_noise: Array, rows: Array | None, floor: float, what: str
    ) -> Array:
        out = np.zeros(theta.size)
        count = theta.size - (self.given_noise is None)
        if count:
            out[:count] = self.parameters.slopes(theta[:count], found)
        if self.given_noise is None:
            weight, own = self.weight if rows is None else self.weight[rows], np.exp(theta[-1])
            kept = (self.least + own) / weight >= floor
            out[-1] = float(np.sum(np.where(kept, by_noise * own / weight, 0.0)))
            if what == "likelihood":
                out[-1] -= 0.5 * self.targets.shape[1] * float(np.sum(weight - 1)) * own / (self.least + own)
        return out

    def of_repeats(self, theta: Array, rows: Array | None = None) -> float:
        """What the log likelihood gets for rows that stand for several."""
        weight = self.weight if rows is None else self.weight[rows]
        if (weight == 1).all():
            return 0.0
        noise = np.maximum(self.noise(theta) if rows is None else self.noise(theta)[rows], np.finfo(np.float64).tiny)
        each = (weight - 1) * np.log(2 * np.pi * noise) + np.log(weight)
        return -0.5 * self.targets.shape[1] * float(each.sum())

    def found(self, rng: np.random.Generator) -> Learned:
        """θ that makes the most of the likelihood, or of what else was asked for."""
        machine = self.machine
        what = machine.tune or "likelihood"

        def function(theta: Array, rows: Array | None) -> tuple[float, Array]:
            value, slope = self.likelihood(theta, rows, what)
            return -value, -slope

        starts = starts_of(self.parameters, rng, int(machine.restarts))
        if self.given_noise is None:
            starts = [each + np.append(np.zeros(each.size - 1), np.log(_NOISE * self.variance)) for each in starts]
        else:
            starts = [each[:-1] for each in starts]
            starts = [
                each for place, each in enumerate(starts) if not any((each == other).all() for other in starts[:place])
            ]
        n = len(self.targets)
        return learned(function, starts, n, machine.prior, rng, self.run.seconds_left())

    def certified(self, kernel: Kernel, solved: Evidence) -> tuple[Array, float]:
        """α, corrected once by what is left of the equations, and how much of the targets then is left."""

        def left(alpha: Array) -> Array:
            return self.targets - kernel.product(self.items, self.items, alpha) - solved.noise[:, None] * alpha

        size = float(np.linalg.norm(self.targets))
        best, residual = solved.alpha, left(solved.alpha)
        corrected = best + solved.solved(residual)
        after = left(corrected)
        if np.linalg.norm(after) < np.linalg.norm(residual):
            best, residual = corrected, after
        return best, float(np.linalg.norm(residual)) / size if size > 0 else 0.0
