"""Long fits and searches as tasks of scikit-learn's callbacks, where its version has them (1.9 and later)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .._runtime.parallel import one_blas_thread
from .time_limits import beginning

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


__all__ = ["FRAMES", "CallbackSupportMixin", "managed", "reported", "task_below"]


def managed(fit: Any) -> Any:
    """A ``fit`` that callbacks know of, whose time runs from its call, and whose matrix products have one thread each.

    Large ones are cut into pieces for threads of ours. The threads of a BLAS library would make other cuts for another
    number of threads, and so other last digits; idle ones, waiting for more, take time from ours.
    """

    @functools.wraps(fit)
    def run(estimator: Any, *arguments: Any, **named: Any) -> Any:
        with one_blas_thread(), beginning(estimator):
            return fit(estimator, *arguments, **named)

    return with_callbacks(run)


@contextmanager
def reported(
    estimator: Any, X: Any, y: Any, parts: int, name: str
) -> Iterator[Callable[[int, Callable[[], Any]], Any]]:
    """Inside this block, ``run(k, work)`` does part k of a fit and tells the callbacks when it begins and ends."""
    start = getattr(estimator, "_init_callback_context", None)
    if start is None:
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
