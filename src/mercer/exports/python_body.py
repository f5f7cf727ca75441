"""The lines of NumPy that compute the nodes of a model for some rows."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import singledispatchmethod
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..kernels.symbols import Symbol
from . import constants, nodes
from .computation import Node, OfSupport, Own, Pair, nodes_of, symbols_of
from .escaping import python_literal

__all__ = ["PythonBody"]

#: Arrays of more numbers than this are written in base64.
_FEW = 24
_LINE = 100

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
                self._names[id(node)] = self._line(self._text(node))
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

    def _of(self, node: Node) -> str:
        return self._names[id(node)]

    def _constant(self, text: str, what: str) -> str:
        name = f"C{len(self.constants)}"
        self.constants.append(f"#: {what}\n{name} = {text}")
        return name

    def _array(self, values: Array, what: str) -> str:
        if values.dtype.kind == "f" and values.size <= _FEW and np.isfinite(values).all() and values.size:
            return self._constant(f"np.array({values.tolist()!r})", what)
        kind = "<f8" if values.dtype.kind == "f" else "<i8"
        coded = base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode()
        lines = "".join(f"{coded[k : k + _LINE]}\n" for k in range(0, len(coded), _LINE))
        return self._constant(f'array({tuple(values.shape)!r}, "{kind}", """\n{lines}""")', what)

    def _formula(self, root: Symbol) -> str:
        """The name of a formula's values, a column for each support row."""
        known: dict[int, str] = {}
        for symbol in symbols_of(root):
            if symbol.operation == "leaf":
                text = self._leaf(symbol.arguments[0])
            else:
                own = [known[id(each)] if isinstance(each, Symbol) else repr(each) for each in symbol.arguments]
                text = _OPERATIONS[symbol.operation].format(*own)
            known[id(symbol)] = self._line(text)
        return known[id(root)]

    def _leaf(self, leaf: Pair | Own | OfSupport) -> str:
        if isinstance(leaf, OfSupport):
            return self._array(leaf.values, constants.NUMBERS_OF_SUPPORT)
        if isinstance(leaf, Own):
            return f"({self._of(leaf.rows)} ** 2).sum(axis=1)[:, None]"
        return _PAIRS[leaf.statistic].format(
            rows=self._of(leaf.rows), support=self._array(leaf.support, constants.SUPPORT_ROWS)
        )

    # -- nodes ----------------------------------------------------------------------------------------------------

    @singledispatchmethod
    def _text(self, node: Any) -> str:
        raise NotImplementedError(type(node).__name__)

    @_text.register
    def _(self, node: nodes.Numbers) -> str:
        return f"np.column_stack([columns[k] for k in {_places(node.places)}])"

    @_text.register
    def _(self, node: nodes.Level) -> str:
        known = self._constant(python_literal(node.levels), constants.KNOWN)
        return f"levels(columns[{node.place}], {known}, {node.missing})"

    @_text.register
    def _(self, node: nodes.TextCounts) -> str:
        terms = self._constant(python_literal(node.terms), constants.TERMS)
        importance = self._array(node.importance, constants.IMPORTANCE)
        how = f"{node.tokens!r}, {node.sizes!r}, {terms}, {importance}, {node.length!r}, {node.case!r}"
        return f"text_counts(columns[{node.place}], {how})"

    @_text.register
    def _(self, node: nodes.OneHot) -> str:
        places = self._array(node.hot, constants.PLACES_OF_ONES)
        return f"one_hot({self._of(node.source)}, {places}, {node.unknown}, {node.count})"

    @_text.register
    def _(self, node: nodes.Filled) -> str:
        source = self._of(node.source)
        values = self._array(node.values, constants.FILLED)
        return f"np.where(is_gap({source}, {python_literal(node.marker)}), {values}, {source})"

    @_text.register
    def _(self, node: nodes.Gaps) -> str:
        marker = python_literal(node.marker)
        return f"is_gap({self._of(node.source)}[:, {_places(node.places)}], {marker}).astype(float)"

    @_text.register
    def _(self, node: nodes.Scaled) -> str:
        minus, times, plus = map(self._array, (node.minus, node.times, node.plus), constants.SCALING)
        return f"({self._of(node.source)} - {minus}) * {times} + {plus}"

    @_text.register
    def _(self, node: nodes.Clipped) -> str:
        return f"np.clip({self._of(node.source)}, {node.low!r}, {node.high!r})"

    @_text.register
    def _(self, node: nodes.Monomials) -> str:
        return f"monomials({self._of(node.source)}, {self._constant(repr(node.factors), constants.FACTORS)})"

    @_text.register
    def _(self, node: nodes.Powered) -> str:
        return f"powered({self._of(node.source)}, {self._array(node.exponents, constants.EXPONENTS)}, {node.both})"

    @_text.register
    def _(self, node: nodes.UnitLength) -> str:
        return f"unit_length({self._of(node.source)}, {node.norm!r})"

    @_text.register
    def _(self, node: nodes.NormalQuantile) -> str:
        tables = (
            self._array(np.array(table), constants.NORMAL) for table in (constants.NORMAL_ABOVE, constants.NORMAL_BELOW)
        )
        return f"normal_quantile({self._of(node.source)}, {', '.join(tables)})"

    @_text.register
    def _(self, node: nodes.Picked) -> str:
        return f"{self._of(node.source)}[:, {_places(node.places)}]"

    @_text.register
    def _(self, node: nodes.Beside) -> str:
        return f"np.hstack([{', '.join(self._of(part) for part in node.parts)}])"

    @_text.register
    def _(self, node: nodes.Ones) -> str:
        return "np.ones((len(columns[0]), 1))"

    @_text.register
    def _(self, node: nodes.Linear) -> str:
        weights = self._array(node.matrix, constants.WEIGHTS)
        return f"{self._of(node.source)} @ {weights} + {self._array(node.plus, constants.INTERCEPTS)}"

    @_text.register
    def _(self, node: nodes.KernelSum) -> str:
        similar, coef = self._formula(node.formula), self._array(node.coef, constants.COEFFICIENTS)
        return f"{similar} @ {coef} + {self._array(node.plus, constants.INTERCEPTS)}"

    @_text.register
    def _(self, node: nodes.OwnSimilarity) -> str:
        return self._formula(node.formula)

    @_text.register
    def _(self, node: nodes.PathVote) -> str:
        along = ", ".join(map(self._array, (node.column, node.coefficient, node.bias, node.weight), constants.PATH))
        return f"path_vote({self._formula(node.formula)}, {along})"

    @_text.register
    def _(self, node: nodes.PairVotes) -> str:
        return f"pair_votes({self._of(node.source)}, {node.classes})"

    @_text.register
    def _(self, node: nodes.Sorted) -> str:
        return f"np.sort({self._of(node.source)}, axis=1)"

    @_text.register
    def _(self, node: nodes.Logistic) -> str:
        slope, level = map(self._array, (node.slope, node.level), (constants.SLOPES, constants.LEVELS))
        inside = f"logistic({slope} * {self._of(node.source)} + {level})"
        return f"np.clip({inside}, {node.bound!r}, 1 - {node.bound!r})"

    @_text.register
    def _(self, node: nodes.Logarithms) -> str:
        return f"np.log({self._of(node.source)})"

    @_text.register
    def _(self, node: nodes.Exponentials) -> str:
        return f"np.exp({self._of(node.source)})"

    @_text.register
    def _(self, node: nodes.Softmax) -> str:
        return f"softmax({self._of(node.source)})"

    @_text.register
    def _(self, node: nodes.Interpolated) -> str:
        return self._at_points("np.interp", node)

    @_text.register
    def _(self, node: nodes.Staircase) -> str:
        return self._at_points("staircase", node)

    def _at_points(self, part: str, node: Any) -> str:
        points, values = map(self._array, (node.points, node.values), (constants.POINTS, constants.VALUES))
        return f"{part}({self._of(node.source)}, {points}, {values})"

    @_text.register
    def _(self, node: nodes.Coupled) -> str:
        return f"coupled({self._of(node.source)}, {node.classes})"

    @_text.register
    def _(self, node: nodes.ToOne) -> str:
        return f"to_one({self._of(node.source)})"


def _places(places: tuple[int, ...]) -> str:
    """Places as a list; those that follow each other as a range."""
    if len(places) > 2 and list(places) == list(range(places[0], places[-1] + 1)):
        return f"range({places[0]}, {places[-1] + 1})"
    return repr(list(places))
