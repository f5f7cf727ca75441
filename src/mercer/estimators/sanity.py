"""What a machine cannot learn from: kernels that are none, numbers that overflow, items that are all the same."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ..grams import Gram, is_linear
from ..kernels import Function, Kernel
from ..kernels.given import refuse_asymmetric
from ..rows import Rows
from .callbacks import FRAMES

#: Items on which a kernel from outside is tried before the whole matrix is computed.
_SAMPLE = 16
#: Rows that are not in memory of which it is asked whether they differ.
_SOME = 1000
#: Items on which a kernel that promises nothing is tested for negative eigenvalues.
_TESTED = 500
#: Items whose similarities to all others are looked at where a solver came to no end.
_LOOKED_AT = 100


def refuse_unusable(kernel: Kernel, items: Any) -> None:
    """Raise where a matrix, a function or its values cannot be those of a kernel, before the real work starts."""
    if kernel.precomputed:
        if items.shape[0] != items.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs the square matrix of the training rows; X has shape {items.shape}."
            )
        refuse_asymmetric(items, kernel)
    elif any(isinstance(part, Function) for part in [kernel, *kernel.get_params().values()]):
        sample = items[:_SAMPLE]
        refuse_asymmetric(kernel.matrix(sample, sample), kernel)
    elif not is_linear(kernel) and not np.isfinite(kernel.diag(items)).all():
        # |k(x, z)|² ≤ k(x, x)·k(z, z), so finite self-similarities are enough.
        remedy = "scale the columns first" if kernel.on_rows else "use normalised(...), or smaller parameters"
        raise ValueError(f"the kernel {kernel} overflows on these {'rows' if kernel.on_rows else 'items'}; {remedy}.")


def refuse_unlearned(name: str, kernel: Kernel, learns: bool) -> None:
    """Raise where nobody would learn the weights of a mixture."""
    if kernel.learns and not learns:
        raise ValueError(
            f"{name} does not learn the weights of {kernel}; use SVC, KernelClassifier, KernelRegressor or "
            "KernelQuantiles, or give the mixture weights."
        )


def refuse_indefinite(gram: Gram, kernel: Kernel) -> None:
    """Raise where the kernel matrix of some items has a clearly negative eigenvalue, and no objective is convex.

    Kernels that are positive semi-definite by what they are need no look.
    """
    if kernel.trusted:
        return
    index = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _TESTED)).astype(np.int64))
    eigenvalues = np.linalg.eigvalsh(gram.take(index).rows(np.arange(index.size)).astype(np.float64))
    if eigenvalues[0] < -1e-5 * max(abs(eigenvalues[-1]), 1e-300):
        raise ValueError(
            f"the kernel {kernel} is not positive semi-definite: on {index.size} of the rows its matrix has the "
            f"eigenvalue {eigenvalues[0]:.4g} (largest {eigenvalues[-1]:.4g}), so the machine has no unique solution. "
            "Use another kernel, or add that amount to the diagonal of a precomputed matrix."
        )


def refuse_undefined(gram: Gram, kernel: Kernel) -> None:
    """Raise where the similarities of some items are no numbers, which is why a solver may have come to no end."""
    sample = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _LOOKED_AT)).astype(np.int64))
    bad = np.flatnonzero(~np.isfinite(gram.rows(sample)).all(axis=1))
    if bad.size:
        raise ValueError(
            f"the kernel {kernel} is not a finite number between item {sample[bad[0]]} and some others; scale the "
            "columns, or use another kernel."
        )


def warn_if_alike(name: str, kernel: Kernel, items: Any, gram: Gram) -> None:
    """Say so where no item differs from another: in its numbers, in its row of a kernel matrix, or for the kernel."""
    if isinstance(items, Rows):  # some of which are in memory, as features
        features = (gram if gram.sample is None else gram.sample).features()
        some = np.unique(np.linspace(0, len(items) - 1, _SOME).astype(int))
        items = items[some] if features is None else features
    if len(gram) < 2 or not (_same_rows(items) if kernel.on_rows else _same_to_kernel(gram)):
        return
    what = "rows" if kernel.on_rows else f"items, as {kernel} sees them,"
    if kernel.precomputed:
        what = "rows of the kernel matrix"
    warnings.warn(
        f"{name}: all {len(gram)} {what} are the same, so that nothing can be learned from them; every prediction will "
        "be the same.",
        UserWarning,
        stacklevel=3 + FRAMES,
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


def warn_of_constant_labels(machine: Any, data: Any) -> None:
    """Say which of many labels all items have, or none has: there is nothing to be learned of them."""
    for label, known in enumerate(data.constant_labels()):
        if known:
            warnings.warn(
                f"{type(machine).__name__}: label {label} is {max(known, 0)} in all rows, and so in all predictions.",
                UserWarning,
                stacklevel=4 + FRAMES,
            )
