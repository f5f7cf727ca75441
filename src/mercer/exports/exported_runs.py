"""Exported files computed on rows, each in its own place: Python, a C compiler, an ONNX runtime, LIBSVM's format."""

from __future__ import annotations

import csv
import ctypes
import os
import runpy
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._runtime.compile import Array
from .._validation.objects import is_missing
from .._validation.unwrapped import machine_of, rows_at_machine
from .computation import Computation
from .csv_parts import MISSING_CELLS
from .libsvm_reading import read_libsvm

__all__ = ["RUNS", "Answers", "Missing"]


class Missing(Exception):
    """What it would take to compute a file."""


@dataclass(frozen=True)
class Answers:
    """What a model, or its file, says of some rows; ``None`` where it does not say that.

    Parameters
    ----------
    scores : array, optional
    probabilities : array, optional
    labels : array, optional
        Labels of classes, or 1 and −1; not numbers that are predicted.
    """

    scores: Array | None
    probabilities: Array | None = None
    labels: Array | None = None


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


def _by_python(model: Any, path: str, X: Any, computation: Computation) -> Answers:
    alone = runpy.run_path(path)
    names = [column.name for column in computation.columns]
    table = dict(zip(names, _columns(X, computation), strict=True))
    if _fits_csv(table, computation):
        table = _through_csv(table, alone["read_csv"])
    likely = None if computation.probabilities is None else alone["probabilities"](table)
    labels = None if computation.answer.kind == "numbers" else alone["predict"](table)
    return Answers(alone["scores"](table), likely, labels)


def _fits_csv(table: dict[str, list[Any]], computation: Computation) -> bool:
    """Whether names and words stay what they are in a CSV file: no spaces around them, and none that means a gap."""
    words = [word for column in computation.columns if column.words for word in table[column.name] if word is not None]
    texts = [*table, *words]
    return all(text == text.strip() and "\r" not in text for text in texts) and not MISSING_CELLS.intersection(
        word.lower() for word in words
    )


def _through_csv(table: dict[str, list[Any]], read: Callable[[str], Any]) -> Any:
    """The table as the file reads it from CSV."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/rows.csv", "w", newline="", encoding="utf-8-sig", errors="surrogatepass") as file:
            writer = csv.writer(file)
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
        return read(f"{folder}/rows.csv")


def _by_c(model: Any, path: str, X: Any, computation: Computation) -> Answers:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or os.name != "posix":
        raise Missing("there is no C compiler")
    with tempfile.TemporaryDirectory() as folder:
        library = f"{folder}/model.so"
        command = [compiler, "-std=c99", "-O1", "-shared", "-fPIC", "-x", "c", path, "-o", library, "-lm"]
        made = subprocess.run(command, capture_output=True, text=True)
        if made.returncode:
            raise Missing(f"the C compiler says {made.stderr.strip()[:200]}")
        return _called(ctypes.CDLL(library), X, computation)


def _called(library: Any, X: Any, computation: Computation) -> Answers:
    kinds = [column.words for column in computation.columns]
    by_class = computation.answer.kind == "class"
    scores, likely, labels = [], [], []
    for row in zip(*_columns(X, computation), strict=True):
        numbers = [value for value, words in zip(row, kinds, strict=True) if not words]
        arguments: list[Any] = [(ctypes.c_double * max(1, len(numbers)))(*numbers)]
        if any(kinds):
            words = [value for value, is_word in zip(row, kinds, strict=True) if is_word]
            coded = [None if word is None else word.encode("utf-8", "surrogatepass") for word in words]
            arguments.append((ctypes.c_char_p * len(coded))(*coded))
        scores.append(_filled(library.mercer_scores, arguments, computation.scores.width))
        if computation.probabilities is not None:
            likely.append(_filled(library.mercer_probabilities, arguments, computation.probabilities.width))
        if by_class:
            labels.append(library.mercer_predict(*arguments))
    named = np.array([*computation.classes, None], dtype=object)[labels] if by_class else None
    return Answers(np.array(scores), np.array(likely) if likely else None, named)


def _filled(function: Any, arguments: list[Any], width: int) -> list[float]:
    out = (ctypes.c_double * width)()
    function(*arguments, out)
    return list(out)


def _by_onnx(model: Any, path: str, X: Any, computation: Computation) -> Answers:
    columns = _columns(X, computation)
    if any(column.words for column in computation.columns):
        pairs = zip(columns, computation.columns, strict=True)
        tables = [np.array([["" if value is None else value] for value in values], dtype=object) if column.words
                  else np.array(values, dtype=float)[:, None] for values, column in pairs]  # fmt: skip
    else:
        tables = [np.column_stack([np.array(values, dtype=float) for values in columns])]
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        reference: Any = ReferenceEvaluator(path)
        values = reference.run(None, dict(zip(reference.input_names, tables, strict=True)))
        found = dict(zip(reference.output_names, values, strict=True))
    else:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        names, results = ([each.name for each in some] for some in (session.get_inputs(), session.get_outputs()))
        found = dict(zip(results, session.run(None, dict(zip(names, tables, strict=True))), strict=True))
    return Answers(found.get("scores", found.get("variable")), found.get("probabilities"), found.get("label"))


def _by_libsvm(model: Any, path: str, X: Any, computation: Computation) -> Answers:
    rows = rows_at_machine(model, X)
    machine, back = machine_of(model), read_libsvm(path, n_features=rows.shape[1])
    if is_regressor(machine):
        return Answers(back.predict(rows))
    if computation.probabilities is not None:
        raise Missing("LIBSVM computes its probabilities itself, to about three digits")
    labels = back.predict(rows)
    if computation.classes:
        labels = machine.classes_[np.searchsorted(back.classes_, labels)]
    return Answers(back.decision_function(rows), None, labels)


#: From a model, a path, rows and what the model computes to the answers of the file, by target.
RUNS: dict[str, Callable[[Any, str, Any, Computation], Answers]] = {
    "python": _by_python,
    "c": _by_c,
    "onnx": _by_onnx,
    "libsvm": _by_libsvm,
}
