"""Kernels as text: ``2*gaussian(gamma=0.5) + linear``.

What :func:`write` prints, :func:`parse` reads. The text is split by Python's own grammar but never run: only sums,
products, whole powers, numbers, lists, the kernel names below and the columns in ``.on(age, "hours per week", 3)`` mean
anything.
"""

from __future__ import annotations

import ast
import difflib
import keyword
from collections.abc import Callable
from typing import Any

import numpy as np

from .algebra import Normalised, Power, Product, Scaled, Sum
from .base import Kernel, default_parameters
from .categories import Equal, Hamming
from .given import Function, Precomputed
from .graphs import Graphlet, RandomWalk, ShortestPath, WeisfeilerLehman, WeisfeilerLehmanAssignment
from .mapped import After, Conformal
from .on_columns import OnColumns
from .sets import Intersection, Jaccard, MinMax, Subsets, Tanimoto
from .strings import LocalAlignment, Mismatch, Spectrum, Subsequence, WeightedDegree
from .vectors import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Quadratic, Sigmoid

__all__ = ["as_kernel", "parse", "write"]

#: Every kernel that has a text form, by the name it has there.
NAMES: dict[str, type[Kernel]] = {
    kernel.__name__.lower(): kernel
    for kernel in (
        Linear, Polynomial, Gaussian, Laplacian, Matern, Cosine, Sigmoid, Quadratic, Precomputed, Normalised,
        Equal, Hamming,
        Spectrum, Mismatch, Subsequence, WeightedDegree, LocalAlignment,
        Subsets, Intersection, Jaccard, MinMax, Tanimoto,
        WeisfeilerLehman, WeisfeilerLehmanAssignment, ShortestPath, RandomWalk, Graphlet,
    )
}  # fmt: skip

_SUM, _PRODUCT, _POWER, _ATOM = range(4)
_LONGEST, _DEEPEST = 10_000, 100


def write(kernel: Kernel) -> str:
    """The text of a kernel."""
    return _write(kernel)[0]


def _write(kernel: Kernel) -> tuple[str, int]:
    if isinstance(kernel, Sum):
        return f"{_within(kernel.left, _SUM)} + {_within(kernel.right, _PRODUCT)}", _SUM
    if isinstance(kernel, Scaled):
        return f"{_number(kernel.scale)}*{_within(kernel.kernel, _POWER)}", _PRODUCT
    if isinstance(kernel, Product):
        return f"{_within(kernel.left, _PRODUCT)}*{_within(kernel.right, _POWER)}", _PRODUCT
    if isinstance(kernel, Power):
        return f"{_within(kernel.kernel, _ATOM)}**{kernel.exponent}", _POWER
    if isinstance(kernel, Normalised):
        return f"normalised({write(kernel.kernel)})", _ATOM
    if isinstance(kernel, OnColumns):
        return f"{_within(kernel.kernel, _ATOM)}.on({', '.join(map(_column, kernel.names))})", _ATOM
    if isinstance(kernel, (After, Conformal, Function)):
        function = getattr(kernel, "map", None) or getattr(kernel, "f", None)
        label = getattr(function, "__name__", type(function).__name__)
        inner = f", {write(kernel.kernel)}" if isinstance(kernel, After) else ""
        return f"{type(kernel).__name__.lower()}(<{label}>{inner})", _ATOM
    defaults = default_parameters(kernel)
    parameters = {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if name not in defaults or not np.array_equal(value, defaults[name])
    }
    name = type(kernel).__name__.lower()
    if not parameters:
        return name, _ATOM
    return f"{name}({', '.join(f'{key}={_literal(value)}' for key, value in parameters.items())})", _ATOM


def _within(kernel: Any, level: int) -> str:
    if not isinstance(kernel, Kernel):
        return repr(kernel)
    text, own = _write(kernel)
    return text if own >= level else f"({text})"


def _number(value: Any) -> str:
    """A number as short as it can be written without loss."""
    value = _plain(value)
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else repr(value)


def _column(name: Any) -> str:
    """A column's position, or its name: in quotes unless it is a plain word."""
    plain = isinstance(name, str) and name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return name if plain else repr(_plain(name))


def _literal(value: Any) -> str:
    """A parameter as it is written; one that cannot be written, such as a graph, as its type."""
    value = _plain(value)
    plain = value is None or isinstance(value, (bool, int, float, str, list, tuple))
    text = repr(value) if plain else f"<{type(value).__name__}>"
    return text if len(text) <= _LONGEST else f"<{type(value).__name__}>"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def parse(text: str) -> Kernel:
    """The kernel that a text describes.

    Examples
    --------
    >>> from mercer.kernels import parse
    >>> parse("2*gaussian(gamma=.5) + linear").get_params()["left__kernel__gamma"]
    0.5
    """
    if len(text) > _LONGEST:
        raise ValueError(f"the kernel text has {len(text)} characters; at most {_LONGEST} are read.")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if sum(isinstance(node, (ast.BinOp, ast.Call)) for node in ast.walk(tree)) > _DEEPEST:
            raise ValueError(f"the kernel text {_shown(text)} has more than {_DEEPEST} parts.")
        result = _Reader(text).read(tree)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(
            f"the kernel text {_shown(text)} cannot be read; write for example '2*gaussian(gamma=0.5) + linear'."
        ) from None
    if not isinstance(result, Kernel):
        raise ValueError(f"the kernel text {_shown(text)} is only a number; name a kernel, for example 'linear'.")
    result.check()
    return result


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text

    def fail(self, why: str) -> ValueError:
        return ValueError(f"the kernel text {_shown(self.text)} cannot be read: {why}.")

    def read(self, node: ast.AST) -> Any:
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.Pow() as op, right=right):
                a, b = self.read(left), self.read(right)
                return self.combine(op, a, b)
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name):
                return self.make(name, [], {})
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                named = {str(word.arg): self.argument(word.value) for word in keywords}
                if len(named) < len(keywords):
                    raise self.fail(f"a parameter of {name} is given twice")
                return self.make(name, [self.argument(arg) for arg in args], named)
            case ast.Call(func=ast.Attribute(value=bound, attr="on"), args=columns, keywords=[]):
                kernel = self.read(bound)
                if not isinstance(kernel, Kernel):
                    raise self.fail("only a kernel can be bound to columns")
                return kernel.on(*map(self.column, columns))
        raise self.fail("only kernel names, numbers, +, *, ** and .on(columns) may be used")

    def column(self, node: ast.AST) -> str | int:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Constant(value=str() | int() as name) if not isinstance(name, bool):
                return name
        raise self.fail("a column is a word, a text in quotes or a position, as in .on(age, 'hours per week', 3)")

    def combine(self, op: ast.AST, a: Any, b: Any) -> Any:
        if not isinstance(a, Kernel) and not isinstance(b, Kernel):
            raise self.fail("arithmetic on numbers alone is not evaluated")
        try:
            if isinstance(op, ast.Add):
                return a + b
            return a * b if isinstance(op, ast.Mult) else a**b
        except TypeError:
            signs: dict[type, str] = {ast.Add: "+", ast.Mult: "*", ast.Pow: "**"}
            raise self.fail(f"{a!r} {signs[type(op)]} {b!r} is not a kernel") from None

    def argument(self, node: ast.AST) -> Any:
        """A number, a word in quotes, a list or tuple of them, or a kernel."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case ast.List(elts=elements):
                return [self.argument(element) for element in elements]
            case ast.Tuple(elts=elements):
                return tuple(self.argument(element) for element in elements)
        return self.read(node)

    def make(self, name: str, args: list[Any], named: dict[str, Any]) -> Kernel:
        known = name.lower().replace("_", "")
        maker: Callable[..., Kernel] | None = NAMES.get(known)
        if maker is None:
            meant = difflib.get_close_matches(known, NAMES, n=1)
            hint = f"the nearest name is {meant[0]!r}" if meant else f"the names are {', '.join(sorted(NAMES))}"
            raise self.fail(f"there is no kernel {name!r}; {hint}")
        if known == "gaussian" and set(named) == {"sigma"} and not args:
            maker = Gaussian.from_sigma
        try:
            return maker(*args, **named)
        except TypeError:
            wanted = ", ".join(NAMES[known]._get_param_names()) or "no parameters"
            raise self.fail(f"{name} takes {wanted}") from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from a kernel, a text, or a Python function of two collections.

    Examples
    --------
    >>> from mercer.kernels import as_kernel
    >>> as_kernel("polynomial(degree=3)")
    polynomial(degree=3)
    """
    if isinstance(kernel, Kernel):
        kernel.check()
        return kernel
    if isinstance(kernel, str):
        return parse(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    raise TypeError(
        f"kernel={kernel!r} is not a kernel; give one of mercer.kernels, a text such as 'gaussian(gamma=0.5)', "
        "a function f(A, B) that returns a matrix, or 'precomputed'."
    )
