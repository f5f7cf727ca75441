"""How a model is made of a table: all that the options of ``mercer train`` say about it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split

from ..checks import drawn_evenly, extreme_in_words, is_measurement, looks_in_words
from ..composition import layers, learner_of, machine_of
from ..io import DataError, Table, columns_used, read, reading_of
from ..messages import counted, enumeration
from .new_rows import remembered_rows, repeated_rows
from .options import Places
from .printing import Printer

if TYPE_CHECKING:
    from ..learners import Learner

#: Parameters of a machine that have options of their own, or that belong to the study alone.
_SAID_OTHERWISE = ("kernel", "random_state", "class_weight", "time_limit", "kinds")


@dataclass(frozen=True)
class Recipe:
    """A learner with its kernel (as text), its parameters and what happens before and after it.

    ``calibrate`` is the method by which scores become probabilities, ``threshold`` the measure by which the threshold
    between two classes is chosen, and ``positive`` the class that this measure is of. ``costs`` are as on the command
    line, ``preparing`` are arguments of :func:`mercer.preprocess.pipeline`.
    """

    learner: Learner
    kernel: str | None = None
    degree: int | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    class_weight: str | None = None
    calibrate: str | None = None
    threshold: str | None = None
    positive: str | None = None
    costs: tuple[str, ...] = ()
    max_rows: int | None = None
    preparing: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def in_words(self) -> str:
        """The learner with its kernel and parameters, in one line.

        Examples
        --------
        >>> from mercer.learners import LEARNERS
        >>> Recipe(LEARNERS["svc"], "gaussian(gamma=0.03)", params={"C": 10.0}).in_words
        'Gaussian SVM with gaussian(gamma=0.03), C = 10'
        >>> Recipe(LEARNERS["logistic"], params={"lam": 0.001}, class_weight="balanced").in_words
        'Logistic regression with lam = 0.001, balanced classes'
        """
        said = [] if self.kernel is None else [self.kernel]
        said += [f"{name} = {_in_few_letters(value)}" for name, value in self.params.items()]
        said += ["balanced classes"] if self.class_weight else []
        said += [f"a threshold for {self.threshold}"] if self.threshold else []
        title = self.learner.kernel_title if self.kernel and not self._own_kernel else ""
        return f"{title or self.learner.title}{' with ' if said else ''}{', '.join(said)}"

    @property
    def _own_kernel(self) -> bool:
        """Whether the kernel is of the kind that the learner is known by."""
        from ..kernels import as_kernel

        return type(as_kernel(self.kernel)) is type(as_kernel(self.learner.fixed["kernel"]))


def _in_few_letters(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def recipe_of(
    learner: Learner, model: Any, table: Table, preparing: Mapping[str, Any], seed: int, max_rows: int | None = None
) -> Recipe:
    """The recipe by which ``mercer train`` makes a model as a study has fitted it, here of all rows of a table."""
    from ..calibration import Calibrated, TunedThreshold
    from ..kernels import as_kernel

    given = learner_of(model).get_params(deep=False)
    kernel = str(as_kernel(given["kernel"])) if learner.takes_kernel else None
    plain = fitting(learner, table, kernel, preparing.get("target_transform"))
    usual = learner_of(plain.build(kernel, random_state=seed)).get_params(deep=False)
    chosen = {
        name: value
        for name, value in given.items()
        if name not in _SAID_OTHERWISE and (name in learner.grid or value != usual[name])
    }
    outer = list(layers(model))
    scores = [layer.scoring for layer in outer if isinstance(layer, TunedThreshold)]
    return Recipe(
        learner,
        kernel,
        params=chosen,
        class_weight=given.get("class_weight"),
        calibrate=next((layer.method for layer in outer if isinstance(layer, Calibrated)), None),
        threshold=next((name for name in scores if isinstance(name, str)), None),
        max_rows=max_rows if max_rows is not None and table.n_rows > max_rows else None,
        preparing=preparing,
        seed=seed,
    )


# From a table and options to a machine, and to what is remembered about it.


#: Arguments of :func:`mercer.preprocess.pipeline` that are none of :func:`mercer.preprocess.prepare`.
APART = ("outliers", "outlier_factor", "target_transform")
#: Why there is nothing to choose by, in the words that follow a learner's name.
WITHOUT_ERRORS = (
    "detects outliers in rows without labels, so there are no errors to choose by; train it (mercer train), with "
    "--set nu=SHARE for the share of rows that may be outliers."
)
#: Rows from which on classes that never come again are a mistake.
_FEW = 20


def with_columns_of(reading: dict[str, Any], *kernels: str | None) -> dict[str, Any]:
    """How to read a table whose columns kernels name: none of these is left out, whatever it looks like."""
    from ..kernels import columns_named, parse

    named = {name for kernel in kernels if kernel for name in columns_named(parse(kernel)) if isinstance(name, str)}
    return {**reading, "kinds": {**dict.fromkeys(sorted(named), "keep"), **reading["kinds"]}}


def table_to_learn(data: Places, reading: dict[str, Any], printer: Printer, kernel: str | None = None) -> Table:
    """The table, with notes on what was assumed and what is to be learned; refused where nothing is."""
    with printer.working("reading"):
        table = read(data, **with_columns_of(reading, kernel))
    for note in filter(None, (*table.notes, table.task_in_words)):
        printer.note(note)
    refuse_unlearnable(table)
    return table


def table_without_labels(
    data: Places, reading: dict[str, Any], printer: Printer, kernel: str | None, what: str
) -> tuple[Table, Table]:
    """The table without its labels, which ``what`` does not need, and with them."""
    from ..io import read
    from ..kernels import parse

    reading = with_columns_of(reading, kernel)
    unlabelled = "drop" if reading["unlabelled_rows"] == "drop" else "keep"
    with printer.working("reading"):
        table = read(data, **{**reading, "labelled": reading["target"] is not None, "unlabelled_rows": unlabelled})
    for note in table.notes:
        printer.note(note)
    if table.y is not None:
        printer.note(f"The target {table.target!r} is left out: {what} needs no labels.")
    if table.target is None and table.kind == "sets":
        printer.note("All items of a line are learned from; leave a label out with --target first or --target last.")
    if table.kind == "rows" and (kernel is None or parse(kernel).on_rows):
        if table.target is None:
            everything = f"All {table.n_columns} columns are learned from"
            printer.note(f"{everything}; leave one that holds a label out with --target, others with --drop.")
        if names := _never_again(table):
            printer.note(
                f"In {enumeration(map(repr, names), 6)} each row has another value, so that all rows are equally far "
                "apart there; leave such columns out with --drop."
            )
    return replace(table, y=None, target=None, notes=()), table


def _never_again(table: Table) -> list[str]:
    """Columns of words in which each row has another: names, numbers of records, times."""
    columns = [(name, table.X[name].dropna()) for name in table.category_columns]
    return [name for name, words in columns if words.size > 1 and words.nunique() == words.size]


def refuse_unlearnable(table: Table) -> None:
    """A target of one value, or with another class in each row, tells nothing."""
    assert table.y is not None
    targets = table.y[table.labelled]
    if len(table.class_counts) < 2:
        label = next(iter(table.class_counts))
        what, other = ("target", "with another") if table.measured else ("label", "of another class")
        raise DataError(
            f"all rows have the same {what}, {label!r}: there is nothing to learn; add rows {other}, or choose "
            "another target (--target)."
        )
    if table.measured and (extreme := extreme_in_words(table.target, targets)):
        raise DataError(extreme)
    if table.asked == "classify" and len(table.class_counts) == targets.size > _FEW:
        raise DataError(
            f"the target {table.target!r} has another class in each of {targets.size} rows, and nothing is learned of "
            "a class from one row; leave out --task classify, or name another with --target."
        )
    if table.asked is None and not table.measured and is_measurement(targets):
        raise DataError(f"{looks_in_words(table.target, targets)} and not like classes; name another with --target.")


def split(table: Table, holdout: float | None, seed: int, time: str | None = None) -> tuple[Table, Table | None]:
    """The rows to learn from and those to test on, each class with its share, or the last ones in an order of time."""
    if holdout is None:
        return table, None
    if time is not None:
        from ..study import division_of

        assert table.y is not None  # what is learned without a target knows no order of time
        learned, tested = division_of(table, time=time)[1].test_rows(table.y, holdout, seed)
        return table.take(learned), table.take(tested)
    try:
        if table.measured or table.y is None:
            parts = train_test_split(np.arange(table.n_rows), test_size=holdout, random_state=seed)
        else:
            parts = drawn_evenly(table.y, seed, test_size=holdout)
    except ValueError as error:
        raise ValueError(f"the rows cannot be split with --holdout {holdout:g}: {error}") from None
    return table.take(parts[0]), table.take(parts[1])


def fitting(learner: Learner, table: Table, kernel: str | None, target_transform: str | None = None) -> Learner:
    """The learner for the items of a table and, if it learns numbers, for the unit of its target."""
    from ..learners import spread_of, suited
    from ..preprocess import transformed_target

    learner = suited(learner, table, [kernel] if kernel else [])
    if learner.task != "regress":
        return learner
    assert table.y is not None
    return learner.in_units(spread_of(transformed_target(target_transform, table.y)))


def usual_kernel(table: Table, learner: Learner, preparing: dict[str, Any], printer: Printer) -> str | None:
    """The Gaussian whose gamma is by the rule "scale" on the prepared rows, as a number that can be read.

    ``None`` where the learner has no kernel, or one of its own that is no Gaussian: on strings, sets and graphs the
    one that suits them.
    """
    from ..kernels import Gaussian, as_kernel
    from ..preprocess import prepare

    if table.kind != "rows":
        printer.note(f"No kernel was named; using {learner.fixed['kernel']}, which suits {table.kind}.")
    if not isinstance(as_kernel(learner.fixed["kernel"]), Gaussian):
        return None
    steps = {name: value for name, value in preparing.items() if name not in APART}
    rows = prepare(table, **steps).fit_transform(table.X)
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    if rows.min() == rows.max():
        raise DataError(f"{table.name}: all columns are constant, so there is nothing to learn from.")
    kernel = f"gaussian(gamma={Gaussian('scale').resolved(rows).gamma:.3g})"
    printer.note(f"No kernel was named; using {kernel}, which suits the spread of the columns.")
    return kernel


def with_target_transform(recipe: Recipe, asked: str, table: Table, printer: Printer) -> Recipe:
    """The recipe with what happens to the targets of these training rows."""
    from ..study import target_transform_of

    preparing = dict(recipe.preparing)

    def made(name: str) -> Any:
        """What the recipe says, with its usual kernel where it says none."""
        learner = fitting(recipe.learner, table, recipe.kernel, name)
        return machine(table, learner, {**preparing, "target_transform": name}, kernel=recipe.kernel,
                       degree=recipe.degree, seed=recipe.seed, params=dict(recipe.params))  # fmt: skip

    with printer.working("looking at the target"):
        preparing["target_transform"], said = target_transform_of(asked, table, made, {}, recipe.seed)
    if said:
        printer.note(said)
    return replace(recipe, preparing=preparing)


def machine(
    table: Table,
    learner: Learner,
    preparing: dict[str, Any],
    *,
    kernel: str | None,
    degree: int | None,
    seed: int,
    params: dict[str, Any],
) -> Any:
    """The learner with everything that comes before it, not fitted."""
    from ..preprocess import pipeline

    if degree is not None and not learner.on_rows:
        why = f"{learner.name} prepares by itself" if learner.prepares else f"{learner.fixed['kernel']} does not see"
        raise DataError(f"--degree multiplies columns of numbers, which {why}; leave it out.")
    return pipeline(table, learner.build(kernel, degree, seed, **params), **preparing)


def fit(model: Any, table: Table, what: str, printer: Printer) -> float:
    """Fit, and tell how many seconds it took."""
    begin = time.perf_counter()
    with printer.working(what):
        model.fit(table.X, table.y)
    if outliers := outliers_in_words(model):
        printer.note(outliers)
    return time.perf_counter() - begin


def outliers_in_words(model: Any) -> str | None:
    """How many training rows a fitted model has left out as outliers; nothing where it does not look for them."""
    return next((str(layer.report_) for layer in layers(model) if hasattr(layer, "report_")), None)


def cross_validated(
    model: Any, table: Table, seed: int, printer: Printer, division: Any = None, rows: Any = None
) -> tuple[dict[str, Any], list[float | None] | None] | None:
    """The error on rows that were left out of a fit in turn, and how far errors of numbers reach.

    ``None`` after Ctrl-C: the model is there already, and nothing of it is lost by not knowing that. No error is told
    where a class is too rare to be left out. Rows are left out as ``division`` says, in which these have the places
    ``rows``.
    """
    from ..study import Division, half_widths, has_rare, out_of_fold_predictions

    numbers = table.measured
    y = np.asarray(table.y, dtype=np.float64) if numbers else table.y
    assert y is not None
    division = Division(classes=not numbers) if division is None else division
    try:
        with printer.working("measuring errors on rows left out in turn"):
            tested, predicted, folds = out_of_fold_predictions(model, table, y, seed, division, rows)
        error = errors_of(predicted, y[tested], "regress" if numbers else "classify")
        widths = half_widths(y[tested] - predicted) if numbers else None
    except KeyboardInterrupt:
        return None
    except ValueError as refusal:
        if numbers:
            raise
        printer.note(f"No error was cross-validated: {refusal}")
        return {}, None
    facts = {"error": error, "rows": len(tested), "folds": folds}
    if not numbers and has_rare(y):
        classes, counts = np.unique(y[tested], return_counts=True)
        rare = classes[counts.argmin()]
        found = int((predicted[y[tested] == rare] == rare).sum())
        facts["rarest"] = {"label": str(rare), "rows": int(counts.min()), "found": found}
    return facts, widths


def errors_of(predicted: Any, y: Any, task: str) -> Any:
    """The share of mistakes, or the errors of numbers."""
    from ..study import error_of_numbers

    if task == "classify":
        return float((predicted != y).mean())
    return {name: value if value == value else None for name, value in error_of_numbers(y, predicted).items()}


def about_model(
    table: Table, learner: Learner, model: Any, learned: Table | tuple[Iterable[Table], int], **more: Any
) -> dict[str, Any]:
    """What a model file remembers besides the model.

    The table may be a sample that tells what its columns hold; the rows that were learned from come at once or in
    pieces, with their number.
    """
    last, columns, read = machine_of(model), _columns_used(model, table), reading_of(table)
    rows, n_rows = learned if isinstance(learned, tuple) else ([learned], learned.n_rows)
    return {
        "learner": learner.name,
        "kernel": str(last.kernel_) if hasattr(last, "kernel_") else None,
        "task": learner.task,
        "classes": model.classes_.tolist() if learner.task == "classify" else None,
        "target_range": _range_of(table.y) if learner.task == "regress" else None,
        **read,
        "columns": columns,
        "words": [name for name in read["words"] if name in columns],
        "kinds": {name: kind for name, kind in read["kinds"].items() if name in columns},
        "data": {"name": table.name, "sha256": table.digest, "rows": table.n_rows},
        "trained_rows": remembered_rows(rows, n_rows, columns_used(model, columns), table.digest),
        **more,
    }


def _range_of(targets: Any) -> list[float]:
    """The smallest and the largest target that is known."""
    known = np.asarray(targets, dtype=np.float64)
    return [float(np.nanmin(known)), float(np.nanmax(known))]


def held_out(model: Any, learning: Table, testing: Table | None, printer: Printer) -> dict[str, int]:
    """How many rows were kept out of the training, and how many of these equal a training row: they tell little."""
    if testing is None:
        return {}
    columns = columns_used(model, _columns_used(model, learning))
    repeated = repeated_rows(learning, testing, columns)
    if repeated:
        equal = counted(repeated, "equals a training row", "equal training rows")
        printer.note(
            f"Of the {testing.n_rows:,} {testing.kind} held out {equal}: new rows fare rather worse than these."
        )
    return {"holdout_rows": testing.n_rows, "holdout_repeated": repeated}


def _columns_used(model: Any, table: Table) -> list[str]:
    """The columns that a model was trained on: those that its kernel names, or all of them."""
    from ..kernels import as_kernel, columns_named

    if table.frame is None:
        return []
    kernel = getattr(machine_of(model), "kernel", None)
    named = set() if kernel is None else columns_named(as_kernel(kernel))
    return [name for name in table.columns if name in named] if named <= set(table.columns) and named else table.columns
