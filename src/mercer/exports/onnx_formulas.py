"""Formulas of kernels as operators of ONNX, in double precision."""

from __future__ import annotations

import numpy as np

from .._runtime.compile import Array
from ..kernels.symbols import Symbol
from .computation import Node, OfSupport, Own, Pair, leaves_of, symbols_of
from .onnx_operators import DOUBLE, OnnxOperators, tensor

__all__ = ["OnnxFormulas"]

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
