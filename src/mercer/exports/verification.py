"""How far the answers of an exported model are from those of the model itself, measured by computing both."""

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
import pandas as pd
from sklearn.base import is_regressor

from ..checks import is_missing
from ..composition import machine_of, rows_at_machine
from ..kernels.engine import length
from ..runtime import Array
from .computation import (
    Computation,
    Filled,
    Level,
    Node,
    Numbers,
    Pair,
    Picked,
    Scaled,
    TextCounts,
    leaves_of,
    nodes_of,
)
from .computed import computed
from .libsvm import read_libsvm

# Rows like those that a model was made for, where no others are at hand: near its support rows, in its ranges.


#: How far rows are from support rows, in units of the spread of each column.
_NEAR = 0.3


def likely_rows(computation: Computation, count: int, seed: int = 0) -> Any:
    """Rows for a model: an array, or a frame where columns have names or hold words.

    Numbers are drawn near support rows; where steps change them on the way, around what these take for the middle.
    Words are drawn from those that are known.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> likely_rows(computed(SVC("rbf").fit([[0.0, 9.0], [1.0, 8.0]], [0, 1])), 3).round().tolist()
    [[1.0, 8.0], [1.0, 8.0], [1.0, 8.0]]
    """
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(count, len(computation.columns)))
    words: dict[int, Any] = {}
    for node in nodes_of(computation.outputs):
        if isinstance(node, Level):
            known = [level for level in node.levels if level is not None]
            drawn = rng.integers(len(known), size=count)
            if computation.columns[node.place].words:
                words[node.place] = [known[place] for place in drawn]
            else:
                numbers[:, node.place] = np.array(known)[drawn]
        elif isinstance(node, TextCounts):
            words[node.place] = [" ".join(rng.choice(node.terms, 4)) for _ in range(count)]
        elif isinstance(node, Scaled) and (places := _places(node.source)):
            middle = node.minus - node.plus / node.times
            numbers[:, places] = middle + rng.normal(size=(count, node.width)) / node.times
        else:
            for places, support in _supports(node):
                spread = support.std(axis=0)
                near = support[rng.integers(len(support), size=count)]
                numbers[:, places] = near + _NEAR * spread * rng.normal(size=near.shape)
    names = [column.name for column in computation.columns]
    if names == [f"x{place}" for place in range(len(names))] and not words:
        return numbers
    return pd.DataFrame({name: words.get(place, numbers[:, place]) for place, name in enumerate(names)})


def _places(node: Node) -> list[int]:
    """The columns that numbers are, where nothing has changed them but for gaps."""
    while isinstance(node, Filled):
        node = node.source
    if isinstance(node, Picked):
        before = _places(node.source)
        return [before[place] for place in node.places] if before else []
    return list(node.places) if isinstance(node, Numbers) else []


def _supports(node: Node) -> list[tuple[list[int], Array]]:
    """Support rows of a formula that compares columns as they are."""
    formula = getattr(node, "formula", None)
    leaves = [] if formula is None else [leaf for leaf in leaves_of(formula) if isinstance(leaf, Pair)]
    return [(places, leaf.support) for leaf in leaves if (places := _places(leaf.rows))]


# Gaps and new words in rows, where a model takes them: what a file has to treat as the model does.


#: Columns that are tried, and every how many rows of a column are changed.
_COLUMNS, _EVERY = 20, 9
_NEW_WORD = "a word that is new"


def with_gaps_and_new_words(X: Any, model: Any, computation: Computation) -> Any:
    """The rows, some of them with a gap or a new word in a column; where the model refuses such, as they were.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> model = make_pipeline(SimpleImputer(), SVC("rbf")).fit([[0.0], [1.0]], [0, 1])
    >>> with_gaps_and_new_words(np.array([[0.5], [0.7]]), model, computed(model)).tolist()
    [[nan], [0.7]]
    """
    for place, column in enumerate(computation.columns[:_COLUMNS]):
        strange = [(np.nan, 0), (_NEW_WORD, 4)] if column.words else [(np.nan, 0)]
        for value, begin in strange:
            changed = _changed(X, place, value, (begin + place) % _EVERY)
            if _takes(model, changed):
                X = changed
    return X


def _changed(X: Any, place: int, value: Any, begin: int) -> Any:
    """The rows, with a value in every so many of a column."""
    changed = X.copy()
    if hasattr(X, "iloc"):
        changed.iloc[begin::_EVERY, place] = value
    else:
        changed[begin::_EVERY, place] = value
    return changed


def _takes(model: Any, X: Any) -> bool:
    try:
        _answers_of(model, X)
    except Exception:  # whatever its steps raise, it refuses such rows
        return False
    return True


# Exported files computed on rows, each in its own place: Python, a C compiler, an ONNX runtime, LIBSVM's format.


class Missing(Exception):
    """What it would take to compute a file."""


@dataclass(frozen=True)
class Answers:
    """What a model, or its file, says of some rows; ``None`` where it does not say that.

    Labels are those of classes, or 1 and −1; not numbers that are predicted.
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
    likely = None if computation.probabilities is None else alone["probabilities"](table)
    labels = None if computation.answer.kind == "numbers" else alone["predict"](table)
    return Answers(alone["scores"](table), likely, labels)


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


#: Rows that are compared where none are given.
_ROWS = 200


@dataclass(frozen=True)
class Deviation:
    """The largest difference of a number on some rows; ``None`` where nothing could compute the file (``missing``).

    It is that of scores, which go up to ``scale``; where the model has none, of probabilities. ``labels`` tells how
    many rows have another label.
    """

    rows: int
    largest: float | None
    scale: float = 0.0
    missing: str = ""
    of_probabilities: float | None = None
    labels: int | None = None

    def __str__(self) -> str:
        if self.largest is None:
            return f"the file was not compared with the model: {self.missing}"
        size = f"where scores go up to {self.scale:.3g}"
        said = [f"the largest difference of a score on {self.rows:,} rows is {self.largest:.2g}, {size}"]
        if self.of_probabilities is not None:
            said.append(f"that of a probability is {self.of_probabilities:.2g}")
        if self.labels is not None:
            said.append(f"labels differ in {self.labels:,} of these rows")
        return "; ".join(said)


def deviation(model: Any, path: str | Path, to: str, X: Any = None) -> Deviation:
    """Compute rows by a model and by the file that it was exported to.

    Parameters
    ----------
    model : estimator
    path : str or Path
    to : {"onnx", "libsvm", "c", "python"}
    X : rows, optional
        As the model takes them; by default rows near those that the model is made of, some with gaps and
        new words where the model takes them.

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
    X = with_gaps_and_new_words(likely_rows(computation, _ROWS), model, computation) if X is None else X
    wanted = _answers_of(model, X)
    try:
        found = RUNS[to](model, str(path), X, computation)
    except Missing as missing:
        return Deviation(length(X), None, missing=str(missing))
    likely = _apart(found.probabilities, wanted.probabilities)
    largest, size = _apart(found.scores, wanted.scores), wanted.scores
    if largest is None:
        largest, size = likely, wanted.probabilities
    differ = None
    if found.labels is not None and wanted.labels is not None:
        differ = int((np.asarray(found.labels, object) != np.asarray(wanted.labels, object)).sum())
    scale = 0.0 if size is None else float(np.abs(size).max(initial=0.0))
    return Deviation(length(X), largest, scale, of_probabilities=likely, labels=differ)


def _apart(found: Array | None, wanted: Array | None) -> float | None:
    """The largest difference; infinite where one of two numbers is none."""
    if found is None or wanted is None:
        return None
    apart = np.abs(np.asarray(found, dtype=np.float64).reshape(wanted.shape) - wanted)
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0))


def _answers_of(model: Any, X: Any) -> Answers:
    """What the model itself says."""
    if not hasattr(model, "predict"):
        return Answers(np.asarray(model.transform(X)))
    if is_regressor(model):
        return Answers(np.asarray(model.predict(X)))
    scores = np.asarray(model.decision_function(X)) if hasattr(model, "decision_function") else None
    likely = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    return Answers(scores, likely, np.asarray(model.predict(X)))
