"""``mercer run``: let a model predict a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .._validation.wording import enumeration
from ..io.table import DataError
from .arguments import common, data_options
from .csv_writing import csv_of
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile

__all__ = ["run"]


@click.command()
@click.argument("model", type=click.Path())
@click.argument("data")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), help="Write a prediction and its score for each row, as CSV."
)
@click.option("--ignore-labels", is_flag=True, help="Predict only, as if the table had no labels.")
@click.option(
    "--intervals",
    type=click.FloatRange(0.01, 0.99),
    metavar="SHARE",
    help="Of a model of numbers: also between which values such a share of new values is expected, such as 0.9.",
)
@click.option(
    "--probabilities",
    is_flag=True,
    help="Of a model of classes: also the probability of each (mercer train --calibrate).",
)
@data_options
@common
def run(
    model: str,
    data: str,
    output: str | None,
    ignore_labels: bool,
    intervals: float | None,
    probabilities: bool,
    reading: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Let a model predict a table, and count its errors.

    Columns are matched by name, whatever their order; all preparation is as it was in training. Where the table has
    the target column, errors and a confusion matrix are printed. With -o each row gets its prediction, its score (for
    two classes, positive means the second one) and, where the label is known, its margin: how much the score favours
    that label, negative where the prediction is wrong.

    Of a model that was trained with --calibrate the predicted class is the most probable one, and scores are logarithms
    of its probabilities: of their ratio for two classes. Where mistakes have costs (--cost) it is the class of least
    expected cost, and scores are these costs less than nothing.

    A model of numbers writes the number, with --intervals between which two values the true one is expected, and errors
    in the unit of the target. A model of what is usual writes 1 for usual rows and -1 for others, with a score that is
    negative for these.

    \b
    Example:
      mercer run moons.safetensors moons:500 -o predictions.csv
    """
    from ..io.writing import refuse_unwritable, write_whole
    from ..model_files.models import open_model

    if output is not None:
        refuse_unwritable(output)
    with printer.working("reading"):
        loaded = open_model(model)
        task = task_of_model(loaded)
        about = {**loaded.about, "task": task}
        table = _matching_table(data, about, reading, ignore_labels, printer)
        _refuse_strange_words(table, _known_words(loaded.estimator), printer)
    _refuse_foreign(task, intervals, probabilities)
    if task == "regress":
        from .run_numbers import run_numbers

        run_numbers(loaded, table, output, intervals, printer, model)
        return
    if task == "detect":
        from .run_detector import run_detector

        run_detector(loaded, table, output, printer, model)
        return
    if probabilities and not hasattr(loaded.estimator, "predict_proba"):
        raise DataError(
            "the model knows no probabilities; train it with --calibrate sigmoid, or train kernel-logistic."
        )
    with printer.working(f"predicting {table.n_rows} rows"):
        predicted = loaded.estimator.predict(table.X)
        scores = _scores(loaded.estimator, table.X)
        likely = _probabilities(loaded.estimator, table.X) if probabilities else {}
    classes = loaded.estimator.classes_
    facts: dict[str, Any] = {"model": model, "rows": table.n_rows, "labelled": int(table.labelled.sum())}
    if output is not None:
        write_whole(output, predictions_csv(table, predicted, scores, classes, likely))
        facts["output"] = output
    if table.labelled.any():
        facts.update(_errors(table, predicted, classes, printer))
        if probabilities:
            facts.update(_log_loss(table, np.stack(list(likely.values())[: len(classes)], axis=1), classes, printer))
    else:
        counts = {str(label): int((predicted == label).sum()) for label in classes}
        facts["predicted"] = counts
        printer.table(
            ["<predicted class", "rows"], list(counts.items()), "The table has no labels to count errors with."
        )
    if output is not None:
        printer.line(f"predictions of {table.n_rows} rows in {output}")
    printer.json_result(facts)


#: What a model has learned, in words.
_LEARNED = {"classify": "tells classes apart", "regress": "learned numbers", "detect": "learned what is usual"}


def task_of_model(loaded: ModelFile) -> str:
    """What a model does: "classify", "regress" or "detect"."""
    from sklearn.base import is_outlier_detector, is_regressor

    if is_regressor(loaded.estimator):
        return "regress"
    return "detect" if is_outlier_detector(loaded.estimator) else "classify"


def _refuse_foreign(task: str, intervals: float | None, probabilities: bool) -> None:
    """Refuse what models of another task are asked for."""
    if intervals is not None and task != "regress":
        raise DataError(f"--intervals is for models of numbers, and this one {_LEARNED[task]}.")
    if probabilities and task != "classify":
        raise DataError(f"--probabilities is for models of classes, and this one {_LEARNED[task]}.")


def _scores(model: Any, X: Any) -> Any:
    """Decision values; where a model has none, numbers whose largest is its prediction.

    They are the logarithms of its probabilities or, where mistakes have costs, the expected ones less than nothing.
    """
    from ..estimators.cost_matrix import cost_matrix

    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    probabilities = model.predict_proba(X)
    if getattr(model, "costs", None) is not None:
        saved = -probabilities @ cost_matrix(model.costs, model.classes_, type(model).__name__)
        return saved[:, 1] - saved[:, 0] if saved.shape[1] == 2 else saved
    logarithms = np.log(probabilities)
    return logarithms[:, 1] - logarithms[:, 0] if logarithms.shape[1] == 2 else logarithms


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


def _matching_table(data: str, about: dict[str, Any], reading: dict[str, Any], blind: bool, printer: Printer) -> Table:
    """The table, with the columns that the model knows."""
    from dataclasses import replace

    from ..io import read

    columns, sparse = about.get("columns") or [], bool(about.get("sparse"))
    target = reading["target"] if reading["target"] is not None else about.get("target")
    kinds = {**dict.fromkeys(columns, "number"), **dict.fromkeys(about.get("words") or [], "category")}
    task = about.get("task")
    if reading["task"] not in (None, task):
        learned = {"regress": "numbers", "classify": "classes", "detect": "rows without labels"}[str(task)]
        raise DataError(f"the model was trained on {learned}; leave out --task {reading['task']}.")
    if all(isinstance(label, str) for label in about.get("classes") or [None]):
        kinds[str(target)] = "category"
    as_in_training = {
        "target": target,
        "kinds": {**kinds, **reading["kinds"]},
        "missing": [*reading["missing"], *(about.get("missing") or [])],
        "labelled": False,
        "unlabelled_rows": "keep",
        "dense": not sparse,
        "features": about.get("features"),
        "format": reading["format"] or about.get("format"),
        "task": "regress" if task == "regress" and not blind else None,
    }
    found = about.get("found")
    for name, kind in (
        ("delimiter", str),
        ("decimal", str),
        ("zero_based", bool),
    ):  # as in training, unless said otherwise now
        if reading[name] is None and isinstance(found, dict) and isinstance(found.get(name), kind):
            as_in_training[name] = found[name]
    table = read(data, **{**reading, **as_in_training})
    if blind:
        table = replace(table, y=None)
    if table.kind != about.get("kind", "rows"):
        raise DataError(f"the model was trained on {about.get('kind', 'rows')}, but {table.name} holds {table.kind}.")
    if sparse and table.n_columns != about["features"]:
        features = about["features"]
        raise DataError(f"{table.name} has {table.n_columns} features, the model was trained on {features}.")
    if columns:
        absent = [name for name in columns if name not in table.columns]
        if absent:
            missing = enumeration(map(repr, absent), 6)
            raise DataError(
                f"{data!r} lacks columns that the model was trained on: {missing}; add them, or train without them "
                "(--drop)."
            )
        extra = [name for name in table.columns if name not in set(columns)]
        if extra:
            printer.note(f"Columns that the model does not know are ignored: {enumeration(map(repr, extra), 6)}.")
        assert table.frame is not None
        table = replace(table, frame=table.frame[columns])
    if table.y is not None and task == "classify":
        _refuse_strange_labels(table, about)
    return table


def _refuse_strange_labels(table: Table, about: dict[str, Any]) -> None:
    known = {str(label) for label in about.get("classes") or []}
    strange = [label for label in table.class_counts if str(label) not in known]
    if known and strange:
        raise DataError(
            f"{table.name} has labels that the model does not know: {enumeration(map(repr, strange), 5)} (it knows "
            f"{enumeration(sorted(known), 5)}); {_remedy(table)}."
        )


def _remedy(table: Table) -> str:
    if table.kind == "sets":
        return "where the file has no labels, say so with --target none"
    return "correct them, or predict only with --ignore-labels"


def _known_words(model: Any) -> dict[str, list[Any]]:
    """For each column of words, the words that a fitted model has seen in it."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    from .._validation.unwrapped import steps_before

    steps = steps_before(model)
    steps += [part for step in steps if isinstance(step, Pipeline) for _, part in step.steps]
    found: dict[str, list[Any]] = {}
    for step in steps:
        for name, part, columns in step.transformers_ if isinstance(step, ColumnTransformer) else ():
            if name == "words":
                found |= {column: list(words) for column, words in zip(columns, part.categories_, strict=True)}
    return found


def _refuse_strange_words(table: Table, known: dict[str, list[Any]], printer: Printer) -> None:
    """A column of words in which no word is known says nothing to the model; one of numbers is another column."""
    from ..io.cells import is_numeric

    for name, words in known.items():
        found = {str(word) for word in table.X[name].dropna().unique()}
        seen = [str(word) for word in words if word == word]
        if not found or found & set(seen):
            continue
        examples = enumeration(map(repr, seen), 3)
        if all(map(is_numeric, found)):
            raise DataError(
                f"column {name!r} held words when the model was trained ({examples}) and holds numbers in "
                f"{table.name} ({enumeration(sorted(found), 3)}); write the same words as then."
            )
        printer.note(f"The model knows no word of column {name!r}: in training it held {examples}.")


def _errors(table: Table, predicted: Any, classes: Any, printer: Printer) -> dict[str, Any]:
    from sklearn.metrics import confusion_matrix

    known = table.labelled
    truth = _same_kind(table, classes)[known]
    answers = predicted[known]
    wrong = int((truth != answers).sum())
    matrix = confusion_matrix(truth, answers, labels=classes)
    printer.line(f"error {100 * wrong / truth.size:.2f} %: {wrong} of {truth.size} rows are wrong")
    shown = range(len(classes)) if len(classes) <= 12 else ()
    if shown:
        rows = [[f"is {classes[k]}", *matrix[k]] for k in shown]
        printer.table(["", *(f"said {label}" for label in classes)], rows, "confusion matrix")
    else:
        totals = matrix.sum(axis=1)
        missed = [(classes[k], totals[k], totals[k] - matrix[k, k]) for k in range(len(classes)) if totals[k]]
        rows = [[label, total, gone, f"{100 * gone / total:.1f} %"] for label, total, gone in missed]
        printer.table(["<class", "rows", "wrong", "error"], rows, "errors by class (--json has the confusion matrix)")
    return {"error": wrong / truth.size, "wrong": wrong, "classes": classes, "confusion_matrix": matrix}


def _log_loss(table: Table, probabilities: Any, classes: Any, printer: Printer) -> dict[str, float]:
    """How much surprise there is in the labels, beside that of a model that knows only how often each occurs."""
    from sklearn.metrics import log_loss

    known = table.labelled
    codes = np.searchsorted(classes, _same_kind(table, classes)[known].astype(classes.dtype))
    shares = np.bincount(codes, minlength=len(classes)) / codes.size
    numbers = range(len(classes))
    surprise = float(log_loss(codes, probabilities[known], labels=numbers))
    least = float(-np.sum(shares[shares > 0] * np.log(shares[shares > 0])))
    printer.line(f"log loss {surprise:.4f}; probabilities by the shares of the classes alone would have {least:.4f}")
    return {"log_loss": surprise, "log_loss_of_shares": least}


def _same_kind(table: Table, classes: Any) -> Any:
    """The labels as the model writes them: a column of 0 and 1 may be numbers in one file and words in another."""
    by_text = {str(label): label for label in classes.tolist()}
    assert table.y is not None
    labels = [None if label is None else by_text[str(label)] for label in table.y.tolist()]
    return np.array(labels, dtype=object if None in labels else classes.dtype)


def predictions_csv(table: Table, predicted: Any, scores: Any, classes: Any, probabilities: dict[str, Any]) -> str:
    """A line for each row: its prediction, its scores and probabilities, and its label and margin where known.

    The margin of two classes is y·f; of more, the score of the label less the best of the others.
    """
    from ..margins import decision_margins

    two = scores.ndim == 1
    columns: dict[str, Any] = {"prediction": predicted.tolist()}
    columns |= {"score": scores} if two else {f"score {label}": scores[:, k] for k, label in enumerate(classes)}
    columns |= probabilities
    if table.y is not None:
        truth = _same_kind(table, classes).tolist()
        numbers = {label: k for k, label in enumerate(classes.tolist())}
        codes = np.array([numbers.get(label, 0) for label in truth])
        margins = decision_margins(scores, codes)
        columns["label"] = ["" if label is None else label for label in truth]
        columns["margin"] = ["" if label is None else margin for label, margin in zip(truth, margins, strict=True)]
    return csv_of(columns)
