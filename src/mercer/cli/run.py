"""``mercer run``: let a model predict a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .._validation.wording import enumeration
from ..io.table import DataError
from .arguments import Places, common, data_argument, data_options
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile

__all__ = ["run"]


@click.command()
@click.argument("model", type=click.Path())
@data_argument
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
    """Let a model predict a table, and count its errors.

    Columns are matched by name, whatever their order; all preparation is as it was in training. Where the table has
    the target column, errors and a confusion matrix are printed. The first predictions are shown; -o and --json have
    all of them. Each row has its place in the file, its name if there is one (a FASTA header, a column of ids), the
    columns of --keep, its prediction, its score (for two classes, positive means the second one) and, where the label
    is known, its margin: how much the score favours that label, negative where the prediction is wrong.

    Of a model that was trained with --calibrate the predicted class is the most probable one, and scores are logarithms
    of its probabilities: of their ratio for two classes. Where mistakes have costs (--cost) it is the class of least
    expected cost, and scores are these costs less than nothing.

    A model of numbers writes the number, with --intervals between which two values the true one is expected, and errors
    in the unit of the target. A model of what is usual writes 1 for usual rows and -1 for others, with a score that is
    negative for these.

    \b
    Example:
      mercer run moons.safetensors moons:500
      mercer run moons.safetensors moons:500 -o predictions.csv
      mercer run people.safetensors new.csv --keep surname --keep town -o - | head
    """
    from dataclasses import replace

    from ..io.writing import refuse_unwritable
    from ..model_files.models import open_model
    from .as_in_training import as_in_training, demanded
    from .carried import carried, read_twice
    from .delivery import STANDARD_OUTPUT, Delivery

    delivery = Delivery(output, {}, printer)
    if output not in (None, STANDARD_OUTPUT):
        refuse_unwritable(str(output))
    with printer.working("reading"), read_twice(data, keep, reading["max_bytes"]):
        loaded = open_model(model)
        task = task_of_model(loaded)
        _refuse_foreign(task, intervals, probabilities)
        about = {**demanded(loaded), "task": task}
        reading = as_in_training(reading, about)
        table = _matching_table(data, about, reading, ignore_labels, printer)
        _refuse_strange_words(table, _known_words(loaded.estimator), printer)
        delivery = replace(delivery, carried=carried(data, table, keep, reading))
    facts: dict[str, Any] = {"model": model, "rows": table.n_rows}
    if task == "regress":
        from .run_numbers import run_numbers

        facts = run_numbers(loaded, table, delivery, intervals, facts)
    elif task == "detect":
        from .run_detector import run_detector

        facts = run_detector(loaded, table, delivery, facts)
    else:
        from .run_classes import run_classes

        facts = run_classes(loaded, table, delivery, probabilities, facts)
    if output not in (None, STANDARD_OUTPUT):
        what = f"{table.kind}, 1 for usual and -1 for unusual," if task == "detect" else table.kind
        printer.line(f"predictions of {table.n_rows} {what} in {output}")
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


def _matching_table(data: str, about: dict[str, Any], reading: dict[str, Any], blind: bool, printer: Printer) -> Table:
    """The table, with the columns that the model knows."""
    from dataclasses import replace

    from ..io import read

    columns, sparse = about.get("columns") or [], bool(about.get("sparse"))
    target = reading["target"] if reading["target"] is not None else about.get("target")
    words = dict.fromkeys(about.get("words") or [], "category")
    kinds = {**dict.fromkeys(columns, "number"), **words, **(about.get("kinds") or {})}
    task = about.get("task")
    if reading["task"] not in (None, task):
        learned = {"regress": "numbers", "classify": "classes", "detect": "rows without labels"}[str(task)]
        raise DataError(f"the model was trained on {learned}; leave out --task {reading['task']}.")
    if all(isinstance(label, str) for label in about.get("classes") or [None]):
        kinds[str(target)] = "category"
    as_in_training = {
        "target": target,
        "kinds": {**kinds, **reading["kinds"]},
        "columns": columns or None,
        "missing": [*reading["missing"], *(about.get("missing") or [])],
        "missing_words": reading["missing_words"] and about.get("missing_words", True),
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
        known = about.get("left_out") or {}
        extra = [name for name in table.left_out if name not in known]
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
    from sklearn.preprocessing import OneHotEncoder

    from .._validation.unwrapped import steps_before

    found: dict[str, list[Any]] = {}
    waiting: list[tuple[Any, Any]] = [(step, []) for step in steps_before(model)]
    while waiting:
        step, columns = waiting.pop()
        if isinstance(step, Pipeline):
            waiting += [(part, columns) for _, part in step.steps]
        elif isinstance(step, ColumnTransformer):
            waiting += [(part, own) for _, part, own in step.transformers_]
        elif isinstance(step, OneHotEncoder):
            found |= {column: list(words) for column, words in zip(columns, step.categories_, strict=True)}
    return found


def _refuse_strange_words(table: Table, known: dict[str, list[Any]], printer: Printer) -> None:
    """Words that the model never saw are counted; where a column has no other ones, and these are numbers, it is
    another column."""
    from ..io.cells import is_numeric

    for name, words in known.items():
        column = table.X[name].dropna().astype(str)
        seen = {str(word) for word in words if word == word}
        strange = column[~column.isin(seen)]
        if strange.empty:
            continue
        found = sorted(strange.unique())
        some = enumeration(map(repr, found), 3)
        examples = enumeration(map(repr, sorted(seen)), 3)
        if len(strange) == len(column) and all(map(is_numeric, found)):
            raise DataError(
                f"column {name!r} held words when the model was trained ({examples}) and holds numbers in "
                f"{table.name} ({enumeration(found, 3)}); write the same words as then."
            )
        if len(strange) == len(column):
            printer.note(f"The model knows no word of column {name!r}: in training it held {examples}.")
            continue
        rows = "1 row holds" if len(strange) == 1 else f"{len(strange)} rows hold"
        counts = "it counts" if len(strange) == 1 else "they count"
        printer.note(f"{name!r}: {rows} a word that the model never saw ({some}); {counts} as none of the known ones.")
