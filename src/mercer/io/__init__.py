"""From files to tables.

Examples
--------
>>> from mercer import read
>>> table = read("margins:200")
>>> table.n_rows, table.target
(200, 'y')
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assemble import RawTable
    from .builtin import BUILTIN
    from .formats import FORMATS, Format, register
    from .reading import read
    from .scanning import Scan, scan
    from .sources import Source
    from .table import DataError, Options, Table

__all__ = [
    "BUILTIN",
    "FORMATS",
    "DataError",
    "Format",
    "Options",
    "RawTable",
    "Scan",
    "Source",
    "Table",
    "read",
    "register",
    "scan",
]

_HOMES = {
    "BUILTIN": "builtin",
    "DataError": "table",
    "FORMATS": "formats",
    "Format": "formats",
    "Options": "table",
    "RawTable": "assemble",
    "Scan": "scanning",
    "Source": "sources",
    "Table": "table",
    "read": "reading",
    "register": "formats",
    "scan": "scanning",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
