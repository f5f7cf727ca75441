"""The time of a fit: it runs from the call, and what comes before solving takes its part of it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from .._runtime.interrupts import until

__all__ = ["beginning", "getting_ready", "seconds_left"]

#: The estimator that is being fitted here, and since when, by ``time.monotonic``.
_fitted_since: ContextVar[tuple[Any, float]] = ContextVar("fitted_since", default=(None, 0.0))

#: Seconds beyond the limit that items may take to be made ready, so that there is a model to show under any limit.
_GRACE = 1.0


@contextlib.contextmanager
def beginning(estimator: Any) -> Iterator[None]:
    """Inside this block the estimator is fitted."""
    before = _fitted_since.set((estimator, time.monotonic()))
    try:
        yield
    finally:
        _fitted_since.reset(before)


def seconds_left(estimator: Any) -> float:
    """What is left of an estimator's time limit; all of it where it is not being fitted."""
    limit = getattr(estimator, "time_limit", None)
    if limit is None:
        return float("inf")
    fitted, since = _fitted_since.get()
    spent = time.monotonic() - since if fitted is estimator else 0.0
    return max(0.0, float(limit) - spent)


@contextlib.contextmanager
def getting_ready(estimator: Any) -> Iterator[None]:
    """A block of work without which there is no model at all; where it takes too long, a sentence says so."""
    ready = False
    with until(time.monotonic() + seconds_left(estimator) + _GRACE):
        yield
        ready = True
    if not ready:
        raise ValueError(
            f"{type(estimator).__name__}: the time limit of {estimator.time_limit:g} s was over before the items were "
            "ready for the solver, and there is no model to show; raise time_limit, choose fewer landmarks by rank, or "
            "learn from fewer items."
        )
