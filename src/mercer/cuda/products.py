"""Products with a kernel matrix on the card, which is nowhere as a whole."""

from __future__ import annotations

import functools
import linecache
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.engine import DISTANCE, MANHATTAN, SQUARED_DISTANCE, length
from ..runtime import Array, for_each
from .device import device, free_memory, interpreted
from .formulas import (
    GATHERED,
    GRAIN,
    PIECE,
    RESIDENT,
    UNROLLED,
    Face,
    Leaf,
    Lowered,
    Tiles,
    coordinatewise,
    formula_of,
    lowered,
    written,
)

__all__ = [
    "PRECISIONS",
    "Operands",
    "as_array",
    "copied",
    "matrix_values",
    "operands_of",
    "product",
    "scores_on_card",
]

# Rows in the forms that the code of :mod:`.formulas` reads, on the card.
#
# Every array is padded to whole blocks with zeros, so that the code needs no masks; vectors are zero there too, and
# what the kernel is of such rows does not count.


#: Items are padded to whole numbers of so many.
BLOCK = 256
#: How many numbers stand for one coordinate: three float16 in products of two halves, one where 11 digits are enough,
#: and one float64.
PRECISIONS = {"fast": 1, "exact": 3, "double": 1}
#: float16 holds numbers up to about 2^16; rows are scaled to about this where nothing else decides.
_LARGEST = 16.0


@dataclass
class Operands:
    """The rows of a formula on both sides, and how long they are."""

    what: Lowered
    precision: str
    #: For each leaf and each number of items what the code reads of the left and of the right side.
    left: list[Any]
    right: list[Any]
    widths: list[int]
    counts: tuple[int, int]
    same: bool

    @property
    def double(self) -> bool:
        return self.precision == "double"

    @property
    def padded(self) -> tuple[int, int]:
        """How many items there are on each side, with those that fill the last block."""
        return _whole(self.counts[0]), _whole(self.counts[1])

    def taken(self, rows: Any = None, columns: Any = None) -> Operands:
        """The operands of some items on either side; ``None``: of all."""
        import torch

        def some(arrays: list[Any], index: Any) -> list[Any]:
            places = torch.zeros(_whole(len(index)), dtype=torch.int64)
            places[: len(index)] = torch.from_numpy(np.asarray(index, dtype=np.int64))
            places = places.to(device())
            out = []
            for array, axis in arrays:
                part = array.index_select(axis, places)
                part.narrow(axis, len(index), len(places) - len(index)).zero_()
                out.append((part, axis))
            return out

        left = self.left if rows is None else some(self.left, rows)
        right = self.right if columns is None else some(self.right, columns)
        counts = (self.counts[0] if rows is None else len(rows), self.counts[1] if columns is None else len(columns))
        same = self.same and rows is columns
        return Operands(self.what, self.precision, left, right, self.widths, counts, same)

    def arguments(self, left_owns: bool) -> list[Any]:
        """What the code is called with, in its order; the items of the left side own tiles, or pass."""
        out: list[Any] = []
        passing, owned = (self.right, self.left) if left_owns else (self.left, self.right)
        for (one, axis), (other, _) in zip(passing, owned, strict=True):
            out += [one, other]
            if axis == 1:
                out += [one.shape[1], other.shape[1]]
        return out


def operands_of(kernel: Any, A: Any, B: Any, precision: str = "exact") -> Operands:
    """The operands of a resolved kernel on items that have passed :meth:`Kernel.items`, put on the card."""
    import torch

    what = lowered(formula_of(kernel, A, B))
    formula, double = what.formula, precision == "double"
    left: list[Any] = []
    right: list[Any] = []
    widths: list[int] = []
    number = torch.float64 if double else torch.float32
    for k, leaf in enumerate(formula.leaves):
        a, b = _centred(leaf)
        if coordinatewise(formula):
            scale = np.sqrt(abs(what.factors[k])) if leaf.statistic is SQUARED_DISTANCE else 1.0
            one = _columns(a * scale, number)
            left.append((one, 1))
            right.append((one if leaf.left is leaf.right else _columns(b * scale, number), 1))
            widths.append(one.shape[0])
            continue
        if leaf.statistic is SQUARED_DISTANCE:
            scale = float(np.sqrt(2 * abs(what.factors[k])))
        else:  # a power of two rounds nothing
            largest = max(float(a.abs().max()) if a.numel() else 0.0, float(b.abs().max()) if b.numel() else 0.0)
            scale = float(2.0 ** np.floor(np.log2(_LARGEST / largest))) if largest > 0 else 1.0
            what.factors[k] = scale * scale
        of_left, norms_left = _stored(a * scale, precision, (0, 0, 1))
        of_right, norms_right = _stored(b * scale, precision, (0, 1, 0))
        left.append((of_left, 0))
        right.append((of_right, 0))
        widths.append(of_left.shape[1])
        if leaf.statistic is SQUARED_DISTANCE:
            left.append((norms_left, 0))
            right.append((norms_right, 0))
    for own_left, own_right in formula.owns:
        left.append((_padded(_tensor(own_left).to(number)), 0))
        right.append((_padded(_tensor(own_right).to(number)), 0))
    counts = _count(A), _count(B)
    return Operands(what, precision, left, right, widths, counts, formula.same)


def _count(items: Any) -> int:
    return items.shape[0] if hasattr(items, "shape") else len(items)


def _whole(count: int) -> int:
    return max(1, -(-count // BLOCK)) * BLOCK


def _tensor(rows: Any) -> Any:
    import torch

    dense = rows.toarray() if sparse.issparse(rows) else np.asarray(rows)
    return torch.from_numpy(np.ascontiguousarray(dense)).to(device()).to(torch.float64)


def _centred(leaf: Leaf) -> tuple[Any, Any]:
    """Both sides in float64; where only differences count, with the mean of the right side at the origin."""
    right = _tensor(leaf.right)
    left = right if leaf.left is leaf.right else _tensor(leaf.left)
    if leaf.statistic in (SQUARED_DISTANCE, DISTANCE, MANHATTAN) and right.shape[0]:
        centre = right.mean(dim=0)
        right, left = right - centre, (right if leaf.left is leaf.right else left) - centre
    return left, right


def _padded(rows: Any) -> Any:
    import torch

    out = torch.zeros((_whole(rows.shape[0]), *rows.shape[1:]), dtype=rows.dtype, device=rows.device)
    out[: rows.shape[0]] = rows
    return out


def _columns(rows: Any, number: Any) -> Any:
    """Coordinate after coordinate, with zeros to fill up what is worked on together."""
    return _wide(_padded(rows.to(number)), UNROLLED).T.contiguous()


def _wide(rows: Any, grain: int) -> Any:
    """Rows with zeros at their ends, to a multiple of a length."""
    import torch

    width = max(1, -(-rows.shape[1] // grain)) * grain
    return torch.nn.functional.pad(rows, (0, width - rows.shape[1]))


def _stored(rows: Any, precision: str, order: tuple[int, int, int]) -> tuple[Any, Any]:
    """Rows as matrix units take them, and half the squared norms of what these stand for."""
    import torch

    number = torch.float64 if precision == "double" else torch.float32
    if precision == "double":
        joined = kept = rows
    else:
        high = rows.to(torch.float16)
        low = (rows - high.to(torch.float64)).to(torch.float16)
        joined = torch.cat([(high, low)[place] for place in order[: PRECISIONS[precision]]], dim=1)
        kept = high.to(torch.float64) + (low.to(torch.float64) if precision == "exact" else 0.0)
    norms = 0.5 * (kept * kept).sum(dim=1)
    wide = _wide(joined, GRAIN if joined.shape[1] <= RESIDENT else PIECE)
    return _padded(wide), _padded(norms.to(number))


#: Rows that are scored at a time.
_SCORED = 1_000_000
#: Bytes that are on their way from the card at a time, and rows of them that one thread copies.
_STAGED, _COPIED = 2**27, 128

#: Vectors that are multiplied in one pass.
_TOGETHER = 4
#: Rows that are worked on in one launch, and columns that one program goes along.
_SLAB, _RUN = 131_072, 8192
#: Bytes of sums that wait on the card to be added up, at most, and their part of the memory that is free.
_WAITING, _SHARE = 4 * 10**9, 4
#: One launch at a time: machines may be solved on several threads, and Triton's interpreter knows one only.
_launching = threading.RLock()


def product(operands: Operands, V: Any, tiles: Tiles | None = None) -> Any:
    """K·V in float64 on the card, for a tensor or array with a column for each vector."""
    import torch

    V = torch.as_tensor(V).to(device())
    if not operands.counts[1]:
        return torch.zeros((operands.counts[0], V.shape[1]), dtype=torch.float64, device=device())
    out = [_some(operands, V[:, begin : begin + _TOGETHER], tiles) for begin in range(0, V.shape[1], _TOGETHER)]
    return torch.cat(out, dim=1) if out else torch.zeros((operands.counts[0], 0), dtype=torch.float64, device=device())


def _some(operands: Operands, V: Any, tiles: Tiles | None) -> Any:
    """K·V for few vectors."""
    import torch

    rows, columns = operands.padded
    count, symmetric = V.shape[1], operands.same
    tiles = tiles or _tiles(operands, count)
    number = torch.float64 if operands.double else torch.float32
    vectors = torch.zeros((count, columns), dtype=number, device=device())
    vectors[:, : V.shape[0]] = V.T
    out = torch.zeros((count, rows), dtype=torch.float64, device=device())
    code, constants = _compiled(operands, Face(symmetric, columns=count), tiles)
    slab = min(rows, _SLAB)
    if symmetric:
        waiting = min(_WAITING, free_memory() // _SHARE)
        slab = min(slab, waiting // (vectors.element_size() * count * columns) * tiles.width)
    slab = max(BLOCK, slab - slab % BLOCK)
    runs = -(-columns // _RUN)
    owned_sums = torch.empty(count * runs * slab, dtype=torch.float64, device=device())
    passing_sums = torch.empty(
        count * (slab // tiles.width) * columns if symmetric else 1, dtype=number, device=device()
    )
    for first in range(0, rows, slab):
        size = min(slab, rows - first)
        blocks = size // tiles.width
        owned = owned_sums[: count * runs * size].view(count, runs, size)
        passing = passing_sums
        if symmetric:
            passing = passing_sums[: count * blocks * columns]
        rest = vectors, owned, passing, first, columns, _RUN, blocks
        _launch(code, (blocks, runs), tiles, constants, *operands.arguments(left_owns=True), *rest)
        out[:, first : first + size] += owned.sum(dim=1)
        if symmetric:
            grid = -(-(columns - first) // 256), count
            _launch(_function(GATHERED), grid, Tiles(), passing, out, first, columns, blocks, tiles.width, tiles.side)
    return out[:, : operands.counts[0]].T


def matrix_values(operands: Operands, tiles: Tiles | None = None) -> Any:
    """The kernel matrix itself, as a tensor on the card."""
    import torch

    number = torch.float64 if operands.double else torch.float32
    out = torch.empty(operands.counts, dtype=number, device=device())
    tiles = tiles or Tiles(64, 64, 4, 3)
    code, constants = _compiled(operands, Face(values=True), tiles)
    grid = -(-operands.counts[1] // tiles.width), -(-operands.counts[0] // tiles.height)
    if min(grid):
        _launch(code, grid, tiles, constants, *operands.arguments(left_owns=False), out, *operands.counts)
    return out


def _launch(code: Any, grid: tuple[int, int], tiles: Tiles, *arguments: Any) -> None:
    with _launching:
        code[grid](*arguments, num_warps=tiles.warps, num_stages=tiles.stages)


def _tiles(operands: Operands, vectors: int) -> Tiles:
    """The shapes that were fastest on an H200.

    Each vector has a sum for each place in a tile; registers hold so many, and half as many in float64. Long rows want
    wider tiles, which load them less often.
    """
    if coordinatewise(operands.what.formula):
        return Tiles(128, 32, 4, 2)
    if operands.double or vectors > 2:
        return Tiles(64, 32, 4, 2)
    return Tiles(64, 128 if operands.precision == "exact" and vectors == 1 else 64, 4, 3)


def _compiled(operands: Operands, face: Face, tiles: Tiles) -> tuple[Any, Any]:
    """The compiled code, and the constants of this kernel in it."""
    import torch

    text, constants = written(operands.what, face, tiles, operands.widths, operands.double, not interpreted())
    number = torch.float64 if operands.double else torch.float32
    return _function(text), torch.tensor(constants, dtype=number, device=device())


@functools.cache
def _function(text: str) -> Any:
    """A compiled function from its text; Triton reads it as if it were in a file, and keeps what it compiles.

    The text is put together by :mod:`.formulas` from its own words and from whole numbers: no word of a user's, of a
    table's or of a model file's is in it, and a kernel's parameters are handed to the function as numbers.
    """
    name = f"<mercer tile {abs(hash(text))}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    space: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), space)
    return space["tile_sums"]


def copied(tensor: Any, out: Array) -> None:
    """Write a matrix on the card into an array, some rows at a time.

    They go through memory that the card can write to by itself, and from there by all threads.
    """
    import torch

    size = max(1, min(len(out), _STAGED // max(1, tensor.element_size() * tensor.shape[1])))
    stage = torch.empty((size, tensor.shape[1]), dtype=tensor.dtype, pin_memory=not interpreted())
    rows = stage.numpy()
    for begin in range(0, len(out), size):
        count = min(size, len(out) - begin)
        stage[:count].copy_(tensor[begin : begin + count])
        target = out[begin : begin + count]

        def copy(some: slice, target: Array = target, source: Array = rows[:count]) -> None:
            target[some] = source[some]

        for_each(copy, [slice(k, min(k + _COPIED, count)) for k in range(0, count, _COPIED)])


def as_array(tensor: Any) -> Array:
    """A tensor as an array in float64."""
    return np.asarray(tensor.cpu().numpy(), dtype=np.float64)


def scores_on_card(kernel: Any, X: Any, items: Any, coefficients: Array) -> Array:
    """k(X, items)·coefficients, in float64 throughout."""
    out = np.empty((length(X), coefficients.shape[1]))
    for begin in range(0, len(out), _SCORED):
        some = X[begin : begin + _SCORED]
        found = product(operands_of(kernel, some, items, "double"), np.ascontiguousarray(coefficients))
        out[begin : begin + _SCORED] = as_array(found)
    return out
