"""A scene from a table: two columns to look at, and the target that they are to tell."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.wording import counted, enumeration
from ..io import DataError, Table, read
from .asked import FARTHEST, list_of, text
from .scene import MOST_POINTS

__all__ = ["scene_of_table", "scene_of_text"]

#: Formats of text that the page may send, by suffix.
_FORMATS = {
    ".csv": "csv", ".tsv": "csv", ".tab": "csv", ".txt": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".arff": "arff", ".svm": "svmlight", ".svmlight": "svmlight", ".libsvm": "svmlight",
}  # fmt: skip
_MOST_BYTES = 10_000_000
_MOST_CLASSES = 6
_LONGEST_NAME = 60


def scene_of_text(request: dict[str, Any]) -> dict[str, Any]:
    """The scene of a file that the page has read: its name says the format, and nothing else."""
    name = PureWindowsPath(PurePosixPath(text(request.get("file"), "the name of the file", 1000)).name).name
    content = text(request.get("text"), "the text of the file", _MOST_BYTES)
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in _FORMATS:
        raise ValueError(f"{name!r} is not a table of text; its name should end in {enumeration(_FORMATS, 20, 'or')}.")
    columns = request.get("columns")
    if columns is not None:
        columns = [text(column, "the name of a column", 1000) for column in list_of(columns, "the columns", 2)]
    target = request.get("target")
    if target is not None:
        target = text(target, "the name of the target", 1000)
    with tempfile.TemporaryDirectory(prefix="mercer-play-") as folder:
        path = Path(folder) / f"table{suffix}"
        path.write_text(content, encoding="utf-8", newline="")
        try:
            table = read(path, target, format=_FORMATS[suffix], unlabelled_rows="drop", max_bytes=_MOST_BYTES)
        except DataError as error:
            raise ValueError(str(error).replace(str(path), name).replace(path.name, name)) from None
    return scene_of_table(table, columns, name)


def scene_of_table(table: Table, columns: list[str] | None = None, name: str | None = None) -> dict[str, Any]:
    """The scene of a table: the two columns that are asked for, or the two that tell most of the target.

    Examples
    --------
    >>> from mercer import read
    >>> answer = scene_of_table(read("breast_cancer"))
    >>> answer["scene"]["names"], len(answer["scene"]["points"]), answer["scene"]["scaled"]
    (['benign', 'malignant'], 569, True)
    """
    if table.kind != "rows" or table.frame is None:
        raise DataError(f"a table of {table.kind} without columns of numbers has no place in the plane; "
                        "bring one with two columns of numbers.")  # fmt: skip
    if table.y is None:
        raise DataError("the table has no target; name its column.")
    task = "numbers" if table.measured else "classes"
    chosen = _columns(table, columns, 1 if task == "numbers" else 2)
    values = table.frame[chosen].to_numpy(np.float64)
    names, labels = ([], table.y.astype(np.float64)) if table.measured else _classes(table.y)
    rows = np.column_stack([values, labels]) if table.measured else values
    kept = (np.isfinite(rows) & (np.abs(rows) <= FARTHEST)).all(axis=1) & (labels >= 0 if names else True)
    places = np.flatnonzero(kept)
    if places.size > MOST_POINTS:
        places = np.sort(np.random.default_rng(0).permutation(places)[:MOST_POINTS])
    if places.size < 2:
        raise DataError(f"fewer than two rows have numbers in {enumeration(map(repr, chosen))} and a label.")
    scene: dict[str, Any] = {
        "task": task,
        "points": rows[places].tolist(),
        "axes": [str(each)[:_LONGEST_NAME] for each in (*chosen, table.target)][:2],
        "scaled": True,
        "kernel": "gaussian(gamma=?)",
        "gamma": 1.0,
        "seed": 0,
    }
    if names:
        scene |= {"labels": labels[places].tolist(), "names": names}
    return {
        "scene": scene,
        "columns": [{"name": str(each), "kind": kind} for each, kind in table.kinds.items()],
        "target": table.target,
        "note": _note(table, chosen, names, places.size, name or table.name),
    }


def _columns(table: Table, asked: list[str] | None, most: int) -> list[str]:
    """The columns to look at."""
    numeric = table.numeric_columns
    if asked:
        for column in asked:
            if column not in numeric:
                raise DataError(
                    f"there is no column of numbers {column!r}; there are {enumeration(map(repr, numeric))}."
                )
        if len(asked) != len(set(asked)) or len(asked) < most:
            raise DataError(f"name {counted(most, 'different column')} of numbers.")
        return asked[:most]
    if len(numeric) < most:
        raise DataError(f"the table has {counted(len(numeric), 'column')} of numbers beside its target; "
                        f"{most} are needed to draw it.")  # fmt: skip
    told = [_told(table.frame[column].to_numpy(np.float64), table) for column in numeric]  # type: ignore[index]
    best = np.argsort(-np.array(told), kind="stable")[:most]
    return [numeric[place] for place in sorted(best)]


def _told(column: Array, table: Table) -> float:
    """The share of a column's variance that goes with the target: η² for classes, the square of r for numbers."""
    known = np.isfinite(column)
    x = column[known]
    if x.size < 3 or np.ptp(x) == 0:
        return 0.0
    y = np.asarray(table.y)[known]
    if table.measured:
        y = y.astype(np.float64)
        return float(np.corrcoef(x, y)[0, 1] ** 2) if np.ptp(y) > 0 else 0.0
    codes = np.unique(y, return_inverse=True)[1]
    counts = np.bincount(codes)
    means = np.bincount(codes, x) / counts
    return float(counts @ (means - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum())


def _classes(y: Array) -> tuple[list[str], Array]:
    """The names of the classes, the most frequent ones where they are many, and the class of each row or −1."""
    classes, codes, counts = np.unique(y.astype(str), return_inverse=True, return_counts=True)
    kept = np.sort(np.argsort(-counts, kind="stable")[:_MOST_CLASSES])
    if kept.size < 2:
        raise DataError("the target has one class; at least two are needed.")
    place = np.full(classes.size, -1)
    place[kept] = np.arange(kept.size)
    names = [str(name)[:_LONGEST_NAME] for name in classes[kept]]
    if len(set(names)) < len(names):
        names = [f"{number + 1} {name}"[:_LONGEST_NAME] for number, name in enumerate(names)]
    return names, place[codes]


def _note(table: Table, chosen: list[str], names: list[str], rows: int, name: str) -> str:
    shown = enumeration(map(repr, [*chosen, *([table.target] if table.measured else [])]))
    parts = [f"{name}: {counted(table.n_rows, 'row')}; drawn by {shown}, scaled to one unit."]
    if names:
        parts.append(f"The target {table.target!r} has {enumeration(names)}.")
    if rows < table.n_rows:
        why = "with gaps, of rare classes or beyond 2000"
        parts.append(f"{counted(table.n_rows - rows, 'row was', 'rows were')} left out ({why}).")
    return " ".join(parts)
