"""Kernels as text, ``2*gaussian(gamma=0.5) + linear``: the reading half.

The text is split by Python's own grammar but never run: only sums, products, whole powers, numbers, lists, the names of
kernels and the columns in ``.on(age, "hours per week", 3)`` mean anything.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
from scipy import sparse

from ..checks.parameters import shown
from ..checks.tables import as_rows
from ..messages import enumeration, nearest
from ..runtime.compile import Array, jit
from .base import RULES, Kernel
from .engine.tiles import Tile
from .functions import Function
from .text_form import LONGEST, UnknownKernel, find

__all__ = ["Precomputed", "as_kernel", "parse"]

# A matrix from outside.


class Precomputed(Kernel):
    """The rows given to a learner already are rows of the kernel matrix.

    Fit on the square matrix of the training items; predict on a matrix with a column for each training item.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Perceptron
    >>> from mercer.kernels import Gaussian
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    >>> model = Perceptron(kernel="precomputed", random_state=0).fit(Gaussian(gamma=1.0)(X), y)
    >>> model.predict(Gaussian(gamma=1.0)([[2.9]], X)).tolist()
    ['b']
    """

    good_for = "a kernel matrix that is there already"

    def __init__(self) -> None:
        pass

    @property
    def precomputed(self) -> bool:
        return True

    @property
    def trusted(self) -> bool:
        return False

    @property
    def splits(self) -> bool:
        return False

    def items(self, A):
        if sparse.issparse(A):
            raise ValueError("a precomputed kernel matrix must be dense; call .toarray(), or use a kernel on the rows.")
        return as_rows(A)

    def evaluate(self, tile: Tile) -> Array:
        return tile.left[:, tile.j].copy()

    def diag(self, A):
        return A.diagonal().copy()


@jit
def _asymmetry(K: Array) -> tuple[float, int, int, float]:
    """The largest |K − Kᵀ|, where it is, and the largest |K|; in blocks, as columns of a large matrix are far apart."""
    worst, row, column, largest = 0.0, 0, 0, 0.0
    block = 64
    for top in range(0, K.shape[0], block):
        for left in range(top, K.shape[0], block):
            for i in range(top, min(top + block, K.shape[0])):
                for j in range(max(left, i), min(left + block, K.shape[0])):
                    largest = max(largest, abs(K[i, j]))
                    if abs(K[i, j] - K[j, i]) > worst:
                        worst, row, column = abs(K[i, j] - K[j, i]), i, j
    return worst, row, column, largest


def refuse_asymmetric(K: Array, kernel: Kernel, places: Array | None = None) -> None:
    """Raise where a square matrix that claims to be a kernel matrix, of the items in these places, is not symmetric."""
    worst, i, j, largest = _asymmetry(np.ascontiguousarray(K))
    if worst > 1e-6 * largest:
        a, b = (i, j) if places is None else (places[i], places[j])
        raise ValueError(
            f"the kernel {kernel} is not symmetric: k({a}, {b}) = {K[i, j]:.6g} but k({b}, {a}) = {K[j, i]:.6g}; "
            "a kernel must give the same value both ways, for example (K + K.T)/2."
        )


_DEEPEST = 100


def parse(text: str) -> Kernel:
    """The kernel that a text describes.

    Examples
    --------
    >>> from mercer.kernels import parse
    >>> parse("2*gaussian(gamma=.5) + linear").get_params()["left__kernel__gamma"]
    0.5
    """
    if len(text) > LONGEST:
        raise ValueError(f"the kernel text has {len(text)} characters; at most {LONGEST} are read.")
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
        """A number, a word in quotes, a list or tuple of them, a rule by which the data decide, or a kernel."""
        match node:
            case ast.Name(id=word) if word in RULES:
                return word
            case ast.Name(id=word) if nearest(word, RULES) or word.lower() in ("nan", "inf"):
                rules = enumeration(map(repr, RULES), last="or")
                raise self.fail(f"{word!r} is neither a finite number nor {rules}")
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
        try:
            maker = find(name)
        except UnknownKernel as error:
            raise self.fail(str(error)) from None
        try:
            return maker.from_text(*args, **named)
        except TypeError:
            wanted = ", ".join(maker._get_param_names()) or "no parameters"
            raise self.fail(f"{name} takes {wanted}") from None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "...")


def as_kernel(kernel: Any) -> Kernel:
    """A kernel from a kernel, a text, or a Python function of two items or of two collections.

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
        f"kernel={shown(kernel)} is not a kernel; give one of mercer.kernels, a text such as 'gaussian(gamma=0.5)', "
        "a function of two items, or 'precomputed'."
    )
