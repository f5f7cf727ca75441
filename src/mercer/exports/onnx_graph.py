"""The nodes of a model as operators of ONNX, in double precision."""

from __future__ import annotations

from functools import singledispatchmethod
from itertools import combinations
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..cuda.symbols import Symbol
from . import computation as nodes
from .computation import Node, OfSupport, Own, Pair, leaves_of, nodes_of, symbols_of

__all__ = ["OPSETS", "OnnxGraph", "tensor"]

#: The operators in use, by domain: old enough for every runtime, and all of them known in double precision.
OPSETS = {"": 15, "ai.onnx.ml": 2}
#: What ONNX calls types of numbers.
_DOUBLE, _INTEGER = 11, 7
_PREFIX = "mercer "
_OPERATIONS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "exp": "Exp",
    "sqrt": "Sqrt",
    "absolute": "Abs",
    "maximum": "Max",
    "minimum": "Min",
}


def tensor(name: str, values: Any) -> Any:
    """An array as ONNX has it: whole numbers of 64 bits, doubles, truth values or texts."""
    from onnx import helper, numpy_helper

    array = np.asarray(values)
    if array.dtype.kind in "UO":
        texts = [str(text).encode("utf-8", "surrogatepass") for text in array.ravel().tolist()]
        return helper.make_tensor(name, 8, array.shape, texts)
    kind = {"b": np.bool_, "i": np.int64, "u": np.int64}.get(array.dtype.kind, np.float64)
    return numpy_helper.from_array(np.array(array, dtype=kind), name)


class OnnxGraph:
    """Operators and constants, as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        #: For each column of the input the name of a tensor, and its place in there if it is not alone.
        self.columns: list[tuple[str, int | None]] = []
        self._names: dict[int, str] = {}
        self._kept: list[Node] = []
        self._count = 0

    # -- operators ------------------------------------------------------------------------------------------------

    @staticmethod
    def owns(name: str) -> bool:
        """Whether a name could be one of those that are made up here."""
        return name.startswith(_PREFIX) or name == "X"

    def _new(self) -> str:
        self._count += 1
        return f"{_PREFIX}{self._count}"

    def add(self, operator: str, inputs: list[str], domain: str = "", results: int = 1, **attributes: Any) -> str:
        """An operator; gives the name of its first result."""
        from onnx import helper

        names = [self._new() for _ in range(results)]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names[0]

    def constant(self, values: Any) -> str:
        """An array that is part of the model; whole numbers and texts stay such."""
        name = self._new()
        self.constants.append(tensor(name, values))
        return name

    def number(self, value: float) -> str:
        """One number, as a table of one."""
        return self.constant(np.full((1, 1), float(value)))

    def clipped(self, name: str, low: float, high: float) -> str:
        """Not below nor above."""
        return self.add("Clip", [name, self.constant(np.float64(low)), self.constant(np.float64(high))])

    def rename(self, name: str, new: str) -> None:
        """Give a result the name that users see."""
        from onnx import helper

        self.nodes.append(helper.make_node("Identity", [name], [new]))

    def not_negative(self, name: str) -> str:
        """Where numbers are 0 or more."""
        return self.add("GreaterOrEqual", [name, self.number(0.0)])

    def flat(self, name: str) -> str:
        """The only column as one list."""
        return self.add("Reshape", [name, self.constant([-1])])

    def _as_numbers(self, name: str) -> str:
        return self.add("Cast", [name], to=_DOUBLE)

    def _sum(self, name: str, axis: int = 1) -> str:
        return self.add("ReduceSum", [name, self.constant([axis])], keepdims=1)

    def _gathered(self, name: str, places: Any, axis: int = 1) -> str:
        return self.add("Gather", [name, self.constant(np.array(places, np.int64))], axis=axis)

    # -- nodes ----------------------------------------------------------------------------------------------------

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
        return name if inside is None else self._gathered(name, [inside])

    @singledispatchmethod
    def _made(self, node: Any) -> str:
        raise NotImplementedError(type(node).__name__)

    @_made.register
    def _(self, node: nodes.Numbers) -> str:
        if self.columns[0][1] is not None:
            whole = list(node.places) == list(range(len(self.columns)))
            return "X" if whole else self._gathered("X", node.places)
        return self.add("Concat", [self._column(place) for place in node.places], axis=1)

    @_made.register
    def _(self, node: nodes.Level) -> str:
        column = self._column(node.place)
        if any(isinstance(level, str) for level in node.levels):
            known = {level: place for place, level in enumerate(node.levels) if level is not None}
            known = {"": node.missing, **known}  # a missing word is empty
            keys, values = list(known), list(known.values())
            found = self.add("LabelEncoder", [column], "ai.onnx.ml", keys_strings=keys, values_int64s=values,
                             default_int64=-1)  # fmt: skip
            return self._as_numbers(found)
        levels = np.array([np.nan if level is None else level for level in node.levels], float)
        same = self._as_numbers(self.add("Equal", [column, self.constant(levels[None, :])]))
        place = self.add("MatMul", [same, self.constant(np.arange(1.0, levels.size + 1)[:, None])])
        gone = self.add("Mul", [self._as_numbers(self.add("IsNaN", [column])), self.number(node.missing + 1)])
        return self.add("Sub", [self.add("Add", [place, gone]), self.number(1.0)])

    @_made.register
    def _(self, node: nodes.OneHot) -> str:
        table = np.zeros((node.hot.size + 1, node.width))
        for row, place in enumerate([node.unknown, *node.hot.tolist()]):
            if place == -2:
                table[row] = np.nan
            elif place >= 0:
                table[row, place] = 1.0
        counted = self.add("Cast", [self.add("Add", [self._of(node.source), self.number(1.0)])], to=_INTEGER)
        return self.add("Gather", [self.constant(table), self.flat(counted)], axis=0)

    def _gaps(self, name: str, marker: float) -> str:
        return self.add("IsNaN", [name]) if np.isnan(marker) else self.add("Equal", [name, self.number(marker)])

    @_made.register
    def _(self, node: nodes.Filled) -> str:
        source = self._of(node.source)
        return self.add("Where", [self._gaps(source, node.marker), self.constant(node.values[None, :]), source])

    @_made.register
    def _(self, node: nodes.Gaps) -> str:
        return self._as_numbers(self._gaps(self._gathered(self._of(node.source), node.places), node.marker))

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
        first = self._gathered(self._of(node.source), [0])
        one = self.add("Add", [self.add("Mul", [first, self.number(0.0)]), self.number(1.0)])
        rows = self.add("Concat", [self._of(node.source), one], axis=1)
        out = self._gathered(rows, padded[:, 0])
        for places in padded.T[1:]:
            out = self.add("Mul", [out, self._gathered(rows, places)])
        return out

    @_made.register
    def _(self, node: nodes.Picked) -> str:
        return self._gathered(self._of(node.source), node.places)

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
        steps = self._gathered(self._formula(node.formula), node.column)
        steps = self.add("Mul", [steps, self.constant(node.coefficient[None, :])])
        along = self.add("CumSum", [steps, self.constant(np.int64(1))])
        along = self.add("Add", [along, self.constant(node.bias[None, :])])
        signs = self.add("Where", [self.not_negative(along), self.number(1.0), self.number(-1.0)])
        return self.add("MatMul", [signs, self.constant(node.weight[:, None])])

    @_made.register
    def _(self, node: nodes.PairVotes) -> str:
        # A pair that is won by its second class counts for that, and one less for its first.
        source = self._of(node.source)
        pairs = list(combinations(range(node.classes), 2))
        sides = np.zeros((len(pairs), node.classes))
        for place, (first, second) in enumerate(pairs):
            sides[place, [first, second]] = -1.0, 1.0
        wins = self.add("MatMul", [self._as_numbers(self.not_negative(source)), self.constant(sides)])
        won = self.add("Add", [wins, self.constant((sides < 0).sum(axis=0).astype(float)[None, :])])
        lead = self.add("MatMul", [source, self.constant(sides)])
        size = self.add("Mul", [self.add("Add", [self.add("Abs", [lead]), self.number(1.0)]), self.number(3.0)])
        return self.add("Add", [won, self.add("Div", [lead, size])])

    @_made.register
    def _(self, node: nodes.Sorted) -> str:
        return self.add("TopK", [self._of(node.source), self.constant([node.width])], results=2, axis=1, largest=0)

    # -- formulas -------------------------------------------------------------------------------------------------

    def _formula(self, root: Symbol) -> str:
        """The values of a formula, a column for each support row.

        Runtimes fold a single number beside a matrix product into the product, in single precision. Numbers are
        therefore written once for each support row, and one support row alone is written twice.
        """
        known: dict[int, tuple[str, int]] = {}
        for symbol in symbols_of(root):
            if symbol.operation == "leaf":
                known[id(symbol)] = self._leaf(symbol.arguments[0])
                continue
            parts = [known[id(each)] for each in symbol.arguments if isinstance(each, Symbol)]
            width = max(count for _, count in parts)
            names = iter(parts)
            own = [next(names)[0] if isinstance(each, Symbol) else self.constant(np.full((1, width), each))
                   for each in symbol.arguments]  # fmt: skip
            if symbol.operation == "inverse_length":
                known[id(symbol)] = self._inverse_length(own[0]), width
            else:
                known[id(symbol)] = self.add(_OPERATIONS[symbol.operation], own), width
        name, _ = known[id(root)]
        alone = any(len(leaf.support) == 1 for leaf in leaves_of(root) if isinstance(leaf, Pair))
        return self._gathered(name, [0]) if alone else name

    def _inverse_length(self, squares: str) -> str:
        """1/√square, and 0 where the square is 0."""
        positive = self.add("Greater", [squares, self.number(0.0)])
        lengths = self.add("Sqrt", [self.add("Where", [positive, squares, self.number(1.0)])])
        return self.add("Where", [positive, self.add("Div", [self.number(1.0), lengths]), self.number(0.0)])

    def _leaf(self, leaf: Pair | Own | OfSupport) -> tuple[str, int]:
        """The numbers that a formula begins with, and how many a row has."""
        if isinstance(leaf, OfSupport):
            values = np.resize(leaf.values, max(2, leaf.values.size))
            return self.constant(values[None, :]), values.size
        rows = self._of(leaf.rows)
        if isinstance(leaf, Own):
            return self._sum(self.add("Mul", [rows, rows])), 1
        support = leaf.support if len(leaf.support) > 1 else np.repeat(leaf.support, 2, axis=0)
        return self._statistic(leaf.statistic, rows, support), len(support)

    def _statistic(self, statistic: str, rows: str, support: Array) -> str:
        if statistic == "dot":
            return self.add("MatMul", [rows, self.constant(support.T)])
        if statistic in ("squared_distance", "distance"):
            squares = self._squared_distances(rows, support)
            return squares if statistic == "squared_distance" else self.add("Sqrt", [squares])
        if statistic == "manhattan":
            return self._added_up(rows, support, "Abs")
        equal = self._added_up(rows, support, "equal")
        if statistic == "agreement":
            return self.add("Div", [equal, self.number(support.shape[1])])
        return self._as_numbers(self.add("Equal", [equal, self.number(support.shape[1])]))

    def _squared_distances(self, rows: str, support: Array) -> str:
        """‖x − z‖² = ‖x‖² + ‖z‖² − 2⟨x, z⟩ of rows that are moved to the middle, so that few digits are lost."""
        middle = support.mean(axis=0)
        moved, z = self.add("Sub", [rows, self.constant(middle[None, :])]), support - middle
        dots = self.add("MatMul", [moved, self.constant(-2.0 * z.T)])
        own = self.add("Add", [self._sum(self.add("Mul", [moved, moved])), self.constant((z * z).sum(axis=1)[None, :])])
        return self.add("Max", [self.add("Add", [own, dots]), self.number(0.0)])

    def _added_up(self, rows: str, support: Array, what: str) -> str:
        """Σₖ |xₖ − zₖ|, or how many columns are equal, column after column."""
        from onnx import helper

        nothing = self.add("MatMul", [rows, self.constant(np.zeros(support.T.shape))])
        columns = self.add("Transpose", [rows], perm=[1, 0])
        double, names = _DOUBLE, [self._new() for _ in range(7)]
        before, x, z, upright, apart, value, after = names
        inner = [helper.make_node("Unsqueeze", [x, axis := self._new()], [upright])]
        if what == "equal":
            inner.append(helper.make_node("Equal", [upright, z], [apart]))
            inner.append(helper.make_node("Cast", [apart], [value], to=_DOUBLE))
        else:
            inner.append(helper.make_node("Sub", [upright, z], [apart]))
            inner.append(helper.make_node(what, [apart], [value]))
        inner.append(helper.make_node("Add", [before, value], [after]))
        body = helper.make_graph(
            inner,
            f"{_PREFIX}sum",
            [
                helper.make_tensor_value_info(before, double, [None, len(support)]),
                helper.make_tensor_value_info(x, double, [None]),
                helper.make_tensor_value_info(z, double, [len(support)]),
            ],
            [helper.make_tensor_value_info(after, double, [None, len(support)])],
            [tensor(axis, [1])],
        )
        return self.add("Scan", [nothing, columns, self.constant(support.T)], body=body, num_scan_inputs=2)

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
    def _(self, node: nodes.Softmax) -> str:
        source = self._of(node.source)
        largest = self.add("ReduceMax", [source], axes=[1], keepdims=1)
        powers = self.add("Exp", [self.add("Sub", [source, largest])])
        return self.add("Div", [powers, self._sum(powers)])

    def _below(self, name: str, points: Array, operator: str) -> str:
        """How many points each number is beyond."""
        beyond = self._as_numbers(self.add(operator, [name, self.constant(points[None, :])]))
        return self.add("Cast", [self._sum(beyond)], to=_INTEGER)

    @_made.register
    def _(self, node: nodes.Interpolated) -> str:
        x = self._of(node.source)
        rise, run = np.diff(node.values), np.diff(node.points)
        slopes = np.append(np.divide(rise, run, out=np.zeros_like(rise), where=run > 0), 0.0)
        inside = self.clipped(x, node.points[0], node.points[-1])
        after = self._below(inside, node.points, "GreaterOrEqual")
        place = self.add("Sub", [after, self.constant(np.int64(1))])
        here, value, slope = (
            self.add("Gather", [self.constant(each), place], axis=0) for each in (node.points, node.values, slopes)
        )
        return self.add("Add", [value, self.add("Mul", [slope, self.add("Sub", [inside, here])])])

    @_made.register
    def _(self, node: nodes.Staircase) -> str:
        x = self._of(node.source)
        both = [self._below(x, node.points, operator) for operator in ("Greater", "GreaterOrEqual")]
        return self.add("Gather", [self.constant(node.values), self.add("Add", both)], axis=0)

    @_made.register
    def _(self, node: nodes.ToOne) -> str:
        return self._to_one(self._of(node.source))

    def _to_one(self, name: str) -> str:
        positive = self.add("Max", [name, self.number(float(np.finfo(np.float64).eps))])
        return self.add("Div", [positive, self._sum(positive)])

    @_made.register
    def _(self, node: nodes.Coupled) -> str:
        return self._to_one(self._coupled(self._of(node.source), node.classes))

    def _coupled(self, second: str, k: int) -> str:
        """The p with Σp = 1 that make ½·pᵀQp least, by elimination.

        With the last class written as 1 less the others, p = e + Nq, what is left is NᵀQN·q = −NᵀQe, a positive
        definite system of k − 1 numbers, which elimination solves without exchanging rows.
        """
        share, fixed = np.zeros((k * (k - 1) // 2, k, k)), np.zeros((k, k))
        for column, (i, j) in enumerate(combinations(range(k), 2)):
            share[column, j, i], share[column, i, j], fixed[i, j] = 1.0, -1.0, 1.0
        r = self.add("MatMul", [second, self.constant(share.reshape(-1, k * k))])
        r = self.add("Add", [r, self.constant(fixed.reshape(1, -1))])
        r = self.add("Reshape", [r, self.constant([-1, k, k])])
        off = self.add("Neg", [self.add("Mul", [r, self.add("Transpose", [r], perm=[0, 2, 1])])])
        diagonal = self.add("Mul", [self._sum(self.add("Mul", [r, r])), self.constant(np.eye(k))])
        q = self.add("Add", [off, diagonal])
        most, last = list(range(k - 1)), [k - 1]
        column = self._gathered(q, last, axis=2)
        system = self.add("Sub", [self._gathered(q, most, axis=2), column])  # QN
        system = self.add("Concat", [system, self.add("Neg", [column])], axis=2)
        system = self.add("Sub", [self._gathered(system, most), self._gathered(system, last)])  # Nᵀ(QN | −Qe)
        for step in range(k - 1):
            row = self._gathered(system, [step])
            column = self._gathered(system, [step], axis=2)
            row = self.add("Div", [row, self._gathered(row, [step], axis=2)])
            others = np.ones((k - 1, 1))
            others[step] = 0.0
            others_kept = self.add("Mul", [column, self.constant(others)])
            rest = self.add("Mul", [system, self.constant(others)])
            placed = self.add("Mul", [row, self.constant(1.0 - others)])
            system = self.add("Add", [self.add("Sub", [rest, self.add("Mul", [others_kept, row])]), placed])
        found = self.add("Reshape", [self._gathered(system, [k - 1], axis=2), self.constant([-1, k - 1])])
        rest = self.add("Sub", [self.number(1.0), self._sum(found)])
        return self.add("Concat", [found, rest], axis=1)
