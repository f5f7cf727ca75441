"""A fitted model as one Python file that needs NumPy alone."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from .. import __version__
from .computation import Computation, nodes_of
from .csv_parts import CSV_PARTS, MISSING_CELLS
from .escaping import python_literal, refuse_strange_labels
from .nodes import Logarithms
from .numpy_parts import PARTS
from .python_body import PythonBody

__all__ = ["python_text"]

_LINE = 100

_HEAD = '''"""A fitted model in NumPy alone, written by mercer {version}.

    python model.py rows.csv         writes the answer for each row, and {beside}

    predict(rows)                    the answer for each row
    scores(rows)                     the numbers behind it: {scores}
{more}    read_csv(path)                   rows of a CSV file, whose first line names the columns

Rows are a table of numbers (and words, where COLUMNS has some) with the COLUMNS in their order, or a frame or a
dictionary of columns by name. A missing number is NaN, a missing word None; in CSV files cells are gaps that are empty
or hold one of MISSING_CELLS, and spaces around cells do not count. A row that the model refuses (an infinite number, a
gap that no step fills, a word that must not be new) is refused here too.

A kernel machine is made of some of its training rows: share this file as you would share the data.
"""

import base64
import csv
import io
import math
import os
{imports}import sys

import numpy as np

MODEL = {model}
#: The columns of a row; those with True hold words.
COLUMNS = {columns}
#: What predict answers of: labels in the order of scores and probabilities; none where it answers numbers.
CLASSES = {classes}
#: What cells of a CSV file say where nothing is there, in small letters.
MISSING_CELLS = {missing}
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
        columns = [rows[name] if isinstance(rows[name], list) else np.asarray(rows[name]) for name, _ in COLUMNS]
    else:
        rows = np.asarray(rows, dtype=object if any(words for _, words in COLUMNS) else float)
        if rows.ndim != 2 or rows.shape[1] != len(COLUMNS):
            raise ValueError("rows must have %d columns, got shape %r" % (len(COLUMNS), rows.shape))
        columns = list(rows.T)
    return [(as_words if words else as_numbers)(column, name) for column, (name, words) in zip(columns, COLUMNS)]


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

def main(path):
    """Answer a CSV file whose first line names the columns."""
    rows = read_csv(path)
    write_csv({%s})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("give a CSV file whose first line names the columns")
    try:
        main(sys.argv[1])
    except (ValueError, csv.Error) as error:
        sys.exit(f"{error}.")
    except BrokenPipeError:  # nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
    beside = list(_written(computation))[1:]
    parts = list(_parts_in("\n".join(body.lines)))
    pieces = [
        _HEAD.format(
            version=__version__,
            more="" if computation.probabilities is None else _MORE,
            model=python_literal(computation.title),
            columns=_listed([(column.name, column.words) for column in computation.columns]),
            classes=_listed(computation.classes),
            missing=python_literal(sorted(MISSING_CELLS)),
            beside="nothing else" if kind == "numbers" else " and ".join(f"its {what}" for what, _ in beside),
            scores=_scores_in_words(computation),
            imports="import re\n" if any("re.findall(" in part for part in parts) else "",
        ),
        _USE.format(answer=_ANSWERS[kind].format(*answer.places), first="[:, 0]" if one else ""),
        "" if computation.probabilities is None else _PROBABILITIES,
        *body.function(results),
        *parts,
        _ARRAY,
        "\n".join(body.constants),
        "\n",
        *(f"\n\n{inspect.getsource(part)}" for part in CSV_PARTS),
        _MAIN % ", ".join(f'**named("{name}", {function}(rows))' for name, function in _written(computation)),
    ]
    return "".join(pieces)


def _written(computation: Computation) -> Iterator[tuple[str, str]]:
    """What is written of each row, and the functions that give it."""
    yield "prediction", "predict"
    if computation.answer.kind != "numbers":
        yield "score", "scores"
    if computation.probabilities is not None:
        yield "probability", "probabilities"


def _scores_in_words(computation: Computation) -> str:
    """What scores are of this model."""
    if computation.answer.kind == "numbers":
        return "the predicted numbers"
    if any(isinstance(node, Logarithms) for node in nodes_of([computation.scores])):
        return "logarithms of probabilities, of two classes the second's less the first's"
    return "decision values, of two classes positive for the second"


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
