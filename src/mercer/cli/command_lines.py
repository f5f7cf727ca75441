"""Commands as text: what was asked for, and the ``mercer train`` line that makes a model again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from .recipe import Recipe

#: Options that say how results are printed, or that a recipe says itself.
_PRINTING = frozenset({"json", "quiet", "config"})
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

    ``besides`` are words of options about reading and preparation, see :func:`said_besides`.

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
    learners. The target goes by its name, also where it was given by its position, which other columns may shift;
    ``apart`` are further columns that are not learned from.
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
