"""Rows in the forms that the code of :mod:`.triton_text` reads, on the card.

Every array is padded to whole blocks with zeros, so that the code needs no masks; vectors are zero there too, and what
the kernel is of such rows does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.engine.statistics import DISTANCE, MANHATTAN, SQUARED_DISTANCE
from .device import device
from .formula import Leaf, formula_of
from .triton_text import GRAIN, PIECE, RESIDENT, UNROLLED, Lowered, coordinatewise, lowered

__all__ = ["PRECISIONS", "Operands", "operands_of"]

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
