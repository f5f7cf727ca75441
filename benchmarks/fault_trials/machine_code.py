"""Machine code that was damaged, cut off, or is of another function, source, version or processor: none of it is run.

300 files take the place of the one that a function would be read from. Each time the function is called as if for the
first time, in a process that would not survive code that is none. Counted are: code that was read and run; answers that
are wrong; processes that crashed.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np

from mercer.runtime import jit, shipped_code
from mercer.runtime.shipped_code import PROCESSORS, checked, sealed, ship
from reproductions.results import Results

_FILES = 300
_VALUES, _ANSWER = np.arange(10.0), 285.0


def sum_of_squares(values):
    total = 0.0
    for value in values:
        total += value * value
    return total


def sum_of_cubes(values):
    total = 0.0
    for value in values:
        total += value * value * value
    return total


def show(results: Results, scale: float, seed: int) -> None:
    count = max(1, round(_FILES * scale))
    with tempfile.TemporaryDirectory() as folder:
        code = f"from {__name__} import trials; trials({count}, {seed}, {folder!r})"
        done = subprocess.run(
            [sys.executable, "-c", code], env=os.environ | {"NUMBA_CACHE_DIR": f"{folder}/own"}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
    crashed = int(done.returncode != 0)
    run, wrong = (-1, -1) if crashed else json.loads(done.stdout)
    why = f"{count} files" if not crashed else done.stderr.strip()[-100:]
    results.add("damaged, foreign or stale machine code: run", run, 0, run == 0, why)
    results.add("damaged, foreign or stale machine code: wrong answers", wrong, 0, wrong == 0, why)
    results.add("damaged, foreign or stale machine code: crashes", crashed, 0, not crashed, why)


def trials(count: int, seed: int, folder: str) -> None:
    """Print how often code was run that should not be, and how often an answer was wrong."""
    random, own, shipped = np.random.default_rng(seed), Path(folder, "own"), Path(folder, "shipped")
    processor, other = PROCESSORS
    shipped_code.FOLDER, shipped_code._processor = shipped, lambda: processor
    squares, cubes = (_compiled(function, own) for function in (sum_of_squares, sum_of_cubes))
    stamp, types, _ = squares
    foreign, path = cubes[2], _written(shipped, processor, *squares)
    whole = path.read_bytes()
    assert _called(own) == (True, True)  # as it should be read
    version = numba.__version__
    run = wrong = 0
    for trial in range(count):
        place, bit = int(random.integers(len(whole))), 1 << int(random.integers(8))
        match trial % 8:
            case 0 | 1:
                path.write_bytes(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
            case 2:
                path.write_bytes(whole[:place])
            case 3:
                path.write_bytes(whole + random.bytes(8))
            case 4:  # another function's
                path.write_bytes(_written(shipped, processor, cubes[0], types, foreign).read_bytes())
            case 5:  # another processor's
                path.write_bytes(_written(shipped, other, stamp, types, foreign).read_bytes())
            case 6:  # of another version of Numba
                numba.__version__ = "0.0"
                old = _written(shipped, processor, stamp, types, foreign)
                numba.__version__ = version
                path.write_bytes(old.read_bytes())
            case 7:  # whole, and of nothing that is known
                path.write_bytes(sealed(pickle.dumps((f"source {trial}", foreign))))
        read, right = _called(own)
        run, wrong = run + read, wrong + (not right)
    print(json.dumps([run, wrong]))


def _compiled(function, own: Path):
    """What the code of a function was made from, and the code."""
    jit(function)(_VALUES)
    (path,) = own.rglob("*.nbc")
    (stamp, _, (types, *_)), code = pickle.loads(checked(path.read_bytes()))
    _forget(own)
    return stamp, types, code


def _written(shipped: Path, processor: str, stamp: str, types, code) -> Path:
    """The file of some code."""
    ship(stamp, types, code, shipped, processor)
    return max((shipped / processor).iterdir(), key=lambda path: path.stat().st_mtime_ns)


def _called(own: Path) -> tuple[bool, bool]:
    """Whether the first call of a function reads code, and whether it answers right."""
    _forget(own)
    loop = jit(sum_of_squares)
    right = loop(_VALUES) == _ANSWER
    return bool(sum(loop.stats.cache_hits.values())), bool(right)


def _forget(own: Path) -> None:
    for path in own.rglob("*.nb?"):
        path.unlink()
