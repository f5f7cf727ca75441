"""Long fits and searches as tasks of scikit-learn's callbacks, where its version has them (1.9 and later)."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ..runtime.interrupts import until
from ..runtime.threads import one_blas_thread

__all__ = [
    "FRAMES",
    "CallbackSupportMixin",
    "managed",
    "preparing",
    "reported",
    "seconds_left",
    "task_below",
    "timed_fit",
]

# The time of a fit: it runs from the call, and what comes before solving takes its part of it.


#: The estimator that is being fitted here, and since when, by ``time.monotonic``.
_fitted_since: ContextVar[tuple[Any, float]] = ContextVar("fitted_since", default=(None, 0.0))

#: Seconds beyond the limit that items may take to be made ready, so that there is a model to show under any limit.
_GRACE = 1.0


@contextlib.contextmanager
def timed_fit(estimator: Any) -> Iterator[None]:
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


class NotInTimeError(ValueError):
    """A time limit was over before there was any model."""


@contextlib.contextmanager
def preparing(estimator: Any) -> Iterator[None]:
    """A block of work without which there is no model at all; where it takes too long, a sentence says so."""
    ready = False
    with until(time.monotonic() + seconds_left(estimator) + _GRACE):
        yield
        ready = True
    if not ready:
        raise NotInTimeError(
            f"{type(estimator).__name__}: the time limit of {estimator.time_limit:g} s was over before the items were "
            "ready for the solver, and there is no model to show; raise time_limit, choose fewer landmarks by rank, or "
            "learn from fewer items."
        )


#: How many frames ``managed`` puts between the user and ``fit``.
FRAMES = 2

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn: fits run without progress

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        return method

    FRAMES = 1


def managed(fit: Any) -> Any:
    """A ``fit`` that callbacks know of, whose time runs from its call, and whose matrix products have one thread each.

    Large ones are cut into pieces for threads of ours. The threads of a BLAS library would make other cuts for another
    number of threads, and so other last digits; idle ones, waiting for more, take time from ours.
    """

    @functools.wraps(fit)
    def run(estimator: Any, *arguments: Any, **named: Any) -> Any:
        with one_blas_thread(), timed_fit(estimator):
            return fit(estimator, *arguments, **named)

    return with_callbacks(run)


@contextmanager
def reported(
    estimator: Any, X: Any, y: Any, parts: int, name: str
) -> Iterator[Callable[[int, Callable[[], Any]], Any]]:
    """Inside this block, ``run(k, work)`` does part k of a fit and tells the callbacks when it begins and ends."""
    start = getattr(estimator, "_init_callback_context", None)
    if start is None or not (getattr(estimator, "_skl_callbacks", ()) or hasattr(estimator, "_parent_callback_ctx")):
        yield lambda k, work: work()
        return
    context = start(max_subtasks=parts, sequential_subtasks=False)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def run(k: int, work: Callable[[], Any]) -> Any:
        part = context.subcontext(task_name=name, task_id=k)
        part.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        try:
            return work()
        finally:
            part.call_on_fit_task_end(estimator=estimator, X=X, y=y)

    yield run
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)


@contextmanager
def task_below(context: Any, owner: Any, name: str, subtasks: int | None, sequential: bool) -> Iterator[Any]:
    """A task below another for scikit-learn's callbacks, where its version has them."""
    if context is None:
        yield None
        return
    task = context.subcontext(task_name=name, max_subtasks=subtasks, sequential_subtasks=sequential)
    task.call_on_fit_task_begin(estimator=owner)
    yield task
    task.call_on_fit_task_end(estimator=owner)
