"""The formula of a kernel expression, found by evaluating it on a tile of symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.base import Kernel
from ..kernels.engine.parts import Parts
from ..kernels.engine.statistics import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE, Statistic
from ..kernels.symbols import Symbol, Untraceable, traced

__all__ = ["Formula", "formula_of"]

_KNOWN = (DOT, SQUARED_DISTANCE, DISTANCE, MANHATTAN)


@dataclass(frozen=True, eq=False)
class Leaf:
    """A statistic of pairs of rows: what code computes from rows, and where these come from."""

    statistic: Statistic
    #: Rows of numbers of the left and of the right side.
    left: Any
    right: Any

    def __str__(self) -> str:
        return type(self.statistic).__name__


@dataclass(frozen=True)
class Own:
    """A number of each item: of the items of the rows, or of those of the columns."""

    position: int
    side: str

    def __str__(self) -> str:
        return f"{self.side}{self.position}"


@dataclass
class Formula:
    """A kernel as an expression of statistics and of numbers of single items."""

    root: Symbol
    leaves: list[Leaf]
    #: Numbers of the items of each side, pairs of arrays.
    owns: list[tuple[Any, Any]]
    same: bool

    def __str__(self) -> str:
        return repr(self.root)


def formula_of(kernel: Kernel, A: Any, B: Any) -> Formula:
    """The formula of a resolved kernel on items that have passed :meth:`Kernel.items`.

    Raises
    ------
    Untraceable
        Where the kernel is no function of dot products and distances of rows of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear
    >>> X = np.zeros((2, 3))
    >>> print(formula_of(2 * Gaussian(gamma=0.5) + Linear(), X, X))
    ((2.0 * exp((-0.5 * SquaredDistance))) + Dot)
    """
    tracing = _Tracing(A is B)
    try:
        tile: Any = _SymbolicTile(tracing, A, B)
        root: Any = traced(kernel.evaluate, tile)
    except Untraceable as error:
        raise Untraceable(f"{kernel} cannot be computed on a graphics card: {error}.") from None
    if not isinstance(root, Symbol):
        raise Untraceable(f"{kernel} cannot be computed on a graphics card: it is made of no rows of numbers.")
    return Formula(root, tracing.leaves, tracing.owns, tracing.same)


@dataclass
class _Tracing:
    """What a formula was found to begin with."""

    same: bool
    leaves: list[Leaf] = field(default_factory=list)
    owns: list[tuple[Any, Any]] = field(default_factory=list)
    known: dict[Any, Any] = field(default_factory=dict)


class _SymbolicPairing:
    """What kernels ask the pairing of a tile for."""

    def __init__(self, A: Any, B: Any) -> None:
        self.A, self.B, self.dtype = A, B, np.dtype(np.float64)


class _SymbolicTile:
    """Stands for any tile of a matrix. Kernels evaluate it as they do every other."""

    #: Neither slices nor index arrays: it is not known where the tile lies.
    i = j = None

    def __init__(self, tracing: _Tracing, A: Any, B: Any) -> None:
        self._tracing, self.pairing = tracing, _SymbolicPairing(A, B)

    @property
    def shape(self) -> Any:
        raise Untraceable("it asks how large a tile is")

    @property
    def left(self) -> Any:
        raise Untraceable("it is a function of items, not of their dot products or distances")

    right = left

    def compute(self, statistic: Statistic) -> Symbol:
        A, B = self.pairing.A, self.pairing.B
        if statistic not in _KNOWN or not all(sparse.issparse(side) or isinstance(side, np.ndarray) for side in (A, B)):
            raise Untraceable("it is no function of dot products or distances of rows of numbers")
        key = statistic, id(A), id(B)
        if key not in self._tracing.known:
            self._tracing.leaves.append(Leaf(statistic, A, B))
            self._tracing.known[key] = Symbol("leaf", self._tracing.leaves[-1])
        return self._tracing.known[key]

    def part(self, position: int, kernel: Kernel) -> _SymbolicTile:
        if not isinstance(self.pairing.A, Parts):
            return self
        return _SymbolicTile(self._tracing, self.pairing.A.forms[position], self.pairing.B.forms[position])

    def mapped(self, owner: Kernel, mapping: Callable[[Any], Any], kernel: Kernel) -> _SymbolicTile:
        def make() -> _SymbolicTile:
            A = kernel.items(mapping(self.pairing.A))
            same = self.pairing.A is self.pairing.B
            return _SymbolicTile(self._tracing, A, A if same else kernel.items(mapping(self.pairing.B)))

        return self._once(("mapped", id(owner), id(self.pairing.A)), make)

    def of_items(self, key: Any, function: Callable[[Any], Any]) -> tuple[Symbol, Symbol]:
        def make() -> tuple[Symbol, Symbol]:
            a = function(self.pairing.A)
            self._tracing.owns.append((a, a if self.pairing.A is self.pairing.B else function(self.pairing.B)))
            place = len(self._tracing.owns) - 1
            return Symbol("leaf", Own(place, "left")), Symbol("leaf", Own(place, "right"))

        return self._once(("of_items", key, id(self.pairing.A)), make)

    def _once(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._tracing.known:
            self._tracing.known[key] = make()
        return self._tracing.known[key]
