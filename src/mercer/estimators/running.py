"""A fit on its way: its time limit, its threads, its warnings, and what callbacks of scikit-learn (1.9) are told."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sklearn

from ..runtime.interrupts import until
from ..runtime.threads import one_blas_thread

__all__ = [
    "CallbackSupportMixin",
    "NotInTimeError",
    "Run",
    "running",
    "task_below",
    "warn",
    "with_callbacks",
]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn: fits run without progress

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        return method


#: Seconds beyond the limit that items may take to be made ready, so that there is a model to show under any limit.
_GRACE = 1.0


class NotInTimeError(ValueError):
    """A time limit was over before there was any model."""


@dataclass(frozen=True)
class Run:
    """One call of ``fit``: of which estimator, on which data as the user gave them, and since when."""

    estimator: Any
    X: Any = None
    y: Any = None
    sample_weight: Any = None
    #: By ``time.monotonic``; ``None`` for work outside of a fit, such as a line of a search, which has its full time.
    begun: float | None = None
    #: The group of each row, where rows of a group are to be left out together.
    groups: Any = None

    def seconds_left(self) -> float:
        """What is left of the estimator's time limit."""
        limit = getattr(self.estimator, "time_limit", None)
        if limit is None:
            return float("inf")
        spent = 0.0 if self.begun is None else time.monotonic() - self.begun
        return max(0.0, float(limit) - spent)

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """A block of work without which there is no model at all; where it takes too long, a sentence says so."""
        limit = getattr(self.estimator, "time_limit", None)
        if limit is None:
            yield
            return
        ready = False
        with until(time.monotonic() + self.seconds_left() + _GRACE):
            yield
            ready = True
        if not ready:
            raise NotInTimeError(
                f"{type(self.estimator).__name__}: the time limit of {limit:g} s was over before the items were ready "
                "for the solver, and there is no model to show; raise time_limit, choose fewer landmarks by rank, or "
                "learn from fewer items."
            )

    @contextmanager
    def reported(self, parts: int, name: str) -> Iterator[Callable[[int, Callable[[], Any]], Any]]:
        """Inside this block, ``run(k, work)`` does part k of the fit, and callbacks know when it begins and ends."""
        estimator, told = self.estimator, {"estimator": self.estimator, "X": self.X, "y": self.y}
        start = getattr(estimator, "_init_callback_context", None)
        if start is None or not (
            getattr(estimator, "_skl_callbacks", ()) or hasattr(estimator, "_parent_callback_ctx")
        ):
            yield lambda k, work: work()
            return
        context = start(max_subtasks=parts, sequential_subtasks=False)
        context.call_on_fit_task_begin(**told)

        def run(k: int, work: Callable[[], Any]) -> Any:
            part = context.subcontext(task_name=name, task_id=k)
            part.call_on_fit_task_begin(**told)
            try:
                return work()
            finally:
                part.call_on_fit_task_end(**told)

        yield run
        context.call_on_fit_task_end(**told)


@contextmanager
def running(estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Iterator[Run]:
    """Inside this block the estimator is fitted: its time runs, and matrix products have one thread each.

    Large ones are cut into pieces for threads of ours. The threads of a BLAS library would make other cuts for another
    number of threads, and so other last digits; idle ones, waiting for more, take time from ours.
    """
    run = Run(estimator, X, y, sample_weight, time.monotonic(), groups)
    with one_blas_thread():
        yield run


#: What stands between a fit and the user's line that called it: this library, and what calls it for the user.
_BETWEEN = (str(Path(__file__).parents[1]), str(Path(sklearn.__file__).parent), contextlib.__file__)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line that has called for a fit, however many functions are in between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


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
