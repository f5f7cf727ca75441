"""What a model wants of a file: the columns that it uses, read as they were when it was trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile

__all__ = ["as_in_training", "as_read", "columns_used", "demanded"]


#: What is found out about a file, and is the same in other files of its kind.
_FOUND = ("delimiter", "decimal", "zero_based", "header")


def as_read(table: Table, reading: dict[str, Any]) -> dict[str, Any]:
    """How the file was read, where that was said or found out: other files of its kind are to be read alike."""
    said = {name: reading[name] for name in ("header", "delimiter") if reading.get(name) is not None}
    if reading.get("decimal") not in (None, "."):
        said["decimal"] = reading["decimal"]
    if reading.get("quotes") is False:
        said["quotes"] = False
    header = table.found.get("header")
    return {**({} if header is None else {"header": header}), **said}


def as_in_training(reading: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`mercer.read`: what was not said now is as in training."""
    context = click.get_current_context()
    found, said = ({} if not isinstance(about.get(name), dict) else about[name] for name in ("found", "as_read"))
    known = {**{name: found[name] for name in _FOUND if name in found}, **said}
    unsaid = {
        name: value
        for name, value in known.items()
        if name in reading and context.get_parameter_source(name) is ParameterSource.DEFAULT
    }
    return {**reading, **unsaid}


def demanded(loaded: ModelFile) -> dict[str, Any]:
    """What is known about a model, of its columns only those that it uses: others may be missing from a file.

    Columns may have been left out by the kernel, which names its own, or by the preparation, for lack of values.
    """
    about = loaded.about
    if not about.get("columns"):
        return about
    used = columns_used(loaded.estimator, about["columns"])
    found = {name: [each for each in about.get(name) or [] if each in used] for name in ("columns", "words")}
    if isinstance(about.get("kinds"), dict):
        found["kinds"] = {name: kind for name, kind in about["kinds"].items() if name in used}  # type: ignore[assignment]
    return {**about, **found}


def columns_used(model: Any, columns: list[str]) -> list[str]:
    """Of the columns that a model was trained on those that it looks at, now that it is fitted."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    from .._validation.unwrapped import machine_of, steps_before
    from ..kernels.on_columns import columns_named
    from ..preprocess import Numbers

    steps = steps_before(model)
    names: list[Any] = []
    if not steps:
        kernel = getattr(machine_of(model), "kernel_", None)
        names = [] if kernel is None else list(columns_named(kernel))
    else:
        first = steps[0]
        while isinstance(first, Pipeline):
            first = first.steps[0][1]
        if isinstance(first, Numbers):
            names = first.columns_.tolist()
        elif isinstance(first, ColumnTransformer):
            taken = [columns for _, step, columns in first.transformers_ if step != "drop"]
            names = [name for columns in taken for name in columns]
    known = set(names)
    return (
        [name for name in columns if name in known]
        if known and all(isinstance(name, str) for name in known)
        else columns
    )
