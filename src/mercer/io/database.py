"""A table or a query of a database, through SQLAlchemy (``pip install 'mercer[sql]'``)."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus

from .._validation.wording import enumeration, nearest
from .assemble import Origin
from .query_rows import query_columns
from .raw import RawTable
from .sources import MissingFileError, said_by
from .table import DataError

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine import URL

    from .options import Options

__all__ = ["columns_of", "is_address", "without_password"]

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


def columns_of(address: str, options: Options) -> RawTable:
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
