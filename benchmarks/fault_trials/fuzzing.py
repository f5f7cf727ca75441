"""Coverage-guided fuzzing of every reader, of the text of kernels, of journals and model files: a million executions.

Each target of ``fuzz/targets.py`` runs in a process of its own, so many times as :data:`RUNS` says. Counted are
executions as libFuzzer counts them, targets that ended by anything but one line (crashes), and by more than five
seconds (hangs). The bytes that did it stay in a folder that the note names.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from reproductions.results import Results

#: Executions of each target; readers that are quick get more.
RUNS = {
    "kernel": 520_000, "arff": 140_000, "json": 130_000, "fasta": 100_000, "svmlight": 25_000, "baskets": 20_000,
    "csv": 15_000, "graphs": 15_000, "parquet": 10_000, "sqlite": 10_000, "feather": 5_000, "journal": 5_000,
    "journal_lines": 5_000, "model": 5_000, "model_text": 5_000, "file": 4_000, "excel": 4_000,
}  # fmt: skip


def show(results: Results, scale: float, seed: int) -> None:
    faults = Path(tempfile.mkdtemp(prefix="fuzz-faults-"))
    executed, crashes, hangs = 0, [], []
    for target, runs in RUNS.items():
        prefix = faults / f"{target}-"
        count = max(100, round(runs * scale))
        command = [
            sys.executable,
            "-m",
            "fuzz",
            target,
            "--runs",
            str(count),
            "--seed",
            str(seed),
            "--faults",
            str(prefix),
        ]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", env={**os.environ})
        found = re.search(r"stat::number_of_executed_units: *(\d+)", ended.stderr)
        executed += int(found[1]) if found else 0
        if ended.returncode != 0:
            (hangs if "timeout after" in ended.stderr or "Timeout" in ended.stderr else crashes).append(target)
    goal = round(1_000_000 * scale)
    results.add("fuzz executions", executed, f">= {goal}", executed >= goal, f"{len(RUNS)} targets")
    results.add("fuzz crashes", len(crashes), "0", not crashes, f"{', '.join(crashes)} {faults if crashes else ''}")
    results.add("fuzz hangs over 5 s", len(hangs), "0", not hangs, ", ".join(hangs))
