"""How far the answers of an exported model are from those of the model itself, measured by computing both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from .._runtime.compile import Array
from ..kernels.engine.parts import length
from .computed import computed
from .exported_runs import RUNS, Answers, Missing
from .likely_rows import likely_rows
from .rows_in_doubt import with_gaps_and_new_words

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
        Of scores; where the model has none, of probabilities.
    scale : float
        The largest score of the model itself.
    missing : str
        What it would take to compute the file.
    of_probabilities : float, optional
    labels : int, optional
        How many rows have another label.
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
    if is_regressor(model):
        return Answers(np.asarray(model.predict(X)))
    scores = np.asarray(model.decision_function(X)) if hasattr(model, "decision_function") else None
    likely = np.asarray(model.predict_proba(X)) if hasattr(model, "predict_proba") else None
    return Answers(scores, likely, np.asarray(model.predict(X)))
