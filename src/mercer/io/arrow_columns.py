"""Columns of Arrow tables, as Parquet, Feather and Arrow files hold them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .assemble import refuse_duplicates, remaining
from .python_values import as_words, refuse_infinite
from .sources import Source
from .table import DataError

if TYPE_CHECKING:
    import pandas as pd

    from .options import Options

__all__ = ["arrow_columns", "columns_to_read", "frame_of_arrow", "refuse_other_types", "without_index"]


def columns_to_read(schema: Any, source: Source, options: Options) -> tuple[list[str], list[str]]:
    """The names of the columns that are not to be left out, and notes."""
    names = [str(name) for name in schema.names]
    refuse_duplicates(names, source.shown)
    return without_index(remaining(names, options, source.shown), schema)


def without_index(names: list[str], schema: Any) -> tuple[list[str], list[str]]:
    """Columns as people see them, and a note where the index of a frame is not among them.

    The index of a pandas frame stands last in its files, where it would be taken for the target: it comes first where
    it has a name, and is left out where it has none.
    """
    index = [name for name in _index_of(schema) if name in names]
    unnamed = [name for name in index if name.startswith("__index_level_")]
    named = [name for name in index if name not in unnamed]
    notes = ["The index of the frame, which has no name, was left out."] if unnamed else []
    return [*named, *(name for name in names if name not in index)], notes


def _index_of(schema: Any) -> list[str]:
    try:
        found = json.loads((schema.metadata or {})[b"pandas"])["index_columns"]
        return [name for name in found if isinstance(name, str)]
    except (KeyError, TypeError, ValueError):
        return []


def frame_of_arrow(rows: Any, columns: Sequence[str]) -> pd.DataFrame:
    """Some columns of Arrow rows as a frame, whatever was its index once; decimal numbers are floats."""
    import pyarrow.types as kinds

    chosen = rows.select(list(columns))
    for place, field in enumerate(chosen.schema):
        if kinds.is_decimal(field.type):
            numbers = chosen.column(place).cast("float64", safe=False)
            chosen = chosen.set_column(place, field.name, numbers)
    return chosen.to_pandas(ignore_metadata=True)


def arrow_columns(table: Any, source: Source, options: Options) -> dict[str, Any]:
    """Numbers, words and dates of an Arrow table."""
    if table.num_rows == 0 or table.num_columns == 0:
        raise DataError(f"{source.shown} has no rows.")
    return {name: _column(name, table.column(name), source, options) for name in table.column_names}


def refuse_other_types(schema: Any, names: Sequence[str], source: Source) -> None:
    """Raise where a column to read holds neither numbers, words nor dates, before anything of it is unpacked."""
    for name in names:
        if not _can_be_read(schema.field(name).type):
            raise DataError(
                f"{source.shown}, column {name!r}: values of type {schema.field(name).type} are neither numbers, words "
                f"nor dates; turn them into numbers first, or leave the column out (--drop {name!r})."
            )


def _can_be_read(kind: Any) -> bool:
    import pyarrow.types as kinds

    kind = kind.value_type if kinds.is_dictionary(kind) else kind
    numbers = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_decimal(kind)
    dates = kinds.is_date(kind) or kinds.is_timestamp(kind)
    return numbers or dates or kinds.is_null(kind) or kinds.is_string(kind) or kinds.is_large_string(kind)


def _column(name: str, values: Any, source: Source, options: Options) -> Any:
    import pandas as pd
    import pyarrow.types as kinds

    def place(row: int) -> str:
        return f"{source.shown}, row {row + 1}"

    kind = values.type.value_type if kinds.is_dictionary(values.type) else values.type
    if kinds.is_null(kind):
        return np.full(len(values), np.nan)
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_decimal(kind):
        plain = values.cast(kind) if kinds.is_dictionary(values.type) else values
        if options.kinds.get(name) == "category":
            return as_words([(k, value) for k, value in enumerate(plain.to_pylist()) if value is not None], len(plain))
        numbers = plain.cast("float64", safe=False).to_numpy().astype(np.float64)
        refuse_infinite(name, numbers, place)
        return numbers
    if kinds.is_date(kind) or kinds.is_timestamp(kind):
        return _dates(name, values.cast(kind), source)
    found = pd.Categorical(values.to_pandas())
    return found.set_categories(np.sort(found.categories.to_numpy(dtype=object)))


def _dates(name: str, values: Any, source: Source) -> Any:
    """Dates as datetime64[ns]; those with a time zone are in UTC, as Arrow keeps them."""
    import pyarrow as pa

    try:
        return values.cast(pa.timestamp("ns", tz=getattr(values.type, "tz", None))).to_numpy().astype("datetime64[ns]")
    except pa.ArrowException:
        raise DataError(f"{source.shown}, column {name!r}: a date lies outside the years 1678 to 2261.") from None
