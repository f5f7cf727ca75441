"""A fitted model as one Python file that needs NumPy alone."""

from __future__ import annotations

import base64
import inspect
import re
from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any

import numpy as np

from .. import __version__
from ..kernels import Symbol
from ..runtime import Array
from . import computation
from .computation import Computation, Logarithms, Node, OfSupport, Own, Pair, nodes_of, symbols_of
from .literals import python_literal, refuse_strange_labels
from .numpy_parts import PARTS

# The lines of NumPy that compute the nodes of a model for some rows.


#: Arrays of more numbers than this are written in base64.
_FEW = 24
#: What each kind of node is in NumPy, by its fields; a node in a field is the name of its numbers.
_NODES = {
    computation.Numbers: "np.column_stack([columns[k] for k in {places}])",
    computation.Level: "levels(columns[{place}], {levels}, {missing})",
    computation.TextCounts: (
        "text_counts(columns[{place}], {tokens}, {sizes}, {terms}, {importance}, {length}, {case})"
    ),
    computation.OneHot: "one_hot({source}, {hot}, {unknown}, {count})",
    computation.Filled: "np.where(is_gap({source}, {marker}), {values}, {source})",
    computation.Gaps: "is_gap({source}[:, {places}], {marker}).astype(float)",
    computation.Scaled: "({source} - {minus}) * {times} + {plus}",
    computation.Clipped: "np.clip({source}, {low}, {high})",
    computation.Monomials: "monomials({source}, {factors})",
    computation.Picked: "{source}[:, {places}]",
    computation.Beside: "np.hstack([{parts}])",
    computation.Ones: "np.ones((len(columns[0]), 1))",
    computation.Linear: "{source} @ {matrix} + {plus}",
    computation.KernelSum: "{formula} @ {coef} + {plus}",
    computation.OwnSimilarity: "{formula}",
    computation.PathVote: "path_vote({formula}, {column}, {coefficient}, {bias}, {weight})",
    computation.PairVotes: "pair_votes({source}, {classes})",
    computation.Sorted: "np.sort({source}, axis=1)",
    computation.Logistic: "np.clip(logistic({slope} * {source} + {level}), {bound}, 1 - {bound})",
    computation.Logarithms: "np.log({source})",
    computation.Exponentials: "np.exp({source})",
    computation.Softmax: "softmax({source})",
    computation.Interpolated: "np.interp({source}, {points}, {values})",
    computation.Staircase: "staircase({source}, {points}, {values})",
    computation.Coupled: "coupled({source}, {classes})",
    computation.ToOne: "to_one({source})",
    Own: "({rows} ** 2).sum(axis=1)[:, None]",
    OfSupport: "{values}",
}
_PAIRS = {
    "dot": "{rows} @ {support}.T",
    "squared_distance": "squared_distances({rows}, {support})",
    "distance": "np.sqrt(squared_distances({rows}, {support}))",
    "manhattan": "manhattan_distances({rows}, {support})",
    "agreement": "agreements({rows}, {support})",
    "equal": "(agreements({rows}, {support}) == 1).astype(float)",
}
_OPERATIONS = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "exp": "np.exp({})",
    "log": "np.log({})",
    "log1p": "np.log1p({})",
    "power": "np.power({}, {})",
    "sqrt": "np.sqrt({})",
    "absolute": "np.abs({})",
    "maximum": "np.maximum({}, {})",
    "minimum": "np.minimum({}, {})",
    "inverse_length": "inverse_lengths({})",
}


class PythonBody:
    """The lines that compute nodes, and the constants in them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.constants: list[str] = []
        self._names: dict[int, str] = {}
        self._kept: list[Node] = []

    def name(self, output: Node) -> str:
        """The name of a node's numbers; the lines that compute them are written first."""
        for node in nodes_of([output]):
            if id(node) not in self._names:
                self._names[id(node)] = self._line(_NODES[type(node)].format_map(self._fields(node)))
                self._kept.append(node)
        return self._names[id(output)]

    def function(self, results: list[str]) -> Iterator[str]:
        yield '\ndef computed(columns):\n    """All results for some rows, of which these are the columns."""\n'
        yield from (f"    {line}\n" for line in self.lines)
        yield f"    return {', '.join(results)}\n\n"

    def _line(self, expression: str) -> str:
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def _fields(self, node: Any) -> dict[str, str]:
        """How the fields of a node are written."""
        return {each.name: self._field(each, getattr(node, each.name)) for each in fields(node)}

    def _field(self, field: Field[Any], value: Any) -> str:
        if isinstance(value, Node):
            return self._names[id(value)]
        if isinstance(value, Symbol):
            return self._formula(value)
        if field.name == "parts":
            return ", ".join(self._names[id(part)] for part in value)
        if field.name == "places":
            return _places(value)
        return self._constant(value, field.metadata["comment"]) if field.metadata else python_literal(value)

    def _constant(self, value: Any, comment: str) -> str:
        name = f"C{len(self.constants)}"
        text = _array(value) if isinstance(value, np.ndarray) else python_literal(value)
        self.constants.append(f"#: {comment}\n{name} = {text}")
        return name

    def _formula(self, root: Symbol) -> str:
        """The name of a formula's values, a column for each support row."""
        known: dict[int, str] = {}
        for symbol in symbols_of(root):
            if symbol.operation == "leaf":
                leaf = symbol.arguments[0]
                template = _PAIRS[leaf.statistic] if isinstance(leaf, Pair) else _NODES[type(leaf)]
                text = template.format_map(self._fields(leaf))
            else:
                own = [known[id(each)] if isinstance(each, Symbol) else repr(each) for each in symbol.arguments]
                text = _OPERATIONS[symbol.operation].format(*own)
            known[id(symbol)] = self._line(text)
        return known[id(root)]


def _array(values: Array) -> str:
    """An array, in base64 where it is long."""
    if values.dtype.kind == "f" and 0 < values.size <= _FEW and np.isfinite(values).all():
        return f"np.array({values.tolist()!r})"
    kind = "<f8" if values.dtype.kind == "f" else "<i8"
    coded = base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
    lines = "".join(f"{coded[k : k + _LINE]}\n" for k in range(0, len(coded), _LINE))
    return f'array({tuple(values.shape)!r}, "{kind}", """\n{lines}""")'


def _places(places: tuple[int, ...]) -> str:
    """Places as a list; those that follow each other as a range."""
    if len(places) > 2 and list(places) == list(range(places[0], places[-1] + 1)):
        return f"range({places[0]}, {places[-1] + 1})"
    return repr(list(places))


_LINE = 100

_HEAD = '''"""A fitted model in NumPy alone, written by mercer {version}.

    predict(rows)                    the answer for each row
    scores(rows)                     the numbers behind it: {scores}
{more}
Rows are a table of numbers (and words, where COLUMNS has some) with the COLUMNS in their order, or a frame or a
dictionary of columns by name. A missing number is NaN, a missing category or text None. A row that the model refuses
(an infinite number, a missing value that no step fills, a category that must not be new) is refused here too.

A kernel machine is made of some of its training rows: share this file as you would share the data.
"""

import base64
{imports}
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

_ANSWERS = {
    "numbers": "scores(rows)",
    "outliers": "np.where(finite(all_of(rows, 2))[:, 0] >= 0, 1, -1)",
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
    parts = list(_parts_in("\n".join(body.lines)))
    pieces = [
        _HEAD.format(
            version=__version__,
            more="" if computation.probabilities is None else _MORE,
            model=python_literal(computation.title),
            columns=_listed([(column.name, column.words) for column in computation.columns]),
            classes=_listed(computation.classes),
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
    ]
    return "".join(pieces)


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
