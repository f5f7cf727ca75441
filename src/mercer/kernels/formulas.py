"""Kernels that are formulas, computed block by block in the cache: a short program for a loop that is compiled once.

A kernel that is a function of one statistic is asked for its formula (:mod:`mercer.kernels.symbols`), as exports and
graphics cards do. Written as steps, each a number for an operation and the places of its two arguments, the formula
becomes parameters of a loop that has been compiled already: nothing is compiled for a new kernel, and a step over a row
of a block takes little longer than code made for it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import carray

from .._runtime.blockwise import Blockwise
from .._runtime.compile import Array, jit
from .._runtime.exp import exponential
from .._runtime.register_tiles import WIDTH
from .engine.statistics import DOT, SQUARED_DISTANCE
from .symbols import Symbol, Untraceable, traced, walked

if TYPE_CHECKING:
    from .base import Kernel

__all__ = ["formula_of_dots", "function_of_dots"]

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
    lines = type(kernel).__mro__
    owners = {name: next((line for line in lines if name in vars(line)), object) for name in ("of_dots", *_VALUES)}
    return all(issubclass(owners["of_dots"], owners[name]) and name not in vars(kernel) for name in _VALUES)


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
