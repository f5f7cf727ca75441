"""What a shell suggests while a command is typed. Registries are looked up when the key is pressed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from click import Context, Parameter
from click.shell_completion import CompletionItem

__all__ = [
    "Suggest",
    "any_file",
    "kernel_names",
    "learner_names",
    "models",
    "places_of_rows",
    "scoring_names",
    "several_learners",
    "topic_names",
]

Suggest = Callable[[Context, Parameter, str], list[CompletionItem]]


def _beginning(names: Iterable[str], typed: str, before: str = "") -> list[CompletionItem]:
    return [CompletionItem(before + name) for name in names if name.startswith(typed)]


def topic_names(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Topics of ``mercer help`` and commands."""
    from . import COMMANDS
    from .help_topics import TOPICS

    return _beginning([*TOPICS, *COMMANDS], typed)


def learner_names(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Learners, each with its title."""
    from ..learners import LEARNERS

    return [CompletionItem(name, help=each.title) for name, each in LEARNERS.items() if name.startswith(typed)]


def several_learners(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Learners with errors, after the last comma."""
    from ..learners import LEARNERS

    done, comma, last = typed.rpartition(",")
    chosen = done.split(",")
    names = (name for name, each in LEARNERS.items() if each.task != "detect" and name not in chosen)
    return _beginning(names, last, done + comma)


def kernel_names(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Kernels, by the last name of an expression."""
    from .. import kernels
    from ..kernels.registry import registered
    from .help_topics import with_underscores

    assert kernels.__all__  # importing them enters them
    last = re.search(r"[A-Za-z_]*$", typed)
    assert last is not None
    return _beginning([with_underscores(each.__name__) for each in registered()], last[0], typed[: last.start()])


def scoring_names(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """What can be asked for by ``--scoring``."""
    from ..report.scorings import class_measures, number_measures

    return _beginning([*class_measures([0, 1]), *number_measures()], typed)


def places_of_rows(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Built-in tables, and files that can be read by their suffix."""
    from ..io.builtin import BUILTIN
    from ..io.formats import FORMATS

    known = {suffix for entry in FORMATS.values() for suffix in entry.suffixes} | {
        ".txt",
        ".data",
        ".gz",
        ".bz2",
        ".xz",
        ".zip",
    }
    return _files(typed, known, [name for name in BUILTIN if name.startswith(typed)])


def any_file(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Whatever file there is, as the shell finds it."""
    return [CompletionItem(typed, type="file")]


def models(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Model files."""
    return _files(typed, {".safetensors"})


def _files(typed: str, suffixes: set[str], names: Iterable[str] = ()) -> list[CompletionItem]:
    """Names, files with one of the suffixes and folders. Where it can only be a folder, or nothing, the shell goes on:
    it knows that something may come after a folder.
    """
    folder, slash, begin = typed.rpartition("/")
    try:
        inside = sorted(os.scandir(Path(folder + slash or ".").expanduser()), key=lambda each: each.name)
    except OSError:
        inside = []
    seen = [each for each in inside if each.name.startswith(begin) and (begin or not each.name.startswith("."))]
    files = [each.name for each in seen if not each.is_dir() and not suffixes.isdisjoint(Path(each.name).suffixes)]
    folders = [f"{each.name}/" for each in seen if each.is_dir()]
    if not files and not list(names) and len(folders) < 2:
        return [CompletionItem(typed, type="file")]
    return [CompletionItem(name) for name in names] + [
        CompletionItem(folder + slash + name) for name in [*files, *folders]
    ]
