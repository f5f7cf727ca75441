"""Models made by a recipe: of a table, of files that are read in chunks, or as a study has tested them."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..calibration import Calibrated, TunedThreshold
from ..composition import machine_of
from ..explain import support_lines
from ..io import (
    DataError,
    Options,
    PreparedRows,
    Table,
    explicit_options,
    open_chunked,
    read_frame,
    rows_on_workers,
    targets_of,
)
from ..learners import Learner, named
from ..messages import enumeration
from ..preprocess import prepare
from ..report import study_name
from ..rows import dask_client
from ..study import Comparison, measure_named, positive_class, sample
from .options import Places, options_of
from .paths import save
from .printing import Printer
from .recipe import (
    APART,
    Recipe,
    about_model,
    cross_validated,
    errors_of,
    fit,
    fitting,
    held_out,
    machine,
    outliers_in_words,
    recipe_of,
    refuse_unlearnable,
    usual_kernel,
)


@dataclass(frozen=True)
class Trained:
    """A fitted model, the learner as it suits the table, and what is to be remembered.

    ``half_widths`` say how far errors of numbers reach; ``learned`` are the rows that it was trained on, at once or in
    pieces with their number; ``support_lines`` say where the rows that it keeps stood in their file.
    """

    model: Any
    learner: Learner
    kernel: str | None
    facts: dict[str, Any]
    half_widths: list[float | None] | None
    learned: Table | tuple[Iterable[Table], int]
    support_lines: Any = None

    def about(self, table: Table, **more: Any) -> dict[str, Any]:
        """What a model file remembers."""
        return about_model(
            table,
            self.learner,
            self.model,
            self.learned,
            training=self.facts,
            half_widths=self.half_widths,
            support_lines=self.support_lines,
            **more,
        )


def trained(
    recipe: Recipe,
    table: Table,
    printer: Printer,
    testing: Table | None = None,
    division: Any = None,
    validating: bool = False,
) -> Trained:
    """Make a model of a table, and measure its errors.

    With ``validating``, also on rows that are left out in turn, as the division says: of numbers that tells how far
    errors reach.
    """
    kept = _rows_kept(table, recipe, printer)
    learning = table if kept is None else table.take(kept)
    learner = fitting(recipe.learner, learning, recipe.kernel, recipe.preparing.get("target_transform"))
    kernel, preparing = recipe.kernel, dict(recipe.preparing)
    if kernel is None and learner.takes_kernel:
        kernel = usual_kernel(learning, learner, preparing, printer)
    params = {**recipe.params, **weights_of_mistakes(recipe, learning)}
    model = machine(learning, learner, preparing, kernel=kernel, degree=recipe.degree, seed=recipe.seed, params=params)
    model = answering(model, recipe, learning, printer)
    seconds = fit(model, learning, f"training {learner.title} on {learning.n_rows} rows", printer)
    tables = {"train": learning, "holdout": testing}
    errors = {name: error_on(model, each, learner.task) for name, each in tables.items() if each is not None}
    more: dict[str, Any] = {**held_out(model, learning, testing, printer)}
    widths = None
    if validating:
        left_out = cross_validated(model, learning, recipe.seed, printer, division, kept)
        if left_out is not None:
            found, widths = left_out
            if "error" in found:
                errors["cross-validated"] = found.pop("error")
            more["cross_validation"] = found
    facts = _facts(recipe, model, learning.n_rows, seconds, errors, **more)
    return Trained(model, learner, kernel, facts, widths, learning, support_lines(model, learning))


def as_tested(recipe: Recipe, facts: Comparison, chosen: dict[str, Any], table: Table) -> Trained:
    """The model that a study has tested, as it is."""
    model = facts.models[recipe.learner.name]
    learned = table.take(facts.rows[recipe.learner.name])
    learner = fitting(recipe.learner, learned, recipe.kernel, recipe.preparing.get("target_transform"))
    errors = {"train": error_on(model, learned, learner.task)}
    about = _facts(recipe, model, learned.n_rows, chosen["fit_seconds"], errors)
    return Trained(model, learner, recipe.kernel, about, facts.half_widths, learned, support_lines(model, learned))


def _facts(recipe: Recipe, model: Any, rows: int, seconds: float, errors: Any, **more: Any) -> dict[str, Any]:
    """What is told and remembered of a training."""
    last = machine_of(model)
    return {
        "rows": rows,
        "seconds": seconds,
        "outside" if recipe.learner.task == "detect" else "errors": errors,
        "status": getattr(last, "status_", None),
        "support": len(last.support_) if hasattr(last, "support_") else None,
        "seed": recipe.seed,
        "outliers": outliers_in_words(model),
        "calibrated": recipe.calibrate,
        "threshold": recipe.threshold,
        **more,
    }


def error_on(model: Any, table: Table, task: str) -> Any:
    """The share of mistakes on the rows of a table, the errors of numbers, or how many rows are outliers."""
    if task != "detect":
        return errors_of(model.predict(table.X), table.y, task)
    outside = model.decision_function(table.X) < 0
    return {"rows": table.n_rows, "outside": int(outside.sum()), "share": float(outside.mean())}


def _rows_kept(table: Table, recipe: Recipe, printer: Printer) -> Any:
    """The places of as many rows as the recipe allows, each class with its share; ``None`` where all are allowed."""
    if recipe.max_rows is None or table.n_rows <= recipe.max_rows:
        return None
    assert table.y is not None
    even = not table.measured and min(table.class_counts.values()) > 1
    kept = sample(table.y, recipe.max_rows, recipe.seed, even)
    drawn = "drawn at random within each class" if even else "drawn at random"
    printer.note(f"Learning from {recipe.max_rows:,} of {table.n_rows:,} rows, {drawn}.")
    return kept


# Files that are larger than the memory allowed: read in chunks, again in every pass.


#: Rows of the sample that decides what columns hold and how they are prepared.
_SAMPLE = 20_000
#: Passes that a fit takes as a rule, for the time that is left.
_PASSES = 16


def trained_in_chunks(recipe: Recipe, data: Places, reading: dict[str, Any], printer: Printer) -> tuple[Trained, Table]:
    """Make a model of files by passes over them; a sample of their rows tells what the columns hold."""
    from ..rows import dask_client, sample_of

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
    how = (
        "in chunks, as its table would take more than the memory allowed"
        if dask_client() is None
        else "by the workers of the cluster"
    )
    decided = f"what its columns hold was decided by {drawn.size:,} of its {y.size:,} rows"
    for note in filter(None, (*notes, *sample.notes, sample.task_in_words, f"{file.shown} is read {how}; {decided}.")):
        printer.note(note)
    refuse_unlearnable(sample)
    learner = fitting(recipe.learner, sample, recipe.kernel)
    kernel = recipe.kernel or usual_kernel(sample, learner, dict(recipe.preparing), printer)
    steps = {name: value for name, value in recipe.preparing.items() if name not in APART}
    params = {"tol": _own_tolerance(learner), **recipe.params, **weights_of_mistakes(recipe, sample)}
    machine = learner.build(kernel, None, recipe.seed, **params)
    first = prepare(sample, **steps).fit(sample.X)
    with printer.working(f"training {learner.title} on {y.size:,} rows", _PASSES) as watched:

        def report(number: int, share: float) -> None:
            watched.reach(min(number - 1 + share, _PASSES - 0.1), f"training, pass {number} over {y.size:,} rows")

        rows = _prepared_rows(file, sample.columns, y.size, first.transform, report)
        begin = time.perf_counter()
        machine.fit(rows, y)
        seconds = time.perf_counter() - begin
        errors = {"train": errors_of(machine.predict(rows), y, learner.task)}
    model, last = Pipeline([("prepare", first), ("learner", machine)]), machine_of(machine)
    gap = float(np.max(np.asarray(last.duality_gap_) / np.asarray(last.objective_)))
    facts = _facts(recipe, model, int(y.size), seconds, errors,
                   passes=rows.passes, missing_trace=last.missing_trace_, relative_gap=gap)  # fmt: skip
    return Trained(model, learner, kernel, facts, None, (_tables(file, sample, y, first[0]), int(y.size))), sample


def _prepared_rows(file: Any, columns: list[str], n_rows: int, prepare: Any, report: Any) -> Any:
    """The prepared rows, on the workers of a cluster where there is one."""
    client = dask_client()
    if client is None:
        return PreparedRows(file, columns, n_rows, prepare, report)
    return rows_on_workers(client, file, columns, np.float64, prepare)


def _tables(file: Any, sample: Table, y: Any, reader: Any) -> Iterator[Table]:
    """The rows of the file, chunk by chunk, each a table of its own with its targets."""
    first = 0
    for frame in file.frames(sample.columns):
        stop = first + len(frame)
        rows = reader.transform(frame)
        yield replace(sample, frame=rows, y=y[first:stop], asked=sample.task, lines=None, names=None)
        first = stop


def _own_tolerance(learner: Learner) -> Any:
    """The tolerance of the machine itself: with that of its learner, which is for few rows, passes would be many."""
    return type(machine_of(learner.build()))().tol


# Of classes alone: probabilities, thresholds, weights and costs of mistakes.


#: Folds from which probabilities and thresholds are learned.
_FOLDS = 5


def weights_of_mistakes(recipe: Recipe, table: Table) -> dict[str, Any]:
    """Parameters of the machine that say which mistakes matter more."""
    found: dict[str, Any] = {}
    if recipe.class_weight is not None:
        if "class_weight" not in _parameters_of(recipe.learner):
            raise DataError(f"{recipe.learner.name} does not weigh classes; leave --class-weight out, or use svc.")
        found["class_weight"] = recipe.class_weight
    if recipe.costs and recipe.calibrate is None:
        if "costs" not in _parameters_of(recipe.learner):
            raise DataError(
                f"{recipe.learner.name} does not weigh mistakes by itself; add --calibrate sigmoid, or use svc."
            )
        found["costs"] = _costs_of(recipe.costs, table)
    return found


def answering(model: Any, recipe: Recipe, table: Table, printer: Printer) -> Any:
    """The model with what turns its scores into answers: probabilities or a threshold, where asked for."""
    if recipe.calibrate is not None:
        folds = _folds(table, "Probabilities are", printer)
        costs = _costs_of(recipe.costs, table) if recipe.costs else {}
        if recipe.class_weight:
            costs = _balanced_costs(costs, table.class_counts)
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
    """What a threshold between two classes is chosen by, as :class:`mercer.TunedThreshold` takes it.

    ``positive`` is the class that the measure is of, by default the rarer one.
    """
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


def _balanced_costs(costs: Mapping[tuple[Any, Any], float], counts: Mapping[Any, int]) -> dict[tuple[Any, Any], float]:
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


def _parameters_of(learner: Learner) -> dict[str, Any]:
    return machine_of(learner.build()).get_params(deep=False)


def _costs_of(given: tuple[str, ...], table: Table) -> dict[tuple[Any, Any], float]:
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


# What comes after a comparison: the chosen learner as a recipe, and as a model of all rows.


#: How much longer than expected a fit may take.
_LONGER = 1.5


def recipe_of_chosen(facts: Comparison, table: Table, preparing: dict[str, Any], seed: int) -> Recipe:
    """The learner that a study has chosen, with its kernel and parameters."""
    name = facts["answer"]["chosen"]
    learner = named(name)
    return recipe_of(learner, facts.models[name], table, preparing, seed, learner.most_rows)


def saved_winner(
    facts: Comparison,
    recipe: Recipe,
    table: Table,
    division: Any,
    output: str,
    printer: Printer,
    seconds: float = math.inf,
) -> Trained:
    """Store the chosen learner: fitted on all rows, the test rows too, or as it was tested.

    Where so many seconds are too short for another fit, the model of the training rows is stored. The test error
    belongs to that one; the other has the same settings and has seen more, and there is no row left to test it with.
    The file remembers the error as what it is.
    """
    chosen = next(one for one in facts["learners"] if one["name"] == recipe.learner.name)
    growth = table.n_rows / max(1, chosen["fitted_rows"])
    if seconds < _LONGER * chosen["fit_seconds"] * growth**2:
        made = as_tested(recipe, facts, chosen, table)
        printer.note("There was no time for a fit of all rows: the model is the one that was tested.")
    else:
        left_out = facts.half_widths is None and recipe.learner.task == "regress"
        made = trained(recipe, table, printer, division=division, validating=left_out)
        made = made if left_out else replace(made, half_widths=facts.half_widths)
    tested = {
        "test": chosen["test"],
        "scores": chosen.get("scores"),
        "train_rows": facts["split"]["train"],
        "test_rows": facts["split"]["test"],
        "command": facts["repeat"]["command"],
        "study": study_name(facts),
    }
    save(made.model, output, made.about(table, command=facts["answer"]["train_command"], comparison=tested))
    return made
