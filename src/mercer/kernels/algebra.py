"""Kernels made of kernels. Each rule keeps positive semi-definite what was so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..checks.parameters import number
from ..checks.tables import as_rows
from ..runtime.compile import Array
from .base import Kernel, Range
from .engine.counts import MOST_ENTRIES, as_objects, beside, few_enough, marked, pair_places, products
from .engine.tiles import Tile, length, part_of
from .text_form import Name, Precedence, Text, function, renamed, rescaled, shortest, within

__all__ = ["After", "Normalised", "Power", "Product", "RankOne", "Scaled", "Sum"]

#: A product of feature maps with more columns than this is hashed, or not formed.
_MOST_COLUMNS = 2**22
#: Making and looking up one product of features takes about as long as so many values of a kernel.
_PRODUCT_COST = 8
#: Powers beyond this leave the range of numbers for all but the tamest kernels.
_LARGEST_EXPONENT = 100


class Sum(Kernel, named=False):
    """k₁ + k₂, written ``k1 + k2``: the features of both, side by side.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> (Linear() + Gaussian(gamma=0.1)).get_params()["right__gamma"]
    0.1
    """

    of_parts = True

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def text(self) -> Text:
        left, right = within(self.left, Precedence.SUM), within(self.right, Precedence.PRODUCT)
        return Text(f"{left} + {right}", Precedence.SUM)

    def evaluate(self, tile: Tile) -> Array:
        out = self.left.evaluate(tile.part(0, self.left))
        out += self.right.evaluate(tile.part(1, self.right))
        return out

    def diag(self, A):
        return self.left.diag(part_of(A, 0)) + self.right.diag(part_of(A, 1))

    def features(self, A):
        parts = [self.left.features(part_of(A, 0)), self.right.features(part_of(A, 1))]
        if any(part is None for part in parts):
            return None
        if any(sparse.issparse(part) for part in parts):
            return sparse.hstack(parts, format="csr")
        return np.hstack(parts)

    def keyed(self, A):
        left, right = self.left.keyed(part_of(A, 0)), self.right.keyed(part_of(A, 1))
        return None if left is None or right is None else beside(marked(left, 0), marked(right, 1))

    def named_features(self, A):
        left, right = self.left.named_features(part_of(A, 0)), self.right.named_features(part_of(A, 1))
        parts = [
            renamed(left, lambda name: Name(name.text, ("left", name.mark))),
            renamed(right, lambda name: Name(name.text, ("right", name.mark))),
        ]
        known = [part for part in parts if part is not None]
        return [{**each[0], **each[-1]} for each in zip(*known, strict=True)] if known else None

    def cheaper_in_primal(self, A, B):
        return _each_cheaper_in_primal(self, A, B)


class Scaled(Kernel, named=False):
    """scale·k, written ``3 * k``.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (3 * Linear())([[2.0]])
    array([[12.]])
    """

    of_parts = True
    smooth: ClassVar = {"scale": Range.POSITIVE}

    def __init__(self, scale: float, kernel: Kernel) -> None:
        self.scale = scale
        self.kernel = kernel

    def check(self):
        number(self, "scale")
        super().check()

    def text(self) -> Text:
        return Text(f"{shortest(self.scale)}*{within(self.kernel, Precedence.POWER)}", Precedence.PRODUCT)

    def evaluate(self, tile: Tile) -> Array:
        out = self.kernel.evaluate(tile)
        out *= out.dtype.type(self.scale)
        return out

    def diag(self, A):
        values = self.kernel.diag(A)
        return values * values.dtype.type(self.scale)

    def features(self, A):
        inner = self.kernel.features(A)
        return None if inner is None else inner * inner.dtype.type(np.sqrt(self.scale))

    def keyed(self, A):
        inner = self.kernel.keyed(A)
        return None if inner is None else inner.scaled(np.sqrt(self.scale))

    def named_features(self, A):
        return rescaled(self.kernel.named_features(A), repeat(np.sqrt(self.scale), length(A)))

    def cheaper_in_primal(self, A, B):
        return self.kernel.cheaper_in_primal(A, B)


class Product(Kernel, named=False):
    """k₁·k₂, written ``k1 * k2``: every feature of one times every feature of the other.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() * Linear())([[2.0]])
    array([[16.]])
    """

    of_parts = True

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def text(self) -> Text:
        left, right = within(self.left, Precedence.PRODUCT), within(self.right, Precedence.POWER)
        return Text(f"{left}*{right}", Precedence.PRODUCT)

    def evaluate(self, tile: Tile) -> Array:
        out = self.left.evaluate(tile.part(0, self.left))
        out *= self.right.evaluate(tile.part(1, self.right))
        return out

    def diag(self, A):
        return self.left.diag(part_of(A, 0)) * self.right.diag(part_of(A, 1))

    def features(self, A):
        left, right = self.left.features(part_of(A, 0)), self.right.features(part_of(A, 1))
        if left is None or right is None:
            return None
        if _too_wide(left, right):
            return None if self.on_rows else self.keyed(A).hashed()
        return _pairwise_products(left, right)

    def keyed(self, A):
        left, right = self.left.keyed(part_of(A, 0)), self.right.keyed(part_of(A, 1))
        return None if left is None or right is None else products(left, right)

    def named_features(self, A):
        left, right = self.left.named_features(part_of(A, 0)), self.right.named_features(part_of(A, 1))
        if left is None or right is None:
            return None
        return [
            {Name(f"{a.text} and {b.text}", (a.mark, b.mark)): u * v for a, u in one.items() for b, v in other.items()}
            for one, other in zip(left, right, strict=True)
        ]

    def cheaper_in_primal(self, A, B):
        fine = _each_cheaper_in_primal(self, A, B)
        if not fine.any():
            return fine
        left, right = self.left.keyed(part_of(A, 0)), self.right.keyed(part_of(A, 1))
        return fine & _worth_listing(np.diff(left.starts).astype(np.float64) * np.diff(right.starts), A, B)


class Power(Kernel, named=False):
    """k^exponent for a whole exponent, written ``k ** 2``.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() ** 2)([[1.0, 1.0]], [[2.0, 1.0]])
    array([[9.]])
    """

    of_parts = True

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel = kernel
        self.exponent = exponent

    def check(self):
        # Fractional powers of a kernel are not positive semi-definite in general.
        number(self, "exponent", 1, _LARGEST_EXPONENT, whole=True, strict=False)
        super().check()

    def text(self) -> Text:
        return Text(f"{within(self.kernel, Precedence.ATOM)}**{self.exponent}", Precedence.POWER)

    def evaluate(self, tile: Tile) -> Array:
        return _whole_power(self.kernel.evaluate(tile), int(self.exponent))

    def diag(self, A):
        return _whole_power(self.kernel.diag(A), int(self.exponent))

    def features(self, A):
        inner = out = self.kernel.features(A)
        if inner is None:
            return None
        for _ in range(int(self.exponent) - 1):
            if _too_wide(out, inner):
                return None if self.on_rows else self.keyed(A).hashed()
            out = _pairwise_products(out, inner)
        return out

    def keyed(self, A):
        inner = out = self.kernel.keyed(A)
        if inner is None:
            return None
        for _ in range(int(self.exponent) - 1):
            out = products(out, inner)
        return out

    def cheaper_in_primal(self, A, B):
        fine = self.kernel.cheaper_in_primal(A, B)
        if not fine.any():
            return fine
        return fine & _worth_listing(np.diff(self.kernel.keyed(A).starts) ** float(self.exponent), A, B)


class Normalised(Kernel):
    """k(x, z)/√(k(x, x)·k(z, z)): every item has length one in feature space; 0 for items of length zero.

    Examples
    --------
    >>> from mercer.kernels import Normalised, Polynomial
    >>> Normalised(Polynomial(degree=3))([[1.0], [7.0]]).diagonal()
    array([1., 1.])
    """

    good_for = "every item as long as any other in feature space"
    of_parts = True

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def text(self) -> Text:
        return Text(f"normalised({within(self.kernel, Precedence.SUM)})")

    def _inverse_lengths(self, A: Any) -> Array:
        squared = self.kernel.diag(A)
        return np.divide(1, np.sqrt(np.maximum(squared, 0)), out=np.zeros_like(squared), where=squared > 0)

    def evaluate(self, tile: Tile) -> Array:
        left, right = tile.of_items(id(self), self._inverse_lengths)
        out = self.kernel.evaluate(tile)
        out *= left[:, None]
        out *= right
        i, j = tile.i, tile.j
        if tile.pairing.A is tile.pairing.B and isinstance(i, slice) and isinstance(j, slice):
            # Exactly one on the diagonal, whatever the roots were rounded to.
            offset = i.start - j.start
            rows = np.arange(max(0, -offset), min(tile.shape[0], tile.shape[1] - offset))
            out[rows, rows + offset] = (left[rows] > 0).astype(out.dtype)
        return out

    def diag(self, A):
        values = self.kernel.diag(A)
        return (values > 0).astype(values.dtype)

    def features(self, A):
        inner = self.kernel.features(A)
        if inner is None:
            return None
        scale = self._inverse_lengths(A)
        return sparse.csr_array(sparse.diags_array(scale) @ inner) if sparse.issparse(inner) else inner * scale[:, None]

    def keyed(self, A):
        inner = self.kernel.keyed(A)
        return None if inner is None else inner.scaled(self._inverse_lengths(A))

    def named_features(self, A):
        return rescaled(self.kernel.named_features(A), self._inverse_lengths(A))

    def cheaper_in_primal(self, A, B):
        return self.kernel.cheaper_in_primal(A, B)


def _each_cheaper_in_primal(kernel: Any, A: Any, B: Any) -> Array:
    left = kernel.left.cheaper_in_primal(part_of(A, 0), part_of(B, 0))
    return left & kernel.right.cheaper_in_primal(part_of(A, 1), part_of(B, 1)) if left.any() else left


def _worth_listing(entries: Array, A: Any, B: Any) -> Array:
    """For each item of A with that many products of features, whether to list them."""
    return (_PRODUCT_COST * entries <= length(B)) & few_enough(entries, MOST_ENTRIES, whole=A is B)


def _too_wide(left: Any, right: Any) -> bool:
    return left.shape[1] * right.shape[1] > _MOST_COLUMNS


def _whole_power(values: Array, exponent: int) -> Array:
    out = values.copy() if exponent > 1 else values
    for _ in range(exponent - 1):
        out *= values
    return out


def _pairwise_products(left: Any, right: Any) -> Any:
    """Every column of one times every column of the other, row by row."""
    if sparse.issparse(left) or sparse.issparse(right):
        left, right = sparse.csr_array(left), sparse.csr_array(right)
        starts, p, q = pair_places(left.indptr.astype(np.int64), right.indptr.astype(np.int64))
        columns = left.indices[p] * right.shape[1] + right.indices[q]
        shape = (left.shape[0], left.shape[1] * right.shape[1])
        return sparse.csr_array((left.data[p] * right.data[q], columns, starts), shape=shape)
    return np.einsum("ij,ik->ijk", left, right).reshape(left.shape[0], left.shape[1] * right.shape[1])


# Kernels of what a function makes of the items.


class RankOne(Kernel, named=False):
    """f(x)·f(z) for a real function f, the kernel with the one feature f.

    Parameters
    ----------
    f : callable
        Takes all rows, returns a number for each.

    Examples
    --------
    >>> from mercer.kernels import RankOne
    >>> RankOne(lambda X: X.sum(axis=1))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[21.]])
    """

    def __init__(self, f: Callable[[Any], Array]) -> None:
        self.f = f

    def text(self) -> Text:
        return Text(f"rank_one({function(self.f)})")

    def _values(self, A: Any) -> Array:
        values = np.asarray(self.f(A))
        if values.shape != (length(A),) or values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            got = f"shape {values.shape}" if values.dtype.kind in "fiub" else f"type {values.dtype}"
            raise ValueError(f"RankOne: f must return {length(A)} finite numbers, one a row; got {got}.")
        return values.astype(getattr(A, "dtype", np.float64))

    def evaluate(self, tile: Tile) -> Array:
        left, right = tile.of_items(id(self), self._values)
        return left[:, None] * right

    def diag(self, A):
        return self._values(A) ** 2

    def features(self, A):
        return self._values(A)[:, None]


class After(Kernel, named=False):
    """k(φ(x), φ(z)): a kernel after a map of the items.

    Parameters
    ----------
    map : callable
        Takes all items, returns what ``kernel`` works on, item for item. It must not learn from the items it sees.
        Where ``kernel`` works on rows of numbers it is given such rows, else an array of the user's objects.
    kernel : Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import After, Linear
    >>> After(np.log, Linear())([[np.e]])
    array([[1.]])
    """

    def __init__(self, map: Callable[[Any], Any], kernel: Kernel) -> None:
        self.map = map
        self.kernel = kernel

    def text(self) -> Text:
        return Text(f"after({function(self.map)}, {self.kernel})")

    def suited(self, X):
        return self  # the kernel sees what the map makes of items

    def part_items(self, A):
        return [self._mapped(A)]

    @property
    def translation_invariant(self):
        return False

    def statistics(self):
        return Counter()  # the inner kernel's statistics are of the mapped items

    def items(self, A):
        return as_rows(A) if self.on_rows else as_objects(A)

    def _mapped(self, A: Any) -> Any:
        out = self.map(A)
        if not hasattr(out, "__len__") or length(out) != length(A):
            raise ValueError(f"After: map must return one item for each of the {length(A)} it is given.")
        return out

    def evaluate(self, tile: Tile) -> Array:
        return self.kernel.evaluate(tile.mapped(self, self._mapped, self.kernel))

    def diag(self, A):
        return self.kernel.diag(self.kernel.items(self._mapped(A)))

    def features(self, A):
        return self.kernel.features(self.kernel.items(self._mapped(A)))

    def keyed(self, A):
        return self.kernel.keyed(self.kernel.items(self._mapped(A)))
