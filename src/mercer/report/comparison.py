"""The whole study: describe, split, preprocess, tune every learner, fit, and look at the test rows once."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from .. import __version__
from .._presentation.html import Markup, table_html
from .._runtime.compile import Array
from .._runtime.interrupts import kept, whole
from .._validation.target_kind import measured_in_words
from ..kernels import parse
from ..learners.catalogue import Learner, named
from ..learners.suited import suited
from .learner_facts import on_test_rows, on_training_rows
from .plain import number, text
from .planes import boundaries
from .preparation import Preparation, fitted_rows
from .table_facts import table_facts
from .tuning import chosen_setting, sample, short_params, tune
from .verdicts import compare_right, fit_verdict, headline, percent

#: What is compared unless asked otherwise: the textbook learners, on lines, on products and with kernels.
DEFAULT_LEARNERS = (
    "perceptron", "pegasos", "logistic",
    "perceptron-2", "pegasos-2", "logistic-2",
    "kernel-perceptron", "kernel-pegasos", "kernel-logistic", "svc", "poly-svc",
)  # fmt: skip

#: The same on strings, sets and graphs, or with a kernel that names its columns.
STRUCTURED_LEARNERS = ("kernel-perceptron", "kernel-pegasos", "kernel-logistic", "svc")

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
    """

    def _repr_html_(self) -> Markup:
        rows = [
            [
                one["title"],
                percent(one["test"]["rate"]),
                f"{percent(one['test']['low'], 1)} to {percent(one['test']['high'], 1)}",
                percent(chosen_setting(one["tuning"])["validation"]["mean"]),
                percent(one["train"]["rate"]),
            ]
            for one in self["learners"]
        ]
        heads = ["learner", "test error", "95 % interval", "CV error", "training error"]
        title = f"{self['data']['name']}: {self['data']['extent']}"
        return table_html(title, rows, heads=heads, notes=self["answer"]["words"])


@dataclass
class _Run:
    """One learner on its way through the study."""

    learner: Learner
    facts: dict[str, Any]
    model: Any
    rows: Any
    labels: Array


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
        :data:`STRUCTURED_LEARNERS` where items are no rows of numbers.
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
    y = _checked_labels(table, test_size, cv)
    chosen = [suited(named(name), table, kernels) for name in dict.fromkeys(learners or _usual(table, kernels))]

    say("describing the data", 0.0)
    facts = Comparison(format=1, data=table_facts(table))
    train, test = train_test_split(np.arange(len(y)), test_size=test_size, stratify=y, random_state=seed)
    train, test = np.sort(train), np.sort(test)
    learn, held_out = table.take(train), table.take(test)
    folds = min(cv, int(np.unique(y[train], return_counts=True)[1].min()))
    facts["split"] = _split(y, train, test, test_size, seed, cv, folds)

    options = {"standardise": standardise, "correlation": correlation, "impute": impute, "constant": constant}
    preparation = Preparation(table, outliers, outlier_factor, options)
    prepared = any(learner.on_rows for learner in chosen)
    facts["preprocessing"] = preparation.facts(learn, y[train]) if prepared else preparation.no_facts()
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
                    runs.append(_learned(learner, preparation, learn, y[train], folds, seed))
                continue
            except KeyboardInterrupt:
                if not (kept() and runs):
                    raise
                stopped = "interrupted"
                why = _STOPPED[stopped]
        skipped.append({"name": learner.name, "title": learner.title, "why": why})
    if not runs:
        raise ValueError(f"no learner could be compared: {skipped[0]['why']}")

    say("testing", 1.0)
    right = {}
    for run in runs:
        tested, right[run.learner.name] = on_test_rows(run.model, held_out.X, y[test], run.rows, run.labels)
        run.facts.update(tested)
    facts.update(_conclusions([run.facts for run in runs], right, y, train, test))
    on_plane = {run.learner.name: run.model for run in runs if run.learner.on_rows}
    facts["boundary"] = boundaries(on_plane, learn.X, y[train]) if on_plane else None
    facts["skipped"] = skipped
    facts["stopped"] = stopped
    facts["repeat"] = _repeat(table, seed, command, time.perf_counter() - start)
    return facts


def _usual(table: Any, kernels: Sequence[str]) -> Sequence[str]:
    """The learners that are compared unless asked otherwise."""
    if table.kind != "rows" or not all(parse(text).on_rows for text in kernels):
        return STRUCTURED_LEARNERS
    # With a kernel given, learners that differ from others in their kernel alone are the same as those.
    usual = map(named, DEFAULT_LEARNERS)
    return [each.name for each in usual if not kernels or each.takes_any_kernel or not each.takes_kernel]


def _learned(learner: Learner, preparation: Preparation, learn: Any, y: Array, folds: int, seed: int) -> _Run:
    """Tune a learner and fit it on the training rows."""
    notes = []
    tuned_on = sample(y, TUNED_ROWS, seed)
    part = learn if tuned_on is None else learn.take(tuned_on)
    estimator = preparation.pipeline_to(learner.build(random_state=seed))
    grid = learner.search_grid(estimator)
    params, tuning = tune(estimator, grid, part.X, y if tuned_on is None else y[tuned_on], folds, seed)
    if tuned_on is not None:
        notes.append(f"Tuned on {len(tuned_on):,} of {len(y):,} training rows, drawn at random within each class.")

    fitted_on = sample(y, KERNEL_ROWS if learner.takes_kernel else None, seed)
    part = learn if fitted_on is None else learn.take(fitted_on)
    labels = y if fitted_on is None else y[fitted_on]
    if fitted_on is not None:
        notes.append(f"Fitted on {len(fitted_on):,} of {len(y):,} training rows, drawn at random within each class.")
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
        **on_training_rows(model, rows, labels),
    }
    return _Run(learner, facts, model, rows, labels)


def _conclusions(learners: list[dict], right: dict[str, Array], y: Array, train: Array, test: Array) -> dict[str, Any]:
    """The verdicts, once all numbers are there."""
    labels, sizes = np.unique(y[train], return_counts=True)
    majority = float(np.mean(y[test] != labels[sizes.argmax()]))
    chosen = min(learners, key=lambda one: chosen_setting(one["tuning"])["validation"]["mean"])["name"]
    best_test = min((one["test"] for one in learners), key=lambda rate: rate["rate"])
    for one in learners:
        one["verdict"] = fit_verdict(one, best_test, majority)
    pairs = compare_right([one["name"] for one in learners], right, chosen)
    return {
        "answer": headline(learners, pairs, chosen, majority),
        "majority_error": number(majority),
        "learners": sorted(learners, key=lambda one: one["test"]["rate"]),
        "pairs": pairs,
    }


def _checked_labels(table: Any, test_size: float, cv: int) -> Array:
    """The labels, or one sentence about why they cannot be learned."""
    if table.y is None:
        raise ValueError(f"{table.source} has no target column; name one with --target.")
    if not table.labelled.all():
        raise ValueError(f"{table.source}: {int((~table.labelled).sum())} rows have no label; drop or label them.")
    if not 0 < test_size < 1:
        raise ValueError(f"test_size must be a share between 0 and 1, got {test_size!r}.")
    if cv < 2:
        raise ValueError(f"cv must be at least 2 folds, got {cv!r}.")
    y = np.asarray(table.y)
    counts = table.class_counts
    if table.measured:
        raise ValueError(measured_in_words(table.target, len(counts), len(y)))
    if len(counts) < 2:
        raise ValueError(
            f"the target {table.target!r} has only one value, {next(iter(counts))!r}; there is nothing to tell apart."
        )
    label, least = min(counts.items(), key=lambda item: item[1])
    if least < 4:
        raise ValueError(
            f"class {label!r} of the target {table.target!r} has only {least} row{'s' * (least > 1)}; a comparison "
            "needs 4 of each class, for training, validation and test. Merge or remove it, or choose another target."
        )
    return y


def _split(y: Array, train: Array, test: Array, test_size: float, seed: int, cv: int, folds: int) -> dict[str, Any]:
    labels = np.unique(y)
    notes = [] if folds == cv else [f"{folds} folds instead of {cv}: the smallest class has no more training rows."]
    return {
        "train": len(train),
        "test": len(test),
        "test_size": test_size,
        "seed": seed,
        "folds": folds,
        "notes": notes,
        "classes": [
            {"label": text(label), "train": int(np.sum(y[train] == label)), "test": int(np.sum(y[test] == label))}
            for label in labels
        ],
    }


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
