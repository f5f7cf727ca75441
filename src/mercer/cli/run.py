"""``mercer run``: let a model predict a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from ..io.table import DataError
from .arguments import Places, common, data_options, one_or_several
from .model_paths import open_model, verify_option
from .printing import Printer
from .reading_paths import MODEL, ROWS

__all__ = ["run"]


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
    in the unit of the target. A model of what is usual writes 1 for usual rows and -1 for others, with a score that is
    negative for these.

    \b
    Example:
      mercer run moons.safetensors
      mercer run moons.safetensors moons:500
      mercer run moons.safetensors moons:500 -o predictions.csv
      mercer run people.safetensors new.csv --keep surname --keep town -o - | head
    """
    from dataclasses import replace

    from .._validation.memory import bytes_of
    from .as_in_training import as_in_training
    from .carried import carried, read_twice
    from .delivery import STANDARD_OUTPUT, Delivery
    from .large_files import in_chunks
    from .matching import matching_table, task_of_model
    from .outputs import refuse_outputs
    from .outside_training import far_rows, show_far
    from .run_streamed import run_streamed
    from .trained_rows import look_up

    if not data:
        _tell_record(model, {"--output": output, "--keep": keep, "--intervals": intervals}, printer)
        return
    delivery = Delivery(output, {}, printer)
    if output not in (None, STANDARD_OUTPUT):
        refuse_outputs([output], "name a file to write, or - for the standard output")
    if output not in (None, STANDARD_OUTPUT) and in_chunks(data, bytes_of(reading["max_bytes"])):
        run_streamed(model, data, str(output), keep, ignore_labels, intervals, probabilities, reading, printer)
        return
    with printer.working("reading"), read_twice(data, keep, reading["max_bytes"]):
        loaded = open_model(model)
        task = task_of_model(loaded)
        _refuse_foreign(task, intervals, probabilities)
        reading = as_in_training(reading, loaded.about)
        with _saying_how_large_files_are_read(data):
            table = matching_table(loaded, data, reading, printer, ignore_labels)
        delivery = replace(delivery, carried=carried(data, table, keep, reading))
    facts: dict[str, Any] = {"model": model, "rows": table.n_rows}
    seen = look_up(loaded.about, table, delivery.aside)
    facts["far_rows"] = far_rows(loaded.estimator, table)
    if task == "regress":
        from .run_numbers import run_numbers

        facts = run_numbers(loaded, table, seen, delivery, intervals, facts)
    elif task == "detect":
        from .run_detector import run_detector

        facts = run_detector(loaded, table, seen, delivery, facts)
    else:
        from .run_classes import run_classes

        facts = run_classes(loaded, table, seen, delivery, probabilities, facts)
    show_far(facts, delivery.aside)
    if output not in (None, STANDARD_OUTPUT):
        what = f"{table.kind}, 1 for usual and -1 for unusual," if task == "detect" else table.kind
        printer.line(f"predictions of {table.n_rows} {what} in {output}")
    printer.json_result(facts)


def _tell_record(model: str, asked: dict[str, Any], printer: Printer) -> None:
    """The errors on the training rows and on others that the model file tells."""
    from .inspect_about import recorded_errors

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
    from .large_files import in_chunks

    try:
        yield
    except DataError as error:
        if "--max-bytes" not in str(error) or not in_chunks(data, 0):
            raise
        raise DataError(f"{str(error).rstrip('.')}, or read it chunk by chunk with -o FILE.") from None


#: What a model has learned, in words.
_LEARNED = {"classify": "tells classes apart", "regress": "learned numbers", "detect": "learned what is usual"}


def _refuse_foreign(task: str, intervals: float | None, probabilities: bool) -> None:
    """Refuse what models of another task are asked for."""
    if intervals is not None and task != "regress":
        raise DataError(f"--intervals is for models of numbers, and this one {_LEARNED[task]}.")
    if probabilities and task != "classify":
        raise DataError(f"--probabilities is for models of classes, and this one {_LEARNED[task]}.")
