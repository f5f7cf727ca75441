"""What a command reads: every path that it is given to read is remembered, so that no output can take its place."""

from __future__ import annotations

import glob
import os
import re
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..io.formats import FORMATS
from .suggestions import Suggest, any_file, models, places_of_rows

__all__ = ["MODEL", "READ", "ROWS", "files_read"]

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
