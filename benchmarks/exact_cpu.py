"""Exact kernel logistic machines whose matrix could never be stored: time, memory and proof on this processor.

    python -m benchmarks.exact_cpu [--rows 100000] [--memory 800MB] [--json results.json]

Each fit runs in a process of its own, whose largest memory is that of Python, all libraries, the rows and the fit:
2 GiB are allowed. Made rows have 28 columns and 8 % of their labels wrong; the others are real. Whole products with the
matrix are counted, those of the certificate too. A machine that stores the matrix would need 8·n² bytes, as
scikit-learn's kernel ridge and Gaussian process do; those are stated beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np

from reproductions.results import Results

#: The largest memory of a process, the tolerance of the gradient, and the relative duality gap that is good enough.
BAR, TOL, GAP = 2 * 2**30, 1e-4, 1e-4


def made(n: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Rows of 28 normal numbers, a curved border, and one label in twelve wrong; γ = 1/28."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 28))
    y = np.sign(X @ rng.normal(size=28) / np.sqrt(28) + X[:, 0] * X[:, 1])
    return X, np.where(rng.random(n) < 0.08, -y, y), 1 / 28


def real(n: int) -> tuple[np.ndarray, np.ndarray, float] | None:
    """cod-rna: eight columns, the training part and then rows of the test part."""
    from . import datasets

    split = datasets.scaled(datasets.svmlight("cod-rna/cod-rna.bz2", "cod-rna/cod-rna.t.bz2", 8))
    if split is None:
        return None
    X, y = np.vstack([split[0], split[2]])[:n], np.concatenate([split[1], split[3]])[:n]
    return X.astype(np.float64), y, 0.5


TABLES = {"made": made, "cod-rna": real}


def fit(table: str, n: int, memory: str) -> dict[str, Any] | None:
    """One fit, in this process, with what it took."""
    from mercer import KernelClassifier
    from mercer.grams import Lazy
    from mercer.kernels import Gaussian

    found = TABLES[table](n)
    if found is None:
        return None
    X, y, gamma = found
    products = {"float32": 0, "float64": 0}
    whole = Lazy.matvec

    def counted(gram: Any, z: np.ndarray) -> np.ndarray:
        products[str(gram.items.dtype)] += 1
        return whole(gram, z)

    Lazy.matvec = counted  # type: ignore[method-assign]
    begin, used = time.perf_counter(), os.times()
    model = KernelClassifier(Gaussian(gamma=gamma), "logistic", lam=1 / len(y), tol=TOL, memory=memory).fit(X, y)
    seconds, after = time.perf_counter() - begin, os.times()
    return {
        "n": len(y),
        "seconds": seconds,
        "cpu": after.user - used.user + after.system - used.system,
        "products": products,
        "steps": model.n_iter_,
        "status": model.status_,
        "gap": float(model.duality_gap_[0] / model.objective_[0]),
        "bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    }


def show(table: str, n: int, memory: str, results: Results) -> None:
    command = [sys.executable, "-m", "benchmarks.exact_cpu", "--one", table, "--rows", str(n), "--memory", memory]
    took = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    if took is None:
        print(f"{table}: the data are not at hand; skipped")
        return
    note = (
        f"{took['seconds']:.0f} s ({took['cpu']:.0f} CPU-s), {took['steps']} Newton steps, "
        f"{took['products']['float32']} products in float32 and {took['products']['float64']} in float64, "
        f"{took['status']} to a gradient of {TOL:g}; the matrix would take {8e-9 * took['n'] ** 2:.0f} GB"
    )
    what = f"exact kernel logistic, {table}, {took['n']} rows"
    print(f"{what}: {took['bytes'] / 2**30:.2f} GiB, relative gap {took['gap']:.1e}, {note}")
    results.add(f"{what}: GiB of the process", round(took["bytes"] / 2**30, 3), 2.0, took["bytes"] <= BAR, note)
    results.add(f"{what}: relative duality gap", took["gap"], GAP, took["gap"] <= GAP, note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--memory", default="800MB", help="what the machine may keep, of the 2 GiB")
    parser.add_argument("--one", metavar="TABLE", choices=TABLES, help="a single fit in this process, as JSON")
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    if given.one:
        print(json.dumps(fit(given.one, given.rows, given.memory)))
        return
    results = Results()
    for table in TABLES:
        show(table, given.rows, given.memory, results)
    results.write(given.json)


if __name__ == "__main__":
    main()
