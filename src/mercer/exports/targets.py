"""The places that a model can leave for, each an entry of :data:`TARGETS`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..io import DataError, refuse_unwritable, write_whole
from ..messages import enumeration, nearest
from .c import c_text
from .computation import Computation, TextCounts, nodes_of
from .computed import computed
from .libsvm import libsvm_files
from .onnx import onnx_bytes
from .python import python_text

#: Files by what is added to their name, and sentences about them.
Files = tuple[Mapping[str, str | bytes], list[str]]


@dataclass(frozen=True)
class Target:
    """A place that a model can leave for: what is written there, how its files usually end, and what makes them."""

    name: str
    what: str
    suffix: str
    files: Callable[[Any], Files]


def _without_texts(model: Any, to: str) -> Computation:
    """All that a model computes, refused where it counts words and letters of texts."""
    found = computed(model)
    counts = next((node for node in nodes_of(found.outputs) if isinstance(node, TextCounts)), None)
    if counts is not None:
        name = found.columns[counts.place].name
        raise DataError(
            f"column {name!r} holds texts, whose words and letters only files of Python count: export to python "
            f"instead of {to}, or train without it (--drop {name!r})."
        )
    return found


#: Every target by its name.
TARGETS: dict[str, Target] = {
    each.name: each
    for each in (
        Target("onnx", "an ONNX model", ".onnx", lambda model: ({"": onnx_bytes(_without_texts(model, "onnx"))}, [])),
        Target("libsvm", "LIBSVM's text format", ".model", libsvm_files),
        Target("c", "one C99 file without dependencies", ".c",
               lambda model: ({"": c_text(_without_texts(model, "c"))}, [])),
        Target("python", "one Python file that needs NumPy alone", ".py",
               lambda model: ({"": python_text(computed(model))}, [])),
    )
}  # fmt: skip


def export(model: Any, path: str | Path, to: str) -> list[str]:
    """Write a fitted model for another place to compute it.

    Parameters
    ----------
    model : estimator
        A fitted machine of mercer, also in a pipeline of usual steps, a search, ``Calibrated`` or ``TunedThreshold``.
    path : str or Path
        The file, which is replaced whole or not at all.
    to : {"onnx", "libsvm", "c", "python"}

    Returns
    -------
    list of str
        What is to be known about the files, in sentences; often nothing.

    Raises
    ------
    DataError
        Where the model, or a part of it, cannot be written like that.

    Examples
    --------
    >>> import pathlib, runpy, tempfile
    >>> from mercer import SVC, export
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "xor.py"
    >>> export(SVC("rbf", C=10).fit([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]), path, to="python")
    []
    >>> runpy.run_path(str(path))["predict"]([[0, 1], [1, 1]]).tolist()
    ['yes', 'no']
    """
    if to not in TARGETS:
        near = nearest(str(to), TARGETS)
        hint = f"did you mean {near!r}?" if near else f"there are {enumeration(map(repr, TARGETS))}."
        raise ValueError(f"export: there is no target {to!r}; {hint}")
    refuse_unwritable(path)
    files, notes = TARGETS[to].files(model)
    for added, content in files.items():
        write_whole(f"{path}{added}", content)
    return notes
