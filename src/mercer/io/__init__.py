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
    from .builtin import BUILTIN
    from .formats import FORMATS
    from .reading import read
    from .scanning import Scan, scan
    from .table import DataError, Table

__all__ = ["BUILTIN", "FORMATS", "DataError", "Scan", "Table", "read", "scan"]

_HOMES = {
    "BUILTIN": "builtin",
    "DataError": "table",
    "FORMATS": "formats",
    "Scan": "scanning",
    "Table": "table",
    "read": "reading",
    "scan": "scanning",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
