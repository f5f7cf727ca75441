"""The formula of a kernel expression, found by evaluating it on a tile of symbols."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels import Kernel, Symbol, Untraceable, traced, walked
from ..kernels.engine import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE, Parts, Statistic

__all__ = ["Face", "Formula", "Lowered", "Tiles", "Written", "formula_of", "lowered", "written"]

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


# Triton code for products with a kernel matrix that is never written to memory, from a kernel's formula.
#
# The matrix is cut into tiles. One program *owns* a block of items, along the width of its tiles, and others *pass* by,
# along their height: it loads the rows of a tile's passing items, computes the statistics of all pairs of the tile,
# from them the kernel by its formula, and adds kernel × vector up, all in registers. A place in the tile has a sum of
# its own, so that no thread waits for another before the end. What passing items need besides their rows, a few numbers
# each, is asked for one tile ahead.
#
# **Dot products** come from the matrix units, which multiply numbers of 11 digits (float16) and add in float32. A row
# is stored as x = h + m, two such numbers that hold 22 digits together; ⟨x, z⟩ = ⟨h, h′⟩ + ⟨h, m′⟩ + ⟨m, h′⟩ is one
# product of rows three times as long, (h, h, m) and (h, m, h): nothing in the code knows whether it has 22 digits or,
# of rows that are h alone, 11. What is left out, ⟨m, m′⟩, is of the 23rd.
#
# **Squared distances** in an exponential: with the rows scaled by √(2c), −c·‖x − z‖² = ⟨x, z⟩ − ½‖x‖² − ½‖z‖², so
# that nothing is left to do but to add two numbers and exponentiate; c is folded into the rows along with log₂e.
#
# **Distances** that are not squared are sums of differences, coordinate by coordinate: a root would turn the rounding
# errors of a difference of norms into large ones.
#
# **Both sides of a symmetric matrix.** k(x, z) = k(z, x): a tile off the diagonal serves the items that own it, Σ k·v
# over those that pass, and the other way round. The latter sums, over the width of one tile, are written out in
# float32, and are summed in float64 and always in the same order afterwards: results repeat to the last digit. They go
# along a row of the tile, which a few neighbouring threads share; along a column they would cost as much as all else
# together. The squares on the diagonal have both of their halves computed, and serve their owners alone: what they
# leave for those that pass is not gathered.


_LOG2E = math.log2(math.e)
#: Columns of rows that a matrix unit takes at a time, and up to how many of them a block of rows stays in registers.
GRAIN, RESIDENT = 16, 256
#: Rows longer than that are taken in pieces of this length.
PIECE = 64
#: Terms of a sum over coordinates that are written out one after the other.
UNROLLED = 4


@dataclass(frozen=True)
class Tiles:
    """The shape of a tile, and how many threads (in groups of 32) and tiles on their way share a multiprocessor."""

    height: int = 64
    width: int = 128
    warps: int = 4
    stages: int = 3

    @property
    def side(self) -> int:
        """The side of the squares on the diagonal."""
        return max(self.height, self.width)


@dataclass(frozen=True)
class Face:
    """What is computed from tiles: products for the rows, for rows and columns, or the values themselves."""

    symmetric: bool = False
    values: bool = False
    #: Vectors that are multiplied at a time.
    columns: int = 1


@dataclass
class Lowered:
    """A formula in the operations of a graphics card, in which every statistic comes times a factor."""

    root: Symbol
    formula: Formula
    #: The factor that each leaf is computed with.
    factors: list[float]


def lowered(formula: Formula) -> Lowered:
    """With powers of two in the place of exponentials, and factors that make the most of the rows' own scale."""
    known: dict[int, Any] = {}

    def visit(symbol: Symbol) -> None:
        if symbol.operation == "leaf":
            known[id(symbol)] = symbol
            return
        arguments = [known[id(each)] if isinstance(each, Symbol) else each for each in symbol.arguments]
        if symbol.operation == "exp":
            known[id(symbol)] = Symbol("exp2", np.multiply(_LOG2E, arguments[0]))
        else:
            known[id(symbol)] = Symbol(symbol.operation, *arguments)

    walked(formula.root, visit)
    root = known[id(formula.root)]
    factors = [-1.0 if leaf.statistic is SQUARED_DISTANCE else 1.0 for leaf in formula.leaves]
    folded: set[int] = set()

    def fold(symbol: Symbol) -> None:
        if symbol.operation != "multiply" or not isinstance(symbol.arguments[0], float):
            return
        factor, other = symbol.arguments
        leaf = other.arguments[0] if other.operation == "leaf" else None
        if isinstance(leaf, Leaf) and leaf.statistic is SQUARED_DISTANCE and factor < 0:
            place = formula.leaves.index(leaf)
            if place not in folded:
                folded.add(place)
                factors[place] = factor

    walked(root, fold)
    return Lowered(root, formula, factors)


class _Text:
    """Lines of code."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, depth: int, *lines: str) -> None:
        self.lines += ["    " * depth + line for line in lines]


class _Code:
    """What the code of a kernel is put together from."""

    def __init__(self, number: str) -> None:
        self.number = number
        #: The arguments.
        self.names: list[str] = []
        #: What is done once, and for every tile.
        self.start, self.tile = _Text(), _Text()
        #: Numbers of passing items that are loaded a tile ahead: their names, and where they are.
        self.needed: list[tuple[str, str]] = []
        #: Numbers that change from kernel to kernel of the same form.
        self.constants: list[float] = []

    def ahead(self, name: str, source: str) -> None:
        self.needed.append((name, source))

    def constant(self, value: float) -> str:
        if value in (0.0, 1.0, 2.0):
            return repr(value)
        if value not in self.constants:
            self.constants.append(value)
        return f"c{self.constants.index(value)}"


def written(what: Lowered, face: Face, tiles: Tiles, widths: list[int], double: bool, assembler: bool) -> Written:
    """The code of a function ``tile_sums``, and the constants that it reads.

    Parameters
    ----------
    what : Lowered
    face : Face
    tiles : Tiles
    widths : list of int
        For each leaf the length of its rows as they are stored; for those that are sums over coordinates, how many.
    double : bool
        Whether all of it is in float64.
    assembler : bool
        Whether an instruction of the card may be named, which Triton's interpreter does not know.
    """
    code = _Code("tl.float64" if double else "tl.float32")
    for k, leaf in enumerate(what.formula.leaves):
        code.names += [f"passing_rows{k}", f"owned_rows{k}"]
        if coordinatewise(what.formula):
            code.names += [f"passing_length{k}", f"owned_length{k}"]
            _differences(code, k, leaf, widths[k])
        else:
            _dots(code, k, leaf, widths[k])
    for k in range(len(what.formula.owns)):
        code.names += [f"passing_numbers{k}", f"owned_numbers{k}"]
        code.start.add(1, f"own_right{k} = tl.load(owned_numbers{k} + owned)[None, :]")
        code.ahead(f"number{k}", f"passing_numbers{k}")
        code.tile.add(2, f"own_left{k} = number{k}[:, None]")
    value = _expression(what, code, assembler and not double)
    body = _values(code, tiles, value) if face.values else _sums(code, face, tiles, value)
    return Written(body, code.constants or [0.0])


#: Adds up, in float64 and in a fixed order, what the blocks of owners have left for the items that passed.
GATHERED = """import triton
import triton.language as tl


@triton.jit
def tile_sums(sums, out, first, count, blocks, width, side):
    items = first + tl.program_id(0) * 256 + tl.arange(0, 256)
    column = tl.program_id(1)
    total = tl.zeros((256,), tl.float64)
    for begin in range(0, blocks, 16):
        block = begin + tl.arange(0, 16)
        square = (first + block * width) // side * side
        left = (block < blocks)[:, None] & (items < count)[None, :] & (items[None, :] >= (square + side)[:, None])
        place = (column * blocks + block).to(tl.int64)[:, None] * count + items[None, :]
        total += tl.sum(tl.load(sums + place, mask=left, other=0.0).to(tl.float64), axis=0)
    place = out + column.to(tl.int64) * count + items
    tl.store(place, tl.load(place, mask=items < count) + total, mask=items < count)
"""


class Written(NamedTuple):
    """Code, and the constants that it reads."""

    text: str
    constants: list[float]


def _head(code: _Code, names: list[str]) -> _Text:
    body = _Text()
    body.add(0, "import triton", "import triton.language as tl", "", "", "@triton.jit")
    body.add(0, f"def tile_sums({', '.join(['constants', *code.names, *names])}):")
    body.add(1, "block = tl.program_id(0)", "part = tl.program_id(1)")
    body.add(1, *(f"c{k} = tl.load(constants + {k})" for k in range(len(code.constants))))
    return body


def _values(code: _Code, tiles: Tiles, value: str) -> str:
    """One tile for each program, written out."""
    body = _head(code, ["out", "row_count", "column_count"])
    body.add(1, f"passing = part * {tiles.height} + tl.arange(0, {tiles.height})")
    body.add(1, f"owned = block * {tiles.width} + tl.arange(0, {tiles.width})")
    body.lines += code.start.lines
    body.add(1, *(f"{name} = tl.load({source} + passing)" for name, source in code.needed), "if True:")
    body.lines += code.tile.lines
    body.add(2, f"value = ({value}) + tl.zeros(({tiles.height}, {tiles.width}), {code.number})")
    body.add(2, "inside = (passing < row_count)[:, None] & (owned < column_count)[None, :]")
    body.add(2, "place = passing.to(tl.int64)[:, None] * column_count + owned[None, :]")
    body.add(2, "tl.store(out + place, value, mask=inside)")
    return "\n".join(body.lines) + "\n"


def _sums(code: _Code, face: Face, tiles: Tiles, value: str) -> str:
    """Sums over a run of passing items, for each block of owners and each run."""
    body = _head(code, ["vectors", "owned_sums", "passing_sums", "first", "count", "run", "blocks"])
    height, width, vectors = tiles.height, tiles.width, range(face.columns)
    body.add(1, f"begin_owned = first + block * {width}", f"owned = begin_owned + tl.arange(0, {width})")
    body.add(1, "begin = part * run", "end = tl.minimum(begin + run, count)")
    if face.symmetric:  # what passes begins with the square on the diagonal that the owned items lie in
        body.add(1, f"square = begin_owned // {tiles.side} * {tiles.side}", "begin = tl.maximum(begin, square)")
        body.add(1, *(f"own{c} = tl.load(vectors + {c} * count + owned)[None, :]" for c in vectors))
    body.lines += code.start.lines
    body.add(1, *(f"total{c} = tl.zeros(({height}, {width}), {code.number})" for c in vectors))
    needed = [*code.needed, *((f"other{c}", f"vectors + {c} * count") for c in vectors)]
    body.add(1, f"ahead = tl.minimum(begin, count - {height}) + tl.arange(0, {height})")
    body.add(1, *(f"{name} = tl.load({source} + ahead)" for name, source in needed))
    body.add(1, f"for begin_passing in range(begin, end, {height}):")
    body.add(2, f"passing = begin_passing + tl.arange(0, {height})")
    body.add(2, f"ahead = tl.minimum(begin_passing + {height}, count - {height}) + tl.arange(0, {height})")
    body.add(2, *(f"next_{name} = tl.load({source} + ahead)" for name, source in needed))
    body.lines += code.tile.lines
    body.add(2, f"value = ({value}) + tl.zeros(({height}, {width}), {code.number})")
    body.add(2, *(f"total{c} += value * other{c}[:, None]" for c in vectors))
    if face.symmetric:
        for c in vectors:
            body.add(2, f"across = tl.sum(value * own{c}, axis=1)")
            body.add(2, f"place = ({c} * blocks + block).to(tl.int64) * count")
            body.add(2, "tl.store(passing_sums + place + passing, across)")
    body.add(2, *(f"{name} = next_{name}" for name, _ in needed))
    for c in vectors:
        body.add(1, f"place = (({c} * tl.num_programs(1) + part) * blocks + block) * {width} + tl.arange(0, {width})")
        body.add(1, f"tl.store(owned_sums + place, tl.sum(total{c}, axis=0).to(tl.float64))")
    return "\n".join(body.lines) + "\n"


def coordinatewise(formula: Formula) -> bool:
    """Whether statistics are sums over coordinates, and not products of matrix units.

    All of them, where one is: code that does both was seen to read memory that is not its own (Triton 3.6 on an H200).
    """
    return any(leaf.statistic in (DISTANCE, MANHATTAN) for leaf in formula.leaves)


def _expression(what: Lowered, code: _Code, assembler: bool) -> str:
    """Write out the formula, a line for each symbol; the last one's name is returned."""
    names: dict[int, str] = {}
    operations = _OPERATIONS | ({"exp2": _ASSEMBLED} if assembler else {})

    def statistic(leaf: Leaf, factor: float) -> str:
        place = what.formula.leaves.index(leaf)
        ratio = factor / what.factors[place]
        return f"statistic{place}" if ratio == 1.0 else f"(statistic{place} * {code.constant(ratio)})"

    def visit(symbol: Symbol) -> None:
        first = symbol.arguments[0]
        if symbol.operation == "leaf":
            of_item = isinstance(first, Own)
            names[id(symbol)] = f"own_{first.side}{first.position}" if of_item else statistic(first, 1.0)
            return
        if symbol.operation == "multiply" and isinstance(first, float):
            leaf = symbol.arguments[1].arguments[0]
            if isinstance(leaf, Leaf):
                names[id(symbol)] = statistic(leaf, first)
                return
        parts = [names[id(each)] if isinstance(each, Symbol) else code.constant(each) for each in symbol.arguments]
        names[id(symbol)] = name = f"t{len(names)}"
        code.tile.add(2, f"{name} = {operations[symbol.operation].format(*parts)}")

    walked(what.root, visit)
    return names[id(what.root)]


#: A power of two whose result may be rounded to zero where it is below the normal numbers, which saves instructions.
_ASSEMBLED = 'tl.inline_asm_elementwise("ex2.approx.ftz.f32 $0, $1;", "=f,f", [{}], tl.float32, True, 1)'

_OPERATIONS = {
    "absolute": "tl.abs({})",
    "add": "{} + {}",
    "divide": "{} / {}",
    "exp2": "tl.exp2({})",
    "log": "tl.log({})",
    "log1p": "tl.log(1 + {})",
    "maximum": "tl.maximum({}, {})",
    "minimum": "tl.minimum({}, {})",
    "multiply": "{} * {}",
    "power": "tl.where({0} == 0, 0, tl.exp2({1} * tl.log2({0})))",
    "sqrt": "tl.sqrt({})",
    "subtract": "{} - {}",
}


def pieces_of(width: int) -> list[tuple[int, int]]:
    """Where the pieces of rows of some length begin, and how long they are: powers of two, the longest first."""
    out, begin = [], 0
    while begin < width:
        size = min(128, 1 << ((width - begin).bit_length() - 1))
        out.append((begin, size))
        begin += size
    return out


def _dots(code: _Code, k: int, leaf: Leaf, width: int) -> None:
    """statistic = ⟨x, z⟩, or that less half the squared norms."""
    passing = f"passing_rows{k} + passing.to(tl.int64)[:, None] * {width}"
    owned = f"owned_rows{k} + owned.to(tl.int64)[None, :] * {width}"
    if leaf.statistic is SQUARED_DISTANCE:
        code.names += [f"passing_norms{k}", f"owned_norms{k}"]
        code.start.add(1, f"owned_norm{k} = tl.load(owned_norms{k} + owned)[None, :]")
        code.ahead(f"norm{k}", f"passing_norms{k}")
        code.tile.add(2, f"dots{k} = -(norm{k}[:, None] + owned_norm{k})")
    else:
        code.tile.add(2, f"dots{k} = (passing[:, None] + owned[None, :]).to({code.number}) * 0.0")
    if width <= RESIDENT:
        for p, (begin, size) in enumerate(pieces_of(width)):
            places = f"({begin} + tl.arange(0, {size}))"
            code.start.add(1, f"owned{k}_{p} = tl.load({owned} + {places}[:, None])")
            code.tile.add(2, f"some = tl.load({passing} + {places}[None, :])")
            code.tile.add(2, f"dots{k} = tl.dot(some, owned{k}_{p}, dots{k}, out_dtype={code.number})")
    else:
        code.tile.add(2, f"for k in range(0, {width}, {PIECE}):")
        code.tile.add(3, f"places = k + tl.arange(0, {PIECE})")
        code.tile.add(3, f"some = tl.load({passing} + places[None, :])")
        code.tile.add(3, f"others = tl.load({owned} + places[:, None])")
        code.tile.add(3, f"dots{k} = tl.dot(some, others, dots{k}, out_dtype={code.number})")
    code.tile.add(2, f"statistic{k} = dots{k}")


def _differences(code: _Code, k: int, leaf: Leaf, width: int) -> None:
    """A sum over coordinates, which are stored one after the other: all items' first, then all items' second, …"""
    term = "(x - z) * (x - z)"
    if leaf.statistic in (DOT, MANHATTAN):
        term = "x * z" if leaf.statistic is DOT else "tl.abs(x - z)"
    code.tile.add(2, f"sum{k} = (passing[:, None] + owned[None, :]).to({code.number}) * 0.0")
    code.tile.add(2, f"x_places = passing_rows{k} + passing", f"z_places = owned_rows{k} + owned")
    code.tile.add(2, f"for k in range(0, {width}, {UNROLLED}):", f"    for _ in tl.static_range({UNROLLED}):")
    code.tile.add(4, "x = tl.load(x_places)[:, None]", "z = tl.load(z_places)[None, :]")
    code.tile.add(4, f"sum{k} += {term}", f"x_places += passing_length{k}", f"z_places += owned_length{k}")
    found = f"sum{k}"
    if leaf.statistic in (DISTANCE, SQUARED_DISTANCE):
        found = f"tl.sqrt({found})" if leaf.statistic is DISTANCE else f"-{found}"
    code.tile.add(2, f"statistic{k} = {found}")
