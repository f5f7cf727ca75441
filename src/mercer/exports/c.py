"""A fitted model as one file of C99 without dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

from .. import __version__
from ..kernels import Symbol
from . import computation
from .computation import Column, Computation, Node, OfSupport, Own, Pair, nodes_of, symbols_of
from .literals import c_comment, c_number, c_string, refuse_strange_labels

# The lines of C that compute the nodes of a model for one row.


_LINE = 110
#: Number k of each kind of node in C, by its fields; a node in a field is the name of its numbers.
_NUMBERS = {
    computation.Numbers: "numbers[{places}[k]]",
    computation.OneHot: "j == -2 ? NAN : k == j ? 1.0 : 0.0",
    computation.Filled: "mercer_is_gap({source}[k], {marker}) ? {values}[k] : {source}[k]",
    computation.Gaps: "mercer_is_gap({source}[{places}[k]], {marker}) ? 1.0 : 0.0",
    computation.Scaled: "({source}[k] - {minus}[k]) * {times}[k] + {plus}[k]",
    computation.Clipped: "{source}[k] < {low} ? {low} : {source}[k] > {high} ? {high} : {source}[k]",
    computation.Picked: "{source}[{places}[k]]",
    computation.Ones: "1.0",
    computation.Linear: "{plus}[k]",
    computation.KernelSum: "{plus}[k]",
    computation.PathVote: "0.0",
    computation.Sorted: "{source}[k]",
    computation.Logistic: "mercer_logistic({slope}[k] * {source}[k] + {level}[k], {bound})",
    computation.Logarithms: "log({source}[k])",
    computation.Exponentials: "exp({source}[k])",
}
_LINEAR = """\
for (j = 0; j < {height}; j++)
    for (k = 0; k < {width}; k++)
        {v}[k] += {source}[j] * {matrix}[j][k];"""
# What rounding takes from a sum of many terms is kept and given back with the next (Kahan's summation).
_KERNEL_SUM = """\
double {v}_lost[{width}] = {{0.0}};
for (j = 0; j < {height}; j++) {{
{formula}
    for (k = 0; k < {width}; k++) {{
        const double term = {value} * {coef}[j][k] - {v}_lost[k];
        const double sum = {v}[k] + term;
        {v}_lost[k] = (sum - {v}[k]) - term;
        {v}[k] = sum;
    }}
}}"""
_PATH_VOTE = """\
double {v}_along = 0.0;
int {v}_update;
for ({v}_update = 0; {v}_update < {height}; {v}_update++) {{
    j = {column}[{v}_update];
    {{
{formula}
    {v}_along += {coefficient}[{v}_update] * {value};
    }}
    {v}[0] += mercer_sign({v}_along + {bias}[{v}_update]) * {weight}[{v}_update];
}}"""
_MONOMIALS = """\
for (k = 0; k < {width}; k++) {{
    {v}[k] = 1.0;
    for (j = {ends}[k]; j < {ends}[k + 1]; j++)
        {v}[k] *= {source}[{factors}[j]];
}}"""
#: The lines before and after these, for kinds of nodes that need some.
_BEFORE = {computation.OneHot: "j = {source}[0] >= 0 ? {hot}[(int) {source}[0]] : {unknown};"}
_LINES = {
    computation.Level: "{v}[0] = mercer_{kind}_level({given}[{place}], {levels}, {height}, {missing});",
    computation.Monomials: _MONOMIALS,
    computation.Linear: _LINEAR,
    computation.KernelSum: _KERNEL_SUM,
    computation.OwnSimilarity: "{{\n{formula}\n    {v}[0] = {value};\n}}",
    computation.PathVote: _PATH_VOTE,
    computation.PairVotes: ("double {v}_lead[{classes}];\nmercer_pair_votes({source}, {classes}, {v}, {v}_lead);"),
    computation.Sorted: "mercer_sort({v}, {width});",
    computation.Softmax: "mercer_softmax({source}, {width}, {v});",
    computation.Interpolated: "{v}[0] = mercer_interpolated({source}[0], {points}, {values}, {height});",
    computation.Staircase: "{v}[0] = mercer_staircase({source}[0], {points}, {values}, {height});",
    computation.Coupled: (
        "double {v}_system[({classes} + 1) * ({classes} + 2)];\nmercer_coupled({source}, {classes}, {v}_system, {v});"
    ),
    computation.ToOne: "mercer_to_one({source}, {width}, {v});",
}
_PAIRS = {
    "dot": "{t} += {rows}[k] * {support}[j][k];",
    "squared_distance": "{t} += ({rows}[k] - {support}[j][k]) * ({rows}[k] - {support}[j][k]);",
    "distance": "{t} += ({rows}[k] - {support}[j][k]) * ({rows}[k] - {support}[j][k]);",
    "manhattan": "{t} += fabs({rows}[k] - {support}[j][k]);",
    "agreement": "{t} += {rows}[k] == {support}[j][k];",
    "equal": "{t} += {rows}[k] == {support}[j][k];",
}
_AFTER = {"distance": "{t} = sqrt({t});", "agreement": "{t} /= {width};", "equal": "{t} = {t} == {width};"}
_OPERATIONS = {
    "add": "{} + {}",
    "subtract": "{} - {}",
    "multiply": "{} * {}",
    "divide": "{} / {}",
    "exp": "exp({})",
    "log": "log({})",
    "log1p": "log1p({})",
    "power": "pow({}, {})",
    "sqrt": "sqrt({})",
    "absolute": "fabs({})",
    "maximum": "mercer_maximum({}, {})",
    "minimum": "-mercer_maximum(-{}, -{})",
    "inverse_length": "mercer_inverse_length({})",
}


class CBody:
    """The lines that compute nodes, and the constants in them. Numbers and words are counted each for themselves."""

    def __init__(self, columns: list[Column]) -> None:
        self.constants: list[str] = []
        self.lines = ["    int j, k;", *(f"    (void) {name};" for name in ("j", "k", "numbers", "probabilities"))]
        self.lines += ["    (void) words;"] if any(column.words for column in columns) else []
        self._columns = columns
        self._names: dict[int, str] = {}
        self._kept: list[Node] = []

    def write(self, output: Node, into: str) -> None:
        """Compute a node and copy its numbers."""
        for node in nodes_of([output]):
            if id(node) not in self._names:
                self._names[id(node)] = f"v{len(self._kept)}"
                self._kept.append(node)
                self._compute(node)
        self._say(_for_each(output.width, f"{into}[k] = {self._names[id(output)]}[k];"))

    def _say(self, lines: str) -> None:
        self.lines.append(indent(lines, "    "))

    def _compute(self, node: Node) -> None:
        kind, v = type(node), self._names[id(node)]
        known = {"v": v, "width": node.width, **self._fields(node)}
        self._say(f"double {v}[{max(1, node.width)}];")
        if isinstance(node, computation.Beside):
            begin = 0
            for part in node.parts:
                self._say(_for_each(part.width, f"{v}[{begin} + k] = {self._names[id(part)]}[k];"))
                begin += part.width
        if kind in _BEFORE:
            self._say(_BEFORE[kind].format_map(known))
        if kind in _NUMBERS:
            self._say(_for_each(node.width, f"{v}[k] = {_NUMBERS[kind].format_map(known)};"))
        if kind in _LINES:
            self._say(_LINES[kind].format_map(known))

    def _fields(self, node: Any) -> dict[str, Any]:
        """How the fields of a node are written; ``height`` is how many values its constants have."""
        known: dict[str, Any] = {}
        for each in fields(node):
            value = getattr(node, each.name)
            if isinstance(value, Node):
                known[each.name] = self._names[id(value)]
            elif isinstance(value, Symbol):
                lines, known["value"] = self._formula(value)
                known[each.name] = indent("\n".join(lines), "    ")
            elif each.metadata:
                if each.name == "places" and isinstance(node, computation.Numbers):
                    value = [self._place(place) for place in value]
                elif each.name == "factors":
                    ends = np.cumsum([0, *map(len, value)])
                    known["ends"] = self._constant(ends, "Where the factors of each product begin.")
                    value = [place for factors in value for place in factors]
                known.setdefault("height", len(value))
                known[each.name] = self._constant(value, each.metadata["comment"])
            else:
                known[each.name] = c_number(value) if isinstance(value, float) else value
        if isinstance(node, computation.Level):
            words = self._columns[node.place].words
            known |= {"place": self._place(node.place), "kind": "word" if words else "number"}
            known["given"] = "words" if words else "numbers"
        return known

    def _place(self, place: int) -> int:
        """The number of a column among those of its kind."""
        return sum(other.words is self._columns[place].words for other in self._columns[:place])

    def _constant(self, values: Any, comment: str) -> str:
        name = f"c{len(self.constants)}"
        if any(isinstance(value, str) for value in values):
            listed = ["0" if text is None else c_string(text) for text in values]
            kind = f"char *const {name}[]"
        else:
            if not isinstance(values, np.ndarray):
                values = np.array([np.nan if value is None else value for value in values])
            whole = values.dtype.kind in "iu"
            listed = [str(int(value)) if whole else c_number(value) for value in values.ravel().tolist()] or ["0"]
            if values.ndim == 2:
                width = values.shape[1]
                listed = ["{" + ", ".join(listed[k : k + width]) + "}" for k in range(0, len(listed), max(1, width))]
            sizes = "".join(f"[{max(1, size)}]" for size in values.shape)
            kind = f"{'int' if whole else 'double'} {name}{sizes}"
        self.constants.append(f"/* {comment} */\nstatic const {kind} = {{\n{_wrapped(listed)}\n}};\n")
        return name

    def _formula(self, root: Symbol) -> tuple[list[str], str]:
        """The lines of a formula for support row j, and the name of its value."""
        known: dict[int, str] = {}
        lines: list[str] = []
        for place, symbol in enumerate(symbols_of(root)):
            t = f"t{place}"
            known[id(symbol)] = t
            if symbol.operation == "leaf":
                lines += self._leaf(symbol.arguments[0], t)
            else:
                own = [known[id(each)] if isinstance(each, Symbol) else f"({c_number(each)})"
                       for each in symbol.arguments]  # fmt: skip
                lines.append(f"const double {t} = {_OPERATIONS[symbol.operation].format(*own)};")
        return lines, known[id(root)]

    def _leaf(self, leaf: Pair | Own | OfSupport, t: str) -> list[str]:
        known = {"t": t, **self._fields(leaf)}
        if isinstance(leaf, OfSupport):
            return [f"const double {t} = {known['values']}[j];"]
        known["width"] = leaf.rows.width
        statistic = "" if isinstance(leaf, Own) else leaf.statistic
        added = _PAIRS.get(statistic, "{t} += {rows}[k] * {rows}[k];").format_map(known)
        after = [_AFTER[statistic].format_map(known)] if statistic in _AFTER else []
        return [f"double {t} = 0.0;", _for_each(leaf.rows.width, added), *after]


def _for_each(width: int, line: str) -> str:
    """A line for all k."""
    return f"for (k = 0; k < {width}; k++)\n    {line}"


def _wrapped(texts: list[str]) -> str:
    """Texts with commas, as many a line as have room."""
    lines, line = [], "   "
    for text in texts:
        if len(line) + len(text) > _LINE and line.strip():
            lines.append(line)
            line = "   "
        line += f" {text},"
    return "\n".join([*lines, line]).rstrip(",")


_HEAD = """\
/* A fitted model in C99 without dependencies, written by mercer {version}: {title}.

   Compile it with your program and the mathematical library: cc -std=c99 -O2 program.c model.c -lm. Declare what you
   call as it stands at the end of this file. Two models in one program: -Dmercer_predict=other_predict, and so on.

{columns}
{answers}
   A missing number is NAN{missing_word}. What the model refuses (an infinite number, a missing value
   that no step fills, a category that must not be new) has no answer: functions return -1, or 0 where 1 and -1 are
   answers.
   Functions keep no state, so several threads may call them at once.

   A kernel machine is made of some of its training rows: share this file as you would share the data. */

#include <float.h>
#include <math.h>
{string}
"""

_SCORES = """\
/* {what}: writes {width} numbers; returns 0, or -1 where one of them is not finite. */
int mercer_{name}({row}, double *{name})
{{
    double out[3][{room}];
    int k;
    if (mercer_infinite(numbers, {count}))
        return -1;
    mercer_computed({values}, out[0], out[1], out[2]);
    for (k = 0; k < {width}; k++)
        {name}[k] = out[{place}][k];
    return mercer_finite({name}, {width}) ? 0 : -1;
}}
"""

_PREDICT = """\
/* {what} */
int mercer_predict({row}{result})
{{
    double out[3][{room}];
    int k{more};
    if (mercer_infinite(numbers, {count}))
        return {nothing};
    mercer_computed({values}, out[0], out[1], out[2]);
    if (!mercer_finite(out[2], {width}))
        return {nothing};
{answer}
}}
"""

_ANSWERS = {
    "sign": "    k = out[2][0] >= 0 ? {1} : {0};\n    return k;",
    "largest": "    for (k = 1; k < {width}; k++)\n        best = out[2][k] > out[2][best] ? k : best;\n"
    "    return best;",
    "outliers": "    k = out[2][0] >= 0 ? 1 : -1;\n    return k;",
    "labels": "    for (k = 0; k < {width}; k++)\n        labels[k] = out[2][k] >= 0;\n    return 0;",
    "numbers": "    for (k = 0; k < {width}; k++)\n        values[k] = out[2][k];\n    return 0;",
}
_SAID = {
    "class": "The number of the class, whose label is mercer_labels[number]; -1 where a score is not finite.",
    "outliers": "1 for an inlier, -1 for an outlier; 0 where the score is not finite.",
    "labels": "Writes 1 for each label that the row has, else 0; returns 0, or -1 where a score is not finite.",
    "numbers": "Writes the predicted numbers; returns 0, or -1 where one is not finite.",
}


def c_text(computation: Computation) -> str:
    """The C file of a model.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> text = c_text(computed(SVC("linear").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])))
    >>> "int mercer_predict(const double *numbers)" in text
    True
    """
    refuse_strange_labels(computation.classes)
    body = CBody(computation.columns)
    for place, node in enumerate((computation.scores, computation.probabilities, computation.answer.node)):
        if node is not None:
            body.write(node, ("scores", "probabilities", "answer")[place])
    lines = "\n".join(body.lines)
    words = [column for column in computation.columns if column.words]
    row = "const double *numbers" + (", const char *const *words" if words else "")
    functions = list(_functions(computation, row, "numbers, words" if words else "numbers"))
    pieces = [
        _head(computation),
        *_parts_in("\n".join([lines, *functions])),
        "\n".join(body.constants),
        f"static void mercer_computed({row}, double *scores, double *probabilities, double *answer)\n{{\n{lines}\n}}\n",
        *_labels(computation),
        *functions,
    ]
    return "\n".join(pieces)


def _parts_in(lines: str) -> Iterable[str]:
    """The functions that lines call, and those that these call, as they stand in the file of parts."""
    _, *parts = Path(__file__).with_name("parts.c").read_text(encoding="utf-8").split("\n\n")
    called: list[str] = []
    for part in reversed(parts):
        name = re.findall(r"mercer_\w+\(", part)[0]
        if name in lines or any(name in other for other in called):
            called.append(part)
    return (f"{part.rstrip()}\n" for part in reversed(called))


def _head(computation: Computation) -> str:
    words = any(column.words for column in computation.columns)
    listed = []
    for kind, title in ((False, "numbers"), (True, "words")):
        own = [column.name for column in computation.columns if column.words is kind]
        listed += [f"   {title}[{place}]  {c_comment(name)}" for place, name in enumerate(own)]
    answers = [f"   class {place}  {c_comment(str(label))}" for place, label in enumerate(computation.classes)]
    return _HEAD.format(
        version=__version__,
        title=c_comment(computation.title),
        columns="   A row is these columns:\n" + "\n".join(listed) + "\n",
        answers="\n".join([*answers, ""]) if answers else "",
        missing_word="; a missing word is NULL, not an empty text. Words are in UTF-8, without spaces around them"
        if words
        else "",
        string="#include <string.h>\n" if words else "",
    )


def _labels(computation: Computation) -> Iterable[str]:
    if computation.classes:
        texts = ",\n    ".join(c_string(str(label)) for label in computation.classes)
        yield f"/* The labels of the classes. */\nconst char *const mercer_labels[] = {{\n    {texts}\n}};\n"


def _functions(computation: Computation, row: str, values: str) -> Iterable[str]:
    answer = computation.answer
    room = max(node.width for node in computation.outputs)
    count = sum(not column.words for column in computation.columns)
    common: dict[str, Any] = {"row": row, "values": values, "room": room, "count": count}
    yield _SCORES.format(
        what="Decision values, or predicted numbers", name="scores", width=computation.scores.width, place=0, **common
    )
    if computation.probabilities is not None:
        width = computation.probabilities.width
        yield _SCORES.format(what="The probability of each class", name="probabilities", width=width, place=1, **common)
    kind = answer.kind
    if kind == "class":
        kind = "sign" if answer.node.width == 1 else "largest"
    yield _PREDICT.format(
        what=_SAID[answer.kind],
        result={"labels": ", int *labels", "numbers": ", double *values"}.get(kind, ""),
        more=", best = 0" if kind == "largest" else "",
        nothing=0 if kind == "outliers" else -1,
        width=answer.node.width,
        answer=_ANSWERS[kind].format(*answer.places, width=answer.node.width),
        **common,
    )
