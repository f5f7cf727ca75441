"""Short fits of some of the rows: what a machine costs on these data and on this computer."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .._runtime.compile import Array
from .._runtime.interrupts import heed
from .._validation.unwrapped import machine_of, parameter_prefix
from ..solvers.svm.watched_blocks import watched_blocks
from .footprint import Footprint

__all__ = ["Trial", "trials"]

#: Seconds from which on a trial is long enough to go by, and rows of the shortest one: in general, for conjugate
#: gradients (small matrices are factorised as a whole, and not in single precision), and for each landmark.
_LONG, _FEWEST, _BY_PRODUCTS, _FOR_EACH = 0.4, 250, 4096, 4
#: Twice the rows that take less than so many times as long hardly count yet: larger trials follow, unless all of them
#: have taken so many times what is long.
_HARDLY, _PATIENCE = 1.3, 12.0
#: A trial whose rows take more than so many times what rows took in the one before is made again.
_AT_MOST = 1.5
#: So many different targets, or fewer, are taken for classes.
_CLASSES = 100
#: Rows of the fit before all others, which loads what is compiled.
_WARM = 100


@dataclass(frozen=True)
class Trial:
    """A fit of so many rows and its seconds.

    Also known are the items of its largest block and the bytes of all, where it is that of an exact soft margin, and
    how many scores it gives: a machine each, where there are many classes.
    """

    n: int
    seconds: float
    largest: int = 0
    blocks: int = 0
    scores: int = 1


def trials(estimator: Any, X: Any, y: Any, n: int, seed: int = 0, long: float = _LONG) -> list[Trial]:
    """Fits of more and more rows, twice as many each time, until one is long or all rows are in it.

    Each is placed as the fit of all n rows will be: where their matrix has no room, that of a trial has none either.
    """
    order = _shuffled(y, np.random.default_rng(seed))
    found: list[Trial] = []
    for size in (min(_WARM, order.size), *_sizes(machine_of(estimator), n, order.size)):
        heed()
        some = np.sort(order[:size])
        model, rows, targets = _placed(estimator, size, n), _safe_indexing(X, some), _safe_indexing(y, some)
        trial = _tried(model, rows, targets)
        # What is long once may have been in somebody's way, or compiled; no cost grows as quickly as that.
        if found and trial.seconds >= long and trial.seconds > _AT_MOST * found[-1].seconds * size / found[-1].n:
            trial = min(trial, _tried(model, rows, targets), key=lambda each: each.seconds)
        found.append(trial)
        if len(found) > 2 and ((_grows(found) and trial.seconds >= long) or _spent(found[1:]) > _PATIENCE * long):
            break
    return found[1:]


def _grows(found: list[Trial]) -> bool:
    """Whether the last trial took longer than the one before, so that the rows are what takes the time."""
    return found[-1].seconds > _HARDLY * found[-2].seconds


def _spent(found: list[Trial]) -> float:
    return sum(trial.seconds for trial in found)


def _sizes(machine: Any, n: int, last: int) -> Iterator[int]:
    """Rows of the trials after the first, which loads what is compiled."""
    landmarks = getattr(machine, "rank", None) or 0
    by_products = not landmarks and not machine.placement.single and n > _BY_PRODUCTS
    size = max(_BY_PRODUCTS if by_products else _FEWEST, _FOR_EACH * landmarks)
    while size < last:
        yield size
        size *= 2
    yield last


def _shuffled(y: Any, rng: np.random.Generator) -> Array:
    """All rows in random order; where y holds classes, with a row of each before all others."""
    values = np.asarray(y)
    order = rng.permutation(len(values))
    if values.ndim > 1:
        return order
    kinds, first = np.unique(values[order].astype(str), return_index=True)
    return order if kinds.size > _CLASSES else np.concatenate([order[first], np.delete(order, first)])


def _placed(estimator: Any, size: int, n: int) -> Any:
    """The estimator with so little memory that a Gram of ``size`` items is of the kind that one of n items is."""
    model = clone(estimator)
    machine = machine_of(model)
    if not hasattr(machine, "memory") or getattr(machine, "kernel", None) is None:
        return model
    kind, rank = Footprint.of(machine, n).gram, getattr(machine, "rank", None)
    if kind != Footprint.of(machine, size).gram:
        room = 8 * size * (size if kind == "Lazy" else min(rank or size, size)) - 1
        model.set_params(**{f"{parameter_prefix(model)}memory": room})
    return model


def _tried(model: Any, X: Any, y: Any) -> Trial:
    begin = time.perf_counter()
    with warnings.catch_warnings(), watched_blocks() as seen:
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds = time.perf_counter() - begin
    largest, blocks = (max(each, default=0) for each in (zip(*seen, strict=True) if seen else ((), ())))
    return Trial(len(y), seconds, largest, blocks, np.size(getattr(machine_of(model), "intercept_", 0.0)))
