"""Operators of ONNX, as they are added to a graph, and the constants beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["DOUBLE", "INTEGER", "OPSETS", "OnnxOperators", "tensor"]

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
