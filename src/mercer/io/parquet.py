"""Parquet files, through pyarrow (``pip install 'mercer[parquet]'``)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from .._validation.memory import bytes_of
from .arrow_columns import arrow_columns, columns_to_read
from .assemble import origin_of
from .raw import RawTable
from .sources import Source, said_by
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["columns_of", "looks_like"]


def looks_like(source: Source) -> bool:
    """Whether a file begins as every Parquet file does."""
    return source.data.startswith(b"PAR1")


def columns_of(source: Source, options: Options) -> RawTable:
    """The columns of a Parquet file, without those that are left out."""
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
        kept, notes = columns_to_read(schema, source, options)
        words = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        whole = pq.ParquetFile(io.BytesIO(source.data), read_dictionary=words)
        table = whole.read(columns=kept).select(kept).unify_dictionaries()
        return RawTable(arrow_columns(table, source, options), origin_of(source), tuple(notes))
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError, MemoryError) as error:
        raise DataError(f"{source.shown} is a damaged Parquet file: {said_by(error)}.") from None
