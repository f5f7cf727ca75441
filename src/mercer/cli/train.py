"""``mercer train``: learn from a table, store the model."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..io import DataError
from ..messages import enumeration
from .cluster import cluster_option
from .options import (
    LearnerCommand,
    Places,
    common,
    data_argument,
    data_options,
    learner_argument,
    options_of,
    parameters,
    preparation_options,
    target_transform_option,
)
from .paths import kernel_names, save, scoring_names, sign_option
from .printing import Printer, folds_in_words, run_line, show_mixture, show_most_unusual
from .streams import end_at_time_limit, end_partial

if TYPE_CHECKING:
    from ..io import Table
    from ..learners import Learner
    from .recipe import Recipe

# What ``mercer train`` does for classes alone: probabilities, thresholds, weights and costs of mistakes.


#: Folds from which probabilities and thresholds are learned.
_FOLDS = 5


def refuse_for_others(recipe: Recipe) -> None:
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


def about_mistakes(recipe: Recipe, table: Table) -> dict[str, Any]:
    """Parameters of the machine that say which mistakes matter more."""
    found: dict[str, Any] = {}
    if recipe.class_weight is not None:
        if "class_weight" not in _parameters(recipe.learner):
            raise DataError(f"{recipe.learner.name} does not weigh classes; leave --class-weight out, or use svc.")
        found["class_weight"] = recipe.class_weight
    if recipe.costs and recipe.calibrate is None:
        if "costs" not in _parameters(recipe.learner):
            raise DataError(
                f"{recipe.learner.name} does not weigh mistakes by itself; add --calibrate sigmoid, or use svc."
            )
        found["costs"] = _priced(recipe.costs, table)
    return found


def answering(model: Any, recipe: Recipe, table: Table, printer: Printer) -> Any:
    """The model with what turns its scores into answers: probabilities or a threshold, where asked for."""
    from ..calibration import Calibrated, TunedThreshold

    if recipe.calibrate is not None:
        folds = _folds(table, "Probabilities are", printer)
        costs = _priced(recipe.costs, table) if recipe.costs else {}
        if recipe.class_weight:
            costs = _balanced(costs, table.class_counts)
            printer.note(
                "Probabilities are those of the rows as they are, and answers let each class count as much as any "
                "other: the answer need not be the most probable class."
            )
        return Calibrated(model, method=recipe.calibrate, cv=folds, costs=costs or None)
    if recipe.threshold is not None:
        scorer = threshold_scorer(recipe.threshold, table, recipe.positive)
        return TunedThreshold(model, scoring=scorer, cv=_folds(table, "The threshold is", printer))
    return model


def threshold_scorer(name: str, table: Table, positive: str | None = None) -> Any:
    """What a threshold between two classes is chosen by.

    Parameters
    ----------
    name : str
        Of the measure, as people type it.
    table : Table
    positive : str, optional
        Of the two classes the one that the measure is of; the rarer one by itself.

    Returns
    -------
    str or callable
        As :class:`mercer.TunedThreshold` takes it.
    """
    from ..study import measure_named, positive_class

    if table.measured or len(table.class_counts) != 2:
        has = "is a measurement" if table.measured else f"has {len(table.class_counts)}"
        raise DataError(
            f"--threshold is for two classes, and {table.target!r} {has}; leave it out, or weigh the classes with "
            "--class-weight balanced."
        )
    assert table.y is not None
    try:
        found = measure_named(name, "classify", list(table.class_counts), positive_class(table.y, positive))
    except ValueError as error:
        raise DataError(f"--threshold: {error}") from error
    if found.needs != "labels":
        raise DataError(
            f"--threshold {name}: {found.title} is the same for every threshold; use balanced_accuracy, f1, mcc or "
            "accuracy."
        )
    return found.scorer or found.scoring


def _balanced(costs: Mapping[tuple[Any, Any], float], counts: Mapping[Any, int]) -> dict[tuple[Any, Any], float]:
    """What mistakes cost where all rows of a class together weigh as much as those of any other.

    Probabilities that are honest know how rare a class is, and undo the weights that its rows had in training. Mistakes
    on rows of a class with n of N rows, one of k, cost N/(k·n) instead, as such rows weigh.
    """
    rows = sum(counts.values())
    return {
        (true, answered): rows / (len(counts) * count) * costs.get((true, answered), 1.0)
        for true, count in counts.items()
        for answered in counts
        if answered != true
    }


def _folds(table: Table, what: str, printer: Printer) -> int:
    """As many folds as the classes allow: of two each fold is to hold both, of several a rare one is spread thinly."""
    counts = table.class_counts.values()
    fewest = min(counts) if len(counts) == 2 else max(counts)
    folds = max(2, min(_FOLDS, fewest))
    if folds < _FOLDS and min(counts) > 1:
        printer.note(f"{what} learned from {folds} folds instead of {_FOLDS}: a class has {fewest} rows.")
    return folds


def _parameters(learner: Learner) -> dict[str, Any]:
    from ..checks import machine_of

    return machine_of(learner.build()).get_params(deep=False)


def _priced(given: tuple[str, ...], table: Table) -> dict[tuple[Any, Any], float]:
    """What mistakes cost, by the true and the answered class."""
    classes = {str(label): label for label in table.class_counts}
    found = {}
    for text in given:
        pair, _, cost = text.rpartition("=")
        words = pair.split(",")
        halves = [(",".join(words[:k]).strip(), ",".join(words[k:]).strip()) for k in range(1, len(words))]
        known = [half for half in halves if half[0] in classes and half[1] in classes]
        try:
            price = float(cost)
        except ValueError:
            known = []
        if not known:
            raise DataError(
                f"--cost {text!r} should look like TRUE,ANSWERED=5 with two of the classes "
                f"{enumeration(map(repr, classes), 6)}."
            )
        found[classes[known[0][0]], classes[known[0][1]]] = price
    return found


# What ``mercer train`` does with a outlier detector: it needs no labels, and counts the rows outside.


#: Why there is nothing to choose by, in the words that follow a learner's name.
WITHOUT_ERRORS = (
    "detects outliers in rows without labels, so there are no errors to choose by; train it (mercer train), with "
    "--set nu=SHARE for the share of rows that may be unusual."
)


def train_detector(
    recipe: Recipe,
    data: Places,
    output: str,
    *,
    holdout: float | None,
    reading: dict[str, Any],
    printer: Printer,
) -> None:
    """Learn to detect outliers, say how many of the training rows are some, and store the model."""
    from ..checks import machine_of
    from ..explain import support_lines
    from ..kernels import parse
    from .paths import save
    from .recipe import about_model, fit, fitting, held_out, machine, split, usual_kernel, with_columns_of
    from .training import given_command

    learner, kernel, preparing, seed = recipe.learner, recipe.kernel, dict(recipe.preparing), recipe.seed
    if recipe.max_rows is not None:
        raise DataError(f"--max-rows keeps the shares of classes, and {learner.name} knows none; leave it out.")
    if reading["task"] is not None:
        raise DataError(f"{learner.name} needs no target, so there is no task; leave out --task {reading['task']}.")
    if preparing["outliers"] is not None:
        raise DataError(f"{learner.name} finds outliers itself; leave out --outliers.")
    table, target = _without_labels(data, with_columns_of(reading, kernel), printer)
    if table.kind != "rows" or kernel is None or parse(kernel).on_rows:
        _say_what_is_learned_from(table, target, printer)
    learning, testing = split(table, holdout, seed)
    learner = fitting(learner, learning, kernel)
    if kernel is None:
        kernel = usual_kernel(learning, learner, preparing, printer)
    model = machine(
        learning, learner, preparing, kernel=kernel, degree=recipe.degree, seed=seed, params=dict(recipe.params)
    )
    seconds = fit(model, learning, f"training {learner.title} on {learning.n_rows} rows", printer)
    scores = model.decision_function(learning.X)
    outside = {"train": _outside(scores)}
    if testing is not None:
        outside["holdout"] = _outside(model.decision_function(testing.X))
    last = machine_of(model)
    training = {
        "rows": learning.n_rows,
        **held_out(model, learning, testing, printer),
        "seconds": seconds,
        "outside": outside,
        "status": last.status_,
        "support": len(last.support_),
        "seed": seed,
    }
    remembered = {"training": training, "support_lines": support_lines(model, learning), "command": given_command()}
    about = about_model(table, learner, model, learning, **remembered)
    save(model, output, {**about, "target": target})
    printer.json_result(
        {"model": output, "learner": learner.name, "kernel": kernel or learner.fixed.get("kernel"), **training,
         "run": run_line(output)}
    )  # fmt: skip
    printer.line(f"{learner.title}: {learning.extent}")
    promised = f"at most {100 * last.nu:g} % by nu={last.nu:g}"
    printer.line(f"training rows outside  {_in_words(outside['train'])}, {promised}")
    if testing is not None:
        printer.line(f"holdout rows outside   {_in_words(outside['holdout'])}")
    show_most_unusual(learning, scores, printer)
    printer.line(f"{last.status_} in {seconds:.2f} s, {training['support']} support rows; model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
    if last.status_ != "converged" and last.time_limit is not None and seconds >= last.time_limit:
        end_partial("time_limit", f"the model in {output} is the best so far.")


def _without_labels(data: Places, reading: dict[str, Any], printer: Printer) -> tuple[Table, str | None]:
    """The table without its labels, and the name of the column that held them, if there is one."""
    from dataclasses import replace

    from ..io import read

    named = reading["target"] is not None
    unlabelled = "drop" if reading["unlabelled_rows"] == "drop" else "keep"
    with printer.working("reading"):
        table = read(data, **{**reading, "labelled": named, "unlabelled_rows": unlabelled})
    for note in table.notes:
        printer.note(note)
    if table.y is not None:
        printer.note(f"The target {table.target!r} is left out: outlier detection needs no labels.")
    return replace(table, y=None, target=None, notes=()), table.target


def _say_what_is_learned_from(table: Table, target: str | None, printer: Printer) -> None:
    """A label, a name or a time among the columns would be learned from like any other."""
    if target is None and table.kind == "rows":
        everything = f"All {table.n_columns} columns are learned from"
        printer.note(f"{everything}; leave one that holds a label out with --target, others with --drop.")
    elif target is None and table.kind == "sets":
        printer.note("All items of a line are learned from; leave a label out with --target first or --target last.")
    if names := _never_again(table):
        printer.note(
            f"In {enumeration(map(repr, names), 6)} no word comes again, so that all rows are equally unusual there; "
            "leave such columns out with --drop."
        )


def _never_again(table: Table) -> list[str]:
    """Columns of words in which each row has another: names, numbers of records, times."""
    columns = [(name, table.X[name].dropna()) for name in table.category_columns]
    return [name for name, words in columns if words.size > 1 and words.nunique() == words.size]


def _outside(scores: Any) -> dict[str, Any]:
    return {"rows": int(scores.size), "outside": int(np.sum(scores < 0)), "share": float(np.mean(scores < 0))}


def _in_words(outside: dict[str, Any]) -> str:
    return f"{outside['outside']} of {outside['rows']} ({100 * outside['share']:.2f} %)"


# ``mercer train --rank`` on files that are larger than the memory allowed: read in chunks, again in every pass.


#: Rows of the sample that decides what columns hold and how they are prepared.
_SAMPLE = 20_000
#: Passes that a fit takes as a rule, for the time that is left.
_PASSES = 16


def _rows(file: Any, columns: list[str], n_rows: int, prepare: Any, told: Any) -> Any:
    """The prepared rows, on the workers of a cluster where there is one."""
    import numpy as np

    from ..io import PreparedRows, rows_on_workers
    from ..rows import dask_client

    client = dask_client()
    if client is None:
        return PreparedRows(file, columns, n_rows, prepare, told)
    return rows_on_workers(client, file, columns, np.float64, prepare)


def train_streamed(
    recipe: Recipe, data: Places, output: str, *, holdout: float | None, reading: dict[str, Any], printer: Printer
) -> None:
    """Learn from files by passes over them, and store the model."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from ..checks import machine_of
    from ..grams import sample_of
    from ..io import Options, explicit_options, open_chunked, read_frame, targets_of
    from ..preprocess import prepare
    from ..rows import dask_client
    from .paths import save
    from .recipe import APART, about_model, fitting, refuse_unlearnable, usual_kernel
    from .training import given_command

    _refuse_in_memory(recipe, holdout)
    begin = time.perf_counter()
    options = options_of(reading)
    with printer.working("reading a sample"):
        path = Path(data if isinstance(data, str) else data[0])
        file, kept, target, notes = open_chunked(path, options)
        if target is None:
            raise DataError(f"{file.shown} has no target; name it with --target.")
        y = targets_of(file, target, options)
        drawn = sample_of(y.size, min(y.size, _SAMPLE), recipe.seed)
        drawn_rows = read_frame(file.taken(kept, drawn), Options(**{**vars(options), "target": target}))
        sample = replace(drawn_rows, name=path.name.partition(".")[0], read_as=explicit_options(options))
    for note in filter(None, (*notes, *sample.notes, sample.task_in_words)):
        printer.note(note)
    how = (
        "in chunks, as its table would take more than the memory allowed"
        if dask_client() is None
        else "by the workers of the cluster"
    )
    printer.note(
        f"{file.shown} is read {how}; what its columns hold was decided by {drawn.size:,} of its {y.size:,} rows."
    )
    refuse_unlearnable(sample)
    learner = fitting(recipe.learner, sample, recipe.kernel)
    kernel = recipe.kernel or usual_kernel(sample, learner, dict(recipe.preparing), printer)
    steps = {name: value for name, value in recipe.preparing.items() if name not in APART}
    params = {"tol": _own_tolerance(learner), **recipe.params, **about_mistakes(recipe, sample)}
    machine = learner.build(kernel, None, recipe.seed, **params)
    first = prepare(sample, **steps).fit(sample.X)
    with printer.working(f"training {learner.title} on {y.size:,} rows", _PASSES) as watched:
        rows = _rows(file, sample.columns, y.size, first.transform, lambda number, share: watched.reach(
            min(number - 1 + share, _PASSES - 0.1), f"training, pass {number} over {y.size:,} rows"))  # fmt: skip
        fitting_since = time.perf_counter()
        machine.fit(rows, y)
        fitted_in = time.perf_counter() - fitting_since
        predicted = machine.predict(rows)
    model, last = Pipeline([("prepare", first), ("learner", machine)]), machine_of(machine)
    seconds = time.perf_counter() - begin
    if learner.task == "classify":
        error: Any = float(np.mean(predicted != y))
        said = f"training error  {100 * error:6.2f} %"
    else:
        from ..study import error_of_numbers
        from .printing import error_in_words

        error = error_of_numbers(y, predicted)
        said = f"training error  {error_in_words(error)}"
    gap = float(np.max(np.asarray(last.duality_gap_) / np.asarray(last.objective_)))
    facts = {
        "rows": int(y.size), "seconds": seconds, "errors": {"train": error}, "status": last.status_,
        "support": len(last.support_), "seed": recipe.seed, "outliers": None, "calibrated": None, "threshold": None,
        "passes": rows.passes, "missing_trace": last.missing_trace_, "relative_gap": gap,
    }  # fmt: skip
    with printer.working("remembering which rows were learned from"):
        learned = _pieces(file, sample, y, first[0]), int(y.size)
        about = about_model(sample, learner, model, learned, training=facts, half_widths=None,
                            support_lines=None, command=given_command())  # fmt: skip
    save(model, output, about)
    printer.json_result({"model": output, "learner": learner.name, "kernel": kernel, **facts, "run": run_line(output)})
    printer.line(
        f"{learner.title}: {y.size:,} rows, {len(last.support_)} landmarks, {rows.passes} passes over the file"
    )
    printer.line(said)
    printer.line(
        f"landmarks leave out {100 * last.missing_trace_:.2g} % of the kernel matrix's trace; of what they can do the "
        f"model is within {100 * gap:.1g} % of the best"
    )
    printer.line(f"{last.status_} in {seconds:.2f} s; model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
    end_at_time_limit(last, fitted_in, output)


def _pieces(file: Any, sample: Table, y: Any, reader: Any) -> Iterator[Table]:
    """The rows of the file, chunk by chunk, each a table of its own with its targets."""
    first = 0
    for frame in file.frames(sample.columns):
        stop = first + len(frame)
        rows = reader.transform(frame)
        yield replace(sample, frame=rows, y=y[first:stop], asked=sample.task, lines=None, names=None)
        first = stop


def _own_tolerance(learner: Learner) -> Any:
    """The tolerance of the machine itself: with that of its learner, which is for few rows, passes would be many."""
    from ..checks import machine_of

    return type(machine_of(learner.build()))().tol


def _refuse_in_memory(recipe: Recipe, holdout: float | None) -> None:
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


# Options about what is good, and how rows are divided to find out.


def _known(context: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    """The name of a measure, of classes or of numbers; a wrong one is a mistake of usage."""
    if given is None:
        return None
    from ..study import class_measures, measure_named, number_measures

    refusals = []
    for task in ("classify", "regress"):
        try:
            measure_named(given, task)
        except ValueError as error:
            refusals.append(str(error))
    if len(refusals) == 2:
        hint = refusals[0].partition("; ")[2].partition("The names")[0].partition("the names")[0]
        of_classes, of_numbers = ", ".join(class_measures([0, 1])), ", ".join(number_measures())
        raise click.BadParameter(
            f"there is no measure {given!r}; {hint}Of classes there are {of_classes}; of numbers {of_numbers}."
        )
    return given


_OPTIONS = [
    click.option(
        "--scoring",
        callback=_known,
        shell_complete=scoring_names,
        metavar="MEASURE",
        help="What is good: accuracy, balanced_accuracy, roc_auc, average_precision, f1, mcc or log_loss of classes; "
        'rmse, mae, r2 or "pinball(0.9)" of numbers. [default: accuracy, or where a class is rare '
        "balanced_accuracy, of several classes f1; rmse]",
    ),
    click.option(
        "--positive", metavar="LABEL", help="Of two classes the one that f1 and average_precision are of. [default: "
        "the rarer one]"
    ),
    click.option(
        "--group", metavar="COLUMN", help="Keep rows with the same value here on one side of every split; no feature."
    ),
    click.option(
        "--time",
        metavar="COLUMN",
        help="Order rows by this column: predict later rows from earlier ones only. Learned from as trend, season, "
        "weekday and hour.",
    ),
    click.option("--ordered", is_flag=True, help="The rows of the file are in the order of time already."),
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        help="How often folds are drawn. [default: 3 below 500 training rows, else 1]",
    ),
]  # fmt: skip


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--scoring``, ``--positive``, ``--group``, ``--time``, ``--ordered``, ``--repeats``, under these names."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def with_apart(reading: dict[str, Any], group: str | None, time: str | None) -> dict[str, Any]:
    """How to read a table of groups or in the order of time: columns that tell these may look like ids."""
    apart = {**({group: "category"} if group else {}), **({time: "keep"} if time else {})}
    return {**reading, "kinds": {**apart, **reading["kinds"]}}


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
    from ..checks import machine_of
    from ..describe import telling_columns
    from ..study import division_of
    from .options import placing, streams
    from .output import refuse_outputs
    from .recipe import Recipe, split, table_to_learn, with_target_transform
    from .training import given_command, trained

    refuse_outputs([output])
    options["params"] = {**options["params"], **placing(learner, rank=rank, landmarks=landmarks, memory=memory)}
    recipe = Recipe(learner, preparing=preparing, seed=seed, **options)
    refuse_for_others(recipe)
    reading = with_apart(reading, None, time)
    if time is not None and (learner.task == "detect" or streams(data, recipe, reading)):
        raise DataError("--time orders rows with labels in a table in memory; leave it out.")
    if learner.task == "detect":
        train_detector(recipe, data, output, holdout=holdout, reading=reading, printer=printer)
        return
    if streams(data, recipe, reading):
        train_streamed(recipe, data, output, holdout=holdout, reading=reading, printer=printer)
        return
    table = table_to_learn(data, reading, printer, recipe.kernel)
    for doubt in telling_columns(table):
        printer.note(doubt)
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
    from ..study import beside_mean, half_width, in_digits
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
