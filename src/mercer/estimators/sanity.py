"""What a machine cannot learn from: kernels that are none, numbers that overflow, items that are all the same."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._validation.guide import guide
from .._validation.parameters import is_number
from ..grams import Gram
from ..kernels import Function, Kernel
from ..kernels.engine.parts import length
from ..kernels.given import refuse_asymmetric
from ..rows import Rows
from .callbacks import FRAMES

#: Items on which a kernel from outside is tried before the whole matrix is computed, and of which it is asked first
#: whether they differ.
_SAMPLE = 16
#: Rows that are not in memory of which it is asked whether they differ.
_SOME = 1000
#: Items on which a kernel that promises nothing is tested for negative eigenvalues.
_TESTED = 500
#: Items whose similarities to all others are looked at where a solver came to no end.
_LOOKED_AT = 100
#: Self-similarities beyond this, or below its inverse, leave the range of numbers in products of a few.
LARGEST_SIMILARITY = 1e100
#: Scores that cannot differ from each other by more than this are the same for all purposes.
_NO_REACH = 1e-6


def refuse_unusable(kernel: Kernel, items: Any, largest: float = LARGEST_SIMILARITY) -> None:
    """Raise where a matrix, a function or its values cannot be those of a kernel, before the real work starts.

    ``largest`` is the self-similarity that a machine can still work with.
    """
    if kernel.precomputed:
        if items.shape[0] != items.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs the square matrix of the training rows; X has shape {items.shape}."
            )
        refuse_asymmetric(items, kernel)
        own = items.diagonal()
    elif any(isinstance(part, Function) for part in [kernel, *kernel.get_params().values()]):
        sample = items[:_SAMPLE]
        K = kernel.matrix(sample, sample)
        refuse_asymmetric(K, kernel)
        own = K.diagonal()
    else:
        own = kernel.diag(items)
    # |k(x, z)|² ≤ k(x, x)·k(z, z), so self-similarities tell of all.
    size = float(np.abs(own).max(initial=0.0))
    what, remedy = ("rows", "scale the columns first") if kernel.on_rows else ("items", "use normalised(...)")
    if not size <= largest:
        raise ValueError(f"the kernel {kernel} overflows on these {what}; {remedy}, or use smaller parameters.")
    if 0 < size < 1 / LARGEST_SIMILARITY:
        raise ValueError(f"the kernel {kernel} vanishes on these {what}, with values up to {size:.3g}; {remedy}.")


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
    if not kernel.trusted:
        index = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _TESTED)).astype(np.int64))
        _refuse_negative(gram.take(index).rows(np.arange(index.size)), kernel)


def refuse_indefinite_items(kernel: Kernel, items: Any) -> None:
    """The same, before an approximation by landmarks takes the place of the matrix and hides it."""
    if not kernel.trusted:
        index = np.unique(np.linspace(0, length(items) - 1, min(length(items), _TESTED)).astype(np.int64))
        some = items[index]
        _refuse_negative(some[:, index] if kernel.precomputed else kernel.matrix(some, some), kernel)


def _refuse_negative(K: Array, kernel: Kernel) -> None:
    eigenvalues = np.linalg.eigvalsh(K.astype(np.float64))
    if eigenvalues[0] < -1e-5 * max(abs(eigenvalues[-1]), 1e-300):
        raise ValueError(
            f"the kernel {kernel} is not positive semi-definite: on {len(K)} of the rows its matrix has the "
            f"eigenvalue {eigenvalues[0]:.4g} (largest {eigenvalues[-1]:.4g}), so the machine has no unique solution. "
            f"Use another kernel, or add that amount to the diagonal of a precomputed matrix {guide('good kernels')}."
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
    if len(gram) < 2:
        return
    if kernel.on_rows and _same_rows(items):
        what = "rows of the kernel matrix" if kernel.precomputed else "rows"
    elif not gram.by_passes and _same_to_kernel(gram):
        what = f"{'rows' if kernel.on_rows else 'items'}, as {kernel} sees them,"
    else:
        return
    warnings.warn(
        f"{name}: all {len(gram)} {what} are the same, so that nothing can be learned from them; every prediction will "
        "be the same.",
        UserWarning,
        stacklevel=3 + FRAMES,
    )


def warn_if_out_of_reach(machine: Any, gram: Gram) -> None:
    """Say so where regularisation leaves scores no room beside similarities that are so small.

    Where every item pulls by C at most, or by 1/(λn), no score is farther from the intercept than C·n or 1/λ times the
    largest self-similarity.
    """
    params = machine.get_params(deep=False)
    if gram.by_passes or not ("C" in params or is_number(params.get("lam"))):
        return
    pull = params["C"] * len(gram) if "C" in params else 1 / params["lam"]
    largest = float(np.abs(gram.diag()).max(initial=0.0))
    if 0 < pull * largest < _NO_REACH:
        remedy = "raise C" if "C" in params else "lower lam"
        warnings.warn(
            f"{type(machine).__name__}: similarities are no larger than {largest:.3g}, so that every prediction will "
            f"be the same but for {pull * largest:.1g}; scale the columns first, or {remedy} "
            f"{guide('scaling columns')}.",
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
    """Whether all items are alike; a few of them tell as a rule that they are not."""
    few = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _SAMPLE)).astype(np.int64))
    return _alike(gram.take(few)) and _alike(gram)


def _alike(gram: Gram) -> bool:
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
