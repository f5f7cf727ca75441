"""A scene for the command line: its points as a CSV file, and the "mercer train" line."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from .scene import Scene

__all__ = ["command", "csv_of", "in_order", "settings"]

#: Parameters that belong to the page, or have options of their own.
_NOT_SET = ("kernel", "random_state", "time_limit")
_TASK = {"classes": "classify", "numbers": "regress"}


def settings(scene: Scene) -> dict[str, Any]:
    """The parameters of the machine beside its kernel."""
    given = scene.offered.parameters(scene)
    return {name: value for name, value in given.items() if name not in _NOT_SET}


def _columns(scene: Scene) -> list[str]:
    """Names of columns that no shell and no reader stumbles over."""
    return {"classes": ["x1", "x2", "label"], "numbers": ["x", "y"], "novelty": ["x1", "x2"]}[scene.task]


def in_order(names: Sequence[str]) -> list[str]:
    """The names of the classes; numbered where their order, which learners see, would be another one.

    Examples
    --------
    >>> in_order(["ham", "spam"]), in_order(["red", "blue"])
    (['ham', 'spam'], ['1 red', '2 blue'])
    """
    if all(name < after for name, after in pairwise(names)):
        return list(names)
    return [f"{number} {name}" for number, name in enumerate(names, 1)]


def csv_of(scene: Scene) -> str:
    """The points as a CSV file, with every digit."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_columns(scene))
    names = in_order(scene.names)
    labels = [[names[label]] for label in scene.labels] if scene.task == "classes" else [[]] * len(scene.points)
    writer.writerows([repr(x), repr(y), *own] for (x, y), own in zip(scene.points.tolist(), labels, strict=True))
    return out.getvalue()


def command(scene: Scene) -> str:
    """The line that trains the machine on the points."""
    columns = _columns(scene)
    words = ["mercer", "train", scene.offered.command or scene.learner, "points.csv"]
    if scene.task in _TASK:
        words += ["--target", columns[-1], "--task", _TASK[scene.task]]
    numeric = [name for name in columns if name != "label" and (scene.task != "numbers" or name != "y")]
    kinds = {**dict.fromkeys(numeric, "number"), **({"label": "category"} if scene.task == "classes" else {})}
    words += [word for name, kind in kinds.items() for word in ("--as", f"{name}={kind}")]
    words += ["--standardise" if scene.scaled else "--no-standardise", "--kernel", scene.kernel_text]
    given = settings(scene)
    if "loss" in given:
        given["tol"] = None
    if scene.learner == "quantile":
        given["quantiles"] = 0.5
    words += [word for name, value in given.items() for word in ("--set", f"{name}={value}")]
    words += ["--seed", str(scene.seed), "-o", "model.safetensors"]
    return shlex.join(words)
