"""From what a user gives to rows of numbers: frames with columns of any kind, and arrays of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from .._runtime.compile import Array
from .._validation.memory import bytes_of, size_in_words
from .._validation.tables import numbers_only, refuse_foreign
from .._validation.wording import enumeration, nearest
from ..io.frames import is_frame, read_frame
from ..io.options import Options
from ..io.table import DataError, Table
from ..preprocess import Clipped, prepare

__all__ = ["prepared", "sources", "table_of"]


def table_of(
    estimator: Any, X: Any, *, asked: Mapping[str, str] | None = None, known: Mapping[str, str] | None = None
) -> Table:
    """The rows of a user as a table.

    Parameters
    ----------
    estimator : estimator
    X : frame or array
    asked : mapping, optional
        Of rows of training, the kinds of some columns as the user says them.
    known : mapping, optional
        Of new rows, the kinds of all columns as they were in training.
    """
    import pandas as pd

    reset, asked = known is None, asked or {}
    if is_frame(X):
        frame = X if hasattr(X, "iloc") else X.to_pandas()
        learned_from = getattr(estimator, "feature_names_in_", None)
        if known is not None and learned_from is not None:
            absent = set(learned_from) - set(frame.columns)
            if absent and absent.isdisjoint(known):  # nothing was learned from them
                frame = frame.reindex(columns=learned_from)
        if reset or learned_from is not None:
            validate_data(estimator, frame, reset=reset, skip_check_array=True)
        if known is not None:
            return read_frame(frame, Options(labelled=False, kinds=known, columns=frozenset(known)))
        _refuse_unknown(estimator, asked, [str(name) for name in frame.columns])
        return read_frame(frame, Options(labelled=False, kinds=asked))
    refuse_foreign(X)
    with numbers_only(X):
        rows = validate_data(
            estimator,
            X,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=1 if reset else 0,
        )
    names = getattr(estimator, "feature_names_in_", None)
    names = [f"x{k + 1}" for k in range(rows.shape[1])] if names is None else [str(name) for name in names]
    _refuse_unknown(estimator, asked, names)
    frame = pd.DataFrame(rows, columns=names)
    if not asked:
        return Table("the rows", frame)
    # Arrays say nothing of their columns, and so all that nobody asks to be something else are numbers that stay.
    return read_frame(frame, Options(labelled=False, kinds={**dict.fromkeys(names, "keep"), **asked}))


def _refuse_unknown(estimator: Any, asked: Mapping[str, str], names: list[str]) -> None:
    """Refuse kinds of columns that the rows do not have."""
    for name in asked:
        if name not in names:
            near = nearest(name, names)
            hint = f"the columns are {enumeration(map(repr, names), 6)}." if near is None else f"did you mean {near!r}?"
            raise ValueError(f"{type(estimator).__name__}: kinds has the column {name!r}, which is not there; {hint}")


def prepared(table: Table) -> Pipeline:
    """The steps from a table to rows of numbers, not fitted: standardised, none further off than a limit."""
    return Pipeline([*prepare(table).steps, ("clip", Clipped())])


def as_rows(values: Any, memory: int | str, name: str) -> Array:
    """Prepared rows as an array, in the order of C."""
    needed = 8 * values.shape[0] * values.shape[1]
    if needed > bytes_of(memory):
        raise DataError(
            f"{name}: the {values.shape[1]} columns of numbers that were made of the table take "
            f"{size_in_words(needed)}, more than memory={memory!r}; raise it, or leave columns of many words out."
        )
    dense = values.toarray() if hasattr(values, "toarray") else values
    return np.ascontiguousarray(dense, dtype=np.float64)


def sources(preparation: Pipeline, names: list[str]) -> Array:
    """For each column of prepared rows the place of the user's column that it was made of."""
    place = {name: k for k, name in enumerate(names)}
    made = [str(name) for name in preparation.get_feature_names_out()]
    ordered = sorted(names, key=len, reverse=True)

    def source(name: str) -> int:
        plain = name.removeprefix("missingindicator_")
        if plain in place:
            return place[plain]
        return next((place[each] for each in ordered if plain.startswith(each)), 0)

    return np.array([source(name) for name in made])
