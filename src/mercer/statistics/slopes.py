"""Derivatives of kernels by their statistic: of formulas φ(‖x − z‖²) and φ(⟨x, z⟩)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..kernels import DOT, SQUARED_DISTANCE, Kernel, OfStatistic, Symbol, Untraceable, traced, walked
from ..runtime.arrays import Array

__all__ = ["slopes", "statistic_of"]

#: A value with its first and second derivative.
Jet = tuple[Any, Any, Any]


def _multiply(a: Jet, b: Jet) -> Jet:
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2]


def _divide(a: Jet, b: Jet) -> Jet:  # a = q·b, differentiated twice
    q = a[0] / b[0]
    first = (a[1] - q * b[1]) / b[0]
    return q, first, (a[2] - 2 * first * b[1] - q * b[2]) / b[0]


def _outer(value: Any, first: Any, second: Any, a: Jet) -> Jet:
    """f(a) from f, f′ and f″ at a."""
    return value, first * a[1], second * a[1] ** 2 + first * a[2]


def _exp(a: Jet) -> Jet:
    value = np.exp(a[0])
    return _outer(value, value, value, a)


def _sqrt(a: Jet) -> Jet:
    value = np.sqrt(a[0])
    return _outer(value, 0.5 / value, -0.25 / value**3, a)


def _power(a: Jet, exponent: Jet) -> Jet:
    p = exponent[0]
    return _outer(a[0] ** p, p * a[0] ** (p - 1), p * (p - 1) * a[0] ** (p - 2), a)


_RULES: dict[str, Callable[..., Jet]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1], a[2] + b[2]),
    "subtract": lambda a, b: (a[0] - b[0], a[1] - b[1], a[2] - b[2]),
    "multiply": _multiply,
    "divide": _divide,
    "exp": _exp,
    "log": lambda a: _outer(np.log(a[0]), 1 / a[0], -1 / a[0] ** 2, a),
    "log1p": lambda a: _outer(np.log1p(a[0]), 1 / (1 + a[0]), -1 / (1 + a[0]) ** 2, a),
    "sqrt": _sqrt,
    "power": _power,
}


def statistic_of(kernel: Kernel) -> Any:
    """The one statistic that a kernel is a function of; ``None`` of other kernels."""
    plain = isinstance(kernel, OfStatistic) and type(kernel).evaluate is OfStatistic.evaluate
    return kernel.statistic if plain else None  # type: ignore[attr-defined]


def slopes(kernel: Kernel) -> Callable[[Array], Jet] | None:
    """φ, φ′ and φ″ as a function of the statistic; ``None`` of kernels that are no smooth formula of one.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> value, first, second = slopes(Gaussian(gamma=2.0))(np.array([0.0]))
    >>> float(value[0]), float(first[0]), float(second[0])
    (1.0, -2.0, 4.0)
    """
    if not isinstance(kernel, OfStatistic) or statistic_of(kernel) not in (SQUARED_DISTANCE, DOT):
        return None
    try:
        formula = traced(kernel.apply, Symbol("leaf", "t"))
    except Untraceable:
        return None
    symbols: list[Symbol] = []
    walked(formula, symbols.append)
    if not {symbol.operation for symbol in symbols} <= {"leaf", *_RULES}:
        return None

    def at(t: Array) -> Jet:
        known: dict[int, Jet] = {}

        def jet(argument: Any) -> Jet:
            return known[id(argument)] if isinstance(argument, Symbol) else (argument, 0.0, 0.0)

        for symbol in symbols:
            leaf = symbol.operation == "leaf"
            known[id(symbol)] = (t, 1.0, 0.0) if leaf else _RULES[symbol.operation](*map(jet, symbol.arguments))
        return tuple(np.broadcast_to(part, np.shape(t)) for part in known[id(formula)])  # type: ignore[return-value]

    return at
