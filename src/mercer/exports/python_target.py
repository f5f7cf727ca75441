"""A fitted model as one Python file that needs NumPy alone."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from .. import __version__
from .computation import Computation
from .escaping import python_literal, refuse_strange_labels
from .numpy_parts import PARTS
from .python_body import PythonBody

__all__ = ["python_text"]

_LINE = 100

_HEAD = '''"""A fitted model in NumPy alone, written by mercer {version}.

    python model.py rows.csv         writes the answer and the scores of each row; the first line names the columns

    predict(rows)                    the answer for each row
    scores(rows)                     the numbers behind it: decision values, or predicted numbers
{more}
Rows are a table of numbers (and words, where COLUMNS has some) with the COLUMNS in their order, or a frame or a
dictionary of columns by name. A kernel machine is made of some of its training rows: share this file as you would
share the data.
"""

import base64
import csv
import sys

import numpy as np

MODEL = {model}
#: The columns of a row; those with True hold words.
COLUMNS = {columns}
#: What predict answers of: labels in the order of scores and probabilities; none where it answers numbers.
CLASSES = {classes}
#: Rows that are computed at a time.
BLOCK = 1000
'''

_MORE = "    probabilities(rows)              of each class, in the order of CLASSES\n"

_USE = '''
def predict(rows):
    """The answer for each row."""
    return {answer}


def scores(rows):
    """The decision values of each row, or the predicted numbers."""
    return finite(all_of(rows, 0)){first}


def table(rows):
    """The columns, whatever holds them."""
    if hasattr(rows, "keys"):
        missing = [name for name, _ in COLUMNS if name not in rows.keys()]
        if missing:
            raise ValueError("rows lack the columns %r" % missing)
        columns = [np.asarray(rows[name]) for name, _ in COLUMNS]
    else:
        rows = np.asarray(rows, dtype=object if any(words for _, words in COLUMNS) else float)
        if rows.ndim != 2 or rows.shape[1] != len(COLUMNS):
            raise ValueError("rows must have %d columns, got shape %r" % (len(COLUMNS), rows.shape))
        columns = list(rows.T)
    return [as_words(column) if words else as_numbers(column) for column, (_, words) in zip(columns, COLUMNS)]


def all_of(rows, which):
    """One of the results, block by block."""
    columns = table(rows)
    count = len(columns[0]) if columns else 0
    starts = range(0, count, BLOCK) or [0]
    parts = [computed([column[start : start + BLOCK] for column in columns])[which] for start in starts]
    return np.concatenate(parts)


def finite(values):
    """The same values; a score that is no number says nothing."""
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if bad.size:
        raise ValueError("the score of row %d is no finite number: a value is missing or out of range" % bad[0])
    return values

'''

_PROBABILITIES = '''
def probabilities(rows):
    """The probability of each class."""
    return finite(all_of(rows, 1))

'''

_ARRAY = '''
def array(shape, kind, text):
    """Numbers as they lie in memory, the lowest byte first, in base64."""
    return np.frombuffer(base64.b64decode(text), dtype=kind).reshape(shape)

'''

_MAIN = '''

def cell(value):
    """A cell that no spreadsheet takes for a formula."""
    risky = isinstance(value, str) and (value.lstrip()[:1] in tuple("=+-@") or value[:1] in tuple("\\t\\r\\n"))
    return "'" + value if risky else value


def main(path):
    """Answer a CSV file whose first line names the columns."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        head, *rows = [row for row in csv.reader(file) if row]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    writer = csv.writer(sys.stdout, lineterminator="\\n", quoting=csv.QUOTE_NONNUMERIC)
    for answer, numbers in zip(np.asarray(predict(columns)).tolist(), scores(columns).tolist()):
        lists = [each if isinstance(each, list) else [each] for each in (answer, numbers)]
        writer.writerow([cell(each) for each in lists[0] + lists[1]])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give a CSV file whose first line names the columns")
    main(sys.argv[1])
'''

_ANSWERS = {
    "numbers": "scores(rows)",
    "usual": "np.where(finite(all_of(rows, 2))[:, 0] >= 0, 1, -1)",
    "labels": "(finite(all_of(rows, 2)) >= 0).astype(int)",
    "largest": "np.array(CLASSES)[finite(all_of(rows, 2)).argmax(axis=1)]",
    "sign": "np.array(CLASSES)[np.where(finite(all_of(rows, 2))[:, 0] >= 0, {1}, {0})]",
}


def python_text(computation: Computation) -> str:
    """The Python file of a model.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> text = python_text(computed(SVC("linear").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])))
    >>> names = {}
    >>> exec(text, names)
    >>> names["predict"]([[3.0, 0.0]]).tolist()
    ['yes']
    """
    refuse_strange_labels(computation.classes)
    body = PythonBody()
    results = [body.name(node) for node in (computation.scores, computation.probabilities, computation.answer.node)
               if node is not None]  # fmt: skip
    if computation.probabilities is None:
        results.insert(1, "None")
    answer = computation.answer
    kind = answer.kind
    if kind == "class":
        kind = "sign" if answer.node.width == 1 else "largest"
    one = computation.scores.width == 1 and (kind != "numbers" or computation.flat) and kind != "labels"
    pieces = [
        _HEAD.format(
            version=__version__,
            more="" if computation.probabilities is None else _MORE,
            model=python_literal(computation.title),
            columns=_listed([(column.name, column.words) for column in computation.columns]),
            classes=_listed(computation.classes),
        ),
        _USE.format(answer=_ANSWERS[kind].format(*answer.places), first="[:, 0]" if one else ""),
        "" if computation.probabilities is None else _PROBABILITIES,
        *body.function(results),
        *_parts_in("\n".join(body.lines)),
        _ARRAY,
        "\n".join(body.constants),
        "\n",
        _MAIN,
    ]
    return "".join(pieces)


def _listed(values: list[Any]) -> str:
    """A list, an entry a line where it is long."""
    entries = [python_literal(value) for value in values]
    short = f"[{', '.join(entries)}]"
    return short if len(short) < _LINE else "[\n" + "".join(f"    {entry},\n" for entry in entries) + "]"


def _parts_in(text: str) -> Iterator[str]:
    """The source of all parts that a text calls, and of those that they call."""
    called, waiting = {"is_missing", "as_words", "as_numbers"}, [text]
    while waiting:
        source = waiting.pop()
        found = {name for name in PARTS if re.search(rf"\b{name}\(", source)} - called
        called |= found
        waiting += [inspect.getsource(PARTS[name]) for name in found]
    for name, part in PARTS.items():
        if name in called:
            yield f"\n{inspect.getsource(part)}\n"
