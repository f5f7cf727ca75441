"""Work that cannot be cut into pieces, such as an eigendecomposition: done aside, so that Ctrl-C need not wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future
from contextvars import copy_context
from typing import TypeVar

from .interrupts import heed
from .parallel import one_blas_thread, wait_for

__all__ = ["aside"]

T = TypeVar("T")


def aside(work: Callable[[], T]) -> T:
    """The result of ``work``, from a thread that is left alone when Ctrl-C comes; what it finds then is lost.

    The work must change nothing that anybody else looks at, and let go of the interpreter lock, as NumPy's linear
    algebra does. It has one BLAS thread, so that results do not depend on how many there are.

    Examples
    --------
    >>> import numpy as np
    >>> aside(lambda: np.linalg.eigvalsh(np.diag([2.0, 1.0])))
    array([1., 2.])
    """
    found: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            found.set_result(context.run(work))
        except BaseException as error:
            found.set_exception(error)

    with one_blas_thread():
        threading.Thread(target=run, daemon=True).start()
        wait_for([found], FIRST_EXCEPTION, heed)
    return found.result()
