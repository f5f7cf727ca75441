"""Whether a text table writes its numbers with a decimal point or with a decimal comma."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from .cells import Cells, first_rows, missing_words

if TYPE_CHECKING:
    from .options import Options

__all__ = ["decimal_sign", "with_decimal_sign"]

#: How much of a file is looked at.
_ROWS = 1000
#: A column of numbers may have some cells that are mistakes, or words for missing that nobody named.
_MOST = 0.9
_EXPONENT = r"([eE][-+]?\d+)?"
_WHOLE = re.compile(rf"[-+]?\d+{_EXPONENT}")
#: 3,14 or 1.234,5 or 1 234,5
_COMMA = re.compile(rf"[-+]?(\d*|\d{{1,3}}([. ]\d{{3}})+),\d+{_EXPONENT}")
_POINT = re.compile(rf"[-+]?(\d*|\d{{1,3}}([, ]\d{{3}})+)\.\d+{_EXPONENT}")
#: Might as well be a whole number whose thousands are set apart.
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}([.,]\d{3})+")


def decimal_sign(columns: list[list[str]]) -> str:
    """The decimal sign of columns of cells: a comma where numbers have one and no number has a point.

    Examples
    --------
    >>> decimal_sign([["3,14", "2"], ["red", "7,5"]]), decimal_sign([["3,14"], ["2.5"]]), decimal_sign([["1,234"]])
    (',', '.', '.')
    """
    found: Counter[str] = Counter()
    for cells in columns:
        commas = [cell for cell in cells if _COMMA.fullmatch(cell)]
        points = [cell for cell in cells if _POINT.fullmatch(cell)]
        whole = sum(_WHOLE.fullmatch(cell) is not None for cell in cells)
        for sign, numbers in ((",", commas), (".", points)):
            if len(numbers) + whole >= _MOST * len(cells) and not all(map(_THOUSANDS.fullmatch, numbers)):
                found[sign] += 1
    return "," if found[","] and not found["."] else "."


def with_decimal_sign(cells: Cells, options: Options) -> tuple[Options, tuple[str, ...]]:
    """The options with a decimal sign, looked for in the first rows where none is given, and a note on a comma."""
    if options.decimal is not None:
        return options, ()
    missing = missing_words(options)
    rows = first_rows((row for _, row in cells.rows() if any(row)), _ROWS + 1)
    rows = rows[1:] or rows  # the first may be a header
    width = max(map(len, rows), default=0)
    columns = [[row[k] for row in rows if k < len(row) and row[k].lower() not in missing] for k in range(width)]
    has_comma = any("," in cell for cells_below in columns for cell in cells_below)
    sign = decimal_sign(columns) if has_comma else "."
    said = ("Numbers have a decimal comma; --decimal . says otherwise.",) if sign == "," else ()
    return replace(options, decimal=sign), said
