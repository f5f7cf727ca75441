"""Kernels made of kernels. Each rule keeps positive semi-definite what was so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._compile import Array
from .._objects import is_missing
from .._rows import as_rows
from .base import Kernel, positive
from .collection import listed
from .pairing import Tile
from .parts import length, part_of

__all__ = ["After", "Conformal", "Normalised", "Power", "Product", "Scaled", "Sum"]

#: A product of feature maps with more columns than this is not formed.
_MOST_COLUMNS = 2**22


class Sum(Kernel):
    """k₁ + k₂, written ``k1 + k2``: the features of both, side by side.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Linear
    >>> (Linear() + Gaussian(gamma=0.1)).get_params()["right__gamma"]
    0.1
    """

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

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


class Scaled(Kernel):
    """scale·k, written ``3 * k``.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (3 * Linear())([[2.0]])
    array([[12.]])
    """

    def __init__(self, scale: float, kernel: Kernel) -> None:
        self.scale = scale
        self.kernel = kernel

    def check(self):
        positive(self, "scale")
        super().check()

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


class Product(Kernel):
    """k₁·k₂, written ``k1 * k2``: every feature of one times every feature of the other.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() * Linear())([[2.0]])
    array([[16.]])
    """

    def __init__(self, left: Kernel, right: Kernel) -> None:
        self.left = left
        self.right = right

    def evaluate(self, tile: Tile) -> Array:
        out = self.left.evaluate(tile.part(0, self.left))
        out *= self.right.evaluate(tile.part(1, self.right))
        return out

    def diag(self, A):
        return self.left.diag(part_of(A, 0)) * self.right.diag(part_of(A, 1))

    def features(self, A):
        return _pairwise_products(self.left.features(part_of(A, 0)), self.right.features(part_of(A, 1)))


class Power(Kernel):
    """k^exponent for a whole exponent, written ``k ** 2``.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> (Linear() ** 2)([[1.0, 1.0]], [[2.0, 1.0]])
    array([[9.]])
    """

    def __init__(self, kernel: Kernel, exponent: int) -> None:
        self.kernel = kernel
        self.exponent = exponent

    def check(self):
        positive(self, "exponent")
        if self.exponent != int(self.exponent):
            raise ValueError(
                f"Power: the exponent must be a whole number, got {self.exponent!r}; fractional powers of a kernel "
                "are not positive semi-definite in general."
            )
        if self.exponent > 100:
            raise ValueError(f"Power: the exponent must be at most 100, got {self.exponent!r}.")
        super().check()

    def evaluate(self, tile: Tile) -> Array:
        return _whole_power(self.kernel.evaluate(tile), int(self.exponent))

    def diag(self, A):
        return _whole_power(self.kernel.diag(A), int(self.exponent))

    def features(self, A):
        inner = out = self.kernel.features(A)
        for _ in range(int(self.exponent) - 1):
            out = _pairwise_products(out, inner)
        return out


class Conformal(Kernel):
    """f(x)·f(z) for a real function f, the kernel with the one feature f.

    Parameters
    ----------
    f : callable
        Takes all rows, returns a number for each.

    Examples
    --------
    >>> from mercer.kernels import Conformal
    >>> Conformal(lambda X: X.sum(axis=1))([[1.0, 2.0]], [[3.0, 4.0]])
    array([[21.]])
    """

    def __init__(self, f: Callable[[Any], Array]) -> None:
        self.f = f

    def _values(self, A: Any) -> Array:
        values = np.asarray(self.f(A))
        if values.shape != (length(A),) or values.dtype.kind not in "fiub" or not np.isfinite(values).all():
            got = f"shape {values.shape}" if values.dtype.kind in "fiub" else f"type {values.dtype}"
            raise ValueError(f"Conformal: f must return {length(A)} finite numbers, one a row; got {got}.")
        return values.astype(getattr(A, "dtype", np.float64))

    def evaluate(self, tile: Tile) -> Array:
        left, right = tile.of_items(id(self), self._values)
        return left[:, None] * right

    def diag(self, A):
        return self._values(A) ** 2

    def features(self, A):
        return self._values(A)[:, None]


class After(Kernel):
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

    @property
    def moves(self):
        return False

    def statistics(self):
        return Counter()  # the inner kernel's statistics are of the mapped items

    def items(self, A):
        return as_rows(A) if self.on_rows else _as_objects(A)

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


class Normalised(Kernel):
    """k(x, z)/√(k(x, x)·k(z, z)): every item has length one in feature space; 0 for items of length zero.

    Examples
    --------
    >>> from mercer.kernels import Normalised, Polynomial
    >>> Normalised(Polynomial(degree=3))([[1.0], [7.0]]).diagonal()
    array([1., 1.])
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

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


def _as_objects(items: Any) -> Array:
    """Items of any kind in an array of objects, none of them missing."""
    given = listed(items, "items")
    out = np.empty(len(given), dtype=object)
    for place, item in enumerate(given):
        if is_missing(item):
            raise ValueError(f"item {place} is missing ({item!r}); drop it or fill it in first.")
        out[place] = item
    return out


def _whole_power(values: Array, exponent: int) -> Array:
    out = values.copy() if exponent > 1 else values
    for _ in range(exponent - 1):
        out *= values
    return out


def _pairwise_products(left: Any, right: Any) -> Any:
    """Every column of one times every column of the other, row by row; ``None`` where these are too many."""
    if left is None or right is None or left.shape[1] * right.shape[1] > _MOST_COLUMNS:
        return None
    if sparse.issparse(left) or sparse.issparse(right):
        columns = sparse.csc_array(left)
        right = sparse.csr_array(right)
        return sparse.hstack(
            [sparse.diags_array(columns[:, [k]].toarray().ravel()) @ right for k in range(columns.shape[1])],
            format="csr",
        )
    return np.einsum("ij,ik->ijk", left, right).reshape(left.shape[0], -1)
