"""Rows that do not fit in memory: a kernel machine on landmarks that passes over a Parquet file, beside scikit-learn's.

    python -m benchmarks.streaming [--rows 10000000] [--rank 1000] [--memory 700MB] [--json results.json]

Rows of 20 columns in float32 come from a mixture of Gaussian clouds with two classes, of which 8 % have the wrong
label; 200 000 more are for testing. Both contestants run in a process of their own, on the same file, with the same
kernel:

- ``mercer.scan`` and ``KernelClassifier(rank=...)``: landmarks by randomly pivoted Cholesky on a sample, then Newton's
  method, each product a pass over the file;
- ``Nystroem`` fitted on a sample, and ``SGDClassifier(loss="log_loss").partial_fit`` over the batches of the file: one
  epoch, and what a second one would change. Its step size is the best of three on a sample, whose time does not count.

Seconds, accuracy on the test rows and the most memory that the process ever took are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.results import Results

#: Columns, clouds of the mixture, their width, and the share of wrong labels.
COLUMNS, CLOUDS, WIDTH, NOISE = 20, 200, 0.75, 0.08
#: Rows to test on, rows written and read at a time, and rows that Nystroem and step sizes are chosen by.
TESTED, BATCH, SAMPLED = 200_000, 100_000, 20_000
#: λ of both machines, and γ of the kernel.
LAM, GAMMA = 1e-6, 1 / COLUMNS


def clouds(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels; the clouds are the same for every seed."""
    fixed, rng = np.random.default_rng(0), np.random.default_rng(seed)
    centres, classes = fixed.normal(size=(CLOUDS, COLUMNS)), fixed.integers(0, 2, CLOUDS)
    which = rng.integers(0, CLOUDS, rows)
    X = (centres[which] + WIDTH * rng.standard_normal((rows, COLUMNS), dtype=np.float32)).astype(np.float32)
    return X, np.where(rng.random(rows) < NOISE, 1 - classes[which], classes[which]).astype(np.int8)


def write(path: Path, rows: int) -> None:
    """A Parquet file of so many rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [(f"x{k}", pa.float32()) for k in range(COLUMNS)] + [("y", pa.int8())]
    with pq.ParquetWriter(path, pa.schema(fields)) as file:
        for number, begin in enumerate(range(0, rows, BATCH)):
            X, y = clouds(min(BATCH, rows - begin), 1 + number)
            file.write_table(pa.table([*map(pa.array, X.T.copy()), pa.array(y)], schema=pa.schema(fields)))


def ours(path: str, rank: int, memory: str) -> Iterator[tuple[str, Any]]:
    """Fit; what there is to say of the model, and the model itself."""
    import mercer
    from mercer.kernels import Gaussian

    table = mercer.scan(path, target="y")
    model = mercer.KernelClassifier(Gaussian(gamma=GAMMA), lam=LAM, rank=rank, memory=memory, tol=1e-2)
    model.fit(table.X, table.y)
    del model.feature_names_in_  # test rows come as arrays
    gap = float(model.duality_gap_[0] / model.objective_[0])
    left = f"{100 * model.missing_trace_:.0f} % of the trace left out"
    yield f"{model.n_iter_} steps, relative duality gap {gap:.1g}, {left}", model


def theirs(path: str, rank: int, memory: str) -> Iterator[tuple[str, Any]]:
    """Fit by one epoch, then by a second."""
    import pyarrow.parquet as pq
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for batch in pq.ParquetFile(path).iter_batches(BATCH):
            frame = batch.to_pandas()
            yield frame.drop(columns="y").to_numpy(), frame["y"].to_numpy()

    sample, labels = next(batches())
    features = Nystroem(gamma=GAMMA, n_components=rank, random_state=0).fit(sample[:SAMPLED])
    known = features.transform(sample[:SAMPLED]).astype(np.float32), labels[:SAMPLED]
    unseen = features.transform(sample[SAMPLED : 2 * SAMPLED]), labels[SAMPLED : 2 * SAMPLED]
    steps: dict[str, dict[str, Any]] = {
        "optimal": {},
        "adaptive 1": {"learning_rate": "invscaling", "eta0": 1.0, "power_t": 0.25},
        "adaptive 10": {"learning_rate": "invscaling", "eta0": 10.0, "power_t": 0.25},
    }
    begin = time.perf_counter()
    tried = {name: SGDClassifier(loss="log_loss", alpha=LAM, random_state=0, max_iter=1, tol=None, **each)
             for name, each in steps.items()}  # fmt: skip
    best = max(tried, key=lambda name: tried[name].fit(*known).score(*unseen))
    spent = time.perf_counter() - begin
    machine = SGDClassifier(loss="log_loss", alpha=LAM, random_state=0, **steps[best])
    for epoch in (1, 2):
        for X, y in batches():
            machine.partial_fit(features.transform(X).astype(np.float32), y, classes=[0, 1])
        yield (
            f"epoch {epoch}, step size {best}; {spent:.1f} s for its choice not counted",
            make_pipeline(features, machine),
        )


def contest(name: str, path: str, rank: int, memory: str) -> None:
    """In a process of its own: fit, test, and print a line for each model."""
    X, y = clouds(TESTED, 10**6)
    begin, paused = time.perf_counter(), 0.0
    for said, model in (ours if name == "ours" else theirs)(path, rank, memory):
        seconds = time.perf_counter() - begin - paused
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        if ", " in said and "not counted" in said:
            seconds -= float(said.partition("; ")[2].partition(" s")[0])
        testing = time.perf_counter()
        correct = np.concatenate([model.predict(X[k : k + BATCH]) == y[k : k + BATCH] for k in range(0, TESTED, BATCH)])
        paused += time.perf_counter() - testing
        print(json.dumps({"seconds": seconds, "accuracy": float(correct.mean()), "peak": peak, "said": said}))


def run(name: str, path: Path, options: argparse.Namespace) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "benchmarks.streaming", "--contestant", name, "--file", str(path)]
    command += ["--rank", str(options.rank), "--memory", options.memory]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ)
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    for each in found:
        print(f"{name:7s}{each['seconds']:8.1f} s  accuracy {each['accuracy']:.4f}  "
              f"peak {each['peak'] / 2**30:.2f} GiB  ({each['said']})")  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rank", type=int, default=1000)
    parser.add_argument("--memory", default="700MB")
    parser.add_argument("--json")
    parser.add_argument("--contestant", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    parser.add_argument("--file", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.contestant:
        contest(options.contestant, options.file, options.rank, options.memory)
        return
    results = Results()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        write(path, options.rows)
        print(f"{options.rows:,} rows of {COLUMNS} columns, {path.stat().st_size / 1e6:.0f} MB; rank {options.rank}")
        mine = run("ours", path, options)[0]
        once, twice = run("theirs", path, options)
    ratio = mine["seconds"] / once["seconds"]
    what = f"{options.rows:,} × {COLUMNS} rows from Parquet, {options.rank} landmarks"
    note = f"{mine['seconds']:.1f} s; theirs {once['seconds']:.1f} s for an epoch, {twice['seconds']:.1f} s for two"
    results.add(f"{what}: seconds / those of Nystroem + SGDClassifier", round(ratio, 3), 0.5, ratio <= 0.5, note)
    better = mine["accuracy"] - once["accuracy"]
    note = f"{mine['accuracy']:.4f}; theirs {once['accuracy']:.4f} after an epoch, {twice['accuracy']:.4f} after two"
    results.add(f"{what}: accuracy less theirs", round(better, 4), 0.0, better >= 0, note)
    peak = mine["peak"] / 2**30
    results.add(f"{what}: most memory in GiB", round(peak, 2), 2.0, peak <= 2.0, mine["said"])
    results.write(options.json)


if __name__ == "__main__":
    main()
