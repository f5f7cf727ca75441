"""Exported models computed in their places: a C compiler, onnxruntime, LIBSVM, and a Python without mercer.

Nothing of mercer is asked here: rows go in, numbers come out.
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

#: A program that computes rows by an exported Python file, in an interpreter that cannot import mercer.
_ALONE = """
import json, runpy, sys
class Nobody:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] not in ("numpy",) and name.split(".")[0] in ("mercer", "sklearn", "scipy", "pandas"):
            raise ImportError(name)
sys.meta_path.insert(0, Nobody())
names = {}
for line in sys.stdin:
    task = json.loads(line)
    module = runpy.run_path(task["path"])
    rows = task["rows"]
    scores = module["probabilities" if task["probabilities"] else "scores"](rows)
    print(json.dumps({"scores": scores.tolist(), "answers": module["predict"](rows).tolist()}), flush=True)
"""


class PythonAlone:
    """One interpreter for many files."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _ALONE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __call__(self, path: Path, rows: Any, probabilities: bool) -> tuple[Any, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        task = {"path": str(path), "rows": np.asarray(rows).tolist(), "probabilities": probabilities}
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()
        found = json.loads(self._process.stdout.readline())
        return np.array(found["scores"]), found["answers"]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def by_c(path: Path, rows: Any, width: int, probabilities: bool) -> Any:
    """The scores of rows of numbers, by a shared library; compiled with every warning an error."""
    library = path.with_suffix(".so")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, str(path), "-o", str(library), "-lm"], check=True)
    opened = ctypes.CDLL(str(library))
    function = opened.mercer_probabilities if probabilities else opened.mercer_scores
    out, found = (ctypes.c_double * width)(), []
    for row in np.asarray(rows, dtype=float):
        assert function((ctypes.c_double * len(row))(*row), out) == 0
        found.append(list(out))
    return np.array(found)


def by_onnx(path: Path, rows: Any) -> dict[str, Any]:
    """Every result of rows of numbers, by its name."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": np.asarray(rows, dtype=float)}), strict=True))
