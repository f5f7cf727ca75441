"""Predictions as CSV, a line for each row, that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["csv_of", "escaped_formula"]


def csv_of(columns: Mapping[str, Any]) -> str:
    """Columns by name.

    Examples
    --------
    >>> print(csv_of({"row": [1, 2], "prediction": ["a", "=b"], "score": [0.5, None]}), end="")
    row,prediction,score
    1,a,0.5
    2,'=b,
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([escaped_formula(name) for name in columns])
    for cells in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None or cell != cell else escaped_formula(cell) for cell in cells])
    return out.getvalue()


def escaped_formula(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: words that begin like one get an apostrophe in front.

    Examples
    --------
    >>> escaped_formula("=HYPERLINK(1)"), escaped_formula("-1"), escaped_formula("plain")
    ("'=HYPERLINK(1)", '-1', 'plain')
    """
    if isinstance(cell, (float, np.floating)):
        return repr(float(cell))
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    try:
        float(cell)
    except ValueError:
        return "'" + cell
    return cell
