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
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels import Kernel, Laplacian, Mixture, Parameters
from ..kernels.base import OfStatistic
from ..problems import Status
from ..runtime.compile import Array
from ..runtime.interrupts import until
from ..solvers.descent import Descent, inverse_curvature

__all__ = ["Learned", "alone", "learned", "widened"]

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
    4.0*scaled(gaussian(gamma=0.5), [0.7071067811865475, 0.07071067811865475])
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


def starts_of(parameters: Parameters, given_alone: bool, rng: np.random.Generator, restarts: int) -> list[Array]:
    """θ to begin with: that of the kernel, and others with other lengths; each with a factor for the noise."""
    theta, names = parameters.start, parameters.names
    starts = [np.append(theta, 0.0)]
    of_lengths = np.array([name.partition("[")[0].rpartition("__")[2] == "weights" for name in names], dtype=bool)
    for length, noise in _OTHERS:
        if given_alone and of_lengths.any():
            starts.append(np.append(theta - of_lengths * np.log(length), np.log(noise)))
        elif length == 1.0:
            starts.append(np.append(theta, np.log(noise)))
    return starts + [np.append(theta, 0.0) + rng.normal(size=theta.size + 1) for _ in range(restarts)]


def with_weights(kernel: Kernel) -> Kernel:
    """A mixture that is to learn its weights, with the same for each to begin with."""
    return kernel.weighted(kernel.weights_) if isinstance(kernel, Mixture) and kernel.learns else kernel
