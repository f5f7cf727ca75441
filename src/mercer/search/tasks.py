"""The cells of a search as tasks for joblib: one for each kernel and fold, in other processes or on other machines.

A task computes its kernel matrix itself, so that rows travel and matrices do not, and shares in it whatever the search
would: the result is that of a search in one process, bit for bit. Journal, progress and limits stay with the caller,
who is told of each task that is done.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from .._runtime.compile import Array
from .._runtime.parallel import at_most
from .content_keys import setting_key
from .lines import spaces_of
from .outcome import Outcome
from .shared_cells import Fold, SharedCells

__all__ = ["Tasks", "threads_asked_for"]


def threads_asked_for(n_jobs: int | None) -> int | None:
    """How many threads ``n_jobs`` or ``joblib.parallel_config`` allow; ``None`` where neither says anything."""
    _, configured = get_active_backend()
    # Where nothing is configured, older versions of joblib say 1 and newer ones None.
    silent = n_jobs is None and configured in (None, 1)
    return None if silent else effective_n_jobs(n_jobs)


class Tasks(SharedCells):
    """Cells of a search that are computed by tasks. Parameters as those of :class:`SharedCells`."""

    def by(self, n_jobs: int | None) -> Tasks:
        """Have so many tasks done at once, by whom joblib is told to have them done."""
        self.backend, configured = get_active_backend()
        self.n_jobs = configured if n_jobs is None else n_jobs
        return self

    @staticmethod
    def asked_for(n_jobs: int | None) -> bool:
        """Whether joblib was told (``joblib.parallel_config``) to work where this process has no memory."""
        backend, configured = get_active_backend(prefer="threads")
        shared = getattr(backend, "supports_sharedmem", False)
        asked = configured if n_jobs is None else n_jobs
        return not shared and (backend.default_n_jobs if asked is None else asked) != 1

    def _run(self, settings: list[dict[str, Any]], folds: list[Fold]) -> None:
        # Where time is limited, a task is handed out when it can begin.
        ahead = "2*n_jobs" if self.deadline == np.inf else "n_jobs"
        parallel = Parallel(self.n_jobs, backend=self.backend, batch_size=1, pre_dispatch=ahead, return_as="generator")
        with warnings.catch_warnings():  # tasks may be threads of this process, whose filters belong to all of them
            warnings.simplefilter("ignore")
            for cells in parallel(self._tasks(settings, folds)):
                self._store(cells)

    def _tasks(self, settings: list[dict[str, Any]], folds: list[Fold]) -> Iterator[Any]:
        by_key = {setting_key(params): params for params in settings}
        for space in spaces_of(self.estimator, settings):
            matrices = self.matrices_of(space, folds)
            for lines in space.by_matrix():
                some = [by_key[key] for line in lines for key in line.keys]
                for fold in folds:
                    if not self._missing(lines, [fold]):
                        continue
                    if self._late():
                        return
                    yield delayed(_cells)(self.estimator, self.X, self.y, self.targets, self.weight, self.memory,
                                          self.deadline - time.monotonic(), matrices, some, fold)  # fmt: skip


def _cells(
    estimator: Any, X: Any, y: Any, targets: Array, weight: Array | None, memory: int, seconds: float, matrices: int,
    settings: list[dict[str, Any]], fold: Fold,
) -> dict[tuple[str, str], Outcome]:  # fmt: skip
    """All settings of one kernel on one fold, on one core."""
    cells = SharedCells(estimator, _plain(X), _plain(y), _plain(targets), weight, memory, time.monotonic() + seconds)
    cells.matrices = matrices
    # A step of a pipeline that hands tasks out itself, as scikit-learn's for columns do, would wait for workers that
    # are busy with tasks like this one.
    with at_most(1), parallel_config("sequential"):
        cells.run(settings, [fold])
    return cells.outcomes


def _plain(values: Any) -> Any:
    """joblib maps large arrays into the memory of its processes: here they are arrays like any other."""
    return np.asarray(values) if isinstance(values, np.memmap) else values
