"""``mercer train``: learn from a table, store the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..io.table import DataError
from .arguments import (
    LearnerCommand,
    Places,
    common,
    data_argument,
    data_options,
    learner_argument,
    parameters,
    preparation_options,
    target_transform_option,
)
from .cluster import cluster_option
from .exit_status import end_at_time_limit, end_partial
from .judging import with_apart
from .model_paths import save, sign_option
from .printing import Printer, folds_in_words, run_line, show_mixture
from .suggestions import kernel_names

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner

__all__ = ["train"]


@click.command(cls=LearnerCommand)
@learner_argument
@data_argument
@click.option("-o", "--output", type=click.Path(dir_okay=False), required=True, help="The model file to write.")
@click.option(
    "--kernel",
    shell_complete=kernel_names,
    help="A kernel as text: of the prepared columns, such as 'gaussian(gamma=.5)+linear'; of columns as they are, such "
    "as 'spectrum(p=4).on(text)'; or of strings, sets and graphs.",
)
@click.option("--degree", type=click.IntRange(1, 9), help="Expand the columns to products of up to so many of them.")
@click.option(
    "--set",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    callback=parameters,
    help="A parameter of the learner, such as C=10. May be repeated.",
)
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="Keep a share of the rows to test on, such as 0.2.",
)
@click.option(
    "--time",
    metavar="COLUMN",
    help="Rows are in the order of this column: --holdout keeps the last of them. Learned from as trend, season, "
    "weekday and hour.",
)
@click.option(
    "--calibrate",
    type=click.Choice(["sigmoid", "isotonic", "venn_abers"]),
    help="Learn probabilities of classes from scores of rows left out in turn (mercer run --probabilities).",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="TRUE,ANSWERED=COST",
    help="What a mistake costs where it is not 1, such as sick,healthy=20. May be repeated.",
)
@click.option(
    "--class-weight",
    type=click.Choice(["balanced"]),
    help="Let each class count as much as any other, however few rows it has.",
)
@click.option(
    "--threshold",
    metavar="SCORE",
    help="Of two classes: answer by the threshold that is best by a score, such as balanced_accuracy or f1.",
)
@click.option("--positive", metavar="LABEL", help="Of two classes the one that f1 is of. [default: the rarer one]")
@click.option(
    "--max-rows",
    type=click.IntRange(2),
    metavar="ROWS",
    help="Learn from so many rows at most, drawn at random within each class.",
)
@click.option(
    "--rank",
    type=click.IntRange(1),
    metavar="LANDMARKS",
    help="Approximate a kernel machine by so many landmarks; a CSV or Parquet file that is larger than the memory is "
    "then read in chunks, pass by pass.",
)
@click.option(
    "--landmarks",
    type=click.Choice(["pivoted", "uniform", "farthest"]),
    help="How landmarks are chosen. [default: pivoted]",
)
@click.option("--memory", metavar="SIZE", help="What a kernel machine may keep in memory, such as 2GB. [default: 1GB]")
@sign_option
@data_options
@preparation_options
@target_transform_option
@cluster_option
@common
def train(
    learner: Learner,
    data: Places,
    output: str,
    holdout: float | None,
    time: str | None,
    target_transform: str,
    reading: dict[str, Any],
    preparing: dict[str, Any],
    printer: Printer,
    seed: int,
    rank: int | None,
    landmarks: str | None,
    memory: str | None,
    **options: Any,
) -> None:
    """Train a learner on a table and store the model.

    LEARNER is one of the learners below, of classes or of numbers: linear, on products of two columns, or with a
    kernel. Errors of numbers are in the unit of the target; the model remembers how far they reach ("mercer run
    --intervals"). one-class and svdd need no target: they learn which rows are usual.

    The model file holds numbers and words only, never code. A kernel machine keeps some of its training rows in it.

    \b
    Example:
      mercer train svc moons --kernel "gaussian(gamma=2)" --set C=10 -o moons.safetensors
      mercer train kernel-ridge waves --holdout 0.2 -o waves.safetensors
      mercer train svc genes.fasta --kernel "spectrum(p=3)" -o genes.safetensors
      mercer train svc molecules.tar.xz --kernel "weisfeiler_lehman(h=4)" -o molecules.safetensors
      mercer train svc people.csv --kernel "gaussian.on(age)*spectrum.on(name)+equal.on(job)" -o p.safetensors
      mercer train svc people.csv --kernel "mixture(gaussian.on(age), equal.on(job))" -o p.safetensors
      mercer train svc moons --calibrate sigmoid -o moons.safetensors
      mercer train kernel-logistic big.parquet --rank 2000 --memory 2GB -o big.safetensors
      mercer train kernel-logistic folder --rank 2000 --cluster tcp://10.0.0.1:8786 -o big.safetensors
      mercer train one-class visits.csv --set nu=0.01 -o visits.safetensors
    """
    from .._validation.unwrapped import machine_of
    from ..report.splits import division_of
    from .building import split, table_to_learn, with_target_transform
    from .outputs import refuse_outputs
    from .placing import placing, streams
    from .recipe import Recipe
    from .train_classes import refuse_for_others
    from .train_line import given_command
    from .train_streamed import train_streamed
    from .trained import trained

    refuse_outputs([output])
    options["params"] = {**options["params"], **placing(learner, rank=rank, landmarks=landmarks, memory=memory)}
    recipe = Recipe(learner, preparing=preparing, seed=seed, **options)
    refuse_for_others(recipe)
    reading = with_apart(reading, None, time)
    if time is not None and (learner.task == "detect" or streams(data, recipe, reading)):
        raise DataError("--time orders rows with labels in a table in memory; leave it out.")
    if learner.task == "detect":
        from .train_detector import train_detector

        train_detector(recipe, data, output, holdout=holdout, reading=reading, printer=printer)
        return
    if streams(data, recipe, reading):
        train_streamed(recipe, data, output, holdout=holdout, reading=reading, printer=printer)
        return
    table = table_to_learn(data, reading, printer, recipe.kernel)
    learning, testing = split(table, holdout, seed, time)
    learning, division = division_of(learning, time=time)
    recipe = with_target_transform(recipe, target_transform, learning, printer)
    made = trained(recipe, learning, printer, testing, division, validating=testing is None)
    model, learner, training, widths = made.model, made.learner, made.facts, made.half_widths
    errors, seconds, last = training["errors"], training["seconds"], machine_of(model)
    save(model, output, made.about(table, command=given_command()))
    printer.json_result(
        {
            "model": output,
            "learner": learner.name,
            "kernel": made.kernel or learner.fixed.get("kernel"),
            **training,
            "run": run_line(output),
        }
    )
    if learner.task == "classify":
        printer.line(f"{learner.title}: {learning.extent}, {len(model.classes_)} classes")
        printer.line(f"training error         {100 * errors['train']:6.2f} %")
        if left_out := training.get("cross_validation"):
            share = 100 * errors["cross-validated"]
            printer.line(
                f"cross-validated error  {share:6.2f} %  ({left_out['rows']} rows, {folds_in_words(left_out)})"
            )
        if rare := (left_out or {}).get("rarest"):
            printer.line(f"Of {rare['rows']:,} rows of {rare['label']!r} it found {rare['found']:,} when left out.")
            if recipe.class_weight is None and recipe.threshold is None and not recipe.costs:
                two = ", or --threshold balanced_accuracy," if len(learning.class_counts) == 2 else ""
                printer.line(f"--class-weight balanced{two} finds more of them, and calls more others so.")
        if testing is not None:
            printer.line(f"holdout error          {100 * errors['holdout']:6.2f} %  ({testing.n_rows} rows)")
    else:
        _show_numbers(learner, learning, testing, training, widths, printer)
    show_mixture(last, printer)
    support = f", {training['support']} support rows" if training["support"] is not None else ""
    printer.line(f"{training['status']} in {seconds:.2f} s{support}; model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
    end_at_time_limit(last, seconds, output)
    if "cross_validation" not in training and (testing is None or learner.task == "regress"):
        lacks = '--intervals of "mercer run"' if learner.task == "regress" else "its cross-validated error"
        end_partial("interrupted", f"the model in {output} is whole, but for {lacks}.")


def _show_numbers(
    learner: Learner, table: Table, testing: Table | None, training: dict[str, Any], widths: Any, printer: Printer
) -> None:
    from ..report.first_words import beside_mean
    from ..report.number_errors import half_width, in_digits
    from .printing import error_in_words

    errors = training["errors"]
    printer.line(f"{learner.title}: {table.extent}, target {table.target!r}")
    if testing is not None and (warned := beside_mean(errors["holdout"]["rmse"], testing.y, table.y)):
        printer.line(warned)
    printer.line(f"training error         {error_in_words(errors['train'])}")
    if (left_out := training.get("cross_validation")) is not None:
        said = error_in_words(errors["cross-validated"])
        printer.line(f"cross-validated error  {said}  ({left_out['rows']} rows, {folds_in_words(left_out)})")
    if "holdout" in errors:
        printer.line(f"holdout error          {error_in_words(errors['holdout'])}  ({errors['holdout']['rows']} rows)")
    width = None if widths is None else half_width(widths, 0.9)
    if width is not None:
        printer.line(
            f"9 of 10 new values are expected within ± {in_digits(width)} of the prediction (mercer run --intervals)"
        )
