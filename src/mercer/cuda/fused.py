"""Products with a kernel matrix on the card, which is nowhere as a whole."""

from __future__ import annotations

import functools
import linecache
import threading
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._runtime.parallel import for_each
from ..kernels.engine.parts import length
from .device import device, free_memory, interpreted
from .operands import BLOCK, Operands, operands_of
from .triton_text import GATHERED, Face, Tiles, coordinatewise, written

__all__ = ["as_array", "copied", "matrix_values", "product", "scores_on_card"]

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

    The text is put together by :mod:`.triton_text` from its own words and from whole numbers: no word of a user's, of a
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
