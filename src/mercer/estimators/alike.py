"""Training items that are all the same: whatever is learned from them, it is not how they differ."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ..grams import Gram
from ..kernels import Kernel


def warn_if_alike(owner: Any, kernel: Kernel | None, items: Any, gram: Gram) -> None:
    """Say so where no item differs from another: in its numbers, in its row of a kernel matrix, or for the kernel."""
    if len(gram) < 2 or not (_same_rows(items) if kernel is None or kernel.on_rows else _same_to_kernel(gram)):
        return
    what = "rows" if kernel is None or kernel.on_rows else "items"
    if kernel is not None and kernel.precomputed:
        what = "rows of the kernel matrix"
    elif what == "items":
        what = f"items, as {kernel} sees them,"
    warnings.warn(
        f"{type(owner).__name__}: all {len(gram)} {what} are the same, so that nothing can be learned from them; every "
        "prediction will be the same.",
        UserWarning,
        stacklevel=4,
    )


def _same_rows(rows: Any) -> bool:
    if not sparse.issparse(rows):
        return bool((rows[0] == rows[-1]).all() and (rows == rows[0]).all())
    sizes = np.diff(rows.indptr)
    if (sizes != sizes[0]).any():
        return False
    return all(bool((part == part[0]).all()) for part in (rows.indices.reshape(len(sizes), -1),
                                                          rows.data.reshape(len(sizes), -1)))  # fmt: skip


def _same_to_kernel(gram: Gram) -> bool:
    """‖φᵢ − φ₀‖² = k(i, i) + k(0, 0) − 2k(i, 0) = 0 for every item."""
    first = gram.rows(np.zeros(1, np.int64))[0]
    near = 4 * np.finfo(first.dtype).eps * abs(first[0])
    return bool((np.abs(first - first[0]) <= near).all() and (np.abs(gram.diag() - first[0]) <= near).all())
