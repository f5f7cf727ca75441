"""Feather and Arrow files, through pyarrow (``pip install 'mercer[parquet]'``)."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from .._validation.memory import bytes_of
from .allowance import refuse_beyond
from .arrow_columns import arrow_columns, columns_to_read, refuse_other_types
from .assemble import origin_of
from .raw import RawTable
from .sources import Source, said_by
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["columns_of", "looks_like"]

_FILE = b"ARROW1"
_FIRST_VERSION = b"FEA1"
#: What a row and a cell take in memory, beside what they take in the file unpacked.
_ROW, _CELL = 60, 40


def looks_like(source: Source) -> bool:
    """Whether a file begins as Feather and Arrow files do."""
    return source.data.startswith((_FILE, _FIRST_VERSION))


def columns_of(source: Source, options: Options) -> RawTable:
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
        refuse_beyond(len(source.data) + reader.count_rows() * (_ROW + _CELL * len(wanted)), source.shown, options)
    pieces = (
        map(reader.get_batch, range(reader.num_record_batches)) if hasattr(reader, "num_record_batches") else reader
    )
    found, size = [], len(source.data)
    for piece in pieces:
        piece.validate(full=True)
        size += piece.nbytes + piece.num_rows * (_ROW + _CELL * len(wanted))
        if size > limit:
            refuse_beyond(size, source.shown, options)
        found.append(piece)
    return found or [pa.record_batch([[] for _ in kept], names=kept)]
