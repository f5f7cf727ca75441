"""The nodes of a model as operators of ONNX, in double precision."""

from __future__ import annotations

from functools import singledispatchmethod
from itertools import combinations
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..io.table import DataError
from . import constants, nodes
from .computation import Node, nodes_of
from .onnx_formulas import OnnxFormulas
from .onnx_operators import INTEGER
from .onnx_probabilities import coupled_classes, shares_of_sum

__all__ = ["OnnxGraph"]


class OnnxGraph(OnnxFormulas):
    """A graph that computes the nodes of a model."""

    def __init__(self) -> None:
        super().__init__()
        #: For each column of the input the name of a tensor, and its place in there if it is not alone.
        self.columns: list[tuple[str, int | None]] = []
        self._names: dict[int, str] = {}
        self._kept: list[Node] = []

    def name(self, output: Node) -> str:
        """The name of a node's numbers; the operators that compute them are added first."""
        for node in nodes_of([output]):
            if id(node) not in self._names:
                self._names[id(node)] = self._made(node)
                self._kept.append(node)
        return self._names[id(output)]

    def _of(self, node: Node) -> str:
        return self._names[id(node)]

    def _column(self, place: int) -> str:
        name, inside = self.columns[place]
        return name if inside is None else self.gathered(name, [inside])

    @singledispatchmethod
    def _made(self, node: Any) -> str:
        raise NotImplementedError(type(node).__name__)

    @_made.register
    def _(self, node: nodes.Numbers) -> str:
        if self.columns[0][1] is not None:
            whole = list(node.places) == list(range(len(self.columns)))
            return "X" if whole else self.gathered("X", node.places)
        return self.add("Concat", [self._column(place) for place in node.places], axis=1)

    @_made.register
    def _(self, node: nodes.Level) -> str:
        column = self._column(node.place)
        if any(isinstance(level, str) for level in node.levels):
            known = {level: place for place, level in enumerate(node.levels) if level is not None}
            if "" in known:
                raise DataError(
                    "a column of words knows the empty text, which ONNX cannot tell from a missing word; replace it by "
                    "another word before training, or export to c or python."
                )
            known = {"": node.missing, **known}  # a missing word is empty
            keys, values = list(known), list(known.values())
            found = self.add("LabelEncoder", [column], "ai.onnx.ml", keys_strings=keys, values_int64s=values,
                             default_int64=-1)  # fmt: skip
            return self.as_numbers(found)
        levels = np.array([np.nan if level is None else level for level in node.levels], float)
        same = self.as_numbers(self.add("Equal", [column, self.constant(levels[None, :])]))
        place = self.add("MatMul", [same, self.constant(np.arange(1.0, levels.size + 1)[:, None])])
        gone = self.add("Mul", [self.as_numbers(self.add("IsNaN", [column])), self.number(node.missing + 1)])
        return self.add("Sub", [self.add("Add", [place, gone]), self.number(1.0)])

    @_made.register
    def _(self, node: nodes.OneHot) -> str:
        table = np.zeros((node.hot.size + 1, node.width))
        for row, place in enumerate([node.unknown, *node.hot.tolist()]):
            if place == -2:
                table[row] = np.nan
            elif place >= 0:
                table[row, place] = 1.0
        source = self._of(node.source)
        above = self.add("Add", [source, self.number(1.0)])
        known = self.add("Where", [self.not_negative(source), above, self.number(0.0)])  # NaN is none
        counted = self.add("Cast", [known], to=INTEGER)
        return self.add("Gather", [self.constant(table), self.flat(counted)], axis=0)

    def _gaps(self, name: str, marker: float) -> str:
        return self.add("IsNaN", [name]) if np.isnan(marker) else self.add("Equal", [name, self.number(marker)])

    @_made.register
    def _(self, node: nodes.Filled) -> str:
        source = self._of(node.source)
        return self.add("Where", [self._gaps(source, node.marker), self.constant(node.values[None, :]), source])

    @_made.register
    def _(self, node: nodes.Gaps) -> str:
        return self.as_numbers(self._gaps(self.gathered(self._of(node.source), node.places), node.marker))

    @_made.register
    def _(self, node: nodes.Scaled) -> str:
        moved = self.add("Sub", [self._of(node.source), self.constant(node.minus[None, :])])
        return self.add("Add", [self.add("Mul", [moved, self.constant(node.times[None, :])]),
                                self.constant(node.plus[None, :])])  # fmt: skip

    @_made.register
    def _(self, node: nodes.Clipped) -> str:
        return self.clipped(self._of(node.source), node.low, node.high)

    @_made.register
    def _(self, node: nodes.Monomials) -> str:
        # Products of fewer factors than the longest have ones besides.
        width, most = node.source.width, max(1, max(map(len, node.factors)))
        padded = np.array([[*factors, *[width] * (most - len(factors))] for factors in node.factors])
        first = self.gathered(self._of(node.source), [0])
        one = self.add("Add", [self.add("Mul", [first, self.number(0.0)]), self.number(1.0)])
        rows = self.add("Concat", [self._of(node.source), one], axis=1)
        out = self.gathered(rows, padded[:, 0])
        for places in padded.T[1:]:
            out = self.add("Mul", [out, self.gathered(rows, places)])
        return out

    @_made.register
    def _(self, node: nodes.Powered) -> str:
        x, zero, one = self._of(node.source), self.number(0.0), self.constant(np.ones((1, node.width)))
        if not node.both:
            positive = self.add("Greater", [x, zero])
            logarithm = self.add("Log", [self.add("Where", [positive, x, self.number(np.nan)])])
            return self._power(logarithm, self.constant(node.exponents[None, :]), one)
        negative = self.add("Less", [x, zero])
        exponents = self.constant(node.exponents[None, :])
        power = self.add("Where", [negative, self.constant(2 - node.exponents[None, :]), exponents])
        size = self._power(self._log1p(self.add("Abs", [x]), node.width), power, one)
        return self.add("Where", [negative, self.add("Neg", [size]), size])

    def _power(self, logarithm: str, power: str, one: str) -> str:
        """(exp(y) − 1)/power for y = power·logarithm; exp(y) − 1 = 2t/(1 − t), t = tanh(y/2), where y is small."""
        none = self.add("Equal", [power, self.number(0.0)])
        y = self.add("Mul", [power, logarithm])
        t = self.add("Tanh", [self.add("Div", [y, self.number(2.0)])])
        small = self.add("Div", [self.add("Mul", [t, self.number(2.0)]), self.add("Sub", [one, t])])
        near = self.add("Less", [self.add("Abs", [y]), self.number(0.5)])
        grown = self.add("Where", [near, small, self.add("Sub", [self.add("Exp", [y]), one])])
        return self.add("Where", [none, logarithm, self.add("Div", [grown, self.add("Where", [none, one, power])])])

    @_made.register
    def _(self, node: nodes.UnitLength) -> str:
        x = self._of(node.source)
        sizes = self.add("Abs", [x])
        if node.norm == "max":
            length = self.add("ReduceMax", [sizes], axes=[1], keepdims=1)
        elif node.norm == "l1":
            length = self.summed(sizes)
        else:
            length = self.add("Sqrt", [self.summed(self.add("Mul", [x, x]))])
        nothing = self.add("Equal", [length, self.number(0.0)])
        return self.add("Div", [x, self.add("Where", [nothing, self.number(1.0), length])])

    @_made.register
    def _(self, node: nodes.NormalQuantile) -> str:
        p = self._of(node.source)
        q = self.add("Sub", [p, self.number(0.5)])
        r = self.add("Sub", [self.number(0.180625), self.add("Mul", [q, q])])
        middle = self.add("Mul", [q, self._quotient(r, 0)])
        smaller = self.add("Min", [p, self.add("Sub", [self.number(1.0), p])])
        root = self.add("Sqrt", [self.add("Neg", [self.add("Log", [smaller])])])
        beyond = self._quotient(self.add("Sub", [root, self.number(1.6)]), 1)
        signed = self.add("Where", [self.add("Less", [q, self.number(0.0)]), self.add("Neg", [beyond]), beyond])
        inside = self.add("LessOrEqual", [self.add("Abs", [q]), self.number(0.425)])
        return self.add("Where", [inside, middle, signed])

    def _quotient(self, x: str, part: int) -> str:
        """A polynomial by another, of those that quantiles of the normal distribution are made of."""
        found = []
        for highest, *others in (constants.NORMAL_ABOVE[part], constants.NORMAL_BELOW[part]):
            value = self.number(highest)
            for coefficient in others:
                value = self.add("Add", [self.add("Mul", [value, x]), self.number(coefficient)])
            found.append(value)
        return self.add("Div", found)

    @_made.register
    def _(self, node: nodes.Picked) -> str:
        return self.gathered(self._of(node.source), node.places)

    @_made.register
    def _(self, node: nodes.Beside) -> str:
        return self.add("Concat", [self._of(part) for part in node.parts if part.width], axis=1)

    @_made.register
    def _(self, node: nodes.Ones) -> str:
        number = next((place for place, (_, inside) in enumerate(self.columns) if inside is not None), None)
        column = self._column(0 if number is None else number)
        shape = self.add("Shape", [column])
        from onnx import numpy_helper

        return self.add("ConstantOfShape", [shape], value=numpy_helper.from_array(np.array([1.0])))

    @_made.register
    def _(self, node: nodes.Linear) -> str:
        product = self.add("MatMul", [self._of(node.source), self.constant(node.matrix)])
        return self.add("Add", [product, self.constant(node.plus[None, :])])

    @_made.register
    def _(self, node: nodes.KernelSum) -> str:
        product = self.add("MatMul", [self._formula(node.formula), self.constant(node.coef)])
        return self.add("Add", [product, self.constant(node.plus[None, :])])

    @_made.register
    def _(self, node: nodes.OwnSimilarity) -> str:
        return self._formula(node.formula)

    @_made.register
    def _(self, node: nodes.PathVote) -> str:
        steps = self.gathered(self._formula(node.formula), node.column)
        steps = self.add("Mul", [steps, self.constant(node.coefficient[None, :])])
        along = self.add("CumSum", [steps, self.constant(np.int64(1))])
        along = self.add("Add", [along, self.constant(node.bias[None, :])])
        signs = self.add("Where", [self.not_negative(along), self.number(1.0), self.number(-1.0)])
        signs = self._unless_nan(along, signs)
        return self.add("MatMul", [signs, self.constant(node.weight[:, None])])

    @_made.register
    def _(self, node: nodes.PairVotes) -> str:
        # A pair that is won by its second class counts for that, and one less for its first.
        source = self._of(node.source)
        pairs = list(combinations(range(node.classes), 2))
        sides = np.zeros((len(pairs), node.classes))
        for place, (first, second) in enumerate(pairs):
            sides[place, [first, second]] = -1.0, 1.0
        wins = self.add("MatMul", [self.as_numbers(self.not_negative(source)), self.constant(sides)])
        won = self.add("Add", [wins, self.constant((sides < 0).sum(axis=0).astype(float)[None, :])])
        lead = self.add("MatMul", [source, self.constant(sides)])
        size = self.add("Mul", [self.add("Add", [self.add("Abs", [lead]), self.number(1.0)]), self.number(3.0)])
        return self.add("Add", [won, self.add("Div", [lead, size])])

    @_made.register
    def _(self, node: nodes.Sorted) -> str:
        # Neighbours change places, every other pair in turn: of no rows, TopK of older runtimes ends the process.
        source = self._of(node.source)
        columns = [self.add("Gather", [source, self.constant([place])], axis=1) for place in range(node.width)]
        for turn in range(node.width):
            for place in range(turn % 2, node.width - 1, 2):
                pair = columns[place : place + 2]
                columns[place : place + 2] = [self.add("Min", pair), self.add("Max", pair)]
        return self.add("Concat", columns, axis=1)

    # -- probabilities --------------------------------------------------------------------------------------------

    @_made.register
    def _(self, node: nodes.Logistic) -> str:
        slope, level = (self.constant(each[None, :]) for each in (node.slope, node.level))
        value = self.add("Add", [self.add("Mul", [self._of(node.source), slope]), level])
        # exp(−x) overflows to infinity where the result is 0 anyway
        powers = self.add("Exp", [self.add("Neg", [value])])
        found = self.add("Div", [self.number(1.0), self.add("Add", [powers, self.number(1.0)])])
        return self.clipped(found, node.bound, 1.0 - node.bound)

    @_made.register
    def _(self, node: nodes.Logarithms) -> str:
        return self.add("Log", [self._of(node.source)])

    @_made.register
    def _(self, node: nodes.Exponentials) -> str:
        return self.add("Exp", [self._of(node.source)])

    @_made.register
    def _(self, node: nodes.Softmax) -> str:
        source = self._of(node.source)
        largest = self.add("ReduceMax", [source], axes=[1], keepdims=1)
        powers = self.add("Exp", [self.add("Sub", [source, largest])])
        return self.add("Div", [powers, self.summed(powers)])

    def _unless_nan(self, given: str, found: str) -> str:
        """What was found, unless it was found from no number."""
        return self.add("Where", [self.add("IsNaN", [given]), self.number(np.nan), found])

    def _below(self, name: str, points: Array, operator: str) -> str:
        """How many points each number is beyond."""
        beyond = self.as_numbers(self.add(operator, [name, self.constant(points[None, :])]))
        return self.add("Cast", [self.summed(beyond)], to=INTEGER)

    @_made.register
    def _(self, node: nodes.Interpolated) -> str:
        x = self._of(node.source)
        rise, run = np.diff(node.values), np.diff(node.points)
        slopes = np.append(np.divide(rise, run, out=np.zeros_like(rise), where=run > 0), 0.0)
        inside = self.clipped(x, node.points[0], node.points[-1])
        after = self._below(inside, node.points, "GreaterOrEqual")
        place = self.add("Max", [self.add("Sub", [after, self.constant(np.int64(1))]), self.constant(np.int64(0))])
        here, value, slope = (
            self.add("Gather", [self.constant(each), place], axis=0) for each in (node.points, node.values, slopes)
        )
        line = self.add("Add", [value, self.add("Mul", [slope, self.add("Sub", [inside, here])])])
        before = self.add("Less", [x, self.number(node.points[0])])  # which may be a jump
        return self._unless_nan(x, self.add("Where", [before, self.number(node.values[0]), line]))

    @_made.register
    def _(self, node: nodes.Staircase) -> str:
        x = self._of(node.source)
        both = [self._below(x, node.points, operator) for operator in ("Greater", "GreaterOrEqual")]
        return self._unless_nan(x, self.add("Gather", [self.constant(node.values), self.add("Add", both)], axis=0))

    @_made.register
    def _(self, node: nodes.ToOne) -> str:
        return shares_of_sum(self, self._of(node.source))

    @_made.register
    def _(self, node: nodes.Coupled) -> str:
        return coupled_classes(self, self._of(node.source), node.classes)
