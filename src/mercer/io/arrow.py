"""Columns of Arrow tables, as Parquet, Feather and Arrow files hold them."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks.parameters import bytes_of
from .assemble import RawTable, origin_of, refuse_duplicates, remaining
from .sources import Source, refuse_beyond, said_by
from .table import DataError
from .values import as_words, refuse_infinite

if TYPE_CHECKING:
    import pandas as pd

    from .table import Options


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


# Parquet files, through pyarrow (``pip install 'mercer[parquet]'``).


#: What a row and a cell take in memory, and a byte of a column as it is in the file, unpacked.
_PARQUET_ROW, _PARQUET_CELL, _UNPACKED = 60, 40, 4


def looks_like_parquet(source: Source) -> bool:
    """Whether a file begins as every Parquet file does."""
    return source.data.startswith(b"PAR1")


def _bytes_needed(file: Any, kept: list[str], source: Source) -> int:
    """What the columns to read take in memory: their cells, and the words of which cells are numbers."""
    facts = file.metadata
    unpacked = sum(facts.row_group(group).total_byte_size for group in range(facts.num_row_groups))
    # What is said of single columns is not asked for: pyarrow ends the process where that is damaged.
    share = len(kept) / max(1, facts.num_columns)
    return int(
        len(source.data) + facts.num_rows * (_PARQUET_ROW + _PARQUET_CELL * len(kept)) + _UNPACKED * share * unpacked
    )


def parquet_columns(source: Source, options: Options) -> RawTable:
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
        refuse_beyond(_bytes_needed(file, kept, source), source.shown, options)
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


# Feather and Arrow files, through pyarrow (``pip install 'mercer[parquet]'``).


_FILE = b"ARROW1"
_FIRST_VERSION = b"FEA1"
#: What a row and a cell take in memory, beside what they take in the file unpacked.
_FEATHER_ROW, _FEATHER_CELL = 60, 40


def looks_like_feather(source: Source) -> bool:
    """Whether a file begins as Feather and Arrow files do."""
    return source.data.startswith((_FILE, _FIRST_VERSION))


def feather_columns(source: Source, options: Options) -> RawTable:
    """The columns of an Arrow file or stream, without those that are left out."""
    try:
        import pyarrow as pa
    except ImportError:
        raise DataError(f"{source.shown} is an Arrow file; install pyarrow: pip install 'mercer[parquet]'.") from None
    if source.data.startswith(_FIRST_VERSION):
        raise DataError(f"{source.shown} is a Feather file of the first version; save it again as Parquet.")
    try:
        opener = pa.ipc.open_file if source.data.startswith(_FILE) else pa.ipc.open_stream
        schema = opener(io.BytesIO(source.data)).schema
        kept, notes = columns_to_read(schema, source, options)
        refuse_other_types(schema, kept, source)
        table = pa.Table.from_batches(_batches(opener, kept, source, options)).select(kept).unify_dictionaries()
        return RawTable(arrow_columns(table, source, options), origin_of(source), tuple(notes))
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError, MemoryError, RuntimeError) as error:
        raise DataError(f"{source.shown} is a damaged Arrow file: {said_by(error)}.") from None


def _batches(opener: Any, kept: list[str], source: Source, options: Options) -> list[Any]:
    """The pieces of a file, of the columns that are kept; what they take unpacked is counted."""
    import pyarrow as pa

    limit = bytes_of(options.max_bytes)
    schema = opener(io.BytesIO(source.data)).schema
    wanted = [position for position, name in enumerate(schema.names) if name in kept]
    reader = opener(io.BytesIO(source.data), options=pa.ipc.IpcReadOptions(included_fields=wanted))
    if hasattr(reader, "count_rows"):
        refuse_beyond(
            len(source.data) + reader.count_rows() * (_FEATHER_ROW + _FEATHER_CELL * len(wanted)), source.shown, options
        )
    pieces = (
        map(reader.get_batch, range(reader.num_record_batches)) if hasattr(reader, "num_record_batches") else reader
    )
    found, size = [], len(source.data)
    for piece in pieces:
        piece.validate(full=True)
        size += piece.nbytes + piece.num_rows * (_FEATHER_ROW + _FEATHER_CELL * len(wanted))
        if size > limit:
            refuse_beyond(size, source.shown, options)
        found.append(piece)
    return found or [pa.record_batch([[] for _ in kept], names=kept)]
