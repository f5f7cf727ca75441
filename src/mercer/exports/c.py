"""A fitted model as one file of C99 without dependencies."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatchmethod
from typing import Any

import numpy as np

from .. import __version__
from ..kernels import Symbol
from ..runtime import Array
from . import computation, literals
from .c_parts import C_PARTS
from .computation import Column, Computation, Node, OfSupport, Own, Pair, nodes_of, symbols_of
from .literals import c_comment, c_number, c_string, refuse_strange_labels

# The lines of C that compute the nodes of a model for one row.


_LINE = 110
_PAIRS = {
    "dot": "{t} += {x}[k] * {z}[j][k];",
    "squared_distance": "{t} += ({x}[k] - {z}[j][k]) * ({x}[k] - {z}[j][k]);",
    "distance": "{t} += ({x}[k] - {z}[j][k]) * ({x}[k] - {z}[j][k]);",
    "manhattan": "{t} += fabs({x}[k] - {z}[j][k]);",
    "agreement": "{t} += {x}[k] == {z}[j][k];",
    "equal": "{t} += {x}[k] == {z}[j][k];",
}
_AFTER = {"distance": "{t} = sqrt({t});", "agreement": "{t} /= {d};", "equal": "{t} = {t} == {d};"}
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
        self._places = [sum(other.words is column.words for other in columns[:place]) for place, column in
                        enumerate(columns)]  # fmt: skip
        self._words = [column.words for column in columns]
        self._names: dict[int, str] = {}
        self._kept: list[Node] = []
        self._given: set[str] = set()

    def write(self, output: Node, into: str) -> None:
        """Compute a node and copy its numbers."""
        for node in nodes_of([output]):
            if id(node) not in self._names:
                self._names[id(node)] = f"v{len(self._kept)}"
                self._kept.append(node)
                self._say(f"double v{len(self._kept) - 1}[{max(1, node.width)}];")
                self._compute(node)
        self._each(output.width, f"{into}[k] = {self._of(output)}[k];")
        self._given.add(into)

    def _say(self, line: str, depth: int = 1) -> None:
        self.lines.append("    " * depth + line)

    def _each(self, width: int, line: str, depth: int = 1) -> None:
        """A line for all k."""
        self._say(f"for (k = 0; k < {width}; k++)", depth)
        self._say(line, depth + 1)

    def _of(self, node: Node) -> str:
        return self._names[id(node)]

    # -- constants ------------------------------------------------------------------------------------------------

    def _array(self, values: Array, what: str) -> str:
        name = f"c{len(self.constants)}"
        whole = values.dtype.kind in "iu"
        sizes = "".join(f"[{max(1, size)}]" for size in values.shape)
        texts = [str(int(value)) if whole else c_number(value) for value in values.ravel().tolist()] or ["0"]
        if values.ndim == 2:
            width = values.shape[1]
            groups = ["{" + ", ".join(texts[k : k + width]) + "}" for k in range(0, len(texts), max(1, width))]
        else:
            groups = texts
        self.constants.append(
            f"/* {what} */\nstatic const {'int' if whole else 'double'} {name}{sizes} = {{\n{_wrapped(groups)}\n}};\n"
        )
        return name

    def _texts(self, texts: tuple[Any, ...], what: str) -> str:
        name = f"c{len(self.constants)}"
        listed = _wrapped(["0" if text is None else c_string(text) for text in texts])
        self.constants.append(f"/* {what} */\nstatic const char *const {name}[] = {{\n{listed}\n}};\n")
        return name

    # -- formulas -------------------------------------------------------------------------------------------------

    def _formula(self, root: Symbol, depth: int) -> str:
        """The lines of a formula for support row j; gives the name of its value."""
        known: dict[int, str] = {}
        for place, symbol in enumerate(symbols_of(root)):
            t = f"t{place}"
            known[id(symbol)] = t
            if symbol.operation == "leaf":
                self._leaf(symbol.arguments[0], t, depth)
            else:
                own = [known[id(each)] if isinstance(each, Symbol) else f"({c_number(each)})"
                       for each in symbol.arguments]  # fmt: skip
                self._say(f"const double {t} = {_OPERATIONS[symbol.operation].format(*own)};", depth)
        return known[id(root)]

    def _leaf(self, leaf: Pair | Own | OfSupport, t: str, depth: int) -> None:
        if isinstance(leaf, OfSupport):
            self._say(f"const double {t} = {self._array(leaf.values, literals.NUMBERS_OF_SUPPORT)}[j];", depth)
            return
        x = self._of(leaf.rows)
        self._say(f"double {t} = 0.0;", depth)
        if isinstance(leaf, Own):
            self._each(leaf.rows.width, f"{t} += {x}[k] * {x}[k];", depth)
            return
        self._each(
            leaf.rows.width,
            _PAIRS[leaf.statistic].format(t=t, x=x, z=self._array(leaf.support, literals.SUPPORT_ROWS)),
            depth,
        )
        if leaf.statistic in _AFTER:
            self._say(_AFTER[leaf.statistic].format(t=t, d=leaf.rows.width), depth)

    # -- nodes ----------------------------------------------------------------------------------------------------

    @singledispatchmethod
    def _compute(self, node: Any) -> None:
        raise NotImplementedError(type(node).__name__)

    @_compute.register
    def _(self, node: computation.Numbers) -> None:
        places = np.array([self._places[place] for place in node.places])
        if (places == np.arange(places.size)).all():
            self._each(places.size, f"{self._of(node)}[k] = numbers[k];")
        else:
            self._each(places.size, f"{self._of(node)}[k] = numbers[{self._array(places, literals.PLACES)}[k]];")

    @_compute.register
    def _(self, node: computation.Level) -> None:
        place, count = self._places[node.place], len(node.levels)
        if self._words[node.place]:
            words = self._texts(node.levels, literals.KNOWN)
            call = f"mercer_word_level(words[{place}], {words}, {count}, {node.missing})"
        else:
            known = self._array(
                np.array([np.nan if level is None else level for level in node.levels], float), literals.KNOWN
            )
            call = f"mercer_number_level(numbers[{place}], {known}, {count}, {node.missing})"
        self._say(f"{self._of(node)}[0] = {call};")

    @_compute.register
    def _(self, node: computation.OneHot) -> None:
        v, level = self._of(node), self._of(node.source)
        places = self._array(node.hot, literals.PLACES_OF_ONES)
        self._say(f"j = {level}[0] >= 0 ? {places}[(int) {level}[0]] : {node.unknown};")
        self._each(node.width, f"{v}[k] = j == -2 ? NAN : k == j ? 1.0 : 0.0;")

    @_compute.register
    def _(self, node: computation.Filled) -> None:
        x = self._of(node.source)
        self._each(node.width, f"{self._of(node)}[k] = {_is_gap(f'{x}[k]', node.marker)} ? "
                   f"{self._array(node.values, literals.FILLED)}[k] : {x}[k];")  # fmt: skip

    @_compute.register
    def _(self, node: computation.Gaps) -> None:
        x = f"{self._of(node.source)}[{self._array(np.array(node.places, np.int64), literals.PLACES)}[k]]"
        self._each(node.width, f"{self._of(node)}[k] = {_is_gap(x, node.marker)} ? 1.0 : 0.0;")

    @_compute.register
    def _(self, node: computation.Scaled) -> None:
        minus, times, plus = map(self._array, (node.minus, node.times, node.plus), literals.SCALING)
        line = f"{self._of(node)}[k] = ({self._of(node.source)}[k] - {minus}[k]) * {times}[k] + {plus}[k];"
        self._each(node.width, line)

    @_compute.register
    def _(self, node: computation.Clipped) -> None:
        x, low, high = f"{self._of(node.source)}[k]", c_number(node.low), c_number(node.high)
        self._each(node.width, f"{self._of(node)}[k] = {x} < {low} ? {low} : {x} > {high} ? {high} : {x};")

    @_compute.register
    def _(self, node: computation.Monomials) -> None:
        v, x = self._of(node), self._of(node.source)
        ends = self._array(np.cumsum([0, *map(len, node.factors)]), literals.ENDS)
        factors = self._array(
            np.array([place for each in node.factors for place in each] or [0], np.int64), literals.FACTORS
        )
        self._say(f"for (k = 0; k < {node.width}; k++) {{")
        self._say(f"{v}[k] = 1.0;", 2)
        self._say(f"for (j = {ends}[k]; j < {ends}[k + 1]; j++)", 2)
        self._say(f"{v}[k] *= {x}[{factors}[j]];", 3)
        self._say("}")

    @_compute.register
    def _(self, node: computation.Picked) -> None:
        places = self._array(np.array(node.places, np.int64), literals.PLACES)
        self._each(node.width, f"{self._of(node)}[k] = {self._of(node.source)}[{places}[k]];")

    @_compute.register
    def _(self, node: computation.Beside) -> None:
        begin = 0
        for part in node.parts:
            self._each(part.width, f"{self._of(node)}[{begin} + k] = {self._of(part)}[k];")
            begin += part.width

    @_compute.register
    def _(self, node: computation.Ones) -> None:
        self._say(f"{self._of(node)}[0] = 1.0;")

    @_compute.register
    def _(self, node: computation.Linear) -> None:
        v, matrix = self._of(node), self._array(node.matrix, literals.WEIGHTS)
        self._each(node.width, f"{v}[k] = {self._array(node.plus, literals.INTERCEPTS)}[k];")
        self._say(f"for (j = 0; j < {node.source.width}; j++)")
        self._each(node.width, f"{v}[k] += {self._of(node.source)}[j] * {matrix}[j][k];", 2)

    @_compute.register
    def _(self, node: computation.KernelSum) -> None:
        # What rounding takes from a sum of many terms is kept and given back with the next (Kahan's summation).
        v, coef = self._of(node), self._array(node.coef, literals.COEFFICIENTS)
        self._say(f"double {v}_lost[{node.width}];")
        self._each(node.width, f"{v}[k] = {self._array(node.plus, literals.INTERCEPTS)}[k];")
        self._each(node.width, f"{v}_lost[k] = 0.0;")
        self._say(f"for (j = 0; j < {len(node.coef)}; j++) {{")
        value = self._formula(node.formula, 2)
        self._say(f"for (k = 0; k < {node.width}; k++) {{", 2)
        self._say(f"const double term = {value} * {coef}[j][k] - {v}_lost[k];", 3)
        self._say(f"const double sum = {v}[k] + term;", 3)
        self._say(f"{v}_lost[k] = (sum - {v}[k]) - term;", 3)
        self._say(f"{v}[k] = sum;", 3)
        self._say("}", 2)
        self._say("}")

    @_compute.register
    def _(self, node: computation.OwnSimilarity) -> None:
        self._say("{")
        self._say(f"{self._of(node)}[0] = {self._formula(node.formula, 2)};", 2)
        self._say("}")

    @_compute.register
    def _(self, node: computation.PathVote) -> None:
        v, along = self._of(node), f"{self._of(node)}_along"
        column, coefficient, bias, weight = map(
            self._array, (node.column, node.coefficient, node.bias, node.weight), literals.PATH
        )
        self._say(f"double {along} = 0.0;")
        self._say(f"int {v}_update;")
        self._say(f"{v}[0] = 0.0;")
        self._say(f"for ({v}_update = 0; {v}_update < {len(node.column)}; {v}_update++) {{")
        self._say(f"j = {column}[{v}_update];", 2)
        self._say("{", 2)
        self._say(f"{along} += {coefficient}[{v}_update] * {self._formula(node.formula, 3)};", 3)
        self._say("}", 2)
        self._say(f"{v}[0] += mercer_sign({along} + {bias}[{v}_update]) * {weight}[{v}_update];", 2)
        self._say("}")

    @_compute.register
    def _(self, node: computation.PairVotes) -> None:
        v = self._of(node)
        self._say(f"double {v}_lead[{node.classes}];")
        self._say(f"mercer_pair_votes({self._of(node.source)}, {node.classes}, {v}, {v}_lead);")

    @_compute.register
    def _(self, node: computation.Sorted) -> None:
        self._each(node.width, f"{self._of(node)}[k] = {self._of(node.source)}[k];")
        self._say(f"mercer_sort({self._of(node)}, {node.width});")

    @_compute.register
    def _(self, node: computation.Logistic) -> None:
        slope, level = map(self._array, (node.slope, node.level), (literals.SLOPES, literals.LEVELS))
        inside = f"{slope}[k] * {self._of(node.source)}[k] + {level}[k]"
        self._each(node.width, f"{self._of(node)}[k] = mercer_logistic({inside}, {c_number(node.bound)});")

    @_compute.register
    def _(self, node: computation.Logarithms) -> None:
        self._each(node.width, f"{self._of(node)}[k] = log({self._of(node.source)}[k]);")

    @_compute.register
    def _(self, node: computation.Exponentials) -> None:
        self._each(node.width, f"{self._of(node)}[k] = exp({self._of(node.source)}[k]);")

    @_compute.register
    def _(self, node: computation.Softmax) -> None:
        self._say(f"mercer_softmax({self._of(node.source)}, {node.width}, {self._of(node)});")

    @_compute.register
    def _(self, node: computation.Interpolated) -> None:
        self._at_points("mercer_interpolated", node)

    @_compute.register
    def _(self, node: computation.Staircase) -> None:
        self._at_points("mercer_staircase", node)

    def _at_points(self, part: str, node: Any) -> None:
        points, values = self._array(node.points, literals.POINTS), self._array(node.values, literals.VALUES)
        call = f"{part}({self._of(node.source)}[0], {points}, {values}, {node.points.size})"
        self._say(f"{self._of(node)}[0] = {call};")

    @_compute.register
    def _(self, node: computation.Coupled) -> None:
        v, k = self._of(node), node.classes
        self._say(f"double {v}_system[{(k + 1) * (k + 2)}];")
        self._say(f"mercer_coupled({self._of(node.source)}, {k}, {v}_system, {v});")

    @_compute.register
    def _(self, node: computation.ToOne) -> None:
        self._say(f"mercer_to_one({self._of(node.source)}, {node.width}, {self._of(node)});")


def _is_gap(x: str, marker: float) -> str:
    return f"isnan({x})" if np.isnan(marker) else f"{x} == {c_number(marker)}"


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

_FINITE = """\
static int mercer_finite(const double *values, int count)
{
    int k;
    for (k = 0; k < count; k++)
        if (!isfinite(values[k]))
            return 0;
    return 1;
}
"""

_INFINITE = """\
static int mercer_infinite(const double *numbers)
{{
    int k;
    (void) numbers;
    for (k = 0; k < {count}; k++)
        if (isinf(numbers[k]))
            return 1;
    return 0;
}}
"""

_SCORES = """\
/* {what}: writes {width} numbers; returns 0, or -1 where one of them is not finite. */
int mercer_{name}({row}, double *{name})
{{
    double out[3][{room}];
    int k;
    if (mercer_infinite(numbers))
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
    if (mercer_infinite(numbers))
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
    "usual": "    k = out[2][0] >= 0 ? 1 : -1;\n    return k;",
    "labels": "    for (k = 0; k < {width}; k++)\n        labels[k] = out[2][k] >= 0;\n    return 0;",
    "numbers": "    for (k = 0; k < {width}; k++)\n        values[k] = out[2][k];\n    return 0;",
}
_SAID = {
    "class": "The number of the class, whose label is mercer_labels[number]; -1 where a score is not finite.",
    "usual": "1 for an inlier, -1 for an outlier; 0 where the score is not finite.",
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
    pieces = [
        _head(computation),
        *(text for name, text in C_PARTS.items() if f"{name}(" in lines or _calls(name, lines)),
        "\n".join(body.constants),
        f"static void mercer_computed({row}, double *scores, double *probabilities, double *answer)\n{{\n{lines}\n}}\n",
        _FINITE,
        _INFINITE.format(count=sum(not column.words for column in computation.columns)),
        *_labels(computation),
        *_functions(computation, row, "numbers, words" if words else "numbers"),
    ]
    return "\n".join(pieces)


def _calls(name: str, lines: str) -> bool:
    """Whether a part is called by another one that is."""
    return name == "mercer_to_one" and "mercer_coupled(" in lines


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
    common: dict[str, Any] = {"row": row, "values": values, "room": room}
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
        nothing=0 if kind == "usual" else -1,
        width=answer.node.width,
        answer=_ANSWERS[kind].format(*answer.places, width=answer.node.width),
        **common,
    )
