"""Which rows a model gets wrong, most of all, and which training items made it so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from .._runtime.compile import Array
from .._validation.labels import plain_label
from .._validation.objects import chosen, is_missing
from .explanation import plain_cell
from .opened_model import OpenedModel
from .support_items import nearest_support

__all__ = ["wrong_rows"]

#: Columns of a row that are shown, and letters of a cell.
_CELLS, _LETTERS = 12, 120


def _row(place: int) -> str:
    return f"row {place + 1}"


def _training_row(place: int) -> str:
    return f"training row {place + 1}"


def wrong_rows(
    model: Any,
    X: Any,
    y: Any,
    where: Callable[[int], str] = _row,
    *,
    top: int = 10,
    nearest: int = 3,
    where_trained: Callable[[int], str] = _training_row,
    trained_labels: Any = None,
) -> list[dict[str, Any]]:
    """The rows that a fitted model is most wrong about, as plain values.

    Of classes those whose score is farthest on the wrong side; of numbers those whose prediction is farthest off.

    Parameters
    ----------
    model : fitted estimator
    X : frame, array, sparse matrix or collection of strings, sets or graphs
    y : array
        Their true labels or numbers.
    where : callable, optional
        Says where a row of X stands, given its number from 0, such as ``Table.where``.
    top : int, default=10
    nearest : int, default=3
        How many support items are named beside each row.
    where_trained : callable, optional
        As ``where``, for the rows that the model was fitted on.
    trained_labels : array, optional
        The labels or numbers of these rows. By default what the coefficients tell of them.

    Returns
    -------
    list of dict
        ``"row"``, ``"label"``, ``"answer"``, ``"score"`` (how far on the wrong side: of classes the score of the label
        less the best of the others, of numbers the truth less the prediction), ``"cells"`` by column, and
        ``"nearest"``: support items with ``"row"``, ``"label"`` and ``"similarity"``, none for models without such.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.explain import wrong_rows
    >>> model = SVC("gaussian(gamma=1)").fit([[0.0], [1.0], [5.0]], ["near", "near", "far"])
    >>> [(each["row"], each["answer"]) for each in wrong_rows(model, [[0.5], [4.0]], ["near", "near"])]
    [('row 2', 'far')]
    """
    truth = np.asarray(y)
    classes = is_classifier(model)
    margins = _margins(model, X, truth) if classes else -np.abs(truth.astype(np.float64) - model.predict(X))
    answers = np.asarray(model.predict(X))
    wrong = np.flatnonzero(answers != truth)
    worst = wrong[np.argsort(margins[wrong], kind="stable")][:top]
    beside = _nearest(model, nearest, where_trained, trained_labels)
    out = []
    for place in worst.tolist():
        one = chosen(X, np.array([place]))
        score = margins[place] if classes else float(truth[place]) - float(answers[place])
        out.append(
            {
                "row": where(place),
                "label": _plain(truth[place]),
                "answer": _plain(answers[place]),
                "score": float(f"{float(score):.6g}"),
                "cells": _cells(one),
                "nearest": beside(one),
            }
        )
    return out


def _margins(model: Any, X: Any, truth: Array) -> Array:
    """The score of each row's label less the best of the others; of models without scores, of their probabilities."""
    from ..margins import decision_margins

    numbers = {label: k for k, label in enumerate(model.classes_.tolist())}
    codes = np.array([numbers.get(label, 0) for label in truth.tolist()])
    if hasattr(model, "decision_function"):
        return np.asarray(decision_margins(model.decision_function(X), codes))
    if hasattr(model, "predict_proba"):
        likely = np.asarray(model.predict_proba(X))
        return np.asarray(decision_margins(likely if likely.shape[1] > 2 else likely[:, 1] - likely[:, 0], codes))
    return np.where(np.asarray(model.predict(X)) == truth, 1.0, -1.0)


def _nearest(model: Any, count: int, where: Callable[[int], str], labels: Any) -> Callable[[Any], list[dict[str, Any]]]:
    """What tells the support items that are most like a row; nothing where a model has none."""
    try:
        opened = OpenedModel(model)
    except (TypeError, ValueError):
        return lambda one: []
    structured = not opened.takes_columns and not opened.machine.kernel_.on_rows

    def found(one: Any) -> list[dict[str, Any]]:
        near = nearest_support(model, one[0] if structured else one, top=count, where=where)
        return [
            {
                "row": each["row"],
                "label": _plain(each["label"] if labels is None else labels[each["place"]]),
                "similarity": float(f"{each['similarity']:.4g}"),
            }
            for each in near
        ]

    return found


def _cells(one: Any) -> dict[str, Any]:
    if hasattr(one, "columns"):
        names = list(one.columns)[:_CELLS]
        return {str(name): _plain(plain_cell(one[name].to_numpy()[0])) for name in names}
    if hasattr(one, "toarray"):
        row = one.toarray()[0]
        return {f"x{k + 1}": _plain(row[k]) for k in np.flatnonzero(row)[:_CELLS]}
    if isinstance(one, np.ndarray) and one.ndim == 2:
        return {f"x{k}": _plain(value) for k, value in enumerate(one[0, :_CELLS])}
    return {"item": _plain(one[0])}


def _plain(value: Any) -> Any:
    """A value of JSON's kinds: numbers to six digits, everything else as a text that is not endless."""
    value = plain_label(value)
    if is_missing(value):
        return None
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
