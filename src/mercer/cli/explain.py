"""``mercer explain``: what a model looks at, as a whole or in one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from sklearn.base import is_regressor

from ..checks import whole_number
from ..composition import machine_of
from ..io import DataError, Table
from ..messages import enumeration, in_digits, printable
from .new_rows import as_in_training, look_up, matching_table, task_of_model
from .options import Places, common, data_argument, data_options
from .paths import MODEL, open_model, verify_option
from .printing import Printer

if TYPE_CHECKING:
    from ..explain import Explanation, ModelOverview, Supporter
    from ..model_files import ModelFile
    from ..study import ErrorMeasure


@click.command()
@click.argument("model", type=MODEL)
@data_argument
@click.option(
    "--row",
    metavar="N",
    help="Explain one row: the line of the file at which it begins, or its name where rows have names that are no "
    "numbers. Tables without lines count rows from 1.",
)
@click.option("--label", help="With --row: explain the score of this class. [default: the predicted one]")
@click.option(
    "--scoring",
    help="What gets worse where a column is shuffled, as in mercer compare: accuracy, auc, f1, mae. [default: as "
    "there]",
)
@click.option(
    "--top",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    help="Name so many columns, parts and training rows.",
)
@verify_option
@data_options
@common
def explain(
    model: str,
    data: Places,
    row: str | None,
    label: str | None,
    scoring: str | None,
    top: int,
    reading: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Say what a model looks at: in a whole table, or in one row of it.

    Of a whole table: which columns the model needs, told by how much worse it predicts where the values of a column are
    shuffled among the rows (of 500 rows at most, five times; use rows that it was not trained on). Where the kernel has
    parts that can be named, such as substrings, words, items of sets or subtrees, those that move the scores most, and
    the class that they speak for. Of a mixture, what each kernel does. And the training rows that count most.

    Of one row: its prediction and its score, and what they are made of. Each column is compared with the values that
    other rows have in it: +0.5 means that the score is higher by 0.5 with this value than with those of others. Parts
    with names add up to the score. Last come the training rows that are most like it, and those that decided most,
    for (+) or against (-) what was predicted.

    \b
    Example:
      mercer train svc breast_cancer -o m.safetensors
      mercer explain m.safetensors breast_cancer
      mercer explain m.safetensors breast_cancer --row 17
      mercer explain spam.safetensors sms.csv --row 24 --label ham
      mercer explain genes.safetensors genes.fasta --json
    """
    if label is not None and row is None:
        raise DataError("--label says which score of a row is explained; name the row with --row.")
    with printer.working("reading"):
        loaded = open_model(model)
        table = matching_table(loaded, data, as_in_training(reading, loaded.about), printer)
    trained_where = training_places(loaded)
    if row is None:
        explain_model(loaded, table, scoring, top, trained_where, printer, seed)
    else:
        if scoring is not None:
            raise DataError("--scoring is for the columns of a whole table; leave it out, or leave out --row.")
        explain_row(loaded, table, place_of(row, table), label, top, trained_where, printer, seed)


def training_places(loaded: ModelFile) -> Callable[[int], str]:
    """Where a training row of a model stands, given its number: in a line of its file, if the model remembers that."""
    lines = loaded.about.get("support_lines")
    support = getattr(machine_of(loaded.estimator), "_model", None)
    places = getattr(support, "support", None)
    if not isinstance(lines, list) or places is None or len(lines) != len(places):
        return lambda place: f"training row {place + 1}"
    known = dict(zip(places.tolist(), lines, strict=True))
    return lambda place: known[place] if isinstance(known[place], str) else f"line {known[place]}"


def place_of(row: str, table: Table) -> int:
    """The number of a row from 0, given the line at which it begins, its name, or its number from 1."""
    names = [] if table.names is None else [str(name) for name in table.names]
    if row in names and not row.isdecimal():
        return names.index(row)
    if not row.isdecimal():
        raise DataError(f"{table.name} has no row {row!r}; give --row the line of the file at which the row begins.")
    number = whole_number(row)
    if table.lines is None:
        if not 1 <= number <= table.n_rows:
            raise DataError(f"{table.name} has rows 1 to {table.n_rows}, there is no row {row}.")
        return number - 1
    numbers = np.asarray(getattr(table.lines, "numbers", table.lines))
    found = np.flatnonzero(numbers == number)
    if not found.size:
        first, last = int(numbers.min()), int(numbers.max())
        raise DataError(
            f"{table.name} has no row that begins in line {row}; its rows begin in lines {first} to {last}."
        )
    return int(found[0])


# What ``mercer explain`` says about a model as a whole.


#: What the named features of the items are called.
_PARTS = {"strings": "parts of the strings", "sets": "items", "graphs": "parts of the graphs", "rows": "features"}
#: Letters of an item that are shown, and training rows.
_LETTERS, _SHOWN = 60, 5


def explain_model(
    loaded: ModelFile,
    table: Table,
    scoring: str | None,
    top: int,
    where: Callable[[int], str],
    printer: Printer,
    seed: int,
) -> None:
    """Print which columns, parts, kernels and training rows count."""
    from ..explain import overview
    from ..report import kernel_of

    labelled = np.flatnonzero(table.labelled)
    rows = table.take(labelled) if 0 < labelled.size < table.n_rows else table
    targets = _targets(loaded, rows)
    measure = _measure(scoring, targets, task_of_model(loaded))
    with printer.working(f"looking at {table.kind}"):
        found = overview(
            loaded.estimator,
            rows.X,
            targets,
            scoring=None if measure is None else measure.scorer or measure.scoring,
            top=top,
            names=table.columns if table.rows is not None else None,
            seed=seed,
        )
    seen = look_up(loaded.about, table, printer)
    facts = {**found.facts(), **({} if seen is None else {"trained_on": int(seen.trained.sum())})}
    for supporter in facts["supporters"]:
        supporter["where"] = where(supporter["place"])
    printer.json_result({"rows_given": table.n_rows, **facts, "scoring": None if measure is None else measure.scoring})
    about = loaded.about
    named = about.get("kernel") not in (None, "linear")
    kernel = f" with the kernel {printable(kernel_of(about) or '', _LETTERS)}" if named else ""
    drawn = f"{found.rows} of {rows.n_rows}" if found.rows < rows.n_rows else str(rows.n_rows)
    learner = about.get("learner", type(loaded.estimator).__name__)
    printer.line(f"{learner}{kernel}, on {drawn} {table.kind} of {table.name}")
    _show_columns(found.importances, measure, table, printer)
    _show_features(found, table, printer)
    if found.kernels:
        shares = [[each.kernel, f"{each.weight:.4f}", f"{100 * each.share:.1f} %"] for each in found.kernels]
        printer.table(["<kernel", "weight", "share of ‖w‖²"], shares, "mixture of kernels")
    _show_supporters(found, "prediction" if is_regressor(loaded.estimator) else "score", where, printer)
    for note in found.notes:
        printer.line(note)
    if seen is not None and seen.trained.any():
        printer.line("Other rows than those of its training tell better what it needs.")


def _targets(loaded: ModelFile, table: Table) -> Any:
    """The labels as the model writes them; ``None`` where there are none."""
    from .run import same_kind

    if not table.labelled.any():
        return None
    return same_kind(table, loaded.estimator.classes_) if hasattr(loaded.estimator, "classes_") else table.y


def _measure(scoring: str | None, targets: Any, task: str) -> ErrorMeasure | None:
    """What gets worse where a column is shuffled: as asked for, or as in a comparison; none without labels."""
    from ..study import measure_named, positive_class, usual_measure

    if task == "detect" or targets is None:
        return None
    if task == "regress":
        return measure_named(scoring or "rmse", task)
    classes = np.unique(targets).tolist()
    positive = positive_class(targets) if len(classes) == 2 else None
    return measure_named(scoring or usual_measure(targets), task, classes, positive)


def _show_columns(
    importances: list[dict[str, Any]], measure: ErrorMeasure | None, table: Table, printer: Printer
) -> None:
    if table.kind != "rows":
        return
    if not importances:
        why = "there are too many" if table.labelled.any() else "the table has no labels to count errors with"
        printer.line(f"The importance of columns is unknown: {why}.")
        return
    share = measure is not None and measure.scoring in ("accuracy", "balanced_accuracy")
    needed = [each for each in importances if each["drop"] or each["sd"]]
    rows = [[each["column"], _amount(each["drop"], share), _amount(each["sd"], share)] for each in needed]
    printer.table(["<column", _worse(measure), "±"], rows, "permutation importance of the columns")
    if len(needed) < len(importances):
        rest = [each["column"] for each in importances if each not in needed]
        printer.line(f"Without effect: {enumeration(rest, 8)}.")


def _amount(value: float, share: bool) -> str:
    return f"{100 * value:.2f} %" if share else f"{value:.4g}"


def _worse(measure: ErrorMeasure | None) -> str:
    """What a column of importances is headed by."""
    if measure is None:
        return "scores move by"
    if measure.is_usual:
        return "accuracy falls by" if measure.task == "classify" else f"{measure.name} rises by"
    return f"{measure.title} {'falls' if measure.perfect else 'rises'} by"


def parts_in_words(table: Table) -> str:
    """What the features of the kernel are called that have names."""
    return _PARTS[table.kind]


def _show_features(found: ModelOverview, table: Table, printer: Printer) -> None:
    if not found.features:
        if table.kind != "rows":
            printer.line(f"The kernel has no {parts_in_words(table)} that could be named.")
        return
    numbers = found.features[0].label is None
    speaks = [] if numbers else ["<class"]
    rows = [
        [each.name, *([] if numbers else [each.label]), f"{each.value:{'+' if numbers else ''}.4g}", each.rows]
        for each in found.features
    ]
    moves = "changes the prediction by" if numbers else "moves a score by"
    printer.table(
        [f"<{parts_in_words(table)}", *speaks, moves, "in rows"], rows, f"{parts_in_words(table)} that count most"
    )


def _show_supporters(found: ModelOverview, what: str, where: Callable[[int], str], printer: Printer) -> None:
    if not found.supporters:
        return
    numbers = found.supporters[0].label is None
    rows = [
        [where(each.place), *([] if numbers else [each.label]), f"{each.value:.4g}", shown_item(each.item)]
        for each in found.supporters[:_SHOWN]
    ]
    heads = ["<where", *([] if numbers else ["<class"]), f"moves a {what} by", "<item"]
    show_named(heads, rows, "training rows with the largest influence", printer)


def show_named(heads: list[str], rows: list[list[Any]], title: str, printer: Printer) -> None:
    """A table whose last column is left out where it is empty."""
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    printer.table(heads, rows, title)


def shown_item(item: Any) -> str:
    """A training row, string, set or graph in one line.

    Examples
    --------
    >>> shown_item({"milk": 1, "bread": 2}), shown_item({"age": 30.0, "job": "cook"}), shown_item((3, [[0, 1], [1, 2]]))
    ('milk, bread ×2', 'age=30, job=cook', '3 nodes, 2 edges')
    """
    if item is None or hasattr(item, "tolist"):  # numbers as they were prepared, which nobody would recognise
        return ""
    if isinstance(item, dict) and all(isinstance(count, int) for count in item.values()):
        text = ", ".join(f"{name} ×{count}" if count > 1 else str(name) for name, count in item.items())
    elif isinstance(item, dict):
        text = ", ".join(f"{name}={_short(value)}" for name, value in item.items())
    elif isinstance(item, tuple) and len(item) > 1 and isinstance(item[0], int):
        text = f"{item[0]} node{'s' * (item[0] != 1)}, {len(item[1])} edge{'s' * (len(item[1]) != 1)}"
    else:
        text = item if isinstance(item, str) else repr(item)
    return printable(text, _LETTERS)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


# What ``mercer explain --row`` says about one row.


#: Training rows that are shown.
_ROWS_SHOWN = 5
#: A part of a score that is so many times as large as the score says little by itself.
_DWARFED = 10


def explain_row(
    loaded: ModelFile,
    table: Table,
    place: int,
    label: str | None,
    top: int,
    where: Callable[[int], str],
    printer: Printer,
    seed: int,
) -> None:
    """Print the prediction of one row, and what it is made of."""
    from ..explain import explain

    model = loaded.estimator
    one = table.take([place])
    item = one.X[0] if one.items is not None else one.X
    wanted = None if label is None else _class_of(label, model)
    with printer.working(f"explaining {table.where(place)}"):
        found = explain(
            model,
            item,
            label=wanted,
            top=top,
            among=None if one.items is not None else table.X,
            names=table.columns if table.rows is not None else None,
            random_state=seed,
        )
        likely = _probabilities(model, one.X)
    truth = one.y.tolist()[0] if one.y is not None else None
    seen = look_up(loaded.about, one, printer)
    facts = {"row": table.where(place), "true": truth, **found.facts(), "probabilities": likely}
    facts |= {} if seen is None else {"trained_on": seen.column[0]}
    for name in ("deciding", "similar"):
        for supporter in facts[name]:
            supporter["where"] = where(supporter["place"])
    printer.json_result(facts)
    _show_answer(found, table.where(place), truth, likely, loaded, printer)
    if len(found.columns) > 1 and not _are_columns(found):
        rows = [[found.named(push), f"{push.value:+.4g}"] for push in found.columns]
        printer.table(["<column", "adds"], rows, "columns: what this value adds, beside the values of other rows")
    if found.features:
        rows = [[found.named(push), f"{push.value:+.4g}"] for push in found.features]
        rest = [["all else", f"{found.rest:+.4g}"], ["intercept", f"{found.intercept:+.4g}"]]
        title = f"{parts_in_words(table)}: contributions to the score"
        printer.table([f"<{parts_in_words(table)}", "adds"], rows + rest, title)
    _show_training_rows(found.similar, where, "training rows that are most like it", printer)
    if {each.place for each in found.deciding[:_ROWS_SHOWN]} != {each.place for each in found.similar[:_ROWS_SHOWN]}:
        _show_training_rows(found.deciding, where, "training rows that decided most", printer)
    if any(abs(each.value) > _DWARFED * abs(found.score) for each in (*found.similar, *found.deciding)):
        printer.line("What these rows add is far more than the score, and cancels: which rows they are tells more.")
    for note in found.notes:
        printer.line(note)


def _are_columns(found: Explanation) -> bool:
    """Whether the features of the model are the columns themselves, so that what they add says all."""
    return bool(found.features) and all(push.name in found.cells for push in found.features)


def _class_of(label: str, model: Any) -> Any:
    """The class that is written like this."""
    if not hasattr(model, "classes_"):
        raise DataError("--label names a class, and this model has none; leave it out.")
    classes = {str(each): each for each in model.classes_.tolist()}
    if label not in classes:
        raise DataError(f"the model knows no class {label!r}; its classes are {enumeration(map(repr, classes), 8)}.")
    return classes[label]


def _probabilities(model: Any, X: Any) -> dict[str, float]:
    if not hasattr(model, "predict_proba"):
        return {}
    return dict(zip(map(str, model.classes_.tolist()), np.asarray(model.predict_proba(X))[0].tolist(), strict=True))


def _show_answer(
    found: Explanation, where: str, truth: Any, likely: dict[str, float], loaded: ModelFile, printer: Printer
) -> None:
    if not hasattr(loaded.estimator, "classes_"):
        detects = hasattr(loaded.estimator, "fit_predict")
        if detects:
            usual = "inlier" if found.predicted > 0 else "outlier"
            printer.line(f"{where}: {usual}; score {found.score:+.4g}, which is negative for outliers")
            return
        known = "" if truth is None else f"; the true value is {in_digits(truth)}"
        printer.line(f"{where}: predicted {in_digits(found.predicted)}{known}")
        return
    verdict = (
        "" if truth is None else f" ({'right' if str(truth) == str(found.predicted) else f'wrong: it is {truth}'})"
    )
    printer.line(f"{where}: predicted {found.predicted}{verdict}")
    chance = f"; probability {likely[str(found.label)]:.3f}" if likely else ""
    printer.line(
        f"score {found.score:+.4g} for {found.label}{chance}. What follows adds to it (+) or takes from it (-)."
    )


def _show_training_rows(items: list[Supporter], where: Callable[[int], str], title: str, printer: Printer) -> None:
    if not items:
        return
    numbers = items[0].label is None
    rows = [
        [where(each.place), *([] if numbers else [each.label]), f"{each.similarity:.3f}", f"{each.value:+.4g}",
         shown_item(each.item)]
        for each in items[:_ROWS_SHOWN]
    ]  # fmt: skip
    show_named(["<where", *([] if numbers else ["<class"]), "similarity", "adds", "<item"], rows, title, printer)
