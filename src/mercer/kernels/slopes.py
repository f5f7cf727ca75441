"""How kernels change with their numbers: derivatives of formulas, and of whole expressions, backwards.

What descends on a function J of a kernel matrix knows the weight Vᵢⱼ = ∂J/∂Kᵢⱼ of every entry, and wants

    ∂J/∂p = Σᵢⱼ Vᵢⱼ·∂k(xᵢ, zⱼ)/∂p        for every parameter p of the expression.

V is passed back through the expression, tile by tile. A sum hands V to both of its parts; a product k₁·k₂ hands V∘K₂ to
k₁; a kernel f(t) of a statistic adds Σ V∘∂f/∂p to its own parameters and hands V∘f′(t) to the statistic, which hands it
to the rows. So of k(w∘x, w∘z) all weights of columns are served by one product of a matrix with the rows: with
T = V∘f′(t) and t = ‖x − z‖², the rows get 2·(diag(T·1)·X − T·Z).

The derivative of f is that of its formula: the kernel's own ``apply``, traced with a symbol in the place of each number
(:mod:`mercer.kernels.formulas`). A kernel without such a formula, such as one of strings, is differentiated by the
difference of two of its matrices, whose relative error is about 1e-10 where the kernel is smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, singledispatch
from typing import Any

import numpy as np
from scipy import sparse

from ..runtime.compile import Array, jit
from ..runtime.interrupts import check_interrupt
from ..runtime.threads import for_each, one_blas_thread
from .algebra import Normalised, Power, Product, Scaled, Sum
from .base import Kernel, OfStatistic
from .columns import OnColumns, ScaledColumns
from .engine.statistics import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE
from .engine.tiles import Pairing, Tile, place_count
from .formulas import Symbol, Untraceable, traced, walked
from .mixture import Mixture
from .parameters import STEP, Parameter, parameters_of, steps_of, with_value
from .vectors import Periodic

__all__ = ["entry_slopes", "own_slopes"]

#: Items whose self-similarities are differentiated together.
_STRIP = 32

#: What passes the weights of a tile's values back to parameters and rows.
Back = Callable[[Array, "Sums"], None]


@dataclass
class Sums:
    """Σ V∘∂K/∂p for the parameters p of an expression, seen from one of its parts.

    ``rows``, where somebody asks for it, has the same sums for the rows on either side of a tile.
    """

    rows: tuple[Array, Array] | None = None
    found: dict[str, Any] = field(default_factory=dict)
    prefix: str = ""

    def add(self, name: str, value: Any) -> None:
        self.found[self.prefix + name] = self.found.get(self.prefix + name, 0.0) + value

    def of(self, part: str, rows: tuple[Array, Array] | None = None) -> Sums:
        """The sums of a part with this name; for rows of its own, where it does not see the same."""
        return Sums(self.rows if rows is None else rows, self.found, f"{self.prefix}{part}__")


def entry_slopes(
    kernel: Kernel, A: Any, B: Any, V: Callable[[Any, Any], Array], symmetric: bool = False
) -> dict[str, Any]:
    """Σ V∘∂k(A, B)/∂p for every parameter that a kernel changes smoothly with, by its name.

    Parameters
    ----------
    kernel : Kernel
        With every parameter a number.
    A, B : items
        That have passed :meth:`Kernel.items`.
    V : callable
        ``V(i, j)`` gives the weights of the rows i and columns j, both slices or arrays of places.
    symmetric : bool
        Whether V is symmetric, of items with themselves: half of the tiles are then enough.

    Returns
    -------
    dict

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> x = np.array([[0.0], [1.0]])
    >>> found = entry_slopes(3.0 * Gaussian(gamma=0.5), x, x, lambda i, j: np.ones((2, 2))[i][:, j])
    >>> {name: round(float(value), 4) for name, value in found.items()}
    {'scale': 3.2131, 'kernel__gamma': -3.6392}
    """
    pairing = Pairing(kernel, A, B, np.dtype(np.float64))
    rows, columns = pairing.cut()
    tiles = []
    for top, i in _placed(rows):
        for left, j in _placed(columns):
            if not symmetric or left + place_count(j) > top:
                tiles.append((top, left, i, j))
    if not tiles:
        return {}
    found: list[dict[str, Any]] = [{} for _ in tiles]
    if kernel.splits:
        pairing.warm()
        differentiated(kernel, pairing.tile(slice(0, 1), slice(0, 1)))[1](np.zeros((1, 1)), Sums())

    def add(number: int) -> None:
        top, left, i, j = tiles[number]
        _, back = differentiated(kernel, pairing.tile(i, j))
        weights = np.array(V(i, j), dtype=np.float64)
        if symmetric:  # each pair once: those above the diagonal stand for those below
            place = np.arange(top, top + len(weights))[:, None] - np.arange(left, left + weights.shape[1])
            weights *= np.where(place < 0, 2.0, place == 0)
        back(weights, Sums(found=found[number]))

    with one_blas_thread():
        for_each(add, range(len(tiles)), threads=None if kernel.splits else 1)
    return {name: sum(each[name] for each in found) for name in found[0]}


def own_slopes(kernel: Kernel, A: Any, weights: Array) -> dict[str, Any]:
    """Σ wᵢ·∂k(xᵢ, xᵢ)/∂p for every parameter that a kernel changes smoothly with, by its name.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> {name: float(value) for name, value in own_slopes(3.0 * Gaussian(1.0), np.eye(2), np.ones(2)).items()}
    {'scale': 2.0, 'kernel__gamma': 0.0}
    """
    pairing, sums = Pairing(kernel, A, A, np.dtype(np.float64)), Sums()
    for strip in _strips(weights.size):
        check_interrupt()
        differentiated(kernel, pairing.tile(strip, strip))[1](np.diag(weights[strip]), sums)
    return sums.found


def _placed(pieces: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    begin = 0
    for piece in pieces:
        yield begin, piece
        begin += place_count(piece)


# -- one kernel after the other: its values, and the way back -----------------------------------------------------


@singledispatch
def differentiated(kernel: Kernel, tile: Tile) -> tuple[Array, Back]:
    """The values of a tile, and what passes weights of these values back; here by differences.

    The values belong to the way back, and are not to be written over.
    """
    return _by_two_matrices(kernel, tile)


def _by_two_matrices(kernel: Kernel, tile: Tile) -> tuple[Array, Back]:
    values = kernel.evaluate(tile)
    tried = [(parameter, steps_of(parameter)) for parameter in parameters_of(kernel)]

    def back(V: Array, sums: Sums) -> None:
        for parameter, steps in tried:
            slopes = np.zeros(parameter.value.size)
            for place, (low, high) in enumerate(steps):
                below, above = (
                    _other(tile, kernel, with_value(kernel, parameter, place, end), (parameter.name, place, end))
                    for end in (low, high)
                )
                slopes[place] = np.sum(V * (above - below)) / (high - low)
            sums.add(parameter.name, slopes.reshape(parameter.value.shape))

    return values, back


def _other(tile: Tile, kernel: Kernel, changed: Kernel, key: Any) -> Array:
    """The values of a tile for the same kernel with other parameters."""
    pairing = tile.pairing
    known = pairing.once((id(kernel), *key), lambda: Pairing(changed, pairing.A, pairing.B, pairing.dtype))
    return changed.evaluate(known.tile(tile.i, tile.j))


@differentiated.register
def _(kernel: Sum, tile: Tile) -> tuple[Array, Back]:
    left, by_left = differentiated(kernel.left, tile.part(0, kernel.left))
    right, by_right = differentiated(kernel.right, tile.part(1, kernel.right))

    def back(V: Array, sums: Sums) -> None:
        by_left(V, sums.of("left"))
        by_right(V, sums.of("right"))

    return left + right, back


@differentiated.register
def _(kernel: Product, tile: Tile) -> tuple[Array, Back]:
    left, by_left = differentiated(kernel.left, tile.part(0, kernel.left))
    right, by_right = differentiated(kernel.right, tile.part(1, kernel.right))

    def back(V: Array, sums: Sums) -> None:
        by_left(V * right, sums.of("left"))
        by_right(V * left, sums.of("right"))

    return left * right, back


@differentiated.register
def _(kernel: Scaled, tile: Tile) -> tuple[Array, Back]:
    values, inner = differentiated(kernel.kernel, tile)

    def back(V: Array, sums: Sums) -> None:
        sums.add("scale", np.vdot(V, values))
        inner(kernel.scale * V, sums.of("kernel"))

    return kernel.scale * values, back


@differentiated.register
def _(kernel: Power, tile: Tile) -> tuple[Array, Back]:
    values, inner = differentiated(kernel.kernel, tile)
    exponent = int(kernel.exponent)
    return values**exponent, lambda V, sums: inner(V * (exponent * values ** (exponent - 1)), sums.of("kernel"))


@differentiated.register
def _(kernel: Mixture, tile: Tile) -> tuple[Array, Back]:
    several, factors, own = len(kernel.kernels) > 1, kernel.factors, kernel.weights is not None
    parts = [differentiated(each, tile.part(place, each) if several else tile)
             for place, each in enumerate(kernel.kernels)]  # fmt: skip

    def back(V: Array, sums: Sums) -> None:
        for place, (_, inner) in enumerate(parts):
            inner(factors[place] * V, sums.of(str(place)))
        if own:
            scales = kernel.inverse_scales
            sums.add(
                "weights", np.array([s * np.vdot(V, values) for s, (values, _) in zip(scales, parts, strict=True)])
            )

    return sum(factor * values for factor, (values, _) in zip(factors, parts, strict=True)), back


@differentiated.register
def _(kernel: Normalised, tile: Tile) -> tuple[Array, Back]:
    """K̂ = K∘lrᵀ with l = 1/√k(x, x): a weight V of K̂ weighs k(x, x) by −½·Σⱼ (V∘K̂)ᵢⱼ/k(xᵢ, xᵢ), likewise of z."""
    values, inner = differentiated(kernel.kernel, tile)
    left, right = tile.of_items(id(kernel), kernel._inverse_lengths)
    scales = left[:, None] * right
    normalised = values * scales

    def back(V: Array, sums: Sums) -> None:
        part = sums if "kernel" in vars(type(kernel)) else sums.of("kernel")
        inner(V * scales, part)
        weighed = V * normalised
        _back_to_own(kernel.kernel, tile, 0, -0.5 * np.square(left) * weighed.sum(axis=1), part)
        _back_to_own(kernel.kernel, tile, 1, -0.5 * np.square(right) * weighed.sum(axis=0), part)

    return normalised, back


def _back_to_own(kernel: Kernel, tile: Tile, side: int, weights: Array, sums: Sums) -> None:
    """Pass back weights of k(x, x) for the items x on one side of a tile."""
    items = (tile.left, tile.right)[side]
    pairing = Pairing(kernel, items, items, tile.pairing.dtype)
    for strip in _strips(weights.size):
        rows = None
        if sums.rows is not None:
            mine = sums.rows[side][strip]
            rows = mine, mine  # both sides of a pair are one item, and so are their sums
        _, back = differentiated(kernel, pairing.tile(strip, strip))
        back(np.diag(weights[strip]), Sums(rows, sums.found, sums.prefix))


def _strips(n: int) -> list[slice]:
    """Small tiles on the diagonal hold all self-similarities."""
    return [slice(begin, min(begin + _STRIP, n)) for begin in range(0, n, _STRIP)]


@differentiated.register
def _(kernel: OnColumns, tile: Tile) -> tuple[Array, Back]:
    values, inner = differentiated(kernel.kernel, tile.part(0, kernel.kernel))
    return values, lambda V, sums: inner(V, sums.of("kernel"))


@differentiated.register
def _(kernel: ScaledColumns, tile: Tile) -> tuple[Array, Back]:
    values, inner = differentiated(kernel.kernel, tile.mapped(kernel, kernel._scaled, kernel.kernel))
    weights = np.asarray(kernel.weights, dtype=np.float64)

    def back(V: Array, sums: Sums) -> None:
        of_mapped = _no_rows(tile, weights.shape[0])
        inner(V, sums.of("kernel", of_mapped))
        sides = [_dense(side) for side in (tile.left, tile.right)]
        # What both sides are moved by makes no difference, and is best left out: large numbers lose digits.
        centre = sides[1].mean(axis=0) if kernel.translation_invariant else 0.0
        if weights.ndim == 1:
            sums.add("weights", sum((own * (rows - centre)).sum(axis=0)
                                    for own, rows in zip(of_mapped, sides, strict=True)))  # fmt: skip
        else:
            sums.add("weights", sum(own.T @ (rows - centre) for own, rows in zip(of_mapped, sides, strict=True)))
        if sums.rows is not None:
            for out, own in zip(sums.rows, of_mapped, strict=True):
                out += own * weights if weights.ndim == 1 else own @ weights

    return values, back


@differentiated.register
def _(kernel: Periodic, tile: Tile) -> tuple[Array, Back]:
    values, inner = differentiated(kernel._gaussian, tile.mapped(kernel, kernel._circled, kernel._gaussian))
    turn = 2 * np.pi / kernel.period

    def back(V: Array, sums: Sums) -> None:
        """With u = (cos tx, sin tx) and t = 2π/period: ∂u/∂period = (sin tx, −cos tx)·tx/period."""
        width = tile.left.shape[1]
        of_circle = _no_rows(tile, 2 * width)
        mine = Sums(of_circle)
        inner(V, mine)
        sums.add("length", -2 * mine.found["gamma"] * kernel._gaussian.gamma / kernel.length)
        total = 0.0
        for side, (rows, own) in enumerate(zip((tile.left, tile.right), of_circle, strict=True)):
            angle = turn * _dense(rows)
            by_angle = own[:, width:] * np.cos(angle) - own[:, :width] * np.sin(angle)
            total -= np.vdot(by_angle, angle) / kernel.period
            if sums.rows is not None:
                sums.rows[side][:] += turn * by_angle
        sums.add("period", total)

    return values, back


@differentiated.register
def _(kernel: OfStatistic, tile: Tile) -> tuple[Array, Back]:
    if type(kernel).evaluate is not OfStatistic.evaluate or not {"evaluate", "apply"}.isdisjoint(vars(kernel)):
        return _by_two_matrices(kernel, tile)
    t = tile.compute(kernel.statistic)
    formula = _formula(kernel)
    values, by_own, slope = _by_formula(formula, kernel, t) if formula is not None else _by_difference(kernel, t)

    def back(V: Array, sums: Sums) -> None:
        for name, own in by_own().items():
            sums.add(name, float(np.sum(V * own)))
        if sums.rows is not None:
            _back_to_rows(kernel.statistic, V * slope(), t, tile, sums.rows)

    return values, back


def _back_to_rows(statistic: Any, T: Array, t: Array, tile: Tile, out: tuple[Array, Array]) -> None:
    """Add Σ T∘∂t/∂x to the sums of the rows on either side."""
    a, b = _dense(tile.left), _dense(tile.right)
    if statistic is DOT:
        out[0][:] += T @ b
        out[1][:] += T.T @ a
    elif statistic is MANHATTAN:
        _add_signs(T, a, np.ascontiguousarray(b.T), out[0], out[1])
    elif statistic in (DISTANCE, SQUARED_DISTANCE):
        T = np.divide(T, t, out=np.zeros_like(T), where=t > 0) if statistic is DISTANCE else 2.0 * T
        centre = b.mean(axis=0)
        a, b = a - centre, b - centre
        out[0][:] += T.sum(axis=1)[:, None] * a - T @ b
        out[1][:] += T.sum(axis=0)[:, None] * b - T.T @ a
    else:
        raise ValueError(f"rows are not known to change {statistic!r} smoothly.")


@jit
def _add_signs(T: Array, a: Array, columns: Array, left: Array, right: Array) -> None:
    """left[i, k] += Σⱼ T[i, j]·sign(a[i, k] − columns[k, j]), and the opposite to the right."""
    for i in range(T.shape[0]):
        for k in range(a.shape[1]):
            x, total = a[i, k], 0.0
            for j in range(T.shape[1]):
                z = columns[k, j]
                total += T[i, j] * (np.float64(x > z) - np.float64(x < z))
            left[i, k] += total
    for k in range(a.shape[1]):
        sums = np.zeros(T.shape[1])
        for i in range(T.shape[0]):
            x = a[i, k]
            for j in range(T.shape[1]):
                z = columns[k, j]
                sums[j] += T[i, j] * (np.float64(x < z) - np.float64(x > z))
        for j in range(T.shape[1]):
            right[j, k] += sums[j]


def _no_rows(tile: Tile, width: int) -> tuple[Array, Array]:
    """Sums of the rows on either side of a tile, nothing yet."""
    height, length = tile.shape
    return np.zeros((height, width)), np.zeros((length, width))


def _dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if sparse.issparse(rows) else rows, dtype=np.float64)


# -- formulas and their derivatives -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Formula:
    """A kernel of a statistic and its derivatives, with leaves for the statistic ("t") and the parameters."""

    value: Any
    slope: Any
    by_own: dict[str, Any]


def _formula(kernel: OfStatistic) -> Formula | None:
    """The formula with its derivatives; ``None`` where the kernel has none."""
    fixed = {name: value for name, value in kernel.get_params(deep=False).items() if name not in kernel.smooth}
    try:
        kind: Any = type(kernel)
        return _made(kind, tuple(sorted(fixed.items())))
    except TypeError:  # a parameter that is no value
        return None


@lru_cache(maxsize=64)
def _made(kind: Any, fixed: tuple[tuple[str, Any], ...]) -> Formula | None:
    leaves = {name: Symbol("leaf", name) for name in kind.smooth}
    t = Symbol("leaf", "t")
    try:
        value = traced(kind(**dict(fixed), **leaves).apply, t)
        if not isinstance(value, Symbol):
            return None
        return Formula(value, _derived(value, t), {name: _derived(value, leaf) for name, leaf in leaves.items()})
    except Untraceable:
        return None


def _derived(root: Symbol, leaf: Symbol) -> Any:
    """The derivative of a formula by one of its leaves: a symbol, or a number where it is the same everywhere.

    Examples
    --------
    >>> x = Symbol("leaf", "x")
    >>> _derived(x * np.exp(-2.0 * x), x)
    (exp((-2.0 * x)) + (x * (-2.0 * exp((-2.0 * x)))))
    """
    known: dict[int, Any] = {}

    def of(argument: Any) -> Any:
        return known[id(argument)] if isinstance(argument, Symbol) else 0.0

    def times(one: Any, other: Any) -> Any:
        if isinstance(one, float) and one in (0.0, 1.0):
            return one * other if one == 0.0 and isinstance(other, float) else (0.0 if one == 0.0 else other)
        if isinstance(other, float) and other in (0.0, 1.0):
            return times(other, one)
        return one * other

    def plus(one: Any, other: Any) -> Any:
        return other if isinstance(one, float) and one == 0.0 else (
            one if isinstance(other, float) and other == 0.0 else one + other)  # fmt: skip

    def visit(symbol: Symbol) -> None:
        if symbol.operation == "leaf":
            known[id(symbol)] = 1.0 if symbol is leaf else 0.0
            return
        x, y = symbol.arguments[0], symbol.arguments[-1]
        dx, dy = of(x), of(y)
        match symbol.operation:
            case "add":
                found = plus(dx, dy)
            case "subtract":
                found = plus(dx, times(-1.0, dy))
            case "multiply":
                found = plus(times(dx, y), times(x, dy))
            case "divide":
                found = plus(times(dx, 1.0 / y), times(-1.0, times(dy, symbol / y)))
            case "power":
                found = times(dx, y * x ** (y - 1.0))
            case "exp":
                found = times(dx, symbol)
            case "log":
                found = times(dx, 1.0 / x)
            case "log1p":
                found = times(dx, 1.0 / (1.0 + x))
            case "sqrt":
                found = times(dx, 0.5 / symbol)
            case "absolute":
                found = times(dx, Symbol("sign", x))
            case "maximum":
                found = plus(times(dx, Symbol("greater", x, y)), times(dy, Symbol("greater_equal", y, x)))
            case "minimum":
                found = plus(times(dx, Symbol("less", x, y)), times(dy, Symbol("less_equal", y, x)))
            case other:
                raise Untraceable(f"the derivative of {other} is not known")
        known[id(symbol)] = found

    walked(root, visit)
    return of(root)


def _by_formula(formula: Formula, kernel: OfStatistic, t: Array) -> tuple[Array, Callable, Callable]:
    leaves = {name: float(getattr(kernel, name)) for name in formula.by_own} | {"t": t}
    known: dict[int, Any] = {}

    def number(root: Any) -> Any:
        """The numbers that a symbol stands for; what formulas have in common is computed once."""
        if not isinstance(root, Symbol):
            return root

        def visit(symbol: Symbol) -> None:
            if id(symbol) in known:
                return
            if symbol.operation == "leaf":
                known[id(symbol)] = leaves[symbol.arguments[0]]
            else:
                arguments = [known[id(each)] if isinstance(each, Symbol) else each for each in symbol.arguments]
                known[id(symbol)] = getattr(np, symbol.operation)(*arguments)

        walked(root, visit)
        return known[id(root)]

    values = np.broadcast_to(number(formula.value), t.shape)
    by_own = formula.by_own
    return values, lambda: {name: number(each) for name, each in by_own.items()}, lambda: number(formula.slope)


def _by_difference(kernel: OfStatistic, t: Array) -> tuple[Array, Callable, Callable]:
    def by_own() -> dict[str, Array]:
        found = {}
        for parameter in parameters_of(kernel):
            ((low, high),) = steps_of(parameter)
            below, above = (_applied(kernel, parameter, end, t) for end in (low, high))
            found[parameter.name] = (above - below) / (high - low)
        return found

    def slope() -> Array:
        # Of a distance that is nothing both rows are one, whatever is made of them.
        h = STEP * (t if kernel.statistic.translation_invariant else np.abs(t) + STEP)
        return np.divide(kernel.apply(t + h) - kernel.apply(t - h), 2 * h, out=np.zeros_like(t), where=h > 0)

    return kernel.apply(t.copy()), by_own, slope


def _applied(kernel: Kernel, parameter: Parameter, value: float, t: Array) -> Array:
    changed: Any = with_value(kernel, parameter, 0, value)
    return changed.apply(t.copy())
