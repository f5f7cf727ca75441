"""``mercer tune``: good parameters by cross-validation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from sklearn.base import clone

from ..composition import machine_of, parameter_prefix
from ..io import DataError, Table
from ..messages import enumeration
from ..runtime import keep_best
from .cluster import cluster_option
from .options import (
    LearnerCommand,
    Places,
    common,
    data_argument,
    data_options,
    judging_options,
    learner_argument,
    parameters,
    preparation_options,
    target_transform_option,
    with_apart,
)
from .output import refuse_outputs
from .paths import kernel_names, save, sign_option
from .printing import Printer
from .recipe import (
    APART,
    WITHOUT_ERRORS,
    about_model,
    cross_validated,
    fit,
    fitting,
    machine,
    recipe_of,
    table_to_learn,
)
from .streams import end_partial

if TYPE_CHECKING:
    from ..learners import Learner
    from ..study import Division, ErrorMeasure, Study

_SHOWN = 10


@click.command(cls=LearnerCommand)
@learner_argument
@data_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="Store the model with the best parameters, trained on all rows.",
)
@click.option(
    "--kernel",
    shell_complete=kernel_names,
    help="A kernel as text; no other is tried then, and its own parameters are not searched.",
)
@click.option("--degree", type=click.IntRange(1, 9), help="Expand the columns to products of up to so many of them.")
@click.option(
    "--set",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    callback=parameters,
    help="Fix a parameter of the learner instead of searching it, or say what to try: steps=5000,10000.",
)
@click.option(
    "--folds", type=click.IntRange(2, 100), default=5, show_default=True, help="Folds of the cross-validation."
)
@click.option("--strategy", default="grid", show_default=True, help="How to search.")
@click.option(
    "--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Stop searching after so long."
)
@click.option("--journal", type=click.Path(dir_okay=False), help="Keep what was found in this file while searching.")
@click.option("--resume", is_flag=True, help="Go on with the search in the journal.")
@judging_options
@click.option(
    "--threshold",
    metavar="MEASURE",
    help="With two classes, choose the threshold on the scores of the best setting by this measure, such as f1.",
)
@data_options
@sign_option
@preparation_options
@target_transform_option
@cluster_option
@common
def tune(
    learner: Learner,
    data: Places,
    output: str | None,
    kernel: str | None,
    degree: int | None,
    params: dict[str, Any],
    folds: int,
    strategy: str,
    time_limit: float | None,
    journal: str | None,
    resume: bool,
    scoring: str | None,
    positive: str | None,
    group: str | None,
    time: str | None,
    target_transform: str,
    ordered: bool,
    repeats: int | None,
    threshold: str | None,
    reading: dict[str, Any],
    preparing: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Find good parameters for a learner by cross-validation.

    All preparation is fitted inside each fold, on its training rows alone. The search says when the best value lies on
    the edge of what was tried. With a journal an interrupted search can go on where it stopped. What is good is the
    share of rows answered rightly or, where a class is rare, the balanced accuracy; --scoring says otherwise.

    \b
    Example:
      mercer tune logistic moons:200 --folds 3 -o best.safetensors
      mercer tune svc visits.csv --scoring auc --group patient
      mercer tune pegasos visits.csv --set lam=1e-3,1e-2 --set steps=5000,20000
      mercer tune svc baskets.basket
    """
    from ..learners import named
    from ..search import KernelSearchCV
    from ..study import RIDGES, Preparation, quick_ridge, setting, target_transform_of
    from .command_lines import given_command, said_besides, train_command
    from .training import error_on

    if learner.task == "detect":
        raise DataError(f"{learner.name} {WITHOUT_ERRORS}")
    if learner.prepares:
        raise DataError(
            f"{learner.name} chooses kernel and λ by itself, so there is nothing to search; learn with mercer train."
        )
    refuse_outputs([output, journal])
    if resume and journal is None:
        raise click.UsageError("--resume needs --journal FILE, where the search was kept.")
    if journal is not None and Path(journal).exists() and not resume:
        raise DataError(f"{journal!r} exists; add --resume to go on with that search, or name another file.")
    if resume and not Path(str(journal)).exists():
        printer.note(f"There is no journal {journal!r} to go on with; the search starts anew and is kept there.")
    table = table_to_learn(data, with_apart(reading, group, time), printer, kernel)
    plain = dict(preparing)
    preparing["target_transform"], said = target_transform_of(
        target_transform, table, lambda name: quick_ridge(table, name, **plain), RIDGES, seed
    )
    if said:
        printer.note(said)
    learner = fitting(learner, table, kernel, preparing["target_transform"])
    numbers = learner.task == "regress"
    if numbers and table.n_rows < folds:
        raise DataError(f"{table.name} has only {table.n_rows} rows, too few for {folds} folds; use fewer (--folds).")
    if not numbers:
        _refuse_rare_classes(table, folds, printer)
    judgement = Judgement.of(table, scoring, positive, threshold, printer)
    table, division, splits = judgement.divided(table, folds, repeats, seed, group=group, time=time, ordered=ordered)
    learner = judgement.for_learner(learner)
    if kernel is None:
        options = {name: value for name, value in preparing.items() if name not in APART} | {"degree": degree or 1}
        learner = Preparation(table, options).in_scale(learner, table)
    tried = {name: values for name, values in params.items() if isinstance(values, list)}
    first = {name: tried[name][0] if name in tried else value for name, value in params.items()}
    model = machine(table, learner, preparing, kernel=kernel, degree=degree, seed=seed, params=first)
    prefix = parameter_prefix(model)
    grid = learner.search_grid(model, kernel)
    grid = {name: values for name, values in grid.items() if name.removeprefix(prefix) not in params}
    grid.update({prefix + name: values for name, values in tried.items()})
    if not grid:
        raise click.UsageError("every parameter is fixed, so there is nothing to search.")
    search = KernelSearchCV(
        model,
        grid,
        cv=splits,
        scoring=judgement.scorer,
        strategy=strategy,
        journal=journal,
        time_limit=time_limit,
        random_state=seed,
    )
    with keep_best():
        seconds = fit(search, table, f"searching {learner.title} on {table.n_rows} rows", printer)
    asked = output
    if getattr(machine_of(search.best_estimator_), "status_", None) == "interrupted":
        output = None  # a model that is half made is none to predict with
    best = {name.removeprefix(prefix): value for name, value in search.best_params_.items()}
    advice = [fact.message.replace(prefix, "") for fact in getattr(search, "advice_", [])]
    measure = judgement.measure
    error = measure.perfect - search.best_score_
    found, by_class = search.best_estimator_, None
    if search.stopped_ != "interrupted":
        by_class = judgement.by_class(found, table, splits)
        found = judgement.with_threshold(found, table, splits)
    recipe = replace(
        recipe_of(named(learner.name), found, table, preparing, seed),
        degree=degree,
        threshold=threshold,
        positive=positive,
    )
    besides = said_besides(table.target if table.kind == "rows" else None, [group] if group else [])
    again = train_command(recipe, data, output or "MODEL", besides)
    if output is not None:
        training = {
            "rows": table.n_rows,
            "seconds": seconds,
            "errors": {"train": error_on(found, table, learner.task), "cross-validated": error},
            "scored": f"{measure.name} {measure.words(error)}".replace("\u00a0", " "),
            "status": getattr(machine_of(search.best_estimator_), "status_", None),
            "seed": seed,
            "best": {name: setting(value) for name, value in best.items()},
        }
        left_out = cross_validated(found, table, seed, printer, division) if numbers else None
        widths = None if left_out is None else left_out[1]
        remembered = {"training": training, "half_widths": widths, "command": given_command()}
        save(found, output, about_model(table, learner, found, table, **remembered))
    rows = _ranked(search.cv_results_, prefix, measure.perfect)
    printer.json_result({"learner": learner.name, "best": best, "error": error, "advice": advice, "seconds": seconds,
                "cells": rows, "lost_cells": search.lost_cells_, "output": output, "stopped": search.stopped_,
                "scoring": measure.scoring, "score": search.best_score_, "by_class": by_class,
                "threshold": getattr(found, "best_threshold_", None)})  # fmt: skip
    names = list(best)
    lines = [
        [
            *(row["parameters"][name] for name in names),
            measure.words(row["error"]).replace("\u00a0", " "),
            measure.deviation(row["std"]),
        ]
        for row in rows[:_SHOWN]
    ]
    printer.table(
        [*names, measure.name, "± between folds"],
        lines,
        f"the best {len(lines)} of {len(rows)} settings",
    )
    for text in advice:
        printer.line(f"- {text}")
    judgement.show(by_class, found, printer)
    where = f"; model in {output}" if output is not None else ""
    reached = f"{measure.name} {measure.words(error)}".replace("\u00a0", " ")
    printer.line(f"best: {', '.join(f'{k}={v}' for k, v in best.items())}, {reached} ({seconds:.1f} s){where}")
    printer.line(again)
    if output is not None and numbers and widths is None:
        end_partial("interrupted", f'the model in {output} is whole, but for --intervals of "mercer run".')
    if search.stopped_:
        settings = len(search.cv_results_["params"])
        unsaid = "" if output or asked is None else f"; no model was written to {asked}"
        end_partial(search.stopped_, f"the search is partial, {len(rows)} of {settings} settings were tried{unsaid}.")


def _refuse_rare_classes(table: Table, folds: int, printer: Printer) -> None:
    """Of two classes each fold needs a row of each, and rows of it outside to learn from."""
    if len(table.class_counts) > 2:
        alone = [repr(label) for label, rows in table.class_counts.items() if rows == 1]
        if alone:
            has = "Class {} has a single row" if len(alone) == 1 else "Classes {} have a single row each"
            printer.note(f"{has.format(enumeration(alone, 6))}, which is learned from and never tested.")
        return
    label, fewest = min(table.class_counts.items(), key=lambda item: item[1])
    remedy = "merge the class with another, remove it, or add rows of it"
    if fewest == 1:
        raise DataError(f"class {label!r} has a single row, which cannot be both learned from and tested on; {remedy}.")
    if fewest < folds:
        raise DataError(f"class {label!r} has only {fewest} rows, too few for {folds} folds; use --folds {fewest}, "
                        f"or {remedy}.")  # fmt: skip


def _ranked(results: Any, prefix: str, perfect: float) -> list[dict[str, Any]]:
    cells = [
        {
            "parameters": {name.removeprefix(prefix): value for name, value in chosen.items()},
            "error": perfect - float(mean),
            "std": float(spread),
        }
        for chosen, mean, spread in zip(
            results["params"], results["mean_test_score"], results["std_test_score"], strict=True
        )
    ]
    return sorted((cell for cell in cells if cell["error"] == cell["error"]), key=lambda cell: cell["error"])


# What ``mercer tune`` calls good, on which splits, and how each class fares with the best setting.


#: Classes that are told one by one.
_CLASSES = 12


@dataclass(frozen=True)
class Judgement:
    """What a search is judged by, and the scorer by which the threshold on the scores of the best setting is chosen."""

    study: Study
    threshold: Any = None

    @classmethod
    def of(
        cls, table: Table, scoring: str | None, positive: str | None, threshold: str | None, printer: Printer
    ) -> Judgement:
        """As somebody asked for it, or as the classes ask for it, with a note where one is rare."""
        from ..study import ClassStudy, NumberStudy
        from .training import threshold_scorer

        study = NumberStudy() if table.measured else ClassStudy()
        assert table.y is not None
        said = study.judge(table.y, scoring, positive)
        if said.get("uneven"):
            printer.note(said["uneven"])
        if threshold is None:
            return cls(study)
        return cls(study, threshold_scorer(threshold, table, positive))

    @property
    def measure(self) -> ErrorMeasure:
        return self.study.measure

    @property
    def scorer(self) -> Any:
        """What the search scores by."""
        return self.measure.scorer or self.measure.scoring

    def for_learner(self, learner: Learner) -> Learner:
        """The learner for what is good; refused where it cannot be judged so."""
        if why := self.study.reason_to_skip(learner):
            raise DataError(f"{learner.name}: {why}")
        return self.study.for_measure(learner)

    def divided(
        self, table: Table, folds: int, repeats: int | None, seed: int, **options: Any
    ) -> tuple[Table, Division, list[Any]]:
        """The table without the column of groups or times, how its rows are divided, and the splits."""
        from ..study import division_of, usual_repeats

        table, division = division_of(table, **options)
        rows, y = np.arange(table.n_rows), np.asarray(table.y)
        again = (repeats or usual_repeats(len(rows))) if division.repeatable else 1
        folds = min(folds, division.most_folds(rows, y)) if not division.repeatable else folds
        return table, division, division.folds(rows, y, folds, seed, again)

    def by_class(self, best: Any, table: Table, splits: list[Any]) -> list[dict[str, Any]] | None:
        """How each class fares out of its fold; ``None`` for numbers, and where splits do not divide the rows."""
        if self.study.task != "classify":
            return None
        from ..search import out_of_fold
        from ..study import Predictions, by_class

        once = _first_round(splits, table.n_rows)
        if once is None:
            return None
        decisions = out_of_fold(best, table.X, table.y, once).decisions
        codes = (decisions >= 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
        return by_class(np.asarray(table.y), Predictions(best.classes_[codes], classes=best.classes_))

    def with_threshold(self, best: Any, table: Table, splits: list[Any]) -> Any:
        """The best setting, answering by the threshold that does best out of fold, where asked for."""
        if self.threshold is None:
            return best
        from ..calibration import TunedThreshold

        return TunedThreshold(clone(best), scoring=self.threshold, cv=splits).fit(table.X, table.y)

    def show(self, classes: list[dict[str, Any]] | None, found: Any, printer: Printer) -> None:
        """A line for each class, and the threshold."""

        def share(value: float | None) -> str:
            return "—" if value is None else f"{100 * value:.1f} %"

        if classes and len(classes) <= _CLASSES and not self.measure.is_usual:
            rows = [
                [one["label"], one["rows"], one["answered"], *(share(one[name]) for name in ("recall", "precision"))]
                for one in classes
            ]
            heads = ["<class", "rows", "predicted", "recall", "precision"]
            printer.table(heads, rows, "each class in cross-validation, with the best setting")
        if hasattr(found, "best_threshold_"):
            what, usual = ("probability", 0.5) if hasattr(found.estimator_, "predict_proba") else ("score", 0)
            printer.line(f"threshold on the {what}: {found.best_threshold_:.4g} instead of {usual}")


def _first_round(splits: list[Any], rows: int) -> list[Any] | None:
    """The first splits whose test rows are all rows, each once."""
    seen = np.zeros(rows, dtype=int)
    for number, (_, test) in enumerate(splits, start=1):
        seen[test] += 1
        if (seen == 1).all():
            return splits[:number]
    return None
