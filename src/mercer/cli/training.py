"""A model made by a recipe, with what is to be said and remembered about it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners import Learner
    from ..study import Comparison
    from .recipe import Recipe


@dataclass(frozen=True)
class Trained:
    """A fitted model.

    Parameters
    ----------
    model : estimator
    learner : Learner
        As it suits the table.
    kernel : str, optional
    facts : dict
        Rows, seconds, errors and status of the training.
    half_widths : list, optional
        How far errors of numbers reach; ``None`` for classes, and where measuring it was interrupted.
    learned : Table
        The rows that it was trained on.
    support_lines : list of str, optional
        Where the rows that the model keeps stood in their file.
    """

    model: Any
    learner: Learner
    kernel: str | None
    facts: dict[str, Any]
    half_widths: list[float | None] | None
    learned: Table
    support_lines: Any = None

    def about(self, table: Table, **more: Any) -> dict[str, Any]:
        """What a model file remembers."""
        from .recipe import about_model

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


def as_tested(recipe: Recipe, facts: Comparison, chosen: dict[str, Any], table: Table) -> Trained:
    """The model that a study has tested, as it is."""
    from ..checks import machine_of
    from ..explain import support_lines
    from .recipe import fitting, outliers_in_words

    model = facts.models[recipe.learner.name]
    learned = table.take(facts.rows[recipe.learner.name])
    learner = fitting(recipe.learner, learned, recipe.kernel, recipe.preparing.get("target_transform"))
    last = machine_of(model)
    about = {
        "rows": learned.n_rows,
        "seconds": chosen["fit_seconds"],
        "errors": {"train": error_on(model, learned, learner.task)},
        "status": getattr(last, "status_", None),
        "support": len(last.support_) if hasattr(last, "support_") else None,
        "seed": recipe.seed,
        "outliers": outliers_in_words(model),
        "calibrated": None,
        "threshold": None,
    }
    return Trained(model, learner, recipe.kernel, about, facts.half_widths, learned, support_lines(model, learned))


def trained(
    recipe: Recipe,
    table: Table,
    printer: Printer,
    testing: Table | None = None,
    division: Any = None,
    half_widths: list[float | None] | None = None,
    validating: bool = False,
) -> Trained:
    """Make a model of a table.

    Parameters
    ----------
    recipe : Recipe
        Its learner is the one of the catalogue.
    table : Table
        Rows to learn from.
    printer : Printer
    testing : Table, optional
        Rows to test on.
    division : Division, optional
        How rows are left out in turn to find how far errors reach, where not at random.
    half_widths : list, optional
        How far they reach, where that is known.
    validating : bool
        Whether mistakes on rows left out in turn are counted; of numbers that is always done.

    Returns
    -------
    Trained
    """
    from ..checks import machine_of
    from ..explain import support_lines
    from .recipe import cross_validated, fit, fitting, held_out, machine, outliers_in_words, usual_kernel
    from .train import about_mistakes, answering

    kept = _few_enough(table, recipe, printer)
    learning = table if kept is None else table.take(kept)
    learner, kernel = (
        fitting(recipe.learner, learning, recipe.kernel, recipe.preparing.get("target_transform")),
        recipe.kernel,
    )
    if kernel is None and learner.takes_kernel:
        kernel = usual_kernel(learning, learner, dict(recipe.preparing), printer)
    params = {**recipe.params, **about_mistakes(recipe, learning)}
    model = machine(
        learning, learner, dict(recipe.preparing), kernel=kernel, degree=recipe.degree, seed=recipe.seed, params=params
    )
    model = answering(model, recipe, learning, printer)
    seconds = fit(model, learning, f"training {learner.title} on {learning.n_rows} rows", printer)
    errors = {"train": error_on(model, learning, learner.task)}
    if testing is not None:
        errors["holdout"] = error_on(model, testing, learner.task)
    last = machine_of(model)
    facts = {
        "rows": learning.n_rows,
        **held_out(model, learning, testing, printer),
        "seconds": seconds,
        "errors": errors,
        "status": getattr(last, "status_", None),
        "support": len(last.support_) if hasattr(last, "support_") else None,
        "seed": recipe.seed,
        "outliers": outliers_in_words(model),
        "calibrated": recipe.calibrate,
        "threshold": recipe.threshold,
    }
    widths = half_widths
    if widths is None and (learner.task == "regress" or validating):
        left_out = cross_validated(model, learning, recipe.seed, printer, division, kept)
        if left_out is not None:
            found, widths = left_out
            if "error" in found:
                errors["cross-validated"] = found.pop("error")
            facts["cross_validation"] = found
    return Trained(model, learner, kernel, facts, widths, learning, support_lines(model, learning))


def _few_enough(table: Table, recipe: Recipe, printer: Printer) -> Any:
    """The places of as many rows as the recipe allows, each class with its share; ``None`` where all are allowed."""
    from ..study import sample

    if recipe.max_rows is None or table.n_rows <= recipe.max_rows:
        return None
    assert table.y is not None
    even = not table.measured and min(table.class_counts.values()) > 1
    kept = sample(table.y, recipe.max_rows, recipe.seed, even)
    drawn = "drawn at random within each class" if even else "drawn at random"
    printer.note(f"Learning from {recipe.max_rows:,} of {table.n_rows:,} rows, {drawn}.")
    return kept


def error_on(model: Any, table: Table, task: str) -> Any:
    """The share of mistakes on the rows of a table, or the errors of numbers."""
    from .recipe import errors_of

    return errors_of(model.predict(table.X), table.y, task)


# What comes after a comparison: the chosen learner as a recipe, and as a model of all rows.


#: How much longer than expected a fit may take.
_LONGER = 1.5


def recipe_of_chosen(facts: Comparison, table: Table, preparing: dict[str, Any], seed: int) -> Recipe:
    """The learner that a study has chosen, with its kernel and parameters."""
    from ..learners import named
    from .recipe import recipe_of

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
    from ..report import study_name
    from .paths import save

    chosen = next(one for one in facts["learners"] if one["name"] == recipe.learner.name)
    growth = table.n_rows / max(1, chosen["fitted_rows"])
    if seconds < _LONGER * chosen["fit_seconds"] * growth**2:
        made = as_tested(recipe, facts, chosen, table)
        printer.note("There was no time for a fit of all rows: the model is the one that was tested.")
    else:
        made = trained(recipe, table, printer, division=division, half_widths=facts.half_widths)
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


# Commands as text: what was asked for, and the ``mercer train`` line that makes a model again.


#: Options that say how results are printed, or that a recipe says itself.
_PRINTING = frozenset({"as_json", "quiet", "config"})
_RECIPE = frozenset(
    {
        "kernel",
        "degree",
        "params",
        "class_weight",
        "calibrate",
        "threshold",
        "positive",
        "costs",
        "max_rows",
        "rank",
        "landmarks",
        "memory",
        "output",
        "holdout",
        "target_transform",
    }
)
#: Options that say who does the work, whatever the work is.
_WORKERS = frozenset({"cluster"})
_PASSWORD = re.compile(r"(://[^:/@\s]*):[^@/\s]+@")


def train_command(recipe: Recipe, data: str | Sequence[str], output: str, besides: Iterable[str] = ()) -> str:
    """The line that trains a model by a recipe, to be pasted into a shell.

    Parameters
    ----------
    recipe : Recipe
    data : str or sequence of str
        Where the rows are.
    output : str
        The model file.
    besides : iterable of str
        Words of options about reading and preparation, see :func:`said_besides`.

    Returns
    -------
    str

    Examples
    --------
    >>> from mercer.cli.recipe import Recipe
    >>> from mercer.learners import LEARNERS
    >>> recipe = Recipe(LEARNERS["svc"], "gaussian(gamma=0.03)", params={"C": 10.0})
    >>> train_command(recipe, "my people.csv", "people.safetensors", ["--target", "job"])
    "mercer train svc 'my people.csv' --kernel 'gaussian(gamma=0.03)' --set C=10.0 --target job -o people.safetensors"
    """
    words = ["mercer", "train", recipe.learner.name, *([data] if isinstance(data, str) else data)]
    said = {"--kernel": recipe.kernel, "--degree": recipe.degree}
    for option, value in said.items():
        words += [option, str(value)] if value is not None else []
    for name, value in recipe.params.items():
        words += ["--set", f"{name}={value}"]
    said = {
        "--class-weight": recipe.class_weight,
        "--calibrate": recipe.calibrate,
        "--threshold": recipe.threshold,
        "--positive": recipe.positive if recipe.threshold else None,
        "--max-rows": recipe.max_rows,
        "--target-transform": recipe.preparing.get("target_transform") if recipe.learner.task == "regress" else None,
    }
    for option, value in said.items():
        words += [option, str(value)] if value is not None else []
    return _line([*words, *besides, "-o", output])


def said_besides(target: str | None = None, apart: Iterable[str] = ()) -> list[str]:
    """The options of the command that runs now which ``mercer train`` has as well, as they were given.

    What a recipe says is left out: kernel, parameters and the like. So is the cluster of a search, which trains few
    learners.

    Parameters
    ----------
    target : str, optional
        The name of the target, also where it was given by its position, which other columns may shift.
    apart : iterable of str
        Further columns that are not learned from.

    Returns
    -------
    list of str
    """
    from .train import train

    known = {option.name for option in train.params} - _RECIPE - _PRINTING - _WORKERS
    found = {name: words for name, words in _given_options().items() if name in known}
    if target is not None and "target" in found:
        found["target"] = ["--target", target]
    return [word for words in (*found.values(), *(["--drop", name] for name in apart)) for word in words]


def given_command() -> str:
    """The command that runs now; what was not said, also not in a configuration file, has its default."""
    context = click.get_current_context()
    places = [each for each in context.command.params if isinstance(each, click.Argument)]
    words = [word for each in places for word in _texts(context.params.get(each.name or ""))]
    options = [word for name, said in _given_options().items() if name not in _PRINTING for word in said]
    return _line(["mercer", str(context.info_name), *words, *options])


def shown_name(name: str) -> str:
    """A file name for the model of a table, made of what every shell takes.

    Examples
    --------
    >>> shown_name("my people (2024)"), shown_name("…")
    ('my-people-2024.safetensors', 'model.safetensors')
    """
    plain = re.sub(r"[^\w.-]+", "-", name, flags=re.ASCII).strip("-.")
    return f"{plain or 'model'}.safetensors"


def _line(words: Iterable[str]) -> str:
    """Words as a shell takes them, without the passwords of databases."""
    return _PASSWORD.sub(r"\1:***@", shlex.join(words))


def _given_options() -> dict[str, list[str]]:
    """By the name of each option that was given, on the command line or in a configuration file, its words."""
    context = click.get_current_context()
    given = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP)
    found: dict[str, list[str]] = {}
    for option in context.command.params:
        name = option.name or ""
        if not isinstance(option, click.Option) or name not in context.params:
            continue
        if context.get_parameter_source(name) not in given:
            continue
        value = context.params[name]
        if option.is_flag:
            found[name] = [option.opts[-1]] if value else option.secondary_opts[-1:]
        elif option.multiple:
            found[name] = [word for text in _texts(value) for word in (option.opts[-1], text)]
        else:
            found[name] = [option.opts[-1], ",".join(_texts(value))]
    return found


def _texts(value: Any) -> list[str]:
    """A value of the command line, which may have been made into something else meanwhile, as texts again."""
    from ..learners import Learner

    if isinstance(value, Mapping):
        return [f"{name}={each}" for name, each in value.items()]
    if isinstance(value, Learner):
        return [value.name]
    return [str(value)] if isinstance(value, (str, Path)) or not isinstance(value, Iterable) else [*map(str, value)]
