"""The same bits for any number of threads, size of a batch, order of memory, and run.

Every estimator of ``tests/cases.py``, with dense, single-precision and sparse rows, searches, calibrations, intervals,
pipelines, many rows and structured items are fitted in processes of their own (see ``_fingerprint.py``): with one
thread and with two, of rows in the order of C and of Fortran, strided and read-only, and five times in the same way.
Counted are the different hashes of a machine, over all that its fit leaves behind and all that it answers; within a
process, rows are asked for one by one, by seven and all at once, and must be answered alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import defaultdict

from reproductions.results import Results

from ._fingerprint import ORDERS

_RERUNS = 5


def show(results: Results, scale: float, seed: int) -> None:
    runs = [(threads, order) for threads in (1, 2) for order in ORDERS]
    runs += [(2, "C")] * round(_RERUNS * scale)
    found: dict[str, set[str]] = defaultdict(set)
    for threads, order in runs[: max(2, round(scale * len(runs)))] if scale < 1 else runs:
        for name, hashed in _fingerprints(threads, order):
            found[name].add(hashed)
    several = [name for name, hashes in found.items() if len(hashes) > 1]
    batches = [name for name, hashes in found.items() if any(each.startswith("differs") for each in hashes)]
    note = f"{len(found)} machines in {len(runs)} processes"
    results.add(
        "machines with more than one hash over threads, orders and reruns",
        len(several), 0, not several, f"{note} {several[:3] or ''}".strip(),
    )  # fmt: skip
    results.add(
        "machines whose answers depend on the batch (1, 7, all)", len(batches), 0, not batches, f"{batches[:3] or ''}"
    )


def _fingerprints(threads: int, order: str) -> list[tuple[str, str]]:
    names = ("NUMBA", "OMP", "OPENBLAS", "MKL")
    environment = {**os.environ, **{f"{name}_NUM_THREADS": str(threads) for name in names}}
    command = [sys.executable, "-m", f"{__package__}._fingerprint", order]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return [(name, hashed) for name, hashed in (line.split("\t") for line in done.stdout.splitlines())]
