"""``mercer train``: learn from a table, store the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..composition import machine_of
from ..io import DataError, Table, read
from ..messages import enumeration, in_digits
from .cluster import cluster_option
from .large_files import streams
from .options import (
    LearnerCommand,
    Places,
    common,
    data_argument,
    data_options,
    learner_argument,
    parameters,
    placing,
    preparation_options,
    target_transform_option,
    with_apart,
)
from .output import refuse_outputs
from .paths import kernel_names, save, sign_option
from .printing import Printer, error_in_words, folds_in_words, run_line, show_farthest_outliers, show_mixture
from .recipe import Recipe, split, table_to_learn, with_columns_of, with_target_transform
from .streams import end_at_time_limit, end_partial

if TYPE_CHECKING:
    from ..learners import Learner
    from .training import Trained


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
    help="Rows are in the order of this column: --holdout keeps the last of them. Its trend, season, weekday and hour "
    "become features.",
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
    --intervals"). one-class and svdd need no target: they learn to detect outliers.

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
    from ..describe import telling_columns
    from ..study import division_of
    from .command_lines import given_command
    from .training import trained, trained_in_chunks

    refuse_outputs([output])
    options["params"] = {**options["params"], **placing(learner, rank=rank, landmarks=landmarks, memory=memory)}
    recipe = Recipe(learner, preparing=preparing, seed=seed, **options)
    reading = with_apart(reading, None, time)
    detects = learner.task == "detect"
    _refuse_for_others(recipe, reading)
    chunks = not detects and streams(data, recipe, reading)
    if time is not None and (detects or chunks):
        raise DataError("--time orders rows with labels in a table in memory; leave it out.")
    testing, division, validating = None, None, False
    remembered: dict[str, Any] = {"command": given_command()}
    if chunks:
        _refuse_in_chunks(recipe, holdout)
        made, table = trained_in_chunks(recipe, data, reading, printer)
        learning = table
    else:
        if detects:
            table, remembered["target"] = _without_labels(recipe, data, reading, printer)
        else:
            table = table_to_learn(data, reading, printer, recipe.kernel)
            for doubt in telling_columns(table):
                printer.note(doubt)
        learning, testing = split(table, holdout, seed, time)
        if not detects:
            learning, division = division_of(learning, time=time)
            recipe = with_target_transform(recipe, target_transform, learning, printer)
            validating = testing is None or learner.task == "regress"
        made = trained(recipe, learning, printer, testing, division, validating)
    with printer.working("remembering which rows were learned from"):
        about = made.about(table, **remembered)
    save(made.model, output, about)
    facts, learner = made.facts, made.learner
    kernel = made.kernel or learner.fixed.get("kernel")
    printer.json_result({"model": output, "learner": learner.name, "kernel": kernel, **facts, "run": run_line(output)})
    _show(made, learning, testing, recipe, printer, output)
    if validating and "cross_validation" not in facts:
        lacks = '--intervals of "mercer run"' if learner.task == "regress" else "its cross-validated error"
        end_partial("interrupted", f"the model in {output} is whole, but for {lacks}.")


# What is refused.


def _refuse_for_others(recipe: Recipe, reading: dict[str, Any]) -> None:
    """Refuse what is said about classes to learners that know none, and what excludes each other."""
    said = {
        "--calibrate": recipe.calibrate,
        "--cost": recipe.costs,
        "--class-weight": recipe.class_weight,
        "--threshold": recipe.threshold,
    }
    asked = [option for option, value in said.items() if value]
    if asked and recipe.learner.task != "classify":
        what = enumeration(asked)
        raise DataError(
            f"{what} {'is' if len(asked) == 1 else 'are'} for classes, which {recipe.learner.name} does not learn; "
            f"leave {'it' if len(asked) == 1 else 'them'} out."
        )
    if recipe.positive is not None and recipe.threshold is None:
        raise DataError("--positive says which class --threshold is of; add --threshold f1, or leave --positive out.")
    if recipe.threshold and (recipe.calibrate or recipe.costs):
        other = "--calibrate" if recipe.calibrate else "--cost"
        raise DataError(f"--threshold and {other} both say which answer a score means; leave one of them out.")
    if recipe.learner.task == "detect":
        _refuse_for_detectors(recipe, reading)


def _refuse_for_detectors(recipe: Recipe, reading: dict[str, Any]) -> None:
    """Refuse what is about a target, which detectors of outliers do without."""
    name = recipe.learner.name
    if recipe.max_rows is not None:
        raise DataError(f"--max-rows keeps the shares of classes, and {name} knows none; leave it out.")
    if reading["task"] is not None:
        raise DataError(f"{name} needs no target, so there is no task; leave out --task {reading['task']}.")
    if recipe.preparing["outliers"] is not None:
        raise DataError(f"{name} finds outliers itself; leave out --outliers.")


def _refuse_in_chunks(recipe: Recipe, holdout: float | None) -> None:
    """Refuse what needs all rows at hand."""
    said = {
        "--holdout": holdout, "--calibrate": recipe.calibrate, "--threshold": recipe.threshold,
        "--degree": recipe.degree, "--max-rows": recipe.max_rows, "--outliers": recipe.preparing.get("outliers"),
    }  # fmt: skip
    asked = [option for option, value in said.items() if value is not None]
    if asked:
        raise DataError(
            f"{asked[0]} needs the table in memory, and it is too large for that; leave {asked[0]} out, or allow more "
            "with --memory and --max-bytes."
        )


# The rows that an outlier detector learns from.


def _without_labels(
    recipe: Recipe, data: Places, reading: dict[str, Any], printer: Printer
) -> tuple[Table, str | None]:
    """The table without its labels, and the name of the column that held them, if there is one."""
    from ..kernels import parse

    reading = with_columns_of(reading, recipe.kernel)
    unlabelled = "drop" if reading["unlabelled_rows"] == "drop" else "keep"
    with printer.working("reading"):
        table = read(data, **{**reading, "labelled": reading["target"] is not None, "unlabelled_rows": unlabelled})
    for note in table.notes:
        printer.note(note)
    if table.y is not None:
        printer.note(f"The target {table.target!r} is left out: outlier detection needs no labels.")
    if table.target is None and table.kind == "sets":
        printer.note("All items of a line are learned from; leave a label out with --target first or --target last.")
    if table.kind == "rows" and (recipe.kernel is None or parse(recipe.kernel).on_rows):
        if table.target is None:
            everything = f"All {table.n_columns} columns are learned from"
            printer.note(f"{everything}; leave one that holds a label out with --target, others with --drop.")
        if names := _never_again(table):
            printer.note(
                f"In {enumeration(map(repr, names), 6)} each row has another value, so that all rows are equally far "
                "outside there; leave such columns out with --drop."
            )
    return replace(table, y=None, target=None, notes=()), table.target


def _never_again(table: Table) -> list[str]:
    """Categorical columns with another value in each row: names, numbers of records, times."""
    columns = [(name, table.X[name].dropna()) for name in table.category_columns]
    return [name for name, words in columns if words.size > 1 and words.nunique() == words.size]


# What is told of a training.


def _show(made: Trained, learning: Table, testing: Table | None, recipe: Recipe, printer: Printer, output: str) -> None:
    """What was learned from which rows, its errors, and how to go on."""
    learner, facts, last = made.learner, made.facts, machine_of(made.model)
    extent = learning.extent
    if "passes" in facts:
        extent = f"{facts['rows']:,} rows, {facts['support']} landmarks, {facts['passes']} passes over the file"
    learned = {"classify": f", {len(learning.class_counts)} classes", "regress": f", target {learning.target!r}"}
    printer.line(f"{learner.title}: {extent}{learned.get(learner.task, '')}")
    if learner.task == "detect":
        _show_outside(made, last, printer)
        show_farthest_outliers(learning, made.model.decision_function(learning.X), printer)
    else:
        _show_errors(made, learning, testing, recipe, printer)
    if "passes" in facts:
        printer.line(
            f"the landmarks miss {100 * facts['missing_trace']:.2g} % of the kernel matrix's trace; with them, the "
            f"objective is within {100 * facts['relative_gap']:.1g} % of its optimum"
        )
    show_mixture(last, printer)
    support = f", {facts['support']} support rows" if facts["support"] is not None and "passes" not in facts else ""
    printer.line(f"{facts['status']} in {facts['seconds']:.2f} s{support}; model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
    end_at_time_limit(last, facts["seconds"], output)


def _show_outside(made: Trained, last: Any, printer: Printer) -> None:
    for name, found in made.facts["outside"].items():
        promised = f", at most {100 * last.nu:g} % by nu={last.nu:g}" if name == "train" else ""
        which = "training" if name == "train" else name
        share = f"{found['outside']} of {found['rows']} ({100 * found['share']:.2f} %)"
        printer.line(f"{which + ' rows outside':<22} {share}{promised}")


def _show_errors(made: Trained, learning: Table, testing: Table | None, recipe: Recipe, printer: Printer) -> None:
    """The error on training rows, on rows left out in turn, and on those held out."""
    from ..study import beside_mean, half_width

    task, facts = made.learner.task, made.facts
    if task == "regress" and testing is not None:
        warned = beside_mean(facts["errors"]["holdout"]["rmse"], testing.y, learning.y)
        if warned:
            printer.line(warned)
    left_out = facts.get("cross_validation") or {}
    on_rows = {
        "cross-validated": lambda: f"  ({left_out['rows']} rows, {folds_in_words(left_out)})",
        "holdout": lambda: f"  ({facts['holdout_rows']} rows)",
    }
    for name in ("train", "cross-validated", "holdout"):
        if name in facts["errors"]:
            error, rows = facts["errors"][name], on_rows.get(name, str)()
            words = f"{100 * error:6.2f} %" if task == "classify" else error_in_words(error)
            printer.line(f"{'training' if name == 'train' else name} error".ljust(23) + words + rows)
    if rare := left_out.get("rarest"):
        printer.line(f"Cross-validation finds {rare['found']:,} of {rare['rows']:,} rows of {rare['label']!r}.")
        if recipe.class_weight is None and recipe.threshold is None and not recipe.costs:
            two = ", or --threshold balanced_accuracy," if len(learning.class_counts) == 2 else ""
            printer.line(f"--class-weight balanced{two} finds more of them, with more false alarms.")
    width = None if made.half_widths is None else half_width(made.half_widths, 0.9)
    if width is not None:
        printer.line(
            f"9 of 10 new values are expected within ± {in_digits(width)} of the prediction (mercer run --intervals)"
        )
