"""Parquet files, through pyarrow (``pip install 'mercer[parquet]'``)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.memory import bytes_of
from .assemble import assemble, origin_of, refuse_duplicates
from .sources import Source
from .table import DataError, Table

if TYPE_CHECKING:
    from .options import Options

__all__ = ["looks_like", "read"]


def looks_like(source: Source) -> bool:
    """Whether a file begins as every Parquet file does."""
    return source.data.startswith(b"PAR1")


def read(source: Source, options: Options) -> Table:
    """Read a Parquet file; see :func:`mercer.read`."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(f"{source.shown} is a Parquet file; install pyarrow: pip install 'mercer[parquet]'.") from None
    try:
        file = pq.ParquetFile(io.BytesIO(source.data))
        facts, schema = file.metadata, file.schema_arrow
        # Repeated values take no room in the file: what counts is how many cells there will be. Words stay numbers of
        # words, or a long one repeated would fill the memory.
        if 8 * facts.num_rows * facts.num_columns > bytes_of(options.max_bytes):
            raise DataError(
                f"{source.shown} has {facts.num_rows:,} rows of {facts.num_columns} columns; allow more with max_bytes "
                "(--max-bytes)."
            )
        refuse_duplicates(schema.names, source.shown)
        words = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        table = pq.ParquetFile(io.BytesIO(source.data), read_dictionary=words).read().unify_dictionaries()
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{source.shown} is a damaged Parquet file: {_first_sentence(error)}.") from None
    if table.num_rows == 0 or table.num_columns == 0:
        raise DataError(f"{source.shown} has no rows.")
    columns = {name: _column(name, table.column(name), source, options) for name in table.column_names}
    origin = origin_of(source)
    return assemble(columns, origin, options)


def _first_sentence(error: Exception) -> str:
    return str(error).splitlines()[0].partition(". ")[0].rstrip(".")


def _column(name: str, values: Any, source: Source, options: Options) -> Any:
    import pandas as pd
    import pyarrow.types as kinds

    kind = values.type.value_type if kinds.is_dictionary(values.type) else values.type
    if kinds.is_null(kind):
        return np.full(len(values), np.nan)
    if kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_decimal(kind):
        numbers = values.cast("float64").to_numpy().astype(np.float64)
        if np.isinf(numbers).any():
            row = int(np.flatnonzero(np.isinf(numbers))[0]) + 1
            raise DataError(f"{source.shown}, row {row}, column {name!r}: the number is not finite.")
        return pd.Categorical(values.to_pandas()) if options.kinds.get(name) == "category" else numbers
    if kinds.is_string(kind) or kinds.is_large_string(kind):
        found = pd.Categorical(values.to_pandas())
        return found.set_categories(np.sort(found.categories.to_numpy(dtype=object)))
    raise DataError(
        f"{source.shown}, column {name!r}: values of type {values.type} are neither numbers nor words; turn them into "
        f"numbers first, or leave the column out (--drop {name!r})."
    )
