"""The whole study: describe, split, preprocess, tune every learner, fit, and look at the test rows once."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter
from typing import Any

import numpy as np

from .. import __version__
from ..io import DataError, Table, read
from ..learners import Learner, named, suited
from ..messages import counted
from ..preprocess import transformed_target
from ..presentation import Markup, table_html
from ..runtime import all_or_nothing, keeps_best
from .base import Study, Tested
from .class_study import ClassStudy
from .facts import about_chosen, table_facts
from .learning import Learning
from .measures import chosen_of_facts, drawn_weights, measure_of, scored_by
from .number_study import NumberStudy
from .predictions import number, predictions_of, text
from .preparation import Preparation
from .rounds import Budget, compared, expected_seconds, left_out
from .scorings import tuning_measure_of
from .splits import Division, Ordered, about_folds, division_of, usual_repeats
from .trees import yardstick
from .tuning import RIDGES, chosen_setting, quick_ridge, target_transform_of

#: What is compared unless asked otherwise: of classes, of classes of strings, sets and graphs, and of numbers.
DEFAULT_LEARNERS = ClassStudy.usual_learners
STRUCTURED_LEARNERS = ClassStudy.structured_learners
DEFAULT_REGRESSORS = NumberStudy.usual_learners

#: Cells of the table of products beyond which a degree-2 learner is left out.
_PRODUCTS = 2500


class Comparison(dict[str, Any]):
    """Everything that a study has found, as values of JSON's own kinds; a notebook shows who won.

    :func:`mercer.report.page` makes the whole report of it. Beside the facts stand, by the name of each learner, the
    ``models`` fitted on the training rows and the places of these ``rows`` in the table; and, of numbers, the
    ``half_widths`` of the chosen learner's intervals, for coverages of 1 to 99 %.
    """

    models: dict[str, Any]
    rows: dict[str, Any]
    half_widths: list[float | None] | None

    def __repr__(self) -> str:
        winner = chosen_of_facts(self)
        measure, scoring = measure_of(self), scored_by(self)
        error = f"test {measure.name} {measure.of(winner['test'])}".replace("\u00a0", " ")
        score = f", {scoring['title']} {winner['scores'][scoring['name']]['words']}" if scoring else ""
        compared = f"{counted(len(self['learners']), 'learner')} on {self['data']['name']!r}"
        return f"<Comparison of {compared}: {winner['title']}, {error}{score}>"

    def _repr_html_(self) -> Markup:
        measure, tuned_by, scoring = measure_of(self), tuning_measure_of(self), scored_by(self)
        rows = [
            [
                one["title"],
                *([one["scores"][scoring["name"]]["words"]] if scoring else []),
                measure.of(one["test"]),
                measure.to(one["test"]),
                tuned_by.words(chosen_setting(one["tuning"])["validation"]["mean"]),
                measure.of(one["train"]),
            ]
            for one in self["learners"]
        ]
        name = measure.name
        asked = [f"test {scoring['title']}"] if scoring else []
        heads = ["learner", *asked, f"test {name}", "95 % interval", f"CV {tuned_by.name}", f"training {name}"]
        title = f"{self['data']['name']}: {self['data']['extent']}"
        return table_html(title, rows, heads=heads, notes=self["answer"]["words"])


def compare(
    table: Any,
    *,
    target: str | int | None = None,
    seed: int = 0,
    test_size: float = 0.2,
    learners: Sequence[str] | None = None,
    kernels: Sequence[str] = (),
    cv: int = 5,
    standardise: str | bool = "auto",
    outliers: str | None = None,
    outlier_factor: float | None = None,
    correlation: float | None = None,
    impute: str | None = None,
    constant: bool = False,
    progress: Callable[[str, float | None], None] | None = None,
    time_limit: float | None = None,
    command: str | None = None,
    scoring: str | None = None,
    positive: Any = None,
    group: str | None = None,
    time: str | None = None,
    ordered: bool = False,
    repeats: int | None = None,
    nested: bool = False,
    trees: bool = True,
    target_transform: str = "auto",
) -> Comparison:
    """Compare learners on a table, and return everything that was found as plain values.

    Every learner is tuned by cross-validation inside the training rows, with all preprocessing fitted inside the
    folds, then fitted on the training rows. Only then are the test rows looked at, once.

    Parameters
    ----------
    table : Table, DataFrame, str or Path
        As :func:`mercer.io.read` returns it, or anything that it takes.
    target : str or int, optional
        The column to learn, where the table is yet to be read; by default the last one.
    seed : int
        Of the split, the folds and the learners.
    test_size : float
        The share of rows kept for the test.
    learners : list of str, optional
        Names from :data:`mercer.learners.LEARNERS`; by default :data:`DEFAULT_LEARNERS`, or
        :data:`STRUCTURED_LEARNERS` where items are no rows of numbers; :data:`DEFAULT_REGRESSORS` where numbers are to
        be learned (``table.task``).
    kernels : list of str
        Kernels as text, which learners with a kernel try instead of their own. By default those that suit the items.
    cv : int
        Folds.
    standardise, outliers, outlier_factor, correlation, impute, constant
        As for :func:`mercer.preprocess.pipeline`.
    progress : callable, optional
        Called with what begins and the share of the work that is done; and with what was found, and ``None``.
    time_limit : float, optional
        Seconds that the study may take. All learners are tuned on few rows first; what is left belongs to those that
        can win, on all rows where that is possible.
    command : str, optional
        The command that repeats the run, to be printed in the report.
    scoring : str, optional
        What learners are tuned, chosen and tested by: "accuracy", "balanced_accuracy", "roc_auc", "average_precision",
        "f1", "mcc" or "log_loss" of classes, "rmse", "mae", "r2" or "pinball(0.9)" of numbers. By default the accuracy,
        or the balanced accuracy where a class is rare; the RMSE of numbers. All others are reported as well.
    positive : label, optional
        Of two classes the one that F1 and average precision are of; by default the rarer one.
    group : str, optional
        A column whose equal values keep rows together: on one side of every split. It is no feature.
    time : str, optional
        A column by which rows are ordered: the last are tested, and each fold is predicted from those before it. Dates
        and numbers are learned from as well, as trend, season, weekday and hour.
    ordered : bool
        Whether the rows are in the order of time as they are.
    repeats : int, optional
        How often folds are drawn; by default three times where there are fewer than 500 training rows.
    nested : bool
        Whether every row is tested once, by learners tuned and fitted without its fold, instead of a share of them.
    trees : bool
        Whether boosted trees, not tuned, are tried on the same rows as a yardstick.
    target_transform : {"auto", "log", "none"}
        Of numbers whether their logarithms are learned, see :func:`mercer.preprocess.pipeline`; by default where the
        training rows are skewed and cross-validation on them prefers it. Errors are those of the target itself.

    Returns
    -------
    Comparison
        A dictionary of facts of JSON's own kinds. ``"stopped"`` is "time_limit" where learners were left out for lack
        of time, "interrupted" where Ctrl-C ended the study early (:func:`mercer.keep_best`), else ``None``.
    """
    start = perf_counter()
    table = _read(table, target)
    say = progress or (lambda what, share: None)
    study: Study = NumberStudy() if table.measured else ClassStudy()
    study.targets(table, test_size, cv)
    table, too_small = study.learnable(table)
    y = np.asarray(table.y)
    judged = study.judge(y, scoring, positive)
    names = dict.fromkeys(learners or study.usual(table, kernels))
    chosen = [suited(named(name), table, kernels) for name in names]
    table, division = division_of(table, group, time, ordered)
    _refuse_at_odds(nested, division, time_limit)

    say("describing the data", 0.0)
    facts = Comparison(format=1, task=study.task, **judged, data=table_facts(table))
    train, test = (np.arange(len(y)),) * 2 if nested else division.test_rows(y, test_size, seed)
    learn, held_out = table.take(train), table.take(test)
    folds = min(cv, division.most_folds(train, y[train]))
    again = (repeats or usual_repeats(len(train))) if division.repeatable else 1
    facts["split"] = {
        "train": len(train),
        "test": len(test),
        "test_size": test_size,
        "seed": seed,
        "folds": folds,
        "repeats": again,
        "nested": nested,
        "drawn_freely": division.repeatable,
        **study.split_facts(y, train, test),
    }
    facts["split"]["notes"] += too_small
    facts["split"]["notes"] += about_folds(division, train, test, cv, folds, again, nested)
    options = {"standardise": standardise, "correlation": correlation, "impute": impute, "constant": constant}
    learned_as, why = target_transform_of(
        target_transform,
        learn,
        lambda name: quick_ridge(table, name, **options),
        RIDGES,
        seed,
        study.measure.scorer or study.measure.scoring,
    )
    chosen = [study.for_targets(learner, transformed_target(learned_as, y[train])) for learner in chosen]
    preparation = Preparation(table, options, outliers, outlier_factor, learned_as)
    prepared = any(learner.on_rows for learner in chosen)
    facts["preprocessing"] = preparation.facts(learn, study.strata(y[train])) if prepared else preparation.no_facts()
    facts["preprocessing"]["target_transform"] = learned_as
    facts["preprocessing"]["words"] += [why] if why else []
    width = facts["preprocessing"]["features"]
    why_not = {
        each.name: _reason_to_skip(each, width)
        or preparation.reason_to_skip(each, width, len(train))
        or study.reason_to_skip(each)
        for each in chosen
    }
    chosen = [preparation.in_scale(each, learn) for each in chosen]
    able = [learner for learner in chosen if not why_not[learner.name]]

    learning = Learning(study, preparation, learn, y[train], train, division, folds, again, seed, width, not nested)
    expected = expected_seconds(len(train), 2 if table.measured else len(table.class_counts), len(able))
    if time_limit is None and not nested:
        say(f"{counted(len(able), 'learner')} on {len(train):,} rows: this takes about {expected:.0f} s", None)
    budget = Budget(np.inf if time_limit is None else time_limit, start, expected=expected)
    runs, left, stopped = compared(learning, able, say, budget, nested)
    skipped = [left_out(learner, str(why_not[learner.name])) for learner in chosen if learner not in able] + left
    if not runs:
        raise ValueError(f"no learner could be compared: {skipped[0]['why']}")

    known = None
    try:
        with all_or_nothing():
            if not budget.is_too_short_for(study.seconds_of_pictures(runs)):
                known = study.from_training_rows(runs, learning)
    except KeyboardInterrupt:
        if not keeps_best():
            raise
        stopped = "interrupted"
    say("testing", 1.0)
    weights, found = drawn_weights(len(test), seed), {}
    for run in runs:
        said = run.tested or predictions_of(run.model, held_out.X)
        found[run.learner.name] = said
        run.facts.update(study.on_test_rows(said, y[test], run, weights))
    tested = Tested(y, train, test, found, weights, table.where)
    facts.update(study.conclusions([run.facts for run in runs], tested, known))
    facts["answer"]["words"] += too_small
    if not nested and not budget.is_over:
        best_run = next(run for run in runs if run.learner.name == facts["answer"]["chosen"])
        best_run.facts.update(about_chosen(best_run, table, tested, study.measure, seed))
    facts["yardstick"] = facts["trees"] = None
    if trees and not nested:
        best = facts["answer"]
        facts["yardstick"] = yardstick(table, tested, study.measure, best["chosen"], best["title"], seed, budget.left())
        if facts["yardstick"] and facts["yardstick"]["words"]:
            facts["trees"] = facts["yardstick"]
    facts.models = {run.learner.name: run.model for run in runs}
    facts.rows = {run.learner.name: run.places for run in runs}
    facts.half_widths = (known or {}).get("half_widths")
    facts["skipped"] = skipped
    facts["stopped"] = stopped
    facts["repeat"] = _repeat(table, seed, command, perf_counter() - start)
    return facts


def _read(source: Any, target: str | int | None) -> Table:
    if not isinstance(source, Table):
        return read(source, target)
    if target is not None and target != source.target:
        raise DataError(f"the table was read with the target {source.target!r}; name another one where it is read.")
    return source


def _refuse_at_odds(nested: bool, division: Division, time_limit: float | None) -> None:
    """Nested cross-validation tests every row by all others, and takes the time it takes."""
    if nested and isinstance(division, Ordered):
        raise DataError("nested cross-validation tests rows by later ones, so it does not go with an order in time.")
    if nested and time_limit is not None:
        raise DataError("nested cross-validation is for few rows and has no time limit; leave one of the two out.")


def _reason_to_skip(learner: Learner, width: int) -> str | None:
    """Why a learner is not tried, in one sentence."""
    products = width * (width + 3) // 2
    if learner.degree == 2 and products > _PRODUCTS:
        return (
            f"{width:,} columns have {products:,} products of two; a polynomial kernel reaches the same without them."
        )
    return None


def _repeat(table: Any, seed: int, command: str | None, seconds: float) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "matplotlib")
    return {
        "command": command,
        "seed": seed,
        "digest": text(table.digest),
        "seconds": number(seconds, 4),
        "machine": f"{platform.system()} {platform.machine()}",
        "versions": {"mercer": __version__, "Python": platform.python_version(), **_versions(packages)},
    }


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for name in packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
