"""The table that a model is asked about: read as in training, with the columns that the model uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._validation.wording import counted, enumeration
from ..io.table import DataError
from .arguments import Places
from .as_in_training import demanded
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile

__all__ = ["matching_table", "task_of_model"]


def task_of_model(loaded: ModelFile) -> str:
    """What a model does: "classify", "regress" or "detect"."""
    from sklearn.base import is_outlier_detector, is_regressor

    if is_regressor(loaded.estimator):
        return "regress"
    return "detect" if is_outlier_detector(loaded.estimator) else "classify"


def matching_table(
    loaded: ModelFile,
    data: Places,
    reading: dict[str, Any],
    printer: Printer,
    blind: bool = False,
    name: str | None = None,
) -> Table:
    """The table, with the columns that the model uses.

    Parameters
    ----------
    loaded : ModelFile
    data : str or list of str
    reading : dict
        Arguments of :func:`mercer.read`, as :func:`.as_in_training` gives them.
    printer : Printer
    blind : bool
        Whether labels are left aside.
    name : str, optional
        What messages call the table, where the data are rows of a larger one.

    Returns
    -------
    Table
    """
    about = {**demanded(loaded), "task": task_of_model(loaded)}
    table = _read(data, about, reading, blind, printer, name)
    _count_strange_words(table, _known_words(loaded.estimator), printer)
    return table


def _read(
    data: Places, about: dict[str, Any], reading: dict[str, Any], blind: bool, printer: Printer, name: str | None
) -> Table:
    from dataclasses import replace

    from ..io import read
    from ..io.record_names import says_name

    columns, sparse = about.get("columns") or [], bool(about.get("sparse"))
    target = reading["target"] if reading["target"] is not None else about.get("target")
    words = dict.fromkeys(about.get("words") or [], "category")
    kinds = {**dict.fromkeys(columns, "number"), **words, **(about.get("kinds") or {})}
    task = about.get("task")
    if reading["task"] not in (None, task):
        learned = {"regress": "numbers", "classify": "classes", "detect": "rows without labels"}[str(task)]
        raise DataError(f"the model was trained on {learned}; leave out --task {reading['task']}.")
    if all(isinstance(label, str) for label in about.get("classes") or [None]):
        kinds[str(target)] = "category"
    for column, kind in reading["kinds"].items():
        if column in columns and kind.partition(":")[0] != kinds[column].partition(":")[0]:
            raise DataError(f"the model learned column {column!r} as a {kinds[column].partition(':')[0]}; leave out "
                            f"--as {column}={kind}, or train anew with it.")  # fmt: skip
    of_model = {
        "target": target,
        "kinds": {**kinds, **reading["kinds"]},
        "columns": columns or None,
        "drop": (*reading["drop"], *(name for name in about.get("dropped") or () if not says_name(name))),
        "missing": [*reading["missing"], *(about.get("missing") or [])],
        "missing_words": reading["missing_words"] and about.get("missing_words", True),
        "labelled": False,
        "unlabelled_rows": "keep",
        "dense": not sparse,
        "features": about.get("features"),
        "serials": bool(about.get("serials")),
        "format": reading["format"] or about.get("format"),
        "task": "regress" if task == "regress" and not blind else None,
    }
    table = read(data, **{**reading, **of_model})
    if name is not None:
        table = replace(table, name=name)
    if blind:
        table = replace(table, y=None)
    if table.kind != about.get("kind", "rows"):
        raise DataError(f"the model was trained on {about.get('kind', 'rows')}, but {table.name} holds {table.kind}.")
    if sparse and table.n_columns != about["features"]:
        features = about["features"]
        raise DataError(f"{table.name} has {table.n_columns} features, the model was trained on {features}.")
    if columns:
        absent = [name for name in columns if name not in table.columns]
        if absent:
            missing = enumeration(map(repr, absent), 6)
            raise DataError(
                f"{name or data!r} lacks columns that the model was trained on: {missing}; add them, or train "
                "without them (--drop)."
            )
        known = about.get("left_out") or {}
        extra = [name for name in table.left_out if name not in known]
        if extra:
            printer.note(f"Columns that the model does not know are ignored: {enumeration(map(repr, extra), 6)}.")
        assert table.frame is not None
        table = replace(table, frame=table.frame[columns])
    if table.y is not None and task == "classify":
        _refuse_strange_labels(table, about)
    return table


def _refuse_strange_labels(table: Table, about: dict[str, Any]) -> None:
    known = {str(label) for label in about.get("classes") or []}
    strange = [label for label in table.class_counts if str(label) not in known]
    if known and strange:
        raise DataError(
            f"{table.name} has labels that the model does not know: {enumeration(map(repr, strange), 5)} (it knows "
            f"{enumeration(sorted(known), 5)}); {_remedy(table)}."
        )


def _remedy(table: Table) -> str:
    if table.kind == "sets":
        return "where the file has no labels, say so with --target none"
    return "correct them, or predict only with --ignore-labels"


def _known_words(model: Any) -> dict[str, list[Any]]:
    """For each column of words, the words that a fitted model has seen in it."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import OneHotEncoder

    from .._validation.unwrapped import steps_before

    found: dict[str, list[Any]] = {}
    waiting: list[tuple[Any, Any]] = [(step, []) for step in steps_before(model)]
    while waiting:
        step, columns = waiting.pop()
        if isinstance(step, Pipeline):
            waiting += [(part, columns) for _, part in step.steps]
        elif isinstance(step, ColumnTransformer):
            waiting += [(part, own) for _, part, own in step.transformers_]
        elif isinstance(step, OneHotEncoder):
            found |= {column: list(words) for column, words in zip(columns, step.categories_, strict=True)}
    return found


def _count_strange_words(table: Table, known: dict[str, list[Any]], printer: Printer) -> None:
    """Words that the model never saw are counted; where a column has no other ones, and these are numbers, it is
    another column."""
    from ..io.cells import is_numeric

    for name, words in known.items():
        column = table.X[name].dropna().astype(str)
        seen = {str(word) for word in words if word == word}
        strange = column[~column.isin(seen)]
        if strange.empty:
            continue
        found = sorted(strange.unique())
        some = enumeration(map(repr, found), 3)
        examples = enumeration(map(repr, sorted(seen)), 3)
        if len(strange) == len(column) and all(map(is_numeric, found)):
            raise DataError(
                f"column {name!r} held words when the model was trained ({examples}) and holds numbers in "
                f"{table.name} ({enumeration(found, 3)}); write the same words as then."
            )
        if len(strange) == len(column):
            printer.note(f"The model knows no word of column {name!r}: in training it held {examples}.")
            continue
        rows = counted(len(strange), "row holds", "rows hold")
        counts = "it counts" if len(strange) == 1 else "they count"
        printer.note(f"{name!r}: {rows} a word that the model never saw ({some}); {counts} as none of the known ones.")
