"""Parquet files, through pyarrow (``pip install 'mercer[parquet]'``)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from .allowance import refuse_beyond
from .arrow_columns import arrow_columns, columns_to_read, refuse_other_types
from .assemble import origin_of
from .raw import RawTable
from .sources import Source, said_by
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["columns_of", "looks_like"]

#: What a row and a cell take in memory, and a byte of a column as it is in the file, unpacked.
_ROW, _CELL, _UNPACKED = 60, 40, 4


def looks_like(source: Source) -> bool:
    """Whether a file begins as every Parquet file does."""
    return source.data.startswith(b"PAR1")


def _foretold(file: Any, kept: list[str], source: Source) -> int:
    """What the columns to read take in memory: their cells, and the words of which cells are numbers."""
    facts = file.metadata
    unpacked = sum(facts.row_group(group).total_byte_size for group in range(facts.num_row_groups))
    # What is said of single columns is not asked for: pyarrow ends the process where that is damaged.
    share = len(kept) / max(1, facts.num_columns)
    return int(len(source.data) + facts.num_rows * (_ROW + _CELL * len(kept)) + _UNPACKED * share * unpacked)


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
        kept, notes = columns_to_read(schema, source, options)
        # Repeated values take no room in the file: what counts is how many cells there will be. Words stay numbers of
        # words, or a long one repeated would fill the memory.
        refuse_beyond(_foretold(file, kept, source), source.shown, options)
        refuse_other_types(schema, kept, source)
        words = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        whole = pq.ParquetFile(io.BytesIO(source.data), read_dictionary=words)
        groups = range(facts.num_row_groups)
        table = pa.concat_tables(
            [whole.read_row_group(group, columns=kept, use_threads=False).select(kept) for group in groups]
            or [whole.read(columns=kept).select(kept)]
        ).unify_dictionaries()
        return RawTable(arrow_columns(table, source, options), origin_of(source), tuple(notes))
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError, MemoryError, RuntimeError) as error:
        raise DataError(f"{source.shown} is a damaged Parquet file: {said_by(error)}.") from None
