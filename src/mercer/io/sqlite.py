"""SQLite files: a table of the database, which is read in memory and never written."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .._validation.memory import bytes_of
from .allowance import refuse_beyond
from .assemble import origin_of
from .database import no_such_table, only_table
from .query_rows import query_columns
from .raw import RawTable
from .sources import Source, said_by
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["columns_of", "looks_like"]

#: How often a database is in memory: as the file, with its mark changed, and where SQLite works on it.
_COPIES = 3


def looks_like(source: Source) -> bool:
    """Whether a file begins as every SQLite database does."""
    return source.data.startswith(b"SQLite format 3\0")


def columns_of(source: Source, options: Options) -> RawTable:
    """The columns of a table, the only one or the one that is asked for."""
    try:
        connection = sqlite3.connect(":memory:")
        try:
            refuse_beyond(_COPIES * len(source.data), source.shown, options)
            connection.deserialize(_without_journal(source.data))
            connection.execute("PRAGMA trusted_schema = OFF")
            stored = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
            names = [str(name) for (name,) in stored if not str(name).startswith("sqlite_")]
            table = options.sheet or only_table(names, source.shown, "with --sheet NAME")
            if table not in names:
                raise no_such_table(table, names, source.shown)
            found = connection.execute('SELECT * FROM "{}"'.format(table.replace('"', '""')))
            header = [column[0] for column in found.description]
            origin = replace(origin_of(source), name=table)
            left = replace(options, max_bytes=max(1, bytes_of(options.max_bytes) - _COPIES * len(source.data)))
            return query_columns(header, lambda rows: _pieces(found, rows), origin, left)
        finally:
            connection.close()
    except (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise DataError(f"{source.shown} is a damaged SQLite database: {said_by(error)}.") from None


def _without_journal(data: bytes) -> bytes:
    """Two bytes say that a database has a write-ahead log beside it; without the log it is as of its last save."""
    return data[:18] + b"\x01\x01" + data[20:]


def _pieces(found: Any, rows: int) -> Iterator[list[Any]]:
    while piece := found.fetchmany(rows):
        yield piece
