"""Cholesky's factorisation on the card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..runtime import Array, Solve
from .device import device, free_memory, interpreted
from .products import Operands, as_array, matrix_values, operands_of

__all__ = ["LandmarkFactor", "cholesky", "factorised"]

#: Matrices that are on the card at once: the kernel's, and its factor.
_MATRICES = 3


def factorised(operands: Operands, ridge: Array) -> Solve | None:
    """Solves (K + diag(ridge))·x = r for columns r; ``None`` where the card has no room for the matrix."""
    import torch

    n = operands.counts[0]
    if _MATRICES * 8 * n * n > free_memory():
        return None
    matrix = matrix_values(operands)
    matrix.diagonal().add_(torch.from_numpy(np.ascontiguousarray(ridge)).to(device()))
    factor = cholesky(matrix)
    return lambda right: as_array(torch.cholesky_solve(torch.from_numpy(right).to(device()), factor))


def cholesky(matrix: Any) -> Any:
    """The factor of a matrix that rounding may have made a little indefinite, with as much on its diagonal as helps."""
    import torch

    extra = 0.0
    while True:
        factor, failed = torch.linalg.cholesky_ex(matrix)
        if not int(failed):
            return factor
        extra = 10 * extra or 1e-12 * float(matrix.diagonal().max())
        matrix.diagonal().add_(extra)


# A low-rank factor of a kernel matrix on the card: what makes Newton's equations easy.
#
# Landmarks S drawn with equal chances give orthonormal directions Q = Σ S·W of the feature space, with
# K[S, S] + ε = C·Cᵀ and W = C⁻ᵀ. All items have coordinates F = K[:, S]·W along them. Nearly Newton's operator is then
# λ + FᵀHF along the directions, and λ across them. F is in float32; its weighted Gram matrix, the one large product, is
# of numbers rounded to eleven digits, which leaves it positive; what is of the size of the landmarks alone is float64.
#
# ε keeps W below 1/√ε, so that coordinates (from F) and coefficients (from W) of the same vector agree in float32.


#: Landmarks at most; of few items one in so many, but so many at least.
_MOST, _SHARE, _FEW = 10_000, 8, 64
#: The part of the free memory that coordinates may take.
_ROOM = 0.6
#: ε, relative to the largest self-similarity.
_JITTER = 1e-6
#: Rows whose coordinates are worked on at a time.
_CHUNK = 65_536


class LandmarkFactor:
    """Coordinates F of all items along directions that landmarks span."""

    def __init__(self, kernel: Any, items: Any, operands: Any, seed: int = 0) -> None:
        import torch

        n = operands.counts[0]
        room = int(_ROOM * free_memory()) // (4 * max(1, n))
        rank = max(1, min(n, _MOST, max(_FEW, n // _SHARE), room))
        self.landmarks = np.sort(np.random.default_rng(seed).choice(n, rank, replace=False))
        some = items[self.landmarks]
        inner = matrix_values(operands_of(kernel, some, some, "double"))
        inner = 0.5 * (inner + inner.T)
        inner.diagonal().add_(_JITTER * float(inner.diagonal().max()))
        #: C, lower triangular, in float64.
        self.lower = torch.linalg.cholesky(inner)
        single = self.lower.to(torch.float32)
        self.coordinates = torch.empty((n, rank), dtype=torch.float32, device=device())
        for begin in range(0, n, _CHUNK):
            rows = np.arange(begin, min(begin + _CHUNK, n))
            values = matrix_values(operands.taken(rows, self.landmarks)).to(torch.float32)
            solved = torch.linalg.solve_triangular(single.T, values, upper=True, left=False)
            self.coordinates[begin : begin + _CHUNK] = solved

    def along(self, v: Array) -> Array:
        """Fᵀv: how much of Σ vᵢφᵢ lies along each direction."""
        return as_array(self.coordinates.T @ self._moved(v)).reshape(-1, *v.shape[1:])

    def scores(self, x: Array) -> Array:
        """F·x: the scores of a sum of directions."""
        return as_array(self.coordinates @ self._moved(x)).reshape(-1, *x.shape[1:])

    def coefficients(self, x: Array) -> Array:
        """W·x: the coefficients of the landmarks in a sum of directions."""
        import torch

        columns = torch.from_numpy(x.reshape(x.shape[0], -1)).to(device())
        return as_array(torch.linalg.solve_triangular(self.lower.T, columns, upper=True)).reshape(x.shape)

    def inverse(self, lam: float, h: Array, intercept: bool) -> Callable[[Array], Array]:
        """(λ + FᵀHF)⁻¹ for weights h, bordered by the intercept where there is one: as a function of columns."""
        import torch

        rank = self.coordinates.shape[1]
        matrix = torch.zeros((rank + intercept,) * 2, dtype=torch.float64, device=device())
        # Rounded to float16, into whose range the weights are scaled, A still has a positive AᵀA.
        largest = float(h.max(initial=0.0)) or 1.0
        root = torch.from_numpy(np.sqrt(h / largest)).to(device()).to(torch.float32)
        total = torch.zeros((rank, rank), dtype=torch.float32, device=device())
        for begin in range(0, h.size, _CHUNK):
            rows = self.coordinates[begin : begin + _CHUNK] * root[begin : begin + _CHUNK, None]
            if interpreted():
                total += rows.T @ rows
            else:
                half = rows.to(torch.float16)
                total += torch.mm(half.T, half, out_dtype=torch.float32)
        total *= largest
        matrix[:rank, :rank] = total
        matrix.diagonal()[:rank] += lam
        if intercept:
            matrix[rank, :rank] = matrix[:rank, rank] = torch.from_numpy(self.along(h)).to(device())
            matrix[rank, rank] = float(h.sum()) or 1.0
        factor = cholesky(matrix)

        def solve(columns: Array) -> Array:
            return as_array(torch.cholesky_solve(torch.from_numpy(columns).to(device()), factor))

        return solve

    def _moved(self, v: Array) -> Any:
        import torch

        return torch.from_numpy(v.reshape(v.shape[0], -1)).to(device()).to(torch.float32)
