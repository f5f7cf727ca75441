"""What a command reads: every path that it is given to read is remembered, so that no output can take its place."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click import Context, Parameter
from click.shell_completion import CompletionItem

from ..io import FORMATS

if TYPE_CHECKING:
    from ..model_files import ModelFile

# What a shell suggests while a command is typed. Registries are looked up when the key is pressed.


Suggest = Callable[[Context, Parameter, str], list[CompletionItem]]


def _beginning(names: Iterable[str], typed: str, before: str = "") -> list[CompletionItem]:
    return [CompletionItem(before + name) for name in names if name.startswith(typed)]


def topic_names(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Topics of ``mercer help`` and commands."""
    from . import COMMANDS
    from .help import TOPICS

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
    from ..kernels import registered
    from .help import with_underscores

    last = re.search(r"[A-Za-z_]*$", typed)
    assert last is not None
    return _beginning([with_underscores(each.__name__) for each in registered()], last[0], typed[: last.start()])


def scoring_names(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """What can be asked for by ``--scoring``."""
    from ..study import class_measures, number_measures

    return _beginning([*class_measures([0, 1]), *number_measures()], typed)


def places_of_rows(context: Context, parameter: Parameter, typed: str) -> list[CompletionItem]:
    """Built-in tables, and files that can be read by their suffix."""
    from ..io import BUILTIN, FORMATS

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


_FILES = "mercer.files_read"


class _Read(click.ParamType):
    """The type of arguments and options that name something to read: a file, or a place of rows."""

    name = "path"

    def __init__(self, suggest: Suggest) -> None:
        self.suggest = suggest

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return self.suggest(ctx, param, incomplete)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        place = os.fspath(value)
        if ctx is not None:
            ctx.meta.setdefault(_FILES, set()).update(_files_of(place))
        return place


READ, ROWS, MODEL = _Read(any_file), _Read(places_of_rows), _Read(models)


def files_read() -> set[str]:
    """The files that the command which runs was given to read, without links."""
    context = click.get_current_context(silent=True)
    return set() if context is None else context.meta.get(_FILES, set())


def _files_of(place: str) -> set[str]:
    """The files of a place: of ``book.xlsx#March`` the book, of a pattern or a folder all files with rows."""
    if "\0" in place:
        return set()
    address = re.fullmatch(r"sqlite[^:]*:///([^?]*).*", place, re.DOTALL)
    path = address[1] if address else place
    named = [path, path.partition("#")[0], *glob.glob(path, recursive=True)]
    inside = [str(file) for file in Path(path).rglob("*") if _has_rows(file)] if os.path.isdir(path) else []
    return {os.path.realpath(file) for file in [*named, *inside] if os.path.isfile(file)}


def _has_rows(file: Path) -> bool:
    known = {".txt"}.union(*(entry.suffixes for entry in FORMATS.values()))
    return not known.isdisjoint(file.suffixes)


# Model files on the command line: ``--sign`` where one is written, ``--verify`` where one is read.
#
# Keys are read before any work is done, and kept with the command that runs.


_PRIVATE, _PUBLIC = "mercer.private_key", "mercer.public_keys"


def _keep_private(context: click.Context, parameter: click.Parameter, path: str | None) -> None:
    if path is not None:
        from ..model_files import private_key

        context.meta[_PRIVATE] = private_key(path)


def _keep_public(context: click.Context, parameter: click.Parameter, paths: tuple[str, ...]) -> None:
    context.meta[_PUBLIC] = list(paths)


sign_option = click.option(
    "--sign",
    type=READ,
    metavar="KEY",
    callback=_keep_private,
    expose_value=False,
    help='Sign the model with a private key (made by "ssh-keygen -t ed25519"), so that others can tell who made it.',
)
verify_option = click.option(
    "--verify",
    type=READ,
    metavar="PUBKEY",
    multiple=True,
    callback=_keep_public,
    expose_value=False,
    help="Refuse a model that is not signed with a key in this file of public keys. May be repeated.",
)


def save(model: Any, path: str, about: Mapping[str, Any]) -> None:
    """Write a model, signed where that was asked for."""
    from ..model_files import write_model

    write_model(model, path, about, sign=click.get_current_context().meta.get(_PRIVATE))


def open_model(path: str) -> ModelFile:
    """Read a model that is signed as was asked for; what the file says about it is what commands expect."""
    from ..checks import schema
    from ..io import DataError
    from ..model_files import open_model

    loaded = open_model(path, verify=click.get_current_context().meta.get(_PUBLIC) or None)
    meanings = _about()
    try:
        schema.check("about", {name: value for name, value in loaded.about.items() if name in meanings}, meanings)
    except ValueError as error:
        raise DataError(f"{path!r} was not written by a command of mercer: {error}; use mercer.load.") from None
    return loaded


def _about() -> dict[str, Any]:
    """What commands rely on."""
    from ..checks import schema

    names, said = schema.list_of(schema.text), schema.mapping(schema.text, schema.anything)
    return {
        name: schema.optional(schema.nothing | meaning)
        for name, meaning in {
            "learner": schema.text,
            "kernel": schema.instance(str, words="a text"),  # of a weight for each column, it is long
            "target": schema.text | schema.whole(),
            "task": schema.choice("classify", "regress", "detect", "cluster"),
            "classes": schema.instance(list, words="a list"),
            "kind": schema.text,
            "format": schema.text,
            "columns": names,
            "words": names,
            "kinds": schema.mapping(schema.text, schema.text),
            "left_out": said,
            "dropped": names,
            "missing": names,
            "features": schema.whole(),
            "found": said,
            "as_read": said,
            "data": said,
            "training": said,
            "trained_rows": said,
            "half_widths": schema.list_of(schema.nothing | schema.number()),
            "comparison": said,
            "command": schema.instance(str, words="a text"),
        }.items()
    }
