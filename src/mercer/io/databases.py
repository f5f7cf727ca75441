"""A table or a query of a database, through SQLAlchemy (``pip install 'mercer[sql]'``)."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from ..checks.parameters import bytes_of
from ..messages import enumeration, nearest
from .assemble import Origin, RawTable, origin_of, remaining
from .cells import unique_names
from .sources import MissingFileError, Source, refuse_beyond, said_by
from .table import DataError, Options
from .values import raw_column

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine import URL


# The rows that a database sends, piece by piece and within a limit, as columns.


#: Rows that are fetched at a time.
_ROWS = 10_000
#: What a value takes in memory, beside the length of a text, and what a row does.
_VALUE, _ROW = 60, 160


def query_columns(
    names: Sequence[str], pieces: Callable[[int], Iterable[Sequence[Any]]], origin: Origin, options: Options
) -> RawTable:
    """The columns of a query: ``pieces`` gives the rows, so many at a time."""
    names, notes = unique_names(names)
    kept = remaining(names, options, origin.shown)
    positions = [names.index(name) for name in kept]
    limit, size, count = bytes_of(options.max_bytes), 0, 0
    values: dict[str, list[Any]] = {name: [] for name in kept}
    for piece in pieces(_ROWS):
        count += len(piece)
        for name, position in zip(kept, positions, strict=True):
            column = [row[position] for row in piece]
            size += sum(_VALUE + (len(value) if isinstance(value, (str, bytes)) else 0) for value in column)
            values[name] += column
        size += _ROW * len(piece)
        if size > limit:
            raise DataError(
                f"{origin.shown} has more than {count:,} rows of {len(kept)} columns, which is too much; allow more "
                "with max_bytes (--max-bytes), or ask for fewer."
            )
    if not count:
        raise DataError(f"{origin.shown} has no rows.")
    columns, mixed = {}, []
    for name in kept:
        columns[name], some = raw_column(name, values[name], lambda row: f"{origin.shown}, row {row + 1}", options)
        mixed += [name] * some
    return RawTable(columns, origin, tuple(notes), mixed=tuple(mixed))


_ADDRESS = re.compile(r"[a-zA-Z][a-zA-Z0-9+.]*://")
_READS = re.compile(r"\s*(select|with|values|table)\b", re.IGNORECASE)
_SECRET = re.compile(r"(pass|pwd|token|secret|key)", re.IGNORECASE)
_EXAMPLE = "sqlite:///people.db?table=people"


def is_address(source: Any) -> bool:
    """Whether this is the address of a database, such as ``sqlite:///people.db?table=people``."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


def without_password(address: str) -> str:
    """An address that may be shown and stored.

    Examples
    --------
    >>> without_password("postgresql://ann:hush@host/shop?table=people&sslpassword=hush")
    'postgresql://ann:***@host/shop?table=people&sslpassword=***'
    """
    front, _, query = address.partition("?")
    # A password may itself hold an @ or a slash: the last @ before the query ends it.
    front = re.sub(r"^([^:]+://[^:@/]*):.*@", r"\1:***@", front)
    hidden = [
        f"{name}=***" if _SECRET.search(name) else f"{name}{equals}{value}"
        for name, equals, value in (pair.partition("=") for pair in query.split("&"))
    ]
    return f"{front}?{'&'.join(hidden)}" if query else front


def columns_at(address: str, options: Options) -> RawTable:
    """The columns of ``?table=NAME`` or ``?query=SELECT …`` at an address. Nothing is ever written."""
    shown = repr(without_password(address))
    if address.partition("://")[0].lower() in ("http", "https", "ftp", "s3", "gs", "file"):
        raise DataError(f"{shown} is an address on a network; fetch the file first, and name it where it lies.")
    try:
        from sqlalchemy import create_engine
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise DataError(f"{shown} is a database; install SQLAlchemy: pip install 'mercer[sql]'.") from None
    url, table, query = _parts(address, shown)
    if table is None and query is None:
        table = options.sheet
    try:
        engine = create_engine(url)
        try:
            name, statement = _statement(engine, table, query, shown)
            source = without_password(address)
            with engine.connect() as connection:  # which is never committed
                found = connection.execution_options(stream_results=True).exec_driver_sql(statement)
                origin = Origin(shown, name, source, hashlib.sha256(source.encode()).hexdigest())
                return query_columns(list(found.keys()), found.partitions, origin, options)
        finally:
            engine.dispose()
    except DataError:
        raise
    except SQLAlchemyError as error:
        raise DataError(f"{shown} cannot be read: {_said(getattr(error, 'orig', None) or error, url)}.") from None
    except ImportError as error:
        raise DataError(f"{shown} needs a driver that is not installed: {_said(error, url)}.") from None
    except Exception as error:  # of a driver, of which there are many
        raise DataError(f"{shown} cannot be read: {_said(error, url)}.") from None


def _parts(address: str, shown: str) -> tuple[URL, str | None, str | None]:
    """The address of the database itself, and the table or the query in it."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import SQLAlchemyError

    address, query = _query_of(address)
    try:
        url = make_url(address)
    except (SQLAlchemyError, ValueError):
        raise DataError(f"{shown} is not the address of a database; one looks like {_EXAMPLE!r}.") from None
    given = {name: value if isinstance(value, str) else value[-1] for name, value in url.query.items()}
    table = given.get("table")
    if table is not None and query is not None:
        raise DataError(f"{shown} names a table and a query; keep one of them.")
    if query is not None and not _READS.match(query):
        raise DataError(f"{shown}: a query begins with SELECT or WITH; nothing else is sent to a database.")
    url = url.difference_update_query(["table"])
    if url.get_backend_name() == "sqlite":
        if not url.database or url.database == ":memory:":
            raise DataError(f"{shown} names no file; the address of one looks like {_EXAMPLE!r}.")
        if not Path(url.database).is_file():
            raise MissingFileError(f"there is no database {url.database!r}.")
    return url, table, query


def _query_of(address: str) -> tuple[str, str | None]:
    """An address without its query, which comes last, and the query: with spaces as it stands, else decoded.

    Examples
    --------
    >>> _query_of("sqlite:///a.db?query=SELECT a + b FROM t"), _query_of("sqlite:///a.db?query=SELECT+*+FROM%20t")[1]
    (('sqlite:///a.db', 'SELECT a + b FROM t'), 'SELECT * FROM t')
    """
    found = re.search(r"[?&]query=(.*)", address, re.DOTALL)
    if found is None:
        return address, None
    text = found[1]
    return address[: found.start()], text if " " in text else unquote_plus(text)


def _statement(engine: Engine, table: str | None, query: str | None, shown: str) -> tuple[str, str]:
    """What the table is called, and the statement that reads it."""
    from sqlalchemy import inspect, select
    from sqlalchemy.sql import table as table_named
    from sqlalchemy.sql import text

    if query is not None:
        return "query", query
    inspector = inspect(engine)
    names = [*inspector.get_table_names(), *inspector.get_view_names()]
    if table is None:
        table = only_table(names, shown, f"after the address, as in {_EXAMPLE!r}")
    schema, _, inner = table.rpartition(".")
    if table in names:
        schema, inner = "", table
    elif not schema or inner not in inspector.get_table_names(schema=schema):
        raise no_such_table(table, names, shown)
    statement = select(text("*")).select_from(table_named(inner, schema=schema or None))
    return table, str(statement.compile(engine))


def only_table(names: list[str], shown: str, where: str) -> str:
    """The name of the table, where there is one."""
    if not names:
        raise DataError(f"{shown} has no tables.")
    if len(names) > 1:
        raise DataError(f"{shown} has {len(names)} tables, {enumeration(map(repr, names), 8)}; name one {where}.")
    return names[0]


def no_such_table(table: str, names: list[str], shown: str) -> DataError:
    """What to say where a table is asked for that is not there."""
    near = nearest(table, names)
    hint = f"the tables are {enumeration(map(repr, names))}." if near is None else f"did you mean {near!r}?"
    return DataError(f"{shown} has no table {table!r}; {hint}" if names else f"{shown} has no tables.")


def _said(error: BaseException, url: URL) -> str:
    """The first line of what a driver says, without any password."""
    text = said_by(error)
    return text.replace(url.password, "***") if url.password else text


# SQLite files: a table of the database, which is read in memory and never written.


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
