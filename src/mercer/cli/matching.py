"""The table that a model is asked about: read as in training, with the columns that the model uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._validation.wording import enumeration
from ..io.table import DataError
from .arguments import Places
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
    from dataclasses import replace

    from ..io import read
    from ..io.like import as_described, described, reading_like, with_unknown_words

    about = {**described(loaded), "task": task_of_model(loaded)}
    table = read(data, **reading_like(reading, about, blind))
    table = replace(table, name=name or table.name, y=None if blind else table.y, notes=())
    table = as_described(table, about, name or repr(data))
    if table.y is not None and about["task"] == "classify":
        _refuse_strange_labels(table, about)
    table = with_unknown_words(table, loaded.estimator)
    for note in table.notes:
        printer.note(note)
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
