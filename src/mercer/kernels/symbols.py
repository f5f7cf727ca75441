"""Numbers that are not known yet: what a kernel's formula does to them is written down instead of computed.

A kernel's ``evaluate``, which asks its ``apply``, is a formula in NumPy: sums, products, ``np.exp``. Given a
:class:`Symbol` in the place of an array it returns a symbol that knows how it came about, from which code for another
machine is written. So there is one formula for each kernel, and none that is for a graphics card or for exported code
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

__all__ = ["Symbol", "Untraceable", "traced"]

#: What NumPy calls the operations that code can be written for, and how many numbers each takes.
_KNOWN = {
    "absolute": 1, "add": 2, "divide": 2, "exp": 1, "log": 1, "log1p": 1, "maximum": 2, "minimum": 2,
    "multiply": 2, "negative": 1, "power": 2, "reciprocal": 1, "sqrt": 1, "square": 1, "subtract": 2, "tanh": 1,
}  # fmt: skip
#: Whole powers beyond this are not written out as products.
_HIGHEST = 100


class Untraceable(ValueError):
    """A formula that no code can be written for."""


def traced(formula: Callable[[Any], Any], start: Any) -> Any:
    """What a formula makes of something that stands for numbers; :class:`Untraceable` where it needs them themselves.

    Examples
    --------
    >>> traced(lambda x: x * x + 1, Symbol("leaf", "x"))
    ((x * x) + 1.0)
    """
    try:
        return formula(start)
    except Untraceable:
        raise
    except Exception as error:  # whatever a function makes of a number that is not known
        said = " ".join(str(error).split())[:80]
        raise Untraceable(f"its formula does what no code can be written for ({said})") from None


class Symbol(NDArrayOperatorsMixin):
    """A number of each pair of items, known by how it is computed.

    Parameters
    ----------
    operation : str
        NumPy's name of an operation; "leaf" for what formulas begin with.
    arguments : Symbol, float or anything that names a leaf

    Examples
    --------
    >>> import numpy as np
    >>> x = Symbol("leaf", "x")
    >>> (1 + x) * np.exp(-x)
    ((1.0 + x) * exp((-1.0 * x)))
    """

    dtype = np.dtype(np.float64)

    def __init__(self, operation: str, *arguments: Any) -> None:
        self.operation, self.arguments = operation, arguments

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Symbol:
        name = ufunc.__name__
        if method != "__call__" or _KNOWN.get(name) != len(inputs):
            raise Untraceable(f"its formula uses {name}, which no code can be written for")
        return _made(name, *(each if isinstance(each, Symbol) else _constant(each) for each in inputs))

    # What kernels do to arrays besides arithmetic makes no difference to a number that is not known.

    def copy(self) -> Symbol:
        return self

    def astype(self, *_: Any, **__: Any) -> Symbol:
        return self

    def __getitem__(self, _: Any) -> Symbol:
        return self

    def __repr__(self) -> str:
        one = [repr(each) for each in self.arguments]
        if self.operation == "leaf":
            return str(self.arguments[0])
        if self.operation in _SIGNS:
            return f"({one[0]} {_SIGNS[self.operation]} {one[1]})"
        return f"{self.operation}({', '.join(one)})"


_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}


def _constant(value: Any) -> float:
    if np.ndim(value):
        raise Untraceable("its formula uses an array that is not a number for each item")
    return float(value)


def _made(name: str, *arguments: Any) -> Symbol:
    """The symbol of an operation, in the fewest kinds of them: factors are collected, so that they can be folded."""
    if name == "negative":
        return _made("multiply", -1.0, *arguments)
    if name == "square":
        return _made("multiply", arguments[0], arguments[0])
    if name == "reciprocal":
        return _made("divide", 1.0, *arguments)
    if name == "divide" and isinstance(arguments[1], float):
        return _made("multiply", 1.0 / arguments[1], arguments[0])
    if name == "power":
        return _power(*arguments)
    if name == "tanh":  # 1 − 2/(e²ˣ + 1), for any x
        return 1.0 - 2.0 / (np.exp(2.0 * arguments[0]) + 1.0)
    if name == "multiply":
        one, other = arguments
        if isinstance(other, float):
            one, other = other, one
        if isinstance(one, float):
            if one == 1.0:
                return other
            if other.operation == "multiply" and isinstance(other.arguments[0], float):
                return _made("multiply", one * other.arguments[0], other.arguments[1])
        return Symbol("multiply", one, other)
    return Symbol(name, *arguments)


def _power(base: Any, exponent: Any) -> Symbol:
    """Whole powers as products; others as they are, of numbers that must not be negative."""
    if isinstance(base, float) or not isinstance(exponent, float) or not np.isfinite(exponent):
        raise Untraceable("its formula has a power whose exponent is not a finite number")
    if exponent < 0:
        return _made("divide", 1.0, _power(base, -exponent))
    if exponent == 0:
        return base * 0.0 + 1.0
    if exponent == 0.5:
        return Symbol("sqrt", base)
    if exponent != int(exponent) or exponent > _HIGHEST:
        return Symbol("power", base, exponent)
    half = _power(base, float(exponent // 2)) if exponent > 1 else None
    if half is None:
        return base
    square = Symbol("multiply", half, half)
    return Symbol("multiply", square, base) if exponent % 2 else square


def walked(root: Symbol, visit: Callable[[Symbol], None]) -> None:
    """Visit every symbol that a symbol is computed from, each once and after its own arguments."""
    seen: set[int] = set()

    def go(symbol: Any) -> None:
        if isinstance(symbol, Symbol) and id(symbol) not in seen:
            seen.add(id(symbol))
            if symbol.operation != "leaf":
                for argument in symbol.arguments:
                    go(argument)
            visit(symbol)

    go(root)
