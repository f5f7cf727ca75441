"""``mercer run``: let a model predict a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from sklearn.metrics import confusion_matrix, log_loss
from sklearn.utils._response import _get_response_values_binary

from ..checks import bytes_of
from ..composition import machine_of
from ..io import DataError, Table, open_chunked, write_whole
from ..messages import guide, in_digits
from .large_files import in_chunks
from .new_rows import (
    SHOWN,
    TrainedRows,
    TrainedRowsFound,
    as_in_training,
    by_origin,
    far_predictions,
    far_rows,
    groups_to_show,
    look_up,
    matching_table,
    show_far,
    show_record,
    task_of_model,
)
from .options import Places, common, data_options, one_or_several, options_of
from .output import STANDARD_OUTPUT, Delivery, csv_of, kept_columns, read_twice, refuse_outputs
from .paths import MODEL, ROWS, open_model, verify_option
from .printing import Printer, error_in_words, show_farthest_outliers

if TYPE_CHECKING:
    from ..model_files import ModelFile


@click.command()
@click.argument("model", type=MODEL)
@click.argument("data", type=ROWS, nargs=-1, callback=one_or_several)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Write a prediction and its score for each row, as CSV; - for the standard output. [default: show some]",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help='Carry a column of DATA through to the predictions, also one that the model does not use; "all" for all. May '
    "be repeated.",
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
@verify_option
@data_options
@common
def run(
    model: str,
    data: Places,
    output: str | None,
    keep: tuple[str, ...],
    ignore_labels: bool,
    intervals: float | None,
    probabilities: bool,
    reading: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Let a model predict a table, and count its errors; without DATA, tell those of its training.

    Columns are matched by name, whatever their order; all preparation is as it was in training. Where the table has
    the target column, errors and a confusion matrix are printed. The first predictions are shown; -o and --json have
    all of them. Each row has its place in the file, its name if there is one (a FASTA header, a column of ids), the
    columns of --keep, its prediction, its score (for two classes, positive means the second one) and, where the label
    is known, its margin: how much the score favours that label, negative where the prediction is wrong.

    Rows that the model was trained on are known again, whatever their order and however their numbers are written.
    Their errors are told apart from those on other rows: only these say what to expect of new ones.

    Rows with values far outside the training range of a column are counted, and some are named: beyond it by more than
    half of its width. So are predictions that leave the range of the training targets by more than a tenth of it.

    Of a model that was trained with --calibrate the predicted class is the most probable one, and scores are logarithms
    of its probabilities: of their ratio for two classes. Where mistakes have costs (--cost) it is the class of least
    expected cost, and scores are these costs less than nothing.

    A model of numbers writes the number, with --intervals between which two values the true one is expected, and errors
    in the unit of the target. An outlier detector writes 1 for inliers and -1 for outliers, with a score that is
    negative for these. A model of "mercer cluster" writes the cluster.

    \b
    Example:
      mercer run moons.safetensors
      mercer run moons.safetensors moons:500
      mercer run moons.safetensors moons:500 -o predictions.csv
      mercer run people.safetensors new.csv --keep surname --keep town -o - | head
    """
    if not data:
        _tell_record(model, {"--output": output, "--keep": keep, "--intervals": intervals}, printer)
        return
    delivery, to_file = Delivery(output, {}, printer), output not in (None, STANDARD_OUTPUT)
    if to_file:
        refuse_outputs([output], "name a file to write, or - for the standard output")
    chunks = to_file and in_chunks(data, bytes_of(reading["max_bytes"]))
    with printer.working("reading"), read_twice(data, keep, reading["max_bytes"]):
        loaded = open_model(model)
        task = task_of_model(loaded)
        asked = Asked.of(loaded, task, intervals, probabilities, printer)
        reading = as_in_training(reading, loaded.about)
        if not chunks:
            with _saying_how_large_files_are_read(data):
                table = matching_table(loaded, data, reading, printer, ignore_labels)
            delivery = replace(delivery, kept=kept_columns(data, table, keep, reading))
    if chunks:
        if keep:
            raise DataError(
                "--keep needs the table in memory, and it is too large for that; leave --keep out, or allow more with "
                "--max-bytes."
            )
        facts = _run_in_chunks(loaded, task, data, str(output), ignore_labels, asked, reading, printer)
        printer.json_result({"model": model, **facts})
        return
    predict, show = _TASKS[task]
    others = delivery.to_stderr
    seen = look_up(loaded.about, table, others)
    with others.working(f"predicting {table.n_rows} rows"):
        found = predict(loaded, table, seen, asked)
    facts = {"model": model, "rows": table.n_rows, "far_rows": far_rows(loaded.estimator, table), **found.facts}
    facts |= delivery.give(table, found.columns, found.shown, seen)
    show(facts, loaded.about, table.kind, others)
    found.show_details(others)
    show_far(facts, others)
    if to_file:
        what = f"{table.kind}, 1 for inliers and -1 for outliers," if task == "detect" else table.kind
        printer.line(f"predictions of {table.n_rows} {what} in {output}")
    printer.json_result(facts)


def _tell_record(model: str, asked: dict[str, Any], printer: Printer) -> None:
    """The errors on the training rows and on others that the model file tells."""
    from .inspect import recorded_errors

    about = open_model(model).about
    if given := [option for option, value in asked.items() if value]:
        raise click.UsageError(f"{given[0]} is about predictions, and no DATA is named to predict.")
    training, data = (about.get(name) or {} for name in ("training", "data"))
    errors = recorded_errors(about)
    for name, words in errors.items():
        printer.line(f"{name}: {words}")
    if not errors:
        printer.line(f"{model} tells no errors of its training; name DATA to count some.")
    printer.json_result({"model": model, "data": data, "training": training, "comparison": about.get("comparison")})


@contextmanager
def _saying_how_large_files_are_read(data: Places) -> Iterator[None]:
    """A file that is too large for memory need not be there as a whole."""
    try:
        yield
    except DataError as error:
        if "--max-bytes" not in str(error) or not in_chunks(data, 0):
            raise
        raise DataError(f"{str(error).rstrip('.')}, or read it chunk by chunk with -o FILE.") from None


#: What a model has learned, in words.
_LEARNED = {
    "classify": "is a classifier",
    "regress": "is a regressor",
    "detect": "detects outliers",
    "cluster": "finds clusters",
}


@dataclass(frozen=True)
class Asked:
    """What is asked for beside predictions: intervals of numbers that reach so far, or probabilities of classes."""

    coverage: float | None = None
    reach: float | None = None
    probabilities: bool = False

    @classmethod
    def of(cls, loaded: ModelFile, task: str, coverage: float | None, probabilities: bool, printer: Printer) -> Asked:
        """Refused where the model does not know it."""
        from ..calibration import Calibrated

        if coverage is not None and task != "regress":
            raise DataError(f"--intervals is for regressors, and this model {_LEARNED[task]}.")
        if probabilities and task != "classify":
            raise DataError(f"--probabilities is for classifiers, and this model {_LEARNED[task]}.")
        if probabilities and not hasattr(loaded.estimator, "predict_proba"):
            raise DataError(
                "the model knows no probabilities, and its scores are not probabilities; train it with --calibrate "
                f"sigmoid, or train kernel-logistic {guide('probabilities')}."
            )
        weights = getattr(machine_of(loaded.estimator), "class_weight", None)
        if probabilities and weights and not isinstance(loaded.estimator, Calibrated):
            printer.note(
                "The model counts classes by weights, so its probabilities of rare ones are too large; those of a "
                f"model trained with --calibrate are not {guide('class weights')}."
            )
        return cls(coverage, None if coverage is None else _reach(loaded.about, coverage), probabilities)


@dataclass(frozen=True)
class Predicted:
    """What is predicted of a table.

    ``columns`` say it row by row, ``shown`` are those that a screen has room for, and ``facts`` what is counted, on
    training rows and on others. ``show_details`` prints what only a table in memory can tell.
    """

    columns: dict[str, Any]
    shown: dict[str, Any]
    facts: dict[str, Any]
    show_details: Callable[[Printer], None] = lambda printer: None


# Models of classes.


#: More classes than this have no confusion matrix on the screen.
_CLASSES_SHOWN = 12


def _predict_classes(loaded: ModelFile, table: Table, seen: TrainedRowsFound | None, asked: Asked) -> Predicted:
    """Say of which class each row is, and count the mistakes where the labels are known."""
    estimator = loaded.estimator
    predicted, scores, classes = estimator.predict(table.X), _scores(estimator, table.X), estimator.classes_
    likely = _probabilities(estimator, table.X) if asked.probabilities else {}
    columns, shown = _class_columns(table, predicted, scores, classes, likely)
    facts: dict[str, Any] = {"labelled": int(table.labelled.sum())}
    if table.labelled.any():
        surprising = np.stack(list(likely.values())[: len(classes)], axis=1) if likely else None
        mistakes = partial(_mistakes, table, predicted, surprising, classes)
        facts |= {**mistakes(table.labelled), "classes": classes, **by_origin(seen, table.labelled, mistakes)}
    else:
        facts["predicted"] = {str(label): int((predicted == label).sum()) for label in classes}
    return Predicted(columns, shown, facts)


def _scores(model: Any, X: Any) -> Any:
    """Decision values; where a model has none, numbers whose largest is its prediction.

    They are the logarithms of its probabilities or, where mistakes have costs, the expected ones less than nothing.
    """
    from ..calibration import TunedThreshold
    from ..estimators import cost_matrix

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
    codes = np.searchsorted(classes, truth)
    shares = np.bincount(codes, minlength=len(classes)) / codes.size
    surprise = float(log_loss(codes, probabilities, labels=range(len(classes))))
    return {"log_loss": surprise, "log_loss_of_shares": float(-np.sum(shares[shares > 0] * np.log(shares[shares > 0])))}


def show_mistakes(facts: dict[str, Any], about: dict[str, Any], kind: str, printer: Printer) -> None:
    """The mistakes, on training rows apart from those on others; a confusion matrix of what tells more."""
    if not facts["labelled"]:
        counts = list(facts["predicted"].items())
        printer.table(["<predicted class", "rows"], counts, "The table has no labels to count errors with.")
        return
    apart = groups_to_show(facts)
    for name, found in apart.items():
        rows = found["labelled"]
        printer.line(f"error {100 * found['error']:.2f} %: {found['wrong']} of {rows} {name}rows are wrong")
        if "log_loss" in found:
            least = f"always predicting the class frequencies would have {found['log_loss_of_shares']:.4f}"
            of_rows = f" of {name}rows" if name else ""
            printer.line(f"log loss {found['log_loss']:.4f}{of_rows}; {least}")
    show_record(apart, about, printer)
    classes, (name, found) = facts["classes"], next(iter(apart.items()))
    matrix = found["confusion_matrix"]
    of_rows = f" of {name}rows" if name else ""
    if len(classes) <= _CLASSES_SHOWN:
        rows = [[f"true {label}", *counts] for label, counts in zip(classes, matrix, strict=True)]
        printer.table(["", *(f"predicted {label}" for label in classes)], rows, f"confusion matrix{of_rows}")
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


def _class_columns(
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


# Models of numbers.


#: Rows with the largest errors that are shown.
_ERRORS_SHOWN = 5


def _predict_numbers(loaded: ModelFile, table: Table, seen: TrainedRowsFound | None, asked: Asked) -> Predicted:
    """Predict numbers, and say how wrong they are where that can be known."""
    predicted, known = loaded.estimator.predict(table.X), table.labelled
    facts: dict[str, Any] = {"labelled": int(known.sum())}
    if asked.reach is not None:
        facts["intervals"] = {"coverage": asked.coverage, "half_width": asked.reach}
    facts["far_predictions"] = far_predictions(table, predicted, loaded.about)
    columns = _number_columns(table, predicted, asked.reach)
    if not known.any():
        low, middle, high = np.quantile(predicted, [0, 0.5, 1])
        facts["predicted"] = {"min": low, "median": middle, "max": high}
        return Predicted(columns, columns, facts)
    errors = partial(_errors, table, predicted, asked.reach)
    facts |= {**errors(known), **by_origin(seen, known, errors)}
    return Predicted(columns, columns, facts, partial(_show_largest, table, predicted))


def _reach(about: dict[str, Any], coverage: float) -> float:
    from ..study import COVERAGES, half_width

    widths = about.get("half_widths")
    if not isinstance(widths, list) or len(widths) != len(COVERAGES):
        raise DataError("the model does not know how far its errors reach; train it with 'mercer train'.")
    found = half_width(widths, coverage)
    if found is None:
        raise DataError(
            f"the model was trained on too few rows for intervals that hold {100 * coverage:g} % of new values; ask "
            "for a smaller share."
        )
    return found


def _errors(table: Table, predicted: Any, reach: float | None, rows: Any) -> dict[str, Any]:
    """The errors on some rows, all of them with targets."""
    from ..study import error_of_numbers

    assert table.y is not None
    truth = table.y[rows].astype(np.float64)
    facts = {name: value for name, value in error_of_numbers(truth, predicted[rows]).items() if name != "rows"}
    if reach is not None:
        facts["inside"] = float(np.mean(np.abs(truth - predicted[rows]) <= reach))
    return facts


def show_number_errors(facts: dict[str, Any], about: dict[str, Any], kind: str, printer: Printer) -> None:
    """The errors, on training rows apart from those on others."""
    if facts["labelled"]:
        apart = groups_to_show(facts)
        for name, found in apart.items():
            rows = f"{found['labelled']} {name}rows"
            if found["r2"] is not None and found["r2"] < 0:  # not so where it is unknown
                printer.line(f"The predictions are worse than the mean of these {rows} would be.")
            printer.line(f"{error_in_words(found)}  ({rows})")
            if "inside" in found:
                printer.line(f"{100 * found['inside']:.1f} % of the values lie inside their interval")
        show_record(apart, about, printer)
    else:
        low, middle, high = map(in_digits, facts["predicted"].values())
        printer.line("The table has no values of the target to compute errors with.")
        printer.line(f"predictions from {low} to {high}, median {middle}")
    if intervals := facts.get("intervals"):
        width, share = in_digits(intervals["half_width"]), 100 * intervals["coverage"]
        printer.line(f"intervals: each prediction ± {width}, to hold {share:g} % of new values")


def _show_largest(table: Table, predicted: Any, printer: Printer) -> None:
    assert table.y is not None
    known = np.flatnonzero(table.labelled)
    truth = table.y[known].astype(np.float64)
    residuals = truth - predicted[known]
    worst = np.argsort(-np.abs(residuals), kind="stable")[:_ERRORS_SHOWN]
    rows = [[table.where(int(known[k])), *map(in_digits, (truth[k], predicted[known[k]], residuals[k]))] for k in worst]
    printer.table(["<where", "true", "predicted", "difference"], rows, "largest errors")


def _number_columns(table: Table, predicted: Any, reach: float | None) -> dict[str, Any]:
    """For each row its prediction, its interval where asked for, and its true value and what is left of it."""
    columns: dict[str, Any] = {"prediction": predicted}
    if reach is not None:
        columns |= {"low": predicted - reach, "high": predicted + reach}
    if table.y is not None:
        truth = np.array([np.nan if value is None else float(value) for value in table.y.tolist()])
        columns |= {"target": truth, "residual": truth - predicted}
    return columns


# Outlier detectors.


#: More labels than this are no classes to count by.
_LABELS_SHOWN = 40


def _predict_outliers(loaded: ModelFile, table: Table, seen: TrainedRowsFound | None, asked: Asked) -> Predicted:
    """Say which rows are outliers: 1 or −1 and the score of each."""
    predicted, scores = loaded.estimator.predict(table.X), loaded.estimator.decision_function(table.X)
    columns: dict[str, Any] = {"prediction": predicted.tolist(), "score": scores}
    if table.y is not None:
        columns["label"] = table.y.tolist()

    def outliers(rows: Any) -> dict[str, Any]:
        return {"outliers": int((predicted[rows] < 0).sum())}

    facts = {**outliers(slice(None)), **by_origin(seen, None, outliers)}
    if table.labelled.any() and not table.measured:  # what labels, which nobody has learned from, say to it
        counts = {label: (table.y == label, rows) for label, rows in table.class_counts.items()}
        facts["by_label"] = {str(label): {"rows": rows, **outliers(own)} for label, (own, rows) in counts.items()}
    return Predicted(columns, columns, facts, partial(_show_outliers, facts, table, scores))


def show_outlier_counts(facts: dict[str, Any], about: dict[str, Any], kind: str, printer: Printer) -> None:
    """How many rows are outliers, of training rows apart from others."""
    apart = groups_to_show(facts)
    for name, found in apart.items():
        outliers, rows = found["outliers"], found["rows"]
        printer.line(f"{outliers} of {rows} {name}{kind} ({100 * outliers / rows:.2f} %) are outliers")
    show_record(apart, about, printer)


def _show_outliers(facts: dict[str, Any], table: Table, scores: Any, printer: Printer) -> None:
    """How many rows of each label are outliers, and which rows are farthest outside."""
    rows = [[name, one["rows"], one["outliers"], f"{100 * one['outliers'] / one['rows']:.1f} %"]
            for name, one in facts.get("by_label", {}).items()]  # fmt: skip
    if 0 < len(rows) <= _LABELS_SHOWN:
        printer.table(["<label", "rows", "outliers", "share"], rows, f"by {table.target!r}")
    show_farthest_outliers(table, scores, printer)


# Models of clusters.


def _predict_clusters(loaded: ModelFile, table: Table, seen: TrainedRowsFound | None, asked: Asked) -> Predicted:
    """Say of which cluster each row is."""
    from ..composition import machine_of

    labels = loaded.estimator.predict(table.X)
    counts = np.bincount(labels, minlength=machine_of(loaded.estimator).n_clusters)
    columns = {"cluster": labels}
    return Predicted(columns, columns, {"labelled": 0, "clusters": counts.tolist()})


def show_clusters(facts: dict[str, Any], about: dict[str, Any], kind: str, printer: Printer) -> None:
    """How many rows are in each cluster."""
    printer.table(["<cluster", kind], list(enumerate(facts["clusters"])))


#: By what a model does, who predicts and who shows what was counted.
_TASKS: dict[str, tuple[Callable[..., Predicted], Callable[..., None]]] = {
    "classify": (_predict_classes, show_mistakes),
    "regress": (_predict_numbers, show_number_errors),
    "detect": (_predict_outliers, show_outlier_counts),
    "cluster": (_predict_clusters, show_clusters),
}


# Files that are larger than the memory allowed: chunk by chunk, each as a table of its own.


def _run_in_chunks(
    loaded: ModelFile,
    task: str,
    data: Places,
    output: str,
    ignore_labels: bool,
    asked: Asked,
    reading: dict[str, Any],
    printer: Printer,
) -> dict[str, Any]:
    """Predict a file chunk by chunk, write the predictions as they come, and count errors."""
    about, (predict, show) = loaded.about, _TASKS[task]
    target = reading["target"] if reading["target"] is not None else about.get("target")
    file, _, _, _ = open_chunked(Path(data if isinstance(data, str) else data[0]),
                                 replace(options_of(reading), target=None, labelled=False))  # fmt: skip
    wanted = {*(about.get("columns") or file.columns), str(target)}
    used = [name for name in file.columns if name in wanted]
    remembered = TrainedRows.of(about)
    seen: list[TrainedRowsFound] = []
    facts: list[dict[str, Any]] = []
    total = file.n_rows

    def pieces(watched: Any) -> Iterator[str]:
        first = 0
        for frame in file.frames(used):
            speaker = printer if first == 0 else replace(printer, quiet=True)
            table = matching_table(loaded, frame, reading, speaker, ignore_labels, file.shown)
            met = None if remembered is None else remembered.among(table)
            seen.extend([] if met is None else [met])
            found = predict(loaded, table, met, asked)
            facts.append({"rows": table.n_rows, "far_rows": far_rows(loaded.estimator, table), **found.facts})
            _number_on(facts[-1], first)
            # Whether one of the rows to come was trained on is not known yet: the column is there in any case.
            known = {} if met is None else {"trained on": met.column}
            text = csv_of({"row": range(first + 1, first + table.n_rows + 1), **found.columns, **known})
            yield text if first == 0 else text.partition("\n")[2]
            first += table.n_rows
            watched.reach(first)

    with printer.working(f"predicting {total:,} rows", total) as watched:
        write_whole(output, pieces(watched))
    found = _together(facts)
    for name in ("trained_on", "others"):
        found |= {name: _together([each[name] for each in facts])} if seen else {}
    if any(each.trained.any() for each in seen):
        printer.line(TrainedRowsFound.of_all(seen).in_words("rows"))
    if task in ("detect", "cluster") or found["labelled"]:
        show(found, about, "rows", printer)
    show_far(found, printer)
    printer.line(f"predictions of {total:,} rows in {output}")
    return {**found, "output": output}


#: What is told of values and predictions that are far outside, and what the list of those named is called.
_FAR = {"far_rows": "values", "far_predictions": "predictions"}


def _number_on(facts: dict[str, Any], first: int) -> None:
    """Number the rows that are named as the whole file does, of which the chunk begins after so many rows."""
    for far, named in _FAR.items():
        for one in facts.get(far, {}).get(named, []):
            one["row"] += first
            one["where"] = f"row {one['row']}"


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """What was counted in all chunks, and the errors where their targets are known."""
    found: dict[str, Any] = {}
    for far, named in _FAR.items():
        if told := [part[far] for part in parts if part.get(far, {}).get("rows")]:
            some = [one for each in told for one in each[named]]
            found[far] = {**told[0], "rows": sum(each["rows"] for each in told), named: some[:SHOWN]}
    for count in ("rows", "labelled", "clusters", "outliers", "wrong", "confusion_matrix", "equal_to_training_rows"):
        if counts := [part[count] for part in parts if count in part]:
            found[count] = np.sum(counts, axis=0)
    known = [part for part in parts if part.get("labelled")]
    if "wrong" in found:
        found |= {"error": found["wrong"] / found["labelled"]}
        found |= {"classes": known[0]["classes"]} if "classes" in known[0] else {}
    if known and "rmse" in known[0]:
        share = np.array([part["labelled"] for part in known]) / found["labelled"]
        found |= {name: float(share @ [part[name] for part in known]) for name in ("mae", "inside") if name in known[0]}
        found |= {"rmse": float(np.sqrt(share @ [part["rmse"] ** 2 for part in known])), "r2": None}
    return found
