"""Predictions as CSV, a line for each row, that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["csv_of", "escaped_formula"]

#: How formulas begin; what spreadsheets skip before one may stand there too.
_FORMULA = re.compile(r"[\s\ufeff\u200b]*[=+\-@]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: With this end of lines, the writer puts quotes around cells with either of its letters.
_QUOTED_END = "\r\n"


def csv_of(columns: Mapping[str, Any]) -> str:
    """Columns by name.

    Examples
    --------
    >>> print(csv_of({"row": [1, 2], "prediction": ["a", "=b"], "score": [0.5, None]}), end="")
    row,prediction,score
    1,a,0.5
    2,'=b,
    """
    out = _Lines()
    writer = csv.writer(out, lineterminator=_QUOTED_END)
    writer.writerow([escaped_formula(name) for name in columns])
    for cells in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None or cell != cell else escaped_formula(cell) for cell in cells])
    return out.getvalue()


class _Lines(io.StringIO):
    """Lines that end as everywhere here."""

    def write(self, line: str) -> int:
        return super().write(line.removesuffix(_QUOTED_END) + "\n")


def escaped_formula(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: words that begin like one get an apostrophe in front.

    Examples
    --------
    >>> escaped_formula("=HYPERLINK(1)"), escaped_formula("-1"), escaped_formula("-1+1"), escaped_formula("plain")
    ("'=HYPERLINK(1)", '-1', "'-1+1", 'plain')
    """
    if isinstance(cell, (float, np.floating)):
        return repr(float(cell))
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return "'" + cell
