"""A dask cluster beside one process: the same coefficients, with a worker lost too; memory, traffic, and searches.

    python -m benchmarks.cluster [--rows 100000] [--rank 200] [--workers 2 4] [--json results.json]

The rows are made on the workers and stay there. One process learns from the same rows in its own memory, by passes over
them as well. All workers share the cores of this machine: time shows what the cluster costs, not what it gains.
"""

from __future__ import annotations

import argparse
import logging
import os
import resource
import signal
import time
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.base import clone

from mercer import SVC, KernelClassifier, KernelSearchCV
from mercer.rows import OnWorkers, rows_of
from reproductions.results import Results

#: Rows of a chunk, columns, and what a worker may take: importing it all takes 270 MB.
CHUNK, COLUMNS, LIMIT = 10_000, 20, "700MB"
#: The pass in which a worker is lost.
LOST = 6


def made(rows: int) -> tuple[Any, Any]:
    """Rows and labels: a boundary that bends, and noise."""
    X = da.random.default_rng(0).normal(size=(rows, COLUMNS), chunks=(CHUNK, COLUMNS))
    noise = da.random.default_rng(1).normal(size=rows, chunks=CHUNK)
    return X, da.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * noise > 0.2


def machine(rank: int) -> KernelClassifier:
    # The features of one process do not fit either: it passes over the rows as the cluster does.
    return KernelClassifier("gaussian(gamma=0.02)", lam=1e-5, rank=rank, tol=1e-8, memory="100MB")


class Watched:
    """Rows that count the passes over them, and what travels in each; a worker may be lost in one."""

    def __init__(self, rows: OnWorkers, cluster: Any = None) -> None:
        self.rows, self.cluster = rows, cluster
        self.traffic: list[int] = []
        self.each, self.total = rows.each, rows.total
        rows.each, rows.total = self._each, self._total  # type: ignore[method-assign]

    def _begin(self) -> int:
        if self.cluster is not None and len(self.traffic) == LOST:
            os.kill(next(iter(self.cluster.workers.values())).pid, signal.SIGKILL)
        return self.rows.sent + self.rows.received

    def _each(self, work: Any, *vectors: Any) -> Any:
        before = self._begin()
        yield from self.each(work, *vectors)
        self.traffic.append(self.rows.sent + self.rows.received - before)

    def _total(self, work: Any, *vectors: Any) -> Any:
        before = self._begin()
        result = self.total(work, *vectors)
        self.traffic.append(self.rows.sent + self.rows.received - before)
        return result


def difference(one: Any, other: Any) -> float:
    return float(np.abs(one.dual_coef_ - other.dual_coef_).max() / np.abs(one.dual_coef_).max())


def peak() -> float:
    """Megabytes that a process has taken at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def fitted(workers: int, rows: int, rank: int, here: Any, seconds: float, results: Results, lost: bool = False) -> None:
    with (
        LocalCluster(
            workers, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=None, silence_logs=logging.CRITICAL
        ) as cluster,
        Client(cluster) as client,
    ):
        X, y = made(rows)
        found = rows_of(X)
        assert isinstance(found, OnWorkers)
        watched = Watched(found, cluster if lost else None)
        begin = time.perf_counter()
        there = machine(rank).fit(found, y)
        took = time.perf_counter() - begin
        peaks = client.run(peak)
    apart = difference(here, there)
    name = f"{workers} workers" + (", one of them killed on the way" if lost else "")
    passes = np.array(watched.traffic)
    note = (
        f"{took:.1f} s beside {seconds:.1f} s of one process; {len(passes)} passes, which move "
        f"{np.median(passes) / 1e6:.2f} MB each (median; the rows are {8e-6 * rows * COLUMNS:.0f} MB, the features "
        f"would be {8e-6 * rows * rank:.0f} MB)"
    )
    print(f"{name}: coefficients differ by {apart:.1e}; {note}")
    results.add(f"{name}: relative difference of coefficients from one process", apart, 1e-6, apart <= 1e-6, note)
    if not lost:
        most, bar = max(peaks.values()), float(LIMIT.removesuffix("MB"))
        print(f"{name}: a worker takes {most:.0f} MB at most")
        results.add(f"{name}: megabytes of a worker at most", round(most), bar, most <= bar, "importing included")
        vectors = 8 * rows + 8 * rank * (1 + len(found.places))
        results.add(f"{name}: bytes moved in a pass / a vector of all rows and those of landmark length",
                    round(float(np.median(passes)) / vectors, 3), 1.0, bool(np.median(passes) <= vectors),
                    note)  # fmt: skip


def searched(results: Results) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5))
    y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 > 1
    grid = {"kernel": [f"gaussian(gamma={gamma})" for gamma in (0.05, 0.2, 0.8)] + ["cosine"], "C": [0.1, 1, 10, 100]}
    search = KernelSearchCV(SVC(), grid, cv=5, return_train_score=True)
    clone(search).fit(X, y)  # compiles what it needs
    begin = time.perf_counter()
    here = clone(search).fit(X, y)
    alone = time.perf_counter() - begin
    with LocalCluster(2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        begin = time.perf_counter()
        with parallel_config("dask"):
            there = clone(search).fit(X, y)
        took = time.perf_counter() - begin
    same = all(np.array_equal(values, there.cv_results_[name]) for name, values in here.cv_results_.items()
               if "time" not in name)  # fmt: skip
    same &= np.array_equal(here.decision_function(X), there.decision_function(X))
    print(f"search: {'the same bit for bit' if same else 'DIFFERENT'}; {took:.1f} s beside {alone:.1f} s")
    results.add("a search on the cluster equals the one here bit for bit", int(same), 1, same,
                f"{took:.1f} s on 2 workers beside {alone:.1f} s by threads of one process")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rank", type=int, default=200)
    parser.add_argument("--workers", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    results = Results()
    X, y = dask.compute(*made(given.rows))
    begin = time.perf_counter()
    here = machine(given.rank).fit(X, y)
    seconds = time.perf_counter() - begin
    print(f"one process: {seconds:.1f} s, {here.n_iter_} steps of Newton's method, error {1 - here.score(X, y):.3f}")
    for workers in given.workers:
        fitted(workers, given.rows, given.rank, here, seconds, results)
    fitted(given.workers[0], given.rows, given.rank, here, seconds, results, lost=True)
    searched(results)
    results.write(given.json)


if __name__ == "__main__":
    main()
