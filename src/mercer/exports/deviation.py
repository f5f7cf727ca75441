"""How far the scores of an exported model are from those of the model itself, measured by computing both."""

from __future__ import annotations

import ctypes
import os
import runpy
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._runtime.compile import Array
from .._validation.objects import is_missing
from .._validation.unwrapped import machine_of, rows_at_machine
from ..kernels.engine.parts import length
from .computation import Computation
from .computed import computed
from .libsvm_reading import read_libsvm
from .likely_rows import likely_rows

__all__ = ["Deviation", "deviation"]

#: Rows that are compared where none are given.
_ROWS = 200


@dataclass(frozen=True)
class Deviation:
    """The largest difference of a number on some rows; ``largest`` is ``None`` where nothing could compute the file.

    Parameters
    ----------
    rows : int
    largest : float, optional
    scale : float
        The largest number of the model itself.
    missing : str
        What it would take to compute the file.
    """

    rows: int
    largest: float | None
    scale: float = 0.0
    missing: str = ""

    def __str__(self) -> str:
        if self.largest is None:
            return f"the file was not compared with the model: {self.missing}"
        size = f"where scores go up to {self.scale:.3g}"
        return f"the largest difference of a score on {self.rows:,} rows is {self.largest:.2g}, {size}"


def deviation(model: Any, path: str | Path, to: str, X: Any = None) -> Deviation:
    """Compute rows by a model and by the file that it was exported to.

    Parameters
    ----------
    model : estimator
    path : str or Path
    to : {"onnx", "libsvm", "c", "python"}
    X : rows, optional
        As the model takes them; by default rows near those that the model is made of.

    Returns
    -------
    Deviation

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer import SVC, export
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "xor.py"
    >>> model = SVC("rbf", C=10).fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"])
    >>> _ = export(model, path, to="python")
    >>> deviation(model, path, "python").largest < 1e-12
    True
    """
    computation = computed(model)
    X = likely_rows(computation, _ROWS) if X is None else X
    wanted, by_probabilities = _numbers_of(model, X)
    try:
        found = _RUNNERS[to](model, str(path), X, computation, by_probabilities)
    except _Missing as missing:
        return Deviation(length(X), None, missing=str(missing))
    apart = np.abs(np.asarray(found, dtype=np.float64).reshape(wanted.shape) - wanted)
    return Deviation(length(X), float(apart.max(initial=0.0)), float(np.abs(wanted).max(initial=0.0)))


class _Missing(Exception):
    """What is not installed."""


def _numbers_of(model: Any, X: Any) -> tuple[Array, bool]:
    """Predicted numbers, decision values or, where there are none, probabilities, and whether they are these."""
    if is_regressor(model):
        return np.asarray(model.predict(X)), False
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X)), False
    return np.asarray(model.predict_proba(X)), True


def _columns(X: Any, computation: Computation) -> list[Any]:
    """The columns of a table in the order of the exported model: words, None where one is missing, or numbers."""
    named = hasattr(X, "columns")
    dense = X.toarray() if hasattr(X, "toarray") else X
    found = []
    for place, column in enumerate(computation.columns):
        values = np.asarray(X[column.name] if named else np.asarray(dense)[:, place], dtype=object)
        if column.words:
            found.append([None if is_missing(value) else value for value in values])
        else:
            found.append([np.nan if is_missing(value) else float(value) for value in values])
    return found


# -- one for each target ------------------------------------------------------------------------------------------


def _by_python(model: Any, path: str, X: Any, computation: Computation, by_probabilities: bool) -> Any:
    names = [column.name for column in computation.columns]
    table = dict(zip(names, _columns(X, computation), strict=True))
    return runpy.run_path(path)["probabilities" if by_probabilities else "scores"](table)


def _by_c(model: Any, path: str, X: Any, computation: Computation, by_probabilities: bool) -> Any:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or os.name != "posix":
        raise _Missing("there is no C compiler")
    folder = tempfile.mkdtemp()
    try:
        library = f"{folder}/model.so"
        command = [compiler, "-std=c99", "-O1", "-shared", "-fPIC", path, "-o", library, "-lm"]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            raise _Missing(f"the C compiler says {made.stderr.strip()[:200]}")
        return _called(ctypes.CDLL(library), X, computation, by_probabilities)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _called(library: Any, X: Any, computation: Computation, by_probabilities: bool) -> Array:
    columns = _columns(X, computation)
    node = computation.probabilities if by_probabilities else computation.scores
    assert node is not None
    function = library.mercer_probabilities if by_probabilities else library.mercer_scores
    kinds = [column.words for column in computation.columns]
    out = (ctypes.c_double * node.width)()
    rows = []
    for row in zip(*columns, strict=True):
        numbers = [value for value, words in zip(row, kinds, strict=True) if not words]
        arguments: list[Any] = [(ctypes.c_double * max(1, len(numbers)))(*numbers)]
        if any(kinds):
            words = [value for value, is_word in zip(row, kinds, strict=True) if is_word]
            coded = [None if word is None else word.encode("utf-8", "surrogatepass") for word in words]
            arguments.append((ctypes.c_char_p * len(coded))(*coded))
        function(*arguments, out)
        rows.append(list(out))
    return np.array(rows)


def _by_onnx(model: Any, path: str, X: Any, computation: Computation, by_probabilities: bool) -> Any:
    columns = _columns(X, computation)
    if any(column.words for column in computation.columns):
        pairs = zip(columns, computation.columns, strict=True)
        tables = [np.array([["" if value is None else value] for value in values], dtype=object) if column.words
                  else np.array(values, dtype=float)[:, None] for values, column in pairs]  # fmt: skip
    else:
        tables = [np.column_stack([np.array(values, dtype=float) for values in columns])]
    result = "probabilities" if by_probabilities else "variable" if is_regressor(model) else "scores"
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        reference: Any = ReferenceEvaluator(path)
        return reference.run([result], dict(zip(reference.input_names, tables, strict=True)))[0]
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [each.name for each in session.get_inputs()]
    return session.run([result], dict(zip(names, tables, strict=True)))[0]


def _by_libsvm(model: Any, path: str, X: Any, computation: Computation, by_probabilities: bool) -> Any:
    rows = rows_at_machine(model, X)
    machine, back = machine_of(model), read_libsvm(path, n_features=rows.shape[1])
    if is_regressor(machine):
        return back.predict(rows)
    if not by_probabilities:
        return back.decision_function(rows)
    raise _Missing("LIBSVM computes its probabilities itself, to about three digits")


_RUNNERS: dict[str, Callable[..., Any]] = {
    "python": _by_python,
    "c": _by_c,
    "onnx": _by_onnx,
    "libsvm": _by_libsvm,
}
