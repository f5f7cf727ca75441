"""What Gaussian processes share: the numbers of their kernel, found by descent on how likely the targets are.

**Starts.** A kernel alone, such as "gaussian", stands for s·k(w∘x, w∘z): its variance s begins with that of the
targets, the length 1/wⱼ of a column with √d of its standard deviations, and a few others are tried. An expression is
taken as it is written, and its numbers are where the descent begins.

**Prior.** Each logarithm has a normal prior around its start, so wide that a factor of 20 is one standard deviation: it
decides where the data say nothing, such as of the length of a column that does not matter, and keeps numbers finite.

**Many rows.** What is found on some hundred rows is where the descent on a thousand begins, and so on to all of them.
Hessians grow with the number of rows: measured on a thousand of them, and multiplied, they make the last steps those of
Newton's method, of which few are needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..checks import schema
from ..checks.parameters import bytes_of, number, shown, size_in_words, truth
from ..grams import Placement
from ..kernels import Kernel, Laplacian, Mixture, OfStatistic, Parameters
from ..messages import guide
from ..problems import Status
from ..runtime.compile import Array
from ..runtime.interrupts import until
from ..solvers.descent import Descent, inverse_curvature
from .base import KernelMachine
from .training import warn

__all__ = ["GaussianProcess", "Learned", "learned", "starts_of"]

#: Matrices of all rows that a step of the descent has in memory at once.
_MATRICES = 2
#: Rows on which starts are tried, and rows on which the curvature is measured.
_FIRST, _SECOND = 300, 1200
#: What may still be gained on the first of many rows, on all of many, and on all of few, in nats.
_ROUGH, _FINE, _FINEST = 0.05, 1e-4, 1e-8
#: Steps of a descent on few rows, and starts that are followed on more.
_STEPS, _FOLLOWED = 60, 2
#: The lengths of other starts, and their noise, beside those of the first.
_OTHERS = ((0.3, 0.1), (3.0, 3.0), (1.0, 0.01))
#: Numbers beyond which second derivatives by differences are too dear.
_MOST_CURVED = 60


def alone(kernel: Kernel) -> bool:
    """Whether a kernel is no expression, and stands for one."""
    return not kernel.parts() and not kernel.precomputed


def widened(kernel: Kernel, rows: Any, weight: Array, variance: float, own_lengths: bool) -> Kernel:
    """What a kernel alone stands for: a variance, and a length for each column where rates allow it.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> rows = np.array([[0.0, 0.0], [2.0, 20.0]])
    >>> widened(Gaussian(), rows, np.ones(2), 4.0, own_lengths=True)
    4*scaled(gaussian(gamma=0.5), [0.7071067811865475, 0.07071067811865475])
    >>> widened(Linear(), rows, np.ones(2), 4.0, own_lengths=True).kernel
    linear
    """
    weighed = isinstance(kernel, OfStatistic) and kernel.on_rows and kernel.translation_invariant and kernel.rates
    if weighed and own_lengths:
        name = kernel.rates[0]
        manhattan = isinstance(kernel, Laplacian)
        unit = {"gamma": 1.0 if manhattan else 0.5}.get(name, 1.0)
        width = rows.shape[1]
        spreads = _spreads(rows, weight) * (width if manhattan else np.sqrt(width))
        return variance * type(kernel)(**kernel.get_params(deep=False) | {name: unit}).scaled((1 / spreads).tolist())
    size = float(np.average(np.abs(kernel.diag(rows)), weights=weight))
    return (variance / size if size > 0 else variance) * kernel


def _spreads(rows: Any, weight: Array) -> Array:
    """The standard deviation of each column; 1 where it is constant."""
    shares = weight / weight.sum()
    mean = np.asarray(shares @ rows).ravel()
    if sparse.issparse(rows):
        squares = np.asarray(shares @ rows.multiply(rows)).ravel() - np.square(mean)
    else:
        squares = shares @ np.square(rows - mean)
    size = np.abs(rows).max(axis=0)
    size = np.asarray(size.todense() if sparse.issparse(size) else size).ravel()
    return np.where(squares > 1e-24 * np.square(size), np.sqrt(np.maximum(squares, 0.0)), 1.0)


class GaussianProcess(KernelMachine, named=False):
    """Base of :class:`GPRegressor` and :class:`GPClassifier`."""

    learns_weights = True
    fields: ClassVar = {
        "log_marginal_likelihood_value_": schema.number(),
        "lengths_": schema.optional(schema.numbers("columns", low=0, infinite=True)),
        "theta_": schema.numbers("learned"),
        "theta_names_": schema.names("learned"),
    }
    tune: str | None
    own_lengths: bool
    fixed: Sequence[str]
    prior: float | None
    restarts: int
    random_state: Any

    @property
    def placement(self) -> Placement:
        """The matrix of the kernel to begin with is of no use."""
        return replace(super().placement, precision=np.float32, rank=None)

    def _check(self) -> None:
        truth(self, "own_lengths")
        number(self, "restarts", 0, whole=True, strict=False)
        for name in ("prior", "time_limit"):
            if getattr(self, name) is not None:
                number(self, name, 0)
        if isinstance(self.fixed, str) or not all(isinstance(each, str) for each in self.fixed):
            name = type(self).__name__
            raise ValueError(f"{name}: fixed must be a list of names of parameters, got {shown(self.fixed)}.")

    def starting_kernel(self, kernel: Kernel, rows: Any, weight: Array, variance: float) -> Kernel:
        """The kernel that the descent begins with."""
        if isinstance(kernel, Mixture) and kernel.learns:
            kernel = kernel.weighted(kernel.weights_)
        if self.tune is None or not alone(kernel):
            return kernel
        return widened(kernel, rows, weight, variance, self.own_lengths)

    def free_numbers(self, kernel: Kernel) -> Parameters:
        """Those of a kernel that are learned."""
        everything = [each.name for each in Parameters(kernel).parameters]
        for each in self.fixed if self.tune is not None else ():
            if not any(name == each or name.endswith(f"__{each}") for name in everything):
                raise ValueError(
                    f"{type(self).__name__}: fixed names {each!r}, and what can be learned is {', '.join(everything)}; "
                    "a kernel keeps its gamma in an expression, such as '1.0*gaussian(gamma=2)', and noise is given as "
                    "a number."
                )
        return Parameters(kernel, everything if self.tune is None else self.fixed)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _refuse_too_many(self, n: int, matrices: int = _MATRICES) -> None:
        needed, name = matrices * 8 * n * n, type(self).__name__
        if needed > bytes_of(self.memory) + _FIRST**2:
            raise ValueError(
                f"{name}: {n} rows take {size_in_words(needed)} of matrices, more than memory={self.memory!r}; raise "
                f"memory, learn from fewer rows, or use a machine without variances {guide('memory')}."
            )

    def _publish_learned(self, found: Learned, names: list[str], kernel: Kernel, given: Kernel) -> None:
        self.theta_, self.theta_names_ = found.theta, np.array(names, dtype=object)
        self.__dict__.pop("lengths_", None)
        if self.tune is not None and self.own_lengths and alone(given):
            weights = kernel.get_params().get("kernel__weights")
            if weights is not None:
                weights = np.asarray(weights, dtype=np.float64)
                self.lengths_ = np.divide(1.0, weights, out=np.full(weights.shape, np.inf), where=weights > 0)
        self.n_iter_ = found.asked + 1
        self._publish_status([found.status])
        if not self.converged_:
            why = "at its time limit" if found.status is Status.INTERRUPTED else "before the end of its descent"
            warn(
                f"{type(self).__name__} stopped {why}: the numbers of its kernel are the best so far, not the best "
                "there are; raise time_limit, or give the kernel fewer numbers.",
                ConvergenceWarning,
            )


@dataclass(frozen=True)
class Learned:
    """What was found: θ, the last value of the function, and how the descent ended."""

    theta: Array
    value: float
    #: How often the function was asked, of all rows and of fewer.
    asked: int
    asked_of_few: int
    status: Status


def learned(
    function: Callable[[Array, Array | None], tuple[float, Array]],
    starts: Sequence[Array],
    n: int,
    prior: float | None,
    rng: np.random.Generator,
    seconds: float = np.inf,
    most: int | None = None,
) -> Learned:
    """The θ at which a function of θ and some rows is least, with the prior around the first of some starts.

    Parameters
    ----------
    function : callable
        ``function(theta, rows)`` gives the value and its slopes for some rows by their numbers, or for all (``None``).
    starts : sequence of array
    n : int
        The number of rows.
    prior : float or None
        Its standard deviation.
    rng : numpy.random.Generator
        Draws rows.
    seconds : float
        After which the best so far is returned.
    most : int, optional
        Rows at most that θ is found on.

    Returns
    -------
    Learned
    """
    centre = starts[0]
    tightness = 0.0 if prior is None else 1 / prior**2

    def with_prior(rows: Array | None) -> Callable[[Array], tuple[float, Array]]:
        def ask(theta: Array) -> tuple[float, Array]:
            value, slope = function(theta, rows)
            away = theta - centre
            return value + 0.5 * tightness * float(away @ away), slope + tightness * away

        return ask

    largest = n if most is None else min(n, most)
    sizes = [size for size in (_FIRST, _SECOND) if 2 * size < largest] + [largest]
    order, tol = rng.permutation(n), _FINEST if len(sizes) == 1 else _FINE
    few = 0
    best = Descent(with_prior(np.sort(order[: sizes[0]]) if sizes[0] < n else None), centre)
    status = Status.INTERRUPTED
    if not centre.size:
        return Learned(centre, np.nan, 0, 0, Status.CONVERGED)
    with until(time.monotonic() + seconds):
        tried = [Descent(best.function, start) for start in starts]
        tried.sort(key=Descent.begin)
        tried = [each for each in tried if np.isfinite(each.value)][: _FOLLOWED + 1] or tried[:1]
        best = tried[0]
        for place, size in enumerate(sizes):
            final = place + 1 == len(sizes)
            if place:
                rows = np.sort(order[:size]) if size < n else None
                times = size / sizes[place - 1]
                before, tried = tried, [Descent(with_prior(rows), each.place) for each in tried]
                curved = final and size > _SECOND and centre.size <= _MOST_CURVED
                for old, new in zip(before, tried, strict=True):
                    if curved:
                        new.inverse_hessian = inverse_curvature(old, times, max(tightness, 1e-3))
                    elif old.inverse_hessian is not None:
                        new.inverse_hessian = old.inverse_hessian / times
                few += sum(each.asked for each in before)
                best = tried[0]
            ended = {id(each): each.run(tol if final else _ROUGH, 200 if final else _STEPS) for each in tried}
            tried.sort(key=lambda each: each.value)
            tried = tried[: _FOLLOWED if place == 0 and len(sizes) > 2 else 1]
            best = tried[0]
            if final:
                status = Status.CONVERGED if ended[id(best)] else Status.NOT_CONVERGED
    return Learned(best.place, best.value, best.asked, few, status)


def starts_of(parameters: Parameters, rng: np.random.Generator, restarts: int) -> list[Array]:
    """θ to begin with: that of the kernel, and others with other lengths; each with a factor for the noise."""
    theta, names = parameters.start, parameters.names
    starts = [np.append(theta, 0.0)]
    of_lengths = np.array([name.startswith("kernel__weights[") for name in names], dtype=bool)
    for length, noise in _OTHERS:
        if of_lengths.any():
            starts.append(np.append(theta - of_lengths * np.log(length), np.log(noise)))
        elif length == 1.0:
            starts.append(np.append(theta, np.log(noise)))
    return starts + [np.append(theta, 0.0) + rng.normal(size=theta.size + 1) for _ in range(restarts)]
