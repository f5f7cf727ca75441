"""What ``mercer run`` does with a model of classes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.guide import guide
from ..io.table import DataError
from .delivery import Delivery
from .printing import Printer
from .trained_rows import by_origin, groups_to_show, show_record

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile
    from .trained_rows import Seen

__all__ = ["run_classes", "show_mistakes"]

#: More classes than this have no confusion matrix on the screen.
_SHOWN = 12


def run_classes(
    loaded: ModelFile, table: Table, seen: Seen | None, delivery: Delivery, probabilities: bool, facts: dict[str, Any]
) -> dict[str, Any]:
    """Say of which class each row is, and count the mistakes where the labels are known."""
    from .._validation.unwrapped import machine_of
    from ..calibration import Calibrated

    estimator, printer = loaded.estimator, delivery.aside
    if probabilities and not hasattr(estimator, "predict_proba"):
        raise DataError(
            "the model knows no probabilities, and its scores are none; train it with --calibrate sigmoid, or train "
            f"kernel-logistic {guide('probabilities')}."
        )
    if probabilities and getattr(machine_of(estimator), "class_weight", None) and not isinstance(estimator, Calibrated):
        printer.note(
            "The model was told to count classes by weights, so its probabilities of rare ones are too large; those of "
            f"a model trained with --calibrate are not {guide('class weights')}."
        )
    with printer.working(f"predicting {table.n_rows} rows"):
        predicted = estimator.predict(table.X)
        scores = _scores(estimator, table.X)
        likely = _probabilities(estimator, table.X) if probabilities else {}
    classes = estimator.classes_
    facts = {**facts, "labelled": int(table.labelled.sum())}
    columns, shown = _columns(table, predicted, scores, classes, likely)
    facts.update(delivery.give(table, columns, shown, seen))
    if table.labelled.any():
        surprising = np.stack(list(likely.values())[: len(classes)], axis=1) if probabilities else None
        mistakes = partial(_mistakes, table, predicted, surprising, classes)
        facts.update(mistakes(table.labelled), classes=classes, **by_origin(seen, table.labelled, mistakes))
        show_mistakes(facts, loaded.about, printer)
    else:
        counts = {str(label): int((predicted == label).sum()) for label in classes}
        facts["predicted"] = counts
        printer.table(
            ["<predicted class", "rows"], list(counts.items()), "The table has no labels to count errors with."
        )
    return facts


def _scores(model: Any, X: Any) -> Any:
    """Decision values; where a model has none, numbers whose largest is its prediction.

    They are the logarithms of its probabilities or, where mistakes have costs, the expected ones less than nothing.
    """
    from ..calibration import TunedThreshold
    from ..estimators.cost_matrix import cost_matrix

    if isinstance(model, TunedThreshold):
        return _beyond_threshold(model, X)
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    probabilities = model.predict_proba(X)
    if getattr(model, "costs", None) is not None:
        saved = -probabilities @ cost_matrix(model.costs, model.classes_, type(model).__name__)
        return saved[:, 1] - saved[:, 0] if saved.shape[1] == 2 else saved
    logarithms = np.log(probabilities)
    return logarithms[:, 1] - logarithms[:, 0] if logarithms.shape[1] == 2 else logarithms


def _beyond_threshold(model: Any, X: Any) -> Any:
    """How far the score of the second class, or its probability, lies beyond the threshold that was chosen."""
    from sklearn.utils._response import _get_response_values_binary

    methods = ["predict_proba", "decision_function"] if model.response_method == "auto" else model.response_method
    values, _ = _get_response_values_binary(model.estimator_, X, methods, pos_label=model.classes_[1])
    return values - model.best_threshold_


def _probabilities(model: Any, X: Any) -> dict[str, Any]:
    """A column for the probability of each class, and where it may lie if the model knows that."""
    classes = model.classes_.tolist()
    values = model.predict_proba(X)
    found = {f"probability {label}": values[:, k] for k, label in enumerate(classes)}
    if hasattr(model, "predict_proba_interval"):
        intervals = model.predict_proba_interval(X)
        known = [(classes[1], intervals)] if len(classes) == 2 else zip(classes, intervals.swapaxes(0, 1), strict=True)
        for label, ends in known:
            found |= {f"low {label}": ends[:, 0], f"high {label}": ends[:, 1]}
    return found


def _mistakes(table: Table, predicted: Any, probabilities: Any, classes: Any, rows: Any) -> dict[str, Any]:
    """The mistakes on some rows, all of them with labels."""
    from sklearn.metrics import confusion_matrix

    truth = same_kind(table, classes)[rows].astype(classes.dtype)
    answers = predicted[rows]
    wrong = int((truth != answers).sum())
    found = {
        "error": wrong / truth.size,
        "wrong": wrong,
        "confusion_matrix": confusion_matrix(truth, answers, labels=classes),
    }
    return found if probabilities is None else {**found, **_log_loss(truth, probabilities[rows], classes)}


def _log_loss(truth: Any, probabilities: Any, classes: Any) -> dict[str, float]:
    """How much surprise there is in the labels, beside that of a model that knows only how often each occurs."""
    from sklearn.metrics import log_loss

    codes = np.searchsorted(classes, truth)
    shares = np.bincount(codes, minlength=len(classes)) / codes.size
    surprise = float(log_loss(codes, probabilities, labels=range(len(classes))))
    return {"log_loss": surprise, "log_loss_of_shares": float(-np.sum(shares[shares > 0] * np.log(shares[shares > 0])))}


def show_mistakes(facts: dict[str, Any], about: dict[str, Any], printer: Printer) -> None:
    """The mistakes, on training rows apart from those on others; a confusion matrix of what tells more."""
    apart = groups_to_show(facts)
    for name, found in apart.items():
        rows = found["labelled"]
        printer.line(f"error {100 * found['error']:.2f} %: {found['wrong']} of {rows} {name}rows are wrong")
        if "log_loss" in found:
            least = f"probabilities by the shares of the classes alone would have {found['log_loss_of_shares']:.4f}"
            of_rows = f" of {name}rows" if name else ""
            printer.line(f"log loss {found['log_loss']:.4f}{of_rows}; {least}")
    show_record(apart, about, printer)
    classes, (name, found) = facts["classes"], next(iter(apart.items()))
    matrix = found["confusion_matrix"]
    of_rows = f" of {name}rows" if name else ""
    if len(classes) <= _SHOWN:
        rows = [[f"is {label}", *counts] for label, counts in zip(classes, matrix, strict=True)]
        printer.table(["", *(f"said {label}" for label in classes)], rows, f"confusion matrix{of_rows}")
    else:
        totals = matrix.sum(axis=1)
        missed = [(classes[k], totals[k], totals[k] - matrix[k, k]) for k in range(len(classes)) if totals[k]]
        rows = [[label, total, gone, f"{100 * gone / total:.1f} %"] for label, total, gone in missed]
        title = f"errors by class{of_rows} (--json has the confusion matrix)"
        printer.table(["<class", "rows", "wrong", "error"], rows, title)


def same_kind(table: Table, classes: Any) -> Any:
    """The labels as the model writes them: a column of 0 and 1 may be numbers in one file and words in another."""
    by_text = {str(label): label for label in classes.tolist()}
    assert table.y is not None
    labels = [None if label is None else by_text[str(label)] for label in table.y.tolist()]
    return np.array(labels, dtype=object if None in labels else classes.dtype)


def _columns(
    table: Table, predicted: Any, scores: Any, classes: Any, probabilities: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """For each row its prediction, its scores and probabilities, and its label and margin where known.

    The margin of two classes is y·f; of more, the score of the label less the best of the others. The second dictionary
    is what a screen has room for: of several classes what was scored best.
    """
    from ..margins import decision_margins

    two = scores.ndim == 1
    columns: dict[str, Any] = {"prediction": predicted.tolist()}
    shown = dict(columns)
    columns |= {"score": scores} if two else {f"score {label}": scores[:, k] for k, label in enumerate(classes)}
    columns |= probabilities
    if probabilities:
        likely = np.stack([probabilities[f"probability {label}"] for label in classes.tolist()], axis=1)
        shown["probability"] = likely[np.arange(table.n_rows), np.searchsorted(classes, predicted)]
    else:
        shown["score"] = scores if two else scores.max(axis=1)
    if table.y is not None:
        truth = same_kind(table, classes).tolist()
        numbers = {label: k for k, label in enumerate(classes.tolist())}
        codes = np.array([numbers.get(label, 0) for label in truth])
        margins = decision_margins(scores, codes)
        columns["label"] = shown["label"] = truth
        columns["margin"] = [
            None if label is None else float(margin) for label, margin in zip(truth, margins, strict=True)
        ]
    return columns, shown
