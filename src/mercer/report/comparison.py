"""The whole study: describe, split, preprocess, tune every learner, fit, and look at the test rows once."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from .. import __version__
from .._presentation.html import Markup, table_html
from .._runtime.compile import Array
from .._runtime.interrupts import kept, whole
from ..learners.catalogue import named
from ..learners.learner import Learner
from ..learners.suited import suited
from .class_study import ClassStudy
from .error_measure import measure_of
from .number_study import NumberStudy
from .plain import number, text
from .preparation import Preparation, fitted_rows
from .study import Run, Study
from .table_facts import table_facts
from .tuning import chosen_setting, sample, short_params, tune

#: What is compared unless asked otherwise: of classes, of classes of strings, sets and graphs, and of numbers.
DEFAULT_LEARNERS = ClassStudy.usual_learners
STRUCTURED_LEARNERS = ClassStudy.structured_learners
DEFAULT_REGRESSORS = NumberStudy.usual_learners

#: Rows on which every learner is tuned: the same for all, as errors from fewer rows are larger.
TUNED_ROWS = 4000
#: Rows on which a learner with a kernel is fitted in the end: its work grows with their square.
KERNEL_ROWS = 10_000
#: Cells of the table of products beyond which a degree-2 learner is left out.
_PRODUCTS = 2500
#: Why learners are left out of a study that ended early.
_STOPPED = {
    "time_limit": "the time limit of {:g} s was over before it began.",
    "interrupted": "the study was interrupted before it was done.",
}


class Comparison(dict[str, Any]):
    """Everything that a study has found, as values of JSON's own kinds; a notebook shows who won.

    :func:`mercer.report.page` makes the whole report of it.

    Attributes
    ----------
    models : dict
        By the name of each learner, the model that was fitted on the training rows. It is no part of the facts.
    """

    models: dict[str, Any]

    def _repr_html_(self) -> Markup:
        measure = measure_of(self)
        rows = [
            [
                one["title"],
                measure.of(one["test"]),
                measure.to(one["test"]),
                measure.words(chosen_setting(one["tuning"])["validation"]["mean"]),
                measure.of(one["train"]),
            ]
            for one in self["learners"]
        ]
        name = measure.name
        heads = ["learner", f"test {name}", "95 % interval", f"CV {name}", f"training {name}"]
        title = f"{self['data']['name']}: {self['data']['extent']}"
        return table_html(title, rows, heads=heads, notes=self["answer"]["words"])


def compare(
    table: Any,
    *,
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
    progress: Callable[[str, float], None] | None = None,
    time_limit: float | None = None,
    command: str | None = None,
) -> Comparison:
    """Compare learners on a table, and return everything that was found as plain values.

    Every learner is tuned by cross-validation inside the training rows, with all preprocessing fitted inside the
    folds, then fitted on the training rows. Only then are the test rows looked at, once.

    Parameters
    ----------
    table : Table
        As :func:`mercer.io.read` returns it.
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
        Called with what begins and the share of the work that is done.
    time_limit : float, optional
        Seconds after which no further learner is begun.
    command : str, optional
        The command that repeats the run, to be printed in the report.

    Returns
    -------
    Comparison
        A dictionary of facts of JSON's own kinds. ``"stopped"`` is "time_limit" where learners were left out for lack
        of time, "interrupted" where Ctrl-C ended the study early (:func:`mercer.keep_best`), else ``None``.
    """
    start = time.perf_counter()
    say = progress or (lambda what, share: None)
    study: Study = NumberStudy() if table.measured else ClassStudy()
    y = study.targets(table, test_size, cv)
    names = dict.fromkeys(learners or study.usual(table, kernels))
    chosen = [suited(named(name), table, kernels) for name in names]

    say("describing the data", 0.0)
    facts = Comparison(format=1, task=study.measure.task, data=table_facts(table))
    train, test = train_test_split(np.arange(len(y)), test_size=test_size, stratify=study.strata(y), random_state=seed)
    train, test = np.sort(train), np.sort(test)
    learn, held_out = table.take(train), table.take(test)
    folds = study.folds(y[train], cv)
    facts["split"] = {
        "train": len(train),
        "test": len(test),
        "test_size": test_size,
        "seed": seed,
        "folds": folds,
        **study.split_facts(y, train, test, cv, folds),
    }
    chosen = [study.for_targets(learner, y[train]) for learner in chosen]

    options = {"standardise": standardise, "correlation": correlation, "impute": impute, "constant": constant}
    preparation = Preparation(table, outliers, outlier_factor, options)
    prepared = any(learner.on_rows for learner in chosen)
    facts["preprocessing"] = preparation.facts(learn, study.strata(y[train])) if prepared else preparation.no_facts()
    width = facts["preprocessing"]["features"]

    runs, skipped = [], []
    stopped: str | None = None
    for position, learner in enumerate(chosen):
        say(f"tuning {learner.title}", position / len(chosen))
        if time_limit is not None and time.perf_counter() - start > time_limit:
            stopped = stopped or "time_limit"
        why = _STOPPED[stopped].format(time_limit) if stopped else _reason_to_skip(learner, width)
        if not why:
            try:
                with whole():
                    runs.append(_learned(study, learner, preparation, learn, y[train], folds, seed))
                continue
            except KeyboardInterrupt:
                if not (kept() and runs):
                    raise
                stopped = "interrupted"
                why = _STOPPED[stopped]
        skipped.append({"name": learner.name, "title": learner.title, "why": why})
    if not runs:
        raise ValueError(f"no learner could be compared: {skipped[0]['why']}")

    try:
        with whole():
            known = study.from_training_rows(runs, learn, y[train], seed)
    except KeyboardInterrupt:
        if not kept():
            raise
        known, stopped = None, "interrupted"
    say("testing", 1.0)
    outcomes = {}
    for run in runs:
        tested, outcomes[run.learner.name] = study.on_test_rows(run.model, held_out.X, y[test], run)
        run.facts.update(tested)
    facts.update(study.conclusions([run.facts for run in runs], outcomes, y, train, test, known, table.where))
    facts.models = {run.learner.name: run.model for run in runs}
    facts["skipped"] = skipped
    facts["stopped"] = stopped
    facts["repeat"] = _repeat(table, seed, command, time.perf_counter() - start)
    return facts


def _learned(
    study: Study, learner: Learner, preparation: Preparation, learn: Any, y: Array, folds: int, seed: int
) -> Run:
    """Tune a learner and fit it on the training rows."""
    notes = []
    even = study.strata(y) is not None
    drawn = "drawn at random within each class" if even else "drawn at random"
    tuned_on = sample(y, TUNED_ROWS, seed, even)
    part = learn if tuned_on is None else learn.take(tuned_on)
    estimator = preparation.pipeline_to(learner.build(random_state=seed))
    grid = learner.search_grid(estimator)
    cv = study.splitter(folds, seed)
    params, tuning = tune(estimator, grid, part.X, y if tuned_on is None else y[tuned_on], cv, study.measure)
    if tuned_on is not None:
        notes.append(f"Tuned on {len(tuned_on):,} of {len(y):,} training rows, {drawn}.")

    fitted_on = sample(y, KERNEL_ROWS if learner.takes_kernel else None, seed, even)
    part = learn if fitted_on is None else learn.take(fitted_on)
    labels = y if fitted_on is None else y[fitted_on]
    if fitted_on is not None:
        notes.append(f"Fitted on {len(fitted_on):,} of {len(y):,} training rows, {drawn}.")
    model = clone(estimator).set_params(**params)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        begin = time.perf_counter()
        model.fit(part.X, labels)
        seconds = time.perf_counter() - begin
    rows, labels = fitted_rows(model, part, labels)
    facts = {
        "name": learner.name,
        "title": learner.title,
        "short_title": learner.short_title or learner.title,
        "family": learner.family,
        "fixed": short_params(learner.fixed),
        "params": short_params(params),
        "tuning": tuning,
        "fit_seconds": number(seconds, 4),
        "warnings": sorted({text(warning.message) for warning in caught}),
        "notes": notes,
        **study.on_training_rows(model, rows, labels),
    }
    return Run(learner, facts, model, rows, labels)


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
