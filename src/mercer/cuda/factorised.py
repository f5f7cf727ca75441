"""Cholesky's factorisation on the card."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.cholesky import Solve
from .._runtime.compile import Array
from .device import device, free_memory
from .fused import as_array, matrix_values
from .operands import Operands

__all__ = ["cholesky", "factorised"]

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
