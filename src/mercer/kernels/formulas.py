"""Kernels that are formulas, computed block by block in the cache: a short program for a loop that is compiled once.

A kernel that is a function of one statistic is asked for its formula (:mod:`mercer.kernels.formulas`), as exports and
graphics cards do. Written as steps, each a number for an operation and the places of its two arguments, the formula
becomes parameters of a loop that has been compiled already: nothing is compiled for a new kernel, and a step over a row
of a block takes little longer than code made for it alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import carray
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..runtime.compile import Array, jit
from ..runtime.loops import Blockwise
from ..runtime.numerics import WIDTH, exponential
from .engine.statistics import DOT, SQUARED_DISTANCE

if TYPE_CHECKING:
    from .base import Kernel

__all__ = ["Symbol", "Untraceable", "formula_of_dots", "function_of_dots", "traced"]

# Numbers that are not known yet: what a kernel's formula does to them is written down instead of computed.
#
# A kernel's ``evaluate``, which asks its ``apply``, is a formula in NumPy: sums, products, ``np.exp``. Given a
# :class:`Symbol` in the place of an array it returns a symbol that knows how it came about, from which code for another
# machine is written. So there is one formula for each kernel, and none that is for a graphics card or for exported code
# alone.


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

    #: Of numbers that are not known any number, or symbol of one, has the type.
    dtype = SimpleNamespace(type=lambda number: number)

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


#: What a kernel's values come from where nobody sums them up.
_VALUES = ("evaluate", "apply", "statistic")
_CONSTANT = 0
#: Operations by NumPy's names, in the order of their numbers, from 1 on.
_OPERATIONS = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "exp", "log", "log1p", "sqrt", "absolute",
)  # fmt: skip
#: Steps at most: what they make of a row stays in the nearest cache.
_LONGEST = 24
#: Statistics on which a formula is compared with the kernel's own values, the second of them hardly more than zero.
_TRIED = np.array([0.0, 1e-14, 0.01, 0.3, 1.0, 2.5, 10.0])
#: How much a kernel may change between the first two: as much as rounding leaves of the distance of a row from itself.
_STEEP = 1e-10


def function_of_dots(kernel: Kernel) -> tuple[Blockwise, Sequence[float]] | None:
    """The function of dot products that the kernel brings along, or that its formula gives."""
    return kernel.of_dots if _speaks_for_itself(kernel) and kernel.of_dots is not None else formula_of_dots(kernel)


def _speaks_for_itself(kernel: Kernel) -> bool:
    """Whether the function of dot products is that of the kernel's own class, and not of one that it is derived from
    and whose values it has replaced; nor that of its class, where it has values of its own."""
    kind: Any = type(kernel)
    return _values_are_its_own(kind) and vars(kernel).keys().isdisjoint(_VALUES)


@cache
def _values_are_its_own(kind: type[Kernel]) -> bool:
    lines = kind.__mro__
    owners = {name: next((line for line in lines if name in vars(line)), object) for name in ("of_dots", *_VALUES)}
    return all(issubclass(owners["of_dots"], owners[name]) for name in _VALUES)


def formula_of_dots(kernel: Kernel) -> tuple[Blockwise, Sequence[float]] | None:
    """The kernel as a function of ⟨x, z⟩, ‖x‖² and ‖z‖² with its parameters, as :attr:`Kernel.of_dots` has it.

    ``None`` for kernels that are no formulas of one dot product or squared distance, and for those whose slope at zero
    is infinite, as that of exp(−√t): they need distances that are more exact than lengths and dot products give.
    """
    from .base import OfStatistic

    own = isinstance(kernel, OfStatistic) and type(kernel).evaluate is OfStatistic.evaluate
    if not own or not {"evaluate", "apply", "statistic"}.isdisjoint(vars(kernel)) or not kernel.is_resolved:
        return None
    assert isinstance(kernel, OfStatistic)
    if kernel.statistic not in (DOT, SQUARED_DISTANCE):
        return None
    try:
        found: Any = traced(kernel.apply, Symbol("leaf", "t"))
    except Untraceable:
        return None
    steps = _steps(found) if isinstance(found, Symbol) else None
    if steps is None or not _agrees(kernel, found):
        return None
    apart = float(kernel.statistic is SQUARED_DISTANCE)
    return _computed, (apart, len(steps), *(part for step in steps for part in step))


def _steps(root: Symbol) -> list[tuple[float, float, float]] | None:
    """The formula as operations with the places of their arguments; the statistic is in place 0, step s in s + 1."""
    steps: list[tuple[float, float, float]] = []
    places: dict[int, int] = {}

    def place(argument: Any) -> int:
        if isinstance(argument, Symbol):
            return places[id(argument)]
        steps.append((_CONSTANT, float(argument), 0.0))
        return len(steps)

    def write(symbol: Symbol) -> None:
        if symbol.operation == "leaf":
            places[id(symbol)] = 0
            return
        arguments = [place(argument) for argument in symbol.arguments]
        steps.append((1 + _OPERATIONS.index(symbol.operation), arguments[0], arguments[-1]))
        places[id(symbol)] = len(steps)

    walked(root, write)
    return steps if len(steps) <= _LONGEST else None


def _agrees(kernel: Any, formula: Symbol) -> bool:
    """Whether the formula says what the kernel does; of a distance, with a slope at zero that is not too steep."""
    apart = kernel.statistic is SQUARED_DISTANCE
    tried = _TRIED if apart else np.concatenate([_TRIED, -_TRIED])

    def value(symbol: Any) -> Any:
        if not isinstance(symbol, Symbol):
            return symbol
        if symbol.operation == "leaf":
            return tried
        return getattr(np, symbol.operation)(*map(value, symbol.arguments))

    with np.errstate(all="ignore"):
        said, meant = np.broadcast_to(value(formula), tried.shape), np.asarray(kernel.apply(tried.copy()))
    rounding = 1e-13 * float(np.abs(meant[np.isfinite(meant)]).max(initial=0.0))
    same = meant.shape == tried.shape and np.allclose(said, meant, rtol=1e-12, atol=rounding, equal_nan=True)
    return bool(same and (not apart or abs(meant[1] - meant[0]) <= _STEEP * max(1.0, abs(meant[0]))))


@Blockwise
def _computed(dots: Any, rows: int, left: Array, right: Array, parameters: Array) -> None:
    """Run the steps over each row of a block."""
    values = carray(dots, (rows, WIDTH))
    apart, steps = parameters[0] > 0, int(parameters[1])
    places = np.empty((steps + 1, WIDTH), values.dtype)
    for s in range(steps):
        if int(parameters[2 + 3 * s]) == _CONSTANT:
            for j in range(WIDTH):
                places[s + 1, j] = parameters[3 + 3 * s]
    for i in range(rows):
        for j in range(WIDTH):
            squared = (left[i] - (values[i, j] + values[i, j])) + right[j]
            places[0, j] = values[i, j] if not apart else values.dtype.type(0) if squared < 0 else squared
        for s in range(steps):
            operation = int(parameters[2 + 3 * s])
            if operation != _CONSTANT:
                _step(operation, places, int(parameters[3 + 3 * s]), int(parameters[4 + 3 * s]), s + 1)
        for j in range(WIDTH):
            values[i, j] = places[steps, j]


@jit
def _step(operation: int, places: Array, a: int, b: int, out: int) -> None:
    """One operation on the numbers in places a and b."""
    x, y, z = places[a], places[b], places[out]
    if operation == 1:
        for j in range(WIDTH):
            z[j] = x[j] + y[j]
    elif operation == 2:
        for j in range(WIDTH):
            z[j] = x[j] - y[j]
    elif operation == 3:
        for j in range(WIDTH):
            z[j] = x[j] * y[j]
    elif operation == 4:
        for j in range(WIDTH):
            z[j] = x[j] / y[j]
    elif operation == 5:
        for j in range(WIDTH):
            z[j] = max(x[j], y[j])
    elif operation == 6:
        for j in range(WIDTH):
            z[j] = min(x[j], y[j])
    elif operation == 7:
        for j in range(WIDTH):
            z[j] = x[j] ** y[j]
    elif operation == 8:
        falling = True
        for j in range(WIDTH):
            falling &= x[j] <= 0
        if falling:
            for j in range(WIDTH):
                z[j] = exponential(x[j])
        else:
            for j in range(WIDTH):
                z[j] = np.exp(x[j])
    elif operation == 9:
        for j in range(WIDTH):
            z[j] = np.log(x[j])
    elif operation == 10:
        for j in range(WIDTH):
            z[j] = np.log1p(x[j])
    elif operation == 11:
        for j in range(WIDTH):
            z[j] = np.sqrt(x[j])
    else:
        for j in range(WIDTH):
            z[j] = abs(x[j])
