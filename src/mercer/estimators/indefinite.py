"""Kernels that are none: matrices with negative eigenvalues."""

from __future__ import annotations

import numpy as np

from ..grams import Gram
from ..kernels import Kernel

#: Rows on which a kernel that promises nothing is tested for negative eigenvalues.
_TESTED = 500


def refuse_indefinite(gram: Gram, kernel: Kernel | None) -> None:
    """Raise where the kernel matrix of some rows has a clearly negative eigenvalue, and no objective is convex.

    Kernels that are positive semi-definite by what they are need no look.
    """
    if kernel is None or kernel.trusted:
        return
    index = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _TESTED)).astype(np.int64))
    eigenvalues = np.linalg.eigvalsh(gram.take(index).rows(np.arange(index.size)).astype(np.float64))
    if eigenvalues[0] < -1e-5 * max(abs(eigenvalues[-1]), 1e-300):
        raise ValueError(
            f"the kernel {kernel} is not positive semi-definite: on {index.size} of the rows its matrix has the "
            f"eigenvalue {eigenvalues[0]:.4g} (largest {eigenvalues[-1]:.4g}), so the machine has no unique solution. "
            "Use another kernel, or add that amount to the diagonal of a precomputed matrix."
        )
