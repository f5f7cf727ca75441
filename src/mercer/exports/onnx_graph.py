"""The nodes of a model as operators of ONNX, in double precision."""

from __future__ import annotations

from functools import singledispatchmethod
from itertools import combinations
from typing import Any

import numpy as np

from ..io import DataError
from ..kernels import Symbol
from ..runtime import Array
from . import computation
from .computation import Node, OfSupport, Own, Pair, leaves_of, nodes_of, symbols_of

# Operators of ONNX, as they are added to a graph, and the constants beside them.


#: The operators in use, by domain: old enough for every runtime, and all of them known in double precision.
OPSETS = {"": 15, "ai.onnx.ml": 2}
#: What ONNX calls types of numbers.
DOUBLE, INTEGER = 11, 7
#: What names that are made up begin with.
_PREFIX = "mercer "


def tensor(name: str, values: Any) -> Any:
    """An array as ONNX has it: whole numbers of 64 bits, doubles, truth values or texts."""
    from onnx import helper, numpy_helper

    array = np.asarray(values)
    if array.dtype.kind in "UO":
        texts: Any = [str(text).encode("utf-8", "surrogatepass") for text in array.ravel().tolist()]
        return helper.make_tensor(name, 8, array.shape, texts)
    kind = {"b": np.bool_, "i": np.int64, "u": np.int64}.get(array.dtype.kind, np.float64)
    return numpy_helper.from_array(np.array(array, dtype=kind), name)


class OnnxOperators:
    """Operators and constants, as they are added."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._count = 0

    @staticmethod
    def owns(name: str) -> bool:
        """Whether a name could be one of those that are made up here."""
        return name.startswith(_PREFIX) or name == "X"

    def new_name(self) -> str:
        self._count += 1
        return f"{_PREFIX}{self._count}"

    def add(self, operator: str, inputs: list[str], domain: str = "", results: int = 1, **attributes: Any) -> str:
        """An operator; gives the name of its first result."""
        from onnx import helper

        names = [self.new_name() for _ in range(results)]
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
        return names[0]

    def constant(self, values: Any) -> str:
        """An array that is part of the model; whole numbers and texts stay such."""
        name = self.new_name()
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

    def unless(self, sound: str, name: str) -> str:
        """The numbers of sound rows, and NaN of others."""
        return self.add("Where", [sound, name, self.number(np.nan)])

    def not_negative(self, name: str) -> str:
        """Where numbers are 0 or more."""
        return self.add("GreaterOrEqual", [name, self.number(0.0)])

    def flat(self, name: str) -> str:
        """The only column as one list."""
        return self.add("Reshape", [name, self.constant([-1])])

    def as_numbers(self, name: str) -> str:
        return self.add("Cast", [name], to=DOUBLE)

    def summed(self, name: str, axis: int = 1) -> str:
        return self.add("ReduceSum", [name, self.constant([axis])], keepdims=1)

    def gathered(self, name: str, places: Any, axis: int = 1) -> str:
        return self.add("Gather", [name, self.constant(np.array(places, np.int64))], axis=axis)


# Formulas of kernels as operators of ONNX, in double precision.


_OPERATIONS = {
    "add": "Add",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "Div",
    "exp": "Exp",
    "log": "Log",
    "power": "Pow",
    "sqrt": "Sqrt",
    "absolute": "Abs",
    "maximum": "Max",
    "minimum": "Min",
}


class OnnxFormulas(OnnxOperators):
    """Operators that compute formulas from rows, whose names are known already."""

    def _of(self, node: Node) -> str:
        """The name of a node's numbers."""
        raise NotImplementedError

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
            elif symbol.operation == "log1p":
                known[id(symbol)] = self._log1p(own[0], width), width
            else:
                known[id(symbol)] = self.add(_OPERATIONS[symbol.operation], own), width
        name, _ = known[id(root)]
        alone = any(len(leaf.support) == 1 for leaf in leaves_of(root) if isinstance(leaf, Pair))
        return self.gathered(name, [0]) if alone else name

    def _inverse_length(self, squares: str) -> str:
        """1/√square, and 0 where the square is 0."""
        positive = self.add("Greater", [squares, self.number(0.0)])
        lengths = self.add("Sqrt", [self.add("Where", [positive, squares, self.number(1.0)])])
        return self.add("Where", [positive, self.add("Div", [self.number(1.0), lengths]), self.number(0.0)])

    def _log1p(self, x: str, width: int) -> str:
        """log(1 + x) with all digits of a small x: log(u)·x/(u − 1) where u = 1 + x is not 1, else x."""
        one = self.constant(np.ones((1, width)))
        u = self.add("Add", [one, x])
        rest = self.add("Sub", [u, one])
        lost = self.add("Equal", [rest, self.number(0.0)])
        safe = self.add("Where", [lost, one, rest])
        return self.add("Where", [lost, x, self.add("Mul", [self.add("Log", [u]), self.add("Div", [x, safe])])])

    def _leaf(self, leaf: Pair | Own | OfSupport) -> tuple[str, int]:
        """The numbers that a formula begins with, and how many a row has."""
        if isinstance(leaf, OfSupport):
            values = np.resize(leaf.values, max(2, leaf.values.size))
            return self.constant(values[None, :]), values.size
        rows = self._of(leaf.rows)
        if isinstance(leaf, Own):
            return self.summed(self.add("Mul", [rows, rows])), 1
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
        return self.as_numbers(self.add("Equal", [equal, self.number(support.shape[1])]))

    def _squared_distances(self, rows: str, support: Array) -> str:
        """‖x − z‖² = ‖x‖² + ‖z‖² − 2⟨x, z⟩ of rows that are moved to the middle, so that few digits are lost."""
        middle = support.mean(axis=0)
        moved, z = self.add("Sub", [rows, self.constant(middle[None, :])]), support - middle
        dots = self.add("MatMul", [moved, self.constant(-2.0 * z.T)])
        own = self.add(
            "Add", [self.summed(self.add("Mul", [moved, moved])), self.constant((z * z).sum(axis=1)[None, :])]
        )
        return self.add("Max", [self.add("Add", [own, dots]), self.number(0.0)])

    def _added_up(self, rows: str, support: Array, what: str) -> str:
        """Σₖ |xₖ − zₖ|, or how many columns are equal, column after column."""
        from onnx import helper

        nothing = self.add("MatMul", [rows, self.constant(np.zeros(support.T.shape))])
        columns = self.add("Transpose", [rows], perm=[1, 0])
        double, names = DOUBLE, [self.new_name() for _ in range(7)]
        before, x, z, upright, apart, value, after = names
        inner = [helper.make_node("Unsqueeze", [x, axis := self.new_name()], [upright])]
        if what == "equal":
            inner.append(helper.make_node("Equal", [upright, z], [apart]))
            inner.append(helper.make_node("Cast", [apart], [value], to=DOUBLE))
        else:
            inner.append(helper.make_node("Sub", [upright, z], [apart]))
            inner.append(helper.make_node(what, [apart], [value]))
        inner.append(helper.make_node("Add", [before, value], [after]))
        body = helper.make_graph(
            inner,
            "sum of columns",
            [
                helper.make_tensor_value_info(before, double, [None, len(support)]),
                helper.make_tensor_value_info(x, double, [None]),
                helper.make_tensor_value_info(z, double, [len(support)]),
            ],
            [helper.make_tensor_value_info(after, double, [None, len(support)])],
            [tensor(axis, [1])],
        )
        return self.add("Scan", [nothing, columns, self.constant(support.T)], body=body, num_scan_inputs=2)


# Probabilities of classes as operators of ONNX.


def shares_of_sum(graph: OnnxOperators, name: str) -> str:
    """Positive numbers in shares of their sum."""
    positive = graph.add("Max", [name, graph.number(float(np.finfo(np.float64).eps))])
    return graph.add("Div", [positive, graph.summed(positive)])


def coupled_classes(graph: OnnxOperators, second: str, k: int) -> str:
    """The p with Σp = 1 that make ½·pᵀQp least, by elimination.

    With the last class written as 1 less the others, p = e + Nq, what is left is NᵀQN·q = −NᵀQe, a positive
    definite system of k − 1 numbers, which elimination solves without exchanging rows.
    """
    share, fixed = np.zeros((k * (k - 1) // 2, k, k)), np.zeros((k, k))
    for pair, (i, j) in enumerate(combinations(range(k), 2)):
        share[pair, j, i], share[pair, i, j], fixed[i, j] = 1.0, -1.0, 1.0
    r = graph.add("MatMul", [second, graph.constant(share.reshape(-1, k * k))])
    r = graph.add("Add", [r, graph.constant(fixed.reshape(1, -1))])
    r = graph.add("Reshape", [r, graph.constant([-1, k, k])])
    off = graph.add("Neg", [graph.add("Mul", [r, graph.add("Transpose", [r], perm=[0, 2, 1])])])
    diagonal = graph.add("Mul", [graph.summed(graph.add("Mul", [r, r])), graph.constant(np.eye(k))])
    q = graph.add("Add", [off, diagonal])
    most, last = list(range(k - 1)), [k - 1]
    column = graph.gathered(q, last, axis=2)
    system = graph.add("Sub", [graph.gathered(q, most, axis=2), column])  # QN
    system = graph.add("Concat", [system, graph.add("Neg", [column])], axis=2)
    system = graph.add("Sub", [graph.gathered(system, most), graph.gathered(system, last)])  # Nᵀ(QN | −Qe)
    for step in range(k - 1):
        row = graph.gathered(system, [step])
        column = graph.gathered(system, [step], axis=2)
        row = graph.add("Div", [row, graph.gathered(row, [step], axis=2)])
        others = np.ones((k - 1, 1))
        others[step] = 0.0
        others_kept = graph.add("Mul", [column, graph.constant(others)])
        rest = graph.add("Mul", [system, graph.constant(others)])
        placed = graph.add("Mul", [row, graph.constant(1.0 - others)])
        system = graph.add("Add", [graph.add("Sub", [rest, graph.add("Mul", [others_kept, row])]), placed])
    found = graph.add("Reshape", [graph.gathered(system, [k - 1], axis=2), graph.constant([-1, k - 1])])
    rest = graph.add("Sub", [graph.number(1.0), graph.summed(found)])
    return shares_of_sum(graph, graph.add("Concat", [found, rest], axis=1))


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
    def _(self, node: computation.Numbers) -> str:
        if self.columns[0][1] is not None:
            whole = list(node.places) == list(range(len(self.columns)))
            return "X" if whole else self.gathered("X", node.places)
        return self.add("Concat", [self._column(place) for place in node.places], axis=1)

    @_made.register
    def _(self, node: computation.Level) -> str:
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
    def _(self, node: computation.OneHot) -> str:
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
    def _(self, node: computation.Filled) -> str:
        source = self._of(node.source)
        return self.add("Where", [self._gaps(source, node.marker), self.constant(node.values[None, :]), source])

    @_made.register
    def _(self, node: computation.Gaps) -> str:
        return self.as_numbers(self._gaps(self.gathered(self._of(node.source), node.places), node.marker))

    @_made.register
    def _(self, node: computation.Scaled) -> str:
        moved = self.add("Sub", [self._of(node.source), self.constant(node.minus[None, :])])
        return self.add("Add", [self.add("Mul", [moved, self.constant(node.times[None, :])]),
                                self.constant(node.plus[None, :])])  # fmt: skip

    @_made.register
    def _(self, node: computation.Clipped) -> str:
        return self.clipped(self._of(node.source), node.low, node.high)

    @_made.register
    def _(self, node: computation.Monomials) -> str:
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
    def _(self, node: computation.Picked) -> str:
        return self.gathered(self._of(node.source), node.places)

    @_made.register
    def _(self, node: computation.Beside) -> str:
        return self.add("Concat", [self._of(part) for part in node.parts if part.width], axis=1)

    @_made.register
    def _(self, node: computation.Ones) -> str:
        number = next((place for place, (_, inside) in enumerate(self.columns) if inside is not None), None)
        column = self._column(0 if number is None else number)
        shape = self.add("Shape", [column])
        from onnx import numpy_helper

        return self.add("ConstantOfShape", [shape], value=numpy_helper.from_array(np.array([1.0])))

    @_made.register
    def _(self, node: computation.Linear) -> str:
        product = self.add("MatMul", [self._of(node.source), self.constant(node.matrix)])
        return self.add("Add", [product, self.constant(node.plus[None, :])])

    @_made.register
    def _(self, node: computation.KernelSum) -> str:
        product = self.add("MatMul", [self._formula(node.formula), self.constant(node.coef)])
        return self.add("Add", [product, self.constant(node.plus[None, :])])

    @_made.register
    def _(self, node: computation.OwnSimilarity) -> str:
        return self._formula(node.formula)

    @_made.register
    def _(self, node: computation.PathVote) -> str:
        steps = self.gathered(self._formula(node.formula), node.column)
        steps = self.add("Mul", [steps, self.constant(node.coefficient[None, :])])
        along = self.add("CumSum", [steps, self.constant(np.int64(1))])
        along = self.add("Add", [along, self.constant(node.bias[None, :])])
        signs = self.add("Where", [self.not_negative(along), self.number(1.0), self.number(-1.0)])
        signs = self._unless_nan(along, signs)
        return self.add("MatMul", [signs, self.constant(node.weight[:, None])])

    @_made.register
    def _(self, node: computation.PairVotes) -> str:
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
    def _(self, node: computation.Sorted) -> str:
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
    def _(self, node: computation.Logistic) -> str:
        slope, level = (self.constant(each[None, :]) for each in (node.slope, node.level))
        value = self.add("Add", [self.add("Mul", [self._of(node.source), slope]), level])
        # exp(−x) overflows to infinity where the result is 0 anyway
        powers = self.add("Exp", [self.add("Neg", [value])])
        found = self.add("Div", [self.number(1.0), self.add("Add", [powers, self.number(1.0)])])
        return self.clipped(found, node.bound, 1.0 - node.bound)

    @_made.register
    def _(self, node: computation.Logarithms) -> str:
        return self.add("Log", [self._of(node.source)])

    @_made.register
    def _(self, node: computation.Exponentials) -> str:
        return self.add("Exp", [self._of(node.source)])

    @_made.register
    def _(self, node: computation.Softmax) -> str:
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
    def _(self, node: computation.Interpolated) -> str:
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
    def _(self, node: computation.Staircase) -> str:
        x = self._of(node.source)
        both = [self._below(x, node.points, operator) for operator in ("Greater", "GreaterOrEqual")]
        return self._unless_nan(x, self.add("Gather", [self.constant(node.values), self.add("Add", both)], axis=0))

    @_made.register
    def _(self, node: computation.ToOne) -> str:
        return shares_of_sum(self, self._of(node.source))

    @_made.register
    def _(self, node: computation.Coupled) -> str:
        return coupled_classes(self, self._of(node.source), node.classes)
