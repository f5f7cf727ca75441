"""What records call themselves: the column of names that many tables have beside their features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..columns.column_names import says_identifier

__all__ = ["record_names", "says_name"]


def says_name(column: str) -> bool:
    """Whether a column is called as those are that name records."""
    return column.lower() == "name" or says_identifier(column)


def record_names(columns: Mapping[str, Any]) -> tuple[str, Array] | tuple[None, None]:
    """The first column that is called like an id and has another value in each row: its name, and its cells as words.

    Examples
    --------
    >>> import numpy as np
    >>> record_names({"age": np.array([7.0, 8.0]), "patient_id": np.array([1001.0, 1002.0])})
    ('patient_id', array(['1001', '1002'], dtype=object))
    >>> record_names({"id": np.array([1.0, 1.0]), "width": np.array([1.0, 2.0])})
    (None, None)
    """
    for name, column in columns.items():
        if says_name(name):
            cells = list(column)
            if len(set(cells)) == len(cells) > 1 and not any(cell is None or cell != cell for cell in cells):
                return name, np.array([_text(cell) for cell in cells], dtype=object)
    return None, None


def _text(cell: Any) -> str:
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell)) if whole else str(cell)
