"""From what a user gives to rows of numbers: frames with columns of any kind, and arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from .._runtime.compile import Array
from .._validation.memory import bytes_of, size_in_words
from .._validation.tables import numbers_only, refuse_foreign
from ..io.frames import is_frame, read_frame
from ..io.options import Options
from ..io.table import DataError, Table
from ..preprocess import Clipped, prepare

__all__ = ["prepared", "sources", "table_of"]


def table_of(estimator: Any, X: Any, kinds: dict[str, str] | None = None) -> Table:
    """The rows of a user as a table: of training where no kinds of columns are known yet, else of new rows."""
    import pandas as pd

    reset = kinds is None
    if is_frame(X):
        frame = X if hasattr(X, "iloc") else X.to_pandas()
        known = getattr(estimator, "feature_names_in_", None)
        if kinds is not None and known is not None:
            absent = set(known) - set(frame.columns)
            if absent and absent.isdisjoint(kinds):  # nothing was learned from them
                frame = frame.reindex(columns=known)
        if reset or known is not None:
            validate_data(estimator, frame, reset=reset, skip_check_array=True)
        options = Options(labelled=False, kinds=kinds or {}, columns=None if kinds is None else frozenset(kinds))
        return read_frame(frame, options)
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
    return Table("the rows", pd.DataFrame(rows, columns=names))


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
