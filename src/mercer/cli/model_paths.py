"""Model files on the command line: ``--sign`` where one is written, ``--verify`` where one is read.

Keys are read before any work is done, and kept with the command that runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from .reading_paths import READ

if TYPE_CHECKING:
    from ..model_files.models import ModelFile

__all__ = ["open_model", "save", "sign_option", "verify_option"]

_PRIVATE, _PUBLIC = "mercer.private_key", "mercer.public_keys"


def _keep_private(context: click.Context, parameter: click.Parameter, path: str | None) -> None:
    if path is not None:
        from ..model_files.signing import private_key

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
    from ..model_files.models import write_model

    write_model(model, path, about, sign=click.get_current_context().meta.get(_PRIVATE))


def open_model(path: str) -> ModelFile:
    """Read a model that is signed as was asked for; what the file says about it is what commands expect."""
    from ..io.table import DataError
    from ..model_files.meanings import check
    from ..model_files.models import open_model

    loaded = open_model(path, verify=click.get_current_context().meta.get(_PUBLIC) or None)
    meanings = _about()
    try:
        check("about", {name: value for name, value in loaded.about.items() if name in meanings}, meanings)
    except ValueError as error:
        raise DataError(f"{path!r} was not written by a command of mercer: {error}; use mercer.load.") from None
    return loaded


def _about() -> dict[str, Any]:
    """What commands rely on."""
    from ..model_files.meanings import (
        anything,
        choice,
        instance,
        list_of,
        mapping,
        nothing,
        number,
        optional,
        text,
        whole,
    )

    names, said = list_of(text), mapping(text, anything)
    return {
        name: optional(nothing | meaning)
        for name, meaning in {
            "learner": text,
            "kernel": text,
            "target": text | whole(),
            "task": choice("classify", "regress", "detect"),
            "classes": instance(list, words="a list"),
            "kind": text,
            "format": text,
            "columns": names,
            "words": names,
            "kinds": mapping(text, text),
            "left_out": said,
            "dropped": names,
            "missing": names,
            "features": whole(),
            "found": said,
            "as_read": said,
            "data": said,
            "training": said,
            "trained_rows": said,
            "half_widths": list_of(nothing | number()),
            "comparison": said,
            "command": text,
        }.items()
    }
