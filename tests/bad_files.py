"""Tables that are bad in one respect each, as files, with what commands say of them.

A command that can make something of a table ends with 0; any other says one sentence, and ends with 1. Where learning
leaves rows out, one sentence says so.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_NUMBERS = np.random.default_rng(0).normal(size=(30, 2))
_ROWS = [[f"{a:.3f}", f"{b:.3f}", "p" if a + b > 0 else "q"] for a, b in _NUMBERS]
_FINITE = "line 6, column 'b': the number -?inf is not finite"
_NO_NUMBER = "line 6, column 'b': '.*' is not a number"
_CELLS = "line 7: the row has . cells where 3 are expected"
_LEFT_OUT = r"1 row without a label was left out \(first: line 5\)\."


class BadFile(NamedTuple):
    """A table as text, and what it is refused with: for learning, for a model's predictions, for a description.

    At last what is said of rows that are left out of learning.
    """

    text: str
    learning: str | None
    running: str | None
    describing: str | None
    left_out: str | None = None


def table(rows: list[list[str]] = _ROWS, header: str = "a,b,y") -> str:
    """Rows as a file."""
    return "\n".join([header, *(",".join(row) for row in rows)]) + "\n"


def _with(row: int, column: int, cell: str) -> str:
    rows = [list(each) for each in _ROWS]
    rows[row][column] = cell
    return table(rows)


def _times(factor: float) -> str:
    return table([[f"{float(a) * factor}", f"{float(b) * factor}", y] for a, b, y in _ROWS])


def _everywhere(text: str, says: str) -> BadFile:
    return BadFile(text, says, says, says)


FILES: dict[str, BadFile] = {
    **{f"missing {word}": BadFile(_with(4, 1, word), None, None, None) for word in ("nan", "NA", "null", "")},
    "infinity": _everywhere(_with(4, 1, "inf"), _FINITE),
    "minus infinity": _everywhere(_with(4, 1, "-inf"), _FINITE),
    "an overflow": _everywhere(_with(4, 1, "1e400"), _FINITE),
    "a word": _everywhere(_with(4, 1, "red"), _NO_NUMBER),
    "a complex number": _everywhere(_with(4, 1, "1+2j"), _NO_NUMBER),
    "a NUL byte": _everywhere(_with(4, 1, "\0"), "line 6: a NUL byte"),
    "a short row": _everywhere(table([*_ROWS[:5], ["1", "2"], *_ROWS[6:]]), _CELLS),
    "a long row": _everywhere(table([*_ROWS[:5], ["1", "2", "p", "9"], *_ROWS[6:]]), _CELLS),
    "nothing": _everywhere("", "is empty"),
    "blank lines": _everywhere("\n\n\n", "is empty"),
    "no rows": _everywhere(table([]), "has a header and no rows"),
    "one row": BadFile(table(_ROWS[:1]), "same label|only one value", None, None),
    "one class": BadFile(table([[a, b, "p"] for a, b, _ in _ROWS]), "(same label|only one value), 'p'", None, None),
    "constant columns": BadFile(table([["1", "2", y] for *_, y in _ROWS]), None, None, None),
    "a constant column": BadFile(table([["1", b, y] for _, b, y in _ROWS]), None, None, None),
    "values of 1e200": BadFile(_times(1e200), "values up to .*squares overflow", None, None),
    "values of 1e-200": BadFile(_times(1e-200), "squares vanish", None, None),
    "a missing label": BadFile(_with(3, 2, ""), None, None, None, _LEFT_OUT),
    "a label that is NaN": BadFile(_with(3, 2, "nan"), None, None, None, _LEFT_OUT),
    "labels of other kinds": BadFile(
        table([[a, b, "7" if k % 3 else y] for k, (a, b, y) in enumerate(_ROWS)]), None, "labels that .* not know", None
    ),
    "repeated columns": BadFile(table(header="a,a,y"), None, "lacks columns .* 'b'", None),
    "no target": BadFile(table([row[:2] for row in _ROWS], "a,b"), "no column 'y' to be the target", None, None),
    "only a target": BadFile(table([row[2:] for row in _ROWS], "y"), "only the target column 'y'", "column", "column"),
    "names for labels": BadFile(
        table([[a, b, f"c{k}"] for k, (a, b, _) in enumerate(_ROWS)]), "30 different words", "not know", None
    ),
}
